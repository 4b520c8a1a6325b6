"""A plugin of pytest for JAX's own tests: it writes each result to the file RECORD, as a line of JSON.

With FUSE=1, jax.grad and jax.value_and_grad are their results inside fuse_slices, whatever the size of arrays, and it
writes how often each test bound primitives of backslice.
"""

import functools
import json
import os
import warnings
from collections import Counter

import jax
import pytest
from jax.extend.core import Primitive

IS_FUSED = os.environ["FUSE"] == "1"
bound: Counter[str] = Counter()


def count_binds(primitive: Primitive) -> None:
    bind = primitive.bind

    def counted(*args, **params):
        bound[primitive.name] += 1
        return bind(*args, **params)

    primitive.bind = counted


def inside_fuse_slices(original):
    @functools.wraps(original)
    def transform(*args, **kwargs):
        f = original(*args, **kwargs)
        if not callable(f):
            return f
        fused = bsj.fuse_slices(f)

        @functools.wraps(f)
        def call(*args, **kwargs):
            bound["calls"] += 1
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", message="fuse_slices found")
                try:
                    return fused(*args, **kwargs)
                except UNTRACEABLE:  # Python's own control flow, which JAX cannot trace either
                    bound["calls that cannot be traced"] += 1
                    return f(*args, **kwargs)

        return call

    return transform


if IS_FUSED:
    import backslice.jax as bsj
    from backslice.jax import lowering, primitives

    lowering.LEAST_BYTES_OF_GRADIENTS = lowering.LEAST_BYTES_OF_SLICES = lowering.BYTES_OF_ONE_SLICE_OF_ROWS = 0
    for primitive in (primitives.multi_slice_p, primitives.multi_slice_grad_p, primitives.choice_p):
        count_binds(primitive)
    UNTRACEABLE = (
        jax.errors.ConcretizationTypeError,
        jax.errors.NonConcreteBooleanIndexError,
        jax.errors.TracerArrayConversionError,
        jax.errors.TracerIntegerConversionError,
    )
    jax.grad, jax.value_and_grad = inside_fuse_slices(jax.grad), inside_fuse_slices(jax.value_and_grad)


def pytest_collection_finish() -> None:
    """Some tests count what is compiled: the self-tests have run by then."""
    if IS_FUSED:
        lowering.checks.passed()
        primitives.prepare()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    bound.clear()
    outcomes: list[str] = []
    item.stash[OUTCOMES] = outcomes
    result = yield
    outcome = next((outcome for outcome in outcomes if outcome != "passed"), "passed")
    with open(os.environ["RECORD"], "a") as file:
        file.write(json.dumps({"test": item.nodeid, "outcome": outcome, "bound": dict(bound)}) + "\n")
    return result


OUTCOMES = pytest.StashKey[list[str]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    item.stash[OUTCOMES].append(report.outcome)
    return report
