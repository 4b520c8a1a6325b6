"""Programs for CUDA devices, which are lowered here and run elsewhere: which calls they hold, and of what."""

import ctypes
import re

import backslice.jax as bsj
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from backslice import Selection, cuda
from backslice.jax import library, on_cuda
from backslice.jax.selections import Slices
from jax import export

HAS_CUDA = cuda.unavailable_reason() is None or "without CUDA" not in str(cuda.unavailable_reason())
LARGE = (4096, 4096)
STEPS = (64, 64, 4096)


def lowered(f, *arguments, platforms=("cuda",)) -> str:
    return jax.jit(f).trace(*arguments).lower(lowering_platforms=platforms).as_text()


def gradient_of(shape: tuple[int, ...], *texts: str, dtype="float32", platforms=("cuda",)) -> str:
    def gradient(*dys):
        return bsj.multi_slice_grad(shape, list(zip(texts, dys, strict=True)))

    x = np.empty(shape, np.int8)
    dys = [jax.ShapeDtypeStruct(eval(f"x[{text}]", {"x": x}).shape, dtype) for text in texts]
    return lowered(gradient, *dys, platforms=platforms)


def calls(text: str) -> list[str]:
    return re.findall(r"custom_call @(backslice\w+)", text)


def test_handlers_are_there_where_the_library_is_built_with_cuda() -> None:
    assert ("cuda" in library.PLATFORMS) == HAS_CUDA
    functions = ctypes.CDLL(str(library.PATH))
    for name in library.ON_CUDA:
        assert hasattr(functions, f"{name}_cuda") == HAS_CUDA
    if HAS_CUDA:
        assert functions.backslice_cuda_oldest() >= 50


@pytest.mark.parametrize(
    ("shape", "texts", "called"),
    [
        ((64, 64), ["1:3"], False),
        ((64, 64), [f"{row}" for row in range(64)], False),  # 64 times 16 KiB
        (LARGE, ["1024:3072"], True),  # a band of rows
        (LARGE, [":"], False),
        (LARGE, [":, 1024:3072"], False),  # as fast by XLA's kernel, which computes dy inside itself
        (LARGE, ["::2"], False),
        (LARGE, [":, ::-1"], False),
        (STEPS, [":, 7"], True),
        (STEPS, [":, 7", ":, 8"], True),
        (LARGE, [":, 1024:3072", ":, 1000:2000"], False),
        (STEPS, [f":, {t}" for t in range(64)], True),
        (STEPS, [f":, {t}:" for t in range(64)], True),
        ((0, 4096), ["1:"] * 9, False),
    ],
)
def test_gradients_are_calls_where_that_pays(shape: tuple[int, ...], texts: list[str], called: bool) -> None:
    expected = ["backslice_multi_slice_grad"] if called and HAS_CUDA else []
    assert calls(gradient_of(shape, *texts)) == expected


@pytest.mark.parametrize(
    ("shape", "texts", "dtype", "called"),
    [
        (LARGE, ["1024:3072"], "float32", False),
        (LARGE, ["1024:1124"], "float32", True),  # little is written and read once more
        (STEPS, [":, 7"], "float32", True),
        (LARGE, ["1024:3072"], "bfloat16", False),
        (LARGE, [":, 1024:1124"], "bfloat16", True),
        ((16, 256, 4096), [f":, {t}" for t in range(256)], "float32", True),
        (LARGE, [f"{t}:{t + 2000}" for t in range(16)], "float32", False),
    ],
)
def test_dys_that_xla_computes_where_it_reads_them_count(shape, texts, dtype: str, called: bool) -> None:
    selections = tuple(Selection.from_index(shape, text) for text in texts)
    slices = Slices(selections, computed=frozenset(range(len(texts))))
    assert on_cuda.gradient_pays(jax.ShapeDtypeStruct(shape, jnp.dtype(dtype)), slices) == called


def test_fuse_slices_says_which_dys_are_computed_elementwise() -> None:
    def loss(x):
        return jnp.sum(jnp.sin(x[:, 1])) + jnp.sum((x[:, 2] @ jnp.ones((6, 6))) ** 2)

    jaxpr = jax.make_jaxpr(bsj.fuse_slices(jax.grad(loss)))(jnp.ones((4, 5, 6)))
    [slices] = [eqn.params["slices"] for eqn in jaxpr.eqns if "slices" in eqn.params]
    [number] = slices.computed
    assert slices.selections[number].to_index()[1] == 1


@pytest.mark.parametrize("text", [":, 1024:3072", "::2", ":, ::-1"])
def test_narrow_elements_are_ours_where_dy_is_in_memory(text: str) -> None:
    for dtype in ("bfloat16", "float16", "int8", "float8_e4m3fn"):
        assert calls(gradient_of((8192, 8192), text, dtype=dtype)) == (
            ["backslice_multi_slice_grad"] if HAS_CUDA else []
        )


def test_a_call_has_memory_for_its_tables_where_there_are_several_slices() -> None:
    many = gradient_of(STEPS, *[f":, {t}" for t in range(64)])
    one = gradient_of(STEPS, ":, 7")
    if not HAS_CUDA:
        assert not calls(many + one)
        return
    size = library.cuda_scratch(64, 3)
    assert f"-> (tensor<64x64x4096xf32>, tensor<{size}xui8>)" in many
    assert "(tensor<64x4096xf32>) -> tensor<64x64x4096xf32>" in one
    assert size > 64 * 3 * 8 and library.cuda_scratch(-1, 3) == library.cuda_scratch(1, 99) == -1


