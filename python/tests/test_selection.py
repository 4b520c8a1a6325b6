"""Selection: the normal form, conversion to each dialect, and restrict."""

import copy
import itertools
import pickle

import backslice as bs
import numpy as np
import pytest
from backslice import dialects
from backslice.cli.convert import convert
from hypothesis import given
from strategies import shapes_and_indices

Selection = bs.Selection


def test_from_every_dialect():
    by_index = Selection.from_index((4, 5), np.s_[1:3, ::-2])
    assert by_index == Selection.from_index((4, 5), "1:3, ::-2")
    assert by_index == Selection.from_tf((4, 5), [1, 0], [3, 0], [1, -2], begin_mask=2, end_mask=2)
    assert by_index == Selection.from_onnx((4, 5), [4, 1], [-9, 3], [1, 0], [-2, 1])
    assert by_index.axes == ((1, 1, 2), (4, -2, 3))
    assert by_index.shape == (4, 5) and by_index.result_shape == (2, 3)
    assert by_index != Selection.from_index((4, 5), "1:3") and by_index != 3


def test_result_axes():
    assert Selection.from_index((4, 5), "None, 2, :").result_axes == (-1, 1)


@given(shapes_and_indices())
def test_round_trips(case):
    shape, index = case
    s = Selection.from_index(shape, index)
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    assert s.result_shape == x[index].shape
    assert Selection.from_index(shape, s.to_index()) == s
    assert np.array_equal(x[s.to_index()], x[index])
    assert Selection.from_tf(shape, **s.to_tf()) == s
    assert np.array_equal(bs.strided_slice(x, **s.to_tf()), x[index])
    onnx = s.to_onnx()
    squeeze, unsqueeze = tuple(onnx.pop("squeeze")), tuple(onnx.pop("unsqueeze"))
    sliced = bs.onnx_slice(x, **onnx) if shape else x  # ONNX has no slice of a scalar
    y = np.expand_dims(np.squeeze(sliced, squeeze), unsqueeze)
    assert np.array_equal(y, x[index])


@given(shapes_and_indices())
def test_restrict_tiles_add_up(case):
    shape, index = case
    s = Selection.from_index(shape, index)
    dy = np.arange(1, 1 + np.prod(s.result_shape, dtype=int)).reshape(s.result_shape)
    whole = bs.slice_grad(dy, shape, s)
    cuts = [((0, n // 2), (n // 2, n)) for n in shape]
    tiled = np.zeros_like(whole)
    for box in itertools.product(*cuts):
        part = s.restrict(list(box))
        region = tuple(slice(lo, hi) for lo, hi in box)
        if part is None:
            assert not whole[region].any()
            continue
        inside, dy_index = part
        tiled[region] = bs.slice_grad(dy[dy_index], inside.shape, inside)
    assert np.array_equal(tiled, whole)


def test_restrict_example_and_errors():
    s = Selection.from_index((10, 8), "::-3, 2")
    inside, dy_index = s.restrict([(2, 7), (1, 5)])
    assert inside == Selection.from_index((5, 4), "4::-3, 1")
    assert dy_index == (slice(1, 3),)
    assert s.restrict([(7, 9), (0, 8)]) is None
    for box, message in [
        ([(0, 10)], "box has 1 range, shape"),
        ([(0, 11), (0, 8)], r"box\[0\]"),
        ([(3, 2), (0, 8)], "box"),
        ([(0, 1, 2), (0, 8)], r"\(lo, hi\)"),
    ]:
        with pytest.raises(bs.InvalidArgumentError, match=message):
            s.restrict(box)
    with pytest.raises(bs.DTypeError):
        s.restrict("box")


def test_what_tensorflow_cannot_say():
    with pytest.raises(bs.UnimplementedError, match="fewer than 32"):
        Selection.from_index((2,) * 32, (0,) * 32).to_tf()


def test_is_a_value():
    s = Selection.from_index((4, 5), "1:3, ::2")
    assert hash(s) == hash(Selection.from_index((4, 5), "1:3, 0:5:2"))
    assert pickle.loads(pickle.dumps(s)) == s == copy.deepcopy(s)
    assert eval(repr(s)) == s
    assert "axis 1 of 5: start 0, step 2, count 3" in s.explain()


def test_cannot_be_made_without_a_shape():
    with pytest.raises(TypeError):
        Selection()


def test_what_tensorflow_cannot_say_is_unimplemented():
    shape, index = (2, 3, 4, 5), (slice(None),) * 2 + (0,) + (None,) * 29 + (slice(None),)
    selection = bs.Selection.from_index(shape, index)
    with pytest.raises(bs.UnimplementedError, match="fewer than 32 entries, and this selection needs 32"):
        selection.to_tf()
    spec = dialects.parse("python", ", ".join("None" if i is None else ":" if i != 0 else "0" for i in index))
    assert spec.selection(shape) == selection
    converted = convert(shape, spec, dialects.DIALECTS)
    assert "tf" not in converted and "onnx" in converted
    assert any("fewer than 32 entries" in warning for warning in converted["warnings"])


def test_as_many_entries_as_tensorflow_takes():
    shape, index = (2, 3, 4, 5), (slice(None),) * 2 + (0,) + (None,) * 28 + (slice(None),)
    selection = bs.Selection.from_index(shape, index)
    assert len(selection.to_tf()["begin"]) == 31
    assert bs.Selection.from_tf(shape, **selection.to_tf()) == selection


def test_begin_and_size_as_tensorflow_slices():
    s = bs.Selection.from_begin_size((4, 6), begin=[1, 2], size=[2, -1])
    assert s == bs.Selection.from_index((4, 6), np.s_[1:3, 2:])
    assert s == bs.Selection.from_begin_size((4, 6), np.array([1, 2], "i4"), np.array([2, -1], "i4"))
    assert bs.Selection.from_begin_size((), [], []).result_shape == ()


@pytest.mark.parametrize(
    ("begin", "size", "message"),
    [
        ([-1, 0], [1, 1], r"Expected begin\[0\] in \[0, 4\], but got -1"),
        ([1, 0], [4, 1], r"Expected size\[0\] in \[0, 3\], or -1 for the rest, but got 4"),
        ([1], [1], "Expected begin and size to have 2 entries, one per axis"),
        ([[1, 1]], [[1, 1]], "begin must be 1-D"),
    ],
)
def test_begin_and_size_that_do_not_fit(begin, size, message):
    with pytest.raises(bs.InvalidArgumentError, match=message):
        bs.Selection.from_begin_size((4, 6), begin, size)


def test_begin_and_size_share_a_dtype():
    with pytest.raises(bs.DTypeError, match="size has dtype int64, but begin has int32"):
        bs.Selection.from_begin_size((4,), np.array([1], "i4"), np.array([1], "i8"))
