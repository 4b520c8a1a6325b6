"""All containers at once, against plain models, with ordinary and hostile arguments.

Whatever is refused is refused by one of our errors, and changes nothing.

BACKSLICE_STATE_SECONDS=60 searches for that long, another way each time.
"""

import os
import time

import backslice as bs
import numpy as np
import pytest
from container_models import ArrayModel, RaggedModel, Refused, joined_pieces
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from strategies import slices

SHAPES = st.lists(st.integers(0, 4), max_size=3).map(tuple)
EXTREME = st.sampled_from([-(2**63), -(2**31), -1, 2**31 - 1, 2**31, 2**63 - 1, 2**63, 10**30])
INDICES = st.integers(-1, 6) | EXTREME


class Hostile:
    """Whatever an array or an index could be asked for raises."""

    def __getattr__(self, name):
        raise (ValueError if name.startswith(("__array", "__dlpack")) else AttributeError)(name)

    def __index__(self):
        raise ValueError("no index")

    def __array__(self, dtype=None, copy=None):
        raise ValueError("no array")


# No container here takes any of these, whatever its state.
NO_INDEX = [object(), Hostile(), 1.5, "nonsense", "\ud800", "1:2\0", [0], np.array([[True]]), (0,) * 40, (..., ...), {}]
NO_VALUE = [
    object(),
    Hostile(),
    np.array([object()]),
    np.array([1, "a", None], object),
    np.ma.array([1, 2], mask=[True, False]),
    np.zeros(2, "M8[s]"),
    np.zeros(2, [("a", "i4"), ("b", "f8")]),
    np.zeros(2, np.complex128),
    np.zeros(2, ">i8"),
    np.zeros(2, "S3"),
    np.zeros(2, "U3"),
    "\ud800",
    [[1], [2, 3]],
]
NO_ARRAY = [*NO_VALUE, np.zeros((5, 5, 5, 5), np.int64), np.zeros((5, 0, 5, 5), np.int64)]  # too many axes
NO_INTS = [object(), Hostile(), 1.5, "1", [1.5], [[1]], np.zeros(3), [10**30], np.zeros((2, 2), int), [None, "x"], {}]


@st.composite
def laid_out(draw, shape: tuple[int, ...]) -> np.ndarray:
    """Integers of that shape, in memory of some kind."""
    values = np.array(draw(st.lists(st.integers(-9, 9), min_size=6, max_size=6)))
    dense = np.resize(values, shape) if 0 not in shape else np.zeros(shape, int)
    kind = draw(st.sampled_from(["dense", "backwards", "gaps", "transposed", "repeated", "read-only"]))
    if kind == "backwards":
        return np.flip(np.flip(dense).copy())
    if kind == "gaps":
        spread = np.full((*shape, 2), 99)
        spread[..., 0] = dense
        return spread[..., 0]
    if kind == "transposed":
        return dense.T.copy().T
    if kind == "repeated":
        return np.broadcast_to(np.int64(values[0]), shape)
    dense.flags.writeable = kind != "read-only"
    return dense


def refused(call) -> bool:
    """Whether a call is refused, as it should be: with one of our errors, which can be shown."""
    try:
        call()
    except bs.Error as error:
        assert str(error) and not isinstance(error, bs.InternalError)
        return True
    return False


