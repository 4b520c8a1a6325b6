"""Files and memory: errors for files that do not fit, and mapped files larger than memory, box by box."""

import os
import shutil
import subprocess

import backslice as bs
import numpy as np
import pytest
from backslice.cli import boxes
from command_line import fails, header, npy, run


def test_results_that_must_fit_in_memory_say_so(folder):
    np.save("dy.npy", np.ones(2, np.float32))
    huge = ("grad", "dy.npy", "--shape", str(1 << 50), "--index", "1:3")
    fails(1, "the result for dx.npz takes 4096 TiB of memory, but only", *huge, "-o", "dx.npz")
    fails(1, "write an .npy file, which is memory-mapped", *huge, "-o", "dx.safetensors")
    fails(1, "no space left", *huge, "-o", "dx.npy")


def test_inputs_that_must_fit_in_memory_say_so(folder):
    np.savez_compressed("zeros.npz", a=np.zeros((1 << 15, 1 << 12), np.float32))  # 512 MB, in half a megabyte
    fails(1, "zeros.npz:a takes 512 MiB of memory, but only 390.6 MiB is free: save the array as an .npy file",
          "slice", "zeros.npz", "--index", "0", "-o", "y.npy", shell="ulimit -d 400000")  # fmt: skip


# The limit on memory is below the 1 GB that follows, so the command may only read its beginning.
STREAMS = {
    "an array too large": (npy(header(shape="(1099511627776,)")), "slice", "takes 4 TiB of memory, but only"),
    "an array beyond the machine": (npy(header(shape="(4611686018427387904,)")), "slice", "standard input"),
    "another version": (npy(header(), version=(9, 9)), "slice", "its version is 9.9"),
    "too many axes": (npy(header(shape=f"({'1,' * 65})")), "slice", "maximum supported dimension"),
    "too many bytes": (npy(header(shape="(2,)")), "slice", "at least 9 bytes follow its header, 8 are needed"),
    "no array": (b"anything", "slice", "magic bytes"),
    "no archive": (b"anything", "sparse-grad", "it does not start as a zip archive does"),
}


@pytest.mark.parametrize("case", STREAMS)
def test_streams_are_judged_by_their_beginning(folder, case):
    start, command, says = STREAMS[case]
    (folder / "start").write_bytes(start)
    arguments = ["--index", "0"] if command == "slice" else []
    with subprocess.Popen(["bash", "-c", "cat start; head -c 1G /dev/zero"], stdout=subprocess.PIPE) as source:
        fails(1, says, command, "-", *arguments, "-o", "y.npy", stdin=source.stdout, shell="ulimit -d 400000")
        source.stdout.close()
        assert source.wait() != 0, "all of it was read"


def test_arrays_in_named_pipes_are_judged_by_their_beginning(folder):
    os.mkfifo("x.npy")
    (folder / "start").write_bytes(npy(header(shape="(1099511627776,)")))
    with subprocess.Popen(["bash", "-c", "cat start /dev/zero > x.npy"]):
        fails(1, "takes 4 TiB", "slice", "x.npy", "--index", "0", "-o", "y.npy", shell="ulimit -d 400000")


def test_archives_on_standard_input_that_do_not_fit(folder):
    (folder / "start").write_bytes(b"PK\3\4")
    with subprocess.Popen(["bash", "-c", "cat start; head -c 1G /dev/zero"], stdout=subprocess.PIPE) as source:
        fails(1, "standard input has more bytes than fit in memory, 390.6 MiB", "sparse-grad", "-", "-o", "y.npy",
              stdin=source.stdout, shell="ulimit -d 400000")  # fmt: skip
        source.stdout.close()


def test_safetensors_come_from_files_alone(folder):
    os.mkfifo("x.safetensors")
    fails(1, "x.safetensors is a pipe or a device", "slice", "x.safetensors", "--index", "0", "-o", "y.npy")


def test_too_little_address_space_says_which_limit(folder):
    np.lib.format.open_memmap("x.npy", "w+", np.int8, (1 << 31,)).flush()
    fails(1, "ulimit -v", "slice", "x.npy", "--index", "::4", "-o", "y.npy", shell="ulimit -v 2000000")


def gradient_beyond_memory(folder, rows: int, limit: int) -> None:
    """The gradient of x[1:, ::2], whose files together are larger than the allowed private memory."""
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
