"""backslice check: the user's gradient against ours and against finite differences."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

import backslice as bs

from . import Failure, Usage
from .functions import call, check_numbers
from .inputs import FORMATS, is_array_file, read_array
from .memory import must_fit

MOST_SHOWN = 10  # in the table
MOST_LISTED = 1000  # with --json
BYTES_PER_ELEMENT = 64  # for the gradient twice and x, each in double precision, and temporary arrays of the comparison


def check(given: str, selection: bs.Selection, dy: NDArray[Any], dtype: str | None, rtol: float,
          forward: str | None) -> dict[str, Any]:  # fmt: skip
    check_numbers(dy, "dy")
    found = _gradient(given, dy, dtype)
    check_numbers(found, given)
    if found.shape != selection.shape:
        raise Failure(
            f"{given} has shape {list(found.shape)}, but the gradient has the shape of x, {list(selection.shape)}"
        )
    ours = bs.slice_grad(dy, selection.shape, selection)
    wrong = np.argwhere(~_close(found, ours, rtol))
    slopes = _finite_differences(selection, dy, _probed(selection, wrong), forward)
    allowed = max(rtol, _precision(found.dtype))
    disagree = [at for at, slope in slopes.items() if not _close(np.asarray(found[at]), np.asarray(slope), allowed)]
    listed = dict.fromkeys([*(tuple(int(i) for i in at) for at in wrong[:MOST_LISTED]), *disagree])
    return {
        "agrees": len(wrong) == 0 and not disagree,
        "elements": int(found.size),
        "different": len(wrong),
        "finite_differences": {"taken": len(slopes), "different": len(disagree)},
        "examples": [
            {
                "at": list(at),
                "given": _plain(found[at]),
                "expected": _plain(ours[at]),
                "finite_difference": _plain(slopes.get(at)),
            }
            for at in listed
        ],
        "hint": _hint(found, ours, selection) if len(wrong) else "",
    }


def read_dy(file: str | None, selection: bs.Selection, dtype: str | None) -> NDArray[Any]:
    """Return the file's array, or random numbers if there is no file."""
    if file is not None:
        dy = read_array(file, dtype)
        if dy.shape != selection.result_shape:
            raise Failure(f"{file} has shape {list(dy.shape)}, but the slice has shape {list(selection.result_shape)}")
        return dy
    # exact in any float dtype
    return np.random.default_rng(0).integers(1, 1000, selection.result_shape).astype(np.float64)


def check_size(selection: bs.Selection) -> None:
    """Check, before any work, that NumPy and the machine can hold arrays of the shapes of x and its slice."""
    for shape in (selection.shape, selection.result_shape):
        must_fit(BYTES_PER_ELEMENT * math.prod(shape), f"checking a gradient of shape {list(shape)}",
                 "check a smaller shape")  # fmt: skip
        try:
            np.empty(shape if 0 in shape else 0)  # an empty array checks the extents without taking memory
        except ValueError as error:
            raise Failure(
                f"NumPy cannot make an array of shape {list(shape)}: {error}; check a smaller shape"
            ) from None


def _gradient(given: str, dy: NDArray[Any], dtype: str | None) -> NDArray[Any]:
    if is_array_file(given):
        return read_array(given, dtype)
    if ":" not in given:
        example = f"{given}:grad" if given.endswith(".py") else "mine.py:grad"
        raise Usage(f"{given} is neither a file ({', '.join(FORMATS)}) nor a function; a function is written {example}")
    return call(given, dy)


