"""The names of Python's and NumPy's manuals that ours links to, for intersphinx, without asking the network.

A list in docs/inventories has the address of a manual in its first line, then one line per name as
`sphinx.ext.intersphinx` prints them: name, kind, priority, page and shown name. Sphinx reads them compressed.
"""

import zlib
from pathlib import Path


def write_inventories(lists: Path, folder: Path) -> dict[str, tuple[str, str]]:
    """Compresses every list into the folder and returns what intersphinx_mapping wants."""
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for path in sorted(lists.glob("*.txt")):
        address, *names = path.read_text().splitlines()
        target = folder / f"{path.stem}.inv"
        target.write_bytes(_header(path.stem) + zlib.compress("\n".join([*names, ""]).encode()))
        mapping[path.stem] = (address, str(target))
    return mapping


def _header(project: str) -> bytes:
    lines = ["# Sphinx inventory version 2", f"# Project: {project}", "# Version: ",
             "# The remainder of this file is compressed using zlib."]  # fmt: skip
    return "\n".join([*lines, ""]).encode()
