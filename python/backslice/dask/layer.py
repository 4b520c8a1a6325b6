"""The layers of gradients in Dask's high-level graph. They describe the computation, and make tasks on request.

Dask asks for tasks when it optimises a graph, and only for tasks that the wanted keys need.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from itertools import product
from operator import index
from typing import Any

import numpy as np
from dask.base import clone_key
from dask.blockwise import Blockwise
from dask.graph_manipulation import chunks
from dask.highlevelgraph import Layer, MaterializedLayer
from dask.task_spec import Alias, GraphNode, Task, TaskRef

from . import blocks
from .pieces import Block, Chunks, Slice

Key = tuple[Any, ...]


class GradientLayer(Layer):  # type: ignore[misc]
    """The sum of the gradients of slices, each with the name of its dy, and of the array `onto`, if there is one."""

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
        met = f"{self.chunks_that_meet} of {len(self)} chunks meet {self.meeting_pairs} of dy"
        return f"<{type(self).__name__} {self.name!r}: {met}>"

    def __getstate__(self) -> dict[str, Any]:
        # _slices_of is quickly computed again
        return {name: value for name, value in self.__dict__.items() if name != "_slices_of"}

    @property
    def chunks_that_meet(self) -> int:
        """Return how many chunks of the result meet any chunk of a dy."""
        if len(self.slices) == 1:
            return math.prod(map(len, self.slices[0][1].axes))
        return len(self._slices_of)

    @property
    def meeting_pairs(self) -> int:
        """Return how many pairs of a chunk of the result and a chunk of a dy meet."""
        return sum(piece.meeting_pairs for _, piece in self.slices)

    def layer_info_dict(self) -> dict[str, str]:
        """Return the information for the dashboard and notebooks."""
        info: dict[str, str] = super().layer_info_dict()
        return info | {
            "slices": str(len(self.slices)),
            "chunks that meet dy": str(self.chunks_that_meet),
            "meeting pairs": str(self.meeting_pairs),
        }

    def _slices_at(self, block: Block) -> list[tuple[str, Slice]]:
        """Return the slices that meet a chunk, in the order of the caller's list."""
        if len(self.slices) == 1:
            return self.slices if self.slices[0][1].meets(block) else []
        return self._slices_of.get(block, [])

    @cached_property
    def _slices_of(self) -> dict[Block, list[tuple[str, Slice]]]:
        """Return the slices of each chunk that meets any. Not used for a single slice, which knows this itself."""
        found: dict[Block, list[tuple[str, Slice]]] = {}
        for entry in self.slices:
            for block in entry[1].blocks():
                found.setdefault(block, []).append(entry)
        return found

    def _task(self, key: Key) -> GraphNode:
        block = tuple(map(index, key[1:]))
        met = self._slices_at(block)
        if not met:
            return self._untouched(key, block)
        if view := self._view(key, block, met):
            return view
        places = (
            met[0][1].places(block) if len(met) == 1 else tuple(place for _, at in met for place in at.places(block))
        )
        refs = [TaskRef((dy, *dy_block)) for dy, at in met for dy_block in at.dy_blocks(block)]
        if self.onto is not None:
            onto = TaskRef((self.onto, *block))
            return Task(key, blocks.accumulated, onto, self._shape(block), self.dtype, places, *refs)
        made = blocks.gradient if len(met) == 1 else blocks.total
        return Task(key, made, self._shape(block), self.dtype, places, *refs)

    def _view(self, key: Key, block: Block, met: list[tuple[str, Slice]]) -> GraphNode | None:
        """Return a chunk that is most of a chunk of dy as a view, as Dask's own slicing does."""
        if self.onto is not None or len(met) > 1 or not (view := met[0][1].view(block)):
            return None
        source = (met[0][0], *(axis.dy_chunk for axis in view))
        if all(axis.whole for axis in view):
            return Alias(key, source)
        part, size = tuple(axis.source for axis in view), tuple(axis.dy_size for axis in view)
        return Task(key, blocks.part, size, self.dtype, part, TaskRef(source))

    def _untouched(self, key: Key, block: Block) -> GraphNode:
        if self.onto is not None:
            return Alias(key, (self.onto, *block))
        return Task(key, blocks.zeros, self._shape(block), self.dtype)

    def _shape(self, block: Block) -> tuple[int, ...]:
        return tuple(axis[i] for axis, i in zip(self.chunks, block, strict=True))

    def __iter__(self) -> Iterator[Key]:
        return product((self.name,), *(range(len(axis)) for axis in self.chunks))

    def __len__(self) -> int:
        return math.prod(map(len, self.chunks))

    def __contains__(self, key: object) -> bool:
        return (
            isinstance(key, tuple)
            and len(key) == len(self.chunks) + 1
            and key[0] == self.name
            and all(_numbers_one_of(axis, i) for i, axis in zip(key[1:], self.chunks, strict=True))
        )

    def __getitem__(self, key: Key) -> GraphNode:
        if key not in self:
            raise KeyError(key)
        return self._task(key)

    @property
    def has_legacy_tasks(self) -> bool:
        """Return False always. Dask would make every task to find out."""
        return False

    def is_materialized(self) -> bool:
        """Return False always: tasks are made on request."""
        return False

    def get_output_keys(self) -> set[Key]:
        """Return the keys of all chunks."""
        return set(self)

    def cull(
        self, keys: set[Key], all_hlg_keys: Collection[Key]
    ) -> tuple[MaterializedLayer, Mapping[Key, Collection[Key]]]:
        """Return the tasks of some chunks alone, and the chunks of dy that they need."""
        tasks = {key: self._task(key) for key in keys if key in self}
        culled = MaterializedLayer(tasks, annotations=self.annotations)
        return culled, {key: task.dependencies for key, task in tasks.items()}

    def clone(self, keys: set[Key], seed: Any, bind_to: Key | None = None) -> tuple[MaterializedLayer, bool]:
        """Return the tasks under other names, as the functions of ``dask.graph_manipulation`` need them."""
        tasks, bound = {}, False
        for key, task in self.items():
            if key in keys:
                renamed = {needed: clone_key(needed, seed) for needed in task.dependencies if needed in keys}
                key = clone_key(key, seed)
                task = task.substitute(renamed, key=key)
                if bind_to is not None and not renamed:
                    task, bound = _after(task, bind_to), True
            tasks[key] = task
        return MaterializedLayer(tasks, annotations=self.annotations), bound


