"""A gradient that is a sum of slice gradients until something reads it."""

import sys
import threading
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map

from . import capture, counting, devices, growing, pending, streams, sums
from .arrays import MAX_RANK, is_plain
from .placement import Placement, is_supported
from .plainly import plainly

aten = torch.ops.aten

# A sum that holds more than this is computed, and goes on as one term. Gradients that are kept take memory that others
# could use again while it is in the caches; a few large ones are kept nevertheless, since one pass is the fastest.
MAX_BYTES = 2**23  # or an eighth of the result
MAX_BYTES_ON_DEVICE = 2**26  # where it is launches of kernels that many small sums would cost
MAX_TERMS = 8192
FEW_TERMS = 8  # of which as much is kept as twice the result


_wrapper = torch.Tensor._make_wrapper_subclass
_refuse_access = torch._C._set_throw_on_mutable_data_ptr
_data: Any = torch.Tensor.data
_storage: Any = torch.Tensor.untyped_storage


class LazySliceGrad(torch.Tensor):  # type: ignore[misc]
    """What autograd passes on in place of a tensor that is mostly zeros.

    It lives inside a backward pass. Adding two of them and going through another slice keep it as it is; everything
    else computes the sum first, once. Whatever is still alive at the end of the pass is computed then.
    """

    _kind: tuple[tuple[int, ...], Any, Any]  # shape, dtype and device
    _sum: sums.Sum | None
    _dense: Any
    _moment: streams.Moment | None = None  # from when on that can be read, on a device
    _computing: Any
    _is_open = False  # it waits in the engine, where nobody has read it, and more slices may be added to it
    _has_memory = False  # this object itself, for code that looks underneath

    __torch_function__ = torch._C._disabled_torch_function_impl

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        rule = RULES.get(func)
        if rule is not None:
            result = rule(*args, **kwargs) if kwargs else rule(*args)
            if result is not None:
                return result
        return _on_ordinary_tensors(func, args, kwargs or {})

    def dense(self) -> Any:
        """The sum as an ordinary tensor without history, computed now if it was not before."""
        with self._computing:
            self._is_open = False
            if self._dense is None:
                self._dense = self._consumed()
                self._moment = streams.now(self._dense.device)
            elif self._moment is not None:
                streams.join([(self._moment, self._dense)])
        return self._dense

    def last_sum(self) -> sums.Sum | None:
        """The sum that this still is. It does not grow any more."""
        with self._computing:
            self._is_open = False
            return self._sum

    def bounded_sum(self) -> sums.Sum | None:
        """The same; if it holds more than it should, it is computed and goes on as one term."""
        with self._computing:
            self._is_open = False
            self._fold()
            return self._sum

    def grow(self, term: sums.Sum) -> bool:
        """Adds a term to the sum; not where somebody may have read it."""
        with self._computing:
            if not self._is_open or self._sum is None:
                return False
            self._sum = sums.join(self._sum, term)
            self._fold()
            return True

    def made(self) -> sums.Leaf | None:
        """The memory of the sum, where there is some and no more than one term waits for it; the lock is held."""
        root = self._sum
        if root is None or not self._is_open or root.made == 0 or root.count > 2:
            return None
        if not isinstance(root, sums.Leaf):
            del root
            self._sum = root = sums.whole(self._consumed())
        return root

    def _fold(self) -> None:
        """Computes the sum if it holds more than it should; the lock is held."""
        root = self._sum
        if root is None or (root.count <= MAX_TERMS and root.bytes <= MAX_BYTES):
            return
        if root.count <= MAX_TERMS and root.bytes <= most_bytes(self._kind[2]):
            return
        if self._is_full(root):
            del root
            counting.count_event("folds")
            self._sum = sums.whole(self._consumed())

    def _is_full(self, root: sums.Sum) -> bool:
        size = int(self.numel() * self.element_size())
        if root.count < FEW_TERMS:
            return root.bytes > 2 * size
        return root.bytes > size // 8 or root.count > MAX_TERMS

    def _consumed(self) -> Any:
        assert self._sum is not None
        holder, self._sum = [self._sum], None
        try:
            return sums.consume(holder, tuple(self.shape), self.dtype, self.device)
        except BaseException:
            self._sum = holder[0]
            raise

    def settle(self) -> None:
        """Computes the sum, and gives this very object its memory."""
        dense = self.dense()
        plainly(_data.__set__, self, dense)
        self._has_memory = True

    def follow(self) -> None:
        """Takes the shape or memory that `transpose_`, `set_` and the like gave to what this stands for."""
        if self._dense.shape != self.shape or self._dense.stride() != self.stride() or self._is_elsewhere():
            self.settle()
            self._kind = (tuple(self.shape), self.dtype, self.device)

    def _is_elsewhere(self) -> bool:
        """Whether what this stands for has other memory than this object has by now."""
        return self._has_memory and bool(_storage(self)._cdata != self._dense.untyped_storage()._cdata)

    @property
    def data(self) -> Any:
        return self.dense().data

    @data.setter
    def data(self, value: Any) -> None:
        """As of any tensor: from now on this stands for the other one's memory."""
        value = _dense_of(value)
        with self._computing:
            plainly(_data.__set__, self, value)
            self._sum, self._dense, self._has_memory, self._moment = None, plainly(value.detach), True, None
            self._is_open = False
            self._kind = (tuple(self.shape), self.dtype, self.device)

    def ordinary(self) -> Any:
        """An ordinary tensor, with the same history."""
        if not self.requires_grad:
            return self.dense()
        return aten.alias.default(self) if torch.is_grad_enabled() else self.dense()

    def _readable(self) -> Any:
        """What to look at in place of this object: it refuses what a tensor that requires a gradient refuses."""
        plain = self.dense().detach()
        return plain.requires_grad_() if self.requires_grad else plain

    def numpy(self, *, force: bool = False) -> Any:
        return self._readable().numpy(force=force)

    def tolist(self) -> Any:
        return self._readable().detach().tolist()

    def data_ptr(self) -> int:
        return int(self.dense().data_ptr())

    def untyped_storage(self) -> Any:
        return self.dense().untyped_storage()

    def storage(self) -> Any:
        return self.dense().storage()

    def _typed_storage(self) -> Any:
        return self.dense()._typed_storage()

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        return self._readable().__array__(*args, **kwargs)

    def __dlpack__(self, **options: Any) -> Any:
        return self._readable().__dlpack__(**options)

    def __deepcopy__(self, memo: Any) -> Any:
        if not self.is_leaf:
            return torch.Tensor.__deepcopy__(self, memo)  # refuses, in PyTorch's words
        copied = self.dense().clone().requires_grad_(self.requires_grad)
        memo[id(self)] = copied
        return copied

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self._readable().__reduce_ex__(protocol)

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return repr(self._readable())

    def __coerce_same_metadata_as_tangent__(self, meta: Any, expected_type: Any = None) -> Any:
        """What compiled code asks of a gradient that reaches it."""
        return self.dense()


