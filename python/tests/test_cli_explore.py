"""backslice explore: the package's page, served only to this machine, or opened from disk."""

import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from backslice.cli import explore
from command_line import COMMAND, backslice, fails

BUILT = explore.PAGE.is_file()
needs_page = pytest.mark.skipif(not BUILT, reason="the package was built without emscripten; make explorer builds it")


@needs_page
@pytest.mark.parametrize(
    "arguments, fragment",
    [
        ((), ""),
        (("4,6",), "#tab=slice&shape=4%2C+6"),
        (("4,6", "1:3, ::2"), "#tab=slice&shape=4%2C+6&from=python&index=1%3A3%2C+%3A%3A2"),
        (("5", "--onnx", "starts=1", "ends=3"), "#tab=slice&shape=5&from=onnx&starts=1&ends=3"),
        (
            ("5", "--tf", "begin=1", "end=3", "end_mask=1"),
            "#tab=slice&shape=5&from=tf&begin=1&end=3&strides=1&end_mask=1",
        ),
    ],
)
def test_the_page_is_a_file_and_its_address_has_the_slice(arguments, fragment):
    run = backslice("explore", *arguments, "--file", "--no-browser")
    assert run.stdout == f"The explorer is at {explore.PAGE.as_uri()}{fragment}\n" and run.returncode == 0
    assert "Content-Security-Policy" in explore.PAGE.read_text()[:1000]


def test_bad_slices_are_refused_before_anything_is_opened():
    fails(2, "index 9 is out of bounds", "explore", "4,6", "1:3, 9", "--file", "--no-browser")
    fails(2, "is not an integer", "explore", "4,x", "--file", "--no-browser")
    fails(2, "the shape is missing", "explore", "--index", "1", "--file", "--no-browser")


@needs_page
def test_a_missing_browser_is_said(monkeypatch, capsys):
    monkeypatch.setattr(explore.webbrowser, "open", lambda address: False)
    explore.open_file(True, "#tab=slice")
    printed = capsys.readouterr()
    assert printed.out == f"The explorer is at {explore.PAGE.as_uri()}#tab=slice\n"
    assert printed.err == "No browser was found: open this address in one.\n"


@needs_page
def test_a_browser_that_returns_when_it_is_left_is_served(monkeypatch, capsys):
    """Read output as a terminal does."""
    answered = []

    def browse(address: str) -> bool:
        answered.append(answer(address.split("#")[0]))
        raise KeyboardInterrupt

    monkeypatch.setattr(explore.webbrowser, "open", browse)
    explore.serve(True, "#tab=slice")
    assert answered == [(200, explore.PAGE.read_bytes())]


def test_a_missing_page_is_said(monkeypatch):
    monkeypatch.setattr(explore, "PAGE", Path("/nowhere"))
    with pytest.raises(explore.Failure, match="built from source without emscripten"):
        explore.page()


def answer(address: str, **headers: str) -> tuple[int, bytes]:
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=10) as found:
            return found.status, found.read()
    except urllib.error.HTTPError as error:
        return error.code, error.read()


@needs_page
def test_the_server_answers_whoever_has_the_token():
    command = [*COMMAND, "explore", "4,6", "1:3", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        line = running.stdout.readline()
        address = re.search(r"(http://127\.0\.0\.1:\d+/[\w-]{22}/)#tab=slice", line)[1]
        assert answer(address) == (200, explore.PAGE.read_bytes())
        root = address.rsplit("/", 2)[0]
        for wrong in (root, root + "/", address + "x", root + "/x/", address + "../../../etc/passwd"):
            assert answer(wrong)[0] == 404
        assert answer(address, Host="evil.example")[0] == 404
        running.send_signal(signal.SIGINT)
        out, error = running.communicate(timeout=20)
    assert (running.returncode, error) == (0, ""), (out, error)


def test_the_command_needs_no_server_to_be_imported():
    code = "import sys, backslice.cli.app; print('http.server' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "False"
