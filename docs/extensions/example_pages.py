"""The directive `{example} NAME.py`: a program of examples/ and its output, run while the manual is built.

Programs in C++ are compiled against the library that the Python package was built from.
"""

import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

ROOT = Path(__file__).parents[2]
LANGUAGES = {".py": "python", ".cc": "cpp"}


class Example(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        path = ROOT / "examples" / self.arguments[0]
        self.env.note_dependency(str(path))
        return [
            block(path.read_text(), LANGUAGES[path.suffix]),
            nodes.paragraph(text="It prints:"),
            block(printed(path), "text"),
        ]


def printed(path: Path) -> str:
    if path.suffix == ".py":
        return output_of(sys.executable, path)
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / path.stem
        flags = ("-std=c++20", "-O1", f"-I{ROOT / 'include'}", "-o", program)
        output_of("c++", *flags, path, library(), f"-Wl,-rpath,{library().parent}")
        return output_of(program)


def library() -> Path:
    """The library of the package that the manual is built with."""
    return ROOT / "build" / "dev" / "libbackslice.so"


def output_of(*command: str | Path) -> str:
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} failed:\n{run.stderr}")
    return run.stdout


def block(text: str, language: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language=language)


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("example", Example)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
