"""Sparse slices, ragged tensors, tensor arrays and GradBuffer on a CUDA device, compared with the CPU.

They need a GPU, and PyTorch or CuPy: `pytest python/tests/test_cuda_containers.py`. Refusals, which need no GPU, are in
test_cuda_refusals.py; tests of streams are in test_cuda_streams.py.
"""

import backslice as bs
import numpy as np
import pytest
from cuda_libraries import (
    ADDABLE,
    CASES,
    KINDS,
    Interface,
    assert_same,
    dtype_of,
    is_of,
    library,
    needs_gpu,
    numbers,
    on_gpu,
    to_numpy,
)

pytestmark = needs_gpu


def entries(random, dtype):
    """Return random entries of a sparse tensor, and a window of it."""
    rank, rows = int(random.integers(1, 4)), int(random.integers(0, 200))
    shape = random.integers(1, 12, rank)
    indices = np.stack([random.integers(0, n, rows) for n in shape], 1).astype(random.choice(["int32", "int64"]))
    if random.integers(2):
        indices = indices[np.lexsort(indices.T[::-1])]
    inner = tuple(random.integers(1, 4, int(random.integers(0, 3))))
    start = random.integers(0, shape)
    return indices, numbers(random, dtype, (rows, *inner)), shape, start, random.integers(1, shape + 1)


def given(kind, indices, columns):
    """Return indices on the device, as a matrix or as columns."""
    if columns:
        return tuple(on_gpu(kind, column) for column in indices.T)
    return on_gpu(kind, indices)


@pytest.mark.parametrize("columns", [False, True])
@pytest.mark.parametrize(("kind", "dtype"), CASES)
def test_sparse_slices_are_those_of_the_cpu(kind, dtype, columns):
    random = np.random.default_rng(1)
    for _ in range(4):
        indices, values, shape, start, size = entries(random, dtype)
        expected = bs.sparse_slice(indices, values, shape, start, size)
        taken, out, extents = bs.sparse_slice(
            given(kind, indices, columns), on_gpu(kind, values), shape, start, size
        )  # fmt: skip
        assert extents.tolist() == expected[2].tolist()
        assert_same(kind, out, expected[1])
        if columns:
            for made, column in zip(taken, expected[0].T, strict=True):
                assert_same(kind, made, np.ascontiguousarray(column))
        else:
            assert_same(kind, taken, expected[0])


@pytest.mark.parametrize("order", ["in_order", "any"])
@pytest.mark.parametrize(("kind", "dtype"), ADDABLE)
def test_sparse_gradients_are_those_of_the_cpu(kind, dtype, order):
    random = np.random.default_rng(2)
    for columns in (False, True, False):
        indices, values, shape, start, size = entries(random, dtype)
        taken, dy, _ = bs.sparse_slice(indices, values, shape, start, size)
        if order == "any":
            shuffled = random.permutation(len(dy))
            taken, dy = taken[shuffled], dy[shuffled]
        arguments = given(kind, indices, columns), start, given(kind, taken, columns)
        expected = bs.sparse_slice_grad(dy, indices, start, taken, order=order)
        there = on_gpu(kind, dy)
        assert_same(kind, bs.sparse_slice_grad(there, *arguments, order=order), expected)
        before = numbers(random, dtype, expected.shape)
        for accumulate in (False, True):
            out = on_gpu(kind, before)
            assert bs.sparse_slice_grad(there, *arguments, order=order, out=out, accumulate=accumulate) is out
            wanted = before.copy()
            bs.sparse_slice_grad(dy, indices, start, taken, order=order, out=wanted, accumulate=accumulate)
            assert to_numpy(out).tobytes() == wanted.tobytes()


