"""The command line in general: help, versions, exit codes, pipes and terminals. Each command has its own tests."""

import json
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import time

import backslice as bs
import numpy as np
import pytest
from command_line import COMMAND, backslice, fails, leftovers

COMMANDS = ("grad", "slice", "sparse-grad", "ragged-grad", "explain", "convert", "check", "onnx", "doctor", "demo",
            "targets", "bench", "explore", "verify")  # fmt: skip


@pytest.mark.parametrize("command", [(), *((command,) for command in COMMANDS)], ids=" ".join)
def test_help_fits_a_screen_and_carries_an_example(command):
    run = backslice(*command, "--help")
    lines = run.stdout.splitlines()
    assert run.returncode == 0
    assert len(lines) <= 24 and max(map(len, lines)) <= 80, "\n".join(lines)
    assert "Example: " in run.stdout
    assert "..." not in run.stdout.split("Commands:")[-1] or command, "a summary is cut off"


def test_every_command_is_in_the_help():
    listed = re.findall(r"^  ([a-z-]+)  ", backslice("--help").stdout.split("Commands:")[1], re.MULTILINE)
    assert set(listed) == set(COMMANDS)


def test_examples_of_the_help_parse():
    """Commands that need no files run. The others fail because a file is missing, not because of misuse."""
    for command in COMMANDS:
        if command in ("bench", "demo", "doctor", "explore", "verify"):
            continue
        text = " ".join(backslice(command, "--help", env={"COLUMNS": "200"}).stdout.split())
        example = re.search(r"Example: (?:BACKSLICE_\w+=\w+ )?backslice (.*?) (?:Arguments|Options):", text)
        assert example, text
        import shlex

        arguments = shlex.split(example[1])
        run = backslice(*(a for a in arguments if a not in ("--svg", "slice.svg")))
        assert run.returncode in (0, 1), (example[1], run.stderr)


def test_version_starts_fast():
    """Measure processor time, independent of other processes."""
    times = []
    for _ in range(5):
        began = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert backslice("--version").stdout.strip() == bs.__version__
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(ended.ru_utime - began.ru_utime + ended.ru_stime - began.ru_stime)
    assert min(times) < 0.3


def test_the_package_is_the_command_too():
    run = subprocess.run([sys.executable, "-m", "backslice", "--version"], capture_output=True, text=True)
    assert run.stdout.strip() == bs.__version__


def test_misuse_is_exit_code_2():
    fails(2, "No such command 'frobnicate'", "frobnicate")
    fails(2, "Missing argument 'DY'", "grad")
    fails(2, "No such option", "targets", "--frobnicate")
    nothing = backslice()
    assert nothing.returncode == 2 and nothing.stdout == backslice("--help").stdout and not nothing.stderr


PRINTING = [
    ("demo",), ("doctor",), ("targets",), ("explain", "4,6", "1:3", "--all"), ("explain", "4096,4096", "::2"),
    ("explain", "3,4,5", "1:, ::2"), ("explain", "8,3,64,64", ":, 1"), ("convert", "4,6", "-1, None"),
    ("check", "mine.py:grad", "--shape", "4,6", "--index", "1:3"),
    ("bench", "--quick", "--peer", "numpy", "-o", "results"),
    ("grad", "dy.npy", "--shape", "6", "--index", "::2", "-o", "dx.npy"),
    *((command, "--help") for command in COMMANDS), ("--help",),
]  # fmt: skip


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_nothing_ends_in_blanks_in_a_pipe(arguments, tmp_path):
    np.save(tmp_path / "dy.npy", np.ones(3))
    (tmp_path / "mine.py").write_text("import numpy as np\ndef grad(dy): return np.zeros((4, 6))\n")
    run = backslice(*arguments, cwd=tmp_path)
    assert run.returncode == (1 if arguments[:2] == ("check", "mine.py:grad") else 0), run.stderr
    assert [line for line in (run.stdout + run.stderr).splitlines() if line != line.rstrip()] == []
    assert (run.stdout + run.stderr).endswith("\n")


