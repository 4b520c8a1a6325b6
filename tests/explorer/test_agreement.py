"""The explorer's normal form is Python's, for random slices in each notation; invalid slices are refused alike."""

import os
import random
from typing import Any

import backslice as bs
import pytest
from backslice import dialects

CASES = int(os.environ.get("BACKSLICE_EXPLORER_CASES", "10000"))
EXTREMES = (
    "9223372036854775807",
    "-9223372036854775808",
    "9223372036854775808",
    "INT_MAX",
    "INT32_MAX",
    "0x10",
    "-0",
    "1_0",
    "01",
)
KEPT = "({error, axes, result_axes, result_shape}) => ({error, axes, result_axes, result_shape})"


def integer(rng: random.Random) -> str:
    return rng.choice(EXTREMES) if rng.random() < 0.04 else str(rng.randint(-9, 9))


def integers(rng: random.Random, count: int) -> str:
    text = rng.choice((", ", ",", " ")).join(integer(rng) for _ in range(count))
    return rng.choice((text, text, f"[{text}]", f"({text})", text + ",", text.replace("1", "one", 1)))


def item(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.15:
        return str(rng.randint(-5, 5))
    if kind < 0.25:
        return rng.choice(("None", "...", "np.newaxis", "Ellipsis"))
    if kind < 0.28:
        return rng.choice(("a", "", "1:2:3:4", "[1]", "é", "1.5", "<b>", "::0"))
    return ":".join(rng.choice(("", integer(rng))) for _ in range(rng.choice((2, 3))))


def case(rng: random.Random) -> dict[str, str]:
    rank = rng.choice((0, 1, 2, 2, 3, 4))
    shape = ", ".join(str(rng.randint(0, 9)) for _ in range(rank))
    entries = max(0, rank + rng.choice((-1, 0, 0, 0, 1)))
    sizes = [entries + (rng.random() < 0.03) for _ in range(4)]
    fields = {"tab": "slice", "rows": "2", "columns": "2", "panels": "1", "shape": shape}
    notation = rng.choice(("python", "tf", "onnx"))
    fields["from"] = notation
    if notation == "python":
        fields["index"] = ", ".join(item(rng) for _ in range(entries))
    elif notation == "tf":
        fields |= {name: integers(rng, size) for name, size in zip(("begin", "end", "strides"), sizes, strict=False)}
        fields |= {mask: str(rng.choice((0, 0, 1, 2, 3))) for mask in MASKS}
    else:
        fields |= {name: integers(rng, size) for name, size in zip(("starts", "ends", "steps"), sizes, strict=False)}
        fields["axes"] = rng.choice(("", ", ".join(map(str, rng.sample(range(-rank, rank), min(entries, 2 * rank))))))
    return fields


MASKS = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")


def by_python(fields: dict[str, str]) -> Any:
    """Return the normal form, or the first line of the error."""
    try:
        shape = tuple(dialects.integers(fields["shape"], "shape"))
        return normal_form(selection(fields, shape))
    except bs.Error as error:
        return str(error).split("\n")[0]


def selection(fields: dict[str, str], shape: tuple[int, ...]) -> bs.Selection:
    read = {
        name: dialects.integers(fields[name], name)
        for name in ("begin", "end", "strides", "starts", "ends")
        if name in fields
    }
    if fields["from"] == "python":
        return bs.Selection.from_index(shape, fields["index"])
    if fields["from"] == "tf":
        strides = read["strides"] if fields["strides"].strip() else None
        return bs.Selection.from_tf(shape, read["begin"], read["end"], strides, *(int(fields[mask]) for mask in MASKS))
    optional = [dialects.integers(fields[name], name) if fields[name].strip() else None for name in ("axes", "steps")]
    return bs.Selection.from_onnx(shape, read["starts"], read["ends"], *optional)


def normal_form(found: bs.Selection) -> dict[str, Any]:
    return {
        "axes": [" ".join(map(str, axis)) for axis in found.axes],
        "result_axes": ", ".join(map(str, found.result_axes)),
        "result_shape": ", ".join(map(str, found.result_shape)),
    }


@pytest.mark.parametrize("seed", range(max(1, CASES // 500)))
def test_normal_forms_equal_pythons(tab, seed):
    rng = random.Random(seed)
    cases = [case(rng) for _ in range(min(500, CASES))]
    page = tab.open()
    answers = page.evaluate(f"cases => cases.map((fields) => ({KEPT})(backsliceExplorer.ask(fields)))", cases)
    found = refused = 0
    for fields, answer in zip(cases, answers, strict=True):
        error = answer.pop("error", None)
        expected = by_python(fields)
        assert (error["message"] if error else answer) == expected, fields
        found, refused = found + (error is None), refused + (error is not None)
    assert found > len(cases) // 5 and refused > len(cases) // 20, "the cases are both good and bad"
