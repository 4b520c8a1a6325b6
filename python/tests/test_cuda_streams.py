"""Streams, and the stream order in which memory is freed, with arrays on a CUDA device. They need a GPU and PyTorch."""

import gc
import threading

import backslice as bs
import numpy as np
import pytest
from cuda_libraries import Interface, is_of, library, needs_gpu, on_gpu, to_numpy

pytestmark = needs_gpu
MANY = 4 << 20
LONG = 200_000_000  # cycles: about a tenth of a second, during which everything else is queued


@pytest.fixture
def torch():
    return library("torch")


def test_containers_run_on_the_current_stream(torch):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        rows = torch.arange(MANY, device="cuda")[:, None]
        dy = torch.zeros(MANY, device="cuda")
        array, buffer = bs.TensorArray(2, "float32"), bs.GradBuffer(MANY, "float32", device=torch.device("cuda"))
        torch.cuda._sleep(LONG)
        dy.fill_(3.0)  # later work must wait for it
        rt = bs.RaggedTensor(dy, [0, 1, MANY])
        taken = rt["::-1"].values
        array.write(0, dy)
        array.write(1, dy, copy=False)
        stacked = array.stack()
        buffer.add(":", dy)
        sparse = bs.sparse_slice_grad_by_size(dy, rows, [0], [MANY])
    stream.synchronize()
    for made in (taken, stacked, buffer.array, sparse):
        assert (made == 3.0).all()