def test_attributes_are_those_of_the_cpu() -> None:
    if not HAS_CUDA:
        assert not calls(gradient_of(STEPS, ":, 7"))
        return

    def attributes(platform: str) -> list[str]:
        text = gradient_of(STEPS, ":, 7", platforms=(platform,))
        return re.findall(r"(?:slices|parts) = (?:dense<|array<i64: )[^>]*>", text)

    assert attributes("cuda") == attributes("cpu") and len(attributes("cuda")) == 2


@pytest.mark.parametrize("dtype", ["int4", "uint2", "float4_e2m1fn"])
def test_packed_elements_are_xlas(dtype: str) -> None:
    assert calls(gradient_of((1 << 14, 1 << 14), "1024:3072", dtype=dtype)) == []


def test_sums_of_booleans_are_xlas() -> None:
    assert calls(gradient_of(STEPS, *[f":, {t}" for t in range(64)], dtype="bool")) == []


def test_fuse_slices_makes_one_call_of_many_slices() -> None:
    def loss(x):
        return sum(t * jnp.sum(jnp.tanh(x[:, t])) for t in range(256))

    x = jax.ShapeDtypeStruct((16, 256, 4096), jnp.float32)
    expected = ["backslice_multi_slice_grad"] if HAS_CUDA else []
    assert calls(lowered(bsj.fuse_slices(jax.grad(loss)), x)) == expected


def test_a_loop_adds_to_what_it_carries_in_place() -> None:
    def loss(x):
        return jax.lax.scan(lambda c, k: (c + k * jnp.sum(jnp.sin(x[:, 3])), None), 0.0, jnp.arange(4.0))[0]

    text = lowered(bsj.fuse_slices(jax.grad(loss)), jax.ShapeDtypeStruct(STEPS, jnp.float32))
    assert calls(text) == (["backslice_multi_slice_add"] if HAS_CUDA else [])
    assert not HAS_CUDA or "output_operand_alias" in text


def test_slices_are_xlas_which_reads_them_in_place() -> None:
    x = jax.ShapeDtypeStruct(STEPS, jnp.float32)
    assert calls(lowered(lambda x: bsj.multi_slice(x, [(slice(None), t) for t in range(64)]), x)) == []


def test_slices_become_one_call_where_they_are_told_to(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(on_cuda, "LEAST_BYTES_OF_SLICES", 0)
    x = jax.ShapeDtypeStruct((6, 5), jnp.float32)
    expected = ["backslice_multi_slice"] if HAS_CUDA else []
    assert calls(lowered(lambda x: bsj.multi_slice(x, ["1:3", ":, 2"]), x)) == expected


@pytest.mark.parametrize("order", ["in_order", "any"])
def test_sparse_gradients(order: str) -> None:
    grad, rows = jax.ShapeDtypeStruct((3,), jnp.float32), jax.ShapeDtypeStruct((5, 2), jnp.int64)
    start, taken = jax.ShapeDtypeStruct((2,), jnp.int64), jax.ShapeDtypeStruct((3, 2), jnp.int64)

    def f(*arguments):
        return bsj.sparse_slice_grad(*arguments, order=order)

    text = lowered(f, grad, rows, start, taken)
    assert calls(text) == (["backslice_sparse_slice_grad"] if HAS_CUDA else [])
    assert (f"in_order = {str(order == 'in_order').lower()}" if HAS_CUDA else "stablehlo.sort") in text


def test_programs_for_several_platforms_hold_a_call_for_each_that_has_one() -> None:
    texts = [f":, {t}" for t in range(64)]
    text = gradient_of(STEPS, *texts, platforms=("cpu", "cuda", "rocm"))
    assert len(calls(text)) == (2 if HAS_CUDA else 1) and "stablehlo.pad" in text
    assert ("xui8>" in text) == HAS_CUDA  # memory for tables
    cheap_on_cuda = gradient_of(LARGE, ":, 1024:3072", platforms=("cpu", "cuda"))
    assert len(calls(cheap_on_cuda)) == 1 and "stablehlo.pad" in cheap_on_cuda


def test_exported_programs_for_both_run_on_this_cpu() -> None:
    indices = [np.s_[:, t] for t in range(8)]
    x = jnp.asarray(np.random.default_rng(0).normal(size=(16, 8, 65536)), jnp.float32)

    def gradient(x):
        return bsj.multi_slice_grad(x.shape, [(i, jnp.sin(x[i])) for i in indices])

    unsafe = [export.DisabledSafetyCheck.custom_call("backslice_multi_slice_grad")]
    exported = export.export(jax.jit(gradient), platforms=("cpu", "cuda"), disabled_checks=unsafe)(x)
    np.testing.assert_array_equal(exported.call(x), jax.jit(gradient)(x))


def test_devices_without_kernels_are_left_to_xla(monkeypatch: pytest.MonkeyPatch) -> None:
    """For example, compute capability 8.0 if the kernels are for 9.0 and later."""
    for capability, called in (((4, 9), False), ((99, 0), HAS_CUDA)):
        library.runs_on_cuda.cache_clear()
        monkeypatch.setattr(cuda, "devices", lambda capability=capability: [{"capability": capability}])
        assert bool(calls(gradient_of(STEPS, ":, 7"))) == called
        arguments = (np.ones(1, np.float32), np.zeros((3, 2), int), np.zeros(2, int), np.zeros((1, 2), int))
        assert bool(calls(lowered(lambda *a: bsj.sparse_slice_grad(*a), *arguments))) == called
    monkeypatch.undo()
    library.runs_on_cuda.cache_clear()