@pytest.mark.parametrize(("kind", "dtype"), ADDABLE)
def test_sparse_gradients_by_size_are_those_of_the_cpu(kind, dtype):
    random = np.random.default_rng(3)
    for columns in (False, True):
        indices, values, shape, start, size = entries(random, dtype)
        dy = bs.sparse_slice(indices, values, shape, start, size)[1]
        there, rows = on_gpu(kind, dy), given(kind, indices, columns)
        expected = bs.sparse_slice_grad_by_size(dy, indices, start, size)
        assert_same(kind, bs.sparse_slice_grad_by_size(there, rows, start, size), expected)
        before = numbers(random, dtype, expected.shape)
        out = on_gpu(kind, before)
        assert bs.sparse_slice_grad_by_size(there, rows, start, size, out=out, accumulate=True) is out
        bs.sparse_slice_grad_by_size(dy, indices, start, size, out=before, accumulate=True)
        assert to_numpy(out).tobytes() == before.tobytes()


@pytest.mark.parametrize("kind", KINDS)
def test_a_sparse_gradient_that_matches_nothing_is_refused_as_on_the_cpu(kind):
    rows = on_gpu(kind, np.array([[0], [1]]))
    out = on_gpu(kind, np.full(2, 7.0))
    with pytest.raises(bs.InternalError):
        bs.sparse_slice_grad(on_gpu(kind, np.ones(1)), rows, [0], on_gpu(kind, np.array([[5]])), out=out)
    assert to_numpy(out).tolist() == [7.0, 7.0]


def ragged(random, dtype, depth=1, inner=()):
    counts, splits = int(random.integers(1, 9)), []
    for _ in range(depth):
        lengths = random.integers(0, 5, counts)
        splits.append(np.concatenate([[0], np.cumsum(lengths)]))
        counts = int(lengths.sum())
    return numbers(random, dtype, (counts, *inner)), splits


@pytest.mark.parametrize(("kind", "dtype"), CASES)
def test_ragged_tensors_hold_arrays_of_the_device(kind, dtype):
    random = np.random.default_rng(4)
    values, splits = ragged(random, dtype, 2, (3,))
    there = on_gpu(kind, values)
    rt, expected = bs.RaggedTensor(there, splits), bs.RaggedTensor(values, splits)
    assert (rt.device, rt.shape, rt.dtype) == ("cuda:0", expected.shape, expected.dtype)
    assert_same(kind, rt.values, values)
    if kind == "torch" and values.size:
        assert rt.values.data_ptr() == there.data_ptr()
    assert all(
        isinstance(s, np.ndarray) and s.tolist() == e.tolist()
        for s, e in zip(rt.nested_row_splits, splits, strict=True)
    )
    assert rt == bs.RaggedTensor(on_gpu(kind, values), splits) == expected
    assert rt.cpu().device == "cpu" and rt.cpu() == expected
    assert str(rt.to_list()) == str(expected.to_list())  # as text, in which NaNs are equal
    assert repr(rt).endswith("cuda:0)")


@pytest.mark.parametrize(("kind", "dtype"), ADDABLE)
def test_ragged_slices_and_their_gradients_are_those_of_the_cpu(kind, dtype):
    random = np.random.default_rng(5)
    for index in ("::2", "1:5", ":, ::-1", "::-1, 1:3", "0", "..., ::2", ":, 0:2, 1"):
        values, splits = ragged(random, dtype, 1, (3,))
        rt, cpu = bs.RaggedTensor(on_gpu(kind, values), splits), bs.RaggedTensor(values, splits)
        taken, expected = rt[index], cpu[index]
        if isinstance(expected, bs.RaggedTensor):
            assert [s.tolist() for s in taken.nested_row_splits] == [s.tolist() for s in expected.nested_row_splits]
            taken, expected = taken.values, expected.values
        assert_same(kind, taken, expected)
        dy = numbers(random, dtype, expected.shape)
        assert_same(kind, rt.slice_grad(index, on_gpu(kind, dy)), cpu.slice_grad(index, dy))
        before = numbers(random, dtype, values.shape)
        out = on_gpu(kind, before)
        assert rt.slice_grad(index, on_gpu(kind, dy), out=out, accumulate=True) is out
        assert to_numpy(out).tobytes() == cpu.slice_grad(index, dy, out=before, accumulate=True).tobytes()


