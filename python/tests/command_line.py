"""The command line as a user runs it: in a process of its own, with files and pipes.

Most processes are forked from one that has imported the package, which is faster. A call with its own environment,
shell or pipes starts Python anew.
"""

import contextlib
import io
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from backslice.cli import main as command
from backslice.cli import run as in_this_process

REFUSAL = r"backslice: error: .*\n(  .*\n *\^+\n)?"
COMMAND = [sys.executable, "-m", "backslice.cli"]
ENVIRONMENT = {"COLUMNS": "80", "TERM": "xterm"}

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    ["backslice.cli.app", "backslice.cli.dense", "backslice.cli.explain", "backslice.cli.outputs"]
)


def backslice(*args: object, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Run a command. `env` adds to the environment; with bytes as `input`, standard output is bytes, too. A shell first
    runs `shell`, for limits, and then becomes the command."""
    if not options:
        return forked([str(arg) for arg in args])
    environment = os.environ | ENVIRONMENT | options.pop("env", {})
    environment.pop("FORCE_COLOR", None)
    binary = isinstance(options.get("input"), bytes) or options.pop("binary", False)
    command = [*COMMAND, *map(str, args)]
    if before := options.pop("shell", None):
        command = ["bash", "-c", f'{before}; exec "$@"', "bash", *command]
    return subprocess.run(command, capture_output=True, text=not binary, env=environment, timeout=120, **options)


def forked(args: list[str]) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        process = FORKS.Process(target=become_command, args=(args, dict(os.environ), os.getcwd(), out, err))
        process.start()
        process.join(timeout=120)
        assert process.exitcode is not None, (args, "still runs")
        return subprocess.CompletedProcess(args, process.exitcode, out.read_text(), err.read_text())


def become_command(args: list[str], environment: dict[str, str], folder: str, out: Path, err: Path) -> None:
    """In the forked process, restore the state in which Python starts a program, then run the program."""
    os.environ.clear()
    os.environ.update(environment | ENVIRONMENT)
    os.environ.pop("FORCE_COLOR", None)
    os.chdir(folder)
    for number, path in ((0, Path(os.devnull)), (1, out), (2, err)):
        opened = os.open(path, os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin, sys.stdout, sys.stderr = open(0), open(1, "w"), open(2, "w")  # noqa: SIM115
    sys.argv = [COMMAND[-1], *args]
    command()


def fails(code: int, says: str, *args: object, **options: Any) -> None:
    """Check that the command fails with that code and one line (and the wrong text, if any), without a traceback."""
    run = backslice(*args, **options)
    error = run.stderr if isinstance(run.stderr, str) else run.stderr.decode()
    assert run.returncode == code, (run.returncode, error)
    assert says in error, error
    assert re.fullmatch(REFUSAL, error), error
    assert not run.stdout


def answer(*args: object) -> tuple[int, str, str]:
    """Run a command quickly, in this process. Return its exit code, standard output and standard error. An error is one
    line, and the wrong text, if any."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = in_this_process([str(arg) for arg in args])
    assert code in (0, 1, 2), (args, code)
    assert code == 0 or re.fullmatch(REFUSAL, err.getvalue()), (args, err.getvalue())
    return code, out.getvalue(), err.getvalue()


def refuses(code: int, says: str, *args: object) -> None:
    """Do what `fails` does, in this process."""
    found, _, error = answer(*args)
    assert found == code and says in error, (found, error)


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir() if path.name.endswith(".part")]


def run(*args: object, **options: Any) -> subprocess.CompletedProcess[Any]:
    """Check that the command succeeds."""
    done = backslice(*args, **options)
    assert done.returncode == 0, done.stderr
    return done


SLICE = ("--index", "1:3, ::2")  # of shape 4,6: used by most of these tests


def example(dtype) -> np.ndarray:
    """Return [2, 3] items of any dtype, all different if possible."""
    dtype = np.dtype(dtype)
    if dtype.kind in "SU":
        return np.array([["a", "bc", ""], ["d", "e", "fg"]]).astype(dtype)
    if dtype.names:
        return np.arange(1, 7).astype(dtype[0]).view(dtype).reshape(2, 3)
    return np.array([[1, 0, 1], [0, 1, 1]]).astype(dtype)


def npy(header: str | bytes, data: bytes = b"\0" * 8, version: tuple[int, int] = (1, 0)) -> bytes:
    text = header if isinstance(header, bytes) else header.encode("latin1")
    length = len(text).to_bytes(2 if version == (1, 0) else 4, "little")
    return b"\x93NUMPY" + bytes(version) + length + text + data


def header(descr: str = "'<f4'", order: str = "False", shape: str = "(2,)") -> str:
    return f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}"
