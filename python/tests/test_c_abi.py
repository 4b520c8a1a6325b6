"""Every function of the C interface, misused in every way that its declaration allows; and its manual page."""

import ctypes
import re
import threading

import numpy as np
import pytest
from c_interface import (
    FLOAT32,
    GETTERS,
    MAX_RANK,
    ROOT,
    CError,
    Handle,
    Parameter,
    functions,
    ints,
    load,
    new,
    structs,
    text,
    view,
    views,
)  # fmt: skip

INVALID = 3
FUNCTIONS = [function for function in functions().values() if function.name not in GETTERS]
OPTIONAL = {"context", "types", "options", "release", "user", "missing"}
HANDLES = ["buffer", "selection", "prepared_slice", "grad_buffer", "ragged", "variant_array", "tensor_array"]


@pytest.fixture(scope="module")
def handles():
    """Make one handle of each kind."""
    lib = load()
    selection = Handle(lib.backslice_selection_from_index, ints([4]), text(":"))
    values, splits = view(np.ones(4, "float32")), view(np.array([0, 1, 4]))
    ragged = Handle(lib.backslice_ragged_make, ctypes.byref(values), ctypes.byref(splits), 1, None, None, None)
    ragged.memory = values
    return {
        "selection": selection,
        "prepared_slice": Handle(lib.backslice_prepared_slice_make, selection, FLOAT32, 0),
        "buffer": Handle(lib.backslice_buffer_make, 8, 0, None),
        "grad_buffer": Handle(lib.backslice_grad_buffer_make, ints([4]), FLOAT32, 0, None),
        "ragged": ragged,
        "variant_array": Handle(lib.backslice_ragged_tensor_to_variant, ragged, 1),
        "tensor_array": Handle(lib.backslice_tensor_array_make, 4, FLOAT32, None, None),
    }


def kind_of(parameter: Parameter) -> str | None:
    """Return the kind of handle that a parameter takes."""
    found = re.fullmatch(r"(?:const )?backslice_(\w+)\*", parameter.type)
    return found[1] if found and found[1] in HANDLES else None


def struct_of(parameter: Parameter) -> str | None:
    """Return the struct, beginning with its size, that a parameter points to."""
    found = re.fullmatch(r"(?:const )?(backslice_\w+)\*", parameter.type)
    sized = found and kind_of(parameter) is None and hasattr(structs()[found[1]], "struct_size")
    return found[1].removeprefix("backslice_") if sized else None


def argument(parameter: Parameter, handles):
    """Return a valid argument."""
    if kind := kind_of(parameter):
        return handles[kind]
    if name := struct_of(parameter):
        return struct(name)
    if parameter.type.endswith("* const*"):
        kind = re.search(r"backslice_(\w+)\*", parameter.type)[1]
        return (ctypes.c_void_p * 1)(handles[kind]._as_parameter_)
    if "(*)" in parameter.type:
        return None
    if parameter.is_pointer:
        return (ctypes.c_int64 * (3 * MAX_RANK))()
    if parameter.type == "backslice_ints":
        return ints([4])
    if parameter.type == "backslice_string":
        return text(":")
    return FLOAT32 if parameter.name == "dtype" else 1


def struct(name: str):
    if name == "view":
        return view(np.ones(4, "float32"))
    made = new(name)
    if name == "coo_indices":
        made.memory = views([np.zeros((4, 1), "int64")])
        made.arrays, made.count = ctypes.addressof(made.memory), 1
    return made


def arguments(function, handles):
    return [argument(parameter, handles) for parameter in function.parameters]


def call(function, given):
    """Call it with structs by reference; raise if it refuses."""
    by_reference = [
        ctypes.byref(value) if parameter.is_pointer and isinstance(value, ctypes.Structure) else value
        for parameter, value in zip(function.parameters, given, strict=True)
    ]
    getattr(load(), function.name)(*by_reference)


def refusal(function, given) -> CError:
    with pytest.raises(CError) as caught:
        call(function, given)
    return caught.value


def parameters(choose):
    """Return all pairs of a function and the position of a chosen parameter."""
    return [
        pytest.param(function, i, id=f"{function.name}-{parameter.name}")
        for function in FUNCTIONS
        for i, parameter in enumerate(function.parameters)
        if choose(parameter)
    ]


