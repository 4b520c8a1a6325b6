"""The manual's API reference, made while MkDocs builds: from the headers, and from the stubs and docstrings.

A header here is written to be read: its opening comment says what it is for, each declaration has its sentence. So the
C++ reference is the headers themselves, less what is private. The Python reference takes signatures from the type
stubs (which the tests compare with the module) and words from the docstrings.
"""

import ast
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
MODULES = ("pool", "ragged", "scipy", "awkward", "arrow", "dialects", "picture")  # beside what the package itself has
NOT_FOR_READERS = {"backslice.h", "export.h", "version.h", "inline_vector.h"}


def on_files(files: Any, config: Any) -> Any:
    """MkDocs' event: adds the two pages."""
    from mkdocs.structure.files import File

    for name, page in (("api/python.md", python_reference), ("api/cpp.md", cpp_reference)):
        files.append(File.generated(config, name, content=page()))
    return files


def cpp_reference() -> str:
    parts = ["# C++ API", "", "One header per concept; `backslice/backslice.h` includes all. They need the standard "
             "library alone.", ""]  # fmt: skip
    for path in sorted((ROOT / "include" / "backslice").glob("*.h")):
        if path.name not in NOT_FOR_READERS:
            parts += header_page(path)
    return "\n".join(parts)


def header_page(path: Path) -> list[str]:
    lines = path.read_text().splitlines()
    opening = [line[2:].removeprefix(" ") for line in lines[: lines.index("#pragma once")] if line.startswith("//")]
    body = "\n".join(lines[lines.index("namespace backslice {") + 1 : lines.index("}  // namespace backslice")])
    body = re.sub(r"\n private:\n.*?(?=\n};)", "", body, flags=re.DOTALL).replace("BACKSLICE_EXPORT ", "").strip("\n")
    return [
        f"## {path.name}",
        "",
        *prose(opening),
        "",
        "```c++",
        f"#include <backslice/{path.name}>",
        "",
        body,
        "```",
        "",
    ]


def prose(comment: list[str]) -> list[str]:
    """Indented lines of a comment are code, in Markdown too, where an empty line comes before them."""
    found: list[str] = []
    for line in comment:
        if line.startswith("    ") and found and found[-1] and not found[-1].startswith("    "):
            found.append("")
        found.append(line)
    return found


def python_reference() -> str:
    import backslice

    stubs = ast.parse((ROOT / "python" / "backslice" / "_core.pyi").read_text())
    declared = {node.name: node for node in stubs.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    parts = ["# Python API", "", "`import backslice as bs`", ""]
    for name in backslice.__all__:
        if name in declared:
            parts += entry(name, getattr(backslice, name), declared[name])
        elif inspect.isfunction(function := getattr(backslice, name)):  # of the package, not of the extension
            parts += [
                f"## {name}",
                "",
                "```py",
                f"{name}{inspect.signature(function)}",
                "```",
                "",
                *words(function),
                "",
            ]
    parts += ["## Errors", ""]
    for name in backslice.__all__:
        kind = getattr(backslice, name)
        if isinstance(kind, type) and issubclass(kind, Exception):
            bases = ", ".join(base.__name__ for base in kind.__bases__)
            parts += [f"- `{name}({bases})`: {kind.__doc__}"]
    for name in MODULES:
        parts += module_entry(name)
    return "\n".join(parts)


def entry(name: str, value: Any, node: ast.FunctionDef | ast.ClassDef) -> list[str]:
    if isinstance(node, ast.FunctionDef):
        return [f"## {name}", "", *signature(node, name), *words(value), ""]
    parts = [f"## {name}", "", *words(value), ""]
    for member in node.body:
        if isinstance(member, ast.FunctionDef) and (member.name == "__init__" or not member.name.startswith("_")):
            shown = name if member.name == "__init__" else f"{name}.{member.name}"
            is_property = any(isinstance(d, ast.Name) and d.id == "property" for d in member.decorator_list)
            lines = [] if is_property else signature(member, shown)
            parts += [f"### {shown}" if member.name != "__init__" else "", "", *lines]
            parts += [*words(getattr(value, member.name)), ""] if member.name != "__init__" else [""]
    return parts


def signature(node: ast.FunctionDef, name: str) -> list[str]:
    """A call in a code block, a line an argument where it is long."""
    arguments = ast.unparse(node.args).removeprefix("self, ").removeprefix("self")
    result = f" -> {ast.unparse(node.returns)}" if node.returns and ast.unparse(node.returns) != "None" else ""
    call = f"{name}({arguments}){result}"
    if len(call) > 100:
        split = re.sub(r", (?=\*?\w+(?::|,|$| =)|\*, )", ",\n    ", arguments)
        call = f"{name}(\n    {split}\n){result}"
    return ["```py", call, "```", ""]


def words(value: Any) -> list[str]:
    """A docstring without the signature that nanobind puts before it."""
    text = inspect.getdoc(value) or ""
    if "\n\n" in text and re.match(r"\w+\(.*\)( -> .*)?$", text.split("\n\n")[0]):
        text = text.split("\n\n", 1)[1]
    return [examples_fenced(text)]


def examples_fenced(text: str) -> str:
    """Doctests as code blocks."""
    return re.sub(
        r"((?:^>>> .*\n?(?:^(?!>>>).+\n?)*)+)", lambda m: f"```pycon\n{m[1].rstrip()}\n```\n", text, flags=re.M
    )


def module_entry(name: str) -> list[str]:
    module = importlib.import_module(f"backslice.{name}")
    parts = ["", f"## backslice.{name}", "", examples_fenced(inspect.getdoc(module) or ""), ""]
    for function_name, function in vars(module).items():
        own = getattr(function, "__module__", "").startswith(module.__name__)
        if inspect.isfunction(function) and own and not function_name.startswith("_") and function.__doc__:
            call = f"{name}.{function_name}{inspect.signature(function)}"
            parts += [f"### {name}.{function_name}", "", "```py", call, "```", "", *words(function), ""]
    return parts
