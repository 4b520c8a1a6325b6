"""Runs PyTorch's operations on plain tensors as they are: no history, no transforms, no modes, no subclasses."""

import contextlib
from typing import Any

import torch


class Plainly:
    """``with Plainly():``, in the thread that enters it."""

    def __enter__(self) -> None:
        self._guards = contextlib.ExitStack()
        for guard in (
            torch._C.DisableTorchFunction,
            torch._C._DisableFuncTorch,
            torch._C._DisableTorchDispatch,
            torch._C._AutoDispatchBelowAutograd,
        ):
            self._guards.enter_context(guard())

    def __exit__(self, *error: Any) -> None:
        self._guards.__exit__(*error)
