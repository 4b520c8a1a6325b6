"""Every request for memory or a thread fails once, in every operation. The operation raises, changes nothing, and then
works.

Allocations of CPython and NumPy themselves do not fail.
"""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import backslice as bs
import numpy as np
import pytest
from backslice import _core

pytestmark = pytest.mark.skipif(
    not hasattr(_core, "_strike_at"), reason="needs a build with BACKSLICE_FAULT_INJECTION, as `make sanitize` makes"
)


class Attempt(NamedTuple):
    """A call on its own state, and a function that returns all of that state and may consume it."""

    call: Callable[[], Any]
    look: Callable[[], Any] = lambda: None


def plain(value: Any) -> Any:
    """Return a value that can be compared."""
    if isinstance(value, np.ndarray):
        return value.dtype, value.shape, value.tolist()
    if isinstance(value, bs.RaggedTensor):
        return plain(value.values), *map(plain, value.nested_row_splits)
    if isinstance(value, bs.VariantArray):
        return value.shape, [plain(element) for element in value]
    if isinstance(value, bs.GradBuffer):
        return plain(value.array)
    if isinstance(value, bs.TensorArray):
        return contents(value)
    if isinstance(value, bs._core.TensorArrayContainer):
        return {unnumbered(name): contents(value.find(name)) for name in value.names()}
    if isinstance(value, tuple | list):
        return [plain(item) for item in value]
    if isinstance(value, bs.Error):
        return type(value), unnumbered(str(value))
    return value


def unnumbered(name: str) -> str:
    """A container gives no number twice, not even the number of an array that it could not return."""
    return re.sub(r"_\d+", "_N", name)


def contents(array: bs.TensorArray) -> Any:
    """Return everything that a TensorArray stores. Reading may clear it."""
    described = unnumbered(repr(array))
    if "closed" in described:
        return described
    return described, array.size(), [plain(outcome(partial(array.read, i))) for i in range(array.size())]


def outcome(call: Callable[[], Any]) -> Any:
    """Return the result of a call, or the error that it raises."""
    try:
        return call()
    except bs.ResourceExhaustedError:
        raise
    except bs.Error as error:
        return error


def struck(call: Callable[[], Any], n: int) -> tuple[Any, bool]:
    """Return the outcome when request n fails, and whether it was reached. MemoryError is always allowed."""
    _core._strike_at(n)
    try:
        result = outcome(call)
    except MemoryError as error:
        result = error
    finally:
        reached = _core._disarm()
    return result, reached


X = np.arange(40_000, dtype=np.float32).reshape(200, 200)  # large enough to bypass NumPy's cache of small blocks
DY = np.arange(198 * 100, dtype=np.float32).reshape(198, 100)
TWO_SLICES = [("1:-1, ::2", DY), ("2:, 100:", DY)]
WORDS = np.array(["a word that is no short string", "b", "c"], object)
ROWS = np.stack([np.arange(3000)] * 2, 1)
ONES = np.ones(1500, np.float32)
RAGGED = (np.arange(6.0), [[0, 2, 3], [0, 1, 4, 6]])


def fresh(call: Callable[..., Any], *arguments: Any, **options: Any) -> Callable[[], Attempt]:
    return lambda: Attempt(partial(call, *arguments, **options))


def into(call: Callable[..., Any], shape: tuple[int, ...], *arguments: Any, **options: Any) -> Callable[[], Attempt]:
    """Write into an output, in which repeated or partial additions, and writes outside, show at the end."""

    def prepare() -> Attempt:
        block = np.full((shape[0] + 2, *shape[1:]), 7, np.float32)
        return Attempt(partial(call, *arguments, out=block[1:-1], **options), lambda: plain(block[[0, -1]]))

    return prepare


def on_words(call: Callable[[np.ndarray], Any]) -> Attempt:
    """Write into an output of two strings."""
    out = np.array(["an old word that is no short string", "old"], object)
    return Attempt(partial(call, out), lambda: plain(out))


def selection() -> bs.Selection:
    return bs.Selection.from_index((200, 200), "1:-1, ::2")


class Exported:
    """An array that is not NumPy's."""

    def __dlpack__(self, **options: Any) -> Any:
        return X.__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        return X.__dlpack_device__()


