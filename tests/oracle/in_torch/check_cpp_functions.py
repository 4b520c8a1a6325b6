"""Autograd functions written in C++, which read the memory of their gradients: compiled here, against this PyTorch."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import backslice.torch as bt
import pytest
import torch
from compare import leaf, same_both_ways, slices_of
from torch.utils import cpp_extension

SOURCE = """
#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/function.h>
#include <torch/library.h>

using torch::autograd::AutogradContext;

struct Tripled : torch::autograd::Function<Tripled> {
  static at::Tensor forward(AutogradContext*, const at::Tensor& x) { return x * 3; }
  static torch::autograd::variable_list backward(AutogradContext*, torch::autograd::variable_list dys) {
    at::Tensor dx = at::empty(dys[0].sizes(), at::TensorOptions().dtype(at::kDouble));
    const double* from = dys[0].const_data_ptr<double>();
    double* to = dx.mutable_data_ptr<double>();
    for (int64_t i = 0; i < dx.numel(); ++i) to[i] = from[i] * 3;
    return {dx};
  }
};

// Whose gradients are those of slices, made by PyTorch's ops: the first goes to one tensor, the second to another.
struct Rows : torch::autograd::Function<Rows> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& a, const at::Tensor& b) {
    context->saved_data["shape"] = a.sizes().vec();
    return a.select(0, 0) * 2 + b.select(0, 1) * 3;
  }
  static torch::autograd::variable_list backward(AutogradContext* context, torch::autograd::variable_list dys) {
    const auto shape = context->saved_data["shape"].toIntVector();
    return {at::select_backward(dys[0] * 2, shape, 0, 0), at::select_backward(dys[0] * 3, shape, 0, 1)};
  }
};

// A hook on the node of a slice, which nobody in Python sees. It keeps copies of the gradients, and changes them.
std::vector<at::Tensor> seen;

struct Hook : torch::autograd::FunctionPostHook {
  bool memory;
  explicit Hook(bool memory) : memory(memory) {}
  torch::autograd::variable_list operator()(const torch::autograd::variable_list& dxs,
                                            const torch::autograd::variable_list&) override {
    if (memory) dxs[0].const_data_ptr<double>();
    seen.push_back(dxs[0].clone());
    at::Tensor dx = dxs[0];
    dx.mul_(2);
    return dxs;
  }
};

TORCH_LIBRARY(backslice_test, m) {
  m.def("hooked(Tensor(a) y, bool memory) -> Tensor(a)", [](const at::Tensor& y, bool memory) {
    y.grad_fn()->add_post_hook(std::make_unique<Hook>(memory));
    return y;
  });
  m.def("seen() -> Tensor[]", []() { return std::exchange(seen, {}); });
  m.def("tripled(Tensor x) -> Tensor", [](const at::Tensor& x) { return Tripled::apply(x); });
  m.def("rows(Tensor a, Tensor b) -> Tensor",
        [](const at::Tensor& a, const at::Tensor& b) { return Rows::apply(a, b); });
}
"""


@pytest.fixture(scope="module")
def tripled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Any], Any]:
    folder: Path = tmp_path_factory.mktemp("cpp")
    (folder / "tripled.cc").write_text(SOURCE)
    cache = ["ccache"] if shutil.which("ccache") else []
    includes = [f"-I{path}" for path in cpp_extension.include_paths()]
    abi = f"-D_GLIBCXX_USE_CXX11_ABI={int(torch.compiled_with_cxx11_abi())}"
    # The file has the same name wherever it is, so that a cache of the compiler's finds it again.
    compiled = [*cache, "c++", "-std=c++20", "-O0", "-fPIC", abi, *includes, "-c", "tripled.cc", "-o", "tripled.o"]
    subprocess.run(compiled, check=True, cwd=folder)
    libraries = [*(f"-L{path}" for path in cpp_extension.library_paths()), "-lc10", "-ltorch_cpu"]
    subprocess.run(["c++", "-shared", "tripled.o", "-o", "tripled.so", *libraries], check=True, cwd=folder)
    torch.ops.load_library(str(folder / "tripled.so"))
    return torch.ops.backslice_test.tripled


BETWEEN: dict[str, Callable[[Any, Any], Any]] = {
    "nothing": lambda y, x: y,
    "a sum": lambda y, x: y + 1,
    "two sums and a slice": lambda y, x: ((y + x) + x.detach())[1:],
    "a copy": lambda y, x: y.clone(),
    "a product that is added": lambda y, x: torch.addcmul(y, x, x),
    "a matrix product that is added": lambda y, x: torch.baddbmm(y, x, torch.eye(3, dtype=x.dtype).expand(4, 3, 3)),
}


@pytest.mark.parametrize("between", BETWEEN)
def test_functions_that_read_memory_have_equal_gradients(between: str, tripled: Any) -> None:
    def run() -> Any:
        x = leaf(4, 7, 3)
        loss = slices_of(BETWEEN[between](tripled(x), x))
        loss.backward(retain_graph=True)
        loss.backward()
        return x.grad, torch.autograd.grad(slices_of(tripled(x) * 2), x)[0]

    same_both_ways(run)


def test_functions_that_call_the_ops_of_slices(tripled: Any) -> None:
    def run() -> Any:
        a, b = leaf(4, 7, 3), leaf(4, 7, 3)
        for _ in range(3):
            torch.ops.backslice_test.rows(a, b).sum().backward()
        return a.grad, b.grad

    same_both_ways(run, is_taken=False)  # only PyTorch's own nodes are


def test_hooks_on_the_nodes_of_slices(tripled: Any) -> None:
    def run(memory: bool = False) -> Any:
        x = leaf(4, 7, 3)
        y = x * 1
        for part in [y[:, t] for t in range(7)]:
            torch.ops.backslice_test.hooked(part, memory)
            (part * part).sum().backward(retain_graph=True)
        parts = [torch.ops.backslice_test.hooked(y[:, t], memory) for t in range(7)]
        (torch.cat(parts).square().sum() + (y * y).sum()).backward()
        return x.grad, torch.ops.backslice_test.seen()

    same_both_ways(run)
    with bt.enabled(), pytest.raises(RuntimeError, match="not allocated"):  # an error, never a value
        run(memory=True)
    torch.ops.backslice_test.seen()


def test_functions_are_left_without_hooks(tripled: Any, installed: None) -> None:
    y = tripled(leaf(4, 7, 3))
    slices_of(y).backward(retain_graph=True)
    slices_of(y).backward()
    assert y.grad_fn is not None and not y._backward_hooks
