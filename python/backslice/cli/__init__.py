"""The command line. `main` runs a command and turns whatever goes wrong into one line and an exit code."""

import errno
import signal
import sys
from collections.abc import Sequence
from typing import NoReturn

FAILED, MISUSED, INTERRUPTED = 1, 2, 130


class Failure(Exception):  # noqa: N818  (it is shown to people, and is often theirs to mend)
    """Something that went wrong, in words that say what to do."""

    exit_code = FAILED


class Usage(Failure):
    """A command that cannot be understood."""

    exit_code = MISUSED


def run(arguments: Sequence[str]) -> int:
    """The exit code of a command."""
    try:
        from .app import app

        code = app(args=list(arguments) or ["--help"], prog_name="backslice", standalone_mode=False) or 0
        if not arguments:
            return MISUSED
        message = "interrupted; nothing was written" if code == INTERRUPTED else ""
    except BaseException as error:
        code, message = describe(error)
    if message:
        print(f"backslice: {message}", file=sys.stderr)
    return code


def describe(error: BaseException) -> tuple[int, str]:
    """The exit code and the one line for an error; errors of the program itself keep their traceback."""
    import typer

    from .. import errors

    if isinstance(error, (KeyboardInterrupt, typer.Abort)):
        return INTERRUPTED, "interrupted; nothing was written"
    if isinstance(error, SystemExit):
        return int(error.code or 0), ""
    if isinstance(error, Failure):
        return error.exit_code, f"error: {one_line(error)}"
    if isinstance(error, BrokenPipeError):
        return FAILED, ""
    if isinstance(error, errors.Error):
        return FAILED, f"error: {one_line(error)}"
    if isinstance(error, MemoryError):
        return FAILED, f"error: out of memory: {one_line(error) or 'a smaller input or more memory is needed'}"
    if isinstance(error, OSError) and error.errno == errno.ENOMEM:
        limits = (
            "a limit on address space (ulimit -v) counts mapped files too, one on private memory (ulimit -d) does not"
        )
        return FAILED, f"error: {error.strerror}: {limits}"
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename else ""
        return FAILED, f"error: {where}{error.strerror or one_line(error)}"
    if hasattr(error, "format_message"):  # the usage errors of Typer's parser
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "backslice"
        return MISUSED, f"error: {one_line(error.format_message())} See '{command} --help'."
    raise error


def one_line(message: object) -> str:
    return " ".join(str(message).split())


def _terminate(signum: int, _: object) -> NoReturn:
    raise SystemExit(128 + signum)


def main() -> None:
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # it is None where the shell closed it
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]  # terminals without µ or ■
    for signum in (signal.SIGTERM, signal.SIGHUP):  # so that unfinished files are removed
        signal.signal(signum, _terminate)
    code = run(sys.argv[1:])
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        sys.stdout = None  # nobody reads: do not try again at exit
        code = code or FAILED
    sys.exit(code)
