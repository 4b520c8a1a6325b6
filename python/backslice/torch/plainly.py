"""Runs PyTorch's operations on plain tensors as they are: no history, no transforms, no modes, no subclasses."""

from typing import Any

import torch

_FIRST, _SECOND, _THIRD, _FOURTH = (
    torch._C.DisableTorchFunction,
    torch._C._DisableFuncTorch,
    torch._C._DisableTorchDispatch,
    torch._C._AutoDispatchBelowAutograd,
)


_functions, _modes = torch._C._len_torch_function_stack, torch._C._len_torch_dispatch_stack
_transforms = torch._C._functorch.peek_interpreter_stack


def are_plain_kernels() -> bool:
    """Whether what a kernel does to plain tensors is done plainly anyway, so that it need not say so."""
    return _functions() == 0 and _modes() == 0 and _transforms() is None


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
