"""Builds the slice explorer: one HTML file that contains the page, its style, its script and the library as
WebAssembly.

It needs emscripten; `make explorer` installs it. The result is build/explorer/slice_explorer.html, which wheels and the
manual include.
"""

import argparse
import base64
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent
BUILD = ROOT / "build" / "explorer"
SCRIPTS = ("engine.js", "fields.js", "masks.js", "pictures.js", "errors.js", "results.js", "main.js")
MOST_BYTES = 400_000  # limit for the compressed page


def compile_library() -> None:
    """Compile the library and the functions that the page calls."""
    environment = {name: value for name, value in os.environ.items() if name != "EM_CACHE"}
    environment |= {"NODE_PATH": "/usr/share/nodejs", "CCACHE_COMPILERTYPE": "clang"}
    launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={shutil.which('ccache')}"] if shutil.which("ccache") else []
    configure = ["emcmake", "cmake", "-G", "Ninja", "-S", HERE, "-B", BUILD, "-DCMAKE_BUILD_TYPE=MinSizeRel", *launcher]
    subprocess.run(configure, check=True, env=environment, stdout=subprocess.DEVNULL)
    built = subprocess.run(["cmake", "--build", BUILD], env=environment, stdout=subprocess.PIPE, text=True)
    if built.returncode != 0:
        sys.exit(built.stdout)


def check_types() -> None:
    """Check the types of the page's scripts, if TypeScript's compiler is installed."""
    compiler = shutil.which("tsc")
    if compiler is None:
        print("the types of the page's scripts were not checked: tsc is not installed")
        return
    subprocess.run([compiler, "-p", HERE / "page"], check=True)


# Return the library's colours, by the page's own request.
ASK_FOR_STYLE = """const wasmBinary = require("fs").readFileSync("explorer.wasm");
require("./explorer.js")({ wasmBinary }).then((library) => {
  const memory = library._malloc(100);
  library.stringToUTF8("tab\\x1fstyle", memory, 100);
  console.log(library.UTF8ToString(library._backslice_explore(memory)));
});"""


def style() -> str:
    """Return the page's style, with the colours of the library's pictures."""
    asked = subprocess.run(["node", "-e", ASK_FOR_STYLE], check=True, cwd=BUILD, stdout=subprocess.PIPE, text=True)
    palettes = {
        name: " ".join(f"--{part}: {colour};" for part, colour in palette.items())
        for name, palette in json.loads(asked.stdout).items()
    }
    return filled((HERE / "page" / "explorer.css").read_text(), palettes)


def filled(template: str, parts: dict[str, str]) -> str:
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def page() -> str:
    """Return the page. Its policy allows only these scripts and this style."""
    own = "\n".join((HERE / "page" / name).read_text() for name in SCRIPTS)
    script = f'{(BUILD / "explorer.js").read_text()}\n(() => {{\n"use strict";\n{own}\n}})();\n'
    theme = (HERE / "page" / "theme.js").read_text()
    css = style()
    assert not re.search("</(script|style)", script + theme + css, re.IGNORECASE)
    version = re.search(r'BACKSLICE_VERSION "(.*)"', (ROOT / "include" / "backslice" / "version.h").read_text())
    assert version
    parts = {
        "policy": f"default-src 'none'; script-src {hash_of(theme)} {hash_of(script)} 'wasm-unsafe-eval'; "
        f"style-src {hash_of(css)}; img-src data:; base-uri 'none'; form-action 'none'",
        "style": css,
        "theme": theme,
        "version": version[1],
        "wasm": base64.b64encode((BUILD / "explorer.wasm").read_bytes()).decode(),
        "script": script,
    }
    return filled((HERE / "page" / "index.html").read_text(), parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.parse_args()
    compile_library()
    check_types()
    text = page()
    size = len(gzip.compress(text.encode()))
    assert size < MOST_BYTES, f"the page has {size} bytes, compressed"
    path = BUILD / "slice_explorer.html"
    path.write_text(text)
    print(f"{path.relative_to(ROOT)}: {len(text)} bytes, {size} compressed")


if __name__ == "__main__":
    main()
