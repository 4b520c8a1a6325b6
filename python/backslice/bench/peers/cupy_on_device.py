"""Arrays of CuPy on a CUDA device, and its events."""

import cupy

ones = cupy.ones


def prepare_copy(size):
    source, target = (cupy.ones(size, "uint8") for _ in range(2))
    return lambda: cupy.copyto(target, source)


def seconds_of(call, repeat):
    """Between two events on the stream of the calls."""
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    begin.record()
    for _ in range(repeat):
        call()
    end.record()
    end.synchronize()
    return cupy.cuda.get_elapsed_time(begin, end) / 1e3
