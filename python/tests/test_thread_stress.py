"""Every operation and container from many threads at once, with a GIL and without.

BACKSLICE_STRESS_SECONDS says how long; `make stress-python` sets more, in a free-threaded Python.
"""

import collections
import contextlib
import gc
import os
import pickle
import random
import subprocess
import sys
import sysconfig
import threading
import time

import backslice as bs
import ml_dtypes
import numpy as np
import pytest

SECONDS = float(os.environ.get("BACKSLICE_STRESS_SECONDS", "2"))
THREADS = 6
IS_FREE_THREADED = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))

SHAPE = (8, 16)
INDEX = np.s_[1:7:2, ::-3]
X = np.arange(128, dtype=np.float32).reshape(SHAPE)
DY = X[INDEX] + 1
DX = np.zeros(SHAPE, np.float32)
DX[INDEX] = DY
LARGE = np.arange(3 << 18, dtype=np.float32).reshape(768, 1024)  # 3 MiB: worth several threads
TEXTS = np.array([[f"{i}.{j}" for j in range(16)] for i in range(8)], object)
ROWS = [[1.0, 2.0], [], [3.0], [4.0, 5.0, 6.0]]
COO = np.stack(np.nonzero(np.arange(128).reshape(SHAPE) % 3 == 0), 1)
VALUES = np.arange(len(COO)) + 1


class Shared:
    """Objects that all threads use."""

    def __init__(self):
        self.selection = bs.Selection.from_index(SHAPE, INDEX)
        self.prepared = self.selection.prepare("float32")
        self.sums = bs.GradBuffer(SHAPE, np.int64)
        self.added = [0] * THREADS  # to the sums, and to the gradient, by each thread
        self.buffer = bs.GradBuffer(LARGE.shape, np.float32)
        self.ragged = bs.RaggedTensor.from_list(ROWS, np.float32)
        self.ragged_texts = bs.RaggedTensor.from_list([["a", "bb"], [], ["ccc"]])
        self.variants = bs.ragged_tensor_to_variant(self.ragged)
        self.array = bs.TensorArray(8, np.float32, clear_after_read=False)
        self.array.unstack(X)
        self.gradient = self.array.grad("stress")
        self.texts = [bs.TensorArray(4, object, clear_after_read=False) for _ in range(4)]
        self.container = bs._core.TensorArrayContainer()
        self.begin = [1, 0]  # lists that change while they are read
        self.slices = [(INDEX, DY)]


def same(a, b):
    assert a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b), (a, b)


def small_slices(shared, choice):
    same(bs.slice(X, INDEX), X[INDEX])
    same(bs.slice_grad(DY, SHAPE, INDEX), DX)
    out = np.ones(SHAPE, np.float32)
    bs.slice_grad(DY, SHAPE, INDEX, out=out)
    bs.slice_grad(DY, SHAPE, INDEX, out=out, accumulate=True)
    same(out, DX + DX)
    same(bs.slice_grad(DY, SHAPE, "1:7:2, ::-3"), DX)
    same(bs.slice_grad(DY, SHAPE, shared.selection), DX)
    same(shared.selection.grad(DY), DX)
    same(shared.selection.slice(X), X[INDEX])
    same(bs.strided_slice(X, [1, 2], [7, 10], [2, 4]), X[1:7:2, 2:10:4])
    same(bs.strided_slice_grad(np.array(SHAPE), [1, 2], [2, 3], [1, 1], np.ones((1, 1))).sum(), np.float64(1))
    same(bs.onnx_slice(X, [1], [5], [0]), X[1:5])
    same(bs.onnx_slice_grad(np.ones((4, 16), np.float32), SHAPE, [1], [5], [0]).sum(), np.float32(64))


def large_slices(shared, choice):
    step = choice.randint(1, 4)
    dy = LARGE[::step]
    same(bs.slice(LARGE, np.s_[::step]), dy)
    dx = bs.slice_grad(dy, LARGE.shape, np.s_[::step])
    same(dx[::step], dy)
    assert not np.delete(dx, np.s_[::step], 0).any()


