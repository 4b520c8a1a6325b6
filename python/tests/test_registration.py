"""The extension module raises and calls objects that the package registered with it, and imports nothing of the
package."""

import subprocess
import sys
from pathlib import Path

import backslice as bs
import pytest
from backslice import _core, errors

BINDINGS = Path(__file__).parents[1] / "bindings"


def test_nothing_of_the_package_is_imported_later():
    program = """
import sys
import backslice as bs, backslice.picture
import numpy as np
for name in [name for name in sys.modules if name.startswith("backslice")]:
    sys.modules[name] = None  # importing it is an ImportError
try:
    bs.slice(np.ones(3), "7")
except bs.OutOfRangeError:
    print("error")
print(bs.RaggedTensor.from_list([[1, 2], [3]]).to_list(), bs.RaggedTensor.from_row_lengths([1, 2], [1, 1]).to_list())
array = bs.TensorArray(1, np.float32)
array.write(0, [1, 2])
print(array.read(0).tolist())
"""
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.splitlines() == ["error", "[[1, 2], [3]] [[1], [2]]", "[1.0, 2.0]"], run.stderr


def test_the_bindings_name_no_module_of_the_package():
    named = [f"{path.name}: {line}" for path in BINDINGS.iterdir() for line in path.read_text().splitlines()
             if '"backslice.' in line]  # fmt: skip
    assert not named


@pytest.mark.parametrize("format", ["svg", "html"])
def test_pictures_are_drawn_by_the_package(format):
    shown = getattr(bs.Selection.from_index((4,), "1:3"), f"_repr_{format}_")()
    assert "<svg" in shown


def test_every_exception_is_registered():
    """An unregistered one would raise RuntimeError when it is needed."""
    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    text = (Path(bs.__file__).parent / "__init__.py").read_text()
    assert len(kinds) >= 8 and all(f'    "{kind.__name__}": {kind.__name__},\n' in text for kind in kinds)


def test_registration_takes_names_alone():
    with pytest.raises(AttributeError):
        _core._register(1)
