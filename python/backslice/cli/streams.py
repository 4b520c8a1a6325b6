"""Standard input, output and error, where the shell has closed them, nobody reads them, or the disk is full."""

import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, NoReturn

from . import FAILED, Failure, Usage, one_line


class ClosedOutput(io.TextIOBase):
    """What stands for a standard output that was closed: a result that cannot be told is an error."""

    def write(self, _: str) -> NoReturn:
        raise Failure("standard output is closed")


def mend() -> None:
    """Makes the streams usable: for the process that is the command line."""
    for number in (0, 1, 2):  # else the next file opened would take the number, and with it what others print
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    sys.stdout = sys.stdout or ClosedOutput()
    sys.stderr = sys.stderr or io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # terminals without µ or ■, arguments that are not UTF-8
    if not sys.warnoptions:
        warnings.simplefilter("ignore")  # NumPy's remarks on a strange file would be lines beside the one


def say(message: str, marks: str = "") -> None:
    """One line on standard error, and below it what was misread, if that is known."""
    lines = [f"backslice: {one_line(message)}", *("".join(map(_harmless, line)) for line in marks.split("\n") if marks)]
    with suppress(OSError):
        print("\n".join(lines), file=sys.stderr)


def _harmless(character: str) -> str:
    """What a terminal would obey is shown as a question mark, which is as wide."""
    return character if character.isprintable() else "?"


def flush(code: int) -> int:
    """Writes what is left, and gives the exit code."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            code = code or FAILED
            if stream is sys.stdout and not isinstance(error, BrokenPipeError):
                say(f"error: standard output: {error.strerror}")
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())  # Python would try again at exit
    return code


@contextmanager
def standard_input() -> Iterator[IO[bytes]]:
    """To be read in parts: whoever reads it knows when it has had enough."""
    if sys.stdin is None:
        raise Failure("standard input is closed: pipe a file into it, or name one")
    if sys.stdin.isatty():
        raise Usage("standard input is a terminal: pipe a file into it, or name one")
    try:
        yield sys.stdin.buffer
    except OSError as error:
        raise Failure(f"standard input cannot be read: {error.strerror or error}") from None


def standard_output() -> IO[bytes]:
    """For an array: asked for before anything is computed."""
    if isinstance(sys.stdout, ClosedOutput):
        raise Failure("standard output is closed: redirect it, or write to a file with -o dx.npy")
    if sys.stdout.isatty():
        raise Usage("standard output is a terminal: redirect it, or write to a file with -o dx.npy")
    return sys.stdout.buffer