@pytest.mark.parametrize(("kind", "dtype"), ADDABLE)
def test_variants_and_their_gradients_are_those_of_the_cpu(kind, dtype):
    random = np.random.default_rng(6)
    values, splits = ragged(random, dtype, 2, (2,))
    rt, cpu = bs.RaggedTensor(on_gpu(kind, values), splits), bs.RaggedTensor(values, splits)
    encoded, expected = bs.ragged_tensor_to_variant(rt), bs.ragged_tensor_to_variant(cpu)
    assert encoded.device == "cuda:0"
    for made, element in zip(encoded, expected, strict=True):
        assert_same(kind, made.values, element.values)
    decoded = bs.ragged_tensor_from_variant(encoded, 1, 2)
    assert_same(kind, decoded.values, values)
    for order in (np.s_[:], np.s_[::-1], np.s_[1::2]):
        made = bs.ragged_tensor_from_variant(encoded[order], 1, 2)
        assert_same(kind, made.values, bs.ragged_tensor_from_variant(expected[order], 1, 2).values)
    shape = values.shape
    assert_same(kind, bs.ragged_tensor_to_variant_gradient(encoded, splits, shape), values)
    # pieces in other places, some of them missing
    missing = set(random.integers(0, len(cpu), 2))
    pieces = [None if i in missing else bs.RaggedTensor(on_gpu(kind, e.values), e.nested_row_splits)
              for i, e in enumerate(expected)]  # fmt: skip
    on_cpu = [None if i in missing else e for i, e in enumerate(expected)]
    if all(piece is None for piece in pieces):
        return
    scattered, wanted = bs.VariantArray(pieces), bs.VariantArray(on_cpu)
    gradient = bs.ragged_tensor_to_variant_gradient(wanted, splits, shape)
    assert_same(kind, bs.ragged_tensor_to_variant_gradient(scattered, splits, shape), gradient)
    before = numbers(random, dtype, shape)
    out = on_gpu(kind, before)
    assert bs.ragged_tensor_to_variant_gradient(scattered, splits, shape, out=out, accumulate=True) is out
    bs.ragged_tensor_to_variant_gradient(wanted, splits, shape, out=before, accumulate=True)
    assert to_numpy(out).tobytes() == before.tobytes()


@pytest.mark.parametrize("kind", ["torch", "cupy"])
def test_copies_that_lie_side_by_side_are_stacked(kind):
    rows = np.arange(64 << 14, dtype="float32").reshape(64, 1 << 14)
    array = bs.TensorArray(len(rows), "float32")
    for i, row in enumerate(rows):
        array.write(i, on_gpu(kind, row), copy=True)
    assert_same(kind, array.stack(), rows)


@pytest.mark.parametrize("kind", KINDS)
def test_splits_on_the_device_end_on_the_cpu(kind):
    splits = on_gpu(kind, np.array([0, 2, 2, 3], "int32"))
    for values in (np.arange(3.0), on_gpu(kind, np.arange(3.0))):
        rt = bs.RaggedTensor(values, [splits])
        assert rt.nested_row_splits[0].tolist() == [0, 2, 2, 3]
        assert rt.to_list() == [[0.0, 1.0], [], [2.0]]
    with pytest.raises(bs.InvalidArgumentError, match="splits"):
        bs.RaggedTensor(values, on_gpu(kind, np.array([0, 2, 1])))


@pytest.mark.parametrize("kind", ["torch", "cupy"])
def test_values_with_gaps_are_copied(kind):
    values = on_gpu(kind, np.arange(24.0).reshape(4, 6))[:, ::2]
    rt = bs.RaggedTensor(values, [0, 1, 4])
    assert_same(kind, rt.values, np.arange(24.0).reshape(4, 6)[:, ::2].copy())


@pytest.mark.parametrize("kind", KINDS)
def test_strided_arrays_become_elements_in_their_librarys_memory(kind):
    rows = np.arange(12, dtype="float32").reshape(3, 4)
    taken = on_gpu(kind, rows)
    strided = Interface(taken.array[:, ::2]) if kind == "interface" else taken[:, ::2]
    element = bs.VariantArray([strided])[0]
    assert_same(kind, element, np.ascontiguousarray(rows[:, ::2]))


