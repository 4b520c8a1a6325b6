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
TABLE = """// Made by generate_signatures.py from the stubs in backslice/_core/.
inline constexpr Signature kSignatures[] = {{
{rows}
}};
"""


def main(table: str, *stubs: str) -> None:
    body = [node for stub in stubs for node in ast.parse(Path(stub).read_text(encoding="utf-8")).body]
    rows = [row for node in body for row in rows_of(node, body)]
    Path(table).parent.mkdir(parents=True, exist_ok=True)
    Path(table).write_text(TABLE.format(rows="\n".join(rows)), encoding="utf-8")


def rows_of(node: ast.stmt, body: list[ast.stmt]) -> Iterator[str]:
    if isinstance(node, Function):
        yield row("", node, "Function")
    elif isinstance(node, ast.ClassDef) and not node.bases:  # those with bases are types for type checkers alone
        members = [member for member in node.body if isinstance(member, Function)]
        constructor = next((member for member in members if member.name == "__init__"), None)
        made_by = "" if constructor else " or ".join(", ".join(makers_of(node.name, body)).rsplit(", ", 1))
        doc = with_signature(node.name, constructor.args, node) if constructor else ast.get_docstring(node) or ""
        yield f'    {{"", "{node.name}", Kind::Class, {raw(doc)}, {raw(made_by)}}},'
        yield from (row(node.name, member, kind_of(member)) for member in members)


def kind_of(member: Function) -> str:
    decorators = {ast.unparse(decorator) for decorator in member.decorator_list}
    usual = "Constructor" if member.name == "__init__" else "Method"
    return {"staticmethod": "StaticMethod", "property": "Property"}.get("".join(decorators), usual)


def makers_of(name: str, body: list[ast.stmt]) -> list[str]:
    """The methods that return an instance of a class."""
    scopes = [node for node in body if isinstance(node, ast.ClassDef)]
    members = [(scope, member) for scope in scopes for member in scope.body if isinstance(member, Function)]
    makers = [f"{s.name}.{m.name}" for s, m in members if m.returns and ast.unparse(m.returns) == name
              and kind_of(m) != "Property"]  # fmt: skip
    return makers or ["the functions that return one"]


def row(scope: str, node: Function, kind: str) -> str:
    doc = ast.get_docstring(node) or "" if kind == "Property" else with_signature(node.name, node.args, node)
    if kind in ("Constructor", "Method", "Property"):
        del node.args.args[0]
    shown = ".".join(filter(None, (scope, node.name))).removesuffix(".__init__")
    return f'    {{"{scope}", "{node.name}", Kind::{kind}, {raw(doc)}, {raw(binding(shown, node.args))}}},'


def binding(called: str, arguments: ast.arguments) -> str:
    """Code for a function that returns its arguments in order, their names, their defaults, the number by position.

    Three dots stand for no default, as in stubs, and -1 for the number where *name or **name collects arguments.
    """
    by_position, others, by_name, keywords = arguments.args, arguments.vararg, arguments.kwonlyargs, arguments.kwarg
    names = tuple(argument.arg for argument in (*by_position, others, *by_name, keywords) if argument is not None)
    defaults = [*[None] * (len(by_position) - len(arguments.defaults)), *arguments.defaults, *[None] * bool(others)]
    defaults += [*arguments.kw_defaults, *[None] * bool(keywords)]
    values = "".join("..., " if default is None else f"{ast.unparse(default)}, " for default in defaults)
    order = f"lambda {ast.unparse(arguments)}: ({''.join(f'{name}, ' for name in names)})"
    function = f"lambda *values, **keywords: bind_call({order}, '{called}', *values, **keywords)"
    return f"({function}, {names}, ({values}), {-1 if others or keywords else len(by_position)})"


def with_signature(name: str, arguments: ast.arguments, documented: Function | ast.ClassDef) -> str:
    """A docstring after its signature as CPython writes it: no annotations, and a dollar before a method's self."""
    if arguments.posonlyargs:
        sys.exit(f"{name}: parameters that are positional only are not supported")
    for argument in (*arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if argument is not None:
            argument.annotation = None
    text = ast.unparse(arguments)
    if isinstance(documented, ast.ClassDef) or name == "__init__":
        text = text.removeprefix("self").removeprefix(", ")
    elif arguments.args and arguments.args[0].arg == "self":
        text = text.replace("self", "$self, /", 1)
    return f"{name}({text})\n--\n\n{ast.get_docstring(documented) or ''}"


def raw(text: str) -> str:
    return f'R"doc({text})doc"'


if __name__ == "__main__":
    main(*sys.argv[1:])
