"""Ragged tensors and variants, compared with lists of rows."""

from itertools import pairwise

import backslice as bs
import numpy as np
from container_models import RaggedModel, joined_pieces
from container_values import ALL, laid_out, zeros
from hostile_arguments import EXTREME, INDICES, NO_INDEX, NO_INTS, NO_VALUE, refused
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule
from strategies import slices


class RaggedRules:
    @initialize()
    def make_an_empty_ragged_tensor(self):
        self.ragged, self.rows = bs.RaggedTensor(np.zeros(0, np.int64), [[0]]), RaggedModel([], np.dtype(np.int64))

    @invariant()
    def ragged_rows_are_their_model(self):
        assert self.ragged.to_list() == self.rows.rows()

    @rule(lengths=st.lists(st.integers(0, 3), max_size=5), narrow=st.booleans(), dtype=st.sampled_from(ALL))
    def make_ragged(self, lengths, narrow, dtype):
        self.rows = RaggedModel(lengths, dtype)
        splits = self.rows.splits.astype(np.int32 if narrow else np.int64)
        self.ragged = bs.RaggedTensor(self.rows.values, splits)
        splits[:] = -1  # the tensor has a copy

    @rule(data=st.data())
    def slice_rows(self, data):
        index = data.draw(slices(len(self.ragged)))
        taken = self.ragged[index]
        assert taken.to_list() == self.rows.rows()[index]
        grad = data.draw(laid_out(taken.values.shape, self.ragged.dtype))
        if grad.dtype.kind == "O":
            assert refused(lambda: self.ragged.slice_grad(index, grad))
        else:
            assert np.array_equal(self.ragged.slice_grad(index, grad), self.rows.gradient(index, grad))

    @rule(index=INDICES)
    def take_a_row(self, index):
        if -len(self.ragged) <= index < len(self.ragged):
            assert self.ragged[index].tolist() == self.rows.rows()[index]
        else:
            assert refused(lambda: self.ragged[index])

    @rule(splits=st.lists(st.integers(-1, 9) | EXTREME, max_size=5))
    def any_splits(self, splits):
        steps = pairwise(splits)
        valid = splits == [] or (splits[0] == 0 and splits[-1] == 9 and all(a <= b for a, b in steps))  # []: dense
        assert refused(lambda: bs.RaggedTensor(np.arange(9), splits)) != valid

    @rule(data=st.data())
    def encode_and_decode(self, data):
        encoded = bs.ragged_tensor_to_variant(self.ragged)
        assert [row.tolist() for row in encoded] == self.rows.rows()
        assert bs.ragged_tensor_from_variant(encoded, 0, 1, self.ragged.dtype) == self.ragged
        missing = [data.draw(st.booleans()) for _ in range(len(encoded))]
        pieces = [None if gone else row for gone, row in zip(missing, encoded, strict=True)]
        expected = joined_pieces(pieces, np.diff(self.rows.splits).tolist(), self.ragged.dtype)
        gradient = bs.ragged_tensor_to_variant_gradient(
            bs.VariantArray(pieces), self.rows.splits, self.rows.values.shape, self.ragged.dtype
        )
        assert np.array_equal(gradient, expected)

    @rule(index=st.sampled_from(NO_INDEX))
    def hostile_rows(self, index):
        assert refused(lambda: self.ragged[index])
        assert refused(lambda: self.ragged.slice_grad(index, zeros((1,), self.ragged.dtype)))

    @rule(element=st.sampled_from(NO_VALUE[:7]), rank=st.sampled_from([-2, 40, 2**63, *NO_INTS]))
    def hostile_variants(self, element, rank):
        assert refused(lambda: bs.VariantArray([self.ragged, element]))
        encoded = bs.ragged_tensor_to_variant(self.ragged)
        assert refused(lambda: bs.ragged_tensor_from_variant(encoded, rank, 1, self.ragged.dtype))
        assert refused(lambda: bs.ragged_tensor_to_variant_gradient(encoded, self.rows.splits, [2**63 - 1, 2**63 - 1]))
        assert refused(lambda: bs.ragged_tensor_from_variant_gradient(element, [1]))