@pytest.mark.parametrize("kind", KINDS)
def test_a_gradient_of_which_all_pieces_are_missing_is_where_the_splits_are(kind):
    splits = on_gpu(kind, np.array([0, 1, 3]))
    missing = bs.VariantArray([None, None])
    assert_same(kind, bs.ragged_tensor_to_variant_gradient(missing, splits, [3], "float32"), np.zeros(3, "float32"))
    strings = bs.ragged_tensor_to_variant_gradient(missing, splits, [3], str)
    assert strings.tolist() == ["", "", ""]


def test_all_pieces_missing_with_an_output_on_the_device():
    out = on_gpu("torch", np.ones(3, "float32"))
    missing = bs.VariantArray([None, None])
    bs.ragged_tensor_to_variant_gradient(missing, [[0, 1, 3]], [3], "float32", out=out)
    assert to_numpy(out).tolist() == [0, 0, 0]


def pair_of_arrays(kind, dtype, size, where, **options):
    """Return an array on the device, made in one of three ways, and one on the CPU."""
    device = {"first write": None, "named": "cuda:0"}.get(where, "cuda")
    if where == "of the library" and kind != "interface":
        module = library(kind)
        device = module.device("cuda", 0) if kind == "torch" else module.cuda.Device(0)
    dtype = dtype_of(dtype)
    return bs.TensorArray(size, dtype, device=device, **options), bs.TensorArray(size, dtype, **options)


@pytest.mark.parametrize("where", ["first write", "named", "of the library"])
@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize(("kind", "dtype"), CASES)
def test_tensor_arrays_hold_elements_on_the_device(kind, dtype, copy, where):
    random = np.random.default_rng(7)
    there, cpu = pair_of_arrays(kind, dtype, 5, where, clear_after_read=False)
    for index in (3, 0, 1, 2, 4):
        value = numbers(random, dtype, (2, 3))
        there.write(index, on_gpu(kind, value), copy=copy)
        cpu.write(index, value)
    assert there.device == "cuda:0" and cpu.device == "cpu"
    assert_same(kind, there.read(2), cpu.read(2))
    assert_same(kind, there.gather([4, 0, 0]), cpu.gather([4, 0, 0]))
    assert_same(kind, there.stack(), cpu.stack())
    (value, lengths), (wanted, expected) = there.concat(), cpu.concat()
    assert_same(kind, value, wanted)
    assert lengths.tolist() == expected.tolist()
    out = on_gpu(kind, numbers(random, dtype, (5, 2, 3)))
    assert there.stack(out=out) is out
    assert to_numpy(out).tobytes() == cpu.stack().tobytes()
    assert repr(there).endswith("cuda:0)")


@pytest.mark.parametrize("contiguous", [False, True])
@pytest.mark.parametrize(("kind", "dtype"), ADDABLE)
def test_tensor_arrays_are_scattered_unstacked_and_split(kind, dtype, contiguous):
    random = np.random.default_rng(8)
    options = {"element_shape": (3,), "contiguous": contiguous}
    for write, rows in (
        (lambda array, value: array.scatter([2, 0, 3, 1], value), 4),
        (lambda array, value: array.unstack(value), 4),
    ):
        there, cpu = pair_of_arrays(kind, dtype, 4, "of the library", **options)
        value = numbers(random, dtype, (rows, 3))
        write(there, on_gpu(kind, value))
        write(cpu, value)
        assert_same(kind, there.stack(), cpu.stack())
    there, cpu = pair_of_arrays(kind, dtype, 3, "first write")
    value = numbers(random, dtype, (6, 2))
    there.split(on_gpu(kind, value), [1, 0, 5])
    cpu.split(value, [1, 0, 5])
    (made, lengths), (wanted, expected) = there.concat(), cpu.concat()
    assert_same(kind, made, wanted)
    assert lengths.tolist() == expected.tolist()


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize(("kind", "dtype"), ADDABLE)
def test_gradient_arrays_add_up_in_the_order_of_the_writes(kind, dtype, copy):
    random = np.random.default_rng(9)
    there, cpu = pair_of_arrays(kind, dtype, 3, "first write", element_shape=(4,))
    gradients = there.grad("loss"), cpu.grad("loss")
    for terms, index in ((1, 0), (9, 1), (20, 2)):
        for _ in range(terms):
            value = numbers(random, dtype, (4,))
            gradients[0].write(index, on_gpu(kind, value), copy=copy)
            gradients[1].write(index, value)
    assert_same(kind, gradients[0].stack(), gradients[1].stack())
    prepended = there.grad_with_shape("other", [2]), cpu.grad_with_shape("other", [2])
    value = numbers(random, dtype, (2, 4))
    prepended[0].write(1, on_gpu(kind, value))
    prepended[1].write(1, value)
    assert_same(kind, prepended[0].gather([1, 2]), prepended[1].gather([1, 2]))