SLICES = {
    "slice": fresh(bs.slice, X, "1:-1, ::2"),
    "slice, small": fresh(bs.slice, X[:4, :4], np.s_[1:-1, None]),
    "slice, out": into(bs.slice, (198, 100), X, "1:-1, ::2"),
    "slice, objects": fresh(bs.slice, WORDS, "::-1"),
    "slice, list": fresh(bs.slice, [[1, 2], [3, 4]], 0),
    "slice, dlpack": fresh(bs.slice, Exported(), "1:-1"),
    "slice_grad": fresh(bs.slice_grad, DY, (200, 200), "1:-1, ::2"),
    "slice_grad, out": into(bs.slice_grad, (200, 200), DY, (200, 200), "1:-1, ::2"),
    "slice_grad, accumulate": into(bs.slice_grad, (200, 200), DY, (200, 200), "1:-1, ::2", accumulate=True),
    "Selection.slice": lambda: Attempt(partial(selection().slice, X)),
    "Selection.slice, out": lambda: into(selection().slice, (198, 100), X)(),
    "Selection.grad": lambda: Attempt(partial(selection().grad, DY)),
    "Selection.grad, accumulate": lambda: into(selection().grad, (200, 200), DY, accumulate=True)(),
    "PreparedSlice.forward": lambda: into(selection().prepare("f4").forward, (198, 100), X)(),
    "PreparedSlice.gradient": lambda: into(selection().prepare("f4").gradient, (200, 200), DY)(),
    "PreparedSlice.accumulate": lambda: into(selection().prepare("f4").accumulate, (200, 200), DY)(),
    "PreparedSlice.forward, refused": lambda: into(selection().prepare("f4").forward, (200, 200), X)(),
    "PreparedSlice.forward, objects": lambda: on_words(
        lambda out: bs.Selection.from_index((3,), "::2").prepare(object).forward(WORDS, out)
    ),
    "slice_grad, objects": fresh(bs.slice_grad, WORDS, (9,), "::3"),
    "slice_grad, refused": fresh(bs.slice_grad, DY, (200, 200), "1:-1, ::3"),
    "slice, refused text": fresh(bs.slice, X, "1:-1, nonsense, of some length"),
    "strided_slice": fresh(bs.strided_slice, X, [1, 0], [-1, 200], [1, 2]),
    "strided_slice_grad": fresh(bs.strided_slice_grad, [200, 200], [1, 0], [-1, 200], [1, 2], DY),
    "onnx_slice": fresh(bs.onnx_slice, X, [1], [-1], [0], [1]),
    "onnx_slice_grad": fresh(bs.onnx_slice_grad, DY, [200, 200], [1, 0], [-1, 200], [0, 1], [1, 2]),
    "multi_slice_grad": fresh(bs.multi_slice_grad, (200, 200), TWO_SLICES),
    "multi_slice_grad, out": into(bs.multi_slice_grad, (200, 200), (200, 200), TWO_SLICES),
    "multi_slice_grad, accumulate": into(bs.multi_slice_grad, (200, 200), (200, 200), TWO_SLICES, accumulate=True),
    "multi_slice_grad, refused": into(bs.multi_slice_grad, (200, 200), (200, 200), [*TWO_SLICES, ("0", DY)]),
    "multi_slice_write": fresh(bs.multi_slice_write, (200, 200), TWO_SLICES),
    "multi_slice_write, out": into(bs.multi_slice_write, (200, 200), (200, 200), TWO_SLICES),
    "multi_slice_write, refused": into(bs.multi_slice_write, (200, 200), (200, 200), [*TWO_SLICES, ("0", DY)]),
    "multi_slice_write, objects": fresh(bs.multi_slice_write, (9,), [("::3", WORDS), ("1::3", WORDS)]),
    "multi_slice_grad, objects": fresh(bs.multi_slice_grad, (9,), [("::3", WORDS), ("1::3", WORDS)]),
    "sparse_slice": fresh(bs.sparse_slice, ROWS, ROWS[:, 0], [3000, 3000], [5, 0], [2000, 3000]),
    "sparse_slice_grad": fresh(bs.sparse_slice_grad, np.ones(1500), ROWS, [0, 0], ROWS[::2]),
    "sparse_slice_grad, any": fresh(bs.sparse_slice_grad, np.ones(1500), ROWS, [0, 0], ROWS[::-2], order="any"),
    "sparse_slice_grad, out": into(bs.sparse_slice_grad, (3000,), ONES, ROWS, [0, 0], ROWS[::2]),
    "sparse_slice_grad, accumulate": into(
        bs.sparse_slice_grad, (3000,), ONES, ROWS, [0, 0], ROWS[::2], accumulate=True
    ),
    "sparse_slice_grad, any, out": into(bs.sparse_slice_grad, (3000,), ONES, ROWS, [0, 0], ROWS[::-2], order="any"),
    "sparse_slice_grad, any, accumulate": into(
        bs.sparse_slice_grad, (3000,), ONES, ROWS, [0, 0], ROWS[::-2], order="any", accumulate=True
    ),
    "sparse_slice_grad, refused": into(bs.sparse_slice_grad, (3000,), ONES, ROWS, [1, 0], ROWS[::2]),
    "sparse_slice_grad_by_size": fresh(bs.sparse_slice_grad_by_size, np.ones(9), ROWS, [3, 3], [9, 9]),
    "sparse_slice_grad_by_size, out": into(bs.sparse_slice_grad_by_size, (3000,), ONES[:9], ROWS, [3, 3], [9, 9]),
    "sparse_slice_grad_by_size, accumulate": into(
        bs.sparse_slice_grad_by_size, (3000,), ONES[:9], ROWS, [3, 3], [9, 9], accumulate=True
    ),
}
SELECTIONS = {
    "from_index": fresh(bs.Selection.from_index, (4, 5), np.s_[..., 1:, None]),
    "from_tf": fresh(bs.Selection.from_tf, (4, 5), [0, 1], [4, 5], [1, 2], 1),
    "from_onnx": fresh(bs.Selection.from_onnx, (4, 5), [1], [3], [-1], [2]),
    "to_index": lambda: Attempt(selection().to_index),
    "to_tf": lambda: Attempt(selection().to_tf),
    "to_onnx": lambda: Attempt(selection().to_onnx),
    "prepare": lambda: Attempt(lambda s=selection(): repr(s.prepare("f4"))),
    "restrict": lambda: Attempt(partial(selection().restrict, [(0, 50), (3, 9)])),
    "explain": lambda: Attempt(selection().explain),
    "cost": lambda: Attempt(partial(selection().cost, "float32")),
    "repr": lambda: Attempt(partial(repr, selection())),
}


