"""Includes point one way, so that each folder can be read, tested and replaced without the folders above it.

Names in anonymous namespaces are unique in a folder, since its files are compiled as one (cmake/unity.cmake).
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]

# Each folder, and the folders directly below it. It may include those, and all folders below them.
BELOW = {
    "core": [],
    "memory": ["core"],
    "select": ["core"],
    "execute": ["core"],
    "notation": ["select"],
    "picture": ["notation"],
    "plan": ["memory", "select", "execute"],
    "kernels/cpu": ["plan"],
    "kernels/cuda": ["plan"],
    "kernels/nest": ["kernels/cpu"],
    "kernels/slice": ["kernels/nest", "kernels/cuda"],
    "kernels/concat": ["kernels/cpu", "kernels/cuda"],
    "kernels/tiles": ["kernels/slice"],  # tiles and rows of values use slices
    "kernels/sparse": ["kernels/slice"],
    "ops": ["kernels/slice", "kernels/concat", "kernels/tiles", "kernels/sparse"],
    "sparse": ["ops"],
    "ragged": ["ops"],
    "tensor_array": ["ops"],
    "grad_buffer": ["ops"],
    "capi": ["sparse", "ragged", "tensor_array", "grad_buffer"],
    "bindings": ["sparse", "ragged", "tensor_array", "grad_buffer", "picture"],
}

# The folders of public headers that describe an operation. All folders may use the other headers, which are vocabulary.
PUBLIC = {
    "notation": "notation",
    "picture": "picture",
    "slice": "ops",
    "multi_slice": "ops",
    "prepared_slice": "ops",
    "cost": "ops",
    "sparse_slice": "sparse",
    "ragged_slice": "ragged",
    "ragged_tensor": "ragged",
    "ragged_variant": "ragged",
    "ragged_view": "ragged",
    "variant_array": "ragged",
    "tensor_array": "tensor_array",
    "tensor_array_contents": "tensor_array",
    "tensor_array_container": "tensor_array",
    "grad_buffer": "grad_buffer",
}
VOCABULARY = {
    "allocator", "broadcast", "buffer", "buffer_pool", "context", "coo_indices", "cuda", "device", "device_status",
    "dtype", "dtype_of", "executor",
    "export", "index", "inline_vector", "ints", "layout", "onnx_slice", "partial_shape", "result", "selection", "shape",
    "slice_gradient", "status", "strategy", "targets", "tensor", "tf_slice", "version", "view",
}  # fmt: skip


class Include(NamedTuple):
    file: str
    line: int
    target: str

    def __str__(self) -> str:
        return f'{self.file}:{self.line}: #include "{self.target}"'


def folder_of(path: str) -> str | None:
    """Return the folder of an included or including file; None for vocabulary."""
    parts = path.split("/")
    if parts[:2] == ["backslice", "c"]:
        return "capi"
    if parts[0] == "backslice":
        return PUBLIC.get(Path(path).stem)
    if path == "kernels/cuda/stub.cc":  # it replaces every family's CUDA kernels
        return "ops"
    if parts[0] == "kernels":
        return "/".join(parts[:2])
    return parts[0] if len(parts) > 1 else None


def reachable(folder: str) -> set[str]:
    return {folder}.union(*(reachable(below) for below in BELOW[folder]))


def includes_of(path: Path, name: str) -> Iterator[Include]:
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if found := re.match(r'\s*#\s*include\s*"([^"]+)"', line):
            yield Include(name, number, found[1])


def includes() -> Iterator[Include]:
    """Yield all files but tests and benchmarks, which may include anything."""
    for root in (ROOT / "src", ROOT / "include", ROOT / "python"):
        for path in sorted(root.rglob("*.[ch]*")):
            name = path.relative_to(root).as_posix()
            is_source = path.suffix in (".cc", ".cu", ".h") and folder_of(name) != "tests"
            if is_source and not re.search(r"(^|_)(test|bench)$", path.stem) and path.stem != "backslice":
                yield from includes_of(path, name)


def points_up(include: Include) -> bool:
    origin, target = folder_of(include.file), folder_of(include.target)
    if target is None:
        return False
    return origin is None or target not in reachable(origin)


def test_includes_point_one_way():
    found = list(includes())
    assert len(found) > 400
    wrong = [str(include) for include in found if points_up(include)]
    assert not wrong, "these point up, or from one domain into another:\n" + "\n".join(wrong)


def test_every_folder_and_public_header_has_its_place():
    folders = {folder_of(path.relative_to(ROOT / "src").as_posix()) for path in (ROOT / "src").rglob("*.cc")}
    assert folders == set(BELOW) - {"bindings"}
    headers = {path.stem for path in (ROOT / "include" / "backslice").glob("*.h")} - {"backslice"}
    assert headers == VOCABULARY | set(PUBLIC)


@pytest.mark.parametrize(
    ("file", "target"),
    [
        ("core/view.cc", "plan/plan.h"),
        ("plan/schedule.cc", "kernels/cpu/targets.h"),
        ("kernels/cpu/rows.h", "kernels/slice/kernel.h"),
        ("kernels/concat/cpu.cc", "kernels/sparse/kernel.h"),
        ("ragged/slice.cc", "tensor_array/elements.h"),
        ("ragged/slice.cc", "backslice/tensor_array.h"),
        ("ops/slice.cc", "bindings/arrays.h"),
        ("select/restrict.cc", "memory/block.h"),
        ("backslice/view.h", "backslice/slice.h"),
        ("backslice/view.h", "core/overlap.h"),
        ("backslice/view.h", "backslice/c/base.h"),
        ("ops/slice.cc", "capi/boundary.h"),
        ("bindings/arrays.cc", "backslice/c/backslice.h"),
    ],
)
def test_includes_that_point_up_are_found(file, target):
    assert points_up(Include(file, 1, target))


def local_names(path: Path) -> set[str]:
    """Return the types, functions and variables in a file's anonymous namespaces. (Differing aliases do not
    compile.)"""
    names, inside = set(), False
    for line in path.read_text().splitlines():
        if line in ("namespace {", "}  // namespace"):
            inside = line == "namespace {"
        elif inside and line[:1].isalpha() and not line.startswith(("namespace", "static_assert", "template", "using")):
            declared = re.match(r"(?:class|struct|enum class|enum|union) (\w+)|.*?(\w+)(?:\(| =|\{|;|\[)", line)
            names.add(declared[1] or declared[2])
    return names


@pytest.mark.parametrize("folder", ["src", "python/bindings"])
def test_local_names_are_unique_in_a_folder(folder):
    files: dict[tuple[Path, str], list[str]] = {}
    for path in (ROOT / folder).rglob("*.cc"):
        if not re.search(r"(^|_)(test|bench)$", path.stem):
            for name in local_names(path):
                files.setdefault((path.parent, name), []).append(path.name)
    assert len(files) > 200
    several = [f"{name}: {', '.join(where)}" for (_, name), where in files.items() if len(where) > 1]
    assert not several, "\n".join(several)
