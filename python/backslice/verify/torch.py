"""Random programs of slices for PyTorch."""

import random

from . import cases
from .cases import elements, random_slice, random_slices, selected_shape
from .program import Program, program

DTYPES = ("float32", "float64", "float16", "bfloat16", "complex64")
STEPS = (1, 1, 2, 3)  # PyTorch has no negative ones
HEAD = "import numpy as np, torch, backslice as bs"
INSTALL = """import backslice.torch as bt; from backslice.torch import kernels
bt.install(); kernels.switch_on(dict.fromkeys(kernels.KEYS, (0, 0)))  # whatever the size"""
FOUND = "found = torch.autograd.grad({y}, x, {dy})[0].resolve_conj().to(torch.complex128).numpy()"


def random_program(rng: random.Random, with_adapter: bool) -> Program:
    make = rng.choice((one_slice, nested_slices, many_slices, write_into_slice))
    title, *lines = (compiled_slices if rng.random() < 0.02 else make)(rng)
    return program(title, HEAD, INSTALL if with_adapter else "", *lines)


def one_slice(rng: random.Random) -> list[str]:
    return _taken(rng, cases.one_slice(rng, STEPS))


def nested_slices(rng: random.Random) -> list[str]:
    return _taken(rng, cases.nested_slices(rng, STEPS))


def _taken(rng: random.Random, taken: cases.Taken) -> list[str]:
    return [
        taken.title,
        leaf(rng, taken.shape),
        taken.dy,
        FOUND.format(y=f"x{taken.index}", dy="torch.tensor(dy).to(x.dtype)"),
        taken.expected,
    ]


def many_slices(rng: random.Random) -> list[str]:
    return _slices(rng, "many slices of one tensor", "ys = [x[i] for i, _ in slices]")


def compiled_slices(rng: random.Random) -> list[str]:
    compiled = "torch.compile(lambda x: [x[i] * 1 for i, _ in slices], backend='aot_eager')"
    return _slices(rng, "many slices, compiled", f"torch.compiler.reset(); ys = {compiled}(x)")


def _slices(rng: random.Random, title: str, take: str) -> list[str]:
    shape, slices = random_slices(rng, STEPS)
    return [
        title,
        leaf(rng, shape),
        f"slices = [{slices}]",
        take,
        FOUND.format(y="ys", dy="[torch.tensor(dy).to(x.dtype) for _, dy in slices]"),
        f"expected = bs.multi_slice_grad({shape}, slices)",
    ]


def write_into_slice(rng: random.Random) -> list[str]:
    shape, index = random_slice(rng, STEPS)
    return [
        "a write into a slice",
        leaf(rng, selected_shape(shape, index)),
        f"dz = {elements(shape)}",
        f"z = torch.zeros({shape}, dtype=x.dtype)",
        f"z[{index}] = x",
        FOUND.format(y="z", dy="torch.tensor(dz).to(x.dtype)"),
        f"expected = bs.slice(dz, np.s_[{index}])",
    ]


def leaf(rng: random.Random, shape: tuple[int, ...]) -> str:
    return f"x = torch.zeros({shape}, dtype=torch.{rng.choice(DTYPES)}, requires_grad=True)"
