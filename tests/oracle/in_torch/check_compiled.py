"""Graphs of torch.compile with slices fused: equal to eager code, taken where proved, left elsewhere."""

import os
import random
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import backslice.torch as bt
import pytest
import torch
from backslice.torch import counting
from backslice.torch.compiled import calls, products, sums, writes
from check_models import MODELS
from compiled import backend, decompositions, loop, recurrence, run_nodes, traced
from functorch.compile import aot_function, min_cut_rematerialization_partition
from programs import gradient, program, tensor

CASES = int(os.environ.get("BACKSLICE_ORACLE_CASES", "600")) // 10
CAT = torch.ops.aten.cat.default
ROW = "multi_slice_grad", "compiled"


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums of few slices are fused too, and nothing compiled is kept."""
    monkeypatch.setattr(sums, "FEWEST", 1)
    monkeypatch.setattr(calls, "SMALL", 0)
    torch._dynamo.reset()


def x_of(*shape: int, dtype: torch.dtype = torch.float64) -> Any:
    generator = torch.Generator().manual_seed(0)
    return torch.randint(-3, 4, shape, generator=generator).to(dtype).requires_grad_()


def same_as_eager(function: Callable[[Any], Any], x: Any, compiled: Any = None, taken: int | None = None) -> None:
    """The gradient is equal, and so many slices were fused, or some."""
    expected = gradient(function, x)
    for decomposed in (True, False):
        counting.reset()
        assert torch.equal(gradient((compiled or traced)(function, decomposed), x), expected)
        found = bt.status()[ROW].taken
        assert found > 0 if taken is None else found == taken


def weighted(parts: Any) -> Any:
    return sum((part * part * (t + 1)).sum() for t, part in enumerate(parts))


FUNCTIONS = {
    "steps": lambda x: weighted(x[:, t] for t in range(9)),
    "rows": lambda x: weighted(x[t] for t in range(5)),
    "windows that overlap": lambda x: weighted(x[:, t : t + 4] for t in range(6)),
    "steps of two and three": lambda x: weighted([x[:, ::2], x[:, 1::3], x[..., ::2]]),
    "negative bounds": lambda x: weighted([x[-2:], x[:, -5:-1], x[..., -1]]),
    "slices of slices": lambda x: weighted(x[1:4, t : t + 3][:, 1, ::2] for t in range(6)),
    "transposed": lambda x: weighted(x.transpose(0, 1)[t, 1:3] for t in range(9)),
    "permuted": lambda x: weighted(x.permute(2, 0, 1)[:, 1:3, t].t() for t in range(9)),
    "unsqueezed and squeezed": lambda x: weighted(x[:, t : t + 1].squeeze(1).unsqueeze(0) for t in range(9)),
    "beside other uses": lambda x: weighted(x[:, t] for t in range(9)) + (x**3).sum(),
    "between other uses": lambda x: (x**3).sum() + x[:, 1].sum() + (x * 2).sum() + x[:, 1].sum() + x.sum(),
    "turned around": lambda x: weighted(x.flip(1)[:, t] for t in range(9)),
    "padded": lambda x: weighted([torch.nn.functional.pad(x, (0, 0, -1, -2)), x[:, 2], x[0]]),
    "strided": lambda x: weighted([x.as_strided((5, 4), (36, 1), 8), x.as_strided((4,), (1,), 40), x[1]]),
    "halves": lambda x: weighted([*x.split(2), *x.tensor_split(3, 1), *x.chunk(2, 2)]),
    "all of it": lambda x: weighted([x[:], x[:, :], x[0:], x[:, 1]]),
}


def in_a_loop(x: Any, out: Any, width: int = 1) -> Any:
    h = x[:, 0] * 0
    for t in range(9):
        h = (x[:, t] - h).relu()
        out[:, t : t + width] = h.unsqueeze(1)
    return out


WRITES = {
    "into zeros": lambda x: (in_a_loop(x, torch.zeros(5, 9, 4, dtype=x.dtype)) ** 2).sum(),
    "over something": lambda x: (in_a_loop(x, x * 1) ** 2).sum(),
    "that overlap": lambda x: (in_a_loop(x, x * 1, 3) ** 2).sum(),
    "of parts": lambda x: (parts_written(x) ** 2).sum(),
    "broadcast and cast": lambda x: (cast_writes(x) ** 2).sum(),
    "read back": lambda x: (read_back(x) ** 2).sum(),
    "of two loops": lambda x: (in_a_loop(in_a_loop(x, x * 1, 2), x * 2) ** 2).sum(),
    "used in between": lambda x: sum((y * y).sum() for y in versions_of(x)),
}


def parts_written(x: Any) -> Any:
    out = torch.zeros_like(x)
    for t in range(9):
        out[:, t, 1:3] = x[:, t, :2] * 2
        out[1:4, t, 3] = x[1:4, t, 0] * 3
    return out


def cast_writes(x: Any) -> Any:
    out = torch.zeros(5, 9, 4, dtype=torch.float32)
    for t in range(9):
        out[:, t] = x[0, t] * 2
    return out.double()


def read_back(x: Any) -> Any:
    out = x.clone()
    for t in range(1, 9):
        out[:, t] = (out[:, t - 1] * 2 + x[:, t]).remainder(5)
    return out


def versions_of(x: Any) -> Any:
    out = x.clone()
    for t in range(9):
        out[:, t] = x[:, 8 - t] * 2
        if t % 4 == 1:
            yield out.clone()
    yield out


@pytest.mark.parametrize("name", WRITES)
def test_chains_of_writes(name: str) -> None:
    x = x_of(5, 9, 4)
    same_as_eager(WRITES[name], x if name != "that overlap" else x_of(5, 11, 4))


def test_a_loop_of_writes_is_one_call_forward_and_slices_backward() -> None:
    counting.reset()
    graphs: list[Any] = []

    def keep(joint: Any, inputs: Any, **options: Any) -> Any:
        graphs.append(bt.fuse_graph(joint))
        return min_cut_rematerialization_partition(joint, inputs, **options)

    for name in ("into zeros", "over something"):
        for is_decomposed in (True, False):
            table = decompositions(is_decomposed)
            gradient(aot_function(WRITES[name], run_nodes, run_nodes, keep, decompositions=table), x_of(5, 9, 4))
    for graph in graphs:
        assert not any("scatter" in str(node.target) for node in graph.graph.nodes)


class Recurrent(torch.nn.Module):
    """Loops over products of the steps of x, with weights that are integers."""

    def __init__(self, loop: Callable[[Any, Any, Any], Any]) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(1)
        for name, shape in {"w": (4, 4), "u": (4, 4), "bias": (4,), "v": (8, 4)}.items():
            weight = torch.randint(-2, 3, shape, generator=generator).double()
            self.register_parameter(name, torch.nn.Parameter(weight))
        self.loop = loop

    def forward(self, x: Any) -> Any:
        h, out = x.new_zeros(5, 4), torch.zeros_like(x)
        for t in range(9):
            h = (self.loop(self, x, t) - h).relu().remainder(5)
            out[:, t] = h
        return (out * out).sum()


def heads(m: Any, x: Any, t: int) -> Any:
    """A linear layer whose result is split."""
    left, right = torch.nn.functional.linear(x[:, t], m.v).chunk(2, 1)
    return left * 2 - right


def gates(m: Any, x: Any, t: int) -> Any:
    step = x[:, t]
    return step @ m.w * 2 - step @ m.u + step @ m.w.t()


LOOPS: dict[str, tuple[Callable[[Any, Any, Any], Any], int]] = {  # and how many products remain, of three per step
    "a product": (lambda m, x, t: x[:, t] @ m.w, 3),
    "with a bias": (lambda m, x, t: torch.addmm(m.bias, x[:, t], m.w), 3),
    "of a linear layer": (heads, 3),
    "three products": (gates, 9),
    "as another shape": (lambda m, x, t: (x[:, t] @ m.w).view(4, 5).view(5, 4), 11),
    "of other tensors": (lambda m, x, t: (x[:, t] * 2) @ m.w, 27),
    "of few steps": (lambda m, x, t: x[:, t % 3] @ m.w, 27),
}


def test_the_gradient_reads_steps_where_they_were_written() -> None:
    """So that they are neither kept nor recomputed, except those that it reads with another shape."""

    def loop_(x: Any) -> Any:
        h, out, total = x[:, 0] * 0, torch.zeros_like(x), 0.0
        for t in range(9):
            h = (x[:, t] * h + 1).remainder(5)
            out[:, t] = h
            total = total + (h.view(-1) ** 2).sum() if t == 4 else total
        return total + (out * out).sum()

    graphs: list[Any] = []

    def keep(joint: Any, inputs: Any, **options: Any) -> Any:
        graphs.append(bt.fuse_graph(joint))
        return min_cut_rematerialization_partition(joint, inputs, **options)

    function = aot_function(loop_, run_nodes, run_nodes, keep, decompositions=decompositions(True))
    x = x_of(5, 9, 4)
    assert torch.equal(gradient(function, x), gradient(loop_, x))
    (joint,) = graphs
    (out,) = [node for node in joint.graph.nodes if node.target is CAT and node.name == "cat_default"]
    assert sum(user.target is torch.ops.aten.select.int for user in out.users) >= 8


@pytest.mark.parametrize("name", LOOPS)
def test_products_of_steps(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    step, expected = LOOPS[name]
    counts: list[int] = []
    plain = products.fuse_products

    def count(graph: Any) -> int:
        taken = plain(graph)
        counts.append(sum(node.target in products.PRODUCTS for node in graph.nodes))
        return taken

    module, x = Recurrent(step), x_of(5, 9, 4)
    monkeypatch.setattr(products, "fuse_products", count)
    monkeypatch.setattr(sums, "FEWEST", 8)
    torch.compile(module, backend=backend(), fullgraph=True)(x).backward()
    found = [parameter.grad for parameter in (x, *module.parameters())]
    for parameter in (x, *module.parameters()):
        parameter.grad = None
    module(x).backward()
    for own, other in zip(found, (x, *module.parameters()), strict=True):
        assert (own is None and other.grad is None) or torch.equal(own, other.grad)
    assert counts == [expected]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_equal(name: str) -> None:
    same_as_eager(FUNCTIONS[name], x_of(5, 9, 4))


def test_every_slice_of_a_loop_is_taken_once() -> None:
    same_as_eager(FUNCTIONS["steps"], x_of(5, 9, 4), taken=9)
    same_as_eager(FUNCTIONS["slices of slices"], x_of(5, 9, 4), taken=6)


@pytest.mark.parametrize("name", ["steps", "slices of slices", "windows that overlap"])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2)])
def test_memory_formats(name: str, order: tuple[int, ...]) -> None:
    """The gradient of a tensor whose axes lie in another order has that order."""
    x = x_of(5, 9, 4).detach().permute(order).contiguous().permute([order.index(axis) for axis in range(3)])
    same_as_eager(FUNCTIONS[name], x.requires_grad_())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16, torch.complex64, torch.complex128])
def test_dtypes(dtype: torch.dtype) -> None:
    x = x_of(5, 9, 4, dtype=dtype)
    same_as_eager(lambda x: weighted(x[:, t] for t in range(9)).real.float(), x)


def test_the_order_of_additions_is_that_of_the_graph() -> None:
    """If three slices overlap, rounding distinguishes the orders."""
    x = torch.zeros(4, dtype=torch.float64, requires_grad=True)
    weights = [1e16, 1.0, -1e16, 1.0, 1e16, -1e16, 3.0]

    def function(x: Any) -> Any:
        return sum((x[t % 2 : 3 + t % 2] * w).sum() for t, w in enumerate(weights))

    same_as_eager(function, x, taken=len(weights))


def test_random_programs() -> None:
    for seed in range(CASES):
        rng = random.Random(seed)
        x = tensor(rng, tuple(rng.randrange(1, 7) for _ in range(rng.randrange(1, 5))))
        found = gradient(traced(program(seed), seed % 2 == 0), x)
        if not torch.equal(found, gradient(program(seed), x)):  # some take other steps where they are traced
            assert torch.equal(found, gradient(traced(program(seed), seed % 2 == 0, is_fused=False), x)), f"seed {seed}"
    assert bt.status()[ROW].taken > CASES


@pytest.mark.parametrize("made", [loop, recurrence])
def test_random_loops(made: Callable[[int], tuple[Callable[[Any], Any], tuple[int, ...]]]) -> None:
    for seed in range(CASES):
        function, shape = made(seed)
        x = tensor(random.Random(seed), shape)
        assert torch.equal(gradient(traced(function, seed % 2 == 0), x), gradient(function, x)), f"seed {seed}"
    assert bt.status()[ROW].taken > CASES


class UnrolledGru(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = torch.nn.GRUCell(6, 6)

    def forward(self, x: Any) -> Any:
        h, out = x[:, 0] * 0, torch.zeros_like(x)
        for t in range(x.shape[1]):
            h = self.cell(x[:, t], h)
            out[:, t] = h
        return out


class SelectiveScan(torch.nn.Module):
    """A state space model, step by step, as without its own kernels."""

    def forward(self, x: Any) -> Any:
        decay, inputs = x.sigmoid()[..., None] * torch.ones(3, dtype=x.dtype), x[..., None].tanh().expand(*x.shape, 3)
        state, outputs = torch.zeros_like(decay[:, 0]), []
        for t in range(x.shape[1]):
            state = decay[:, t] * state + inputs[:, t]
            outputs.append(state @ x[:, t, :3].unsqueeze(-1))
        return torch.stack(outputs, 1)


class DeltaRule(torch.nn.Module):
    def forward(self, x: Any) -> Any:
        keys, values = x[..., :3], x[..., 3:]
        state, out = torch.zeros(x.shape[0], 3, 3, dtype=x.dtype), torch.zeros_like(values)
        for t in range(x.shape[1]):
            k, v = keys[:, t], values[:, t]
            delta = (v - (state * k.unsqueeze(-1)).sum(-2)) * 0.5
            state = state * 0.9 + k.unsqueeze(-1) * delta.unsqueeze(-2)
            out[:, t] = (state * k.unsqueeze(-1)).sum(-2)
        return out


RECURRENT: dict[str, tuple[Callable[[], torch.nn.Module], tuple[int, ...]]] = {
    "an unrolled GRU": (UnrolledGru, (5, 12, 6)),
    "a selective scan": (SelectiveScan, (5, 12, 6)),
    "a delta rule": (DeltaRule, (5, 12, 6)),
}


@pytest.mark.parametrize("model", [*MODELS, *RECURRENT])
def test_gradients_of_models(model: str) -> None:
    make, shape = (MODELS | RECURRENT)[model]
    torch.manual_seed(0)
    module = make().double()
    x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
    inputs = (x, *module.parameters())
    found = torch.autograd.grad((torch.compile(module, backend=backend())(x) ** 2).sum(), inputs)
    assert bt.status()[ROW].taken > 0
    for own, other in zip(found, torch.autograd.grad((module(x) ** 2).sum(), inputs), strict=True):
        torch.testing.assert_close(own, other, rtol=1e-12, atol=1e-12)


def test_outputs_are_tensors_of_their_own() -> None:
    """Also if a returned slice is a written value that is returned too."""

    def function(x: Any) -> Any:
        out, values = torch.zeros_like(x), [x[:, t] * 2 for t in range(9)]
        for t, value in enumerate(values):
            out[:, t] = value
        return [out, out[:, 3], *values]

    for run in (traced(function), torch.compile(function, backend=backend(), fullgraph=True)):
        x = x_of(5, 9, 4)
        results = run(x)
        for found, expected in zip(results, function(x), strict=True):
            assert torch.equal(found, expected)
        with torch.no_grad():
            results[5].add_(1)
        assert torch.equal(results[1], x[:, 3] * 2)


def test_symbols() -> None:
    """Symbolic shapes: slices with known bounds are fused, for every size."""

    def function(x: Any) -> Any:
        return weighted([x[:, 0], x[:, 1], x[:, 2], x[:, 1:], x[1:3, :]])

    compiled = torch.compile(function, backend=backend(), dynamic=True, fullgraph=True)
    for rows in (4, 5, 7):
        x = x_of(rows, rows + 3, 2)
        assert torch.equal(gradient(compiled, x), gradient(function, x))
    assert bt.status()[ROW].taken == 5


def test_bounds_that_cannot_be_ordered_are_left() -> None:
    def function(x: Any, y: Any) -> Any:
        n = int(y)
        return weighted([x.narrow(1, n, 2), x[:, 1]])

    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        compiled = torch.compile(function, backend=backend(), dynamic=True, fullgraph=True)
        for y in map(torch.tensor, (2, 3)):
            x = x_of(4, 9, 2)
            assert torch.equal(gradient(lambda x, y=y: compiled(x, y), x), gradient(lambda x, y=y: function(x, y), x))
    assert "cannot be ordered" in str(bt.status())


def test_dynamo_autocast_and_checkpoints() -> None:
    def step(h: Any, x: Any) -> Any:
        return torch.relu(x + h)

    def recurrent(x: Any) -> Any:
        h = torch.zeros(5, 4, dtype=x.dtype)
        for t in range(9):
            h = torch.utils.checkpoint.checkpoint(step, h, x[:, t], use_reentrant=False)
        return h.sum()

    def mixed(x: Any) -> Any:
        with torch.autocast("cpu", torch.bfloat16):
            return sum((x[:, t] @ x[:, t].t()).float().sum() for t in range(9))

    for function in (recurrent, mixed):
        torch._dynamo.reset()
        compiled = torch.compile(function, backend=backend(), fullgraph=True)
        x = x_of(5, 9, 4, dtype=torch.float32)
        assert torch.equal(gradient(compiled, x), gradient(function, x))
    assert bt.status()[ROW].taken >= 18


def test_mutation_and_aliasing() -> None:
    """An input that is changed in place, and outputs that are views of it."""

    def function(x: Any, buffer: Any) -> Any:
        total = weighted(x[:, t] for t in range(9))
        buffer.add_(total.detach())
        buffer[2:4].mul_(2)
        return total, x[:, 1], buffer[1:]

    results = []
    for run in (function, torch.compile(function, backend=backend(), fullgraph=True)):
        x, buffer = x_of(5, 9, 4), torch.ones(9, dtype=torch.float64)
        total, view, other = run(x, buffer)
        (total + view.sum() + (other * view.sum()).sum()).backward()
        results.append((x.grad, buffer, view, other))
    for found, expected in zip(*results, strict=True):
        assert torch.equal(found, expected)
    assert bt.status()[ROW].taken >= 9


def test_tensor_subclasses() -> None:
    from torch.testing._internal.two_tensor import TwoTensor

    a, b = x_of(5, 9, 4), x_of(5, 9, 4)
    x = TwoTensor(a.detach(), b.detach() * 2).requires_grad_()
    compiled = torch.compile(FUNCTIONS["steps"], backend=backend(), fullgraph=True)
    compiled(x).backward()
    assert torch.equal(x.grad.a, gradient(FUNCTIONS["steps"], a))
    assert torch.equal(x.grad.b, gradient(FUNCTIONS["steps"], b.detach() * 2))


def test_the_op_has_derivatives() -> None:
    """Derivatives of any order, also traced."""
    op = torch.ops.backslice.multi_slice_grad
    dys = [x_of(3, 2), x_of(4), x_of(2, 2)]
    entries = [1, 0, 1, 3, 1, 1, 2, 2, 1, 0, 1, 4, 0, 2, 1, 1, 1, 3, -2, 2, 1, 0, 3, 2]
    arguments = [(4, 5), entries, [2, 2, 2]]
    assert torch.autograd.gradcheck(lambda *dys: op(list(dys), *arguments), dys)
    assert torch.autograd.gradgradcheck(lambda *dys: op([dy * dy for dy in dys], *arguments), dys)
    torch.library.opcheck(op, ([dy.detach() for dy in dys], *arguments), test_utils="test_schema")
    torch.library.opcheck(op, (dys, *arguments), test_utils=("test_faketensor", "test_autograd_registration"))


def test_the_op_of_writes_has_derivatives() -> None:
    """Later writes hide earlier ones, from their gradients too."""
    op = torch.ops.backslice.multi_slice_write
    base, values = x_of(4, 5), [x_of(3, 2), x_of(4), x_of(2, 2)]
    arguments = [[1, 0, 1, 3, 1, 1, 2, 2, 1, 0, 1, 4, 0, 2, 1, 1, 1, 3, -2, 2, 1, 0, 3, 2], [2, 2, 2]]

    def plain(base: Any, *values: Any) -> Any:
        made = base.clone()
        made[0:3, 1:5:2] = values[0]
        made[:, 2] = values[1]
        made[1:4:2, 0:4:3] = values[2].flip(0)
        return made

    for function in (lambda base, *values: op(base, list(values), *arguments), plain):
        assert torch.equal(function(base, *values), plain(base, *values))
        weights = torch.arange(20.0).reshape(4, 5).double()
        grads = torch.autograd.grad((function(base, *values) ** 2 * weights).sum(), (base, *values))
        expected = torch.autograd.grad((plain(base, *values) ** 2 * weights).sum(), (base, *values))
        assert all(map(torch.equal, grads, expected))
    assert torch.autograd.gradcheck(lambda base, *values: op(base, list(values), *arguments), (base, *values))
    assert torch.autograd.gradgradcheck(
        lambda base, *values: op(base * base, [v * v for v in values], *arguments), (base, *values)
    )
    detached = (base.detach(), [value.detach() for value in values], *arguments)
    torch.library.opcheck(op, detached, test_utils=("test_schema", "test_faketensor"))


def graph_of(function: Callable[..., Any], *arguments: Any) -> Any:
    return torch.fx.experimental.proxy_tensor.make_fx(function)(*arguments)


def steps_of_gradient(dys: Any, width: int = 9) -> Any:
    return sum(torch.ops.aten.select_backward(dy, (5, width, 4), 1, t) for t, dy in enumerate(dys))


def count_of(graph_module: Any, target: Any) -> int:
    return sum(node.target is target for node in graph_module.graph.nodes)


def test_a_graph_by_itself() -> None:
    dys = [x_of(5, 4).detach() * t for t in range(9)]
    graph = graph_of(lambda *dys: steps_of_gradient(dys), *dys)
    expected = graph(*dys)
    assert bt.fuse_graph(graph) is graph
    assert count_of(graph, CAT) == 1 and count_of(graph, torch.ops.aten.add.Tensor) == 0
    assert torch.equal(graph(*dys), expected)


def test_slices_that_overlap_are_one_call() -> None:
    """Adjacent slices become a concatenation."""
    dys = [x_of(5, 2, 4).detach() * t for t in range(8)]

    def windows(*dys: Any) -> Any:
        return sum(torch.ops.aten.slice_backward(dy, (5, 9, 4), 1, t, t + 2, 1) for t, dy in enumerate(dys))

    graph = graph_of(windows, *dys)
    expected = graph(*dys)
    bt.fuse_graph(graph)
    assert count_of(graph, calls.SUM) == 1 and count_of(graph, CAT) == 0 and torch.equal(graph(*dys), expected)


def test_gaps_between_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few are filled with zeros, or with what was there; inner axes may be cut too."""
    dys = [x_of(2, 4).detach() * t for t in range(9)]
    base = x_of(2, 14, 4).detach()

    def placed(*dys: Any) -> Any:
        wide = [torch.ops.aten.select_backward(dy, (2, 14, 4), 1, t + t // 5 + 1) for t, dy in enumerate(dys)]
        return sum(torch.ops.aten.slice_backward(one, (5, 14, 4), 0, 1, 5, 2) for one in wide)

    def written(base: Any, *dys: Any) -> Any:
        for t, dy in enumerate(dys):
            base = torch.ops.aten.select_scatter(base, dy, 1, t + t // 5 + 1)
        return base

    for function, arguments in ((placed, dys), (written, [base, *dys])):
        graph = graph_of(function, *arguments)
        expected = graph(*arguments)
        assert torch.equal(bt.fuse_graph(graph)(*arguments), expected)
        assert count_of(graph, CAT) == 1 and count_of(graph, calls.SUM) == count_of(graph, calls.WRITES) == 0


def test_functions_inside() -> None:
    class Outer(torch.nn.Module):
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, *dys: Any) -> Any:
            return self.inner(*dys)

    dys = [x_of(5, 4).detach() * t for t in range(9)]
    inner = graph_of(lambda *dys: steps_of_gradient(dys), *dys)
    graph = torch.fx.Graph()
    graph.output(graph.call_module("inner", tuple(graph.placeholder(f"dy{t}") for t in range(9))))
    outer = torch.fx.GraphModule(Outer(inner), graph)
    expected = outer(*dys)
    assert torch.equal(bt.fuse_graph(outer)(*dys), expected) and count_of(inner, CAT) == 1


LEFT = {
    "in place": lambda *dys: (dys[0].add_(1), steps_of_gradient(dys))[1],
    "bool": lambda *dys: steps_of_gradient([dy > 0 for dy in dys]),
}


@pytest.mark.parametrize("reason", LEFT)
def test_what_cannot_be_proved_is_left_and_counted(reason: str) -> None:
    dys = [x_of(5, 4).detach() * t for t in range(9)]
    graph = graph_of(LEFT[reason], *dys)
    text = str(graph.graph)
    bt.fuse_graph(graph)
    assert str(graph.graph) == text
    (found,) = bt.status()[ROW].left
    assert reason in found or "dtype" in found
    assert f"left by multi_slice_grad: {found}" in str(bt.status())


def test_a_sum_that_is_used_twice_is_kept_whole() -> None:
    dys = [x_of(5, 4).detach() * t for t in range(9)]

    def function(*dys: Any) -> Any:
        total = steps_of_gradient(dys[:5])
        return total + total + steps_of_gradient(dys), total * 2

    graph = graph_of(function, *dys)
    expected = graph(*dys)
    found = bt.fuse_graph(graph)(*dys)
    assert all(map(torch.equal, found, expected)) and count_of(graph, CAT) >= 2


def test_few_slices_are_left_to_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    gradient(traced(lambda x: weighted(x[:, t] for t in range(3))), x_of(5, 9, 4))
    row = bt.status()[ROW]
    assert row.taken == 0 and list(row.left) == [f"fewer than {sums.FEWEST} slices in one sum"]


def test_small_sums_are_left_to_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    gradient(traced(lambda x: weighted(x[:, t : t + 2] for t in range(8))), x_of(5, 9, 4))
    row = bt.status()[ROW]
    assert row.taken == 0 and list(row.left) == [f"fewer than {calls.SMALL} elements"]


def test_an_error_leaves_the_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> Any:
        raise KeyError("broken")

    monkeypatch.setattr(sums, "call_on_slices", broken)
    monkeypatch.setattr(writes, "call_on_slices", broken)
    assert torch.equal(gradient(traced(FUNCTIONS["steps"]), x_of(5, 9, 4)), gradient(FUNCTIONS["steps"], x_of(5, 9, 4)))
    assert any("KeyError" in reason for reason in bt.status()[ROW].left)


def test_a_graph_without_traced_tensors_is_left() -> None:
    dys = [x_of(5, 4).detach() * t for t in range(9)]
    graph = graph_of(lambda *dys: steps_of_gradient(dys), *dys)
    for node in graph.graph.nodes:
        node.meta.clear()
    bt.fuse_graph(graph)
    assert count_of(graph, CAT) == 0 and bt.status()[ROW].left


def test_the_pass_takes_linear_time() -> None:
    """Counted in calls of Python functions, which a busy machine does not change."""

    def calls_of(count: int) -> int:
        dys = [torch.zeros(5, 4)] * count
        graph = graph_of(lambda *dys: steps_of_gradient(dys, count), *dys)
        number = 0

        def profile(frame: Any, event: str, argument: Any) -> None:
            nonlocal number
            number += event == "call"

        sys.setprofile(profile)
        try:
            bt.fuse_graph(graph)
        finally:
            sys.setprofile(None)
        assert count_of(graph, CAT) == 1
        return number

    calls_of(8)
    assert calls_of(256) < 2.3 * calls_of(128)


def test_importing_the_adapter_imports_no_compiler() -> None:
    code = "import sys, backslice.torch; assert not {'sympy', 'torch._inductor'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


PROGRAM = """
import torch, backslice.torch as bt
from backslice.torch.compiled import calls, sums
sums.FEWEST, calls.SMALL = 2, 0
torch.set_num_threads(2)

def steps(x):
    return sum((x[:, t] * x[:, t] * (t + 1)).sum() for t in range(6)) + (x[1:3, ::2] ** 3).sum()

def gradient(f, x):
    x = x.detach().clone().requires_grad_()
    f(x).backward()
    return x.grad

x = torch.arange(5 * 6 * 4.0).reshape(5, 6, 4).remainder(5) - 2
strict = {"fullgraph": True, "options": {"implicit-fallbacks": False}}
for options in ({}, {"dynamic": True}, {"mode": "reduce-overhead"}, strict):
    torch._dynamo.reset()
    compiled = torch.compile(steps, backend=bt.compile_backend(), **options)
    assert torch.equal(gradient(compiled, x), gradient(steps, x)), options
row = bt.status()["multi_slice_grad", "compiled"]
assert row.taken >= 4 * 7, row
"""


def test_inductor(tmp_path: Any) -> None:
    """In a process of its own, with an empty cache."""
    cache = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path), "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, env=os.environ | cache)
    assert done.returncode == 0, done.stderr[-3000:]


def test_an_older_inductor_compiles_as_without_the_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    from torch._inductor import config

    called: list[Any] = []

    def plain(graph_module: Any, inputs: Any, config_patches: Any) -> Any:
        called.append(config_patches)
        return graph_module.forward

    monkeypatch.setattr(torch._dynamo, "lookup_backend", lambda name: plain)
    monkeypatch.setattr("backslice.torch.compiled.backend._configured", lambda: config.no_such_place)
    torch.compile(lambda x: x * 2, backend=bt.compile_backend())(torch.ones(3))
    assert called == [{}] and any("no_such_place" in reason for reason in bt.status()[ROW].left)


BROKEN = """
import torch, backslice.torch as bt

def steps(x):
    return sum((x[:, t] * x[:, t]).sum() for t in range(9))

def error_of(backend):
    torch._dynamo.reset()
    try:
        torch.compile(steps, backend=backend)(torch.ones(2, 9, requires_grad=True)).backward()
    except Exception as error:
        return type(error).__name__

plain = error_of("inductor")
assert plain is not None and error_of(bt.compile_backend()) == plain
row = bt.status()["multi_slice_grad", "compiled"]
assert any(reason.startswith("Inductor: ") for reason in row.left), row
"""


def test_without_a_compiler_the_error_is_pytorchs(tmp_path: Any) -> None:
    cache = {"TORCHINDUCTOR_CACHE_DIR": str(tmp_path), "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
    broken = os.environ | cache | {"CXX": "/no/compiler", "TORCHINDUCTOR_COMPILE_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", BROKEN], capture_output=True, text=True, env=broken)
    assert done.returncode == 0, done.stderr[-3000:]


def test_unknown_operations_stay() -> None:
    """They end sums and chains, which are fused on both sides."""

    @torch.library.custom_op("check_compiled::doubled", mutates_args=())
    def doubled(x: torch.Tensor) -> torch.Tensor:
        return x * 2

    doubled.register_fake(torch.empty_like)
    doubled.register_autograd(lambda ctx, dy: dy * 2)

    def function(x: Any) -> Any:
        y = doubled(x)
        total = weighted(x[:, t] for t in range(9)) + weighted(y[:, t] for t in range(9))
        return total + doubled(in_a_loop(x, y * 1)).sum()

    same_as_eager(function, x_of(5, 9, 4), backend_of(function))


def backend_of(function: Callable[[Any], Any]) -> Any:
    return lambda _, is_decomposed: torch.compile(function, backend=backend(is_decomposed), fullgraph=True)


def test_exported_graphs() -> None:
    """Graphs of torch.export, and joint graphs of AOTAutograd's export."""
    from torch._functorch.aot_autograd import aot_export_joint_simple

    class Loop(torch.nn.Module):
        def forward(self, x: Any) -> Any:
            return in_a_loop(x, torch.zeros_like(x))

    x = x_of(5, 9, 4)
    program_ = torch.export.export(Loop(), (x.detach(),)).run_decompositions()
    assert bt.fuse_graph(program_.graph_module) is program_.graph_module
    assert torch.equal(program_.module()(x.detach()), Loop()(x.detach()))
    assert count_of(program_.graph_module, CAT) == 1
    joint = aot_export_joint_simple(lambda x: (FUNCTIONS["steps"](x),), (x,), trace_joint=True)
    bt.fuse_graph(joint)
    assert count_of(joint, CAT) == 1
    _, (dx,) = joint([x.detach()], [torch.ones((), dtype=x.dtype)])
    assert torch.equal(dx, gradient(FUNCTIONS["steps"], x))


def test_a_users_own_pass_runs_before(monkeypatch: pytest.MonkeyPatch) -> None:
    from backslice.torch.compiled.backend import _pass

    seen: list[Any] = []
    graph = graph_of(lambda *dys: steps_of_gradient(dys), *[torch.zeros(5, 4)] * 9)
    both = _pass(seen.append)
    both(graph.graph)
    assert seen == [graph.graph] and count_of(graph, CAT) == 1
    assert both.uuid() is None and _pass(None).uuid() == _pass(None).uuid() is not None
