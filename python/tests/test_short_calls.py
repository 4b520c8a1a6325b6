"""The short path of small calls (bindings/short_calls.h) does what the general path does, errors included.

Arguments given by keyword, other than out and accumulate, take the general path.
"""

import itertools
import math
import os
import random
import tracemalloc

import backslice as bs
import ml_dtypes
import numpy as np
import pytest

CALLS = int(os.environ.get("BACKSLICE_SHORT_CALLS", "10000"))  # in all tests together; make test-python does 100,000
CHUNKS = 4  # number in one batch of a test
SEEDS = CALLS // 9 // CHUNKS  # each makes nine calls
PLAIN = ("bool", "int8", "uint16", "int32", "uint64", "q", "float16", "float32", "float64", "complex64", "complex128")
OTHER = (">f4", "<f4", "S3", "U2", "M8[s]", "g", ml_dtypes.bfloat16, ml_dtypes.float8_e8m0fnu, [("a", "i4")], "O")


class Own(np.ndarray):
    pass


def outcome(call):
    try:
        return call()
    except Exception as error:
        return type(error), str(error)


def same(a, b):
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if not (isinstance(a, np.ndarray) and isinstance(b, np.ndarray)):
        return type(a) is type(b) and (a is b or a == b)
    equal = a.dtype == b.dtype and a.shape == b.shape
    if equal and a.dtype == np.longdouble:
        return np.array_equal(a, b)  # elements have bytes without meaning
    return equal and type(a) is type(b) and a.tobytes() == b.tobytes()


def shape_of(rng):
    rank = rng.choice((0, 1, 1, 2, 2, 3, 4, 9))
    most = rng.choice((1, 4, {1: 2000, 2: 40, 3: 9}.get(rank, 4))) if rank < 9 else 1
    return tuple(rng.randint(0 if rng.random() < 0.05 else 1, most) for _ in range(rank))


def item_of(rng, extent):
    kind = rng.random()
    if kind < 0.25:
        first = -extent - (rng.random() < 0.1)
        return rng.randint(first, max(first, extent - (rng.random() < 0.9)))
    if kind < 0.93:
        bounds = [None, None, None]
        for i in range(2):
            if rng.random() < 0.6:
                bounds[i] = rng.randint(-extent - 2, extent + 2)
        if rng.random() < 0.5:
            bounds[2] = rng.choice((1, 1, 2, 3, -1, -1, -2, 7))
        if rng.random() < 0.03:
            bounds[rng.randrange(3)] = rng.choice((0, 2**62, -(2**63), 2**70, True, np.int64(1), 1.0, "1"))
        return slice(*bounds)
    return rng.choice((..., ..., None, True, np.int64(0), 1.5, "1", 2**70, [0], np.array([0]), slice(None)))


def index_of(rng, shape):
    items = [item_of(rng, extent) for extent in shape[: rng.randint(max(0, len(shape) - 1), len(shape))]]
    if rng.random() < 0.1:
        items.insert(rng.randint(0, len(items)), rng.choice((..., None, 0)))
    if len(items) == 1 and rng.random() < 0.5:
        return items[0]
    return rng.choice((list(items), "1:2", ",".join(["::2"] * len(shape)))) if rng.random() < 0.02 else tuple(items)


