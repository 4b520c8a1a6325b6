"""Self-tests of adapters: named checks that run once, at first use.

>>> tests = SelfTest("backslice.tensorflow", "TensorFlow's own kernels stay in use", {"values": check_values})
>>> if tests.passed():
...     take_over()
"""

import threading
import warnings
from collections.abc import Callable, Mapping


class SelfTest:
    """Runs checks in order until one fails. A check fails by raising an exception.

    Parameters
    ----------
    adapter : str
        The module's name, for the warning.
    fallback : str
        The consequence of a failed check, for the warning.
    checks : mapping of str to callable
        The checks by name.
    """

    def __init__(self, adapter: str, fallback: str, checks: Mapping[str, Callable[[], object]]) -> None:
        self._adapter, self._fallback, self._checks = adapter, fallback, dict(checks)
        self._results = dict.fromkeys(checks, "not run")
        self._lock = threading.RLock()
        self._passed: bool | None = None

    def passed(self) -> bool:
        """Run the checks at the first call, and warn once if one fails. Later calls return the first result."""
        with self._lock:
            if self._passed is None:
                self._passed = all(self._run(name) for name in self._checks)
            return self._passed

    def status(self) -> dict[str, str]:
        """Return a copy of the results by name: ``"passed"``, ``"not run"``, or ``"failed: "`` and the reason."""
        return dict(self._results)

    def _run(self, name: str) -> bool:
        try:
            self._checks[name]()
        except Exception as error:
            reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
            self._results[name] = f"failed: {reason}"
            text = f"{self._adapter}: the self-test {name!r} failed, so {self._fallback} ({reason})"
            warnings.warn(text, RuntimeWarning, stacklevel=4)
            return False
        self._results[name] = "passed"
        return True
