"""GradBuffer, multi_slice_grad and Selection, compared with an array that NumPy fills."""

import backslice as bs
import numpy as np
from container_values import FIXED_WIDTH, SHAPES, is_addable, laid_out, zeros
from hostile_arguments import NO_INDEX, NO_INTS, no_arrays, refused
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from strategies import slices


class BufferRules:
    @initialize(shape=SHAPES, dtype=st.sampled_from(FIXED_WIDTH))
    def make_the_buffer(self, shape, dtype):
        self.buffer, self.held = bs.GradBuffer(shape, dtype), np.zeros(shape, dtype)
        self.written = np.zeros(shape, bool)  # since it was last cleared

    @invariant()
    def the_buffer_is_its_model(self):
        assert np.array_equal(self.buffer.array, self.held)

    def draw_slice(self, data):
        index = tuple(data.draw(slices(n)) for n in self.held.shape)
        return index, data.draw(laid_out(self.held[index].shape, self.held.dtype))

    @rule(data=st.data(), adds=st.booleans())
    def change_the_buffer(self, data, adds):
        index, dy = self.draw_slice(data)
        if not adds:
            self.buffer.write(index, dy)
            self.held[...] = zeros((), self.held.dtype)
            self.written[...] = False
        elif is_addable(self.held.dtype):
            self.buffer.add(index, dy)
        elif refused(lambda: self.buffer.add(index, dy)):
            assert self.written.any(), "there was nothing to add to"
            return
        else:
            assert not self.written[index].any(), "added to what cannot be added to"
        self.place(self.held, index, dy)
        self.written[index] = True

    @staticmethod
    def place(held, index, dy):
        """Return the sum, or dy itself for dtypes without addition."""
        held[index] = held[index] + dy if is_addable(held.dtype) else dy

    @rule(data=st.data())
    def sum_many_slices(self, data):
        pairs = [self.draw_slice(data) for _ in range(data.draw(st.integers(1, 4)))]
        alone, onto, out = np.zeros_like(self.held), self.held.copy(), self.held.copy()
        taken = np.zeros(out.shape, int)
        for index, dy in pairs:
            self.place(alone, index, dy)
            self.place(onto, index, dy)
            taken[index] += 1
        if is_addable(out.dtype):
            assert bs.multi_slice_grad(out.shape, pairs, out=out, accumulate=True) is out
            assert np.array_equal(out, onto)
        else:
            assert refused(lambda: bs.multi_slice_grad(out.shape, pairs, out=out, accumulate=True))
            assert np.array_equal(out, self.held)
        if is_addable(out.dtype) or taken.max(initial=0) < 2:
            assert np.array_equal(bs.multi_slice_grad(out.shape, pairs), alone)
        else:
            assert refused(lambda: bs.multi_slice_grad(out.shape, pairs))

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

    @rule(data=st.data(), method=st.sampled_from(["write", "add"]))
    def hostile_gradient(self, data, method):
        dy = data.draw(no_arrays(self.held.dtype))
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
        """Use an output that is its own input, or overlaps itself."""
        flat = self.held.reshape(-1).copy()
        assert refused(lambda: bs.slice_grad(flat[:-1], flat.shape, "1:", out=flat))
        twice = np.lib.stride_tricks.as_strided(flat, (2, 2), (0, flat.itemsize))
        assert refused(lambda: bs.slice(np.zeros((2, 2), flat.dtype), ..., out=twice))
        assert refused(lambda: self.buffer.add(..., self.buffer.array))
        assert np.array_equal(flat, self.held.reshape(-1))