def test_elements_that_were_not_written_are_zeros_on_the_device():
    array = bs.TensorArray(2, "float32", element_shape=(3,), device="cuda")
    assert_same("interface", array.read(0), np.zeros(3, "float32"))
    torch = library("torch")
    array = bs.TensorArray(2, "float32", element_shape=(3,), device=torch.device("cuda"))
    assert_same("torch", array.stack(), np.zeros((2, 3), "float32"))


@pytest.mark.parametrize("where", ["named", "of the library"])
@pytest.mark.parametrize(("kind", "dtype"), ADDABLE)
def test_grad_buffers_are_those_of_the_cpu(kind, dtype, where):
    random = np.random.default_rng(10)
    device = "cuda:0"
    if where == "of the library" and kind != "interface":
        module = library(kind)
        device = module.device("cuda:0") if kind == "torch" else module.cuda.Device(0)
    there, cpu = bs.GradBuffer((6, 5), dtype_of(dtype), device=device), bs.GradBuffer((6, 5), dtype_of(dtype))
    assert there.device == "cuda:0"
    for index in ("1:3", "::2, 1:4", "2", ":, ::-2", "0:0", "4:, 3:"):
        dy = numbers(random, dtype, np.zeros((6, 5))[bs.Selection.from_index((6, 5), index).to_index()].shape)
        for buffer, value in ((there, on_gpu(kind, dy)), (cpu, dy)):
            (buffer.write if index == "2" else buffer.add)(index, value)
        assert_same(kind, there.array, np.asarray(cpu.array))
    there.zero()
    assert not to_numpy(there.array).view("uint8").any()
    assert repr(there).endswith("all zero, cuda:0)")


def test_a_writable_grad_buffer_counts_as_written():
    torch = library("torch")
    buffer = bs.GradBuffer(4, "float32", device=torch.device("cuda"))
    view = buffer.writable()
    view[3] = 7
    buffer.write("0:1", torch.ones(1, device="cuda"))
    assert buffer.array.tolist() == [1, 0, 0, 0]


def test_the_first_array_decides_whose_results_are():
    torch, cupy = library("torch"), library("cupy")
    array = bs.TensorArray(2, "float32")
    array.write(0, torch.ones(2, device="cuda"))
    array.write(1, cupy.full(2, 2, "float32"))
    assert_same("torch", array.stack(), np.array([[1, 1], [2, 2]], "float32"))
    buffer = bs.GradBuffer(2, "float32", device="cuda")
    assert isinstance(buffer.array, bs.DeviceArray)
    buffer.add(":", cupy.ones(2, "float32"))
    assert_same("cupy", buffer.array, np.ones(2, "float32"))


def test_other_libraries_take_what_is_returned():
    torch, cupy = library("torch"), library("cupy")
    indices, values = on_gpu("interface", np.array([[0, 1], [2, 2]])), on_gpu("interface", np.array([1.0, 2.0]))
    rows, out, _ = bs.sparse_slice(indices, values, [3, 3], [1, 0], [2, 3])
    assert torch.from_dlpack(rows).tolist() == [[1, 2]]
    assert cupy.asarray(Interface(out)).tolist() == [2.0]


