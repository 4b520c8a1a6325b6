"""The extension module as users see it: signatures, help, docstrings, and errors for wrong calls."""

import copy
import doctest
import gc
import inspect
import pickle
import pydoc
import re
import subprocess
import sys
import types
from pathlib import Path

import backslice as bs
import numpy as np
import pytest
from backslice import _core
from backslice.suggestions import bind_call

BINDINGS = Path(__file__).parents[1] / "bindings"
# Without a GPU there is no DeviceArray.
CLASSES = [value for value in vars(_core).values() if isinstance(value, type) and value is not bs.DeviceArray]
FUNCTIONS = [value for name, value in vars(_core).items() if callable(value) and not isinstance(value, type)
             and name not in ("_strike_at", "_disarm")]  # fmt: skip
MEMBERS = [(c, name, value) for c in CLASSES for name, value in vars(c).items()
           if isinstance(value, types.MethodDescriptorType | types.GetSetDescriptorType | staticmethod)]  # fmt: skip
METHODS = [getattr(c, name) for c, name, value in MEMBERS if not isinstance(value, types.GetSetDescriptorType)]
CONSTRUCTED = [c for c in CLASSES if c.__text_signature__ is not None]


def name_of(value):
    return getattr(value, "__qualname__", str(value))


def is_public(value):
    return not any(part.startswith("_") for part in name_of(value).split("."))


def test_everything_is_there_to_be_tested():
    assert len(CLASSES) == 7 and len(FUNCTIONS) >= 25 and len(METHODS) >= 40 and len(CONSTRUCTED) == 5
    assert all(type(value).__module__ != "nanobind" for c in CLASSES for value in vars(c).values())


@pytest.mark.parametrize("value", [*FUNCTIONS, *METHODS, *CONSTRUCTED], ids=name_of)
def test_everything_that_can_be_called_has_a_signature(value):
    signature = inspect.signature(value)
    assert all(parameter.annotation is parameter.empty for parameter in signature.parameters.values())


def test_signatures_are_those_of_python_functions():
    assert str(inspect.signature(bs.slice_grad)) == "(dy, shape, index, out=None, accumulate=False, *, dtype=None)"
    assert str(inspect.signature(bs.onnx_slice)) == "(data, starts, ends, axes=None, steps=None, *, out=None)"
    assert str(inspect.signature(bs.GradBuffer)) == "(shape, dtype, *, device=None)"
    assert str(inspect.signature(bs.GradBuffer.write)) == "(self, /, index, dy)"
    assert str(inspect.signature(bs.GradBuffer((2,), "f4").write)) == "(index, dy)"
    assert str(inspect.signature(bs.RaggedTensor.from_row_lengths)) == "(values, *nested_row_lengths)"
    order = inspect.signature(bs.sparse_slice_grad).parameters["order"]
    assert order.kind is order.KEYWORD_ONLY and order.default == "in_order"


PUBLIC = [value for value in (*FUNCTIONS, *METHODS) if is_public(value)]


@pytest.mark.parametrize("value", PUBLIC, ids=name_of)
def test_docstrings_name_every_parameter(value):
    """Check NumPy's format: a summary on one line, then the sections that apply."""
    doc = inspect.getdoc(value)
    assert re.match(r"[A-Z].*\.$", doc.splitlines()[0]), doc
    sections = re.split(r"^(\w[\w ]+)\n-+$", doc, flags=re.MULTILINE)
    sections = dict(zip(sections[1::2], sections[2::2], strict=True))
    names = re.findall(r"^(\*?\w[\w, ]*?)(?: :.*)?$", sections.get("Parameters", ""), flags=re.MULTILINE)
    parameters = list(inspect.signature(value).parameters.values())
    expected = [p.name for p in parameters if p.name != "self"]
    assert [name.strip("* ") for group in names for name in group.split(",")] == expected or value.__name__ == "create"
    for raised in re.findall(r"^(\w+)$", sections.get("Raises", ""), flags=re.MULTILINE):
        assert issubclass(getattr(bs, raised), bs.Error)


