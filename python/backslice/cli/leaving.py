"""How the process ends before its time: by Ctrl-C, SIGTERM, SIGHUP, or SIGBUS where a mapped file becomes shorter.

Whichever it is, the unfinished output is removed and one line says what happened. A signal unwinds the command, so that
the terminal is restored too; before and after the command, and the second time, it ends the process at once.
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
    """By a signal. (A plain SystemExit is somebody's sys.exit().)"""


@dataclass
class State:
    """What a signal finds."""

    is_command_line: bool = False  # as opposed to a program that calls `run`
    can_unwind: bool = False
    mapped: list[str] = field(default_factory=list)
    unfinished: str = ""
    written: str = ""


_state = State()


def answer_signals() -> None:
    """For the process that is the command line. What the shell told it to ignore (nohup) stays ignored."""
    _state.is_command_line = True
    for signum in SIGNALS:
        if signal.getsignal(signum) is not signal.SIG_IGN:
            signal.signal(signum, _answer)
    _prepare_for_bus_error()


@contextmanager
def unwound() -> Iterator[None]:
    """A command: what runs inside is ended by an exception."""
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
    """The temporary file that is being written, if any."""
    _state.unfinished = str(path or "")
    _prepare_for_bus_error()


def written(path: Path) -> None:
    _state.written = str(path)


def mapped(name: str) -> None:
    """A file that is read where it lies, and that others may shorten meanwhile."""
    _state.mapped.append(name)
    _prepare_for_bus_error()


def _prepare_for_bus_error() -> None:
    if _state.is_command_line:
        names = one_line(" or ".join(_state.mapped) or "a mapped file")[:1000]
        line = f"backslice: error: {names} became shorter while it was read, or its disk failed; nothing was written\n"
        exit_on_bus_error(line.encode(errors="replace"), os.fsencode(_state.unfinished))
