"""Types of the extension module. Checked against it by python/tests/test_stubs.py."""

from builtins import slice as _slice
from collections.abc import Iterable, Iterator, Sequence
from types import EllipsisType
from typing import Any, Literal, Protocol, SupportsIndex, TypeAlias, TypedDict

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

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
DType: TypeAlias = DTypeLike | SupportsNumpyDType
Output: TypeAlias = NDArray[Any] | SupportsDLPack
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

class GradientCost(TypedDict):
    bytes_read: int
    bytes_written: int
    bytes_result: int
    strategy: Literal["nothing", "fresh zeros", "cached", "streaming", "one by one"]
    pieces: int
    plan: str

__version__: str

def _register(**objects: Any) -> None: ...
def _numpy_dtype(dtype: Any) -> np.dtype[Any]: ...
def _dlpack_capsule(array: NDArray[Any], versioned: bool, is_copy: bool) -> Any: ...

class Selection:
    @staticmethod
    def from_index(shape: Shape, index: Index) -> Selection: ...
    @staticmethod
    def from_tf(
        shape: Shape,
        begin: Ints,
        end: Ints,
        strides: Ints | None = None,
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
    @staticmethod
    def from_begin_size(shape: Shape, begin: Ints, size: Ints) -> Selection:
        """The slice that TensorFlow's ``tf.slice`` takes: ``x[begin : begin + size]`` on every axis.

        Parameters
        ----------
        shape : int, sequence of int or tf.TensorShape
            The shape that is sliced.
        begin : sequence of int
            Where the slice begins, one entry per axis; nothing counts from the end.
        size : sequence of int
            How many elements it takes, one entry per axis; -1 is the rest of the axis.

        Returns
        -------
        Selection

        Raises
        ------
        InvalidArgumentError
            Where an axis has no entry, or the slice does not lie inside the shape.

        Examples
        --------
        >>> import backslice as bs
        >>> bs.Selection.from_begin_size((4, 6), begin=[1, 2], size=[2, -1])
        Selection.from_index((4, 6), "1:3, 2:6")
        """
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
    def slice(self, x: Array, out: Output | None = None) -> NDArray[Any]: ...
    def grad(
        self, dy: Array, out: Output | None = None, accumulate: bool = False, *, dtype: DType | None = None
    ) -> NDArray[Any]: ...
    def prepare(self, dtype: DType) -> PreparedSlice: ...
    def restrict(self, box: Sequence[tuple[int, int]]) -> tuple[Selection, tuple[_slice, ...]] | None: ...
    def cost(self, dtype: DType) -> GradientCost: ...
    def explain(self) -> str: ...
    def _repr_svg_(self) -> str: ...
    def _repr_html_(self) -> str: ...
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...

class PreparedSlice:
    def forward(self, x: Array, out: Output) -> NDArray[Any]: ...
    def gradient(self, dy: Array, out: Output) -> NDArray[Any]: ...
    def accumulate(self, dy: Array, out: Output) -> NDArray[Any]: ...
    @property
    def selection(self) -> Selection: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    def __repr__(self) -> str: ...

def parse_index(text: str) -> tuple[int | _slice | EllipsisType | None, ...]: ...

class GradBuffer:
    def __init__(self, shape: Shape, dtype: DType) -> None: ...
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
def exit_on_bus_error(message: bytes, unfinished: bytes) -> None: ...
def simd_targets() -> list[str]: ...
def simd_target() -> str: ...
def environment_problems() -> list[str]: ...
def multi_slice_grad(
    shape: Shape,
    slices: Iterable[tuple[Index, Array]],
    out: Output | None = None,
    accumulate: bool = False,
    *,
    dtype: DType | None = None,
) -> NDArray[Any]: ...
def slice(x: Array, index: Index, out: Output | None = None) -> NDArray[Any]: ...
def slice_grad(
    dy: Array,
    shape: Shape,
    index: Index,
    out: Output | None = None,
    accumulate: bool = False,
    *,
    dtype: DType | None = None,
) -> NDArray[Any]: ...
def _slice_grad_into_zeros(dy: Array, shape: Shape, index: Index, out: Output) -> None: ...
def strided_slice(
    input: Array,
    begin: Ints,
    end: Ints,
    strides: Ints | None = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    *,
    out: Output | None = None,
) -> NDArray[Any]: ...
def strided_slice_grad(
    shape: Ints | SupportsExtents,
    begin: Ints,
    end: Ints,
    strides: Ints | None = None,
    dy: Array = ...,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    *,
    out: Output | None = None,
    accumulate: bool = False,
) -> NDArray[Any]: ...
def onnx_slice(
    data: Array,
    starts: Ints,
    ends: Ints,
    axes: Ints | None = None,
    steps: Ints | None = None,
    *,
    out: Output | None = None,
) -> NDArray[Any]: ...
def onnx_slice_grad(
    grad: Array,
    shape: Ints | SupportsExtents,
    starts: Ints,
    ends: Ints,
    axes: Ints | None = None,
    steps: Ints | None = None,
    *,
    out: Output | None = None,
    accumulate: bool = False,
) -> NDArray[Any]: ...

Indices: TypeAlias = Array | tuple[Array, ...]

def sparse_slice(
    indices: Indices, values: Array, shape: Ints | SupportsExtents, start: Ints, size: Ints
) -> tuple[Any, NDArray[Any], NDArray[np.int64]]: ...
def sparse_slice_grad(
    backprop_val_grad: Array,
    input_indices: Indices,
    input_start: Ints,
    output_indices: Indices,
    *,
    order: Literal["in_order", "any"] = "in_order",
    out: Output | None = None,
    accumulate: bool = False,
) -> NDArray[Any]: ...
def sparse_slice_grad_by_size(
    grad: Array,
    input_indices: Indices,
    start: Ints,
    size: Ints,
    *,
    out: Output | None = None,
    accumulate: bool = False,
) -> NDArray[Any]: ...

PartialShape: TypeAlias = Sequence[int | None] | SupportsExtents | None

class TensorArray:
    def __init__(
        self,
        size: SupportsIndex,
        dtype: DType,
        element_shape: PartialShape = None,
        dynamic_size: bool = False,
        clear_after_read: bool = True,
        identical_element_shapes: bool = False,
        name: str = "",
        *,
        contiguous: bool = False,
    ) -> None: ...
    def write(self, index: SupportsIndex, value: Array, copy: bool = True) -> None: ...
    def read(self, index: SupportsIndex, *, out: Output | None = None) -> NDArray[Any]: ...
    def gather(
        self, indices: Ints, element_shape: PartialShape = None, *, out: Output | None = None
    ) -> NDArray[Any]: ...
    def scatter(self, indices: Ints, value: Array, copy: bool = True) -> None: ...
    def stack(self, *, out: Output | None = None) -> NDArray[Any]: ...
    def unstack(self, value: Array, copy: bool = True) -> None: ...
    def concat(
        self, element_shape_except0: PartialShape = None, *, out: Output | None = None
    ) -> tuple[NDArray[Any], NDArray[np.int64]]: ...
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
    def __eq__(self, other: object) -> bool: ...
    def __hash__(self) -> int: ...

class TensorArrayContainer:
    def __init__(self) -> None: ...
    def create(
        self,
        size: SupportsIndex,
        dtype: DType,
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

Splits: TypeAlias = Ints | Sequence[Ints]

class SupportsRaggedParts(Protocol):
    """TensorFlow's RaggedTensor."""

    @property
    def flat_values(self) -> Any: ...
    @property
    def nested_row_splits(self) -> Any: ...

class RaggedTensor:
    def __init__(self, values: Array, nested_row_splits: Splits) -> None: ...
    @staticmethod
    def from_row_lengths(values: Array, *nested_row_lengths: Any) -> RaggedTensor: ...
    @staticmethod
    def from_list(rows: Sequence[Any], dtype: DType | None = None, ragged_rank: int | None = None) -> RaggedTensor: ...
    @property
    def values(self) -> NDArray[Any]: ...
    @property
    def nested_row_splits(self) -> tuple[NDArray[Any], ...]: ...
    @property
    def ragged_rank(self) -> int: ...
    @property
    def shape(self) -> tuple[int | None, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    def to_list(self) -> list[Any]: ...
    def _repr_svg_(self) -> str: ...
    def _repr_html_(self) -> str: ...
    def slice_grad(
        self,
        index: Index,
        grad: RaggedTensor | SupportsRaggedParts | Array,
        *,
        out: Output | None = None,
        accumulate: bool = False,
    ) -> NDArray[Any]: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: Any) -> Any: ...
    def __eq__(self, other: object) -> bool: ...
    __hash__: None  # type: ignore[assignment]

class VariantArray:
    def __init__(
        self, elements: Sequence[RaggedTensor | SupportsRaggedParts | Array | None], shape: Shape | None = None
    ) -> None: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    def reshape(self, shape: Shape) -> VariantArray: ...
    def __len__(self) -> int: ...
    def __getitem__(self, index: Any) -> Any: ...
    def __iter__(self) -> Iterator[Any]: ...

def ragged_tensor_to_variant(
    rt: RaggedTensor | SupportsRaggedParts | Array, batched_input: bool = True
) -> VariantArray: ...
def ragged_tensor_from_variant(
    encoded: VariantArray,
    input_ragged_rank: SupportsIndex,
    output_ragged_rank: SupportsIndex,
    Tvalues: DType | None = None,
    Tsplits: DType | None = None,
) -> RaggedTensor: ...
def ragged_tensor_to_variant_gradient(
    encoded_ragged_grad: VariantArray,
    row_splits: Splits | SupportsIndex,
    dense_values_shape: Ints,
    Tvalues: DType | None = None,
    *,
    out: Output | None = None,
    accumulate: bool = False,
) -> NDArray[Any]: ...
def ragged_tensor_from_variant_gradient(
    decoded: RaggedTensor | SupportsRaggedParts | Array, encoded_shape: Shape
) -> VariantArray: ...
