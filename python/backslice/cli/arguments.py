"""Command-line arguments that the commands share: slices in any dialect, shapes, and how tokens are read."""

import re
from typing import Any

from typer.core import TyperCommand

import backslice as bs

from .. import dialects
from . import Usage, check_text

PAIR = re.compile(r"\s*[a-z_]+\s*=")
TIMES = re.compile(r"(?<=\d)\s*x\s*(?=\d)")  # 4x6


def join_pairs(tokens: list[str]) -> list[str]:
    """Turn --tf begin=1 end=3 into --tf "begin=1 end=3", and puts a space before an index that starts with a minus."""
    joined: list[str] = []
    after_pairs = False
    for token in tokens:
        is_pair = PAIR.match(token) is not None
        if after_pairs and is_pair:
            joined[-1] += " " + token
            continue
        after_pairs = token.startswith(("--tf=", "--onnx=")) or (is_pair and joined[-1:] in (["--tf"], ["--onnx"]))
        joined.append(" " + token if re.match(r"-\d", token) else token)
    return joined


class SliceCommand(TyperCommand):
    """A command with slices among its arguments."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, join_pairs(args))


def read_spec(index: str | None, tf: str | None, onnx: str | None, positional: str | None = None) -> dialects.Spec:
    """Return the one slice given by the options or by an argument without an option."""
    candidates = (("python", index), ("tf", tf), ("onnx", onnx), ("python", positional))
    given = [(dialect, text) for dialect, text in candidates if text is not None]
    if len(given) != 1:
        problem = "no slice is given" if not given else "more than one slice is given"
        raise Usage(f'{problem}: give one, as --index "1:3, ::2", --tf begin=.. end=.. or --onnx starts=.. ends=..')
    check_text(given[0][1], "the slice")
    try:
        return dialects.parse(*given[0])
    except bs.Error as error:
        raise Usage.of(error) from None


def read_selection(spec: dialects.Spec, shape: tuple[int, ...]) -> bs.Selection:
    try:
        return spec.selection(shape)
    except bs.Error as error:
        raise Usage.of(error, f"this slice of shape {list(shape)}: ") from None


def read_shape(text: str) -> tuple[int, ...]:
    try:
        shape = tuple(dialects.integers(TIMES.sub(",", text), "shape"))
    except bs.Error as error:
        raise Usage.of(error, after="; a shape is written 4096,4096") from None
    if any(extent < 0 for extent in shape):
        raise Usage(f"shape {text} has a negative extent")
    return shape