@pytest.mark.parametrize(("function", "i"), parameters(lambda p: p.is_pointer and p.name not in OPTIONAL))
def test_null_is_refused_by_name(function, i, handles):
    given = arguments(function, handles)
    given[i] = None
    error = refusal(function, given)
    assert error.code == INVALID
    assert f"{function.parameters[i].name} is NULL" in str(error)


@pytest.mark.parametrize(("function", "i"), parameters(kind_of))
def test_handles_of_another_kind_are_refused(function, i, handles):
    right = kind_of(function.parameters[i])
    given = arguments(function, handles)
    for wrong in set(HANDLES) - {right}:
        given[i] = handles[wrong]
        error = refusal(function, given)
        assert error.code == INVALID
        assert f"{function.parameters[i].name} is a backslice_{wrong}, expected a backslice_{right}" in str(error)


@pytest.mark.parametrize(("function", "i"), parameters(struct_of))
def test_structs_of_another_size_are_refused(function, i, handles):
    name = struct_of(function.parameters[i])
    for size, reason in ((0, "was not initialised"), (8, "newer backslice"), (1 << 40, "was not initialised")):
        given = arguments(function, handles)
        given[i] = struct(name)
        given[i].struct_size = ctypes.sizeof(given[i]) + size if size else 0
        error = refusal(function, given)
        assert error.code == INVALID
        assert f"{function.parameters[i].name}" in str(error)
        assert "struct_size is" in str(error)
        assert reason in str(error)


@pytest.mark.parametrize(("function", "i"), parameters(lambda p: p.name.endswith("count") and not p.is_pointer))
@pytest.mark.parametrize("count", [-1, -(1 << 31)])
def test_negative_counts_are_refused(function, i, count, handles):
    given = arguments(function, handles)
    given[i] = count
    error = refusal(function, given)
    assert error.code == INVALID
    assert f"count is {count}" in str(error)


@pytest.mark.parametrize(("function", "i"), parameters(lambda p: p.type == "backslice_ints"))
@pytest.mark.parametrize(("data", "size"), [(None, 2), (8, -1), (8, (1 << 63) - 1)])
def test_lists_that_cannot_be_are_refused(function, i, data, size, handles):
    given = arguments(function, handles)
    given[i] = new("ints", data=data, size=size)
    error = refusal(function, given)
    assert error.code == INVALID
    assert function.parameters[i].name in str(error)


@pytest.mark.parametrize(("function", "i"), parameters(lambda p: p.name == "dtype" and not p.is_pointer))
@pytest.mark.parametrize("number", [-1, 37, 40, 255, 256, 1 << 30])
def test_unknown_numbers_of_element_types_are_refused(function, i, number, handles):
    given = arguments(function, handles)
    given[i] = number
    error = refusal(function, given)
    assert error.code == INVALID
    assert f"dtype is {number}" in str(error)
    assert load().backslice_last_error_is_about_dtype() == 1


def test_every_function_of_the_headers_is_exported():
    assert len(functions()) > 90
    for name in functions():
        assert hasattr(load(), name)


def test_each_thread_has_its_own_last_error():
    lib = load()
    selection = ctypes.c_void_p()
    with pytest.raises(CError, match="here"):
        lib.backslice_selection_from_index(ints([4]), text("here"), ctypes.byref(selection))
    seen = []
    thread = threading.Thread(target=lambda: seen.append(lib.backslice_last_error()))
    thread.start()
    thread.join()
    assert seen == [b""]
    assert b"here" in lib.backslice_last_error()


def test_messages_of_any_length_are_cut_between_characters():
    with pytest.raises(CError) as caught:
        load().backslice_selection_from_index(ints([4]), text("ü" * 5000), ctypes.byref(ctypes.c_void_p()))
    assert "ü" in str(caught.value)  # and it decodes


def test_the_manual_lists_every_function_and_no_other():
    page = (ROOT / "docs" / "c_abi.md").read_text()
    listed = re.findall(r"^\| `(backslice_\w+)` \|", page, re.MULTILINE)
    assert sorted(listed) == sorted(functions())