def prepared_slices(shared, choice):
    y, dx = np.empty_like(DY, order="C"), np.ones(SHAPE, np.float32)
    same(shared.prepared.forward(X, y), X[INDEX])
    same(shared.prepared.gradient(DY.copy(), dx), DX)
    same(shared.prepared.accumulate(DY.copy(), dx), DX + DX)


def many_slices(shared, choice):
    same(bs.multi_slice_grad(SHAPE, [(INDEX, DY)] * 3), DX + DX + DX)
    same(bs.multi_slice_grad(LARGE.shape, [("::2", LARGE[::2]), ("1::2", LARGE[1::2])]), LARGE)


def lists_that_change(shared, choice):
    kind = choice.randrange(6)
    if kind == 0:
        shared.slices.append((INDEX, DY))
    elif kind == 1 and len(shared.slices) > 8:
        shared.slices[:] = shared.slices[:2]
    elif kind == 2:
        shared.begin[choice.randrange(2)] = choice.randrange(4)
    elif kind == 3:
        shared.begin[:] = [choice.randrange(4), choice.randrange(4)]
    times = bs.multi_slice_grad(SHAPE, shared.slices, dtype="float32")[INDEX] / DY
    assert times.min() == times.max() and times.min() == int(times.min())
    y = bs.strided_slice(X, shared.begin, [8, 16], [1, 1])
    same(y, X[8 - y.shape[0] :, 16 - y.shape[1] :])
    bs.slice_grad([[1.0] * 16] * 8, list(SHAPE), "...", dtype="float32")


def grad_buffers(shared, choice):
    own = bs.GradBuffer(SHAPE, np.float32)
    own.write(INDEX, DY)
    own.add(INDEX, DY)
    same(own.array, DX + DX)
    own.writable()[...] = 1
    own.write(INDEX, DY)
    same(np.asarray(own), DX)
    match choice.randrange(5):
        case 0:
            shared.buffer.zero()
        case 1:
            shared.buffer.write(np.s_[::2], LARGE[::2])
        case 2:
            shared.buffer.add(np.s_[1:3], LARGE[1:3])
        case 3:
            shared.buffer.writable()
        case _:
            assert repr(shared.buffer).startswith("GradBuffer") and shared.buffer.array.shape == LARGE.shape


def sums(shared, choice, number):
    shared.sums.add(np.s_[1:4, number], 1)
    shared.sums.add(np.s_[::-2, 10:], np.ones((4, 6), np.int64))
    shared.gradient.write(3, np.full(16, 2, np.float32))
    shared.added[number] += 1


def tensor_arrays(shared, choice):
    same(shared.array.read(choice.randrange(8)).reshape(-1)[:0], X[0, :0])
    same(shared.array.stack(), X)
    same(shared.array.gather([3, 1]), X[[3, 1]])
    own = bs.TensorArray(2, np.float32, (16,), contiguous=choice.random() < 0.5)
    own.write(1, X[1])
    own.write(0, X[0])
    same(own.stack(out=np.empty((2, 16), np.float32)), X[:2])
    own = bs.TensorArray(2, np.float32)
    own.split(X[:5], [2, 3])
    value, lengths = own.concat()
    same(value, X[:5])
    assert lengths.tolist() == [2, 3]
    own.close()
    same(pickle.loads(pickle.dumps(shared.array)).stack(), X)


def first_strings(shared, choice):
    """Threads write str and bytes to new arrays; only those of the kind that was first succeed."""
    if choice.random() < 0.3:
        shared.texts[choice.randrange(4)] = bs.TensorArray(4, object, clear_after_read=False)
    array, kind = choice.choice(shared.texts), choice.choice([str, bytes])
    value = np.array([kind(b"abc") if kind is bytes else "abc"], object)
    with contextlib.suppress(bs.Error):  # the other kind, or written already
        array.grad("texts") if choice.random() < 0.1 else array.write(choice.randrange(4), value)
    read = {type(element) for i in range(4) for element in array_of(array, i)}
    assert len(read) <= 1, read


def array_of(array, i):
    try:
        return array.read(i)
    except bs.Error:  # nothing was written
        return []


