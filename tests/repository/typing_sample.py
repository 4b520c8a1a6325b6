"""A user's program that uses the whole API, for type checkers to check against the stubs. It also runs."""

import backslice as bs
import numpy as np
from numpy.typing import NDArray


def slices(dy: NDArray[np.float32]) -> NDArray[np.float32]:
    selection = bs.Selection.from_index((4, 5), np.s_[1:3, ::2])
    part = selection.restrict([(0, 2), (0, 5)])
    if part is not None:
        inside, index = part
        assert inside.result_shape == dy[index].shape
    dx: NDArray[np.float32] = bs.slice_grad(dy, selection.shape, selection)
    bs.strided_slice_grad([4, 5], dy=dy, **selection.to_tf(), out=dx, accumulate=True)
    bs.onnx_slice_grad(dy, np.array([4, 5]), [1, 0], [3, 5], steps=[1, 2], out=dx)
    y: NDArray[np.float32] = bs.strided_slice(dx, **selection.to_tf())
    bs.onnx_slice(dx, [1], [3], axes=[0], out=bs.slice(dx, "1:3"))
    bs.multi_slice_write((4, 5), [(..., dx), (selection, y)])
    bs.multi_slice_grad((4, 5), [(selection, y), ((..., 0), np.ones(4, np.float32))], out=dx, accumulate=True)
    try:
        bs.slice(dx, "7")
    except bs.OutOfRangeError as error:
        print(error)
    return dx


def selections(dy: NDArray[np.float32]) -> NDArray[np.float32]:
    selection = bs.Selection.from_onnx((4, 5), [1, 0], [3, 5], steps=[1, 2])
    same: bool = selection == bs.Selection.from_tf((4, 5), [1, 0], [3, 5], [1, 2], end_mask=0b10)
    starts: list[int] = [start for start, _, _ in selection.axes]
    pieces: int = selection.cost("float32")["pieces"]
    squeezed: list[int] = selection.to_onnx()["squeeze"]
    print(same, starts, pieces, squeezed, selection.to_index(), selection.result_axes, selection.explain())
    prepared = selection.prepare(np.float32)
    dx = prepared.gradient(selection.slice(selection.grad(dy)), out=np.empty((4, 5), np.float32))
    prepared.forward(dx, out=np.empty(prepared.selection.result_shape, prepared.dtype))
    return prepared.accumulate(dy, dx)


def buffer(dy: NDArray[np.float32]) -> NDArray[np.float32]:
    gradient = bs.GradBuffer((4, 5), np.float32)
    gradient.write(np.s_[1:3, ::2], dy)
    gradient.add("1:3, ::2", dy)
    gradient.writable()[0] = 1
    gradient.zero()
    assert gradient.array.shape == gradient.shape and gradient.array.dtype == gradient.dtype
    return gradient.array


def sparse() -> NDArray[np.float64]:
    indices = np.array([[0, 1], [1, 0], [2, 2]])
    sliced, values, shape = bs.sparse_slice(indices, [5.0, 6.0, 7.0], [3, 3], [1, 0], [2, 3])
    extents: NDArray[np.int64] = shape
    print(extents.tolist())
    bs.sparse_slice_grad_by_size(values, tuple(indices.T), [1, 0], [2, 3])
    return bs.sparse_slice_grad(values, indices, [1, 0], sliced, order="any")


def tensor_arrays() -> np.float32:
    array = bs.TensorArray(2, np.float32, element_shape=[None], name="steps", clear_after_read=False)
    array.write(0, [1.0, 2.0])
    array.scatter([1], np.ones((1, 2), np.float32))
    print(array.read(0), array.gather([1, 0]), array.stack(out=np.empty((2, 2), np.float32)), array.size(), array.dtype)
    values, lengths = array.concat()
    other = bs.TensorArray(2, np.float32, contiguous=False)
    other.split(values, lengths)
    gradient = array.grad("loss")
    gradient.unstack(np.ones((2, 2), np.float32), copy=False)
    print(gradient.name, gradient.element_shape, array.grad_with_shape("shaped", [3]))
    handle, flow = bs.tensor_array_grad_with_shape(other, 0.0, [], "loss")
    handle.close()
    return flow


def ragged_tensors() -> NDArray[np.float64]:
    rows = bs.RaggedTensor([1.0, 2.0, 3.0], [0, 2, 2, 3])
    assert rows == bs.RaggedTensor.from_list([[1.0, 2.0], [], [3.0]], dtype="float64", ragged_rank=1)
    assert rows == bs.RaggedTensor.from_row_lengths(rows.values, [2, 0, 1]) and len(rows) == 3
    print(rows.shape, rows.dtype, rows.ragged_rank, rows.nested_row_splits[0], rows.to_list(), rows.cpu().device)
    encoded = bs.ragged_tensor_to_variant(rows)
    decoded = bs.ragged_tensor_from_variant(encoded, 0, 1, Tvalues=np.float64)
    gradients = bs.ragged_tensor_from_variant_gradient(decoded, encoded.shape)
    missing = bs.VariantArray([*gradients, None]).reshape((2, 2))
    print(missing.shape, missing[0, 0], rows.slice_grad(0, [5.0, 6.0]))
    return bs.ragged_tensor_to_variant_gradient(encoded, rows.nested_row_splits, [3])


def conveniences(dx: NDArray[np.float32]) -> NDArray[np.float32]:
    crop = bs.Selection.from_begin_size(dx.shape, begin=[1, 0], size=[2, -1])
    ones = crop.grad(1, dtype="float32")
    bs.strided_slice_grad(dx.shape, [1], [3], dy=ones[1:3])
    bs.slice_grad(1.0, dx.shape, crop, out=dx)
    bs.multi_slice_grad(dx.shape, ((row, 1) for row in range(4)), dtype=np.float32)
    assert np.array_equal(np.from_dlpack(bs.to_dlpack(dx)), ones)
    return ones


def on_a_device(array: bs.DeviceArray) -> NDArray[np.float32]:
    print(array.shape, array.dtype, array.device)
    return array.to_numpy()


def runtime() -> int:
    bs.set_num_threads(bs.get_num_threads())
    bs.pool.set_limit(bs.pool.stats()["limit"])
    bs.pool.trim()
    assert bs.simd_target() in bs.simd_targets()
    return bs.get_num_threads()


if __name__ == "__main__":
    ones = np.ones((2, 3), np.float32)
    print(slices(ones), selections(ones), buffer(ones), conveniences(np.zeros((4, 5), np.float32)))
    print(sparse(), tensor_arrays(), ragged_tensors(), runtime())