def on_buffer(*calls: Callable[[bs.GradBuffer], Any]) -> Callable[[], Attempt]:
    """Return the last of the calls, on a buffer after the others."""

    def prepare() -> Attempt:
        buffer = bs.GradBuffer((200, 200), np.float32)
        for call in calls[:-1]:
            call(buffer)
        return Attempt(partial(calls[-1], buffer), lambda: plain(buffer))

    return prepare


BUFFERS = {
    "make": fresh(bs.GradBuffer, (200, 200), "float32"),
    "write": on_buffer(lambda b: b.add("3:9", X[3:9]), lambda b: b.write("5:25", X[:20])),
    "add, apart": on_buffer(lambda b: b.add("3:9", X[3:9]), lambda b: b.add("20:30", X[:10])),
    "add, inside": on_buffer(lambda b: b.add("3:90", X[3:90]), lambda b: b.add("20:30, ::-1", X[:10])),
    "add, across": on_buffer(lambda b: b.add("3:9", X[3:9]), lambda b: b.add("5:25", X[:20])),
    "zero": on_buffer(lambda b: b.add("3:9", X[3:9]), lambda b: b.zero()),
    "writable": on_buffer(lambda b: b.add("3:9", X[3:9]), lambda b: b.writable()),
    "refused": on_buffer(lambda b: b.add("3:9", X[3:9]), lambda b: b.add("3:9", X)),
}


def on_array(*calls: Callable[[bs.TensorArray], Any], dtype: Any = "f4", **options: Any) -> Callable[[], Attempt]:
    def prepare() -> Attempt:
        array = bs.TensorArray(4, dtype, name="a name that is no short string", **options)
        for call in calls[:-1]:
            array = call(array) or array
        return Attempt(partial(calls[-1], array), lambda: plain(array))

    return prepare


def write_all(array: bs.TensorArray) -> None:
    array.unstack(X[:4])


