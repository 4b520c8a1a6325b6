"""Hypothesis strategies: shapes with indices into them."""

from hypothesis import strategies as st


@st.composite
def slices(draw, n: int):
    bound = st.none() | st.integers(-n - 3, n + 3) | st.sampled_from([-(2**63), 2**63 - 1, 10**30])
    step = st.none() | st.integers(-4, 4).filter(bool) | st.sampled_from([-(2**63), 2**63 - 1])
    return slice(draw(bound), draw(bound), draw(step))


@st.composite
def shapes_and_indices(draw, max_rank: int = 5):
    """A shape and a NumPy basic index that fits it."""
    shape = tuple(draw(st.lists(st.integers(0, 5), max_size=max_rank)))
    named = draw(st.integers(0, len(shape)))
    before = draw(st.integers(0, named))
    axes = [*range(before), *range(len(shape) - (named - before), len(shape))]
    items = []
    for axis in axes:
        n = shape[axis]
        integers = [st.integers(-n, n - 1)] if n else []
        items.append(draw(st.one_of(slices(n), *integers)))
    if before < named or draw(st.booleans()):
        items.insert(before, ...)
    for _ in range(draw(st.integers(0, 2))):
        items.insert(draw(st.integers(0, len(items))), None)
    return shape, tuple(items)
