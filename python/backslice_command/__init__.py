"""The start of the `backslice` command. It lies outside the package, whose import takes a moment in which Ctrl-C would
end in a traceback: here that is answered first."""

import _signal  # type: ignore[import-not-found]  # built in; `signal` around it takes longer to import than all of this
import os


def main() -> None:
    answer_interrupts()
    from backslice.cli import main as command

    command()


def answer_interrupts() -> None:
    """Ends the process at once on Ctrl-C, which is right as long as nothing is written. The command line takes over
    when it is loaded."""
    if _signal.getsignal(_signal.SIGINT) != _signal.SIG_IGN:  # as in a shell's background job
        _signal.signal(_signal.SIGINT, _leave)


def _leave(*_: object) -> None:
    os.write(2, b"backslice: interrupted; nothing was written\n")
    os._exit(130)