class Containers(RuleBasedStateMachine):
    """Ordinary rules must agree with the models, whether they accept or refuse. Hostile rules must be refused."""

    @initialize(shape=SHAPES, size=st.integers(0, 4), dynamic=st.booleans(), clear=st.booleans())
    def make(self, shape, size, dynamic, clear):
        self.buffer, self.held = bs.GradBuffer(shape, np.int64), np.zeros(shape, np.int64)
        self.container = bs.TensorArrayContainer()
        array = self.container.create(size, np.int64, dynamic_size=dynamic, clear_after_read=clear, name="a")
        self.names = [array.name]
        self.arrays = [(array, ArrayModel(size, dynamic, clear))]
        self.ragged, self.rows = bs.RaggedTensor(np.zeros(0, np.int64), [[0]]), RaggedModel([])

    # -- What must hold after every step, refused ones above all

    @invariant()
    def the_buffer_is_its_model(self):
        assert np.array_equal(self.buffer.array, self.held)

    @invariant()
    def arrays_are_their_models(self):
        for array, model in self.arrays:
            if model.closed:
                assert refused(array.size)
                continue
            assert array.size() == model.size
            for index in () if model.clear else model.values:
                assert np.array_equal(array.read(index), model.values[index])
        assert self.container.names() == sorted(self.names)

    @invariant()
    def ragged_rows_are_their_model(self):
        assert self.ragged.to_list() == self.rows.rows()

    def agree(self, call, model):
        """The container's answer and its model's, or None where both refuse."""
        try:
            expected = model()
        except Refused:
            assert refused(call), "accepted, where the model refuses"
            return None
        found = call()
        if isinstance(expected, np.ndarray):
            assert found.shape == expected.shape and np.array_equal(found, expected)
        return found

    # -- GradBuffer, multi_slice_grad, Selection

    def draw_slice(self, data):
        index = tuple(data.draw(slices(n)) for n in self.held.shape)
        return index, data.draw(laid_out(self.held[index].shape))

    @rule(data=st.data(), adds=st.booleans())
    def change_the_buffer(self, data, adds):
        index, dy = self.draw_slice(data)
        if adds:
            self.buffer.add(index, dy)
        else:
            self.buffer.write(index, dy)
            self.held[...] = 0
        self.held[index] += dy

    @rule(data=st.data())
    def sum_many_slices(self, data):
        pairs = [self.draw_slice(data) for _ in range(data.draw(st.integers(1, 4)))]
        expected = self.held.copy()
        for index, dy in pairs:
            expected[index] += dy
        out = self.held.copy()
        assert bs.multi_slice_grad(out.shape, pairs, out=out, accumulate=True) is out
        assert np.array_equal(out, expected)
        assert np.array_equal(bs.multi_slice_grad(out.shape, pairs), expected - self.held)

    @rule(data=st.data())
    def select(self, data):
        index, dy = self.draw_slice(data)
        selection = bs.Selection.from_index(self.held.shape, index)
        assert np.array_equal(self.held[selection.to_index()], self.held[index])
        assert np.array_equal(bs.slice(self.buffer.array, selection), self.held[index])
        box = [tuple(sorted(data.draw(st.tuples(*[st.integers(0, n)] * 2)))) for n in self.held.shape]
        expected = bs.slice_grad(dy, self.held.shape, selection)[tuple(slice(*pair) for pair in box)]
        part = selection.restrict(box)
        found = np.zeros_like(expected) if part is None else bs.slice_grad(dy[part[1]], expected.shape, part[0])
        assert np.array_equal(found, expected)

    @rule(index=st.sampled_from(NO_INDEX), method=st.sampled_from(["write", "add"]))
    def hostile_index(self, index, method):
        assert refused(lambda: getattr(self.buffer, method)(index, 1))
        assert refused(lambda: bs.multi_slice_grad(self.held.shape, [(index, 1)]))
        assert refused(lambda: bs.Selection.from_index(self.held.shape, index))
        assert refused(lambda: self.ragged[index])
        assert refused(lambda: self.ragged.slice_grad(index, np.ones(1, int)))

    @rule(dy=st.sampled_from(NO_ARRAY), method=st.sampled_from(["write", "add"]))
    def hostile_gradient(self, dy, method):
        out = self.held.copy()
        assert refused(lambda: getattr(self.buffer, method)(..., dy))
        assert refused(lambda: bs.multi_slice_grad(out.shape, [(..., self.held), (..., dy)], out=out))
        assert np.array_equal(out, self.held)

    @rule(shape=st.sampled_from([*NO_INTS, (2**62, 4), (-1,), (1,) * 40, (2**63,)]))
    def hostile_shape(self, shape):
        assert refused(lambda: bs.GradBuffer(shape, np.int64))
        assert refused(lambda: bs.multi_slice_grad(shape, [(..., 1)]))
        assert refused(lambda: bs.VariantArray([None], shape))

    @precondition(lambda self: self.held.size > 1)
    @rule()
    def overlap(self):
        """An output that is its own input, or itself in two places."""
        flat = self.held.reshape(-1).copy()
        assert refused(lambda: bs.slice_grad(flat[:-1], flat.shape, "1:", out=flat))
        twice = np.lib.stride_tricks.as_strided(flat, (2, 2), (0, 8))
        assert refused(lambda: bs.slice(np.ones((2, 2), int), ..., out=twice))
        assert refused(lambda: self.buffer.add(..., self.buffer.array))
        assert np.array_equal(flat, self.held.reshape(-1))

    # -- TensorArray and its container

    def draw_array(self, data):
        return data.draw(st.sampled_from(self.arrays))

    @rule(data=st.data(), index=INDICES, shape=SHAPES, copy=st.booleans())
    def write(self, data, index, shape, copy):
        array, model = self.draw_array(data)
        value = data.draw(laid_out(shape))
        if model.dynamic and index > 6:
            return  # it would become that long
        self.agree(lambda: array.write(index, value, copy), lambda: model.write_many([index], [value]))

    @rule(data=st.data(), index=INDICES)
    def read(self, data, index):
        array, model = self.draw_array(data)
        self.agree(lambda: array.read(index), lambda: model.read_many([index])[0])

    @rule(data=st.data(), indices=st.lists(st.integers(-1, 5), max_size=4), shape=SHAPES, copy=st.booleans())
    def scatter(self, data, indices, shape, copy):
        array, model = self.draw_array(data)
        value = data.draw(laid_out((len(indices), *shape)))
        self.agree(lambda: array.scatter(indices, value, copy), lambda: model.write_many(indices, list(value)))

    @rule(data=st.data(), indices=st.lists(st.integers(-1, 5), min_size=1, max_size=4))
    def gather(self, data, indices):
        array, model = self.draw_array(data)
        self.agree(lambda: array.gather(indices), lambda: model.gather(indices))

    @precondition(lambda self: len(self.arrays) < 6)
    @rule(data=st.data())
    def take_the_gradient(self, data):
        array, model = self.draw_array(data)
        source = f"source {len(self.arrays)}"
        made = []
        gradient = self.agree(lambda: array.grad(source), lambda: made.append(model.gradient()))
        if gradient is not None:
            assert gradient.name == f"{array.name}@{source}"
            self.arrays.append((gradient, made[0]))

    @rule(data=st.data())
    def close(self, data):
        array, model = self.draw_array(data)
        if len(self.arrays) > 3:
            array.close()
            model.closed = True

    @precondition(lambda self: len(self.arrays) < 6)
    @rule(size=st.integers(0, 3))
    def create(self, size):
        array = self.container.create(size, np.int64, name="b")
        self.names.append(array.name)
        self.arrays.append((array, ArrayModel(size, False, True)))
        assert self.container.find(array.name) == array

    @rule(data=st.data(), value=st.sampled_from(NO_VALUE), copy=st.booleans())
    def hostile_value(self, data, value, copy):
        array, _ = self.draw_array(data)
        assert refused(lambda: array.write(0, value, copy))
        assert refused(lambda: array.unstack(value, copy))
        assert refused(lambda: array.write(0, 1, value))

    @rule(data=st.data(), ints=st.sampled_from(NO_INTS))
    def hostile_ints(self, data, ints):
        array, _ = self.draw_array(data)
        for call in (
            lambda: array.write(ints, 1),
            lambda: array.read(ints),
            lambda: array.gather(ints),
            lambda: array.scatter(ints, [1]),
            lambda: array.split([1], ints),
            lambda: array.grad_with_shape("hostile", ints),
            lambda: bs.TensorArray(ints, np.int64),
            lambda: bs.RaggedTensor([1], ints),
            lambda: bs.ragged_tensor_to_variant_gradient(bs.VariantArray([None]), [0, 1], ints, np.int64),
        ):
            assert refused(call)

    @rule(name=st.sampled_from(["\ud800", 3, None, b"a", Hostile()]))
    def hostile_name(self, name):
        array, _ = self.arrays[0]
        for call in (
            lambda: array.grad(name),
            lambda: self.container.find(name),
            lambda: self.container.remove(name),
            lambda: self.container.create(1, np.int64, name=name),
        ):
            assert refused(call)

    # -- Ragged tensors and variants

    @rule(lengths=st.lists(st.integers(0, 3), max_size=5), narrow=st.booleans())
    def make_ragged(self, lengths, narrow):
        self.rows = RaggedModel(lengths)
        splits = self.rows.splits.astype(np.int32 if narrow else np.int64)
        self.ragged = bs.RaggedTensor(self.rows.values, splits)
        splits[:] = -1  # the tensor has its own

    @rule(data=st.data())
    def slice_rows(self, data):
        index = data.draw(slices(len(self.ragged)))
        taken = self.ragged[index]
        assert taken.to_list() == self.rows.rows()[index]
        grad = data.draw(laid_out(taken.values.shape))
        assert np.array_equal(self.ragged.slice_grad(index, grad), self.rows.gradient(index, grad))

    @rule(index=INDICES)
    def take_a_row(self, index):
        if -len(self.ragged) <= index < len(self.ragged):
            assert self.ragged[index].tolist() == self.rows.rows()[index]
        else:
            assert refused(lambda: self.ragged[index])

    @rule(splits=st.lists(st.integers(-1, 9) | EXTREME, max_size=5))
    def any_splits(self, splits):
        steps = zip(splits, splits[1:], strict=False)
        valid = splits == [] or (splits[0] == 0 and splits[-1] == 9 and all(a <= b for a, b in steps))  # []: dense
        assert refused(lambda: bs.RaggedTensor(np.arange(9), splits)) != valid

    @rule(data=st.data())
    def encode_and_decode(self, data):
        encoded = bs.ragged_tensor_to_variant(self.ragged)
        assert [row.tolist() for row in encoded] == self.rows.rows()
        assert bs.ragged_tensor_from_variant(encoded, 0, 1, np.int64) == self.ragged
        missing = [data.draw(st.booleans()) for _ in range(len(encoded))]
        pieces = [None if gone else row for gone, row in zip(missing, encoded, strict=True)]
        expected = joined_pieces(pieces, np.diff(self.rows.splits).tolist(), np.int64)
        gradient = bs.ragged_tensor_to_variant_gradient(
            bs.VariantArray(pieces), self.rows.splits, self.rows.values.shape, np.int64
        )
        assert np.array_equal(gradient, expected)

    @rule(element=st.sampled_from(NO_VALUE[:7]), rank=st.sampled_from([-2, 40, 2**63, *NO_INTS]))
    def hostile_variants(self, element, rank):
        assert refused(lambda: bs.VariantArray([self.ragged, element]))
        encoded = bs.ragged_tensor_to_variant(self.ragged)
        assert refused(lambda: bs.ragged_tensor_from_variant(encoded, rank, 1, np.int64))
        assert refused(lambda: bs.ragged_tensor_to_variant_gradient(encoded, self.rows.splits, [2**63 - 1, 2**63 - 1]))
        assert refused(lambda: bs.ragged_tensor_from_variant_gradient(element, [1]))


SECONDS = float(os.environ.get("BACKSLICE_STATE_SECONDS", "0"))
QUIET = {"deadline": None, "suppress_health_check": list(HealthCheck)}


def test_containers_agree_with_their_models():
    run_state_machine_as_test(
        Containers, settings=settings(derandomize=True, max_examples=25, stateful_step_count=30, **QUIET)
    )


@pytest.mark.skipif(not SECONDS, reason="runs for as long as BACKSLICE_STATE_SECONDS says, as in `make fuzz`")
def test_search_for_longer():
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        run_state_machine_as_test(
            Containers, settings=settings(database=None, max_examples=100, stateful_step_count=50, **QUIET)
        )
