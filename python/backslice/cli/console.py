"""The consoles that commands print to. On a terminal they have colours; a pipe or a file gets no trailing blanks."""

import io
import sys
from typing import TextIO, cast

from rich.console import Console


class WithoutTrailingBlanks(io.TextIOBase):
    """Rich fills lines up to the width of the terminal. In a file that is noise, and diffs show it."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.blanks = ""  # at the end of what was written, dropped where the line ends

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.stream.encoding or "utf-8"

    def isatty(self) -> bool:
        return False

    def write(self, text: str) -> int:
        lines = (self.blanks + text).split("\n")
        kept = lines[-1].rstrip(" ")
        self.blanks = lines[-1][len(kept) :]
        self.stream.write("\n".join([*(line.rstrip(" ") for line in lines[:-1]), kept]))
        return len(text)

    def flush(self) -> None:
        self.stream.flush()


def console(stderr: bool = False, width: int | None = None) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    if stream.isatty():
        return Console(stderr=stderr, width=width)
    return Console(file=cast(TextIO, WithoutTrailingBlanks(stream)), width=width)
