#!/usr/bin/env python3
"""Compares the C interface with its last committed description, abi/backslice.VERSION.abi, or writes that description.

    tools/abi.py check [--library build/.../libbackslice.so]
    tools/abi.py update

abidw reads the description from a small C library, which has every function of the headers and no code. So the
description depends on the headers alone, not on the C++ compiler or the library's code. A separate check compares the
exported functions.

New functions and constants are additions: they must be recorded with `update`, but old programs go on working. So are
new fields at the end of a struct that begins with its size, which the library takes at each size that it ever had
(src/capi/structs.h). Everything else is a break, and needs another BACKSLICE_ABI_VERSION first.
"""

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
# No symbol's type contains constants. So each gets a variable, whose size is the constant's value.
LEAST_CONSTANT = 1000


def run(*command: str | Path) -> str:
    return subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout


def header_text(include: Path) -> str:
    text = "\n".join(path.read_text() for path in sorted((include / "backslice/c").glob("*.h")))
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def abi_version(include: Path) -> int:
    return int(re.search(r"define BACKSLICE_ABI_VERSION (\d+)", header_text(include))[1])


def functions(include: Path) -> dict[str, str]:
    """Return declarations by name, without the semicolon."""
    found = re.findall(r"^BACKSLICE_C_API\s+([^;]*?(\w+)\([^;]*\));", header_text(include), flags=re.MULTILINE)
    return {name: declaration for declaration, name in found}


def constants(include: Path) -> list[str]:
    text = header_text(include)
    numbers = re.findall(r"#define (BACKSLICE_\w+) \(?-?\d+\)?\s*$", text, flags=re.MULTILINE)
    return [*re.findall(r"\b(BACKSLICE_\w+) = -?\d+", text), *(n for n in numbers if n != "BACKSLICE_ABI_VERSION")]


def describe(include: Path, folder: Path) -> Path:
    """Write the description of the interface in these headers into the folder."""
    source, library, description = folder / "interface.c", folder / "interface.so", folder / "interface.abi"
    lines = ['#include "backslice/c/backslice.h"']
    lines += [f"char value_of_{name}[{LEAST_CONSTANT} + ({name})];" for name in constants(include)]
    lines += [f"{declaration} {{ __builtin_trap(); }}" for declaration in functions(include).values()]
    source.write_text("\n".join(lines) + "\n")
    run("gcc", "-std=c11", "-g", "-O0", "-w", "-fPIC", "-shared", "-I", include, source, "-o", library)
    run("abidw", "--no-corpus-path", "--no-comp-dir-path", "--no-show-locs", "--no-elf-needed", "--no-architecture",
        "--drop-undefined-syms", "--type-id-style", "hash", "--out-file", description, library)  # fmt: skip
    # The compiler's name and its options are removed.
    text = re.sub(r" (path|comp-dir-path)='[^']*'", "", description.read_text())
    description.write_text(re.sub(r"language='LANG_C\w*'", "language='LANG_C11'", text))
    return description


def differences(old: Path, new: Path, *options: str | Path) -> str:
    """Return abidiff's report, or an empty text."""
    compared = subprocess.run(["abidiff", "--no-architecture", *options, old, new], capture_output=True, text=True)
    if compared.returncode & 3:
        sys.exit(f"abidiff failed:\n{compared.stdout}{compared.stderr}")
    return compared.stdout if compared.returncode else ""


def growing_structs(include: Path) -> list[str]:
    return re.findall(r"typedef struct (\w+) {\s*size_t struct_size;", header_text(include))


def field_count(description: Path, struct: str) -> int:
    found = ElementTree.parse(description).iterfind(f".//class-decl[@name='{struct}']")
    return max(len(declared.findall("data-member")) for declared in found)


def without_growth(include: Path, old: Path, folder: Path) -> Path:
    """Copy the headers, with each growing struct cut off after the fields of the old description."""
    shutil.copytree(include, folder / "include")
    for path in (folder / "include/backslice/c").glob("*.h"):
        text = re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
        for struct in growing_structs(include):
            kept = rf"(typedef struct {struct} {{(?:[^;}}]*;){{{field_count(old, struct)}}})[^}}]*}}"
            text = re.sub(kept, r"\1 }", text)
        path.write_text(text)
    return folder / "include"


def breaks(old: Path, include: Path) -> str:
    """Return the differences that are not additions."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        return differences(old, describe(without_growth(include, old, folder), folder), "--no-added-syms")


def unexported(include: Path, library: Path) -> list[str]:
    """Return the C functions that only the headers or only the library have, and functions of another version."""
    suffix = f"@@BACKSLICE_{abi_version(include)}"
    listed = run("nm", "-D", "--defined-only", "--with-symbol-versions", library).split()
    exported = {word for word in listed if word.startswith("backslice_")}
    return sorted(exported ^ {name + suffix for name in functions(include)})


def described_by(old: Path, new: Path, include: Path) -> str:
    """Return the defects of the committed description, or an empty text."""
    if not old.exists():
        return f"{old} is missing: the C interface of this version was never described. Run `make abi-update`."
    if broken := breaks(old, include):
        version = abi_version(include)
        return (
            f"{broken}\nThe C interface is no longer what {old.name} describes: programs that were compiled "
            f"with it would break. Undo the change, or raise BACKSLICE_ABI_VERSION (now {version}) in "
            "include/backslice/c/base.h and run `make abi-update`."
        )
    if added := differences(old, new):
        return f"{added}\nThe C interface has additions that {old.name} lacks. Run `make abi-update` and commit it."
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=["check", "update"])
    parser.add_argument("--include", type=Path, default=ROOT / "include")
    parser.add_argument("--descriptions", type=Path, default=ROOT / "abi")
    parser.add_argument("--library", type=Path, help="a shared library that must export what the headers declare")
    given = parser.parse_args()
    if missing := [tool for tool in ("abidw", "abidiff", "gcc", "nm") if shutil.which(tool) is None]:
        sys.exit(f"{', '.join(missing)} not found. `make setup` installs it: apt install abigail-tools binutils gcc")
    committed = given.descriptions / f"backslice.{abi_version(given.include)}.abi"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        current = describe(given.include, folder)
        if given.library and (odd := unexported(given.include, given.library)):
            sys.exit(f"{given.library} and the headers of C do not have the same functions: {', '.join(odd)}")
        if given.command == "update" and not (committed.exists() and breaks(committed, given.include)):
            shutil.copy(current, committed)
        if problem := described_by(committed, current, given.include):
            sys.exit(problem)
    print(f"The C interface is what {committed.name} describes: {len(functions(given.include))} functions.")


if __name__ == "__main__":
    main()
