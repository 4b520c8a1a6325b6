"""Standard input, output and error: closed by the shell, without a reader, or on a full disk."""

import io
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO, NoReturn

from . import FAILED, Failure, Usage, one_line


class ClosedOutput(io.TextIOBase):
    """Replaces a closed standard output: a result that cannot be printed is an error."""

    def write(self, _: str) -> NoReturn:
        raise Failure("standard output is closed")


def prepare() -> None:
    """Make the streams of the command-line process usable."""
    for number in (0, 1, 2):  # else the next opened file would get the number, and output meant for the stream
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
        warnings.simplefilter("ignore")  # NumPy's warnings would be lines beside the one error


def say(message: str, marks: str = "") -> None:
    """Print one line to standard error, followed by the wrong text, if that is known."""
    lines = [f"backslice: {one_line(message)}", *("".join(map(_harmless, line)) for line in marks.split("\n") if marks)]
    with suppress(OSError):
        print("\n".join(lines), file=sys.stderr)


def _harmless(character: str) -> str:
    """Replace terminal control characters with question marks, which are as wide."""
    return character if character.isprintable() else "?"


def flush(code: int) -> int:
    """Flush the streams and return the exit code."""
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
    """Open standard input to be read in pieces, until its reader has enough."""
    if sys.stdin is None:
        raise Failure("standard input is closed: pipe a file into it, or name one")
    if sys.stdin.isatty():
        raise Usage("standard input is a terminal: pipe a file into it, or name one")
    try:
        yield sys.stdin.buffer
    except OSError as error:
        raise Failure(f"standard input cannot be read: {error.strerror or error}") from None


def standard_output() -> IO[bytes]:
    """Open standard output for an array. Called before any computation, so that errors come first."""
    if isinstance(sys.stdout, ClosedOutput):
        raise Failure("standard output is closed: redirect it, or write to a file with -o dx.npy")
    if sys.stdout.isatty():
        raise Usage("standard output is a terminal: redirect it, or write to a file with -o dx.npy")
    return sys.stdout.buffer