def most_bytes(device: Any) -> int:
    """What a sum may hold whatever the size of its result."""
    return MAX_BYTES_ON_DEVICE if devices.takes(device) else MAX_BYTES


def make(shape: Any, dtype: Any, device: Any, root: sums.Sum) -> Any:
    """A new one, of the backward pass that runs."""
    lazy = _wrapper(LazySliceGrad, shape, dtype=dtype, device=device)
    _refuse_access(lazy)  # rather than give a null pointer to code that looks underneath
    lazy._kind, lazy._sum, lazy._dense, lazy._computing = (shape, dtype, device), root, None, threading.Lock()
    pending.add(lazy)
    return lazy


def sum_of(tensor: Any) -> sums.Sum | None:
    """The sum that a tensor still is."""
    return tensor.last_sum() if type(tensor) is LazySliceGrad else None


def _on_ordinary_tensors(func: Any, args: Any, kwargs: Any) -> Any:
    lazy: dict[int, Any] = {}

    def ordinary(value: Any) -> Any:
        if not isinstance(value, LazySliceGrad):
            return value
        dense = value.dense()
        lazy[id(dense)] = value
        return dense

    result = func(*tree_map(ordinary, args), **tree_map(ordinary, kwargs))
    for value in lazy.values():
        value.follow()
    # What an operation in place returns is what it was given.
    return tree_map(lambda value: lazy.get(id(value), value), result)


