"""The command line. `main` runs a command and turns every error into one line and an exit code. An error in text is
followed by that text, with carets under the wrong part."""

import errno
import sys
from collections.abc import Sequence

FAILED, MISUSED, INTERRUPTED = 1, 2, 130


class Failure(Exception):  # noqa: N818 (shown to users, who can often fix the cause)
    """An error whose message says how to continue."""

    exit_code = FAILED
    marks = ""  # the wrong text, with carets under the error

    @classmethod
    def of(cls, error: Exception, before: str = "", after: str = "") -> "Failure":
        """Return a failure that wraps an error of the library in other words."""
        message, marks = _without_marks(error)
        failure = cls(f"{before}{message}{after}")
        failure.marks = marks
        return failure


class Usage(Failure):
    """A command line that cannot be understood."""

    exit_code = MISUSED


def run(arguments: Sequence[str]) -> int:
    """Run the command line and returns its exit code."""
    from . import leaving, streams

    try:
        from .app import app

        with leaving.unwound():
            code = app(args=list(arguments) or ["--help"], prog_name="backslice", standalone_mode=False) or 0
        if not arguments:
            return MISUSED
        message = leaving.interrupted() if code == INTERRUPTED else ""
        marks = ""
    except BaseException as error:
        code, message = describe(error)
        marks = error.marks if isinstance(error, Failure) else _without_marks(error)[1]
    if message:
        streams.say(message, marks)
    return code


def _without_marks(error: BaseException) -> tuple[str, str]:
    """Return an error's message without its text and carets, and those two lines, if it has any."""
    if getattr(error, "span", None) is None:
        return str(error), ""
    message, text, carets = str(error).rsplit("\n", 2)
    return message, f"{text}\n{carets}"


def describe(error: BaseException) -> tuple[int, str]:
    """Return the exit code and the one-line message for an error. Internal errors keep their traceback."""
    if isinstance(error, ModuleNotFoundError) and error.name in ("rich", "safetensors", "typer"):
        return FAILED, f"error: the command line needs {error.name}. Install it with: pip install 'backslice[cli]'"

    import typer

    from .. import errors
    from . import leaving

    if isinstance(error, (KeyboardInterrupt, typer.Abort)):
        return INTERRUPTED, leaving.interrupted()
    if isinstance(error, SystemExit):
        return (error.code, "") if isinstance(error.code, int) else (FAILED if error.code else 0, str(error.code or ""))
    if isinstance(error, Failure):
        return error.exit_code, f"error: {error}"
    if isinstance(error, BrokenPipeError):  # the reader of text output closed the pipe
        return FAILED, ""
    if isinstance(error, errors.Error):
        return FAILED, f"error: {_without_marks(error)[0]}"
    if isinstance(error, MemoryError):
        return FAILED, f"error: out of memory: {one_line(error) or 'a smaller input or more memory is needed'}"
    if isinstance(error, OSError):
        return FAILED, f"error: {_system_message(error)}"
    if hasattr(error, "format_message"):  # the usage errors of Typer's parser
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "backslice"
        return MISUSED, f"error: {one_line(error.format_message())} See '{command} --help'."
    raise error


def _system_message(error: OSError) -> str:
    if error.errno == errno.ENOMEM:
        limits = (
            "a limit on address space (ulimit -v) counts mapped files too, one on private memory (ulimit -d) does not"
        )
        return f"{error.strerror}: {limits}"
    full = "standard output" if error.errno == errno.ENOSPC else None  # errors about files name the file themselves
    where = error.filename or full
    return f"{where}: {error.strerror or error}" if where else str(error.strerror or error)


def one_line(message: object) -> str:
    """Return text without line breaks and without characters that control terminals."""
    words = " ".join(str(message).split())
    shown = words if len(words) <= 2000 else words[:2000] + " ..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)


def quoted(name: object) -> str:
    """Return a name from a file or an argument for messages: printable, and shortened if it is long."""
    try:
        text = repr(name)
    except ValueError:  # an integer of thousands of digits
        return "a number of too many digits"
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"


def check_text(text: str, what: str) -> None:
    """Refuse arguments that are not UTF-8. (File names may be any bytes.)"""
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise Usage(f"{what} is {quoted(text)}, which is not UTF-8: check the encoding of your terminal or script")


def main() -> None:
    from . import leaving, streams

    streams.prepare()
    leaving.answer_signals()
    sys.exit(streams.flush(run(sys.argv[1:])))