def containers(shared, choice):
    dtype, shape = choice.choice([(np.float32, (4,)), (np.int64, (8,))])
    array = shared.container.create(2, dtype, shape, name="a")
    array.write(0, np.ones(shape, dtype))
    for name in choice.sample(names := shared.container.names(), min(3, len(names))):
        found = shared.container.find(name)
        if found is not None:
            assert (found.dtype, found.element_shape) in ((np.float32, (4,)), (np.int64, (8,)))
    shared.container.remove(array.name if choice.random() < 0.9 else choice.choice(names))
    assert hash(array) == hash(array) and array == array


def ragged(shared, choice):
    rt = shared.ragged
    assert rt.to_list() == ROWS and rt[::2].to_list() == ROWS[::2] and rt[3].tolist() == ROWS[3]
    same(rt.slice_grad(np.s_[2:], rt[2:].values), np.array([0, 0, 3, 4, 5, 6], np.float32))
    assert rt == pickle.loads(pickle.dumps(rt)) and repr(rt).startswith("RaggedTensor")
    assert shared.ragged_texts[::-1].to_list() == [["ccc"], [], ["a", "bb"]]
    encoded = bs.ragged_tensor_to_variant(rt)
    assert bs.ragged_tensor_from_variant(encoded, 0, 1).to_list() == ROWS
    assert [row.tolist() for row in shared.variants] == ROWS and len(shared.variants[1:]) == 3
    assert bs.ragged_tensor_to_variant_gradient(shared.variants, rt.nested_row_splits[0], [6]).tolist() == [
        1,
        2,
        3,
        4,
        5,
        6,
    ]
    assert bs.RaggedTensor.from_row_lengths(np.arange(4), [1, 3]).to_list() == [[0], [1, 2, 3]]


def sparse(shared, choice):
    found, y, _ = bs.sparse_slice(COO, VALUES, SHAPE, [2, 3], [4, 9])
    inside = np.all((COO >= [2, 3]) & (COO < [6, 12]), 1)
    same(found, COO[inside] - [2, 3])
    same(y, VALUES[inside])
    same(bs.sparse_slice_grad(y, COO, [2, 3], found), np.where(inside, VALUES, 0))
    same(bs.sparse_slice_grad_by_size(y, COO, [2, 3], [4, 9]), np.where(inside, VALUES, 0))


def strings(shared, choice):
    same(bs.slice(TEXTS, INDEX), TEXTS[INDEX])
    expected = np.full(SHAPE, "", object)
    expected[INDEX] = TEXTS[INDEX]
    same(bs.slice_grad(TEXTS[INDEX], SHAPE, INDEX), expected)
    out = np.full(SHAPE, "old", object)
    same(bs.slice_grad(TEXTS[INDEX], SHAPE, INDEX, out=out), expected)
    array = bs.TensorArray(8, str)
    array.unstack(TEXTS)
    same(array.stack(), TEXTS)


def dlpack(shared, choice):
    same(np.from_dlpack(shared.sums).reshape(-1)[:0], np.zeros(0, np.int64))
    same(np.from_dlpack(bs.to_dlpack(X)), X)

    class Foreign:
        def __dlpack__(self, **options):
            return bs.to_dlpack(BFLOATS).__dlpack__(**options)

        def __dlpack_device__(self):
            return (1, 0)

    same(bs.slice(Foreign(), "::2"), BFLOATS[::2])


BFLOATS = np.arange(8).astype(ml_dtypes.bfloat16)


def objects(shared, choice):
    s = shared.selection
    assert s == pickle.loads(pickle.dumps(s)) and hash(s) == hash(bs.Selection.from_index(SHAPE, INDEX))
    assert s.to_index() and s.to_tf() and s.to_onnx() and s.explain() and repr(s) and s.cost("float32")
    assert s.restrict([(0, 4), (0, 16)]) is not None
    assert repr(pickle.loads(pickle.dumps(shared.prepared))) == repr(shared.prepared)
    if choice.random() < 0.05:
        assert "<svg" in s._repr_svg_()
        gc.collect()


