"""The consoles that commands print to. They are coloured on a terminal, and print no trailing blanks to a pipe or a
file."""

import io
import sys
from typing import TextIO, cast

from rich.console import Console


class WithoutTrailingBlanks(io.TextIOBase):
    """A stream that drops the blanks with which Rich fills lines up to the width of the terminal. They would show up in
    files and diffs."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream
        self.blanks = ""  # at the end of the written text; dropped at the end of the line

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