def array_of(rng, shape, dtype):
    """Of any layout. The same one for the same state of `rng`."""
    dtype = np.dtype(dtype)
    grows = len(shape) < 9
    extents = [n * rng.choice((1, 1, 1, 1 + grows)) + rng.choice((0, 0, 3 * grows)) for n in shape]
    count = int(np.prod(extents)) if extents else 1
    numbers = np.array([rng.randint(-50, 50) for _ in range(min(count, 97))] or [0])
    is_object = np.dtype(dtype).kind == "O"
    if is_object:
        made = np.full(extents, "a", dtype)
    else:
        letters = (abs(numbers) + 33).astype("i1").view("S1")
        made = np.resize(letters if dtype.kind in "SU" else numbers, extents).astype(dtype)
    axes = list(range(len(extents)))
    if rng.random() < 0.2:
        made = np.asfortranarray(made)
    if rng.random() < 0.1 and not is_object:
        raw = np.empty(made.nbytes + 1, "u1")[1:]  # unaligned
        raw[:] = np.frombuffer(made.tobytes(), "u1")
        made = raw.view(dtype).reshape(made.shape)
    taken = [slice(0, n) if m < 2 * n else slice(0, 2 * n, 2) for n, m in zip(shape, extents, strict=True)]
    made = made[(..., *taken)]
    if axes and rng.random() < 0.2:
        made = np.flip(made, rng.choice(axes))
    if axes and rng.random() < 0.02:
        made = np.lib.stride_tricks.as_strided(made, made.shape, (0, *made.strides[1:]))
    if rng.random() < 0.03:
        made = made.view(rng.choice((Own, np.ma.MaskedArray)))  # masked arrays are refused
    if rng.random() < 0.03:
        made.flags.writeable = False
    return made


def wrong(rng, shape):
    return shape if rng.random() < 0.93 else tuple(n + rng.choice((0, 1, -1, -n)) for n in shape if n) or (1,)


def result_shape(shape, index):
    try:
        return np.broadcast_to(np.int8(0), shape)[index].shape
    except Exception:
        return shape


def arguments_of(seed):
    """dy, shape, index, out, accumulate; and x for a forward slice. Made anew, and equal, for equal seeds."""
    rng = random.Random(seed)
    shape = shape_of(rng)
    index = index_of(rng, shape)
    dtype = rng.choice(PLAIN) if rng.random() < 0.93 else rng.choice(OTHER)
    dy = array_of(rng, wrong(rng, result_shape(shape, index)), dtype)
    out_dtype = dtype if rng.random() < 0.96 else rng.choice(PLAIN)
    out = array_of(rng, wrong(rng, shape), out_dtype)
    if rng.random() < 0.08 and out.shape == shape and isinstance(part := outcome(lambda: out[index]), np.ndarray):
        dy = part if rng.random() < 0.5 else np.flip(part)
    out = rng.choice((None, out, out, out, out)) if rng.random() < 0.97 else rng.choice(([1], "out", 3))
    accumulate = rng.choice((False, False, True)) if rng.random() < 0.97 else rng.choice((1, None, np.True_))
    given_shape = rng.choice((list(shape), np.array(shape), (*shape, -1), (*shape, 2**40, 2**40), 3, (True, 2)))
    x = array_of(rng, shape, dtype)
    return dy, shape if rng.random() < 0.96 else given_shape, index, out, accumulate, x


def check(seed, short, general):
    ours, others = arguments_of(seed), arguments_of(seed)
    found, expected = outcome(lambda: short(*ours)), outcome(lambda: general(*others))
    assert same(found, expected), (seed, found, expected, ours[1:3])
    assert same(ours[0], others[0]) and same(ours[5], others[5]), (seed, ours[1:3])
    if isinstance(ours[3], np.ndarray):
        assert same(ours[3], others[3]), (seed, ours[1:3])
        assert not isinstance(found, np.ndarray) or (found is ours[3]) == (expected is others[3])


chunks = pytest.mark.parametrize("chunk", range(CHUNKS))


def seeds(chunk):
    return range(chunk, CHUNKS * SEEDS, CHUNKS)


def positional_or_named(seed):
    if seed % 2:
        return lambda dy, shape, index, out, accumulate, _: bs.slice_grad(dy, shape, index, out, accumulate)
    return lambda dy, shape, index, out, accumulate, _: bs.slice_grad(dy, shape, index, accumulate=accumulate, out=out)


@chunks
def test_gradients(chunk):
    for seed in seeds(chunk):
        check(
            seed,
            positional_or_named(seed),
            lambda dy, shape, index, out, accumulate, _: bs.slice_grad(
                dy=dy, shape=shape, index=index, out=out, accumulate=accumulate
            ),
        )


