"""Products of the slices of one tensor with one matrix: each group becomes one product.

A loop over `x[:, t] @ w` has three products per step: the one itself, the gradient of `x[:, t]`, and a term of the sum
that is the gradient of `w`. Where the slices are those of a contiguous tensor, each of the three is one product for all
steps. Only rounding may differ: the terms of a sum are added in another order.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import torch

from . import sums
from .facts import UnprovedError, aten, axis_of, keys, position_of, value_of
from .nodes import call, erase_with_inputs, is_plain, is_unsqueezed, takes_views

PRODUCTS = frozenset({aten.mm.default, aten.addmm.default})
Step = tuple[Any, int, int]  # a tensor, an axis, and a position on it
Joined = dict[Any, Any]  # concatenations by axis and steps


def fuse_products(graph: Any) -> int:
    """Replace the products in a graph of a gradient, and return how many. Elsewhere single steps take less memory."""
    backward = _backward(graph)
    if not backward:
        return 0
    taken = _of_steps([node for node in graph.nodes if node not in backward])
    made: Joined = {}
    for node in [node for node in graph.nodes if node in backward]:
        if node.target is aten.cat.default:
            taken += _of_pieces(node, made)
        elif node.target is aten.add.Tensor and node.users and not _is_term(node):
            taken += _in_sum(node, made)
    return taken


def _backward(graph: Any) -> set[Any]:
    """Return the nodes that gradients of outputs go into."""
    found: set[Any] = set()
    for node in graph.nodes:
        is_tangent = node.op == "placeholder" and node.name.startswith("tangents")
        if is_tangent or not found.isdisjoint(node.all_input_nodes):
            found.add(node)
    return found


# -- x[:, t] @ w for every t


def _of_steps(nodes: Sequence[Any]) -> int:
    groups: dict[Any, list[tuple[int, Any]]] = {}
    for node in nodes:
        if node.target in PRODUCTS and not node.kwargs and len(node.args) < 4:
            *bias, left, right = node.args
            if (step := _step(left)) is not None:
                groups.setdefault((*step[:2], node.target, *bias, _identity(right)), []).append((step[2], node))
    return sum(_whole(key[0], key[1], products) for key, products in groups.items())


def _whole(x: Any, axis: int, products: Sequence[tuple[int, Any]]) -> int:
    """Take the product with the whole tensor before the first of the products, and steps of it in their places."""
    steps = {step for step, _ in products}
    if len(steps) < sums.FEWEST or 2 * len(steps) < value_of(x).shape[axis]:
        return 0
    if not all(takes_views(user) for _, node in products for user in node.users):
        return 0
    first = products[0][1]
    *bias, _, right = first.args
    if bias and value_of(bias[0]).dim() != 1:
        return 0
    with first.graph.inserting_before(first):
        product = call(first, first.target, *bias, _rows(first, x), right)
        whole = call(first, aten.view.default, product, [*value_of(x).shape[:2], value_of(first).shape[1]])
        parts = {step: call(first, aten.select.int, whole, axis, step) for step in sorted(steps)}
    for step, node in products:
        node.replace_all_uses_with(parts[step])
        erase_with_inputs(node)
    return len(products)


# -- The concatenation of all dy[t] @ w


def _of_pieces(cat: Any, made: Joined) -> int:
    pieces, axis = cat.args[0], axis_of(cat, 1, value_of(cat).dim())
    if len(pieces) < max(sums.FEWEST, 2) or not all(
        is_unsqueezed(piece, axis) and len(piece.users) == 1 for piece in pieces
    ):
        return 0
    steps = [piece.args[0] for piece in pieces]
    if axis == 2 or value_of(cat).dim() != 3 or not is_plain(value_of(cat)) or not _are_products(steps):
        return 0
    with cat.graph.inserting_before(cat):
        cat.replace_all_uses_with(_joined_products(cat, steps, axis, made))
    erase_with_inputs(cat)
    return len(steps)


def _are_products(steps: Sequence[Any]) -> bool:
    """Whether they are products with one matrix, or sums of such products, and nothing else uses them."""
    if any(len(step.users) > 1 or step.target is not steps[0].target for step in steps):
        return False
    if steps[0].target is aten.mm.default:
        return len({_identity(step.args[1]) for step in steps}) == 1
    if steps[0].target is not aten.add.Tensor or not all(map(_is_sum, steps)):
        return False
    return all(_are_products([step.args[side] for step in steps]) for side in (0, 1))


def _joined_products(cat: Any, steps: Sequence[Any], axis: int, made: Joined) -> Any:
    if steps[0].target is aten.add.Tensor:
        terms = [_joined_products(cat, [step.args[side] for step in steps], axis, made) for side in (0, 1)]
        return call(cat, aten.add.Tensor, *terms)
    dys = _rows(cat, _joined(cat, [step.args[0] for step in steps], axis, made))
    product = call(cat, aten.mm.default, dys, steps[0].args[1])
    return call(cat, aten.view.default, product, list(value_of(cat).shape))


# -- The sum of all x[:, t].t() @ dy[t]


def _is_term(node: Any) -> bool:
    """Whether an addition is a term of another one, and of nothing else."""
    if len(node.users) != 1:
        return False
    (user,) = node.users
    return user.target is aten.add.Tensor and _is_sum(user) and user.args[0] is not user.args[1]


def _is_sum(node: Any) -> bool:
    return not node.kwargs and all(
        isinstance(term, torch.fx.Node) and keys(value_of(term).shape) == keys(value_of(node).shape)
        for term in node.args
    )


def _in_sum(root: Any, made: Joined) -> int:
    if value_of(root).dim() != 2 or not _is_sum(root):
        return 0
    terms = list(_terms(root))
    count = len(terms)
    groups: dict[Any, dict[int, Any]] = {}
    for term in terms:
        product, is_turned = _product_of(term)
        if (found := _step_of_product(product)) is not None:
            (x, axis, step), side = found
            groups.setdefault((x, axis, side, is_turned), {}).setdefault(step, (term, product))
    summed = []
    for (x, axis, side, is_turned), by_step in groups.items():
        if len(by_step) < max(sums.FEWEST, 2) or len(by_step) != value_of(x).shape[axis]:
            continue
        with root.graph.inserting_before(root):
            others = [_factors(by_step[step][1])[1 - side] for step in range(len(by_step))]
            factors = [_rows(root, x), _rows(root, _joined(root, others, axis, made))]
            left, right = factors if side == 0 else reversed(factors)
            product = call(root, aten.mm.default, _turned(root, left), right)
            summed.append(_turned(root, product) if is_turned else product)
        fused = {term for term, _ in by_step.values()}
        terms = [term for term in terms if term not in fused]
    if not summed:
        return 0
    count -= len(terms)
    with root.graph.inserting_before(root):
        total, *others = [*summed, *terms]
        for term in others:
            total = call(root, aten.add.Tensor, total, term)
    root.replace_all_uses_with(total)
    erase_with_inputs(root)
    return count


def _terms(root: Any) -> Iterator[Any]:
    remaining = [root]
    while remaining:
        node = remaining.pop()
        if node is root or (node.target is aten.add.Tensor and _is_sum(node) and _is_term(node)):
            remaining += reversed(node.args)
        else:
            yield node


def _product_of(term: Any) -> tuple[Any, bool]:
    """Return the product that a term is, and whether it is turned: linear layers turn it once and again."""
    is_turned = False
    while _is_transposed(term) and len(term.users) == 1:
        term, is_turned = term.args[0], not is_turned
    return term, is_turned


def _factors(product: Any) -> tuple[Any, Any]:
    return product.args[0].args[0], product.args[1]


def _step_of_product(product: Any) -> tuple[Step, int] | None:
    """Return the step of a tensor that is transposed and multiplied, or multiplied by something transposed."""
    is_alone = product.target is aten.mm.default and len(product.users) == 1
    if not is_alone or not _is_transposed(product.args[0]):
        return None
    steps = [(_step(factor), side) for side, factor in enumerate(_factors(product))]
    return next(((step, side) for step, side in steps if step is not None), None)


def _is_transposed(node: Any) -> bool:
    return node.target is aten.t.default or (node.target is aten.permute.default and list(node.args[1]) == [1, 0])


def _turned(like: Any, node: Any) -> Any:
    return call(like, aten.permute.default, node, [1, 0])


# -- Nodes


def _step(node: Any) -> Step | None:
    """Return the step of a select that takes a matrix of whole rows from a contiguous tensor of rank 3; else None."""
    if getattr(node, "target", None) is not aten.select.int:
        return None
    x, axis = node.args[0], axis_of(node, 1, value_of(node).dim() + 1)
    if axis == 2 or value_of(x).dim() != 3 or not is_plain(value_of(x)):
        return None
    try:
        return x, axis, int(position_of(node.args[2], value_of(x).shape[axis]))
    except UnprovedError:
        return None


def _identity(node: Any) -> Any:
    """Return a value that nodes share which are the same view of one tensor."""
    if node.op == "call_function" and node.target in (aten.permute.default, aten.t.default, aten.slice.Tensor):
        return node.target, _identity(node.args[0]), repr(node.args[1:])
    return node


def _rows(like: Any, x: Any) -> Any:
    a, b, columns = value_of(x).shape
    return call(like, aten.view.default, x, [a * b, columns])


def _joined(like: Any, steps: Sequence[Any], axis: int, made: Joined) -> Any:
    """Return the concatenation of steps, before `like`. Two kinds of products need the same one."""
    key = axis, *steps
    if key not in made:
        wide = [call(like, aten.unsqueeze.default, step, axis) for step in steps]
        made[key] = call(like, aten.cat.default, wide, axis)
    return made[key]
