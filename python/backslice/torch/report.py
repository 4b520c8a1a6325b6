"""Whose kernels are in use, what they did, and what they left to PyTorch."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch

from .. import __version__
from . import counting, installing
from .kernels import KEYS, OPERATIONS

NOTES = (
    "Index tensors and masks are PyTorch's own, and so are compiled functions without compile_backend().",
    "Gradients of less than 2 MiB, and those of the only slice of a tensor of less than 8 MiB, are computed as PyTorch "
    "does and not counted; on CUDA, those of less than 32 MiB and of single slices.",
)


@dataclass(frozen=True)
class KernelStatus:
    """Whose kernel an op runs on the CPU or on CUDA devices, and what it did since the process started.

    Attributes
    ----------
    op : str
        The name of the op.
    kernel : str
        ``"backslice"`` or ``"PyTorch"``.
    version : str
        The version of whichever it is.
    reason : str
        Why it is that one.
    taken : int
        How many gradients backslice computed or added.
    left : mapping of str to int
        How many gradients that are large enough were left to PyTorch, per reason.
    device : str
        ``"cpu"`` or ``"cuda"``, or ``"compiled"`` for slices in compiled graphs.
    """

    op: str
    kernel: str
    version: str
    reason: str
    taken: int = 0
    left: Mapping[str, int] = field(default_factory=dict)
    device: str = "cpu"


@dataclass(frozen=True)
class Status:
    """What :func:`status` returns. Printed, it is a table.

    Attributes
    ----------
    rows : tuple of KernelStatus
        One per op and device. ``status["select_backward"]`` is that of the CPU, ``status["select_backward", "cuda"]``
        that of CUDA, ``status["multi_slice_grad", "compiled"]`` that of compiled graphs.
    notes : tuple of str
        What holds for all ops.
    """

    rows: tuple[KernelStatus, ...]
    notes: tuple[str, ...] = NOTES

    def __getitem__(self, op: str | tuple[str, str]) -> KernelStatus:
        wanted = (op, "cpu") if isinstance(op, str) else op
        for row in self.rows:
            if (row.op, row.device) == wanted:
                return row
        raise KeyError(f"{op!r} is not in this table: {', '.join(f'{row.op} ({row.device})' for row in self.rows)}")

    def __str__(self) -> str:
        lines = [("op", "kernel", "device", "version", "taken", "left", "reason")]
        lines += [
            (row.op, row.kernel, row.device, row.version, str(row.taken), str(sum(row.left.values())), row.reason)
            for row in self.rows
        ]
        widths = [max(len(line[column]) for line in lines) for column in range(6)]
        table = [
            "  ".join([*(text.ljust(w) for text, w in zip(line, widths, strict=False)), line[6]]) for line in lines
        ]
        table += [
            f"{count} left by {row.op}{' on CUDA' if row.device == 'cuda' else ''}: {reason}"
            for row in self.rows
            for reason, count in row.left.items()
        ]
        return "\n".join([*table, "", *self.notes])


def status() -> Status:
    """Tell whose kernel PyTorch takes for each op on the CPU and on CUDA devices, why, and what it did.

    Returns
    -------
    Status
        One row per op and device.
    """
    return Status((*(_row(op, key) for key in KEYS for op in OPERATIONS), _compiled_row()))


def _compiled_row() -> KernelStatus:
    where = "multi_slice_grad", "compiled"
    left = dict(counting.left.get(where, {}))
    reason = "in graphs that fuse_graph() or compile_backend() rewrote"
    return KernelStatus(where[0], "backslice", __version__, reason, counting.taken[where], left, where[1])


def _row(op: str, key: str) -> KernelStatus:
    taken, left = counting.taken[op, key], dict(counting.left.get((op, key), {}))
    reason = installing.refusal(op, key)
    if reason is None and not installing.is_installed():
        reason = "install() has not been called, or was undone"
    if reason is None and not installing.is_registered(op, key):
        reason = "another library's kernel came after backslice's"
    if reason is not None:
        return KernelStatus(op, "PyTorch", str(torch.__version__), reason, taken, left, key.lower())
    return KernelStatus(op, "backslice", __version__, "installed", taken, left, key.lower())