def gradient(array: bs.TensorArray) -> bs.TensorArray:
    return array.grad("a source that is no short string")


def add_eight(array: bs.TensorArray) -> None:
    for _ in range(8):
        array.write(1, X)


ARRAYS = {
    "make": fresh(bs.TensorArray, 4, "float32", [None, 3], name="a name that is no short string"),
    "make, contiguous": fresh(bs.TensorArray, 4, "float32", [200, 200], contiguous=True),
    "write": on_array(lambda a: a.write(2, X)),
    "write, held": on_array(lambda a: a.write(2, X, copy=False)),
    "write, list": on_array(lambda a: a.write(2, [1, 2])),
    "write, longer": on_array(lambda a: a.write(90, X), dynamic_size=True),
    "write, contiguous": on_array(lambda a: a.write(1, X), element_shape=[200, 200], contiguous=True),
    "write, strings": on_array(lambda a: a.write(2, WORDS), dtype=object),
    "write, refused": on_array(write_all, lambda a: a.write(2, X[0])),
    "read": on_array(write_all, lambda a: a.read(1)),
    "read, zeros": on_array(lambda a: a.read(1), element_shape=[200]),
    "read, strings": on_array(lambda a: a.write(0, WORDS), lambda a: a.read(0), dtype=object),
    "read, strings, out": on_array(
        lambda a: a.write(0, WORDS), lambda a: a.read(0, out=np.empty(np.shape(WORDS), object)), dtype=object
    ),
    "gather, out": on_array(write_all, lambda a: a.gather([3, 1], out=np.empty((4, 400), "f4")[::2, ::2])),
    "stack, out": on_array(write_all, lambda a: a.stack(out=np.empty((4, 200), "f4"))),
    "concat, out": on_array(write_all, lambda a: a.concat(out=np.empty(800, "f4"))),
    "gather": on_array(write_all, lambda a: a.gather([3, 1])),
    "scatter": on_array(lambda a: a.scatter([3, 1], X[:2])),
    "stack": on_array(write_all, lambda a: a.stack()),
    "unstack": on_array(lambda a: a.unstack(X[:4])),
    "concat": on_array(write_all, lambda a: a.concat()),
    "split": on_array(lambda a: a.split(X, [100, 0, 50, 50])),
    "close": on_array(write_all, lambda a: a.close()),
    "grad": on_array(write_all, gradient),
    "grad_with_shape": on_array(write_all, lambda a: a.grad_with_shape("source", [2, 3])),
    "tensor_array_grad_with_shape": on_array(lambda a: bs.tensor_array_grad_with_shape(a, 0.0, [2], "source")[1]),
    "sum": on_array(gradient, add_eight, lambda a: a.read(1)),
    "sum, stack": on_array(gradient, lambda a: a.unstack(X[:4]), lambda a: a.unstack(X[:4]), lambda a: a.stack()),
    "sum, ninth": on_array(gradient, add_eight, lambda a: a.write(1, X)),
}


def on_container(call: Callable[[bs._core.TensorArrayContainer], Any]) -> Callable[[], Attempt]:
    def prepare() -> Attempt:
        container = bs._core.TensorArrayContainer()
        container.create(2, "f4", name="a name that is no short string").grad("loss")
        return Attempt(partial(call, container), lambda: plain(container))

    return prepare


NAME = "a name that is no short string_0"
CONTAINERS = {
    "make": fresh(bs._core.TensorArrayContainer),
    "create": on_container(lambda c: c.create(2, "f4", name="another")),
    "find": on_container(lambda c: c.find(NAME) is not None),
    "find, gradient": on_container(lambda c: c.find(NAME + "@loss") is not None),
    "remove": on_container(lambda c: c.remove(NAME)),
    "names": on_container(lambda c: c.names()),
}


def ragged(call: Callable[[bs.RaggedTensor], Any]) -> Callable[[], Attempt]:
    return lambda: Attempt(partial(call, bs.RaggedTensor(*RAGGED)))


def encoded(call: Callable[[bs.VariantArray], Any]) -> Callable[[], Attempt]:
    return lambda: Attempt(partial(call, bs.VariantArray([np.arange(2.0), None, bs.RaggedTensor(*RAGGED)])))


