"""Every example runs, and checks its own results."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_example_runs(example, tmp_path):
    run = subprocess.run([sys.executable, example], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    assert run.stdout and not run.stderr


def test_every_example_is_a_page_of_the_manual():
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "examples").glob("*.md"))
    programs = [path.name for path in (ROOT / "examples").iterdir() if path.suffix in (".py", ".cc")]
    assert [name for name in programs if f"{{example}} {name}\n" not in pages] == []


# Replaces the library's functions with gradients of zeros.
BROKEN = """
import types
right, bs = bs, types.SimpleNamespace(**vars(bs))
bs.multi_slice_grad = lambda shape, pieces: 0 * right.multi_slice_grad(shape, pieces)
bs.ragged_tensor_to_variant_gradient = lambda pieces, splits, shape: np.zeros(shape)

class Forgetful(right.TensorArray):
    def grad(self, source):
        return right.TensorArray(self.size(), self.dtype, self.element_shape, clear_after_read=False)

bs.TensorArray = Forgetful
"""


# The same for chunks of Dask arrays.
BROKEN_CHUNKS = """
import backslice.dask.blocks
backslice.dask.blocks.gradient = backslice.dask.blocks.total = lambda shape, *rest: np.zeros(shape)
"""


# Returns an example's memory, without that of its imports, in bytes.
MEMORY = """
import resource, runpy, sys
import backslice.dask
import dask.array as da

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

da.ones(4, chunks=2).sum().compute()
before, sys.argv = peak(), sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
print(peak() - before)
"""


@pytest.mark.parametrize(("example", "chunk"), [("dask_seismic_adjoint", 40), ("dask_tiled_windows", 150)])
def test_examples_of_dask_need_less_memory_than_one_of_their_arrays(example, chunk):
    """Chunks are small here, in proportion to the array."""
    size = 3000
    command = [sys.executable, "-c", MEMORY, ROOT / "examples" / f"{example}.py", str(size), str(chunk)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    assert int(run.stdout.split()[-1]) < 0.9 * 8 * size**2, run.stdout


@pytest.mark.parametrize("size", [6, 50])
@pytest.mark.parametrize("example", ["dask_seismic_adjoint", "dask_tiled_windows"])
def test_examples_of_dask_run_at_any_size(example, size):
    command = [sys.executable, ROOT / "examples" / f"{example}.py", str(size)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_example_notices_wrong_gradients(example, tmp_path):
    marker = "import numpy as np\n"
    broken = tmp_path / example.name
    source = example.read_text()
    fault = BROKEN_CHUNKS if "backslice.dask" in source else BROKEN
    broken.write_text(source.replace(marker, marker + fault, 1))
    run = subprocess.run([sys.executable, broken], capture_output=True, text=True, timeout=120)
    assert run.returncode != 0 and ("AssertionError" in run.stderr or "Error" in run.stderr)
