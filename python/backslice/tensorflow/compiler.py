"""The C++ compiler, and how it compiles the kernels against the installed TensorFlow."""

import functools
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SOURCES = Path(__file__).with_name("compiled")


class BuildError(RuntimeError):
    """The kernels cannot be compiled or loaded. TensorFlow's own stay in use."""


@dataclass(frozen=True)
class Compiler:
    command: tuple[str, ...]
    version: str

    @property
    def name(self) -> str:
        return Path(self.command[0]).name

    def compile(self, arguments: list[str], library: Path) -> None:
        command = [*self.command, *arguments, "-o", str(library)]
        result = subprocess.run(command, capture_output=True, text=True, errors="replace", stdin=subprocess.DEVNULL)
        if result.returncode != 0:
            printed = "\n".join([line for line in result.stderr.splitlines() if line.strip()][:20])
            raise BuildError(f"{shlex.join(command)} failed with exit status {result.returncode}:\n{printed}")


def find() -> Compiler:
    """$CXX, or else the first of the usual names."""
    if chosen := os.environ.get("CXX"):
        return _asked(_command(chosen), f"CXX is {chosen!r}, which ")
    for name in ("c++", "g++", "clang++"):
        if found := shutil.which(name):
            return _asked((found,), f"{found} ")
    raise BuildError("there is no C++ compiler: install g++ or clang++, or set CXX")


def _command(text: str) -> tuple[str, ...]:
    try:
        return tuple(shlex.split(text))
    except ValueError as error:
        raise BuildError(f"CXX is {text!r}, which is no command: {error}") from None


@functools.cache
def _asked(command: tuple[str, ...], subject: str) -> Compiler:
    try:
        printed = subprocess.run(
            [*command, "--version"], capture_output=True, text=True, errors="replace", check=True, timeout=60
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        raise BuildError(f"{subject}does not work: {error}") from None
    return Compiler(command, printed.splitlines()[0] if printed else "")


def arguments(tf: Any, include: str, library: str) -> list[str]:
    """Return the compiler's arguments except the output."""
    headers = Path(tf.sysconfig.get_include())
    if not (headers / "tensorflow/core/kernels/ragged_tensor_variant.h").exists():
        raise BuildError(f"this TensorFlow has no C++ headers in {headers}")
    flags = [flag for flag in tf.sysconfig.get_compile_flags() if not flag.startswith("-I")]
    folder = Path(tf.sysconfig.get_lib())
    libraries = [f"-l:{name}" for name in ("libtensorflow_cc.so.2",) if (folder / name).exists()]
    return [
        "-shared", "-fPIC", "-fvisibility=hidden", "-O2", "-w", "-DNDEBUG", *flags,
        f"-I{SOURCES}", f"-isystem{headers}", f"-I{include}", str(SOURCES / "kernels.cc"),
        *tf.sysconfig.get_link_flags(), *libraries, library,
        f"-Wl,-rpath,{Path(library).parent}", "-Wl,-z,defs", "-Wl,-z,now",
    ]  # fmt: skip