@chunks
def test_new_gradients(chunk):
    for seed in seeds(chunk):
        check(
            seed,
            lambda dy, shape, index, *_: bs.slice_grad(dy, shape, index),
            lambda dy, shape, index, *_: bs.slice_grad(dy=dy, shape=shape, index=index),
        )


def bounds_of(rng, shape):
    """Return begin, end and strides, mostly right."""
    count = rng.randint(max(0, len(shape) - 1), len(shape) + (rng.random() < 0.03))
    extents = (*shape, 1)[:count]
    begin, end = ([rng.randint(-n - 2, n + 2) for n in extents] for _ in range(2))
    strides = [rng.choice((1, 1, 1, 2, 3, -1, -2, 7)) for _ in extents]
    for i, step in enumerate(strides):
        if (end[i] - begin[i]) * step < 0 and rng.random() < 0.8:
            begin[i], end[i] = end[i], begin[i]
    lists = [begin, end, strides]
    if extents and rng.random() < 0.06:
        rng.choice(lists)[rng.randrange(count)] = rng.choice((0, 2**62, -(2**63), 2**70, True, np.int64(1), 1.0, None))
    if extents and rng.random() < 0.02:
        strides[rng.randrange(count)] = 0
    if rng.random() < 0.02:
        rng.choice(lists).append(1)
    return [list(part) if rng.random() < 0.01 else tuple(part) for part in lists]


def strided_arguments_of(seed):
    """The shape, begin, end and strides, dy and the options. Made anew, and equal, for equal seeds."""
    _, shape, _, out, accumulate, _ = arguments_of(seed)
    rng = random.Random(seed)
    is_small = isinstance(shape, tuple) and min(shape, default=0) >= 0 and math.prod(max(n, 1) for n in shape) < 10**5
    extents = shape if is_small else (2,)
    bounds = bounds_of(rng, extents)
    index = tuple(itertools.starmap(slice, zip(*bounds, strict=False)))  # NumPy's rules for it are the same
    dtype = out.dtype if isinstance(out, np.ndarray) else "float32"
    dy = array_of(rng, wrong(rng, result_shape(extents, index)), dtype)
    return shape, bounds, dy, {"out": out, "accumulate": accumulate}


@chunks
def test_strided_slice_gradients(chunk):
    for seed in seeds(chunk):
        shape, bounds, dy, options = strided_arguments_of(seed)
        found = outcome(lambda: bs.strided_slice_grad(shape, *bounds, dy, **options))  # noqa: B023
        again, same_bounds, same_dy, same_options = strided_arguments_of(seed)
        expected = outcome(lambda: bs.strided_slice_grad(again, *same_bounds, dy=same_dy, **same_options))  # noqa: B023
        assert same(found, expected), (seed, found, expected, shape, bounds)
        assert same(dy, same_dy) and same(options["out"], same_options["out"]), (seed, shape, bounds)


@chunks
def test_slices(chunk):
    for seed in seeds(chunk):
        check(
            seed,
            lambda _dy, _shape, index, _out, _acc, x: bs.slice(x, index),
            lambda _dy, _shape, index, _out, _acc, x: bs.slice(x=x, index=index),
        )


@chunks
def test_slices_into_arrays(chunk):
    for seed in seeds(chunk):
        check(
            seed,
            lambda dy, _shape, index, _out, _acc, x: (bs.slice(x, index, dy), dy),
            lambda dy, _shape, index, _out, _acc, x: (bs.slice(x=x, index=index, out=dy), dy),
        )


@chunks
def test_prepared_slices(chunk):
    for seed in seeds(chunk):
        dy, shape, index, *_ = arguments_of(seed)
        prepared = outcome(lambda: bs.Selection.from_index(shape, index).prepare(dy.dtype))  # noqa: B023
        if isinstance(prepared, tuple):  # then there are calls that no slice was prepared for
            rng = random.Random(seed)
            shape = shape_of(rng)
            prepared = bs.Selection.from_index(shape, ...).prepare(rng.choice(PLAIN))
        for name in ("gradient", "accumulate"):
            run = getattr(prepared, name)
            check(
                seed,
                lambda dy, _shape, _index, out, *_: run(dy, out),  # noqa: B023
                lambda dy, _shape, _index, out, *_: run(dy=dy, out=out),  # noqa: B023
            )
        check(
            seed,
            lambda dy, _shape, _index, out, _acc, x: prepared.forward(x, out=np.zeros_like(dy)),  # noqa: B023
            lambda dy, _shape, _index, out, _acc, x: prepared.forward(x=x, out=np.zeros_like(dy)),  # noqa: B023
        )


