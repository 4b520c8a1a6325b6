"""Objects that change or lie while they are read."""

import subprocess
import sys
import warnings

import backslice as bs
import numpy as np
import pytest

X = np.arange(6.0)


class Acting:
    """An integer that has side effects when it is read."""

    def __init__(self, act, value=1):
        self.act, self.value = act, value

    def __index__(self):
        self.act()
        return self.value


def test_lists_that_change_while_they_are_read():
    for act in (list.clear, lambda a: a.extend([1] * 1000), lambda a: a.append(a[0])):
        begin = [0, 0]
        begin[0] = Acting(lambda act=act, begin=begin: act(begin))
        assert bs.strided_slice(X.reshape(2, 3), begin, [2, 3], [1, 1]).shape == (1, 3)
    pairs = []
    pairs += [(slice(Acting(pairs.clear, 0), None), X), (":", X)]
    assert bs.multi_slice_grad((6,), pairs).tolist() == (2 * X).tolist()
    pair = []
    pair += [slice(Acting(pair.clear, 0), None), X]
    assert bs.multi_slice_grad((6,), [pair]).tolist() == X.tolist()


def test_arrays_that_are_resized_by_their_index():
    x = np.arange(2.0**16)

    def shrink():
        x.resize((1,), refcheck=False)
        np.ones(2**16)

    assert bs.slice(x, (Acting(shrink, 0),)) == 0
    with pytest.raises(bs.OutOfRangeError):
        bs.slice(x, (Acting(shrink, 5),))
    dy = np.arange(2.0**16)
    with pytest.raises(bs.InvalidArgumentError, match="shape of dy"):
        bs.slice_grad(dy, (2**16,), slice(Acting(lambda: dy.resize((2,), refcheck=False), 0), None))
    with pytest.raises(bs.InvalidArgumentError, match="shape of dy"):
        dy = np.arange(2.0**16)
        bs.GradBuffer((2**16,), float).write(slice(Acting(lambda: dy.resize((2,), refcheck=False), 0), None), dy)


class Liar(np.ndarray):
    """Gives contradictory answers about itself."""

    shape = property(lambda self: (10**9,))
    strides = property(lambda self: (10**9,))
    ndim = property(lambda self: 7)
    dtype = property(lambda self: np.dtype("S1000"))
    size = property(lambda self: 10**9)
    T = property(lambda self: self)

    def __len__(self):
        return 10**9

    def __iter__(self):
        return iter([10**9] * 100)

    def __getitem__(self, index):
        return 10**9

    def __array__(self, dtype=None, copy=None):
        return np.zeros(10**3, "S7")

    def __dlpack__(self, **options):
        return None

    def __array_finalize__(self, _):
        pass

    def __reduce__(self):
        return None

    def tolist(self):
        return [self]

    ravel = flatten = reshape = astype = view = tolist


def test_arrays_that_lie_are_what_numpy_holds():
    x = X.view(Liar)
    one = np.array([1]).view(Liar)
    assert bs.slice(x, "1:3").tolist() == [1, 2]
    assert bs.slice_grad(x, np.array([6]).view(Liar), ":").tolist() == X.tolist()
    assert bs.strided_slice(x, one, np.array([3]).view(Liar), one).tolist() == [1, 2]
    assert bs.multi_slice_grad((6,), [(":", x), (":", x)]).tolist() == (2 * X).tolist()
    out = np.zeros(6).view(Liar)
    assert bs.slice(x, "::-1", out=out) is out and np.array(out.base).tolist() == X[::-1].tolist()
    indices = np.arange(6).reshape(6, 1).view(Liar)
    assert bs.sparse_slice(indices, x, [6], [2], [2])[1].tolist() == [2, 3]
    assert bs.sparse_slice_grad(x, indices, one - one, indices).tolist() == X.tolist()
    objects = np.array(["a", "b"], object).view(Liar)
    assert bs.slice(objects, "::-1").tolist() == ["b", "a"]


class FromArray:
    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array() if callable(self.array) else self.array


def test_what_array_methods_return():
    assert bs.slice(FromArray(X), "1") == 1
    for lie in (None, [1, 2], "text", FromArray(X), object):
        with pytest.raises(bs.Error, match="x "):
            bs.slice(FromArray(lie), ":")
    itself = FromArray(None)
    itself.array = itself
    with pytest.raises(bs.Error, match="x "):
        bs.slice(itself, ":")
    endless = FromArray(None)
    endless.array = lambda: np.asarray(endless)
    with pytest.raises(bs.Error, match="recursion"):
        bs.slice(endless, ":")