RAGGEDS = {
    "make": fresh(bs.RaggedTensor, *RAGGED),
    "make, strings": fresh(bs.RaggedTensor, WORDS, [0, 1, 3]),
    "make, refused": fresh(bs.RaggedTensor, np.arange(5.0), [0, 7, 5]),
    "from_list": fresh(bs.RaggedTensor.from_list, [[1, 2], [], [3]]),
    "from_row_lengths": fresh(bs.RaggedTensor.from_row_lengths, np.arange(3), [2, 0, 1]),
    "row": ragged(lambda rt: rt[1]),
    "slice": ragged(lambda rt: rt[::-1]),
    "slice_grad": ragged(lambda rt: rt.slice_grad(np.s_[:1], np.ones(4))),
    "values": ragged(lambda rt: rt.values),
    "to_list": ragged(lambda rt: rt.to_list()),
    "shape": ragged(lambda rt: rt.shape),
    "equal": ragged(lambda rt: rt == bs.RaggedTensor(*RAGGED)),
    "repr": ragged(repr),
    "VariantArray": fresh(bs.VariantArray, [np.arange(2.0), None], [2, 1]),
    "element": encoded(lambda v: v[2]),
    "elements": encoded(list),
    "reshape": encoded(lambda v: v.reshape([3, 1])),
    "variants' repr": encoded(repr),
    "to_variant": ragged(bs.ragged_tensor_to_variant),
    "to_variant, one": ragged(lambda rt: bs.ragged_tensor_to_variant(rt, False)),
    "from_variant": ragged(lambda rt: bs.ragged_tensor_from_variant(bs.ragged_tensor_to_variant(rt), 1, 2)),
    "from_variant, list": fresh(bs.ragged_tensor_from_variant, bs.VariantArray([np.ones(2), np.ones(3)]), 0, 1),
    "from_variant_gradient": ragged(lambda rt: bs.ragged_tensor_from_variant_gradient(rt, [2])),
    "to_variant_gradient": fresh(
        bs.ragged_tensor_to_variant_gradient, bs.VariantArray([None, np.ones(2)]), [0, 1, 3], [3]
    ),
    "to_variant_gradient, out": ragged(
        lambda rt: bs.ragged_tensor_to_variant_gradient(
            bs.VariantArray([None, np.ones(2)]), [0, 1, 3], [3], out=np.empty(6)[::2]
        )
    ),
    "slice_grad, out": ragged(lambda rt: rt.slice_grad(np.s_[:1], np.ones(4), out=np.empty(rt.values.shape))),
}
FAMILIES = {
    "slices": SLICES,
    "Selection": SELECTIONS,
    "GradBuffer": BUFFERS,
    "TensorArray": ARRAYS,
    "TensorArrayContainer": CONTAINERS,
    "ragged": RAGGEDS,
}
OPERATIONS = {f"{family}: {name}": make for family, members in FAMILIES.items() for name, make in members.items()}


def failures(prepare: Callable[[], Attempt]) -> Iterator[tuple[int, Attempt, Any]]:
    """Yield an attempt and its outcome for every request, until one attempt makes fewer requests."""
    for n in range(10_000):
        attempt = prepare()
        result, reached = struck(attempt.call, n)
        assert reached or not isinstance(result, MemoryError), result
        yield n, attempt, result
        if not reached:
            return
    pytest.fail("the call never came to its end")


@pytest.mark.parametrize("prepare", OPERATIONS.values(), ids=OPERATIONS)
def test_every_request_may_fail(prepare):
    """Repeat the call. It works as if it had not failed, with the same result and state."""
    clean = prepare()
    expected = plain(outcome(clean.call)), clean.look()
    for n, attempt, result in failures(prepare):
        again = outcome(attempt.call) if isinstance(result, MemoryError) else result
        assert (plain(again), attempt.look()) == expected, f"request {n}"


@pytest.mark.parametrize("prepare", OPERATIONS.values(), ids=OPERATIONS)
def test_calls_that_fail_change_nothing(prepare):
    before = prepare().look()
    for n, attempt, result in failures(prepare):
        if isinstance(result, MemoryError):
            assert attempt.look() == before, f"the call that failed at request {n} has changed something"


def test_requests_do_fail():
    """Without this, nothing above would fail either."""
    result, reached = struck(partial(bs.slice_grad, DY, (200, 200), "1:-1, ::2"), 0)
    assert reached and isinstance(result, MemoryError)
