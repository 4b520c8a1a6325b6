"""The directive `{example} NAME.py`: a program of examples/, and what it prints, run while the manual is built."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

EXAMPLES = Path(__file__).parents[2] / "examples"
LANGUAGES = {".py": "python", ".cc": "cpp"}


class Example(SphinxDirective):
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        path = EXAMPLES / self.arguments[0]
        self.env.note_dependency(str(path))
        return [block(path.read_text(), LANGUAGES[path.suffix]), *self.output(path)]

    def output(self, path: Path) -> list[nodes.Node]:
        if path.suffix != ".py":
            return []
        run = subprocess.run([sys.executable, path], capture_output=True, text=True, env={**os.environ, "COLUMNS": "80"})
        if run.returncode:
            raise self.error(f"{path.name} failed: {run.stderr}")
        return [nodes.paragraph(text="It prints:"), block(run.stdout, "text")]


def block(text: str, language: str) -> nodes.literal_block:
    return nodes.literal_block(text, text, language=language)


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("example", Example)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