def _add(a: Any, b: Any, *, alpha: Any = 1) -> Any:
    if alpha != 1 or not pending.is_running() or pending.is_accumulating():
        return None
    if type(a) is type(b) and a._kind == b._kind:
        first, second = a.bounded_sum(), b.bounded_sum()
        if first is not None and second is not None:
            result = _joined(a, first, second)
            growing.goes_on(b, result)
            return result
    if not _are_alike(a, b):
        return None
    result = _added_to_dense(a, b)
    growing.goes_on(b, result)
    return result


def _joined(a: LazySliceGrad, first: sums.Sum, second: sums.Sum) -> Any:
    """Their sum: a new one, or where nobody else has `a`, that."""
    if torch.is_grad_enabled() or not capture.is_alone(a):
        return make(*a._kind, sums.join(first, second))
    with a._computing:
        if a._sum is first:
            a._sum = sums.join(first, second)
            return a
    return make(*a._kind, sums.join(first, second))


def _added_to_dense(a: Any, b: Any) -> Any:
    first, second = sum_of(a), sum_of(b)
    if second is not None and type(a) is torch.Tensor and _is_free_to_change(a):
        memory = capture.shared_memory("add", a, sys.getrefcount(a))
        if memory is not None:
            return make(tuple(a.shape), a.dtype, a.device, sums.join(sums.whole(memory), second))
    # A dense tensor may change before the sum is read, so it is read now.
    first = first or sums.leaf(_dense_of(a))
    second = second or sums.leaf(_dense_of(b))
    dense = sums.evaluate(sums.join(first, second), tuple(a.shape), a.dtype, a.device)
    return make(tuple(a.shape), a.dtype, a.device, sums.whole(dense))


def _is_free_to_change(a: Any) -> bool:
    """Whether the memory of a gradient may become that of the sum. It is shared: who else has it sees no change."""
    if a.requires_grad or torch.is_grad_enabled() or torch._debug_has_internal_overlap(a) != 0:
        return False
    return pending.is_engine_adding()


def _dense_of(tensor: Any) -> Any:
    return tensor.dense() if isinstance(tensor, LazySliceGrad) else tensor


def _are_alike(a: Any, b: Any) -> bool:
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)):
        return False  # a number
    if a.shape != b.shape or a.dtype != b.dtype or a.device != b.device:
        return False
    return (type(a) is LazySliceGrad or is_plain(a)) and (type(b) is LazySliceGrad or is_plain(b))


def _add_in_place(a: Any, b: Any, *, alpha: Any = 1) -> Any:
    added = sum_of(b)
    if alpha != 1 or added is None or isinstance(a, LazySliceGrad) or not _are_alike(a, b):
        return None
    if torch._debug_has_internal_overlap(a) != 0:
        return None  # PyTorch refuses it, in its own words
    sums.accumulate(added, a)
    return a


def _detach(a: Any) -> Any:
    return a.dense().detach()


def _clone(a: Any, *, memory_format: Any = None) -> Any:
    root = sum_of(a)
    if root is None or memory_format not in (None, torch.preserve_format, torch.contiguous_format):
        return None
    return sums.evaluate(root, tuple(a.shape), a.dtype, a.device)


def through(gradient: LazySliceGrad, shape: Any, placement: Placement, is_plain_slice: bool) -> Any:
    """The gradient of what was sliced, from that of the slice, which has not been computed; None where it has to be."""
    root = sum_of(gradient)
    if root is None or len(shape) > MAX_RANK or not pending.is_running():
        return None
    moved = sums.placed(placement, root)
    if not is_plain_slice and not all(is_supported(p, dy.shape) for dy, p in sums.terms(moved, len(shape))):
        return None
    return make(tuple(shape), gradient.dtype, gradient.device, moved)


RULES: dict[Any, Callable[..., Any]] = {
    aten.add.Tensor: _add,
    aten.add_.Tensor: _add_in_place,
    aten.detach.default: _detach,
    aten.clone.default: _clone,
}
