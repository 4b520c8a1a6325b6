"""Whether sessions get the operators, and why not."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from ..suggestions import checked_keywords
from .registration import made, self_test


@dataclass(frozen=True)
class Status:
    """The result of :func:`status`. Printed, it is a table.

    Attributes
    ----------
    version : str or None
        The version of ONNX Runtime, if it was imported.
    self_tests : mapping of str to str
        For each check ``"passed"``, ``"not run"``, or ``"failed: "`` and the reason. Empty before the first session
        options are made.
    taken : int
        The number of session options with the operators.
    left : mapping of str to int
        The number of session options without the operators, per reason.
    """

    version: str | None
    self_tests: Mapping[str, str] = field(default_factory=dict)
    taken: int = 0
    left: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        rows = {"ONNX Runtime": self.version or "not imported"}
        rows |= {f"self-test {name!r}": result for name, result in self.self_tests.items()}
        rows["session options with the operators"] = str(self.taken)
        rows |= {f"without: {reason}": str(count) for reason, count in self.left.items()}
        width = max(map(len, rows))
        return "\n".join(f"{name.ljust(width)}  {value}" for name, value in rows.items())


@checked_keywords
def status() -> Status:
    """Return whether sessions get backslice's operators, why not, and how many did.

    Returns
    -------
    Status
        The results of the self-test, and counts.

    Examples
    --------
    >>> print(status())
    """
    runtime = sys.modules.get("onnxruntime")
    version = getattr(runtime, "__version__", None)
    if not made:
        return Status(version)
    results = self_test(runtime).status()
    failed = [f"{name!r} failed" for name, result in results.items() if result.startswith("failed")]
    return Status(version, results, made[True], dict.fromkeys(failed, made[False]))
