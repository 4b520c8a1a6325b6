"""JAX on a CUDA device: the transpose of the slice, compiled. It has no events: the clock runs until the last of the
queued calls is done."""

import time

import jax
import jax_peer

jax.config.update("jax_platforms", "cuda")  # nothing has run yet, so that this replaces the CPU

COMPILES, prepare = jax_peer.COMPILES, jax_peer.prepare_queued


def seconds_of(call, repeat):
    start = time.perf_counter()
    for _ in range(repeat):
        result = call()
    result.block_until_ready()
    return time.perf_counter() - start
