"""A user's program, for mypy to check against the stubs. It runs too."""

import backslice as bs
import numpy as np
from numpy.typing import NDArray


def gradient(dy: NDArray[np.float32]) -> NDArray[np.float32]:
    selection = bs.Selection.from_index((4, 5), np.s_[1:3, ::2])
    part = selection.restrict([(0, 2), (0, 5)])
    if part is not None:
        inside, index = part
        assert inside.result_shape == dy[index].shape
    dx: NDArray[np.float32] = bs.slice_grad(dy, selection.shape, selection)
    bs.strided_slice_grad([4, 5], dy=dy, **selection.to_tf(), out=dx, accumulate=True)
    prepared = selection.prepare(np.float32)
    dx = prepared.accumulate(dy, prepared.gradient(selection.slice(dx), out=selection.grad(dy)))
    try:
        bs.slice(dx, "7")
    except bs.OutOfRangeError as error:
        print(error)
    return dx


def conveniences(dx: NDArray[np.float32]) -> None:
    crop = bs.Selection.from_begin_size(dx.shape, begin=[1, 0], size=[2, -1])
    ones = crop.grad(1, dtype="float32")
    bs.strided_slice_grad(dx.shape, [1], [3], dy=ones[1:3])
    bs.slice_grad(1.0, dx.shape, crop, out=dx)
    bs.multi_slice_grad(dx.shape, ((row, 1) for row in range(4)), dtype=np.float32)
    assert np.array_equal(np.from_dlpack(bs.to_dlpack(dx)), ones)


conveniences(np.zeros((4, 5), np.float32))
print(gradient(np.ones((2, 3), np.float32)))