@pytest.mark.parametrize("value", [*PUBLIC, *filter(is_public, CLASSES)], ids=name_of)
def test_examples_run(value):
    names = {"np": np, "bs": bs}
    test = doctest.DocTestParser().get_doctest(inspect.getdoc(value), names, name_of(value), None, None)
    runner = doctest.DocTestRunner(verbose=False)
    runner.run(test)
    assert runner.failures == 0
    internal = {"probe_memory", "exit_on_bus_error", "environment_problems"}
    has_none = value.__name__ in internal or name_of(value).startswith("PreparedSlice.")  # the class has them
    assert has_none or test.examples


@pytest.mark.parametrize(("kind", "name", "value"), MEMBERS, ids=lambda value: getattr(value, "__name__", ""))
def test_properties_have_docstrings(kind, name, value):
    if isinstance(value, types.GetSetDescriptorType) and not name.startswith("_"):
        assert value.__doc__.endswith(".") and value.__objclass__ is kind
        with pytest.raises(AttributeError):
            setattr(kind.__new__(kind), name, 1)


def test_help_reads_well():
    text = pydoc.plain(pydoc.render_doc(bs.slice_grad))
    assert "slice_grad(dy, shape, index, out=None, accumulate=False, *, dtype=None)" in text and "Parameters\n" in text
    assert "in module backslice\n" in text and "nanobind" not in text
    text = pydoc.plain(pydoc.render_doc(bs.GradBuffer))
    assert "class GradBuffer(builtins.object)\n |  GradBuffer(shape, dtype, *, device=None)" in text
    assert "write(self, /, index, dy)" in text and "The gradient, as a read-only view" in text


def test_public_names_belong_to_the_package():
    for value in map(vars(bs).get, bs.__all__):
        if value in CLASSES or value in FUNCTIONS:
            assert value.__module__ == "backslice"


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_functions_are_pickled_by_name(protocol):
    for value in (*FUNCTIONS, *CLASSES):
        assert pickle.loads(pickle.dumps(value, protocol)) is value and copy.deepcopy(value) is value
    if protocol >= 4:  # with qualified names
        for value in METHODS:
            assert pickle.loads(pickle.dumps(value, protocol)) == value


def refusal(call, *arguments, **keywords):
    with pytest.raises(TypeError) as caught:
        call(*arguments, **keywords)
    assert type(caught.value) is TypeError
    return str(caught.value)


@pytest.mark.parametrize("value", [*FUNCTIONS, *CONSTRUCTED, *METHODS], ids=name_of)
def test_wrong_calls_are_told_what_python_functions_tell(value):
    name = f"{name_of(value)}()"
    signature = inspect.signature(value)
    made = made_of(value)
    parameters = [p for p in signature.parameters.values() if p.name != "self"]
    by_position = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    required = [p for p in by_position if p.default in (p.empty, ...)]  # three dots: see below
    collects = any(p.kind is p.VAR_POSITIONAL for p in parameters)

    valid = [None] * len(required)
    if not any(p.kind is p.VAR_KEYWORD for p in parameters):
        unexpected = refusal(value, *made, *valid, nonsense=1)
        assert unexpected.startswith(f"{name} got an unexpected keyword argument 'nonsense'")
    if required:
        assert refusal(value, *made).startswith(f"{name} missing {len(required)} required positional argument")
        assert f"'{required[-1].name}'" in refusal(value, *made, *valid[1:])
        twice = {required[0].name: None}
        assert refusal(value, *made, *valid, **twice) == f"{name} got multiple values for argument '{required[0].name}'"
    if not collects:
        given = len(by_position) + 1
        were = "was" if given == 1 else "were"
        assert f"but {given} {were} given" in refusal(value, *made, *[None] * given)