def test_blanks_are_dropped_however_the_text_is_cut_into_writes():
    import io

    from backslice.cli.console import WithoutTrailingBlanks

    text = "a  b  \n   \n  c \n d "
    for cut in range(len(text)):
        written = io.StringIO()
        stream = WithoutTrailingBlanks(written)
        stream.write(text[:cut])
        stream.write(text[cut:])
        assert written.getvalue() == "a  b\n\n  c\n d"


def test_demo_tours_all_five_operations():
    run = backslice("demo")
    assert run.returncode == 0, run.stderr
    for operation in ("StridedSliceGrad", "SliceGrad", "SparseSliceGrad", "TensorArrayGradWithShape",
                      "RaggedTensorToVariantGradient"):  # fmt: skip
        assert operation in run.stdout
    assert run.stdout.count(": equal") == 5
    assert "All gradients agree with brute force." in run.stdout
    assert max(map(len, run.stdout.splitlines())) <= 80
    assert "\x1b" not in run.stdout


def test_demo_code_says_what_is_computed():
    from backslice.cli import tour

    for step in tour.steps():
        assert max(map(len, step.code.splitlines())) <= 74
        compile(step.code, step.operation, "exec")


def test_demo_notices_a_wrong_gradient(monkeypatch):
    import io

    from backslice.cli import tour
    from rich.console import Console

    right = bs.onnx_slice_grad
    monkeypatch.setattr(bs, "onnx_slice_grad", lambda *a, **k: 2 * right(*a, **k))
    output = io.StringIO()
    assert not tour.run(Console(file=output))
    assert "DIFFERENT" in output.getvalue()


def test_targets_marks_the_one_in_use():
    assert f"* {bs.simd_target()}" in backslice("targets").stdout
    assert json.loads(backslice("targets", "--json").stdout) == {
        "targets": bs.simd_targets(),
        "in_use": bs.simd_target(),
    }
    assert "* SCALAR" in backslice("targets", env={"BACKSLICE_FORCE_TARGET": "SCALAR"}).stdout


def test_doctor_tells_machine_versions_and_peers():
    found = json.loads(backslice("doctor", "--json").stdout)
    assert found["versions"]["backslice"] == bs.__version__
    assert found["versions"]["numpy"] == np.__version__
    assert found["processor"]["SIMD target in use"] == bs.simd_target()
    assert found["threads"]["threads"] == bs.get_num_threads()
    assert re.fullmatch(r"\d+\.\d GB/s", found["memory"]["copies at"])
    assert {"huge pages", "pool limit", "free"} <= found["memory"].keys()
    assert set(found["peers"]) == {"tensorflow", "torch", "jax", "onnxruntime"}
    assert found["adapters"]["backslice.scipy"] != "not installed"
    assert "SIMD target in use" in backslice("doctor").stdout


@pytest.mark.parametrize(
    "arguments", [("demo",), ("doctor",), ("explain", "4,6", "1:3"), ("convert", "4,6", "1")], ids=str
)
@pytest.mark.parametrize("width", [25, 200])
def test_any_width_of_the_terminal_will_do(arguments, width):
    run = backslice(*arguments, env={"COLUMNS": str(width)})
    assert run.returncode == 0 and "Traceback" not in run.stderr and run.stdout


def test_doctor_sees_the_environment():
    found = json.loads(backslice("doctor", "--json", env={"BACKSLICE_NUM_THREADS": "1"}).stdout)
    assert found["threads"].items() >= {"threads": 1, "BACKSLICE_NUM_THREADS": "1"}.items()


def test_doctor_and_targets_name_variables_that_mean_nothing():
    bad = {"BACKSLICE_NUM_THREADS": "3x", "BACKSLICE_FORCE_TARGET": "MMX"}
    threads = json.loads(backslice("doctor", "--json", env=bad).stdout)["threads"]
    assert 'BACKSLICE_NUM_THREADS is "3x", expected' in threads["problem 1"]
    assert 'BACKSLICE_FORCE_TARGET is "MMX", which is not a target' in threads["problem 2"]
    for command in ("targets", "doctor"):
        result = backslice(command, env=bad)
        assert result.returncode == 0 and result.stderr.count("backslice: warning: BACKSLICE_") == 2
    empty = dict.fromkeys(bad, "")
    assert not any("problem" in name for name in json.loads(backslice("doctor", "--json", env=empty).stdout)["threads"])


