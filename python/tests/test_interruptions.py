"""Exceptions that objects raise while they are read: ordinary errors are explained, all others pass unchanged."""

import backslice as bs
import numpy as np
import pytest

X = np.arange(4.0)
NOT_ORDINARY = [KeyboardInterrupt, SystemExit, GeneratorExit, MemoryError]


class Raising:
    """Raises from one of its methods."""

    def __init__(self, method, error):
        self.method, self.error = method, error

    def raising(self, method):
        if method == self.method:
            raise self.error
        return X

    def __index__(self):
        self.raising("__index__")
        return 1

    def __repr__(self):
        self.raising("__repr__")
        return "Raising"


class RaisingArray(Raising):
    def __array__(self, dtype=None, copy=None):
        return self.raising("__array__")


class RaisingExporter(Raising):
    def __dlpack_device__(self):
        self.raising("__dlpack_device__")
        return (1, 0)

    def __dlpack__(self, **options):
        return self.raising("__dlpack__").__dlpack__(**options)

    @property
    def dtype(self):
        return self.raising("dtype")


class RaisingAttribute(Raising):
    @property
    def __dlpack__(self):
        return self.raising("attribute")

    @property
    def __array__(self):
        return self.raising("attribute")


INDEX_CALLS = {
    "item": lambda e: bs.slice(X, Raising("__index__", e)),
    "bound": lambda e: bs.slice(X, slice(Raising("__index__", e))),
    "tuple": lambda e: bs.slice(X, (Raising("__index__", e),)),
    "shape": lambda e: bs.slice_grad(X, Raising("__index__", e), ":"),
    "list": lambda e: bs.strided_slice(X, [Raising("__index__", e)], [1], [1]),
    "mask": lambda e: bs.strided_slice(X, [0], [1], [1], Raising("__index__", e)),
    "onnx": lambda e: bs.onnx_slice(X, [0], (Raising("__index__", e),)),
    "threads": lambda e: bs.set_num_threads(Raising("__index__", e)),
    "dtype": lambda e: bs.GradBuffer((4,), RaisingExporter("dtype", e)),
    "restrict": lambda e: bs.Selection.from_index((4,), ":").restrict([(0, Raising("__index__", e))]),
}
ARRAY_CALLS = {
    "__array__": lambda e: bs.slice(RaisingArray("__array__", e), ":"),
    "list": lambda e: bs.strided_slice(X, RaisingArray("__array__", e), [1], [1]),
    "indices": lambda e: bs.sparse_slice(RaisingArray("__array__", e), X, [4], [0], [1]),
    "columns": lambda e: bs.sparse_slice((RaisingArray("__array__", e),), X, [4], [0], [1]),
    "__dlpack__": lambda e: bs.slice(RaisingExporter("__dlpack__", e), ":"),
    "__dlpack_device__": lambda e: bs.slice(RaisingExporter("__dlpack_device__", e), ":"),
    "many": lambda e: bs.multi_slice_grad((4,), [(":", RaisingExporter("__dlpack__", e))]),
    "buffer": lambda e: bs.GradBuffer((4,), float).add(":", RaisingExporter("__dlpack__", e)),
}
QUIET_CALLS = {  # an ordinary error here only means that the attribute is missing
    "dtype": lambda e: bs.slice(RaisingExporter("dtype", e), ":"),
    "attribute": lambda e: bs.slice(RaisingAttribute("attribute", e), ":"),
    "columns' attribute": lambda e: bs.sparse_slice((RaisingAttribute("attribute", e),), X, [4], [0], [1]),
    "repr": lambda e: bs.slice_grad(X, (4,), ":", accumulate=Raising("__repr__", e)),
}
EVERY_CALL = INDEX_CALLS | ARRAY_CALLS | QUIET_CALLS


@pytest.mark.parametrize("error", NOT_ORDINARY)
@pytest.mark.parametrize("call", EVERY_CALL.values(), ids=EVERY_CALL)
def test_what_is_no_ordinary_error_is_passed_on(call, error):
    raised = error("mine")
    with pytest.raises(error) as found:
        call(raised)
    assert found.value is raised


@pytest.mark.parametrize("call", (INDEX_CALLS | ARRAY_CALLS).values(), ids=INDEX_CALLS | ARRAY_CALLS)
def test_ordinary_errors_become_ours(call):
    with pytest.raises(bs.Error):
        call(ValueError("mine"))


def test_what_cannot_be_read_through_dlpack_is_read_as_an_array():
    class Both(RaisingExporter, RaisingArray):
        pass

    assert bs.slice(Both("__dlpack__", ValueError("mine")), ":2").tolist() == [0, 1]
    assert bs.slice(Both("__dlpack_device__", ValueError("mine")), ":2").tolist() == [0, 1]
    with pytest.raises(KeyboardInterrupt):
        bs.slice(Both("__dlpack__", KeyboardInterrupt()), ":2")


CHAINED = {name: call for name, call in INDEX_CALLS.items() if name not in ("shape", "dtype")}


@pytest.mark.parametrize("call", CHAINED.values(), ids=CHAINED)
def test_errors_of_index_are_the_cause_of_ours(call):
    raised = ValueError("mine")
    with pytest.raises(bs.DTypeError, match="__index__ failed: mine") as found:
        call(raised)
    assert found.value.__cause__ is raised
