"""Writes the table of signatures that bindings/signatures.cc installs, from the type stubs of the extension module.

Usage: generate_signatures.py TABLE STUB...

The stubs are the one place where parameters, defaults and docstrings of the module are written. Run by the build, with
the standard library alone.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

Function = ast.FunctionDef


def main(table: str, *stubs: str) -> None:
    body = [node for stub in stubs for node in ast.parse(Path(stub).read_text(encoding="utf-8")).body]
    rows = [row for node in body for row in rows_of(node, body)]
    Path(table).parent.mkdir(parents=True, exist_ok=True)
    Path(table).write_text(TABLE.format(rows="\n".join(rows)), encoding="utf-8")


TABLE = """// Made by generate_signatures.py from the stubs in backslice/_core/.
inline constexpr Signature kSignatures[] = {{
{rows}
}};
"""


def rows_of(node: ast.stmt, body: list[ast.stmt]) -> Iterator[str]:
    if isinstance(node, Function):
        yield row("", node, "Function")
    elif isinstance(node, ast.ClassDef) and not node.bases:  # those with bases are types for type checkers alone
        yield class_row(node, body)
        yield from (row(node.name, member, kind_of(member)) for member in node.body if isinstance(member, Function))


def kind_of(member: Function) -> str:
    decorators = {ast.unparse(decorator) for decorator in member.decorator_list}
    usual = "Constructor" if member.name == "__init__" else "Method"
    return {"staticmethod": "StaticMethod", "property": "Property"}.get("".join(decorators), usual)


def class_row(node: ast.ClassDef, body: list[ast.stmt]) -> str:
    constructor = next((m for m in node.body if isinstance(m, Function) and m.name == "__init__"), None)
    *others, last = [""] if constructor else list(makers_of(node.name, body)) or ["the functions that return one"]
    makers = " or ".join([", ".join(others), last] if others else [last])
    call = f"{node.name}({text_signature(constructor.args, 'Constructor')})\n--\n\n" if constructor else ""
    doc = raw(call + (ast.get_docstring(node) or ""))
    return f'    {{"", "{node.name}", Kind::Class, {doc}, "{makers}", {{}}, 0, 0, false, false}},'


def makers_of(name: str, body: list[ast.stmt]) -> Iterator[str]:
    """The methods that return an instance of a class."""
    for scope in (node for node in body if isinstance(node, ast.ClassDef)):
        for member in (member for member in scope.body if isinstance(member, Function)):
            returned = ast.unparse(member.returns) if member.returns else ""
            if returned == name and kind_of(member) != "Property":
                yield f"{scope.name}.{member.name}"


def row(scope: str, node: Function, kind: str) -> str:
    if node.args.posonlyargs:
        sys.exit(f"{node.name}: parameters that are positional only are not supported")
    own = node.args.args[1:] if kind in ("Constructor", "Method", "Property") else node.args.args
    defaults = [None] * (len(own) - len(node.args.defaults)) + node.args.defaults
    names = list(zip(own, defaults, strict=True))
    if node.args.vararg is not None:
        names.append((node.args.vararg, None))
    names += zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    if node.args.kwarg is not None:
        names.append((node.args.kwarg, None))
    parameters = ", ".join(parameter(argument.arg, default) for argument, default in names)
    doc = ast.get_docstring(node) or ""
    text = doc if kind == "Property" else f"{node.name}({text_signature(node.args, kind)})\n--\n\n{doc}"
    collects = ", ".join(str(others is not None).lower() for others in (node.args.vararg, node.args.kwarg))
    return (
        f'    {{"{scope}", "{node.name}", Kind::{kind}, {raw(text)}, "",\n'
        f"     {{{{{parameters}}}}}, {len(names)}, {len(own)}, {collects}}},"
    )


def parameter(name: str, default: ast.expr | None) -> str:
    text = "..." if default is None else ast.unparse(default)  # as in stubs, no value that could be passed
    return f'{{"{name}", {"nullptr" if text == "..." else raw(text)}}}'


def text_signature(arguments: ast.arguments, kind: str) -> str:
    """As CPython writes it: no annotations, and a dollar before the parameter that methods are bound to."""
    for argument in (*arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if argument is not None:
            argument.annotation = None
    text = ast.unparse(arguments)
    if kind == "Constructor":
        return text.removeprefix("self").removeprefix(", ")
    return text.replace("self", "$self, /", 1) if kind == "Method" else text


def raw(text: str) -> str:
    return f'R"doc({text})doc"'


if __name__ == "__main__":
    main(*sys.argv[1:])
