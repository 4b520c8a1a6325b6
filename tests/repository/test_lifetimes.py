"""Code that would read freed memory does not compile: temporaries do not lend their memory."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GIVEN = """
#include <algorithm>
#include "backslice/backslice.h"
using namespace backslice;
Result<Tensor> made();
Result<GradBuffer> buffer();
Result<RaggedTensor> ragged();
Result<VariantArray> variants();
Result<Selection> selection();
Result<PreparedSlice> prepared();
Result<TensorArray> array();
const std::vector<float> memory();
float sum = 0;
"""
REFUSED = {
    "elements of a Result": "for (float v : made()->elements<float>().value()) sum += v;",
    "elements of a value": "for (float v : made().value().elements<float>().value()) sum += v;",
    "elements of a Result that was moved": "Result<Tensor> t = made(); (void)std::move(t)->elements<float>();",
    "shape of a Result": "for (auto extent : made()->shape()) sum += extent;",
    "a view": "ConstView v = made().value().view();",
    "a view to write": "View v = made().value();",
    "data": "const std::byte* p = made().value().data();",
    "data of a buffer": "std::byte* p = made().value().buffer().data();",
    "view of a GradBuffer": "ConstView v = buffer().value().view();",
    "writable view of a GradBuffer": "View v = buffer().value().writable();",
    "elements of ragged values": "auto e = ragged().value().values().elements<float>();",
    "batch": "const RaggedTensor* rt = variants().value().batch();",
    "element of variants": "const RaggedTensor* rt = variants().value().listed(0);",
    "piece of variants": "auto piece = variants().value().piece(0);",
    "extents": "const std::int64_t* p = selection().value().shape().data();",
    "iterators of extents": "auto p = std::max_element(made().value().shape().begin(), made().value().shape().end());",
    "axes": "auto p = selection().value().result_axes().begin();",
    "known extents": "auto p = PartialShape(*Shape::make({2})).dims().data();",
    "owner of a buffer": "auto* owner = made().value().buffer().release<void (*)(std::byte*)>();",
    "view of a const temporary": "auto v = ConstView::of(memory(), {2});",
    "indices from a temporary": "auto indices = CooIndices::from_matrix(made().value());",
    "broadcast of a temporary": "auto wide = broadcast(*Shape::make({2}), made().value());",
    "broadcast of a temporary in the old order": "auto wide = broadcast(made().value(), *Shape::make({2}));",
}
# What a temporary gives by value: a loop over it is right, and a reference to it lives as long as the name.
ALLOWED = {
    "elements": "Result<Tensor> t = made(); for (float v : t->elements<float>().value()) sum += v;",
    "shape": "for (auto extent : made().value().shape()) sum += extent;",
    "shape of a view": "Tensor t = made().value(); for (auto extent : t.view().shape()) sum += extent;",
    "result shape": "for (auto extent : selection().value().result_shape()) sum += extent;",
    "result axes": "for (auto axis : selection().value().result_axes()) sum += axis;",
    "regions": "for (const Selection& s : buffer().value().regions()) sum += s.shape().rank();",
    "splits": "for (const Tensor& t : ragged().value().nested_row_splits()) sum += t.shape().rank();",
    "layout": "const Layout& x = prepared().value().x(); sum += x.item_size;",
    "name": "for (char c : array().value().name()) sum += c;",
    "one axis": "const Selection::Axis& a = selection().value().axis(0); sum += a.step;",
    "a list as an argument": "sum += Shape::make({1, 2}).value().elements();",
    "message": "for (char c : made().status().message()) sum += c;",
    "argument": "for (char c : made().status().argument()) sum += c;",
    "a part of a span": "std::span<const std::int64_t> s; Ints part = s.subspan(1); sum += float(part.size());",
    "a part of a list": "Ints list; Ints part = list.subspan(1), copy = list; sum += float(part.size() + copy.size());",
    "a temporary as an argument": "Result<Tensor> y = slice(selection().value(), made().value());",
}
# What only clang sees, which warns where a result refers to a temporary.
WARNED = {
    "a view by conversion": "ConstView v = made().value(); sum += v.elements();",
    "a view in a struct": "SliceGradient g{selection().value(), made().value()}; sum += g.dy.elements();",
    "a list": "Ints list = {1, 2, 3}; sum += list[0];",
    "a list of extents": "Ints list = selection().value().shape(); sum += list[0];",
}


def compile_bodies(compiler: str, bodies: dict[str, str], *options: str) -> dict[str, str]:
    """The first error in each body; all of them are compiled at once."""
    first = GIVEN.count("\n") + 1
    source = GIVEN + "".join(f"void use{i}() {{ {body} }}\n" for i, body in enumerate(bodies.values()))
    compiled = subprocess.run(
        [compiler, "-std=c++20", "-fsyntax-only", "-ferror-limit=0" if "clang" in compiler else "-fmax-errors=0",
         "-I", ROOT / "include", *options, "-x", "c++", "-"],
        input=source, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    errors = re.findall(r"^<stdin>:(\d+):\d+: error: (.*)", compiled.stderr, flags=re.MULTILINE)
    found = {int(line): message for line, message in reversed(errors)}
    assert bool(found) == bool(compiled.returncode), compiled.stderr
    return {name: found[first + i] for i, name in enumerate(bodies) if first + i in found}


@pytest.fixture(params=["g++", "clang++"])
def compiler(request):
    if shutil.which(request.param) is None:
        pytest.skip(f"{request.param} is not here")
    return request.param


def test_temporaries_do_not_lend(compiler):
    assert REFUSED.keys() == compile_bodies(compiler, REFUSED).keys()


def test_what_lives_long_enough_compiles(compiler):
    assert compile_bodies(compiler, ALLOWED, "-Wall", "-Wextra", "-Werror") == {}


def test_clang_warns_of_what_it_cannot_refuse():
    if shutil.which("clang++") is None:
        pytest.skip("clang++ is not here")
    warned = compile_bodies("clang++", WARNED, "-Werror=dangling")
    assert WARNED.keys() == warned.keys() and all("-Wdangling" in message for message in warned.values())
