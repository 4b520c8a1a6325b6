"""TensorArrays, their gradients and their container, compared with dictionaries of arrays."""

import backslice as bs
import numpy as np
from container_models import ArrayModel, Refused
from container_values import ALL, SHAPES, laid_out
from hostile_arguments import INDICES, NO_INTS, Hostile, no_values, refused
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule


class ArrayRules:
    @initialize(size=st.integers(0, 4), dynamic=st.booleans(), clear=st.booleans(), dtype=st.sampled_from(ALL))
    def make_the_arrays(self, size, dynamic, clear, dtype):
        self.container = bs._core.TensorArrayContainer()
        array = self.container.create(size, dtype, dynamic_size=dynamic, clear_after_read=clear, name="a")
        self.names = [array.name]
        self.arrays = [(array, ArrayModel(size, dynamic, clear, dtype))]

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

    def agree(self, call, model):
        """Return the results of the container and its model, or None if both refuse."""
        try:
            expected = model()
        except Refused:
            assert refused(call), "accepted, where the model refuses"
            return None
        found = call()
        if isinstance(expected, np.ndarray):
            assert found.shape == expected.shape and np.array_equal(found, expected)
        return found

    def draw_array(self, data):
        return data.draw(st.sampled_from(self.arrays))

    @rule(data=st.data(), index=INDICES, shape=SHAPES, copy=st.booleans())
    def write(self, data, index, shape, copy):
        array, model = self.draw_array(data)
        value = data.draw(laid_out(shape, array.dtype))
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
        value = data.draw(laid_out((len(indices), *shape), array.dtype))
        rows = [value[i, ...] for i in range(len(value))]
        self.agree(lambda: array.scatter(indices, value, copy), lambda: model.write_many(indices, rows))

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

    @precondition(lambda self: any(model.sums for _, model in self.arrays))
    @rule(data=st.data(), index=st.integers(0, 3), shape=SHAPES, times=st.integers(2, 10))
    def add_to_a_gradient(self, data, index, shape, times):
        """Add more terms than are stored before they are added up."""
        array, model = data.draw(st.sampled_from([pair for pair in self.arrays if pair[1].sums]))
        shape = model.shapes.get(index, shape)
        for _ in range(times):
            value = data.draw(laid_out(shape, array.dtype))
            self.agree(
                lambda value=value: array.write(index, value), lambda value=value: model.write_many([index], [value])
            )

    @rule(data=st.data())
    def close(self, data):
        array, model = self.draw_array(data)
        if len(self.arrays) > 3:
            array.close()
            model.closed = True

    @precondition(lambda self: len(self.arrays) < 6)
    @rule(size=st.integers(0, 3), dtype=st.sampled_from(ALL))
    def create(self, size, dtype):
        array = self.container.create(size, dtype, name="b")
        self.names.append(array.name)
        self.arrays.append((array, ArrayModel(size, False, True, dtype)))
        assert self.container.find(array.name) == array

    @rule(data=st.data(), copy=st.booleans())
    def hostile_value(self, data, copy):
        array, _ = self.draw_array(data)
        value = data.draw(no_values(array.dtype))
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
