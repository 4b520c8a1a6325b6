"""A gradient that is a sum of slice gradients until something reads it."""

import threading
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map

from . import capture, counting, pending, sums
from .arrays import is_plain
from .placement import Placement, is_supported
from .plainly import Plainly

aten = torch.ops.aten

# A sum that holds more than this is computed, and goes on as one term. Gradients that are kept take memory that others
# could use again while it is in the caches; a few large ones are kept nevertheless, since one pass is the fastest.
MAX_BYTES = 2**23  # or an eighth of the result
MAX_TERMS = 8192
FEW_TERMS = 8


_wrapper = torch.Tensor._make_wrapper_subclass
_refuse_access = torch._C._set_throw_on_mutable_data_ptr


class LazySliceGrad(torch.Tensor):  # type: ignore[misc]
    """What autograd passes on in place of a tensor that is mostly zeros.

    It lives inside a backward pass. Adding two of them and going through another slice keep it as it is; everything
    else computes the sum first, once. Whatever is still alive at the end of the pass is computed then.
    """

    _kind: tuple[tuple[int, ...], Any]  # shape and dtype
    _sum: sums.Sum | None
    _dense: Any
    _computing: Any

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
            if self._dense is None:
                self._dense = self._consumed()
        return self._dense

    def fold_if_full(self) -> None:
        """Computes the sum, and goes on with it as one term, if it holds more than it should."""
        with self._computing:
            if self._sum is not None and self._is_full(self._sum):
                counting.count_event("folds")
                self._sum = sums.whole(self._consumed())

    def _is_full(self, root: sums.Sum) -> bool:
        size = int(self.numel() * self.element_size())
        if root.count < FEW_TERMS:
            return root.bytes > size
        return root.bytes > size // 8 or root.count > MAX_TERMS

    def _consumed(self) -> Any:
        assert self._sum is not None
        holder, self._sum = [self._sum], None
        try:
            return sums.consume(holder, tuple(self.shape), self.dtype)
        except BaseException:
            self._sum = holder[0]
            raise

    def settle(self) -> None:
        """Computes the sum, and gives this very object its memory."""
        dense = self.dense()
        with Plainly():
            self.data = dense

    def follow(self) -> None:
        """Takes the shape that an operation in place, such as `transpose_`, gave to what this stands for."""
        if self._dense.shape != self.shape or self._dense.stride() != self.stride():
            self.settle()
            self._kind = (tuple(self.shape), self.dtype)

    def ordinary(self) -> Any:
        """An ordinary tensor, with the same history."""
        if not self.requires_grad:
            return self.dense()
        return aten.alias.default(self) if torch.is_grad_enabled() else self.dense()

    def _readable(self) -> Any:
        """What to look at in place of this object: it refuses what a tensor that requires a gradient refuses."""
        self.settle()
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


def make(shape: Any, dtype: Any, root: sums.Sum) -> Any:
    """A new one, of the backward pass that runs."""
    lazy = _wrapper(LazySliceGrad, shape, dtype=dtype)
    _refuse_access(lazy)  # rather than give a null pointer to code that looks underneath
    lazy._kind, lazy._sum, lazy._dense, lazy._computing = (shape, dtype), root, None, threading.Lock()
    pending.add(lazy)
    return lazy


def sum_of(tensor: Any) -> sums.Sum | None:
    """The sum that a tensor still is."""
    return tensor._sum if type(tensor) is LazySliceGrad else None


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
    if alpha != 1 or not pending.is_running():
        return None
    if type(a) is type(b) and a._sum is not None and b._sum is not None:
        return _joined(a, b) if a._kind == b._kind else None
    return _added_to_dense(a, b) if _are_alike(a, b) else None


def _joined(a: Any, b: Any) -> Any:
    first = a._sum
    if first.bytes > MAX_BYTES or first.count > MAX_TERMS:
        del first
        a.fold_if_full()
        first = a._sum
    if first is None:  # another thread has just read it
        return None
    shape, dtype = a._kind
    return make(shape, dtype, sums.join(first, b._sum))


def _added_to_dense(a: Any, b: Any) -> Any:
    first, second = sum_of(a), sum_of(b)
    if second is not None and type(a) is torch.Tensor and capture.is_alone("add", a) and _is_free_to_change(a):
        return make(tuple(a.shape), a.dtype, sums.join(sums.whole(a), second))
    # A dense tensor may change before the sum is read, so it is read now.
    first = first or sums.leaf(_dense_of(a))
    second = second or sums.leaf(_dense_of(b))
    dense = sums.evaluate(sums.join(first, second), tuple(a.shape), a.dtype)
    return make(tuple(a.shape), a.dtype, sums.whole(dense))


def _is_free_to_change(a: Any) -> bool:
    """Whether a gradient that nobody has but who adds to it may become the memory of the sum."""
    if a.requires_grad or torch.is_grad_enabled() or torch._debug_has_internal_overlap(a) != 0:
        return False
    return pending.is_engine_adding()


def _dense_of(tensor: Any) -> Any:
    return tensor.dense() if isinstance(tensor, LazySliceGrad) else tensor


def _are_alike(a: Any, b: Any) -> bool:
    if not (isinstance(a, torch.Tensor) and isinstance(b, torch.Tensor)):
        return False  # a number
    if a.shape != b.shape or a.dtype != b.dtype:
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
    return sums.evaluate(root, tuple(a.shape), a.dtype)


def through(gradient: LazySliceGrad, shape: Any, placement: Placement, is_plain_slice: bool) -> Any:
    """The gradient of what was sliced, from that of the slice, which has not been computed; None where it has to be."""
    root = sum_of(gradient)
    if root is None or not pending.is_running():
        return None
    moved = sums.placed(placement, root)
    if not is_plain_slice and not all(is_supported(p, dy.shape) for dy, p in sums.terms(moved, len(shape))):
        return None
    return make(tuple(shape), gradient.dtype, moved)


RULES: dict[Any, Callable[..., Any]] = {
    aten.add.Tensor: _add,
    aten.add_.Tensor: _add_in_place,
    aten.detach.default: _detach,
    aten.clone.default: _clone,
}