def test_nothing_waits_but_what_must(torch):
    """Work queued behind a long kernel is still queued when the call returns."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        dy = torch.ones(64, 64, device="cuda")
        buffer = bs.GradBuffer((64, 64), "float32", device=torch.device("cuda"))

        def work(array):
            rt = bs.RaggedTensor(dy, [0, 1, 64])
            rt.slice_grad("::-1", rt["::-1"])
            bs.ragged_tensor_from_variant(bs.ragged_tensor_to_variant(rt)[::-1], 0, 1)
            array.write(0, dy)
            array.write(1, dy)
            array.gather([1, 0])
            buffer.add(":, ::2", dy[:, ::2])
            buffer.write("3", dy[0])

        work(bs.TensorArray(4, "float32"))  # CUDA loads kernels at their first run, and may wait for that
        stream.synchronize()
        torch.cuda._sleep(LONG)
        work(bs.TensorArray(4, "float32"))
        assert not stream.query()
    stream.synchronize()


@pytest.mark.parametrize("copy", [True, False])
@pytest.mark.parametrize("reading", ["stack", "read", "fold"])
def test_elements_that_another_stream_still_reads_are_kept(torch, copy, reading):
    writing, other = torch.cuda.Stream(), torch.cuda.Stream()
    array = bs.TensorArray(2, "float32").grad("g")
    with torch.cuda.stream(writing):
        for index in [0, 1, 0] + [0] * (7 if reading == "fold" else 0):
            array.write(index, torch.ones(MANY, device="cuda"), copy=copy)
        torch.cuda.synchronize()
        with torch.cuda.stream(other):
            torch.cuda._sleep(LONG)
            result = array.stack()[0] if reading == "stack" else array.read(0)
        del array
        gc.collect()
        # These would get the memory of the elements, and are filled long before the other stream reads it.
        others = [torch.full((MANY,), 77.0, device="cuda") for _ in range(12)]
        others += [bs.slice_grad(other_, (MANY,), ":") for other_ in others]
        mine = bs.TensorArray(1, "float32")
        mine.write(0, others[0])
    other.synchronize()
    assert (result == (9.0 if reading == "fold" else 2.0)).all()
    torch.cuda.synchronize()


@pytest.mark.parametrize("container", ["array", "ragged"])
def test_memory_of_another_stream_than_the_current_one_is_kept(torch, container):
    """PyTorch reuses it in the order of the stream on which it was allocated."""
    allocating, using = torch.cuda.Stream(), torch.cuda.Stream()
    with torch.cuda.stream(allocating):
        value = torch.ones(MANY, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(using):
        if container == "array":
            held = bs.TensorArray(1, "float32").grad("g")
            held.write(0, value, copy=False)
            held.write(0, value, copy=False)
        else:
            held = bs.RaggedTensor(value, [0, 1, MANY])
        torch.cuda._sleep(LONG)
        result = held.read(0) if container == "array" else held["::-1"].values
        del value, held
        gc.collect()
    with torch.cuda.stream(allocating):
        others = [torch.full((MANY,), 77.0, device="cuda") for _ in range(4)]  # would be in that memory
    torch.cuda.synchronize()
    assert (result == (2.0 if container == "array" else 1.0)).all()
    assert all((other == 77.0).all() for other in others)


def test_elements_of_cupy_are_copied(torch):
    cupy = library("cupy")
    value = cupy.ones(3, "float32")
    array = bs.TensorArray(1, "float32")
    array.write(0, value, copy=False)
    value[...] = 5
    assert to_numpy(array.read(0)).tolist() == [1.0, 1.0, 1.0]


def test_a_grad_buffer_is_kept_for_the_stream_that_writes(torch):
    making, writing = torch.cuda.Stream(), torch.cuda.Stream()
    dy = torch.full((MANY,), 5.0, device="cuda")
    for device in ("cuda", torch.device("cuda")):
        with torch.cuda.stream(making):
            buffer = bs.GradBuffer(MANY, "float32", device=device)
        torch.cuda.synchronize()
        with torch.cuda.stream(writing):
            torch.cuda._sleep(LONG)
            buffer.write(":", dy)
        with torch.cuda.stream(making):
            del buffer
            other = bs.GradBuffer(MANY, "float32", device=device)  # in the same memory
            other.zero()
        torch.cuda.synchronize()
        assert not to_numpy(other.array).any()


@pytest.mark.parametrize("kind", ["any", "torch"])
def test_a_writable_view_keeps_the_memory_for_the_stream_that_writes(torch, kind):
    device = torch.device("cuda") if kind == "torch" else "cuda"
    buffer = bs.GradBuffer(MANY, "float32", device=device)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        view = torch.from_dlpack(buffer.writable())
        torch.cuda._sleep(LONG)
        view.fill_(7.0)
        del view, buffer
        gc.collect()
    other = bs.GradBuffer(MANY, "float32", device=device)  # in the same memory
    torch.cuda.synchronize()
    assert not to_numpy(other.array).any()


def test_everything_counts_as_written_while_a_writable_view_lives(torch):
    for device in ("cuda", torch.device("cuda")):
        buffer = bs.GradBuffer(8, "float32", device=device)
        view = torch.from_dlpack(buffer.writable())
        buffer.write("0", torch.ones((), device="cuda"))
        view.fill_(7.0)
        buffer.zero()
        assert not to_numpy(buffer.array).any()
        del view
        gc.collect()
        buffer.zero()
        assert "all zero" in repr(buffer)


def test_memory_that_a_consumer_drops_is_kept_for_its_stream(torch):
    """A consumer, on a stream that does not wait for CUDA's default one, drops a DeviceArray with work still queued."""
    cupy = library("cupy")
    ones = cupy.ones(MANY, "float32")
    cupy.cuda.get_current_stream().synchronize()
    made = bs.slice(Interface(ones), ":")
    assert isinstance(made, bs.DeviceArray)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        taken = torch.from_dlpack(made)
        torch.cuda._sleep(LONG)
        copied = taken + 0
        del taken, made
        gc.collect()
    zeros = cupy.zeros(MANY, "float32")
    others = [bs.slice(Interface(zeros), ":") for _ in range(3)]  # would be in its memory
    stream.synchronize()
    assert (copied == 1.0).all()
    assert not any(other.to_numpy().any() for other in others)


def test_an_output_of_another_library_is_complete_when_the_call_returns(torch):
    out = torch.ones(MANY, device="cuda")
    torch.cuda.synchronize()
    torch.cuda._sleep(LONG)  # on CUDA's default stream
    bs.multi_slice_grad((MANY,), [], out=Interface(out))
    assert torch.cuda.current_stream().query()
    assert not out.any()


def test_arrays_of_two_libraries_meet(torch):
    cupy = library("cupy")
    dy, out = torch.full((MANY,), 3.0, device="cuda"), cupy.zeros(2 * MANY, "float32")
    assert bs.slice_grad(dy, (2 * MANY,), "::2", out=out) is out
    del dy
    assert float(out.sum()) == 3.0 * MANY