def made_of(value):
    """Return what an unbound method needs first."""
    instances = {
        bs.Selection: lambda: bs.Selection.from_index((4,), ":"),
        bs.PreparedSlice: lambda: bs.Selection.from_index((4,), ":").prepare("f4"),
        bs.GradBuffer: lambda: bs.GradBuffer((4,), "f4"),
        bs.TensorArray: lambda: bs.TensorArray(2, "f4"),
        bs._core.TensorArrayContainer: bs._core.TensorArrayContainer,
        bs.RaggedTensor: lambda: bs.RaggedTensor([1.0], [0, 1]),
        bs.VariantArray: lambda: bs.VariantArray([None]),
    }
    kind = getattr(value, "__objclass__", None)
    if kind is None:
        return []
    return [kind.__new__(kind)] if value.__name__ == "__setstate__" else [instances[kind]()]


NOTHING_TAKES = [object(), None, 1.5, "\ud800", b"x", [[1], [2, 3]], {}, np.ones((1, 1, 1), "M8[s]"), lambda: 0]


@pytest.mark.parametrize("value", [*FUNCTIONS, *CONSTRUCTED, *METHODS], ids=name_of)
def test_wrong_kinds_of_arguments_never_show_cpp(value):
    """For any arguments, the error names them and no C++ types."""
    count = sum(p.kind is p.POSITIONAL_OR_KEYWORD for p in inspect.signature(value).parameters.values())
    for wrong in NOTHING_TAKES:
        made = made_of(value)
        try:
            value(*made, *[wrong] * count)
        except Exception as error:
            assert "incompatible function arguments" not in str(error) and "std::" not in str(error)


@pytest.mark.parametrize("value", METHODS, ids=name_of)
def test_methods_of_other_objects_are_refused(value):
    if hasattr(value, "__objclass__"):
        assert "doesn't apply to a 'int' object" in refusal(value, 1)
        assert "needs an argument" in refusal(value)


@pytest.mark.parametrize(
    ("keyword", "told"),
    [
        ("acumulate", "did you mean 'accumulate'?"),
        ("axis", "its parameters are dy, shape, index, out, accumulate and dtype"),
        ("", "its parameters are dy, shape, index, out, accumulate and dtype"),
        ("\ud800", "its parameters are dy, shape, index, out, accumulate and dtype"),
        ("x\0y" * 1000, "its parameters are dy, shape, index, out, accumulate and dtype"),
    ],
)
def test_a_wrong_keyword_is_named_with_the_nearest_right_one(keyword, told):
    text = refusal(bs.slice_grad, [1.0], (2,), "0:1", **{keyword: None})
    assert text.startswith("slice_grad() got an unexpected keyword argument '") and text.endswith(f"; {told}")
    assert len(text) < 700 and str(text).encode()


def test_keywords_need_not_be_interned():
    keyword = "".join(["ind", "ex"])
    assert bs.slice([1.0, 2.0], **{keyword: 1}) == 2.0

    class Str(str):
        __slots__ = ()

        def __eq__(self, other):
            raise RuntimeError

        __hash__ = str.__hash__

    assert bs.slice([1.0, 2.0], **{Str("index"): 1}) == 2.0


def test_all_missing_arguments_are_named():
    told = "strided_slice_grad() missing {} required positional arguments: {}"
    assert refusal(bs.strided_slice_grad) == told.format(4, "'shape', 'begin', 'end' and 'dy'")
    assert refusal(bs.strided_slice_grad, [4], end=[3], out=None) == told.format(2, "'begin' and 'dy'")
    assert refusal(bs.slice) == "slice() missing 2 required positional arguments: 'x' and 'index'"


def test_too_many_arguments_are_told_what_goes_by_keyword():
    assert refusal(bs.slice, 1, 2, 3, 4) == "slice() takes from 2 to 3 positional arguments but 4 were given"
    assert refusal(bs.onnx_slice_grad, *range(7)) == (
        "onnx_slice_grad() takes from 4 to 6 positional arguments but 7 were given; pass out and accumulate by keyword"
    )


def test_classes_without_a_constructor_say_what_makes_them():
    use = "Selection.from_index, Selection.from_tf, Selection.from_onnx or Selection.from_begin_size"
    assert refusal(bs.Selection, (4,)) == f"Selection has no constructor; use {use}"
    assert refusal(bs.PreparedSlice) == "PreparedSlice has no constructor; use Selection.prepare"


