"""`make abi-check` on copies of the headers with typical changes."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


class Headers:
    """A copy of the headers and of the descriptions."""

    def __init__(self, folder: Path):
        self.include, self.descriptions = folder / "include", folder / "abi"
        shutil.copytree(ROOT / "include", self.include)
        shutil.copytree(ROOT / "abi", self.descriptions)

    def change(self, header: str, before: str, after: str) -> None:
        path = self.include / "backslice" / "c" / header
        text = path.read_text()
        assert text.count(before) == 1, before
        path.write_text(text.replace(before, after))

    def run(self, command: str) -> subprocess.CompletedProcess:
        words = [sys.executable, ROOT / "tools" / "abi.py", command, "--include", self.include]
        return subprocess.run([*words, "--descriptions", self.descriptions], capture_output=True, text=True)


@pytest.fixture
def headers(tmp_path: Path) -> Headers:
    return Headers(tmp_path)


def test_what_is_committed_is_described(headers: Headers) -> None:
    checked = headers.run("check")
    assert checked.returncode == 0, checked.stderr


BREAKS = {
    "a function is gone": ("base.h", "BACKSLICE_C_API int32_t backslice_abi_version(void);", ""),
    "a parameter has another type": (
        "base.h",
        "backslice_code_name(int32_t code)",
        "backslice_code_name(int64_t code)",
    ),
    "a function returns another type": ("base.h", "int32_t backslice_abi_version", "int64_t backslice_abi_version"),
    "a number changes": ("base.h", "BACKSLICE_FLOAT64 = 18", "BACKSLICE_FLOAT64 = 118"),
    "a limit changes": ("base.h", "define BACKSLICE_MAX_RANK 32", "define BACKSLICE_MAX_RANK 33"),
    "a field comes between": ("base.h", "} backslice_string;", "  int64_t hash;\n} backslice_string;"),
    "a struct grows": ("selection.h", "} backslice_axis;", "  int64_t more;\n} backslice_axis;"),
    "a growing struct grows in the middle": (
        "base.h",
        "  backslice_device_status* device_status;\n}",
        "  int64_t more;\n  backslice_device_status* device_status;\n}",
    ),
    "a growing struct grows and is laid out anew": (
        "base.h",
        "  backslice_device_status* device_status;\n}",
        "  int32_t device_status;\n  int32_t padding;\n  int64_t more;\n}",
    ),
    "a growing struct shrinks": ("base.h", "  backslice_device_status* device_status;\n}", "}"),
    "a versioned struct is laid out anew": (
        "base.h",
        "typedef struct backslice_view {\n  size_t struct_size;",
        "typedef struct backslice_view {\n  size_t struct_size;\n  int64_t first;",
    ),
}


@pytest.mark.parametrize("edit", BREAKS.values(), ids=BREAKS)
def test_a_break_is_refused_until_the_version_is_raised(headers: Headers, edit: tuple[str, str, str]) -> None:
    headers.change(*edit)
    for command in ("check", "update"):
        refused = headers.run(command)
        assert refused.returncode == 1
        assert "raise BACKSLICE_ABI_VERSION (now 1)" in refused.stderr

    headers.change("base.h", "define BACKSLICE_ABI_VERSION 1", "define BACKSLICE_ABI_VERSION 2")
    assert "backslice.2.abi is missing" in headers.run("check").stderr
    assert headers.run("update").returncode == 0
    assert headers.run("check").returncode == 0


ADDITIONS = {
    "a function": ("base.h", "int32_t backslice_abi_version(void);",
                   "int32_t backslice_abi_version(void);\nBACKSLICE_C_API int32_t backslice_more(int32_t more);"),
    "a constant": ("base.h", "BACKSLICE_STRING = 39", "BACKSLICE_STRING = 39,\n  BACKSLICE_MORE = 40"),
    "a field at the end of a context":
        ("base.h", "} backslice_context;", "  int64_t more;\n} backslice_context;"),
    "a field at the end of another struct that begins with its size":
        ("base.h", "} backslice_view;", "  int64_t more;\n} backslice_view;"),
}  # fmt: skip


@pytest.mark.parametrize("edit", ADDITIONS.values(), ids=ADDITIONS)
def test_an_addition_needs_to_be_recorded_but_no_other_version(headers: Headers, edit: tuple[str, str, str]) -> None:
    headers.change(*edit)
    refused = headers.run("check")
    assert refused.returncode == 1
    assert "has additions" in refused.stderr
    assert headers.run("update").returncode == 0
    assert headers.run("check").returncode == 0


def test_a_library_must_export_what_the_headers_declare(headers: Headers, tmp_path: Path) -> None:
    source, library = tmp_path / "part.c", tmp_path / "libpart.so"
    source.write_text("int backslice_abi_version(void) { return 1; }\n")
    subprocess.run(["gcc", "-shared", "-fPIC", source, "-o", library], check=True)
    words = [sys.executable, ROOT / "tools" / "abi.py", "check", "--library", library]
    refused = subprocess.run(words, capture_output=True, text=True)
    assert refused.returncode == 1
    assert "do not have the same functions" in refused.stderr
    assert "backslice_code_name@@BACKSLICE_1" in refused.stderr