@chunks
def test_buffers(chunk):
    calls = 12
    for seed in seeds(chunk)[::calls]:
        rng = random.Random(seed)
        dtype = rng.choice(PLAIN)
        shape = tuple(n or 1 for n in shape_of(rng))
        buffers = bs.GradBuffer(shape, dtype), bs.GradBuffer(shape, dtype)
        index, dys = ..., [np.zeros(shape, dtype)] * 2
        for _ in range(calls):
            if rng.random() < 0.6:
                index = index_of(rng, shape)
                dy = array_of(
                    rng, wrong(rng, result_shape(shape, index)), dtype if rng.random() < 0.92 else rng.choice(PLAIN)
                )
                dys = [dy, dy]
            if rng.random() < 0.05:
                dys = [b.array for b in buffers]
            lent = None
            if rng.random() < 0.05:
                lent = [b.writable() for b in buffers]
                dys = lent if rng.random() < 0.5 else dys
            name = rng.choice(("write", "write", "write", "add"))
            found = outcome(lambda: getattr(buffers[0], name)(index, dys[0]))  # noqa: B023
            expected = outcome(lambda: getattr(buffers[1], name)(index=index, dy=dys[1]))  # noqa: B023
            assert same(found, expected), (seed, index)
            assert same(buffers[0].array, buffers[1].array), (seed, index)
            assert repr(buffers[0]) == repr(buffers[1])


def test_a_stride_of_zero_is_refused_within_bounds():
    for dy in (np.ones(2), np.ones(8)):
        with pytest.raises(bs.InvalidArgumentError, match=r"strides\[0\]"):
            bs.strided_slice_grad((8,), (0,), (8,), (0,), dy)
        with pytest.raises(bs.InvalidArgumentError, match="step"):
            bs.slice_grad(dy, (8,), np.s_[0:8:0])


@pytest.mark.parametrize("others", [(), (np.s_[0, :1], np.s_[3, 4:5], np.s_[5, 8:])])
def test_a_buffer_is_zero_outside_of_the_last_slice(others):
    buffer = bs.GradBuffer((6, 9), "float32")
    for index in (np.s_[1:3, 2:9:3], np.s_[4, 5:7], np.s_[::-2, 7], np.s_[5, 8], np.s_[2:, ::-4], np.s_[:1]):
        expected = np.zeros((6, 9), "float32")
        dy = np.ones_like(expected[index])
        expected[index] = 1
        for other in others:
            buffer.add(other, np.ones(1, "float32"))
        buffer.write(index, dy)
        np.testing.assert_array_equal(buffer.array, expected)


def peak_of(call):
    """Return the result of a call, and how many bytes of Python's and NumPy's memory it had at most."""
    tracemalloc.reset_peak()
    before = tracemalloc.get_traced_memory()[0]
    result = outcome(call)
    return result, tracemalloc.get_traced_memory()[1] - before


@pytest.fixture
def traced():
    tracemalloc.start()
    yield
    tracemalloc.stop()


