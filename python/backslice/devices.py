"""Arrays on CUDA devices: which stream their library works on, and how it makes new ones.

PyTorch and CuPy tell both, so that results are theirs, in their memory, on the stream that the caller chose. Neither is
ever imported here: where an array is theirs, the caller has done so. Everything that is known of a library is in one
class here; the extension module asks `library_of` whose an array is, and knows no library by name.
"""

from __future__ import annotations

import re
import sys
from reprlib import repr
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import DTypeError, InvalidArgumentError

if TYPE_CHECKING:
    from ._core import DeviceArray

# CUDA's default stream, as DLPack and __cuda_array_interface__ number it.
_DEFAULT_STREAM = 1


class Library:
    """A library whose streams and memory are unknown: JAX, Numba, and all others."""

    keeps_memory = False
    """Whether memory that is dropped is used again behind the work that is queued on its stream."""

    @property
    def pointer_class(self) -> Any:
        """The class of its arrays, if they have data.ptr, data.device_id, shape, strides and dtype."""
        return None

    def stream(self, ordinal: int) -> int:
        """The stream that it works on now."""
        return _DEFAULT_STREAM

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], ordinal: int) -> Any:
        """Return an uninitialised array; None if the library is unknown."""
        return None

    def memory(self, size: int, ordinal: int, zero: bool) -> tuple[Any, int]:
        """Allocate bytes: return their owner and their address. Called only for libraries that keep memory."""
        raise NotImplementedError

    def is_out_of_memory(self, error: BaseException) -> bool:
        """Return whether `memory` raised the error because no memory was left."""
        return isinstance(error, MemoryError)

    def keep_for(self, array: Any, ordinal: int, stream: int) -> bool:
        """Whether its memory, once it is dropped, is used again only behind what that stream has queued by then."""
        return False

    def share(self, made: DeviceArray, owner: Any) -> Any:
        """Return an array in memory that backslice has allocated. `owner` is an array of that memory, or None."""
        return made


class _Torch(Library):
    keeps_memory = True

    def stream(self, ordinal: int) -> int:
        return sys.modules["torch"].cuda.current_stream(ordinal).cuda_stream or _DEFAULT_STREAM

    @staticmethod
    def _dtype(dtype: np.dtype[Any]) -> Any:
        """Return PyTorch's dtype, or None if it has no such type."""
        torch = sys.modules["torch"]
        found = getattr(torch, dtype.name, None)
        return found if isinstance(found, torch.dtype) else None

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], ordinal: int) -> Any:
        if (of := self._dtype(dtype)) is None:
            return None
        return sys.modules["torch"].empty(shape, dtype=of, device=f"cuda:{ordinal}")

    @property
    def current_device(self) -> Any:
        """Tells the ordinal of the current device; None in a PyTorch without CUDA."""
        return getattr(sys.modules["torch"]._C, "_cuda_getDevice", None)

    @property
    def empty_strided(self) -> Any:
        """Makes a tensor on the current device in half the time, without the dispatcher; None if PyTorch lacks it.

        It is what the code that torch.compile generates calls. Takes shape, strides and dtype.
        """
        guards = getattr(getattr(sys.modules["torch"]._C, "_dynamo", None), "guards", None)
        return getattr(guards, "_empty_strided_cuda", None)

    def memory(self, size: int, ordinal: int, zero: bool) -> tuple[Any, int]:
        torch = sys.modules["torch"]
        made = (torch.zeros if zero else torch.empty)(max(size, 1), dtype=torch.uint8, device=f"cuda:{ordinal}")
        return made, made.data_ptr()

    def is_out_of_memory(self, error: BaseException) -> bool:
        # PyTorch's own class is not a MemoryError.
        return isinstance(error, (MemoryError, sys.modules["torch"].cuda.OutOfMemoryError))

    def keep_for(self, array: Any, ordinal: int, stream: int) -> bool:
        # Otherwise the memory is reused in the order of the stream on which it was allocated.
        array.record_stream(self._numbered(ordinal, stream))
        return True

    def _numbered(self, ordinal: int, stream: int) -> Any:
        cuda = sys.modules["torch"].cuda
        if stream <= _DEFAULT_STREAM:
            return cuda.default_stream(ordinal)
        current = cuda.current_stream(ordinal)
        return current if current.cuda_stream == stream else cuda.ExternalStream(stream, device=ordinal)

    def share(self, made: DeviceArray, owner: Any) -> Any:
        torch = sys.modules["torch"]
        address, strides, ordinal = made._memory
        dtype = self._dtype(made.dtype)
        if dtype is None:
            return made
        if 0 in made.shape:
            return self.empty(made.shape, made.dtype, ordinal)
        if isinstance(owner, torch.Tensor):
            # A tensor of the same storage, so PyTorch knows the owner of the memory.
            storage = owner.untyped_storage()
            offset, rest = divmod(address - storage.data_ptr(), made.dtype.itemsize)
            if rest == 0 and offset >= 0:
                view = torch.empty(0, dtype=dtype, device=owner.device)
                return view.set_(storage, offset, made.shape, strides)
        return torch.from_dlpack(made._as_bytes).view(dtype) if made.dtype.itemsize == 1 else torch.from_dlpack(made)


