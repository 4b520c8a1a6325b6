"""The import errors of backslice.jax: JAX is missing, too old or unlike known versions, or there are no handlers."""

import subprocess
import sys
from pathlib import Path

import pytest

FAKE = """
import sys, types
jax, jaxlib = types.ModuleType("jax"), types.ModuleType("jaxlib")
jaxlib.__version__ = {version!r}
def register(name, capsule, platform):
    if {refuses!r}:
        raise RuntimeError("FFI API version 7 is not supported")
    if platform == "cpu":
        print("registered", name)
jax.ffi = types.SimpleNamespace(
    register_ffi_target=register, pycapsule=lambda function: None, include_dir=lambda: {headers!r}
)
sys.modules.update(jax=jax, jaxlib=jaxlib)
"""


def fake(version: str, headers: str = "/nowhere", refuses: bool = True) -> str:
    return FAKE.format(version=version, headers=headers, refuses=refuses)


def imported(before: str) -> str:
    """Return the error of the import."""
    program = f"""
import sys
{before}
try:
    import backslice.jax
except ImportError as error:
    print(type(error).__name__, error)
"""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


def test_without_jax() -> None:
    text = imported("sys.modules['jax'] = None")
    assert text.startswith("ImportError backslice.jax needs JAX") and "pip install jax" in text


@pytest.mark.parametrize("version", ["0.4.30", "0.9.2"])
def test_with_a_version_that_is_too_old(version: str) -> None:
    assert f"needs jaxlib 0.10 or later, but {version} is installed" in imported(fake(version))


@pytest.mark.parametrize("version", ["main", "unknown.0"])
def test_with_a_version_that_is_no_number(version: str) -> None:
    """An incompatible JAX is detected when the handlers are registered."""
    assert f"cannot be registered with jaxlib {version}" in imported(fake(version))


def test_with_a_version_that_refuses_the_handlers() -> None:
    text = imported(fake("9.1.0"))
    assert "cannot be registered with jaxlib 9.1.0" in text and "version 7" in text
    assert "tested with jaxlib 0.10.2 and 0.11.2" in text


def test_with_a_version_that_takes_the_handlers_and_lacks_names() -> None:
    """This also shows that the build contains handlers that load."""
    *registered, text = imported(fake("9.1.0", refuses=False)).splitlines()
    assert [line.split()[1] for line in registered] == [
        "backslice_multi_slice", "backslice_multi_slice_grad", "backslice_multi_slice_add",
        "backslice_shard_of_gradient", "backslice_slices_of_shard", "backslice_sparse_slice_grad",
        "backslice_unwritten",
    ]  # fmt: skip
    assert text.startswith("ImportError backslice.jax is tested with JAX 0.10.2 and 0.11.2, but an unknown version is ")
    assert "with jaxlib 9.1.0, which lacks something that it uses (" in text


@pytest.mark.parametrize("version", [(0, 1), (1, 0)])
def test_with_a_version_whose_interface_is_older_or_another(tmp_path: Path, version: tuple[int, int]) -> None:
    header = tmp_path / "xla" / "ffi" / "api" / "c_api.h"
    header.parent.mkdir(parents=True)
    header.write_text("#define XLA_FFI_API_MAJOR {}\n#define XLA_FFI_API_MINOR {}\n".format(*version))
    text = imported(fake("0.10.9", str(tmp_path)))
    assert "cannot be registered with jaxlib 0.10.9" in text and "this jaxlib has {}.{}".format(*version) in text


def test_without_handlers() -> None:
    hidden = "import pathlib; pathlib.Path.exists = lambda path: False"
    text = imported(fake("0.10.2") + hidden)
    assert "libbackslice_jax.so is not part of this build" in text and "make adapters" in text


def test_importing_backslice_does_not_import_jax() -> None:
    program = "import backslice, sys; print([name for name in sys.modules if 'jax' in name])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
