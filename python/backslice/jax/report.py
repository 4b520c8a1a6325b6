"""Counts of the gradients that were fused, and of those left to JAX, with the reasons."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from . import checks


@dataclass(frozen=True)
class Status:
    """The result of ``status()`` and ``fuse_slices(f).status()``. Printed, it is a list.

    Attributes
    ----------
    slices : int
        How many gradients of slices became part of a pass.
    passes : int
        How many passes over memory compute them.
    left : mapping of str to int
        How many gradients were left to JAX, per reason.
    self_tests : mapping of str to str
        The results of the self-tests by name: ``"passed"``, ``"not run"``, or ``"failed: "`` and the reason.

    Examples
    --------
    >>> loss = lambda x: jnp.sum(x[:, 1] ** 2) + jnp.sum(x[0] ** 2)
    >>> gradient = bsj.fuse_slices(jax.grad(loss))
    >>> dx = jax.jit(gradient)(jnp.ones((64, 512)))
    >>> gradient.status().slices, gradient.status().passes
    (2, 1)
    """

    slices: int = 0
    passes: int = 0
    left: Mapping[str, int] = field(default_factory=dict)
    self_tests: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        lines = [f"{self.slices} gradients of slices in {self.passes} passes"]
        lines += [f"{count} left to JAX: {reason}" for reason, count in self.left.items()]
        return "\n".join(lines + [f"self-test {name!r}: {result}" for name, result in self.self_tests.items()])


PASSES, SLICES = "passes", "slices"  # any other key is a reason
_totals: Counter[str] = Counter()  # of programs as they were lowered
_current: ContextVar[Counter[str] | None] = ContextVar("backslice_counts", default=None)


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count the slices traced inside, separately from those around."""
    counts: Counter[str] = Counter()
    token = _current.set(counts)
    try:
        yield counts
    finally:
        _current.reset(token)


def count(counts: Mapping[str, int]) -> None:
    """Add to the counts of the function that is being traced."""
    if (current := _current.get()) is not None:
        current.update(counts)


def count_lowered(slices: int, reason: str | None) -> None:
    _totals.update({SLICES: slices, PASSES: 1} if reason is None else {reason: slices})


def status_of(counts: Counter[str]) -> Status:
    left = {reason: number for reason, number in counts.items() if reason not in (PASSES, SLICES)}
    return Status(counts[SLICES], counts[PASSES], left, checks.results())


def status() -> Status:
    """Tell how many slices and gradients of slices became calls of kernels, and how many JAX's own operations, and why.

    It counts what was compiled since the process started: a program that JAX has in its cache counts once.

    Returns
    -------
    Status
        The counts, the reasons, and the results of the self-tests.

    Examples
    --------
    >>> bsj.status().slices >= 0
    True
    """
    return status_of(_totals)
