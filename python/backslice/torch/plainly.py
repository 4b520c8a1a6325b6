"""Runs PyTorch's operations on plain tensors as they are: no history, no transforms, no modes, no subclasses."""

from collections.abc import Callable
from typing import Any, TypeVar

import torch

Result = TypeVar("Result")
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


def plainly(call: Callable[..., Result], *arguments: Any) -> Result:
    """What `call` returns, run so in this thread.

    The guards are entered and left by functions in C, one ``with`` each: Ctrl-C, which Python code may be interrupted
    by anywhere, finds each of them entered or left. One that stayed entered would switch autograd off.
    """
    with _FIRST(), _SECOND(), _THIRD(), _FOURTH():
        return call(*arguments)