def _probed(selection: bs.Selection, wrong: NDArray[Any]) -> list[tuple[int, ...]]:
    """Choose elements for finite differences: all in a small input, else wrong, random and selected ones."""
    size = math.prod(selection.shape)
    most = min(400, 30 + 10**9 // max(size, 1))  # each needs two slices, which are slow if large
    if size <= most:
        return list(np.ndindex(*selection.shape))
    random = np.random.default_rng(0)
    chosen = {tuple(int(i) for i in at) for at in wrong[: most // 3]}
    chosen |= {tuple(int(random.integers(n)) for n in selection.shape) for _ in range(most // 3)}
    if 0 not in selection.result_shape:  # and selected elements
        chosen |= {tuple(int(s + t * random.integers(c)) for s, t, c in selection.axes) for _ in range(most // 3)}
    return sorted(chosen)


def _finite_differences(selection: bs.Selection, dy: NDArray[Any], probed: list[tuple[int, ...]],
                        forward: str | None) -> dict[tuple[int, ...], float]:  # fmt: skip
    """Return the change of the loss sum(dy * y) with each element of x. A slice is linear, so a step of 1 is exact."""
    index = (*selection.to_index(), ...)
    weights = dy.astype(np.complex128 if dy.dtype.kind == "c" else np.float64)
    x = np.zeros(selection.shape)

    def loss() -> Any:  # complex if dy is
        y = x[index] if forward is None else call(forward, x)
        if y.shape != weights.shape:
            raise Failure(f"{forward} gives shape {list(y.shape)}, but dy has shape {list(weights.shape)}")
        moved = np.nonzero(y)  # an infinite dy counts only at elements where y changes
        return np.sum(weights[moved] * y[moved])

    slopes = {}
    for at in probed:
        x[at] = 1
        above = loss()
        x[at] = -1
        slopes[at] = (above - loss()) / 2
        x[at] = 0
    return slopes


def _precision(dtype: np.dtype[Any]) -> float:
    import ml_dtypes

    try:
        return float(ml_dtypes.finfo(dtype).eps)  # type: ignore[no-untyped-call]
    except ValueError:
        return 0.0


def _close(a: NDArray[Any], b: NDArray[Any], rtol: float) -> NDArray[np.bool_]:
    wide: Any = np.complex128 if "c" in (a.dtype.kind, b.dtype.kind) else np.float64
    if rtol == 0 and a.dtype == b.dtype and a.dtype.kind in "iub":
        return np.asarray(a == b)
    p, q = a.astype(wide), b.astype(wide)
    equal = (p == q) | (np.isnan(p) & np.isnan(q))
    with np.errstate(invalid="ignore"):
        return np.asarray(equal | (np.abs(p - q) <= rtol * np.abs(q)))


def _plain(value: Any) -> Any:
    if value is None:
        return None
    number = complex(value) if np.iscomplexobj(value) else float(value)
    return str(number) if isinstance(number, complex) or not np.isfinite(number) else number


def _hint(found: NDArray[Any], ours: NDArray[Any], selection: bs.Selection) -> str:
    """Return a guess at the kind of mistake."""
    index = (*selection.to_index(), ...)
    inside, expected = found[index], ours[index]
    outside = found.copy()
    outside[index] = 0
    if not _close(outside, np.zeros_like(outside), 0).all():
        return "elements that the slice does not take should be zero, but are not"
    for axis in range(inside.ndim):
        if _close(np.flip(inside, axis), expected, 0).all():
            return f"dy is written backwards along axis {axis} of the slice"
    flat, wanted = inside.astype(np.complex128).ravel(), expected.astype(np.complex128).ravel()
    ratio = flat[wanted != 0] / wanted[wanted != 0]
    if ratio.size and np.allclose(ratio, ratio[0].real) and ratio[0].real not in (0, 1):
        return f"the values are {ratio[0].real:g} times dy: is it added more than once?"
    if not flat.any():
        return "all elements are zero: dy is not written at all"
    return "the zeros are right, but the elements that the slice takes do not hold dy"


def show(result: dict[str, Any], console: Console) -> None:
    taken = result["finite_differences"]["taken"]
    if result["agrees"]:
        console.print(f"agrees with backslice in all {result['elements']} elements, "
                      f"and with finite differences at {taken} of them", highlight=False)  # fmt: skip
        return
    console.print(
        f"differs from backslice in {result['different']} of {result['elements']} elements, "
        f"and from finite differences in {result['finite_differences']['different']} of {taken}",
        style="red",
        highlight=False,
    )
    table = Table("at", "given", "expected", "finite difference")
    for example in result["examples"][:MOST_SHOWN]:
        values = [example[key] for key in ("given", "expected", "finite_difference")]
        table.add_row(
            str(example["at"]), *("-" if v is None else f"{v:g}" if isinstance(v, float) else v for v in values)
        )
    console.print(table)
    more = result["different"] - MOST_SHOWN
    if more > 0:
        console.print(f"and {more} more", highlight=False)
    if result["hint"]:
        console.print(result["hint"], highlight=False)