class SparseGradientLayer(Blockwise):  # type: ignore[misc]
    """One task per row partition, in Dask's own kind of layer. It makes tasks only when they are needed."""

    def __init__(self, layer: Blockwise, entries: float) -> None:
        super().__init__(
            layer.output, layer.output_indices, layer.task, layer.indices, layer.numblocks, layer.concatenate,
            layer.new_axes, layer.output_blocks, layer.annotations, layer.io_deps,
        )  # fmt: skip
        self.collection_annotations = layer.collection_annotations
        self.entries = "an unknown number of" if math.isnan(entries) else str(entries)

    def __repr__(self) -> str:
        met = f"{len(self.get_output_keys())} row partitions with {self.entries} entries"
        return f"<{type(self).__name__} {self.output!r}: {met}>"

    def layer_info_dict(self) -> dict[str, str]:
        """Return the information for the dashboard and notebooks."""
        info: dict[str, str] = super().layer_info_dict()
        return info | {"row partitions": str(len(self.get_output_keys())), "entries": self.entries}


def _numbers_one_of(chunks: tuple[int, ...], number: Any) -> bool:
    """Return whether a chunk has that number. It may be a NumPy integer, as Dask's vindex passes."""
    return hasattr(number, "__index__") and 0 <= index(number) < len(chunks)


def _after(task: GraphNode, other: Key) -> Task:
    """Return a task that waits for another one."""
    node = TaskRef(task.target) if isinstance(task, Alias) else task
    return Task(task.key, chunks.bind, node, TaskRef(other))
