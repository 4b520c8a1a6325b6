"""The random cases of a sweep. A case is Python code: the report prints the timed code, and a user can paste it."""

import math
import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

BYTES = (256, 90_000_000)  # bytes of a tensor, log-uniform
DTYPES = ("int8", "uint16", "float16", "int32", "float32", "int64", "float64", "complex64", "complex128")
STEPS = (2, 3, 4, 7)

ROWS = ("contiguous", "padded")
SWAPPED = ("fortran", "reversed", "moved")
ANY = (*ROWS, *SWAPPED, "step")

# The timed statements by kind: backslice's and NumPy's.
STATEMENTS = {
    "new": ("dx = bs.slice_grad(dy, shape, i)", "dx = np.zeros(shape, dtype); dx[i] = dy"),
    "into": ("bs.slice_grad(dy, shape, i, out=x)", "x.fill(0); x[i] = dy"),
    "accumulate": ("bs.slice_grad(dy, shape, i, out=x, accumulate=True)", "x[i] += dy"),
    "slice": ("y = bs.slice(x, i)", 'y = np.array(x[i], order="C")'),
    "write": ("buffer.write(i, dy)", "x[i] = 0; x[i] = dy"),
    "add": ("buffer.add(i, dy)", "x[i] += dy"),
}
# Each moves the selected bytes twice (a read and a write), and a gradient all of its result besides.
RESULTS = {"new": ("dx", "dx"), "slice": ("y", "y"), "write": ("buffer.array", "x"), "add": ("buffer.array", "x")}


@dataclass(frozen=True)
class Form:
    name: str
    kind: str
    layouts: tuple[str, ...] = ("contiguous",)  # layout of x: the output, or the input of a slice


FORMS = (
    Form("slice_grad, new array", "new"),
    Form("out=, C order or padded rows", "into", ROWS),
    Form("out=, Fortran, reversed, axes swapped", "into", SWAPPED),
    Form("out=, inner axis with a step", "into", ("step",)),
    Form("accumulate, C order or padded", "accumulate", ROWS),
    Form("accumulate, other layouts", "accumulate", (*SWAPPED, "step")),
    Form("slice, C order or padded", "slice", ROWS),
    Form("slice, other layouts", "slice", (*SWAPPED, "step")),
    Form("GradBuffer.write", "write"),
    Form("GradBuffer.add", "add"),
)


@dataclass(frozen=True)
class Case:
    form: str
    kind: str
    dtype: str
    shape: tuple[int, ...]
    index: str
    moved: int  # bytes read and written
    setup: str
    layouts: tuple[str, ...]  # layouts of dy and x, if there are any

    @property
    def statements(self) -> tuple[str, str]:
        return STATEMENTS[self.kind]

    @property
    def results(self) -> tuple[str, str]:
        """Expressions of what the two statements computed."""
        return RESULTS.get(self.kind, ("x", "x"))

    @property
    def line(self) -> str:
        return f"import numpy as np, backslice as bs; {self.setup}; {self.statements[0]}"

    def to_dict(self) -> dict[str, Any]:
        return asdict(self) | {"backslice": self.statements[0], "numpy": self.statements[1]}


def cases(seed: int, forms: tuple[Form, ...] = FORMS) -> Iterator[Case]:
    """Yield random cases: the same ones for the same seed and forms."""
    for number in range(2**63):
        yield random_case(random.Random(f"{seed} {number}"), forms[number % len(forms)])


def random_case(rng: random.Random, form: Form) -> Case:
    dtype = rng.choice(DTYPES)
    shape = random_shape(rng, np.dtype(dtype).itemsize)
    index = ", ".join(random_item(rng, extent) for extent in shape)
    selected = selected_shape(shape, index)
    setup = [f"dtype, shape, i = np.dtype({dtype!r}), {shape}, np.s_[{index}]"]
    layouts = []
    if form.kind != "slice":
        layouts.append(rng.choice(ANY))
        setup.append(f"dy = {array(rng, selected, layouts[-1])}")
    if form.kind in ("write", "add"):
        setup.append("buffer, x = bs.GradBuffer(shape, dtype), np.zeros(shape, dtype)")
    elif form.kind != "new":
        layouts.append(rng.choice(form.layouts))
        setup.append(f"x = {array(rng, shape, layouts[-1])}")
    items = 2 * math.prod(selected) + (math.prod(shape) - math.prod(selected)) * (form.kind in ("new", "into"))
    moved = items * np.dtype(dtype).itemsize
    return Case(form.name, form.kind, dtype, shape, index, moved, "; ".join(setup), tuple(layouts))


def random_shape(rng: random.Random, itemsize: int) -> tuple[int, ...]:
    count = max(1, round(math.exp(rng.uniform(*map(math.log, BYTES))) / itemsize))
    weights = [rng.expovariate(1) for _ in range(rng.randint(1, 4))]
    extents = [max(1, int(count ** (weight / sum(weights)))) for weight in weights]
    grown = rng.randrange(len(extents))  # absorbs what rounding lost
    extents[grown] = max(1, count * extents[grown] // math.prod(extents))
    return tuple(extents)


def random_item(rng: random.Random, extent: int) -> str:
    kind = rng.choice(("whole", "range", "step", "reversed", "integer"))
    if kind == "range":
        start = rng.randrange(extent)
        return f"{start}:{rng.randint(start + 1, extent)}"
    if kind == "step":
        step = rng.choice(STEPS)
        return f"{rng.randrange(min(step, extent)) or ''}::{step}"
    return {"whole": ":", "reversed": "::-1", "integer": str(rng.randrange(extent))}[kind]


def selected_shape(shape: tuple[int, ...], index: str) -> tuple[int, ...]:
    selected: tuple[int, ...] = np.broadcast_to(np.int8(0), shape)[parsed(index)].shape
    return selected


def parsed(index: str) -> tuple[Any, ...]:
    return tuple(eval(f"np.s_[{index},]", {"np": np}))


def array(rng: random.Random, shape: tuple[int, ...], layout: str) -> str:
    """Code that makes an array of this layout whose elements differ, so that a permutation shows."""
    if not shape:
        return values(())
    if len(shape) == 1 and layout in ("fortran", "moved"):
        layout = "reversed"
    *outer, last = shape
    if layout == "padded":
        return f"{values((*outer, last + rng.randint(1, 16)))}[..., :{last}]"
    if layout == "step":
        return f"{values((*outer, 2 * last))}[..., ::2]"
    if layout == "moved":
        return f"np.moveaxis({values((last, *outer))}, 0, -1)"
    if layout == "fortran":
        return f"np.asfortranarray({values(shape)})"
    return values(shape) + (rng.choice(("[::-1]", "[..., ::-1]")) if layout == "reversed" else "")


def values(shape: tuple[int, ...]) -> str:
    return f"np.resize((np.arange(4099) % 97).astype(dtype), {shape})"
