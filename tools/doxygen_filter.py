"""Prints a header with its comments marked for Doxygen: `python3 tools/doxygen_filter.py HEADER`.

The headers' comments are plain `//` or `///`, without commands, for people who read the header. The opening comment
describes the header. A comment before a declaration describes it and the functions after it, up to an empty line. A
comment behind a member describes that member. Doxygen needs explicit marks: `@file`, `///` before each declaration,
`///<`.
"""

import re
import sys
from itertools import groupby
from pathlib import Path

COMMENT = re.compile(r"(\s*)///? ?(.*)")
TRAILING = re.compile(r"(\s*[^/\s].*?[;,{})\w])\s+///?<? (.*)")


def marked(lines: list[str], name: str) -> list[str]:
    opening = lines.index("#pragma once")
    text = [found[2] for line in lines[:opening] if (found := COMMENT.match(line)) and found[2] != "@file"]
    return [f"/// @file {name}", *documentation(text, ""), *declarations(lines[opening:])]


def documentation(text: list[str], indent: str) -> list[str]:
    """Return the lines of a comment for Doxygen. Indented lines are code, also across an empty line."""
    is_code = [line.startswith("    ") for line in text]
    for i, line in enumerate(text[:-1]):
        is_code[i] |= not line and i > 0 and is_code[i - 1] and is_code[i + 1]
    found: list[str] = []
    for code, group in groupby(zip(is_code, text, strict=True), key=lambda pair: pair[0]):
        lines = [line for _, line in group]
        found += ["@code{.cpp}", *(line[4:] for line in lines), "@endcode"] if code else map(escaped, lines)
    return [f"{indent}/// {line}".rstrip() for line in found]


def escaped(line: str) -> str:
    """Escape text outside of `code`: nothing is a tag, and commands only begin lines."""
    parts = line.split("`")
    parts[::2] = [re.sub(r"(?<!^)@|[\\<>#]", r"\\\g<0>", part) for part in parts[::2]]
    return "`".join(parts)


def declarations(lines: list[str]) -> list[str]:
    """Mark the comment of each declaration. A declaration has the same indentation as its comment."""
    found: list[str] = []
    comments: dict[str, list[str]] = {}
    before = ""
    for line in lines:
        indent = line[: len(line) - len(line.lstrip())]
        if not line.strip():
            comments.clear()
        elif text := COMMENT.fullmatch(line):
            comments[indent] = [*comments[indent], text[2]] if COMMENT.fullmatch(before) else [text[2]]
        elif indent in comments and line.strip()[0] not in "}{":
            found += documentation(comments[indent], indent)
            if "(" not in line:
                del comments[indent]
        if not COMMENT.fullmatch(line):
            found.append(TRAILING.sub(lambda m: f"{m[1]}  ///< {escaped(m[2])}", line))
        before = line
    return found


if __name__ == "__main__":
    header = Path(sys.argv[1])
    print("\n".join(marked(header.read_text().splitlines(), f"backslice/{header.name}")))
