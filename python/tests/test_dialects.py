"""Numbers with different meanings in different dialects: the axis that each message names."""

import pytest
from backslice import dialects


def axes(dialect: str, text: str, shape: tuple[int, ...]) -> list[str]:
    return [found.split(":")[0] for found in dialects.parse(dialect, text).disagreements(shape)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("begin=-10 end=INT_MIN strides=-1", ["axis 0"]),
        ("begin=0,-10 end=0,INT_MIN strides=1,-1 begin_mask=1 end_mask=1", ["axis 1"]),
        ("begin=0,-10 end=0,INT_MIN strides=1,-1 ellipsis_mask=1", ["axis 2"]),
        ("begin=0,-10 end=0,INT_MIN strides=1,-1 new_axis_mask=1", ["axis 0"]),
        ("begin=0,-10 end=0,INT_MIN strides=1,-1 shrink_axis_mask=1", ["axis 1"]),
        ("begin=0,-10 end=0,INT_MIN strides=1,-1 ellipsis_mask=1 new_axis_mask=1", ["axis 2"]),  # the ellipsis wins
        ("begin=0,-10 end=0,INT_MIN strides=1,-1 shrink_axis_mask=1 new_axis_mask=1", ["axis 0"]),  # the new axis wins
        ("begin=0,-10 end=0,INT_MIN strides=1,-1 begin_mask=3 end_mask=3", []),
    ],
)
def test_tensorflows_masks(text, expected):
    assert axes("tf", text, (5, 5, 5)) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-10::-1", ["axis 0"]),
        ("0, -10::-1", ["axis 1"]),
        ("None, -10::-1", ["axis 0"]),
        ("..., -10::-1", ["axis 2"]),
        ("-10::-1, ..., None, -10::-1", ["axis 0", "axis 2"]),
        ("-10::-1, :, :, ...", ["axis 0"]),
    ],
)
def test_indices(text, expected):
    assert axes("python", text, (5, 5, 5)) == expected


def test_an_axis_without_elements_is_the_same_everywhere():
    assert axes("python", "-10::-1, -10::-1", (0, 5)) == ["axis 1"]
    assert axes("tf", "begin=-10,-10 end=INT_MIN,INT_MIN strides=-1,-1", (0, 5)) == ["axis 1"]
