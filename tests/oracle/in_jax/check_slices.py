"""Slices and their gradients against jax.vjp of plain indexing."""

import backslice as bs
import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

INDICES = [
    np.s_[:],
    np.s_[2],
    np.s_[-1, :, 2],
    np.s_[..., 1:3],
    np.s_[1:5:2, ::-1],
    np.s_[5:0:-2, None, 3, ::3],
    np.s_[2:2],
    np.s_[:, 4:1, None, ...],
    np.s_[1, 2, 3],
    np.s_[::-1, ::-1, ::-1],
]
SHAPE = (6, 5, 4)
DTYPES = [
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn",
    "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "int4", "uint4", "int2", "uint2", "float4_e2m1fn",
]  # fmt: skip

# JAX's own operations are the same for every dtype, but for those that XLA packs.
WAYS_AND_DTYPES = [("handlers", dtype) for dtype in DTYPES] + [
    ("native", dtype) for dtype in ("bool", "int8", "bfloat16", "complex64", "int4", "float4_e2m1fn")
]

pytestmark = pytest.mark.usefixtures("way")


def numbers(shape: tuple[int, ...], dtype: str = "float32", seed: int = 0) -> jax.Array:
    return jnp.asarray(np.random.default_rng(seed).integers(0, 2, shape), dtype)


def floats(shape: tuple[int, ...], seed: int = 0) -> jax.Array:
    return jnp.asarray(np.random.default_rng(seed).normal(size=shape))


def same(a: jax.Array, b: jax.Array) -> None:
    assert a.dtype == b.dtype and a.shape == b.shape
    assert np.asarray(a).tobytes() == np.asarray(b).tobytes()


def loss(slices):
    """A sum of cubes, so that the second derivative is not constant."""
    return sum((k + 1.0) * jnp.sum(y**3) for k, y in enumerate(slices))


def ours(x):
    return loss(bsj.multi_slice(x, INDICES))


def plain(x):
    return loss([x[index] for index in INDICES])


@pytest.mark.parametrize(("way", "dtype"), WAYS_AND_DTYPES, indirect=["way"])
def test_slices_and_gradients_equal_those_of_indexing(dtype: str) -> None:
    x = numbers(SHAPE, dtype)

    def taken(x):
        return [(bsj.slice(x, index), x[index]) for index in INDICES]

    def gradients(dys):
        x = jax.ShapeDtypeStruct(SHAPE, "uint8" if dtype == "bool" else dtype)  # JAX transposes no bools
        return [
            (bsj.slice_grad(dy, SHAPE, i), jax.linear_transpose(lambda x, i=i: x[i], x)(dy.astype(x.dtype))[0])
            for i, dy in zip(INDICES, dys, strict=False)
        ]

    pairs = jax.jit(taken)(x)
    for pair in pairs + jax.jit(gradients)([expected for _, expected in pairs]):
        same(pair[0], pair[1].astype(dtype))


@pytest.mark.parametrize(("way", "dtype"), [pair for pair in WAYS_AND_DTYPES if pair[1] != "bool"], indirect=["way"])
def test_sums_of_overlapping_slices_equal_those_of_indexing(dtype: str) -> None:
    dys = [numbers(np.empty(SHAPE)[index].shape, dtype, seed) for seed, index in enumerate(INDICES)]
    x = jax.ShapeDtypeStruct(SHAPE, dtype)
    [expected] = jax.jit(lambda dys: jax.linear_transpose(lambda x: [x[i] for i in INDICES], x)(dys))(dys)
    result = bsj.multi_slice_grad(SHAPE, list(zip(INDICES, dys, strict=False)))
    assert result.dtype == expected.dtype
    wide = complex if jnp.issubdtype(result.dtype, jnp.complexfloating) else float
    np.testing.assert_array_equal(np.asarray(result).astype(wide), np.asarray(expected).astype(wide))


