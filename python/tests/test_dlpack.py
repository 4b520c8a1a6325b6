"""Arrays of other libraries, shared through DLPack without a copy."""

import backslice as bs
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from foreign import Foreign


@pytest.mark.parametrize("index", [np.s_[:], np.s_[::-2, ::3], np.s_[1], np.s_[:0]], ids=str)
def test_any_strides(index):
    x = np.arange(24.0).reshape(4, 6)
    assert np.array_equal(bs.slice(Foreign(x[index]), "..."), x[index])


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "int32", "uint16", "float16", "bfloat16", "float32", "complex64", "float8_e5m2"]
)
def test_jax_arrays_of_every_kind(dtype):
    x = jnp.ones((3, 4), getattr(jnp, dtype if dtype != "bool" else "bool_"))
    dx = bs.slice_grad(x, (5, 4), "1:4")
    assert isinstance(dx, np.ndarray) and dx.dtype == x.dtype
    assert np.array_equal(dx[1:4], np.asarray(x)) and not dx[0].any()


def test_results_export_dlpack_where_numpy_can():
    assert np.from_dlpack(bs.slice(np.arange(3.0), ":")).tolist() == [0, 1, 2]
    assert jnp.from_dlpack(bs.slice(np.arange(3.0, dtype="f4"), ":")).tolist() == [0, 1, 2]


class TensorBase(Foreign):
    """A PyTorch tensor whose memory may hold the conjugates or the negatives of its elements."""

    __module__ = "torch"

    def __init__(self, array, negated=False, conjugated=False):
        super().__init__(array)
        self.negated, self.conjugated = negated, conjugated

    def is_neg(self):
        return self.negated

    def is_conj(self):
        return self.conjugated

    def resolve_neg(self):
        return TensorBase(-self.array if self.negated else self.array, conjugated=self.conjugated)

    def resolve_conj(self):
        return TensorBase(self.array.conj() if self.conjugated else self.array, negated=self.negated)


class Tensor(TensorBase):
    pass


@pytest.mark.parametrize("negated", [False, True])
@pytest.mark.parametrize("conjugated", [False, True])
def test_lazily_changed_tensors_are_read_as_what_they_are(negated, conjugated):
    memory = np.array([1 + 2j, 3 - 4j])
    expected = (-1 if negated else 1) * (memory.conj() if conjugated else memory)
    tensor = Tensor(memory, negated, conjugated)
    assert bs.slice_grad(tensor, (4,), "1:3").tolist() == [0, *expected, 0]
    array = bs.TensorArray(1, "complex128")
    array.write(0, tensor, copy=False)
    assert array.read(0).tolist() == expected.tolist()
    if negated or conjugated:
        with pytest.raises(bs.InvalidArgumentError, match="out is a Tensor whose memory holds the conjugates or"):
            bs.slice(np.zeros(2, complex), ":", out=tensor)
    else:
        assert bs.slice(np.zeros(2, complex), ":", out=tensor) is tensor


def test_a_tensor_that_stays_negated_is_asked_once():
    class Stubborn(TensorBase):
        def resolve_conj(self):
            return self

        resolve_neg = resolve_conj

    assert bs.slice(Stubborn(np.ones(2), negated=True), ":").tolist() == [1, 1]


def test_nothing_is_copied():
    x = np.zeros(3)
    foreign = Foreign(x)
    x[:] = 5  # visible only if the memory is shared
    assert bs.slice(foreign, ":").tolist() == [5, 5, 5]
    with pytest.raises(bs.InvalidArgumentError, match="out shares memory"):
        bs.slice(foreign, "::-1", out=x)


def test_devices_other_than_the_cpu_are_refused():
    with pytest.raises(bs.InvalidArgumentError, match=r"dy is on device \(10, 0\), not on the CPU"):
        bs.slice_grad(Foreign(np.ones(2), device=(10, 0)), (4,), "1:3")


def test_an_exporter_that_fails_says_why():
    with pytest.raises(bs.InvalidArgumentError, match=r"dy: Foreign.__dlpack__ failed: DLPack only supports"):
        bs.slice_grad(Foreign(np.ones(2, "M8[s]")), (4,), "1:3")


def test_memory_is_released():
    import gc
    import sys

    x = np.ones(4)
    before = sys.getrefcount(x)
    for _ in range(10):
        bs.slice(Foreign(x), ":")
        with pytest.raises(bs.Error):
            bs.slice(Foreign(x), "5")
    gc.collect()
    assert sys.getrefcount(x) == before


def test_bfloat16_sums():
    out = np.ones(2, ml_dtypes.bfloat16)
    bs.slice_grad(jnp.ones(1, jnp.bfloat16), (2,), "1:", out=out, accumulate=True)
    assert out.tolist() == [1, 2]
