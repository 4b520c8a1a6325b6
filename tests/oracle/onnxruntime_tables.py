"""Measures and prints the tables of docs/onnxruntime.md, "How fast". Takes some minutes, on a quiet machine.

.venv/bin/python tests/oracle/onnxruntime_tables.py
"""

from collections.abc import Callable, Iterator
from typing import Any

from test_onnxruntime_speed import measured

Measure = Callable[[str, str], Any]  # runs onnxruntime_speed.py for a name and a source of arguments


def main(measure: Measure = measured) -> None:
    nodes = measure("names", "constants")
    small = [name for name, count in nodes.items() if count > 1]
    large = [name for name, count in nodes.items() if count == 1]
    for title, names in [("small gradients of", small), ("gradient of", large)]:
        for line in table(title, names, measure):
            print(line, flush=True)
        print()
    constants, inputs = (measure("slice", arguments)[0] for arguments in ("constants", "inputs"))
    print(f"ONNX Runtime's own `Slice` of (8,8) takes {told(constants)} with constants, {told(inputs)} with inputs.")


def table(title: str, names: list[str], measure: Measure) -> Iterator[str]:
    yield f"| {title} | training wheel | backslice | times | with inputs |"
    yield "|---|---|---|---|---|"
    for name in names:
        theirs, ours = measure(name, "constants")
        yield f"| {name} | {told(theirs)} | {told(ours)} | {times(theirs, ours)} | {times(*measure(name, 'inputs'))} |"


def told(seconds: float) -> str:
    """Format a number with three digits."""
    value, unit = (seconds * 1e6, "µs") if seconds < 1e-3 else (seconds * 1e3, "ms")
    return f"{value:.{0 if value >= 99.95 else 1 if value >= 9.995 else 2}f} {unit}"


def times(theirs: float, ours: float) -> str:
    ratio = theirs / ours
    return f"{ratio:.{2 if ratio < 1.05 else 1}f}\u00d7"


if __name__ == "__main__":
    main()