def errors(shared, choice):
    with pytest.raises(bs.InvalidArgumentError, match="step"):
        bs.slice_grad(DY, SHAPE, "::0")
    with pytest.raises(bs.InvalidArgumentError, match="dy"):
        bs.slice_grad(DY, SHAPE, "::2")
    with pytest.raises(TypeError, match="accumulate"):
        bs.slice_grad(DY, SHAPE, INDEX, acumulate=True)
    with pytest.raises(bs.DTypeError, match="masked"):
        bs.slice(np.ma.masked_array(X), INDEX)
    with pytest.raises(TypeError):
        bs.GradBuffer.__new__(bs.GradBuffer).zero()


def runtime(shared, choice):
    bs.set_num_threads(choice.randint(1, 4))
    bs.pool.trim()
    bs.pool.set_limit(choice.choice([0, 1 << 20, 1 << 28]))
    stats = bs.pool.stats()
    assert min(stats.values()) >= 0 and bs.get_num_threads() in range(1, 5)


TASKS = [small_slices] * 3 + [
    large_slices,
    prepared_slices,
    many_slices,
    lists_that_change,
    grad_buffers,
    tensor_arrays,
]
TASKS += [sums, first_strings, containers, ragged, sparse, strings, dlpack, objects, errors, runtime]


def work(number, shared, end, counts, failures):
    choice = random.Random(number)
    try:
        while time.monotonic() < end and not failures:
            task = choice.choice(TASKS)
            task(shared, choice, number) if task is sums else task(shared, choice)
            counts[number][task.__name__] += 1
    except BaseException as failure:
        failures.append(failure)


def test_all_operations_from_many_threads():
    shared, failures = Shared(), []
    counts = [collections.Counter() for _ in range(THREADS)]
    limit, threads = bs.pool.stats()["limit"], bs.get_num_threads()
    end = time.monotonic() + SECONDS
    running = [
        threading.Thread(target=work, args=(number, shared, end, counts, failures), daemon=True)
        for number in range(THREADS)
    ]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        for thread in running:
            thread.start()
        for thread in running:
            thread.join(SECONDS + 300)
        assert not any(thread.is_alive() for thread in running), "a thread waits for ever"
    finally:
        sys.setswitchinterval(interval)
        bs.pool.set_limit(limit)
        bs.set_num_threads(threads)
    if failures:
        raise failures[0]
    expected = np.zeros(SHAPE, np.int64)
    expected[1:4, :THREADS] += shared.added
    expected[::-2, 10:] += sum(shared.added)
    same(shared.sums.array, expected)
    if sum(shared.added):
        same(shared.gradient.read(3), np.full(16, 2 * sum(shared.added), np.float32))
    total = sum(counts, collections.Counter())
    print(f"{sum(total.values())} tasks in {SECONDS} s:", dict(total))
    assert len(total) > len(set(TASKS)) // 2


@pytest.mark.skipif(not IS_FREE_THREADED, reason="this Python has a GIL")
def test_the_gil_stays_off():
    program = "import sys, backslice.verify; sys.exit(sys._is_gil_enabled())"
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def calls_per_second(threads):
    """Return how many gradients of 1 KB all threads make in a second."""
    dy, shape, index, each = np.ones((8, 16), np.float32), (16, 16), np.s_[::2], 200_000
    ready = threading.Barrier(threads + 1)

    def run():
        grad, own = bs.slice_grad, dy.copy()
        ready.wait()
        for _ in range(each):
            grad(own, shape, index)

    running = [threading.Thread(target=run) for _ in range(threads)]
    for thread in running:
        thread.start()
    ready.wait()
    begin = time.perf_counter()
    for thread in running:
        thread.join()
    return threads * each / (time.perf_counter() - begin)


@pytest.mark.skipif(not IS_FREE_THREADED, reason="this Python has a GIL")
@pytest.mark.skipif(os.environ.get("BACKSLICE_SPEED_TESTS") != "1", reason="BACKSLICE_SPEED_TESTS=1 on a quiet machine")
def test_two_threads_are_nearly_twice_as_fast():
    one, two = (max(calls_per_second(threads) for _ in range(5)) for threads in (1, 2))
    print(f"{one:.3g} and {two:.3g} calls per second: {two / one:.2f} times")
    assert two >= 1.8 * one
