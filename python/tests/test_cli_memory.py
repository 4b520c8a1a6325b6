"""Files and memory: what must fit says so, and what is mapped may be larger, box by box."""

import os
import shutil
import subprocess

import backslice as bs
import numpy as np
import pytest
from backslice.cli import boxes
from command_line import fails, run


def test_results_that_must_fit_in_memory_say_so(folder):
    np.save("dy.npy", np.ones(2, np.float32))
    huge = ("grad", "dy.npy", "--shape", str(1 << 50), "--index", "1:3")
    fails(1, "the result for dx.npz takes 4096 TiB and must fit in memory", *huge, "-o", "dx.npz")
    fails(1, "write an .npy file, which is mapped", *huge, "-o", "dx.safetensors")
    fails(1, "no space left", *huge, "-o", "dx.npy")


def test_inputs_that_must_fit_in_memory_say_so(folder):
    np.savez_compressed("zeros.npz", a=np.zeros((1 << 15, 1 << 12), np.float32))  # 512 MB, in half a megabyte
    fails(1, "zeros.npz:a takes 512 MiB and must fit in memory, 390.6 MiB are free: save the array as an .npy file",
          "slice", "zeros.npz", "--index", "0", "-o", "y.npy", shell="ulimit -d 400000")  # fmt: skip


def test_too_little_address_space_says_which_limit(folder):
    np.lib.format.open_memmap("x.npy", "w+", np.int8, (1 << 31,)).flush()
    fails(1, "ulimit -v", "slice", "x.npy", "--index", "::4", "-o", "y.npy", shell="ulimit -v 2000000")


def gradient_beyond_memory(folder, rows: int, limit: int) -> None:
    """The gradient of x[1:, ::2], whose files together are larger than the private memory allowed."""
    dy = np.lib.format.open_memmap("dy.npy", "w+", np.float32, (rows - 1, 2048))
    dy[:: rows // 8] = np.arange(2048)
    dy.flush()
    run(
        "grad",
        "dy.npy",
        "--shape",
        f"{rows},4096",
        "--index",
        "1:, ::2",
        "-o",
        "dx.npy",
        shell=f"ulimit -d {limit >> 10}",
    )
    dx = np.load("dx.npy", mmap_mode="r")
    assert dx.shape == (rows, 4096)
    for row in (0, 1, 2, rows // 8 + 1, rows - 1):
        assert np.array_equal(dx[row, ::2], dy[row - 1] if row else np.zeros(2048)) and not dx[row, 1::2].any()
    run("slice", "dx.npy", "--index", "1:, ::2", "-o", "y.npy", shell=f"ulimit -d {limit >> 10}")
    assert subprocess.run(["cmp", "y.npy", "dy.npy"]).returncode == 0


def test_files_larger_than_the_private_memory_allowed(folder):
    gradient_beyond_memory(folder, rows=40_000, limit=400 << 20)  # dx is 655 MB


@pytest.mark.skipif(not os.environ.get("BACKSLICE_LARGE_TESTS"), reason="make test-large runs it")
def test_a_gradient_of_4_gb_in_1_gb_of_private_memory(folder):
    if shutil.disk_usage(folder).free < 12e9:
        pytest.fail("12 GB of free disk are needed")
    gradient_beyond_memory(folder, rows=262_144, limit=1 << 30)


@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 5), (2, 3, 4), (1, 1, 100), (100, 1, 1), (5, 0, 3), (2, 50, 3)])
@pytest.mark.parametrize("most", [1, 8, 64, 1 << 20])
def test_boxes_cover_everything_once(shape, most):
    seen = np.zeros(shape, int)
    for box in boxes.boxes(shape, 8, most):
        part = seen[boxes.index_of(box)]
        assert part.size * 8 <= max(most, 8)
        part += 1
    assert (seen == 1).all()


def test_gradients_box_by_box_are_the_gradient(monkeypatch):
    random = np.random.default_rng(0)
    for _ in range(200):
        shape = tuple(random.integers(1, 7, random.integers(1, 4)))
        index = tuple(
            int(random.integers(n)) if random.random() < 0.3
            else slice(*sorted(random.integers(0, n + 1, 2).tolist()), int(random.integers(1, 3)))
            for n in shape
        )  # fmt: skip
        selection = bs.Selection.from_index(shape, index)
        dy = random.integers(1, 100, selection.result_shape)
        out = np.zeros(shape, dy.dtype)
        monkeypatch.setattr(boxes, "BOX_BYTES", int(random.integers(8, 200)))
        boxes.write_gradient(selection, dy, out)
        assert np.array_equal(out, bs.slice_grad(dy, shape, selection))
        y = np.zeros(selection.result_shape, dy.dtype)
        boxes.write_slice(selection, out, y)
        assert np.array_equal(y, dy)
