"""Which kernel TensorFlow takes for each op, and why."""

from dataclasses import dataclass

import tensorflow as tf

from .. import __version__
from . import compiled_kernels, library

REPLACED = ("StridedSliceGrad", "SparseSlice", "SparseSliceGrad")
NOTES = (
    "Sessions and iterators over datasets that ran before install() or uninstall() keep their kernels.",
    "Functions compiled with jit_compile=True run XLA's code, and no CPU kernels at all.",
    "Kernels on GPUs and other devices stay TensorFlow's.",
)


@dataclass(frozen=True)
class KernelStatus:
    """Which kernel an op runs on the CPU.

    Attributes
    ----------
    op : str
        The name of the op.
    kernel : str
        ``"backslice"`` or ``"TensorFlow"``.
    version : str
        The version of whichever it is.
    reason : str
        Why it is that one.
    """

    op: str
    kernel: str
    version: str
    reason: str


@dataclass(frozen=True)
class Status:
    """What :func:`status` returns. Printed, it is a table.

    Attributes
    ----------
    rows : tuple of KernelStatus
        One per op.
    notes : tuple of str
        What holds for all of them.
    """

    rows: tuple[KernelStatus, ...]
    notes: tuple[str, ...] = NOTES

    def __getitem__(self, op: str) -> KernelStatus:
        for row in self.rows:
            if row.op == op:
                return row
        raise KeyError(f"{op!r} is none of the ops of this table: {', '.join(row.op for row in self.rows)}")

    def __str__(self) -> str:
        lines = [("op", "kernel", "version", "reason")]
        lines += [(row.op, row.kernel, row.version, row.reason) for row in self.rows]
        widths = [max(len(line[column]) for line in lines) for column in range(3)]
        table = [
            "  ".join([*(text.ljust(w) for text, w in zip(line, widths, strict=False)), line[3]]) for line in lines
        ]
        return "\n".join([*table, "", *self.notes])


def status() -> Status:
    """Tell which kernel TensorFlow takes for each op on the CPU, and why.

    Returns
    -------
    Status
        One row per op: the op, whose kernel, its version, the reason.
    """
    rows = [_replaced(op) for op in REPLACED]
    rows += [_forward(), _of_tensorflow("TensorStridedSliceUpdate", "it is not replaced")]
    rows += [_compiled(op) for op in compiled_kernels.KERNELS]
    return Status(tuple(rows))


def _of_backslice(op: str, reason: str) -> KernelStatus:
    return KernelStatus(op, "backslice", __version__, reason)


def _of_tensorflow(op: str, reason: str) -> KernelStatus:
    return KernelStatus(op, "TensorFlow", str(tf.__version__), reason)


def _is_ours(op: str, dtype: str = "float32") -> bool:
    name = library.kernel_in_use(op, dtype)
    return name.startswith("Backslice") if name else library.is_installed()


def _replaced(op: str) -> KernelStatus:
    if _is_ours(op):
        return _of_backslice(op, "installed")
    if library.is_installed():
        return _of_tensorflow(op, f"another library's kernel comes first: {library.kernel_in_use(op)}")
    return _of_tensorflow(op, "install() has not been called, or was undone")


def _forward() -> KernelStatus:
    reason = "it shares the memory of its input where it slices the first axis, which no other kernel can"
    if _is_ours("StridedSlice", "int4"):
        reason += "; backslice's for int4, qint16 and the other types that TensorFlow has no kernel for"
    return _of_tensorflow("StridedSlice", reason)


def _compiled(op: str) -> KernelStatus:
    if compiled_kernels.is_in_use():
        return _of_backslice(op, "installed, compiled on this machine")
    return _of_tensorflow(op, compiled_kernels.reason())
