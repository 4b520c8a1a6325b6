"""Asks PyTorch whose kernel it takes, by having it take one."""

from typing import Any

import torch


class Question(torch.Tensor):  # type: ignore[misc]
    """A tensor that our kernels answer instead of computing anything."""


class Answer(Exception):  # noqa: N818  it is none
    """What they answer."""


def _is_registered(op: str, key: str, question: Any, rest: list[Any]) -> bool:
    """What the kernel in the dispatcher's table answers, if it is ours: PyTorch's own would read the tensor."""
    dump = torch._C._dispatch_dump(f"aten::{op}").splitlines()
    if any(line.startswith(f"{key}: ") and f"Register{key}" in line for line in dump):
        return False
    kernel = torch.library.get_kernel(getattr(torch.ops.aten, op).default, key)
    kernel.call_boxed(torch._C.DispatchKeySet(getattr(torch._C.DispatchKey, key)), question, *rest)
    return False


def is_ours(op: str, key: str, size: int) -> bool:
    """Whether the kernel of an op for a key is backslice's; `size` is one that it does not leave to PyTorch."""
    many = torch.ones(()).expand(size)
    calls: dict[str, tuple[Any, ...]] = {
        "select_backward": (many, (1, size), 0, 0),
        "slice_backward": (many, (size,), 0, 0, size, 1),
        "unfold_backward": (many[None], (size,), 0, size, size),
        "diagonal_backward": (many[:, None], (size, 1, 1), 0, 1, 2),
    }
    dy, *rest = calls[op]
    question = dy.as_subclass(Question)
    try:
        if key == "CPU":
            getattr(torch.ops.aten, op)(question, *rest)
        else:  # asked with a tensor of the CPU, so that no device is touched
            return _is_registered(op, key, question, rest)
    except Answer:
        return True
    return False