def test_every_attribute_is_anything():
    class Yes:
        """Has every attribute."""

        def __getattr__(self, name):
            return Yes()

        def __call__(self, *given, **named):
            return Yes()

    for call in (
        lambda: bs.slice(Yes(), ":"),
        lambda: bs.slice(X, Yes()),
        lambda: bs.slice_grad(X, Yes(), ":"),
        lambda: bs.strided_slice(X, Yes(), [1], [1]),
        lambda: bs.slice(X, ":", out=Yes()),
        lambda: bs.sparse_slice(Yes(), X, [6], [0], [1]),
        lambda: bs.sparse_slice((Yes(),), X, [6], [0], [1]),
        lambda: bs.multi_slice_grad((6,), [(":", Yes())]),
    ):
        with pytest.raises(bs.Error):
            call()


def test_selections_that_were_never_made():
    empty = bs.Selection.__new__(bs.Selection)
    with pytest.raises(bs.Error):
        bs.slice(X, empty)
    assert bs.Selection.from_index((6,), ":") != empty
    for state in ((), ((6,),), ((6,), ":", 0)):
        with pytest.raises(bs.InvalidArgumentError, match="state is"):
            empty.__setstate__(state)


def test_references_are_counted_when_a_move_is_refused():
    out, word = np.array(["".join(["wo", "rd"])] * 3, object), "".join(["oth", "er"])
    before = sys.getrefcount(out[0]), sys.getrefcount(word)
    for _ in range(50):
        with pytest.raises(bs.Error):
            bs.slice_grad(np.array([word] * 2, object), (3,), ":2", out=out, accumulate=True)
        with pytest.raises(bs.Error):
            bs.slice(np.array([word] * 2, object), ":", out=out)
    assert (sys.getrefcount(out[0]), sys.getrefcount(word)) == before and out.tolist() == ["word"] * 3


def test_memory_is_probed_only_where_it_has_no_gaps():
    from backslice import _core

    whole = np.ones(16)
    for array in (whole[::-1], whole[::2], whole.reshape(4, 4).T):
        for dst, src in ((array, None), (None, array), (np.ones(array.shape), array), (array, np.ones(array.shape))):
            with pytest.raises(bs.InvalidArgumentError, match="C-contiguous"):
                _core.probe_memory(dst, src, False)
    assert whole.tolist() == [1] * 16


def in_child(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stderr)
    return done.stdout.strip()


SHRINKING = """
import numpy as np, backslice as bs
N = 1 << 24
ones, rows = np.ones(N, np.float32), np.arange(N).reshape(N, 1).copy()

class Shrinking:
    '''An argument that makes another one smaller when it is read.'''

    def __init__(self, other, value, left=1):
        self.other, self.value, self.left = other, value, left

    def __index__(self):
        self.other.resize((self.left,) * self.other.ndim, refcheck=False)
        return self.value

    def __array__(self, dtype=None, copy=None):
        return np.array([self.__index__()]) if isinstance(self.value, int) else (self.__index__(), self.value)[1]

one, whole, many = np.ones(1, np.float32), np.ones(N, np.float32), np.arange(N)
single = bs.VariantArray([one])
try:
    result = {call}
    print("returned", getattr(result, "shape", None))
except bs.Error as error:
    print(type(error).__name__)
"""
SHRINKING_CALLS = {  # two elements remain of dy, since one would broadcast
    "multi_slice_grad, an index": "bs.multi_slice_grad((N,), [(':', ones), (slice(Shrinking(ones, 0, 2), 1), one)])",
    "multi_slice_grad, a dy": "bs.multi_slice_grad((N,), [(':', ones), (':1', Shrinking(ones, one, 2))])",
    "sparse_slice, values": "bs.sparse_slice(rows, Shrinking(rows, whole), (N,), (0,), (N,))",
    "sparse_slice, columns": "bs.sparse_slice((many, Shrinking(many, many.copy())), ones, (N, N), (0, 0), (N, N))",
    "sparse_slice_grad, indices": "bs.sparse_slice_grad(ones, rows, (0,), Shrinking(rows, rows.copy()))",
    "sparse_slice_grad, grad": "bs.sparse_slice_grad(Shrinking(rows, whole), rows, (0,), rows.copy())",
    "sparse_slice_grad_by_size": "bs.sparse_slice_grad_by_size(Shrinking(rows, whole), rows, (0,), (N,))",
    "RaggedTensor, a split": "bs.RaggedTensor(ones, [[0, Shrinking(ones, N)]])",
    "RaggedTensor, splits": "bs.RaggedTensor(np.ones(N - 1), [many, [0, Shrinking(many, N - 1)]])",
    "splits of a gradient": "bs.ragged_tensor_to_variant_gradient(single, [many, [0, Shrinking(many, 1)]], [1])",
}  # fmt: skip


