"""Which input row each row of a sparse slice goes to, by JAX's own operations: on devices without handlers."""

from typing import Any

import jax
import jax.numpy as jnp


def gradient(grad: Any, rows: Any, start: Any, taken: Any, *, in_order: bool) -> Any:
    """Compute the handler's result. A row of `grad` without a match is ignored: XLA cannot raise an error there."""
    found = matches(rows, start, taken, in_order=in_order)
    return jnp.zeros((rows.shape[0], *grad.shape[1:]), grad.dtype).at[found].set(grad, mode="drop")


def matches(rows: Any, start: Any, taken: Any, *, in_order: bool) -> Any:
    """Return the input row for each row of the slice; the number of rows if there is no match."""
    if rows.shape[0] == 0 or taken.shape[0] == 0:
        return jnp.full(taken.shape[0], rows.shape[0])
    integers = jnp.promote_types(jnp.promote_types(rows.dtype, start.dtype), taken.dtype)
    rows, start, taken = (a.astype(integers) for a in (rows, start, taken))
    wanted = taken + start
    overflows = jnp.any((taken < 0) & (start < 0) & (wanted >= 0) | (taken >= 0) & (start >= 0) & (wanted < 0), axis=1)
    found = jnp.where(overflows, rows.shape[0], _of_equal_rank(rows, wanted))
    if not in_order:
        return found
    # A walk finds no row earlier than that. Where those rows are in order it finds them, and is not needed.
    before = jnp.concatenate([jnp.full(1, -1, found.dtype), found[:-1]])
    is_walked = jnp.all((found > before) & (found < rows.shape[0]))
    return jax.lax.cond(is_walked, lambda *_: found, _walked, rows, wanted, overflows)


def _of_equal_rank(rows: Any, wanted: Any) -> Any:
    """The n-th of the rows that are equal for the n-th that is wanted: they are sorted together, input rows first."""
    count = rows.shape[0]
    numbers = jnp.arange(count + wanted.shape[0])
    columns = jnp.concatenate([rows, wanted]).T
    *columns, numbers = jax.lax.sort((*columns, numbers), num_keys=len(columns) + 1)
    begins = jnp.zeros(numbers.size, bool).at[0].set(True)
    for column in columns:
        begins = begins.at[1:].set(begins[1:] | (column[1:] != column[:-1]))
    place = jnp.arange(numbers.size)
    first = jax.lax.cummax(jnp.where(begins, place, 0))
    inputs = jnp.concatenate([jnp.zeros(1, place.dtype), jnp.cumsum(numbers < count)])  # before each place
    of_run = inputs[1:] - inputs[first]
    rank = place - first - of_run  # of a row that is wanted: the input rows of its run are before it
    matched = jnp.where(rank < of_run, numbers[jnp.clip(first + rank, 0, numbers.size - 1)], count)
    row = jnp.where(numbers < count, wanted.shape[0], numbers - count)
    return jnp.zeros(wanted.shape[0], numbers.dtype).at[row].set(matched, mode="drop")


def _walked(rows: Any, wanted: Any, overflows: Any) -> Any:
    """One input row after the other: each goes to the next row that is wanted, or to none."""
    ends = jnp.concatenate([wanted, jnp.zeros((1, wanted.shape[1]), wanted.dtype)])
    never = jnp.concatenate([overflows, jnp.ones(1, bool)])

    def step(next_: Any, row: Any) -> Any:
        matched = jnp.all(row == ends[next_]) & ~never[next_]
        return next_ + matched, jnp.where(matched, next_, wanted.shape[0])

    _, given = jax.lax.scan(step, jnp.zeros((), jnp.int32), rows)
    none = jnp.full(wanted.shape[0], rows.shape[0])
    return none.at[given].set(jnp.arange(rows.shape[0]), mode="drop")
