"""Training in two processes, and the memory that a step needs."""

import subprocess
import sys
from pathlib import Path

import pytest

PARALLEL = """
import gc, os, sys, tempfile
import torch, torch.distributed as dist, torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

def weights(rank, static):
    import backslice.torch as bt
    from backslice.torch import counting
    torch.manual_seed(0)
    found = []
    for is_with in (False, True):
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 4, dtype=torch.float64)
        x = torch.nn.Parameter(torch.randint(-2, 3, (4, 7, 4)).double())
        model.register_parameter("x", x)
        with torch.no_grad():
            model.weight.copy_(torch.eye(4))
        class Sliced(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = model
            def forward(self, scale):
                y = self.inner.x * scale
                parts = [y[:, t] @ self.inner.weight.T for t in range(7)] + [self.inner.x[1:3, t] for t in range(7)]
                return sum((p * p).sum() for p in parts) + self.inner.bias.sum()
        parallel = DistributedDataParallel(Sliced(), gradient_as_bucket_view=static)
        if is_with:
            bt.install()
        for step in range(2):
            parallel(float(rank + 1)).backward()
        found.append([p.grad.clone() for p in parallel.parameters()])
        bt.uninstall()
    assert sum(counting.taken.values()) > 20
    assert all(torch.equal(a, b) for a, b in zip(*found))
    assert found[0][0].abs().sum() > 0

def main(rank, file):
    import backslice.torch.kernels as kernels
    kernels.SHIPPED["CPU"] = (0, 0)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    weights(rank, False)
    weights(rank, True)
    gc.collect()  # models keep the group's threads, which need Python to let go of what they did
    dist.destroy_process_group()

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(main, args=(os.path.join(folder, "store"),), nprocs=2)
    print("equal")
"""


def test_data_parallel_training_in_two_processes(tmp_path: Path) -> None:
    program = tmp_path / "parallel.py"
    program.write_text(PARALLEL)
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0 and "equal" in done.stdout, done.stderr[-3000:]


SHARDED = """
import gc, os, sys, tempfile
import torch, torch.distributed as dist, torch.multiprocessing as mp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard

class Loop(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner, self.cell, self.head = nn.Linear(6, 8), nn.GRUCell(8, 8), nn.Linear(8, 4)
        self.shift = nn.Parameter(torch.randn(9, 8))

    def forward(self, x):
        x = self.inner(x)
        h, outputs = x.new_zeros(x.shape[0], 8), []
        for t in range(x.shape[1]):
            h = self.cell(x[:, t] + self.shift[t], h)
            outputs.append(h)
        return self.head(torch.stack(outputs, 1))

def weights(rank, kind):
    torch.manual_seed(0)
    model = Loop()
    if kind == "fully_shard":
        mesh = init_device_mesh("cpu", (2,))
        for module in (model.inner, model.cell, model.head, model):
            fully_shard(module, mesh=mesh)
    else:
        model = FullyShardedDataParallel(model, device_id=torch.device("cpu"), use_orig_params=True)
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    generator = torch.Generator().manual_seed(rank)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(3, 9, 6, generator=generator)).square().mean().backward()
        optimizer.step()
    return [(p.full_tensor() if hasattr(p, "full_tensor") else p).detach().clone() for p in model.parameters()]

def main(rank, file, kind):
    import backslice.torch as bt
    from backslice.torch import counting, kernels
    kernels.SHIPPED["CPU"] = (0, 0)
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
    without = weights(rank, kind)
    with bt.enabled():
        found = weights(rank, kind)
    assert counting.taken["select_backward", "CPU"] >= 3 * 16
    assert all(map(torch.equal, found, without))
    gc.collect()
    dist.barrier()
    dist.destroy_process_group()

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(main, args=(os.path.join(folder, "store"), sys.argv[1]), nprocs=2)
    print("equal")
"""


@pytest.mark.parametrize("kind", ["fully_shard", "FullyShardedDataParallel"])
def test_sharded_training_in_two_processes(kind: str, tmp_path: Path) -> None:
    program = tmp_path / "sharded.py"
    program.write_text(SHARDED)
    done = subprocess.run([sys.executable, str(program), kind], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0 and "equal" in done.stdout, done.stderr[-3000:]


MEMORY = """
import resource, threading, time
import torch
import backslice.torch as bt

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()

bt.install()
torch.set_num_threads(1)
warm = torch.randn(64, 16, 1024, requires_grad=True)  # starts threads and loads what is loaded late
sum((warm[:, t] * 2).sum() for t in range(16)).backward()
del warm
x = torch.randn(64, 512, 1024, requires_grad=True)
before, peak, done = resident(), 0, False

def watch():
    global peak
    while not done:
        peak = max(peak, resident())
        time.sleep(0.001)

watcher = threading.Thread(target=watch)
watcher.start()
dys = [torch.full((64, 1024), float(t)) for t in range(512)]
dx, = torch.autograd.grad([x[:, t] for t in range(512)], x, dys)
done = True
watcher.join()
size = x.numel() * 4
assert dx[3, 7, 5] == 7 and dx.shape == x.shape
print((peak - before) / size)
assert peak - before < 1.05 * 2 * size  # dx and the dy's
"""


def test_a_step_of_512_slices_takes_the_memory_of_its_gradient_and_little_more() -> None:
    done = subprocess.run([sys.executable, "-c", MEMORY], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
