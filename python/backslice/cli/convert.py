"""backslice convert."""

from typing import Any

from rich.console import Console
from rich.text import Text

from .. import dialects
from . import Failure
from .arguments import read_selection


def convert(shape: tuple[int, ...], spec: dialects.Spec, to: tuple[str, ...]) -> dict[str, Any]:
    """Return the slice in the requested dialects, as arguments and as code, with warnings."""
    selection = read_selection(spec, shape)
    warnings = spec.disagreements(shape, to)
    result: dict[str, Any] = {"shape": list(shape), "from": spec.dialect}
    for dialect in to:
        problems = dialects.unsupported_reasons(selection, dialect)
        if dialect == "tf" and problems:
            _refuse_if_alone(to, problems)
            warnings += problems
            continue
        warnings += problems
        result[dialect] = {
            "arguments": dialects.arguments(selection, dialect),
            "code": dialects.code(selection, dialect),
            "gradient": dialects.code(selection, dialect, gradient=True),
        }
    result["warnings"] = warnings
    return result


def _refuse_if_alone(to: tuple[str, ...], problems: list[str]) -> None:
    """Fail if the slice cannot be written in the only requested dialect: a script would go on with empty output."""
    if len(to) == 1:
        raise Failure("; ".join(problems))


def show(result: dict[str, Any], to: tuple[str, ...], console: Console, notes: Console) -> None:
    """Print code to standard output, to paste or pipe, and warnings to standard error."""
    for dialect in to:
        if dialect in result:
            if len(to) > 1:
                console.print(Text(f"# {dialects.NAMES[dialect]}", style="dim"))
            for part in ("code", "gradient"):
                console.print(Text(result[dialect][part], style="cyan"), soft_wrap=True)
    for warning in result["warnings"]:
        notes.print(Text(f"warning: {warning}", style="yellow"), soft_wrap=True)
