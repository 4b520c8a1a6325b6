"""The private names of PyTorch that `install()` needs, all of them. Nothing else in this package uses one.

`install()` looks them up. Where one is missing for `resolve()`, PyTorch's own kernels stay in use. Where
`c_functions()` returns None, backslice's kernels in Python run for small gradients too.
"""

import ctypes
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch


@dataclass(frozen=True, slots=True)
class Internals:
    """What `install()` asks of PyTorch."""

    current_node: Callable[[], Any]  # the node that autograd's engine runs on this thread, or None
    current_pass: Callable[[], int]  # the number of its backward pass
    at_end_of_pass: Callable[[Any], None]
    make_wrapper: Callable[..., Any]  # a tensor without memory
    dispatch_modes: Callable[[], int]
    transforms: Callable[[], Any]  # of torch.func, or None
    forward_mode: Any  # the module, whose level is -1 outside
    function_modes: Callable[[], int]
    plain_functions: Any  # a context in which no mode sees functions of PyTorch
    kernels_of: Callable[[str], str]  # text about the kernels of an op
    stream: Callable[[int], int] | None  # the current one of a CUDA device
    keys: dict[str, Any]  # what a kernel is called with


# Functions of PyTorch's documented C interface, which no version changes, in the order of small_slices.cc.
C_FUNCTIONS = (
    "aoti_torch_library_init_impl", "torch_library_impl", "aoti_torch_delete_library_object", "torch_call_dispatcher",
    "aoti_torch_check", "torch_list_size", "torch_list_get_item", "torch_delete_list",
    "aoti_torch_delete_tensor_object", "aoti_torch_get_dim", "aoti_torch_get_sizes", "aoti_torch_get_dtype",
    "aoti_torch_dtype_element_size", "aoti_torch_empty_strided", "aoti_torch_zero_", "aoti_torch__reinterpret_tensor",
    "aoti_torch_copy_",
)  # fmt: skip
LIBRARIES = {"linux": "libtorch_cpu.so", "darwin": "libtorch_cpu.dylib", "win32": "torch_cpu.dll"}


def c_functions() -> list[int] | None:
    """Return their addresses; None where they are not all there."""
    try:
        library = ctypes.CDLL(str(Path(torch.__file__).parent / "lib" / LIBRARIES[sys.platform]))
        return [ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in C_FUNCTIONS]
    except (AttributeError, KeyError, OSError):
        return None


def resolve() -> Internals:
    """Look the names up. Raises AttributeError where one is missing."""
    c = torch._C
    keys = {key: c.DispatchKeySet(getattr(c.DispatchKey, key)) for key in ("CPU", "CUDA")}
    torch.library.Library._destroy  # noqa: B018  uninstall() needs it
    torch.autograd.forward_ad._current_level  # noqa: B018
    torch.Tensor._version  # noqa: B018
    return Internals(
        c._current_autograd_node,
        c._current_graph_task_id,
        torch.autograd.Variable._execution_engine.queue_callback,
        torch.Tensor._make_wrapper_subclass,
        c._len_torch_dispatch_stack,
        c._functorch.peek_interpreter_stack,
        torch.autograd.forward_ad,
        c._len_torch_function_stack,
        c.DisableTorchFunction,
        c._dispatch_dump,
        getattr(c, "_cuda_getCurrentRawStream", None),
        keys,
    )
