"""The virtual environments of the peers, made once: in the user's cache folder, named after their packages.

`python -m backslice.bench.venvs NAME ...` makes them. A fresh clone, or a second one, finds them ready.
"""

import contextlib
import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

REQUIREMENTS = {
    "tensorflow": ["tensorflow-cpu==2.21.0"],
    "onnxruntime": ["onnxruntime==1.31.1", "onnx", "ml_dtypes"],
    "onnxruntime-oldest": ["onnxruntime==1.17.0", "onnx<1.16", "numpy<2", "ml_dtypes"],
    "onnxruntime-training": ["onnxruntime-training-cpu==1.19.2", "onnx<1.18", "numpy<2"],
    "jax": ["jax==0.10.2; python_version < '3.12'", "jax==0.11.2; python_version >= '3.12'"],
    # needed beside a package that is built for its Python: pytest and the build requirements
    "jax-newest": ["jax==0.11.2", "pytest", "scikit-build-core>=0.10", "nanobind>=2.12"],
    "torch": ["torch", "numpy"],
    "torch-oldest": ["torch==2.11.0", "numpy"],
    # packages that the environment torch lacks, to export the models for tests in ONNX Runtime
    "exporter": ["onnx", "onnxscript"],
}
# Peers that need a later Python than ours may be.
PYTHONS = {"jax-newest": "3.12"}
# PyTorch's wheel brings several GB of CUDA packages.
DISK_NEEDED = dict.fromkeys(("torch", "torch-oldest"), 15 * 10**9)


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "backslice" / "venvs"


def _folder(name: str) -> Path:
    key = f"{PYTHONS.get(name) or sys.version_info[:3]} {REQUIREMENTS[name]}"
    return cache_folder() / f"{name}-{hashlib.sha256(key.encode()).hexdigest()[:12]}"


def _python(name: str) -> str | None:
    """The Python that a peer's environment is made with: this one, or pyenv's newest of a version, or that on PATH."""
    if (version := PYTHONS.get(name)) is None:
        return sys.executable
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    candidates = [
        *sorted(map(str, pyenv.glob(f"{version}.*/bin/python")), reverse=True),
        shutil.which(f"python{version}"),
    ]
    return next((python for python in candidates if python is not None), None)


def find(name: str) -> Path | None:
    """The Python of a peer's environment, if it has been made."""
    folder = _folder(name)
    return folder / "bin" / "python" if (folder / ".ready").exists() else None


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lets one process at a time make a folder. The lock ends with the process, however it ends."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def ensure(name: str) -> Path | None:
    """Returns the Python of a peer's environment, which it makes if it is not there.

    Prints why and returns None where the disk is too full or the Python that the peer needs is missing.
    """
    folder = _folder(name)
    with _locked(folder):
        return find(name) or _make(name, folder)


def _make(name: str, folder: Path) -> Path | None:
    if (python := _python(name)) is None:
        print(f"*** SKIPPED {name}: it needs Python {PYTHONS[name]}, which is not on PATH ***", flush=True)
        return None
    needed = DISK_NEEDED.get(name, 0)
    free = shutil.disk_usage(cache_folder()).free
    if free < needed:
        print(
            f"*** SKIPPED {name}: it needs {needed // 10**9:.0f} GB of disk, {free // 10**9:.0f} GB are free ***",
            flush=True,
        )
        return None
    print(f"Installing {name} into {folder}", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    subprocess.run([folder / "bin" / "python", "-m", "pip", "install", "-q", *REQUIREMENTS[name]], check=True)
    (folder / ".ready").touch()
    return folder / "bin" / "python"


if __name__ == "__main__":
    for peer in sys.argv[1:] or REQUIREMENTS:
        ensure(peer)
