"""A plugin of pytest for JAX's own tests: it writes each result to the file RECORD, as a line of JSON.

A test that is in the file already is not run. A test counts as failed until it ends, since some end the process.

With GRADIENTS=fused, jax.grad and jax.value_and_grad are their results inside fuse_slices, whatever the size of arrays,
and it writes how often each test bound primitives of backslice. With GRADIENTS=traced, they are traced and evaluated by
JAX alone: some tests cannot pass with any transformation around jax.grad, such as those of the depth of tracebacks.
"""

import functools
import json
import os
import warnings
from collections import Counter
from pathlib import Path

import jax
import numpy as np
import pytest
from jax.extend.core import Primitive, jaxpr_as_fun

GRADIENTS = os.environ["GRADIENTS"]
bound: Counter[str] = Counter()


def count_binds(primitive: Primitive) -> None:
    bind = primitive.bind

    def counted(*args, **params):
        bound[primitive.name] += 1
        return bind(*args, **params)

    primitive.bind = counted


def traced(f):
    @functools.wraps(f)
    def evaluated(*args, **kwargs):
        leaves, structure = jax.tree.flatten((args, kwargs))
        places = [i for i, leaf in enumerate(leaves) if isinstance(leaf, jax.Array | np.ndarray)]

        def of_arrays(*arrays):
            given = dict(zip(places, arrays, strict=True))
            args, kwargs = jax.tree.unflatten(structure, [given.get(i, leaf) for i, leaf in enumerate(leaves)])
            return f(*args, **kwargs)

        arrays = [leaves[i] for i in places]
        closed, shapes = jax.make_jaxpr(of_arrays, return_shape=True)(*arrays)
        return jax.tree.unflatten(jax.tree.structure(shapes), jaxpr_as_fun(closed)(*arrays))

    return evaluated


def inside(transformation, original):
    @functools.wraps(original)
    def transform(*args, **kwargs):
        f = original(*args, **kwargs)
        if not callable(f):
            return f
        fused = transformation(f)

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


UNTRACEABLE = (
    jax.errors.ConcretizationTypeError,
    jax.errors.NonConcreteBooleanIndexError,
    jax.errors.TracerArrayConversionError,
    jax.errors.TracerIntegerConversionError,
)

if GRADIENTS == "fused":
    import backslice.jax as bsj
    from backslice.jax import lowering, primitives

    lowering.LEAST_BYTES_OF_GRADIENTS = lowering.LEAST_BYTES_OF_SLICES = lowering.BYTES_OF_ONE_SLICE_OF_ROWS = 0
    for primitive in (primitives.multi_slice_p, primitives.multi_slice_grad_p, primitives.choice_p):
        count_binds(primitive)

if GRADIENTS != "plain":
    transformation = traced if GRADIENTS == "traced" else bsj.fuse_slices
    jax.grad, jax.value_and_grad = inside(transformation, jax.grad), inside(transformation, jax.value_and_grad)


def write(test: str, outcome: str) -> None:
    with open(os.environ["RECORD"], "a") as file:
        file.write(json.dumps({"test": test, "outcome": outcome, "bound": dict(bound)}) + "\n")


def pytest_collection_modifyitems(items) -> None:
    record = Path(os.environ["RECORD"])
    done = {json.loads(line)["test"] for line in record.read_text().splitlines()} if record.exists() else set()
    items[:] = [item for item in items if item.nodeid not in done]


def pytest_collection_finish() -> None:
    """Run the self-tests first, since some tests count compilations."""
    if GRADIENTS == "fused":
        lowering.checks.passed()
        primitives.prepare()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    bound.clear()
    outcomes: list[str] = []
    item.stash[OUTCOMES] = outcomes
    write(item.nodeid, "failed")
    result = yield
    write(item.nodeid, next((outcome for outcome in outcomes if outcome != "passed"), "passed"))
    return result


OUTCOMES = pytest.StashKey[list[str]]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item):
    report = yield
    item.stash[OUTCOMES].append(report.outcome)
    return report
