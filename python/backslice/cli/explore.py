"""backslice explore: opens the slice explorer, one HTML file of the package, in the user's browser."""

import secrets
import threading
import webbrowser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import typer

from .. import dialects
from . import Failure

PAGE = Path(__file__).parents[1] / "explorer" / "slice_explorer.html"


def page() -> Path:
    if not PAGE.is_file():
        raise Failure(
            "this installation of backslice has no explorer: it was built from source without emscripten; "
            "install a wheel, or run `make explorer` before `pip install .`"
        )
    return PAGE


def fragment(shape: tuple[int, ...] | None, spec: dialects.Spec | None) -> str:
    """Return the arguments for the page as an address fragment, which browsers send nowhere."""
    if shape is None:
        return ""
    fields: dict[str, Any] = {"tab": "slice", "shape": _listed(shape)}
    if spec is not None:
        fields["from"] = spec.dialect
        fields |= {name: _listed(value) for name, value in spec.arguments.items() if value not in (0, None)}
    return "#" + urlencode(fields)


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def serve(opens: bool, what: str) -> None:
    """Serve the page at a free port of this machine until Ctrl-C. Its address has a secret token."""
    content = page().read_bytes()
    path = f"/{secrets.token_urlsafe(16)}/"
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(path, content)) as server:
        address = f"http://127.0.0.1:{server.server_port}{path}{what}"
        typer.echo(f"The explorer is at {address}\nCtrl-C ends it.")
        # It runs in a thread, since some browsers return only when the user closes them.
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            if opens:
                _open(address)
            threading.Event().wait()
        except KeyboardInterrupt:
            typer.echo("")
        finally:
            server.shutdown()


def open_file(opens: bool, what: str) -> None:
    """Open the page from disk, without a server. Some desktops drop the fragment (#...) when they open a file."""
    address = page().as_uri() + what
    typer.echo(f"The explorer is at {address}")
    if opens:
        _open(address)


def _open(address: str) -> None:
    if not webbrowser.open(address):
        typer.echo("No browser was found: open this address in one.", err=True)


def _handler(path: str, content: bytes) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = 10  # seconds until a silent connection is closed

        def do_GET(self) -> None:
            self._answer(with_body=True)

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def _answer(self, with_body: bool) -> None:
            # Another Host means DNS rebinding: a page elsewhere had its name resolved to this machine.
            port = self.connection.getsockname()[1]
            found = self.path == path and self.headers.get("Host") in (f"127.0.0.1:{port}", f"localhost:{port}")
            body = content if found else b"not found\n"
            self.send_response(200 if found else 404)
            self.send_header("Content-Type", "text/html; charset=utf-8" if found else "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.send_header("Referrer-Policy", "no-referrer")
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("X-Frame-Options", "DENY")
            self.end_headers()
            if with_body:
                self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            pass

    return Handler
