"""Random programs of slices for TensorFlow."""

import random

from . import cases
from .cases import elements, random_slices
from .program import Program, program

DTYPES = ("float32", "float64", "float16", "bfloat16", "complex64")
STEPS = (1, 1, 2, 3, -1, -2)
HEAD = "import numpy as np, tensorflow as tf, backslice as bs"
INSTALL = "import backslice.tensorflow as bst; bst.install()"
CHECK = "found = np.asarray({}, np.complex128)"


def random_program(rng: random.Random, with_adapter: bool) -> Program:
    make = rng.choice(
        (one_slice, nested_slices, many_slices, masks, many_axes, sparse_slice, ragged_rows, tensor_array)
    )
    title, *lines = make(rng)
    return program(title, HEAD, INSTALL if with_adapter else "", *lines)


def one_slice(rng: random.Random) -> list[str]:
    return _taken(rng, cases.one_slice(rng, STEPS))


def nested_slices(rng: random.Random) -> list[str]:
    return _taken(rng, cases.nested_slices(rng, STEPS))


def _taken(rng: random.Random, taken: cases.Taken) -> list[str]:
    return [
        taken.title,
        taken.dy,
        *gradient(rng, taken.shape, f"x{taken.index}", "tf.cast(dy, x.dtype)"),
        taken.expected,
    ]


def many_slices(rng: random.Random) -> list[str]:
    shape, slices = random_slices(rng, STEPS)
    return [
        "many slices of one tensor",
        f"slices = [{slices}]",
        *gradient(rng, shape, "[x[i] for i, _ in slices]", "[tf.cast(dy, x.dtype) for _, dy in slices]"),
        f"expected = bs.multi_slice_grad({shape}, slices)",
    ]


def many_axes(rng: random.Random) -> list[str]:
    """Ranks above those of TensorFlow's own kernels."""
    shape = (*(rng.randint(1, 2) for _ in range(rng.randint(8, 12))),)
    dy = elements((1, *shape[1:]))
    return [
        "a slice of a tensor of many axes",
        f"dy = {dy}",
        *gradient(rng, shape, "x[:1]", "tf.cast(dy, x.dtype)"),
        f"expected = bs.slice_grad(dy, {shape}, np.s_[:1])",
    ]


def masks(rng: random.Random) -> list[str]:
    """The raw operation, with bounds and masks that a user would not write."""
    extents = [rng.randint(1, 6) for _ in range(rng.randint(1, 4))]
    lists = {
        "begin": [rng.randint(-n - 2, n + 2) for n in extents],
        "end": [rng.randint(-n - 2, n + 2) for n in extents],
        "strides": [rng.choice(STEPS) for _ in extents],
    }
    bits = {f"{name}_mask": rng.getrandbits(len(extents)) for name in ("begin", "end")}
    bits["ellipsis_mask"] = rng.choice((0, 1 << rng.randrange(len(extents))))
    options = ", ".join(f"{name}={value}" for name, value in (lists | bits).items())
    return [
        "StridedSliceGrad",
        f"shape, spec = {extents}, dict({options})",
        "dy = bs.strided_slice(np.arange(np.prod(shape), dtype=np.float32).reshape(shape), **spec)",
        CHECK.format("tf.raw_ops.StridedSliceGrad(shape=shape, dy=dy, **spec)"),
        "expected = bs.strided_slice_grad(shape, dy=dy, **spec)",
    ]


def sparse_slice(rng: random.Random) -> list[str]:
    shape = [rng.randint(1, 6) for _ in range(rng.randint(1, 3))]
    rows = sorted({tuple(rng.randrange(n) for n in shape) for _ in range(rng.randint(0, 12))})
    start = [rng.randrange(n) for n in shape]
    size = [rng.randint(0, n) for n in shape]
    return [
        "SparseSliceGrad",
        f"indices = np.array({rows}, np.int64).reshape(-1, {len(shape)})",
        f"values, where = np.ones(len(indices), np.float32), dict(shape={shape}, start={start}, size={size})",
        "taken = tf.raw_ops.SparseSlice(indices=indices, values=values, **where)",
        "dy = np.arange(len(taken.output_values), dtype=np.float32) + 1",
        "rows = taken.output_indices",
        CHECK.format(
            "tf.raw_ops.SparseSliceGrad("
            "backprop_val_grad=dy, input_indices=indices, input_start=where['start'], output_indices=rows)"
        ),
        "expected = bs.sparse_slice_grad(dy, indices, where['start'], rows.numpy())",
    ]


def ragged_rows(rng: random.Random) -> list[str]:
    lengths = [rng.randint(0, 4) for _ in range(rng.randint(1, 6))]
    return [
        "a row of a ragged tensor, as a variant",
        f"lengths, row = {lengths}, {rng.randrange(len(lengths))}",
        f"values = tf.Variable(np.arange({sum(lengths)}, dtype=np.float32))",
        "with tf.GradientTape() as tape:",
        "    rows = tf.RaggedTensor.from_row_lengths(values * 1, lengths)._to_variant(batched_input=True)",
        "    y = tf.RaggedTensor._from_variant(rows[row], tf.float32, 0, input_ragged_rank=0) * 2",
        CHECK.format("tape.gradient(y, values)"),
        "expected = np.repeat([2.0 if i == row else 0.0 for i in range(len(lengths))], lengths)",
    ]


def tensor_array(rng: random.Random) -> list[str]:
    count = rng.randint(1, 5)
    return [
        "elements of a TensorArray",
        f"reads = {[rng.randrange(count) for _ in range(rng.randint(1, 6))]}",
        f"x = tf.Variable(np.ones(({count}, 3), np.float32))",
        "with tf.GradientTape() as tape:",
        f"    array = tf.TensorArray(tf.float32, {count}, clear_after_read=False).unstack(x * 1)",
        "    ys = [array.read(i) * (n + 1) for n, i in enumerate(reads)]",
        CHECK.format("tf.convert_to_tensor(tape.gradient(ys, x))"),
        f"expected = bs.multi_slice_grad(({count}, 3), [(np.s_[i], np.full(3, n + 1.0)) for n, i in enumerate(reads)])",
    ]


def gradient(rng: random.Random, shape: tuple[int, ...], y: str, dy: str) -> list[str]:
    compiled = "@tf.function" if rng.random() < 0.1 else ""
    return [
        f"x = tf.zeros({shape}, tf.{rng.choice(DTYPES)})",
        *([compiled] if compiled else []),
        "def gradient(x):",
        "    with tf.GradientTape() as tape:",
        "        tape.watch(x)",
        f"        y = {y}",
        f"    return tape.gradient(y, x, {dy})",
        CHECK.format("tf.cast(gradient(x), tf.complex128)"),
    ]
