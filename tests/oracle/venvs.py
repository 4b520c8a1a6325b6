"""Makes the virtual environments of the peers, once: they lie in the user's cache folder, keyed by what they hold.

Run as a script it makes all of them. A fresh clone, or a second one, finds them ready.
"""

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

REQUIREMENTS = Path(__file__).parent / "requirements"


def cache_folder() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "backslice" / "venvs"


def ensure(name: str) -> Path:
    """The Python of the environment for requirements/NAME.txt, made now if it is not there."""
    requirements = REQUIREMENTS / f"{name}.txt"
    key = hashlib.sha256(f"{sys.version_info[:3]} {requirements.read_text()}".encode()).hexdigest()[:12]
    folder = cache_folder() / f"{name}-{key}"
    python = folder / "bin" / "python"
    ready = folder / ".ready"
    if not ready.exists():
        print(f"Installing {name} into {folder}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "-q", "-r", str(requirements)], check=True)
        ready.touch()
    return python


if __name__ == "__main__":
    for file in sorted(REQUIREMENTS.glob("*.txt")):
        ensure(file.stem)