class _CuPy(Library):
    keeps_memory = True

    @property
    def pointer_class(self) -> Any:
        return sys.modules["cupy"].ndarray

    def stream(self, ordinal: int) -> int:
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(ordinal):
            return cupy.cuda.get_current_stream().ptr or _DEFAULT_STREAM

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any], ordinal: int) -> Any:
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(ordinal):
            return cupy.empty(shape, dtype)

    def memory(self, size: int, ordinal: int, zero: bool) -> tuple[Any, int]:
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(ordinal):
            made = (cupy.zeros if zero else cupy.empty)(max(size, 1), np.uint8)
        return made, made.data.ptr

    def share(self, made: DeviceArray, owner: Any) -> Any:
        cupy = sys.modules["cupy"]
        address, strides, ordinal = made._memory
        if 0 in made.shape:
            return self.empty(made.shape, made.dtype, ordinal)
        with cupy.cuda.Device(ordinal):
            if isinstance(owner, cupy.ndarray):
                memory = cupy.cuda.MemoryPointer(owner.data.mem, address - owner.data.mem.ptr)
                in_bytes = tuple(stride * made.dtype.itemsize for stride in strides)
                return cupy.ndarray(made.shape, made.dtype, memory, in_bytes)
            return cupy.from_dlpack(made)


_OTHER, _TORCH, _CUPY = Library(), _Torch(), _CuPy()


def library_of(array: Any) -> Library:
    """Return the library that the array comes from."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return _TORCH
    cupy = sys.modules.get("cupy")
    if cupy is not None and isinstance(array, cupy.ndarray):
        return _CUPY
    return _OTHER


def cuda_stream(array: Any, ordinal: int) -> tuple[Library, int, bool]:
    """The array's library, the stream that it works on now, and whether it keeps the memory that work on it uses."""
    library = library_of(array)
    return library, library.stream(ordinal), library.keeps_memory


def keep_memory(array: Any, ordinal: int, stream: int) -> bool:
    """Return whether the array's library keeps its memory for that stream, too. Registers the stream if necessary."""
    return library_of(array).keep_for(array, ordinal, stream)


def new_cuda_array(array: Any, shape: tuple[int, ...]) -> Any:
    """Return an uninitialised array like this one, of that shape; None if its library is unknown."""
    library = library_of(array)
    if library is _TORCH:
        torch = sys.modules["torch"]
        if type(array) is torch.Tensor:
            return array.new_empty(shape)  # the fastest way that accepts any device
        return torch.empty(shape, dtype=array.dtype, device=array.device)
    return library.empty(shape, array.dtype, array.device.id) if library is _CUPY else None


def cuda_place(device: Any) -> tuple[int | None, Library | None]:
    """Return the ordinal of a `device` argument, None for the CPU; and its library, None if any will do."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if cupy is not None and isinstance(device, cupy.cuda.Device):
        return device.id, _CUPY
    if torch is not None and isinstance(device, torch.device):
        if device.type == "cuda":
            return (torch.cuda.current_device() if device.index is None else device.index), _TORCH
        name = device.type
    elif isinstance(device, str):
        name = device
    else:
        raise DTypeError(
            f"device is {repr(device)}, expected 'cpu', 'cuda', 'cuda:1', a torch.device or a cupy.cuda.Device"
        )
    if name == "cpu":
        return None, None
    if re.fullmatch(r"cuda(:[0-9]{1,4})?", name):
        return int(name.partition(":")[2] or 0), None
    raise InvalidArgumentError(f"device is {repr(name)}, expected 'cpu', 'cuda', or 'cuda:1' for device 1")


def cuda_interface(array: Any) -> tuple[Any, tuple[int, ...], tuple[int, ...] | None, int, bool, int] | None:
    """The dtype, shape, strides, address, whether it is read-only, and the stream to wait for (0 for none).

    None where the array has no ``__cuda_array_interface__``, or one that says too little.
    """
    if library_of(array) is _TORCH and (array.is_conj() or array.is_neg()):
        return None  # its memory holds something else
    described = getattr(array, "__cuda_array_interface__", None)
    if not isinstance(described, dict) or described.get("mask") is not None:
        return None
    try:
        address, read_only = described["data"]
        strides = described.get("strides")
        return (
            np.dtype(described["typestr"]),
            tuple(int(n) for n in described["shape"]),
            None if strides is None else tuple(int(n) for n in strides),
            _address(address),
            bool(read_only),
            _address(described.get("stream") or 0),
        )
    except (KeyError, TypeError, ValueError):
        return None


def _address(number: Any) -> int:
    if not 0 <= int(number) < 1 << 63:
        raise ValueError(f"{number} is no address")
    return int(number)
