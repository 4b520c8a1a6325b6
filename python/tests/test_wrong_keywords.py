"""Errors for wrong keywords name the nearest right one, in Python functions as in the extension."""

import importlib
import inspect
import pickle
import types

import backslice as bs
import pytest
from backslice.dialects import Spec
from backslice.picture import Limits
from backslice.ragged import from_list

MODULES = [
    "backslice",
    *(
        f"backslice.{name}"
        for name in ("arrow", "awkward", "dask", "dialects", "onnx", "onnxruntime", "picture", "ragged", "scipy")
    ),
]


def functions_of(module):
    """Return its public functions, defined here or in a module below it."""
    members = vars(importlib.import_module(module))
    return [value for name, value in members.items()
            if isinstance(value, types.FunctionType) and name in members.get("__all__", [name]) and name[0] != "_"
            and (module == "backslice" or value.__module__.startswith(module))]  # fmt: skip


FUNCTIONS = [function for module in MODULES for function in functions_of(module)]


def parameters_of(function):
    return [p.name for p in inspect.signature(function).parameters.values() if p.kind is not p.VAR_POSITIONAL]


def test_functions_of_every_module_are_found():
    names = {function.__name__ for function in FUNCTIONS}
    assert {
        "unsupported_reasons",
        "from_list",
        "from_arrow",
        "from_awkward",
        "sparse_slice_grad",
        "slice_nodes",
        "to_dlpack",
        "get_include",
    } <= names


@pytest.mark.parametrize("function", [f for f in FUNCTIONS if parameters_of(f)], ids=lambda f: f.__qualname__)
def test_a_wrong_keyword_gets_the_nearest_right_one(function):
    for name in parameters_of(function):
        with pytest.raises(TypeError) as error:
            function(**{f"{name}{name[-1]}": 1})
        head = f"{function.__name__}() got an unexpected keyword argument '{name}{name[-1]}'; "
        assert str(error.value).startswith(head)
        assert str(error.value).removeprefix(head) in (f"did you mean '{name}'?", "its parameter is a")


def test_a_keyword_that_is_near_none_gets_them_all():
    with pytest.raises(TypeError, match=r"from_list\(\) got .* 'xyz'; its parameters are rows, dtype and ragged_rank$"):
        from_list(xyz=1)
    with pytest.raises(TypeError, match=r"get_include\(\) got an unexpected keyword argument 'xyz'; it takes none$"):
        bs.get_include(xyz=1)


def test_help_shows_the_function_itself():
    assert str(inspect.signature(bs.to_dlpack)).startswith("(a") and "DLPack" in bs.to_dlpack.__doc__


def test_methods_and_constructors_are_called_as_users_call_them():
    spec = Spec("python", arguments={"index": "1:3"})
    assert spec.selection(shape=(4,)).result_shape == (2,)
    with pytest.raises(TypeError, match=r"^Spec\.selection\(\) got .* 'shap'; did you mean 'shape'\?$"):
        spec.selection(shap=(4,))
    with pytest.raises(TypeError, match=r"^Spec\(\) got .* 'dialekt'; did you mean 'dialect'\?$"):
        Spec(dialekt="python")
    with pytest.raises(TypeError, match=r"^Limits\(\) got an unexpected keyword argument"):
        Limits(wide=3)
    assert list(inspect.signature(Spec).parameters) == ["dialect", "arguments", "text"]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__qualname__)
def test_functions_can_be_pickled(function):
    assert pickle.loads(pickle.dumps(function)) is function