@pytest.mark.parametrize("kind", KINDS)
def test_mixtures_of_cpu_and_device_are_refused(kind):
    rows, ones = np.array([[0], [1]]), np.ones(2)
    there_rows, there = on_gpu(kind, rows), on_gpu(kind, ones)
    rt = bs.RaggedTensor(there, [0, 1, 2])
    array = bs.TensorArray(2, "float64")
    array.write(0, there)
    buffer = bs.GradBuffer(2, "float64", device="cuda")
    for mixed in (
        lambda: bs.sparse_slice(rows, there, [2], [0], [1]),
        lambda: bs.sparse_slice(there_rows, ones, [2], [0], [1]),
        lambda: bs.sparse_slice_grad(there, rows, [0], there_rows),
        lambda: bs.sparse_slice_grad_by_size(there, there_rows, [0], [2], out=np.zeros(2)),
        lambda: rt.slice_grad(":", ones),
        lambda: bs.RaggedTensor(ones, [0, 1, 2]).slice_grad(":", there),
        lambda: bs.ragged_tensor_from_variant(bs.VariantArray([there, ones]), 0, 1),
        lambda: array.write(1, ones),
        lambda: array.write(1, [1.0, 2.0]),
        lambda: array.read(0, out=np.zeros(2)),
        lambda: buffer.add(":", ones),
        lambda: buffer.add(":", 1.0),
        lambda: bs.GradBuffer(2, "float64").add(":", there),
    ):
        with pytest.raises(
            bs.InvalidArgumentError,
            match=r"is on cuda:0|are on cuda:0|is on the CPU|values on the CPU, others on cuda:0",
        ):
            mixed()
    assert is_of(kind, array.read(0))


def test_what_needs_the_cpu_is_refused():
    import copy
    import pickle

    there = on_gpu("torch", np.arange(3.0))
    rt = bs.RaggedTensor(there, [0, 1, 3])
    array = bs.TensorArray(1, "float64")
    array.write(0, there)
    buffer = bs.GradBuffer(3, "float64", device="cuda")
    made = bs.slice(on_gpu("interface", np.arange(3.0)), ":")
    variants = bs.ragged_tensor_to_variant(rt)
    for container in (rt, array, buffer, made, variants):
        for refused in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(bs.DTypeError, match="cuda:0"):
                refused(container)
    for container in (bs.RaggedTensor(there, []), buffer, made):
        with pytest.raises(bs.DTypeError, match="cuda:0"):
            np.asarray(container)
    with pytest.raises(TypeError):
        memoryview(made)
    with pytest.raises(bs.DTypeError, match="strings"):
        bs.GradBuffer(3, "S4", device="cuda")
    with pytest.raises(bs.DTypeError, match="strings"):
        bs.TensorArray(3, str, device="cuda")
    with pytest.raises(bs.InvalidArgumentError, match="cuda:99"):
        bs.GradBuffer(3, "float32", device="cuda:99")


def test_no_memory_is_an_error_of_ours():
    torch = library("torch")
    for device in ("cuda", torch.device("cuda")):
        with pytest.raises(bs.ResourceExhaustedError, match="out of memory"):
            bs.GradBuffer(1 << 45, "uint8", device=device)


def test_errors_of_a_library_that_is_asked_for_memory_are_its_own(monkeypatch):
    torch = library("torch")
    rt = bs.RaggedTensor(torch.ones(4, device="cuda"), [0, 1, 4])
    raised = {RuntimeError("no such device"): RuntimeError, torch.cuda.OutOfMemoryError("none left"): MemoryError}
    for error, kind in raised.items():

        def empty(*_, error=error, **__):
            raise error

        monkeypatch.setattr(torch, "empty", empty)
        with pytest.raises(kind, match=str(error)):
            rt["::-1"]
        monkeypatch.undo()
    assert to_numpy(rt["::-1"].values).tolist() == [1.0] * 4
