"""The layer of a gradient in Dask's high-level graph: what is to be computed, from which tasks are made when needed.

Dask asks for tasks when it optimises a graph, and only for those that the wanted keys need.
"""

from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from itertools import product
from operator import getitem
from typing import Any

import numpy as np
from dask.highlevelgraph import Layer, MaterializedLayer
from dask.task_spec import Alias, GraphNode, Task, TaskRef

from . import blocks
from .meetings import Block, Chunks, Slice

Key = tuple[Any, ...]


class GradientLayer(Layer):  # type: ignore[misc]
    """The sum of the gradients of slices, each with the name of its dy, and of the array `onto` where there is one."""

    def __init__(
        self,
        name: str,
        slices: list[tuple[str, Slice]],
        chunks: Chunks,
        dtype: np.dtype[Any],
        onto: str | None = None,
    ) -> None:
        super().__init__(collection_annotations={"type": "dask.array.core.Array", "chunks": chunks, "dtype": dtype})
        self.name, self.slices, self.chunks, self.dtype, self.onto = name, slices, chunks, dtype, onto

    def __repr__(self) -> str:
        met = f"{len(self._slices_of)} of {len(self)} chunks meet {self.meeting_pairs} of dy"
        return f"<{type(self).__name__} {self.name!r}: {met}>"

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_slices_of"}  # soon found again

    @property
    def meeting_pairs(self) -> int:
        """How many pairs of a chunk of the result and a chunk of a dy meet."""
        return sum(piece.meeting_pairs for _, piece in self.slices)

    def layer_info_dict(self) -> dict[str, str]:
        """What the dashboard and notebooks show."""
        info: dict[str, str] = super().layer_info_dict()
        return info | {
            "slices": str(len(self.slices)),
            "chunks that meet dy": str(len(self._slices_of)),
            "meeting pairs": str(self.meeting_pairs),
        }

    @cached_property
    def _slices_of(self) -> dict[Block, list[tuple[str, Slice]]]:
        """The slices that meet each chunk, in the order of the caller's list."""
        found: dict[Block, list[tuple[str, Slice]]] = {}
        for entry in self.slices:
            for block in entry[1].blocks():
                found.setdefault(block, []).append(entry)
        return found

    def _task(self, key: Key) -> GraphNode:
        block = key[1:]
        met = self._slices_of.get(block)
        if met is None:
            return self._untouched(key, block)
        if view := self._view(key, block, met):
            return view
        places, refs = [], []
        for dy, taken in met:
            for piece in taken.pieces(block):
                places.append((piece.target, piece.source))
                refs.append(TaskRef((dy, *piece.dy_block)))
        if self.onto is not None:
            return Task(key, blocks.accumulated, TaskRef((self.onto, *block)), tuple(places), *refs)
        return Task(key, blocks.gradient, self._shape(block), tuple(places), *refs)

    def _view(self, key: Key, block: Block, met: list[tuple[str, Slice]]) -> GraphNode | None:
        """As Dask's own slicing does it: where a chunk is a part of one of dy, nothing is copied."""
        if self.onto is not None or len(met) > 1 or not (view := met[0][1].view(block)):
            return None
        source = (met[0][0], *(axis.dy_chunk for axis in view))
        if all(axis.whole for axis in view):
            return Alias(key, source)
        return Task(key, getitem, TaskRef(source), tuple(axis.source for axis in view))

    def _untouched(self, key: Key, block: Block) -> GraphNode:
        if self.onto is not None:
            return Alias(key, (self.onto, *block))
        return Task(key, blocks.zeros, self._shape(block), self.dtype)

    def _shape(self, block: Block) -> tuple[int, ...]:
        return tuple(axis[i] for axis, i in zip(self.chunks, block, strict=True))

    def __iter__(self) -> Iterator[Key]:
        return product((self.name,), *(range(len(axis)) for axis in self.chunks))

    def __len__(self) -> int:
        return int(np.prod([len(axis) for axis in self.chunks], dtype=np.int64))

    def __contains__(self, key: object) -> bool:
        return (
            isinstance(key, tuple)
            and len(key) == len(self.chunks) + 1
            and key[0] == self.name
            and all(isinstance(i, int) and 0 <= i < len(axis) for i, axis in zip(key[1:], self.chunks, strict=True))
        )

    def __getitem__(self, key: Key) -> GraphNode:
        if key not in self:
            raise KeyError(key)
        return self._task(key)

    def is_materialized(self) -> bool:
        """Never: tasks are made on request."""
        return False

    def get_output_keys(self) -> set[Key]:
        """The keys of all chunks."""
        return set(self)

    def cull(
        self, keys: set[Key], all_hlg_keys: Collection[Key]
    ) -> tuple[MaterializedLayer, Mapping[Key, Collection[Key]]]:
        """The tasks of some chunks alone, and the chunks of dy that they need."""
        tasks = {key: self._task(key) for key in keys if key in self}
        culled = MaterializedLayer(tasks, annotations=self.annotations)
        return culled, {key: set(task.dependencies) for key, task in tasks.items()}
