"""Prints where the jaxlib of this Python has XLA's headers; nothing where there is no jaxlib, or one without them."""

import importlib.util
from pathlib import Path

spec = importlib.util.find_spec("jaxlib")
for folder in (spec.submodule_search_locations or []) if spec else []:
    if (Path(folder) / "include" / "xla" / "ffi" / "api" / "ffi.h").exists():
        print(Path(folder) / "include")
        break
