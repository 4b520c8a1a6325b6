"""Types of the extension module. Checked against it by python/tests/test_stubs.py."""

from builtins import slice as _slice
from collections.abc import Sequence
from types import EllipsisType
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

class SupportsDLPack(Protocol):
    def __dlpack__(self, *, stream: Any = ...) -> Any: ...
    def __dlpack_device__(self) -> tuple[int, int]: ...

Array: TypeAlias = ArrayLike | SupportsDLPack
Ints: TypeAlias = Sequence[int] | NDArray[np.integer[Any]]
Shape: TypeAlias = SupportsIndex | Ints
IndexItem: TypeAlias = SupportsIndex | _slice | EllipsisType | None
Index: TypeAlias = IndexItem | tuple[IndexItem, ...] | str | Selection

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

__version__: str

class Selection:
    @staticmethod
    def from_index(shape: Shape, index: Index) -> Selection: ...
    @staticmethod
    def from_tf(
        shape: Shape,
        begin: Ints,
        end: Ints,
        strides: Ints,
        begin_mask: int = 0,
        end_mask: int = 0,
        ellipsis_mask: int = 0,
        new_axis_mask: int = 0,
        shrink_axis_mask: int = 0,
    ) -> Selection: ...
    @staticmethod
    def from_onnx(
        shape: Shape, starts: Ints, ends: Ints, axes: Ints | None = None, steps: Ints | None = None
    ) -> Selection: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def result_shape(self) -> tuple[int, ...]: ...
    @property
    def axes(self) -> tuple[tuple[int, int, int], ...]: ...
    @property
    def result_axes(self) -> tuple[int, ...]: ...
    def to_index(self) -> tuple[int | _slice | None, ...]: ...
    def to_tf(self) -> TfArguments: ...
    def to_onnx(self) -> OnnxArguments: ...
    def restrict(self, box: Sequence[tuple[int, int]]) -> tuple[Selection, tuple[_slice, ...]] | None: ...
    def explain(self) -> str: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...

class GradBuffer:
    def __init__(self, shape: Shape, dtype: DTypeLike) -> None: ...
    @property
    def array(self) -> NDArray[Any]: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    def write(self, index: Index, dy: Array) -> None: ...
    def add(self, index: Index, dy: Array) -> None: ...
    def zero(self) -> None: ...
    def writable(self) -> NDArray[Any]: ...

class PoolStats(TypedDict):
    bytes_in_use: int
    bytes_kept: int
    limit: int
    mapped: int
    reused: int

def set_num_threads(threads: int) -> None: ...
def get_num_threads() -> int: ...
def pool_stats() -> PoolStats: ...
def set_pool_limit(bytes: int) -> None: ...
def trim_pool() -> None: ...
def probe_memory(dst: NDArray[Any], src: NDArray[Any] | None, streaming: bool) -> None: ...
def simd_targets() -> list[str]: ...
def simd_target() -> str: ...
def multi_slice_grad(
    shape: Shape, slices: Sequence[tuple[Index, Array]], out: NDArray[Any] | None = None, accumulate: bool = False
) -> NDArray[Any]: ...
def slice(x: Array, index: Index, out: NDArray[Any] | None = None) -> NDArray[Any]: ...
def slice_grad(
    dy: Array, shape: Shape, index: Index, out: NDArray[Any] | None = None, accumulate: bool = False
) -> NDArray[Any]: ...
def strided_slice(
    input: Array,
    begin: Ints,
    end: Ints,
    strides: Ints,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    *,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...
def strided_slice_grad(
    shape: Ints,
    begin: Ints,
    end: Ints,
    strides: Ints,
    dy: Array,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    *,
    out: NDArray[Any] | None = None,
    accumulate: bool = False,
) -> NDArray[Any]: ...
def onnx_slice(
    data: Array,
    starts: Ints,
    ends: Ints,
    axes: Ints | None = None,
    steps: Ints | None = None,
    *,
    out: NDArray[Any] | None = None,
) -> NDArray[Any]: ...
def onnx_slice_grad(
    grad: Array,
    shape: Ints,
    starts: Ints,
    ends: Ints,
    axes: Ints | None = None,
    steps: Ints | None = None,
    *,
    out: NDArray[Any] | None = None,
    accumulate: bool = False,
) -> NDArray[Any]: ...

Indices: TypeAlias = Array | tuple[Array, ...]

def sparse_slice(
    indices: Indices, values: Array, shape: Ints, start: Ints, size: Ints
) -> tuple[Any, NDArray[Any], NDArray[np.int64]]: ...
def sparse_slice_grad(
    backprop_val_grad: Array,
    input_indices: Indices,
    input_start: Ints,
    output_indices: Indices,
    *,
    order: Literal["in_order", "any"] = "in_order",
    out: NDArray[Any] | None = None,
    accumulate: bool = False,
) -> NDArray[Any]: ...
def sparse_slice_grad_by_size(
    grad: Array,
    input_indices: Indices,
    start: Ints,
    size: Ints,
    *,
    out: NDArray[Any] | None = None,
    accumulate: bool = False,
) -> NDArray[Any]: ...

PartialShape: TypeAlias = Sequence[int | None] | None

class TensorArray:
    def __init__(
        self,
        size: SupportsIndex,
        dtype: DTypeLike,
        element_shape: PartialShape = None,
        dynamic_size: bool = False,
        clear_after_read: bool = True,
        identical_element_shapes: bool = False,
        name: str = "",
        *,
        contiguous: bool = False,
    ) -> None: ...
    def write(self, index: SupportsIndex, value: Array, copy: bool = True) -> None: ...
    def read(self, index: SupportsIndex) -> NDArray[Any]: ...
    def gather(self, indices: Ints, element_shape: PartialShape = None) -> NDArray[Any]: ...
    def scatter(self, indices: Ints, value: Array, copy: bool = True) -> None: ...
    def stack(self) -> NDArray[Any]: ...
    def unstack(self, value: Array, copy: bool = True) -> None: ...
    def concat(self, element_shape_except0: PartialShape = None) -> tuple[NDArray[Any], NDArray[np.int64]]: ...
    def split(self, value: Array, lengths: Ints, copy: bool = True) -> None: ...
    def size(self) -> int: ...
    def close(self) -> None: ...
    def grad(self, source: str) -> TensorArray: ...
    def grad_with_shape(self, source: str, shape_to_prepend: Ints) -> TensorArray: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def name(self) -> str: ...
    @property
    def element_shape(self) -> tuple[int | None, ...] | None: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

class TensorArrayContainer:
    def __init__(self) -> None: ...
    def create(
        self,
        size: SupportsIndex,
        dtype: DTypeLike,
        element_shape: PartialShape = None,
        dynamic_size: bool = False,
        clear_after_read: bool = True,
        identical_element_shapes: bool = False,
        name: str = "",
        *,
        contiguous: bool = False,
    ) -> TensorArray: ...
    def find(self, name: str) -> TensorArray | None: ...
    def remove(self, name: str) -> bool: ...
    def names(self) -> list[str]: ...

def tensor_array_grad_with_shape(
    handle: TensorArray, flow_in: float | np.floating[Any], shape_to_prepend: Ints, source: str
) -> tuple[TensorArray, np.float32]: ...
