"""The kernels that were compiled on this machine against the installed TensorFlow: their self-tests and their state."""

from typing import Any

import tensorflow as tf

from ..self_test import SelfTest
from . import compiling, other_libraries
from .checks import LABEL, compare
from .compiling import KERNELS, build

__all__ = ["CHECKS", "KERNELS", "build", "calls", "install", "is_in_use", "reason"]

raw = tf.raw_ops
_is_in_use = False
_library: compiling.Library | None = None
_failure = ""


def install() -> bool:
    """Use the kernels if they have been built, until the process ends. Returns whether this call registered them."""
    global _is_in_use, _library, _failure
    if _is_in_use:
        return False
    path, _failure = compiling.available()
    try:
        if path is not None:
            _library = compiling.load(path)
    except compiling.BuildError as error:
        _failure = str(error)
    if _library is not None and (replaced := other_libraries.replaced(KERNELS)):
        _failure = f"another library has replaced the kernels of {', '.join(replaced)}"
    if _library is None or _failure or not CHECKS.passed():
        return False
    _library.register("")
    _is_in_use = True
    return True


def is_in_use() -> bool:
    return _is_in_use


def calls(op: str) -> int:
    """Return how many calls of an op the kernels computed."""
    return 0 if _library is None else _library.calls(op)


def reason() -> str:
    """Return why they are not in use."""
    failed = [f"the self-test {name!r} {result}" for name, result in CHECKS.status().items() if "failed" in result]
    return next(iter(failed), _failure or compiling.available()[1] or "install() has not been called")


def _ragged() -> list[Any]:
    splits, values = [tf.constant([0, 1, 3], tf.int64), tf.constant([0, 2, 2, 5], tf.int64)], tf.range(5)
    encoded = raw.RaggedTensorToVariant(rt_nested_splits=splits, rt_dense_values=values, batched_input=True)
    decoded = raw.RaggedTensorFromVariant(
        encoded_ragged=encoded, input_ragged_rank=1, output_ragged_rank=2, Tvalues=tf.int32, Tsplits=tf.int64
    )
    joined = raw.RaggedTensorToVariantGradient(
        encoded_ragged_grad=encoded, row_splits=splits[0], dense_values_shape=[5], Tvalues=tf.int32
    )
    return [*decoded.output_nested_splits, decoded.output_dense_values, joined]


def _register_with_label() -> None:
    assert _library is not None  # install() has loaded it
    _library.register(LABEL)


CHECKS = SelfTest(
    "backslice.tensorflow",
    "TensorFlow's own kernels for ragged tensors and tensor arrays stay in use",
    {
        "registration of compiled kernels": _register_with_label,
        "compiled kernels": lambda: compare({"ragged tensors": _ragged}, KERNELS),
    },
)
