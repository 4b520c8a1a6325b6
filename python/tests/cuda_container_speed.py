"""Measures the speed of containers on a CUDA device, from Python: `python python/tests/cuda_container_speed.py`.

It needs PyTorch. Times are the best of several, between CUDA events on PyTorch's stream. *of copy* is the speed
relative to a copy of as many bytes within the device's memory, in the same run.
"""

import backslice as bs
import torch

ROWS, STEPS, WIDTH = 20_000_000, 512, (256, 1024)


def best_ms(run, times=5):
    run()
    found = []
    for _ in range(times):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        run()
        end.record()
        end.synchronize()
        found.append(begin.elapsed_time(end))
    return min(found)


def sparse_workloads():
    rows = torch.arange(ROWS, device="cuda")
    indices = torch.stack([rows // 4000, rows % 4000], 1)
    values = torch.rand(ROWS, device="cuda")
    start, size = [0, 1000], [ROWS, 2000]
    taken, dy, _ = bs.sparse_slice(indices, values, [ROWS, 4000], start, size)
    out = torch.empty(ROWS, device="cuda")
    read = 16 * (ROWS + len(dy)) + 4 * (ROWS + len(dy))
    yield "sparse slice", lambda: bs.sparse_slice(indices, values, [ROWS, 4000], start, size), read
    for order in ("in_order", "any"):
        yield (
            f"sparse gradient, {order}",
            lambda order=order: bs.sparse_slice_grad(dy, indices, start, taken, order=order, out=out),
            read,
        )
    by_size = 16 * ROWS + 4 * (ROWS + len(dy))
    yield "sparse gradient by size", lambda: bs.sparse_slice_grad_by_size(dy, indices, start, size, out=out), by_size


def ragged_workloads():
    lengths = torch.randint(30, 70, (1_000_000,))
    splits = torch.cat([torch.zeros(1, dtype=torch.int64), lengths.cumsum(0)]).numpy()
    values = torch.rand(int(splits[-1]), device="cuda")
    rt = bs.RaggedTensor(values, splits)
    encoded = bs.ragged_tensor_to_variant(rt)
    out = torch.empty_like(values)
    yield (
        "ragged gradient of a million rows",
        lambda: bs.ragged_tensor_to_variant_gradient(encoded, splits, values.shape, out=out),
        8 * len(values),
    )
    yield "every second row of a million", lambda: rt[::2], 4 * len(values)


def array_workloads():
    element = torch.rand(WIDTH, device="cuda")
    moved = 4 * STEPS * element.numel()

    def stacked(copy):
        array = bs.TensorArray(STEPS, "float32")
        for i in range(STEPS):
            array.write(i, element, copy=copy)
        return array.stack()

    yield f"stack {STEPS} elements, held", lambda: stacked(False), 2 * moved
    yield f"stack {STEPS} elements, copied", lambda: stacked(True), 4 * moved
    yield f"torch.stack of {STEPS}", lambda: torch.stack([element] * STEPS), 2 * moved
    buffer = bs.GradBuffer((STEPS, *WIDTH), "float32", device=torch.device("cuda"))

    def written():
        for i in range(STEPS):
            buffer.write(f"{i}", element)

    yield f"GradBuffer, {STEPS} writes", written, 3 * moved


def copy_speed():
    memory = torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
    target = torch.empty_like(memory)
    return 2 * len(memory) / best_ms(lambda: target.copy_(memory)) / 1e6


def main():
    copy = copy_speed()
    print(f"{torch.cuda.get_device_name()}: a copy runs at {copy:.0f} GB/s\n")
    print(f"{'workload':40}{'ms':>10}{'GB/s':>9}{'of copy':>9}")
    for workloads in (sparse_workloads, ragged_workloads, array_workloads):
        for name, run, moved in workloads():
            ms = best_ms(run)
            speed = moved / ms / 1e6
            print(f"{name:40}{ms:10.3f}{speed:9.0f}{speed / copy:9.2f}", flush=True)


if __name__ == "__main__":
    main()
