"""Asks PyTorch whose kernel it takes: on the CPU by having it take one, elsewhere without touching a device."""

from typing import Any

import torch


class Question(torch.Tensor):  # type: ignore[misc]
    """A tensor that our kernels answer instead of computing anything."""


class Answer(Exception):  # noqa: N818  it is none
    """What they answer."""


def is_registered(op: str, key: str, file: str) -> bool:
    """Whether the kernel in the dispatcher's table was registered by code of that file. It is not called."""
    dump = torch._C._dispatch_dump(f"aten::{op}").splitlines()
    return any(line.startswith(f"{key}: ") and f"registered at {file}:" in line for line in dump)


def is_taken(op: str, size: int) -> bool:
    """Whether the kernel of an op on the CPU is backslice's; `size` is one that it does not leave to PyTorch."""
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
        getattr(torch.ops.aten, op)(question, *rest)
    except Answer:
        return True
    return False
