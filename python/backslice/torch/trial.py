"""Tries the kernels on tensors of a few bytes, to learn how often a gradient is held that nobody else holds."""

import sys
import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
import torch.utils.dlpack

from . import capture, counting, pending

SMALLEST = 1  # byte; the sizes at which the kernels pay are others

SLICES: dict[str, Callable[[Any], Any]] = {
    "select_backward": lambda x: x[1],
    "slice_backward": lambda x: x[1:3],
    "unfold_backward": lambda x: x.unfold(0, 2, 2),
    "diagonal_backward": lambda x: x.diagonal(),
}
Holder = Callable[[Any], Any]
# Others that hold a gradient, as somebody might through whom it is written to.
HOLDERS: tuple[Holder, ...] = (lambda gradient: gradient.view(-1), torch.utils.dlpack.to_dlpack)
TURNS = 3  # at reading references of Python's, which others may hold for a moment


def measure(ops: Sequence[str]) -> None:
    """Has `capture` trust what it sees where nobody holds a gradient, if that differs from where somebody does."""
    failures: list[BaseException] = []

    def run() -> None:
        try:
            _measure(ops)
        except BaseException as error:  # goes on in the thread that waits
            failures.append(error)

    # In a thread of its own, where no modes, transforms or devices of the caller's are in force.
    thread = threading.Thread(target=run, name="backslice.torch trial")
    thread.start()
    thread.join()
    counting.reset()
    if failures:
        raise failures[0]


def _measure(ops: Sequence[str]) -> None:
    with capture.Measurement() as seen:
        for op in ops:
            given = _seen(seen, op, partial(_give_a_gradient, op, 1, False))
            _compare(seen, op, given, partial(_take_a_slice, op))
        if "select_backward" in ops:
            _compare(seen, "add", None, _add_a_slice)
            _compare_sums(seen, capture.JOIN, _add_two_slices)
            _compare_sums(seen, capture.WAITING, _wait_for_a_slice)


def _compare(
    seen: capture.Measurement, op: str, given: capture.References | None, backward: Callable[[Holder | None], None]
) -> None:
    alone = _seen(seen, op, partial(backward, None))
    held = [_seen(seen, op, partial(backward, hold)) for hold in HOLDERS]
    if alone is None or any(h is None or capture.are_within(h, alone) for h in held):
        return
    objects = _references_of_python(seen, op, backward)
    tells_hooks = given is not None and _tells_hooks(seen, op, alone[0], given[0])
    capture.trust(op, alone, given[0] if given is not None else 0, objects, tells_hooks)


def _tells_hooks(seen: capture.Measurement, op: str, alone: int, given: int) -> bool:
    """Whether the engine has a gradient once more where the node that it goes to has hooks, and never otherwise."""
    hooked = _seen(seen, op, partial(_take_a_slice, op, None, True))
    found = [hooked is not None and hooked[0] == alone + 1]
    for roots in (1, 2, 3):
        without, with_hooks = (_seen(seen, op, partial(_give_a_gradient, op, roots, hooks)) for hooks in (False, True))
        found.append(without is not None and without[0] == given)
        found.append(with_hooks is not None and with_hooks[0] == given + 1)
    return all(found)


def _compare_sums(seen: capture.Measurement, what: str, backward: Callable[[Holder | None], None]) -> None:
    alone = _seen(seen, what, partial(backward, None))
    if alone is not None:
        capture.trust(what, alone, 0, _references_of_python(seen, what, backward))


def _references_of_python(seen: capture.Measurement, op: str, backward: Callable[[Holder | None], None]) -> int:
    """How often the Python object is held where no code has it; zero where that cannot be told."""

    def least(hold: Holder | None) -> int:
        found = []
        for _ in range(TURNS):
            _seen(seen, op, partial(backward, hold))
            found.append(seen.take_objects(op))
        return min(found)

    alone, held = least(None), least(lambda gradient: gradient)
    return alone if alone < held and not _is_traced() else 0


def _is_traced() -> bool:
    """Whether a debugger or a profiler looks at this thread, and may hold what variables hold."""
    monitoring = getattr(sys, "monitoring", None)
    tools = () if monitoring is None else [monitoring.get_tool(number) for number in range(6)]
    return sys.gettrace() is not None or sys.getprofile() is not None or any(tool is not None for tool in tools)


def _seen(seen: capture.Measurement, op: str, run: Callable[[], None]) -> capture.References | None:
    seen.take(op)
    with torch.enable_grad(), torch.inference_mode(False):
        run()
    return seen.take(op)


def _leaf() -> Any:
    return torch.ones(4, 4, device="cpu", dtype=torch.float32, requires_grad=True)


def _nothing(*_: Any) -> None:
    """A hook that does nothing."""


def _take_a_slice(op: str, hold: Holder | None, has_hook: bool = False) -> None:
    kept: list[Any] = []
    part = SLICES[op](_leaf())
    if has_hook:
        part.grad_fn.register_hook(_nothing)
    if hold is not None:
        part.register_hook(lambda gradient: kept.append(hold(gradient)))
    (part * 2.0).sum().backward()


def _give_a_gradient(op: str, count: int, have_hooks: bool) -> None:
    parts = [SLICES[op](_leaf()) for _ in range(count)]
    for part in parts if have_hooks else ():
        part.grad_fn.register_hook(_nothing)
    torch.autograd.backward(parts, [torch.ones_like(part) for part in parts])


def _add_a_slice(hold: Holder | None) -> None:
    kept: list[Any] = []
    x = _leaf()
    part = x[1]
    doubled = x * 2.0  # made last: its gradient comes first
    if hold is not None:
        doubled.grad_fn.register_hook(lambda gradients, _: kept.append(hold(gradients[0])))
    (part.sum() + doubled.sum()).backward()


def _add_two_slices(hold: Holder | None) -> None:
    kept: list[Any] = []
    x = _leaf()
    second, first = x[1], x[2]  # made last: its gradient comes first
    if hold is not None:
        first.grad_fn.register_hook(lambda gradients, _: kept.append(hold(gradients[0])))
    (second * 2.0 + first * 3.0).sum().backward()


def _wait_for_a_slice(hold: Holder | None) -> None:
    kept: list[Any] = []
    x = _leaf()
    second, first = x[1], x[2]
    if hold is not None:
        second.grad_fn.register_prehook(
            lambda _: kept.extend(hold(waiting.lazy()) for waiting in pending.current().waiting.values())
        )
    (second * 2.0 + first * 3.0).sum().backward()