@pytest.mark.parametrize("first", ["cupy", "interface"])
def test_a_tensor_of_a_side_stream_is_waited_for_beside_another_librarys_array(torch, first):
    """The first array determines the stream; PyTorch's current one has yet to fill the second."""
    zeros = on_gpu(first, np.zeros(MANY, "float32"))
    value = torch.zeros(MANY, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(LONG)
        value.fill_(3.0)
        total = bs.multi_slice_grad((MANY,), [(":", zeros), (":", value)])
    assert is_of(first, total)
    assert (to_numpy(total) == 3.0).all()


def test_elements_of_two_libraries_are_waited_for(torch):
    cupy = library("cupy")
    ones, value = cupy.ones(MANY, "float32"), torch.zeros(MANY, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(LONG)
        value.fill_(3.0)
        pieces = bs.VariantArray([ones, value])
        torch.cuda._sleep(LONG)
        value.fill_(4.0)  # visible in elements held by reference
        joined = bs.ragged_tensor_from_variant(pieces, 0, 1).values
        gradient = bs.ragged_tensor_to_variant_gradient(pieces, [0, MANY, 2 * MANY], [2 * MANY])
    for made in (joined, gradient):
        assert is_of("cupy", made)
        assert np.unique(to_numpy(made)).tolist() == [1.0, 4.0]


def test_threads_and_streams_at_once(torch):
    wrong = []

    def work(number):
        with torch.cuda.stream(torch.cuda.Stream()):
            for step in range(20):
                array = bs.TensorArray(4, "float32").grad("g")
                for index in range(4):
                    for _ in range(3):
                        array.write(
                            index, torch.full((1000,), float(number + step), device="cuda"), copy=bool(step % 2)
                        )
                if not (array.stack() == 3.0 * (number + step)).all():
                    wrong.append((number, step))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_shared_containers_are_used_by_threads_on_their_streams(torch):
    array = bs.TensorArray(1, "int64").grad("g")
    buffer = bs.GradBuffer(MANY, "int64", device="cuda")
    ones = torch.ones(MANY, dtype=torch.int64, device="cuda")
    torch.cuda.synchronize()

    def work():
        with torch.cuda.stream(torch.cuda.Stream()):
            for _ in range(50):
                array.write(0, ones)
                buffer.add(":", ones)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    total = array.read(0)
    torch.cuda.synchronize()
    assert np.unique(to_numpy(total)).tolist() == [200]
    assert np.unique(to_numpy(buffer.array)).tolist() == [200]


def test_what_another_stream_is_still_writing_is_waited_for(torch):
    writing, reading = torch.cuda.Stream(), torch.cuda.Stream()
    array, buffer = bs.TensorArray(2, "float32"), bs.GradBuffer(MANY, "float32", device=torch.device("cuda"))
    torch.cuda.synchronize()
    with torch.cuda.stream(writing):
        value = torch.zeros(MANY, device="cuda")
        torch.cuda._sleep(LONG)
        value.fill_(2.0)
        array.write(0, value)
        array.write(1, value, copy=False)
        buffer.write(":", value)
    ones = torch.ones(MANY, device="cuda")
    # Nothing is synchronised here: the containers wait by themselves.
    with torch.cuda.stream(reading):
        stacked = array.stack()
        reading.wait_stream(torch.cuda.default_stream())
        buffer.add(":", ones)
        total = buffer.array + 0
    reading.synchronize()
    assert (stacked == 2.0).all()
    assert (total == 3.0).all()


@pytest.mark.parametrize("taken", ["array", "writable", "dlpack", "to_numpy", "before", "interface"])
def test_what_is_taken_of_a_grad_buffer_waits_for_the_stream_that_changed_it(torch, taken):
    buffer = bs.GradBuffer(MANY, "float32", device="cuda")  # library not known yet
    before = buffer.array
    value = torch.full((MANY,), 3.0, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.cuda._sleep(LONG)
        buffer.add(":", value)
    with torch.cuda.stream(torch.cuda.Stream()):
        if taken == "to_numpy":
            found = before.to_numpy()
        elif taken == "interface":
            found = to_numpy(bs.slice(Interface(before), ":"))
        elif taken in ("dlpack", "before"):
            found = to_numpy(torch.from_dlpack(buffer if taken == "dlpack" else before) + 0)
        else:
            found = to_numpy((buffer.array if taken == "array" else buffer.writable()) + 0)
    assert (found == 3.0).all()
