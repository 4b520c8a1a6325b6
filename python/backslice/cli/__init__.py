"""The command line. `main` runs a command and turns whatever goes wrong into one line and an exit code. Where text was
misread, that line is followed by the text, with carets under the part that is to blame."""

import errno
import sys
from collections.abc import Sequence

FAILED, MISUSED, INTERRUPTED = 1, 2, 130


class Failure(Exception):  # noqa: N818  (it is shown to people, and is often theirs to mend)
    """Something that went wrong, in words that say what to do."""

    exit_code = FAILED
    marks = ""  # the text that was misread, and carets under it

    @classmethod
    def of(cls, error: Exception, before: str = "", after: str = "") -> "Failure":
        """An error of the library, between other words."""
        message, marks = _without_marks(error)
        failure = cls(f"{before}{message}{after}")
        failure.marks = marks
        return failure


class Usage(Failure):
    """A command that cannot be understood."""

    exit_code = MISUSED


def run(arguments: Sequence[str]) -> int:
    """The exit code of a command."""
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
    """What an error says, and the two lines of text and carets at its end, if it has any."""
    if getattr(error, "span", None) is None:
        return str(error), ""
    message, text, carets = str(error).rsplit("\n", 2)
    return message, f"{text}\n{carets}"


def describe(error: BaseException) -> tuple[int, str]:
    """The exit code and the one line for an error; errors of the program itself keep their traceback."""
    import typer

    from .. import errors
    from . import leaving

    if isinstance(error, (KeyboardInterrupt, typer.Abort)):
        return INTERRUPTED, leaving.interrupted()
    if isinstance(error, SystemExit):
        return (error.code, "") if isinstance(error.code, int) else (FAILED if error.code else 0, str(error.code or ""))
    if isinstance(error, Failure):
        return error.exit_code, f"error: {error}"
    if isinstance(error, BrokenPipeError):  # of text: whoever read it has had enough
        return FAILED, ""
    if isinstance(error, errors.Error):
        return FAILED, f"error: {_without_marks(error)[0]}"
    if isinstance(error, MemoryError):
        return FAILED, f"error: out of memory: {one_line(error) or 'a smaller input or more memory is needed'}"
    if isinstance(error, OSError):
        return FAILED, f"error: {_said_by_the_system(error)}"
    if hasattr(error, "format_message"):  # the usage errors of Typer's parser
        context = getattr(error, "ctx", None)
        command = context.command_path if context else "backslice"
        return MISUSED, f"error: {one_line(error.format_message())} See '{command} --help'."
    raise error


def _said_by_the_system(error: OSError) -> str:
    if error.errno == errno.ENOMEM:
        limits = (
            "a limit on address space (ulimit -v) counts mapped files too, one on private memory (ulimit -d) does not"
        )
        return f"{error.strerror}: {limits}"
    full = "standard output" if error.errno == errno.ENOSPC else None  # files say so themselves
    where = error.filename or full
    return f"{where}: {error.strerror or error}" if where else str(error.strerror or error)


def one_line(message: object) -> str:
    """Without line breaks, and without characters that a terminal would obey."""
    words = " ".join(str(message).split())
    shown = words if len(words) <= 2000 else words[:2000] + " ..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)


def quoted(name: object) -> str:
    """A name from a file or an argument, as messages show it: of any length and content, in a few words."""
    try:
        text = repr(name)
    except ValueError:  # an integer of thousands of digits
        return "a number of too many digits"
    return text if len(text) <= 80 else f"{text[:60]}... ({len(text)} characters)"


def check_text(text: str, what: str) -> None:
    """Refuses arguments that are not UTF-8. (Names of files may be any bytes.)"""
    if any("\ud800" <= c <= "\udfff" for c in text):
        raise Usage(f"{what} is {quoted(text)}, which is not UTF-8: check the encoding of your terminal or script")


def main() -> None:
    from . import leaving, streams

    streams.mend()
    leaving.answer_signals()
    sys.exit(streams.flush(run(sys.argv[1:])))
