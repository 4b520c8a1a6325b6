"""Gives damaged files to every command that reads files. Each command must succeed with a valid result, or fail with
one line (below it, the wrong text with carets under it) and leave nothing behind.

    python fuzz/files.py --seconds 60 --seed 0

The same seed gives the same files and commands. A finding is kept in the printed folder: the file, and the command in
command.json. A crash of the process leaves the same. Without a finding the folder is removed.
"""

import argparse
import contextlib
import faulthandler
import functools
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import typer.main
from backslice.cli import run
from mutated_files import FORMATS, NAMES, some_file

OUTPUTS = ["out.npy", "out.npz", "out.npz:file", "out.safetensors", "out.safetensors:x", "-"]
DTYPES = ["bfloat16", "float8_e5m2", "qint8", "float32", "object", "S3", "nope"]
INDICES = ["...", "...", "...", "0", "::2", "None, ..., ::-1", "0:0", "1:, 0", "5"]
IN_A_PROCESS = 400  # one in this many runs has its own process
LONGEST_SECONDS = 20
ERROR = re.compile(r"backslice: error: .+\n(  .+\n  +\^+\n)?")


class Hang(BaseException):
    """The command took too long."""


def command_for(rng: random.Random, suffix: str) -> list[str]:
    file = "-" if rng.random() < 0.1 else "x" + suffix
    name = rng.choice(["", ":a"]) if suffix == ".safetensors" else rng.choice(["", *NAMES]) if suffix == ".npz" else ""
    array = file + (":" + name.lstrip(":") if name and file != "-" else "")
    slice_ = ["--index", rng.choice(INDICES)]
    written = ["-o", rng.choice(OUTPUTS), "--force"]
    commands = {
        "slice": [array, *slice_, *written],
        "grad": [array, "--shape", rng.choice(["2,3", "4", "3,4"]), *slice_, *written],
        "check": [array, "--shape", "2,4", "--index", "...", "--dy", rng.choice([array, "good.npy"])],
        "sparse-grad": [file, *written, *rng.choice([[], ["--order", "any"]])],
        "ragged-grad": [file, *written],
    }
    weights = [4, 2, 1, 6, 6] if suffix == ".npz" else [6, 3, 1, 0.1, 0.1]
    (chosen,) = rng.choices(list(commands), weights)
    return [chosen, *commands[chosen], *(["--dtype", rng.choice(DTYPES)] if rng.random() < 0.2 else [])]


def in_this_process(command: list[str], given: bytes) -> tuple[int, bytes, str]:
    streams = [io.TextIOWrapper(io.BytesIO(data), write_through=True) for data in (given, b"", b"")]
    before = sys.stdin
    sys.stdin = streams[0]
    signal.alarm(LONGEST_SECONDS)
    try:
        with contextlib.redirect_stdout(streams[1]), contextlib.redirect_stderr(streams[2]):
            code = run(command)
    finally:
        signal.alarm(0)
        sys.stdin = before
    out, error = (stream.buffer.getvalue() for stream in streams[1:])  # type: ignore[attr-defined]
    return code, out, error.decode()


def in_its_own_process(command: list[str], given: bytes) -> tuple[int, bytes, str]:
    program = [sys.executable, "-m", "backslice", *command]
    done = subprocess.run(program, input=given, capture_output=True, timeout=6 * LONGEST_SECONDS)
    return done.returncode, done.stdout, done.stderr.decode()


def fault(command: list[str], code: int, out: bytes, error: str) -> str | None:
    """Return the defect of an answer, or an empty text."""
    if code not in (0, 1, 2):
        return f"exit code {code}"
    left = [path for path in os.listdir() if path.endswith(".part")]
    if left:
        return f"left behind: {left}"
    disagrees = command[0] == "check" and code == 1 and out and not error
    if code and not disagrees and not ERROR.fullmatch(error):
        return f"not one line, with carets or without: {error!r}"
    if command[0] == "check":
        return None
    target = command[command.index("-o") + 1]
    if target == "-":
        return invalid(io.BytesIO(out)) if code == 0 else f"{len(out)} bytes written" if out else None
    path, _, name = target.partition(":")
    if code == 0:
        return invalid(path, name)
    return "the output exists" if Path(path).exists() else None


def invalid(file: Any, name: str = "") -> str | None:
    """Return whether NumPy, or the safetensors library, refuses the output."""
    try:
        if str(file).endswith(".safetensors"):
            from safetensors import safe_open

            with safe_open(file, framework="np") as tensors:
                names = list(tensors.keys())
        else:
            found = np.load(file)
            names = found.files if hasattr(found, "files") else []
            arrays = [found[key] for key in names] if names else [found]
            assert all(isinstance(array, np.ndarray) for array in arrays)
        assert not name or names == [name], names
    except Exception as error:
        return f"the output is invalid: {error!r}"
    return None


def one_case(rng: random.Random) -> str | None:
    """Run one command on one file; both are on disk before it starts."""
    for old in ("out.npy", "out.npz", "out.safetensors", *("x" + suffix for suffix in FORMATS)):
        Path(old).unlink(missing_ok=True)
    suffix = rng.choice(list(FORMATS))
    content = some_file(rng, suffix)
    command = command_for(rng, suffix)
    Path("x" + suffix).write_bytes(content)
    Path("command.json").write_text(json.dumps(command))
    answer = in_its_own_process if rng.randrange(IN_A_PROCESS) == 0 else in_this_process
    try:
        return fault(command, *answer(command, content if "-" in command[1:2] else b""))
    except (Hang, Exception):
        return traceback.format_exc()


def main() -> int:
    parser = argparse.ArgumentParser(description="Fuzzes the reading of files.")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32), help="default: another one each time")
    options = parser.parse_args()
    faulthandler.enable()
    typer.main.get_command = functools.cache(typer.main.get_command)  # this takes half of the time otherwise
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(Hang()))
    folder = tempfile.mkdtemp(prefix="backslice-fuzz-")
    os.chdir(folder)
    np.save("good.npy", np.ones((2, 4)))
    found = search(options.seconds, options.seed)
    if not found:
        os.chdir("/")
        shutil.rmtree(folder)
    return int(found)


def search(seconds: float, seed: int) -> bool:
    """Return whether there is a finding."""
    rng = random.Random(seed)
    began, cases = time.monotonic(), 0
    while time.monotonic() - began < seconds:
        cases += 1
        problem = one_case(rng)
        if problem:
            print(f"case {cases} of seed {seed}, kept in {os.getcwd()}: {Path('command.json').read_text()}")
            print(problem)
            return True
    print(f"{cases} files in {seconds:g} s without a finding (seed {seed})")
    return False


if __name__ == "__main__":
    sys.exit(main())
