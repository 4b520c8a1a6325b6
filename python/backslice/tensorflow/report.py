"""The kernel that TensorFlow uses for each op, its number of calls, and the reason."""

from dataclasses import dataclass, field

import tensorflow as tf

from .. import __version__
from . import checks, compiled_kernels, installing, library

NOTES = (
    "TensorFlow keeps kernels until the process ends: uninstall() switches backslice's to their plain implementations.",
    "Sessions and iterators over datasets that ran before install() keep their kernels.",
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
    calls : int
        The number of calls that backslice's fast implementation has computed.
    plain_calls : int
        The number of calls that backslice's plain implementation has computed.
    """

    op: str
    kernel: str
    version: str
    reason: str
    calls: int = 0
    plain_calls: int = 0


@dataclass(frozen=True)
class Status:
    """The result of :func:`status`. Printed, it is a table.

    Attributes
    ----------
    rows : tuple of KernelStatus
        One per op.
    self_tests : dict of str to str
        The results of the self-tests by name: ``"passed"``, ``"not run"``, or ``"failed: "`` and the reason.
    notes : tuple of str
        What holds for all of them.
    """

    rows: tuple[KernelStatus, ...]
    self_tests: dict[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = NOTES

    def __getitem__(self, op: str) -> KernelStatus:
        for row in self.rows:
            if row.op == op:
                return row
        raise KeyError(f"{op!r} is none of the ops of this table: {', '.join(row.op for row in self.rows)}")

    def __str__(self) -> str:
        lines = [("op", "kernel", "version", "calls", "plain", "reason")]
        lines += [(r.op, r.kernel, r.version, str(r.calls), str(r.plain_calls), r.reason) for r in self.rows]
        widths = [max(map(len, column)) for column in list(zip(*lines, strict=True))[:-1]] + [0]
        table = ["  ".join(text.ljust(w) for text, w in zip(line, widths, strict=True)) for line in lines]
        tests = [f"self-test {name!r}: {result}" for name, result in self.self_tests.items()]
        return "\n".join([*table, "", *tests, *self.notes])


def status() -> Status:
    """Return the kernel that TensorFlow uses for each op on the CPU, its number of calls, and the reason.

    Returns
    -------
    Status
        One row per op: the op, whose kernel, its version, its calls, the reason; and the results of the self-tests.
    """
    taken = checks.taken()
    rows = [_replaced(op, op in taken) for op in checks.CASES]
    rows += [_forward(), _of_tensorflow("TensorStridedSliceUpdate", "it is not replaced")]
    rows += [_compiled(op) for op in compiled_kernels.KERNELS]
    return Status(tuple(rows), checks.CHECKS.status() | compiled_kernels.CHECKS.status())


def _of_backslice(op: str, reason: str, calls: int, plain_calls: int = 0) -> KernelStatus:
    return KernelStatus(op, "backslice", __version__, reason, calls, plain_calls)


def _of_tensorflow(op: str, reason: str) -> KernelStatus:
    return KernelStatus(op, "TensorFlow", str(tf.__version__), reason)


def _replaced(op: str, is_taken: bool) -> KernelStatus:
    if is_taken:
        reason = "installed" if installing.is_fast() else "the plain implementation: see uninstall()"
        return _of_backslice(op, reason, library.calls(op, "fast"), library.calls(op, "plain"))
    if installing.is_registered():
        return _of_tensorflow(op, "another library has replaced it")
    return _of_tensorflow(op, _why_not())


def _why_not() -> str:
    failed = [f"{name!r} {result}" for name, result in checks.CHECKS.status().items() if result.startswith("failed")]
    if failed:
        return f"the self-test {failed[0]}"
    if not installing.is_allowed():
        return f"{installing.VARIABLE} is 0"
    return "install() has not been called"


def _forward() -> KernelStatus:
    reason = "it shares the memory of its input where it slices the first axis, which no other kernel can"
    if installing.is_registered():
        reason += "; backslice's for int4, qint16 and the other types that TensorFlow has no kernel for"
    return _of_tensorflow("StridedSlice", reason)


def _compiled(op: str) -> KernelStatus:
    if compiled_kernels.is_in_use():
        return _of_backslice(op, "installed, compiled on this machine", compiled_kernels.calls(op))
    return _of_tensorflow(op, compiled_kernels.reason())