def named_calls():
    """Return the calls that are made in loops: by the short path, and by the general one."""
    dy, x, out, y = (np.ones(shape, "f4") for shape in ((32, 32), (64, 64), (64, 64), (32, 32)))
    shape, index = (64, 64), np.s_[8:40, 8:40]
    prepared = bs.Selection.from_index(shape, index).prepare("f4")
    buffer = bs.GradBuffer(shape, "f4")
    buffer.write(index, dy)
    made = {
        "new": (bs.slice_grad, (dy, shape, index)),
        "out": (bs.slice_grad, (dy, shape, index, out)),
        "accumulate": (bs.slice_grad, (dy, shape, index, out, True)),
        "slice": (bs.slice, (x, index)),
        "slice into": (bs.slice, (x, index, y)),
        "strided": (bs.strided_slice_grad, (shape, (8, 8), (40, 40), (1, 1), dy)),
        "write": (buffer.write, (index, dy)),
        "add": (buffer.add, (index, dy)),
        "forward": (prepared.forward, (x, y)),
        "gradient": (prepared.gradient, (dy, out)),
        "sum": (prepared.accumulate, (dy, out)),
    }
    names = {
        bs.slice_grad: ("dy", "shape", "index", "out", "accumulate"),
        bs.slice: ("x", "index", "out"),
        bs.strided_slice_grad: ("shape", "begin", "end", "strides", "dy"),
    }
    for name, (function, arguments) in made.items():
        first = {"write": ("index", "dy"), "add": ("index", "dy"), "forward": ("x", "out")}.get(name, ("dy", "out"))
        keywords = dict(zip(names.get(function, first), arguments, strict=False))
        yield name, lambda f=function, a=arguments: f(*a), lambda f=function, k=keywords: f(**k)
    places = itertools.cycle((index, np.s_[:32, 32:]))
    named = {"dy": dy}
    yield "write elsewhere", lambda: buffer.write(next(places), dy), lambda: buffer.write(index=next(places), **named)


@pytest.mark.parametrize(
    ("name", "short", "general"), [*named_calls()], ids=lambda value: value if isinstance(value, str) else ""
)
def test_short_calls_allocate_nothing_but_the_result(traced, name, short, general):
    short(), general()
    size = {"new": 64 * 64 * 4, "strided": 64 * 64 * 4, "slice": 32 * 32 * 4}.get(name, 0)
    _, peak = peak_of(short)
    assert peak - size <= (200 if size else 64)  # the array itself; the tuple of the arguments in *a
    _, other = peak_of(general)
    assert other > peak + 64  # so the general path makes objects, unlike the earlier calls


def test_most_calls_of_the_comparison_take_the_short_path(traced):
    valid = short = 0
    for seed in range(400):
        dy, shape, index, out, accumulate, _ = arguments_of(seed)
        if isinstance(outcome(lambda: bs.slice_grad(dy, shape, index, out, accumulate)), tuple):  # noqa: B023
            continue
        valid += isinstance(out, np.ndarray)
        _, peak = peak_of(lambda: bs.slice_grad(dy, shape, index, out, accumulate))  # noqa: B023
        short += isinstance(out, np.ndarray) and peak <= 64
    assert valid > 100 and short > valid / 2


@pytest.mark.parametrize("dtype", PLAIN)
def test_results_of_some_kilobytes_are_numpys_own(dtype):
    """This tells that the short path runs: the general one gives memory of the library from 32 KB on."""
    rows = (48 << 10) // np.dtype(dtype).itemsize // 64
    dy = np.ones((rows - 1, 64), dtype)
    assert bs.slice_grad(dy, (rows, 64), np.s_[1:]).base is None
    assert bs.slice_grad(dy=dy, shape=(rows, 64), index=np.s_[1:]).base is not None
    bounds = (1, 0), (rows, 64), (1, 1)
    assert bs.strided_slice_grad((rows, 64), *bounds, dy).base is None
    assert bs.strided_slice_grad((rows, 64), *bounds, dy=dy).base is not None


def test_unknown_and_repeated_arguments_are_refused():
    dy, out = np.ones(2), np.ones(4)
    with pytest.raises(TypeError, match="multiple values for argument 'out'"):
        bs.slice_grad(dy, (4,), np.s_[1:3], out, out=out)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'outs'; did you mean 'out'\?"):
        bs.slice_grad(dy, (4,), np.s_[1:3], outs=out)
    with pytest.raises(TypeError, match="accumulate"):
        bs.Selection.from_index((4,), np.s_[1:3]).prepare("float64").gradient(dy, accumulate=True)