def test_float8_e8m0fnu_which_has_no_zero() -> None:
    """Slices of it, and gradients that need no zeros."""
    x = jnp.asarray(2.0 ** np.arange(12).reshape(3, 4), jnp.float8_e8m0fnu)
    same(jax.jit(lambda x: bsj.slice(x, "::-1, 1:3"))(x), x[::-1, 1:3])
    same(jax.jit(lambda dy: bsj.slice_grad(dy, x.shape, "::-1, ::-1"))(x), x[::-1, ::-1])
    with pytest.raises(TypeError, match="has no zero"):
        bsj.slice_grad(x, (4, 4), "1:")


def test_bool_gradients_are_joined_by_or() -> None:
    ones = jnp.ones(2, bool)
    assert bsj.multi_slice_grad((4,), [("0:2", ones), ("1:3", ones)]).tolist() == [True, True, True, False]


def test_minus_zero_stays_minus_zero() -> None:
    dx = bsj.slice_grad(jnp.full(2, -0.0), (4,), "1:3")
    assert np.signbit(dx).tolist() == [False, True, True, False]


TRANSFORMS = {
    "nothing": lambda f: f,
    "jit": jax.jit,
    "grad": jax.grad,
    "jit of grad": lambda f: jax.jit(jax.grad(f)),
    "grad of grad": lambda f: jax.grad(lambda x: jnp.sum(jax.grad(f)(x) ** 2)),
    "jacfwd of grad": lambda f: jax.jacfwd(jax.grad(f)),
    "jacrev of grad": lambda f: jax.jacrev(jax.grad(f)),
    "hessian": jax.hessian,
    "vjp": lambda f: lambda x: jax.vjp(f, x)[1](2.0),
    "jvp": lambda f: lambda x: jax.jvp(f, (x,), (x * 2,)),
    "linearize": lambda f: lambda x: jax.linearize(f, x)[1](x + 1),
    "jvp of grad": lambda f: lambda x: jax.jvp(jax.grad(f), (x,), (x + 1,)),
    "checkpoint": lambda f: jax.grad(jax.checkpoint(f)),
    "checkpoint in a scan": lambda f: jax.grad(
        lambda x: jax.lax.scan(jax.checkpoint(lambda c, k: (c + f(x * k), None)), 0.0, jnp.arange(3.0))[0]
    ),
    "scan over x": lambda f: jax.grad(
        lambda x: jax.lax.scan(lambda c, k: (c * 0.9, f(c) * k), x, jnp.arange(3.0))[1].sum()
    ),
    "cond": lambda f: jax.grad(lambda x: jax.lax.cond(x[0, 0, 0] > 0, f, lambda x: f(2 * x), x)),
}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transformations_equal_those_of_indexing(name: str) -> None:
    transform = TRANSFORMS[name]
    x = floats(SHAPE)
    got, expected = jax.jit(transform(ours))(x), jax.jit(transform(plain))(x)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12), got, expected)


@pytest.mark.parametrize(
    ("transform", "in_axis"),
    [("jit", 0), ("jit", 2), ("grad", 1), ("grad", 3), ("jvp", -1), ("jvp", 2), ("hessian", 1)],
)
def test_vmap_equals_that_of_indexing(transform: str, in_axis: int) -> None:
    x = jnp.moveaxis(floats((3, *SHAPE)), 0, in_axis)
    got, expected = (jax.jit(jax.vmap(TRANSFORMS[transform](f), in_axis))(x) for f in (ours, plain))
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12), got, expected)


def test_vmap_is_one_call_and_can_be_nested() -> None:
    x = floats((2, 3, *SHAPE))
    batched = jax.vmap(jax.vmap(jax.grad(ours)))
    assert str(jax.make_jaxpr(batched)(x)).count("= backslice_multi_slice_grad") == 1
    np.testing.assert_allclose(batched(x), jax.vmap(jax.vmap(jax.grad(plain)))(x), rtol=1e-12)