def test_a_closed_pipe_is_no_traceback_and_pictures_are_still_saved(tmp_path):
    command = [*COMMAND, "explain", "64,64", "::2", "--svg", tmp_path / "a.svg"]
    explain = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    explain.stdout.close()
    assert b"Traceback" not in explain.stderr.read()
    explain.stderr.close()
    explain.wait()
    assert (tmp_path / "a.svg").exists()


def test_terminals_that_cannot_write_blocks_get_plain_signs():
    run = backslice("explain", "4,6", "1:3", env={"PYTHONIOENCODING": "ascii"})
    assert run.returncode == 0 and run.stdout.isascii()
    assert "0  .  .  ." in run.stdout


def on_a_terminal(code: str, cwd) -> tuple[str, int]:
    """Run a Python program with a terminal as its output, and return what it wrote."""
    here, there = pty.openpty()
    child = subprocess.Popen([sys.executable, "-c", code], cwd=cwd, stdout=there, stderr=there, stdin=there,
                             env=os.environ | {"TERM": "xterm", "COLUMNS": "80"})  # fmt: skip
    os.close(there)
    written = b""
    while True:
        try:
            chunk = os.read(here, 65536)
        except OSError:  # the other end is closed
            break
        if not chunk:
            break
        written += chunk
    os.close(here)
    return written.decode(), child.wait()


# Small boxes, so that a small file has many.
SMALL_BOXES = """
import sys
from backslice.cli import boxes, main
boxes.BOX_BYTES = {size}
sys.argv = ["backslice", "grad", "dy.npy", "--shape", "{rows},1024", "--index", ":, ::2", "-o", "dx.npy", "--force"]
main()
"""


def test_progress_on_a_terminal_and_none_in_a_pipe(tmp_path):
    np.save(tmp_path / "dy.npy", np.ones((256, 512), np.float32))
    code = SMALL_BOXES.format(size=1 << 16, rows=256)
    written, exit_code = on_a_terminal(code, tmp_path)
    assert exit_code == 0
    assert "gradient of 1 MiB" in written and "100%" in written
    piped = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert piped.returncode == 0 and "100%" not in piped.stderr + piped.stdout
    assert piped.stderr.count("\n") == 1
    assert np.load(tmp_path / "dx.npy").sum() == 256 * 512


def test_colours_on_a_terminal_alone(tmp_path):
    code = 'import sys; from backslice.cli import main; sys.argv = ["backslice", "explain", "4,6", "1:3"]; main()'
    assert "\x1b[1;37;42m" in on_a_terminal(code, tmp_path)[0]
    assert "\x1b" not in backslice("explain", "4,6", "1:3").stdout


def test_arrays_are_not_written_to_a_terminal(tmp_path):
    np.save(tmp_path / "dy.npy", np.ones(3))
    arguments = ["backslice", "grad", "dy.npy", "--shape", "6", "--index", "::2", "-o", "-"]
    written, code = on_a_terminal(
        f"import sys; from backslice.cli import main; sys.argv = {arguments}; main()", tmp_path
    )
    assert code == 2 and "standard output is a terminal" in written


@pytest.mark.parametrize("signum, expected", [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interrupts_leave_the_old_file_and_nothing_else(tmp_path, signum, expected):
    np.save(tmp_path / "dy.npy", np.ones((16384, 512), np.float32))
    (tmp_path / "dx.npy").write_text("precious")
    child = subprocess.Popen([sys.executable, "-c", SMALL_BOXES.format(size=1 << 10, rows=16384)], cwd=tmp_path,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)  # fmt: skip
    while not leftovers(tmp_path) and child.poll() is None:
        time.sleep(0.001)
    time.sleep(0.05)
    child.send_signal(signum)
    _, error = child.communicate()
    assert child.returncode == expected, error
    assert "Traceback" not in error
    assert signum != signal.SIGINT or error == "backslice: interrupted; nothing was written\n"
    assert (tmp_path / "dx.npy").read_text() == "precious"
    assert leftovers(tmp_path) == []