@pytest.mark.parametrize("call", SHRINKING_CALLS.values(), ids=SHRINKING_CALLS)
def test_arrays_that_are_resized_by_another_argument(call):
    assert in_child(SHRINKING.replace("{call}", call)) in ("InvalidArgumentError", "OutOfRangeError")


VIEW_CALLS = {
    "multi_slice_grad": "bs.multi_slice_grad((N,), [(':', ones[:]), (':1', Shrinking(ones, one))])",
    "RaggedTensor": "bs.RaggedTensor(np.ones(2), [rows[:, 0], [0, Shrinking(rows, 2)]])",
    "sparse_slice": "bs.sparse_slice(rows[::1], Shrinking(rows, whole), (N,), (0,), (N,))",
}


@pytest.mark.parametrize("call", VIEW_CALLS.values(), ids=VIEW_CALLS)
def test_views_keep_their_memory_from_being_resized_by_another_argument(call):
    program = SHRINKING.replace("{call}", call) + "print(len(ones) == len(rows) == N)"
    assert in_child(program).split() in (["InvalidArgumentError", "True"], ["DTypeError", "True"])


ELEMENTS = {
    "an element": ("bs.VariantArray([ones, Shrinking(ones, one)])", "[[0, 1, 2]], [2]", "(2,)"),
    "the shape": ("bs.VariantArray([ones], (Shrinking(ones, 1),))", "[[0, 1]], [1]", "(1,)"),
}


@pytest.mark.parametrize(("array", "rest", "shape"), ELEMENTS.values(), ids=ELEMENTS)
def test_elements_that_are_resized_by_what_follows(array, rest, shape):
    call = f"bs.ragged_tensor_to_variant_gradient({array}, {rest})"
    assert in_child(SHRINKING.replace("{call}", call)) == f"returned {shape}"


def held_by_tensor_array(x):
    array = bs.TensorArray(1, float)
    array.write(0, x, copy=False)
    return array


HOLDERS = {
    "RaggedTensor": lambda x: bs.RaggedTensor(x, [[0, 6]]),
    "VariantArray": lambda x: bs.VariantArray([x]),
    "ragged_tensor_to_variant": lambda x: bs.ragged_tensor_to_variant(x, False),
    "TensorArray": held_by_tensor_array,
}


@pytest.mark.parametrize("hold", HOLDERS.values(), ids=HOLDERS)
@pytest.mark.parametrize("part", [lambda x: x, lambda x: x[:], lambda x: x.view(Liar)], ids=["itself", "view", "lying"])
def test_memory_that_is_held_is_not_resized(hold, part):
    x = np.arange(6.0)
    holder = hold(part(x))
    with pytest.raises(ValueError, match="cannot resize"):
        x.resize(1, refcheck=False)
    del holder
    x.resize(1, refcheck=False)


def test_arrays_whose_dtype_is_changed_by_another_argument():
    dy = np.ones(6)

    def retype():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy discourages it
            dy.dtype = np.int64

    with pytest.raises(bs.InvalidArgumentError, match=r"slices\[0\].dy had dtype float64, which was changed"):
        bs.multi_slice_grad((6,), [(":", dy), (slice(Acting(retype, 0), None), np.ones(6))])


MADE = {
    "TensorArray": (lambda: bs.TensorArray(2, float), lambda x: x.__init__(3, int)),
    "TensorArrayContainer": (bs._core.TensorArrayContainer, lambda x: x.__init__()),
    "GradBuffer": (lambda: bs.GradBuffer((2,), float), lambda x: x.__init__((3,), int)),
    "RaggedTensor": (lambda: bs.RaggedTensor(np.ones(2), [0, 2]), lambda x: x.__init__(np.ones(3), [0, 3])),
    "VariantArray": (lambda: bs.VariantArray([None]), lambda x: x.__init__([None, None])),
    "Selection": (lambda: bs.Selection.from_index((2,), ":"), lambda x: x.__setstate__(((3,), ":"))),
}


@pytest.mark.parametrize(("make", "again"), MADE.values(), ids=MADE)
def test_objects_are_initialised_once(make, again):
    made = make()
    before = repr(made)
    with pytest.raises(TypeError), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # nanobind warns twice
        again(made)
    assert repr(made) == before
