"""Runs PyTorch's operations on plain tensors as they are: no history, no transforms, no modes, no subclasses."""

from typing import Any

import torch

_FIRST, _SECOND, _THIRD, _FOURTH = (
    torch._C.DisableTorchFunction,
    torch._C._DisableFuncTorch,
    torch._C._DisableTorchDispatch,
    torch._C._AutoDispatchBelowAutograd,
)


class Plainly:
    """``with Plainly():``, in the thread that enters it. Written out, since it runs once per gradient."""

    __slots__ = ("_guards",)

    def __enter__(self) -> None:
        self._guards = (_FIRST(), _SECOND(), _THIRD(), _FOURTH())
        for guard in self._guards:
            guard.__enter__()

    def __exit__(self, *error: Any) -> None:
        for guard in reversed(self._guards):
            guard.__exit__(*error)