@pytest.mark.parametrize(("kind", "name", "value"), MEMBERS, ids=lambda value: getattr(value, "__name__", ""))
def test_what_was_never_initialised_is_refused(kind, name, value):
    empty = kind.__new__(kind)
    if name == "__setstate__" or isinstance(value, staticmethod):
        return
    text = refusal(value.__get__, empty) if isinstance(value, types.GetSetDescriptorType) else refusal(value, empty)
    assert f"this {kind.__name__} was never initialised" in text


def test_objects_are_initialised_once():
    buffer = bs.GradBuffer((2,), "f4")
    assert refusal(buffer.__init__, (3,), "f4") == "GradBuffer.__init__(): this GradBuffer is already initialised"
    selection = bs.Selection.from_index((4,), ":")
    assert "already initialised" in refusal(selection.__setstate__, ((4,), "0"))
    assert buffer.shape == (2,) and selection.result_shape == (4,)


def test_subclasses_call_the_constructor():
    class Named(bs.GradBuffer):
        def __init__(self, name, **keywords):
            super().__init__((2,), **keywords)
            self.name = name

    assert Named("w", dtype="f4").dtype == np.float32
    assert "GradBuffer() got an unexpected keyword argument 'dtyp'" in refusal(Named, "w", dtyp="f4")
    assert str(inspect.signature(Named)) == "(name, **keywords)"

    class Same(bs.GradBuffer):
        pass

    assert Same((2,), dtype="f4").shape == (2,) and str(inspect.signature(Same)) == "(shape, dtype, *, device=None)"
    assert "GradBuffer() missing 1 required positional argument: 'dtype'" in refusal(Same, (2,))


def rows_of(tmp_path, stub):
    """Return the table that the build makes of a stub, without its line breaks."""
    (tmp_path / "stub.pyi").write_text(stub)
    command = [sys.executable, BINDINGS / "generate_signatures.py", tmp_path / "table.h", tmp_path / "stub.pyi"]
    run = subprocess.run(command, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return " ".join((tmp_path / "table.h").read_text().split())


def bindings_of(rows):
    """Return the function, the names, the defaults and the number by position of everything in the table."""
    return [eval(code, {"bind_call": bind_call}) for code in re.findall(r'R"doc\((\(lambda.*?)\)doc"', rows)]


def test_the_table_has_what_the_stub_says(tmp_path):
    rows = rows_of(
        tmp_path,
        "def f(a: int, b: str | None = None, *c: int, d: bool = True, **e: Any) -> int:\n    'Doc.'\n"
        "class C:\n    def m(self, a: int, *, b: int = 2, c: str) -> int: ...",
    )
    assert 'R"doc(f(a, b=None, *c, d=True, **e) -- Doc.)doc"' in rows
    (f, *parameters), (m, *of_method) = bindings_of(rows)
    assert f(1, 2, 3, d=4, e=5) == (1, 2, (3,), 4, {"e": 5})
    assert parameters == [("a", "b", "c", "d", "e"), (..., None, ..., True, ...), -1]
    assert m(1, c="3") == (1, 2, "3") and of_method == [("a", "b", "c"), (..., 2, ...), 1]
    assert refusal(m, 1, d=3) == "C.m() got an unexpected keyword argument 'd'; its parameters are a, b and c"


def test_three_dots_in_the_stub_are_no_default(tmp_path):
    """A required parameter after an optional one."""
    (binding,) = bindings_of(rows_of(tmp_path, "def f(a: int = 0, b: int = ...) -> int: ..."))
    assert binding[1:] == (("a", "b"), (0, ...), 2)
    missing = "strided_slice_grad() missing 1 required positional argument: 'dy'"
    assert refusal(bs.strided_slice_grad, [4], [1], [3]) == missing


def test_arguments_are_let_go():
    lengths = [2, 1]
    before = sys.getrefcount(lengths)
    for _ in range(10):
        bs.RaggedTensor.from_row_lengths([1, 2, 3], lengths)
        refusal(bs.RaggedTensor.from_row_lengths, lengths, lengths, value=1)
    gc.collect()  # drops tracebacks
    assert sys.getrefcount(lengths) == before
