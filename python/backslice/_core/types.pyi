"""The types of parameters, and of dictionaries that functions return."""

from builtins import slice as _slice
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from .selection import Selection

class SupportsDLPack(Protocol):
    def __dlpack__(self, *, stream: Any = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

Array: TypeAlias = ArrayLike | SupportsDLPack
Ints: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]

class SupportsExtents(Protocol):
    """TensorFlow's TensorShape, fully known."""

    @property
    def rank(self) -> Any: ...
    def as_list(self) -> Any: ...

class SupportsNumpyDType(Protocol):
    """TensorFlow's DType."""

    @property
    def as_numpy_dtype(self) -> Any: ...

Shape: TypeAlias = SupportsIndex | Ints | SupportsExtents
PartialShape: TypeAlias = Sequence[int | None] | SupportsExtents | None
DType: TypeAlias = DTypeLike | SupportsNumpyDType
Output: TypeAlias = NDArray[Any] | SupportsDLPack
IndexItem: TypeAlias = SupportsIndex | _slice | EllipsisType | None
Index: TypeAlias = IndexItem | tuple[IndexItem, ...] | str | Selection
Indices: TypeAlias = Array | tuple[Array, ...]
Splits: TypeAlias = Ints | Sequence[Ints]
Device: TypeAlias = Any
"""``"cpu"``, ``"cuda"``, ``"cuda:1"``, a torch.device or a cupy.cuda.Device."""

class SupportsRaggedParts(Protocol):
    """TensorFlow's RaggedTensor."""

    @property
    def flat_values(self) -> Any: ...
    @property
    def nested_row_splits(self) -> Any: ...

class TfArguments(TypedDict):
    begin: list[int]
    end: list[int]
    strides: list[int]
    begin_mask: int
    end_mask: int
    ellipsis_mask: int
    new_axis_mask: int
    shrink_axis_mask: int

class OnnxArguments(TypedDict):
    starts: list[int]
    ends: list[int]
    axes: list[int]
    steps: list[int]
    squeeze: list[int]
    unsqueeze: list[int]

class GradientCost(TypedDict):
    bytes_read: int
    bytes_written: int
    bytes_result: int
    strategy: Literal["nothing", "fresh zeros", "cached", "streaming", "one by one", "gather"]
    pieces: int
    plan: str

class CudaDevice(TypedDict):
    ordinal: int
    name: str
    capability: tuple[int, int]
    bytes: int
    multiprocessors: int

class CudaVersions(TypedDict):
    runtime: tuple[int, int]
    driver: tuple[int, int] | None

class PoolStats(TypedDict):
    bytes_in_use: int
    bytes_kept: int
    limit: int
    mapped: int
    reused: int
