"""How the process ends early: by Ctrl-C, SIGTERM, SIGHUP, or by SIGBUS if a mapped file becomes shorter.

In each case the unfinished output is removed and one line says what happened. The first signal during a command unwinds
it, so that the terminal is restored too. Any other signal ends the process at once.
"""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from .._core import exit_on_bus_error
from . import one_line

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Ended(SystemExit):
    """The end by a signal. (A plain SystemExit comes from a call of sys.exit().)"""


@dataclass
class State:
    """The state that signal handlers read."""

    is_command_line: bool = False  # False if a program calls `run`
    can_unwind: bool = False
    mapped: list[str] = field(default_factory=list)
    unfinished: str = ""
    written: str = ""


_state = State()


def answer_signals() -> None:
    """Handle signals in the process of the command line. Signals that the shell told it to ignore (nohup) stay
    ignored."""
    _state.is_command_line = True
    for signum in SIGNALS:
        if signal.getsignal(signum) is not signal.SIG_IGN:
            signal.signal(signum, _answer)
    _prepare_for_bus_error()


@contextmanager
def unwound() -> Iterator[None]:
    """Run a command, which signals end by an exception."""
    _state.mapped, _state.unfinished, _state.written = [], "", ""
    _state.can_unwind = True
    try:
        yield
    finally:
        _state.can_unwind = False


def _answer(signum: int, _: FrameType | None) -> None:
    if _state.can_unwind:
        _state.can_unwind = False
        raise KeyboardInterrupt if signum == signal.SIGINT else Ended(128 + signum)
    if _state.unfinished:
        with suppress(OSError):
            os.unlink(_state.unfinished)
    if signum == signal.SIGINT:
        with suppress(OSError):
            os.write(2, f"backslice: {one_line(interrupted())}\n".encode(errors="replace"))
    os._exit(128 + signum)


def interrupted() -> str:
    return f"interrupted; {_state.written or 'nothing'} was written"


def unfinished(path: Path | None) -> None:
    """Record the temporary file that is being written, if any."""
    _state.unfinished = str(path or "")
    _prepare_for_bus_error()


def written(path: Path) -> None:
    _state.written = str(path)


def mapped(name: str) -> None:
    """Record a mapped input file, which others may shorten while it is read."""
    _state.mapped.append(name)
    _prepare_for_bus_error()


def _prepare_for_bus_error() -> None:
    if _state.is_command_line:
        names = one_line(" or ".join(_state.mapped) or "a mapped file")[:1000]
        line = f"backslice: error: {names} became shorter while it was read, or its disk failed; nothing was written\n"
        exit_on_bus_error(line.encode(errors="replace"), os.fsencode(_state.unfinished))