def test_vmap_of_a_gradient_with_one_dy_for_all() -> None:
    a, b = floats((3, 2)), floats((2,))
    dx = jax.vmap(lambda a: bsj.multi_slice_grad((4,), [("0:2", a), ("1:3", b)]))(a)
    np.testing.assert_array_equal(dx, jnp.pad(a, ((0, 0), (0, 2))) + jnp.pad(b, (1, 1)))


def test_check_grads() -> None:
    dys = [floats(np.empty(SHAPE)[index].shape) for index in INDICES]
    check_grads(lambda x: bsj.multi_slice(x, INDICES), (floats(SHAPE),), order=2)
    check_grads(lambda dys: bsj.multi_slice_grad(SHAPE, list(zip(INDICES, dys, strict=False))), (dys,), order=2)


def test_gradient_of_a_gradient_with_respect_to_some_dys() -> None:
    a, b = floats((2,)), floats((2,), 1)
    grad = jax.grad(lambda a, b: jnp.sum(bsj.multi_slice_grad((4,), [("0:2", a), ("1:3", b)]) ** 2), argnums=1)
    np.testing.assert_allclose(grad(a, b), 2 * jnp.array([a[1] + b[0], b[1]]))


def test_slices_that_nobody_reads_are_not_taken() -> None:
    closed = jax.make_jaxpr(lambda x: bsj.multi_slice(x, ["0", "1", "2"])[1])(floats(SHAPE))
    jaxpr, _ = jax.interpreters.partial_eval.dce_jaxpr(closed.jaxpr, [True])
    assert len(jaxpr.eqns[0].outvars) == 1


def test_no_slices() -> None:
    assert bsj.multi_slice(floats(SHAPE), []) == []


def test_scalars_empty_arrays_and_many_axes() -> None:
    same(bsj.slice(jnp.float32(3), ()), jnp.float32(3))
    same(bsj.slice(jnp.float32(3), None), jnp.full(1, 3, jnp.float32))
    same(bsj.slice_grad(jnp.zeros((0, 3)), (4, 3), "2:2"), jnp.zeros((4, 3)))
    same(bsj.slice(jnp.zeros((0, 3)), ":, 1"), jnp.zeros(0))
    x = floats((2,) * 12)
    same(bsj.slice(x, np.s_[::-1, 0, ..., 1:]), x[::-1, 0, ..., 1:])


def test_selections_and_texts_and_jax_integers() -> None:
    x = floats(SHAPE)
    same(bsj.slice(x, bs.Selection.from_index(SHAPE, "1:3")), x[1:3])
    same(bsj.slice(x, "1:3, -1"), x[1:3, -1])
    same(bsj.slice(x, (jnp.int32(2), slice(jnp.int32(1), None))), x[2, 1:])


def test_python_numbers_and_broadcasting() -> None:
    assert bsj.slice_grad(1.0, (3,), "1:").tolist() == [0, 1, 1]
    assert bsj.slice_grad(np.ones((1, 2), np.float32), (2, 3), ":, 1:").dtype == jnp.float32


def test_large_arrays_on_xlas_threads() -> None:
    x = jnp.asarray(np.random.default_rng(0).normal(size=(1024, 2048)), jnp.float32)
    index = np.s_[3:1000, ::-2]
    same(jax.jit(bsj.slice, static_argnums=1)(x, "3:1000, ::-2"), x[index])
    same(bsj.slice_grad(x[index], x.shape, index), jax.linear_transpose(lambda x: x[index], x)(x[index])[0])


@pytest.mark.parametrize("text", ["256:768", ":, 100:900", "::2, ::2", "::-1, 1:", ":, 3", "5:5"])
def test_gradients_whose_memory_may_be_fresh_from_the_system(text: str) -> None:
    """Several times, since freed memory is reused."""
    index = eval(f"np.s_[{text}]")
    dy = np.random.default_rng(0).normal(size=np.empty((2048, 2048))[index].shape)
    expected = np.zeros((2048, 2048))
    expected[index] = dy
    f = jax.jit(lambda dy: bsj.slice_grad(dy, (2048, 2048), index))
    for _ in range(3):
        np.testing.assert_array_equal(f(dy), expected)
