"""Early ends of a command: signals at any moment, inputs that shrink, streams that are closed or full, and the remains
of a killed command."""

import fcntl
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from backslice.cli import temporary
from command_line import COMMAND, answer, backslice, fails, leftovers, run

SCRIPT = [sys.executable, "-c", "from backslice_command import main; main()"]
FULL = "/dev/full"

# Interrupts itself at the n-th event (an import, an opened file, ...) after loading of the package begins. Earlier
# events belong to the interpreter's start.
AT_THE_NTH_EVENT = """
import os, signal, sys
left = int(os.environ["EVENTS"])
has_begun = False
def count(event, arguments):
    global left, has_begun
    has_begun = has_begun or (event == "import" and arguments[0] in ("backslice.cli", "backslice.cuda"))
    if has_begun:
        left -= 1
        if left == 0:
            signal.raise_signal(signal.SIGINT)
sys.addaudithook(count)
"""
EVENTS = 2800  # in the command below, at least


def interrupted(error: str) -> bool:
    return error in ("backslice: interrupted; nothing was written\n", "backslice: interrupted; y.npy was written\n")


@pytest.mark.parametrize(
    "command, times",
    [(SCRIPT, 20), ([sys.executable, "-m", "backslice"], 5), (COMMAND, 5)],
    ids=["script", "package", "module"],
)
def test_interrupts_at_any_moment(folder, command, times):
    np.save("x.npy", np.arange(3.0))
    (folder / "sitecustomize.py").write_text(AT_THE_NTH_EVENT)
    moments = random.Random(0)
    for _ in range(times):
        event = moments.randint(1, EVENTS)
        done = subprocess.run([*command, "slice", "x.npy", "--index", "0", "-o", "y.npy", "--force"],
                              capture_output=True, text=True,
                              env=os.environ | {"PYTHONPATH": str(folder), "EVENTS": str(event)})  # fmt: skip
        assert done.returncode == 130 and interrupted(done.stderr), (event, done.returncode, done.stderr)
        assert leftovers(folder) == []


def test_interrupts_by_the_clock(folder):
    """Interrupt from outside, like Ctrl-C, after the command has begun: it opens a pipe without a writer."""
    os.mkfifo("x.npy")
    child = subprocess.Popen(
        [*SCRIPT, "slice", "x.npy", "--index", "0", "-o", "y.npy"], stderr=subprocess.PIPE, text=True
    )
    time.sleep(random.Random(0).uniform(0.5, 1))
    child.send_signal(signal.SIGINT)
    _, error = child.communicate(timeout=60)
    assert child.returncode == 130 and interrupted(error)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGHUP, signal.SIGTERM])
def test_signals_that_the_shell_ignores_stay_ignored(folder, signum):
    """Test nohup, and background jobs."""
    np.save("x.npy", np.arange(3.0))
    code = f"""
import os, signal, sys
from backslice.cli import dense, main
before = dense.write_slice
dense.write_slice = lambda *arguments: (os.kill(os.getpid(), {int(signum)}), before(*arguments))
sys.argv = ["backslice", "slice", "x.npy", "--index", "1:", "-o", "y.npy"]
main()
"""
    name = signum.name.removeprefix("SIG")
    done = subprocess.run(["bash", "-c", f'trap "" {name}; exec "$@"', "bash", sys.executable, "-c", code],
                          capture_output=True, text=True)  # fmt: skip
    assert done.returncode == 0 and np.load("y.npy").tolist() == [1, 2], done.stderr


# A command that is disturbed: `event` is run before the first box is written.
DURING = """
import os, signal, sys
from backslice.cli import boxes, main
before = boxes.progress
def progress(out, what):
    {event}
    yield from before(out, what)
boxes.progress = progress
sys.argv = ["backslice", *sys.argv[1:]]
main()
"""


def during(event: str, *args: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", DURING.format(event=event), *map(str, args)], capture_output=True, text=True
    )


@pytest.mark.parametrize("output", ["y.npy", "y.npz", "y.safetensors"])
@pytest.mark.parametrize("suffix", [".npy", ".safetensors"])
def test_inputs_that_shrink_while_they_are_read(folder, suffix, output):
    from safetensors.numpy import save_file

    x = np.ones((512, 1024), np.float32)
    np.save("x.npy", x)
    save_file({"x": x}, "x.safetensors")
    (folder / output).write_text("precious")
    done = during(f"os.truncate('x{suffix}', 4096)", "slice", f"x{suffix}", "--index", "::2", "-o", output, "--force")
    assert done.returncode == 1, (done.returncode, done.stderr)
    assert done.stderr == (
        f"backslice: error: x{suffix} became shorter while it was read, or its disk failed; nothing was written\n"
    )
    assert (folder / output).read_text() == "precious" and leftovers(folder) == []


def test_a_second_signal_does_not_wait(folder):
    """The clean-up after the first signal never ends."""
    np.save("x.npy", np.arange(3.0))
    event = """
    import time
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
    except KeyboardInterrupt:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(60)
"""
    done = during(event.strip(), "slice", "x.npy", "--index", "::2", "-o", "y.npy")
    assert done.returncode == 130 and interrupted(done.stderr), done.stderr
    assert not (folder / "y.npy").exists() and leftovers(folder) == []


def test_closed_streams(folder):
    np.save("x.npy", np.arange(3.0))
    slice_ = ("slice", "x.npy", "--index", "1:")
    fails(1, "standard output is closed", *slice_, "-o", "-", shell="exec >&-")
    fails(1, "standard input is closed", "slice", "-", "--index", "0", "-o", "y.npy", shell="exec <&-")
    fails(1, "standard input is closed", "sparse-grad", "-", "-o", "y.npy", shell="exec <&-")
    fails(1, "standard input cannot be read", "slice", "-", "--index", "0", "-o", "y.npy", shell="exec 0>/dev/null")
    for command in (("explain", "4", "1"), ("convert", "4", "1"), ("targets",), ("explain", "4", "1", "--json"),
                    ("--help",), ("--version",), ("doctor", "--json")):  # fmt: skip
        fails(1, "standard output is closed", *command, shell="exec >&-")
    done = backslice("explain", "4", "oops", shell="exec 2>&-")
    assert (done.returncode, done.stdout) == (2, "")  # above all, the error is not among the results


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_files_do_not_take_the_numbers_of_closed_streams(folder, closed):
    np.save("x.npy", np.arange(20_000.0))
    assert backslice("slice", "x.npy", "--index", "1:", "-o", "y.npy", shell=f"exec {closed}").returncode == 0
    assert np.array_equal(np.load("y.npy"), np.arange(1.0, 20_000))


def test_full_streams(folder):
    np.save("x.npy", np.arange(3.0))
    fails(1, "standard output: No space left on device", "slice", "x.npy", "--index", "1:", "-o", "-",
          shell=f"exec >{FULL}")  # fmt: skip
    for command in (("explain", "4", "1"), ("convert", "4", "1", "--json"), ("--help",)):
        fails(1, "standard output: No space left on device", *command, shell=f"exec >{FULL}")
    assert backslice("explain", "4", "oops", shell=f"exec 2>{FULL}").returncode == 2


@pytest.mark.parametrize("elements", [3, 100_000])
def test_readers_that_leave_early(folder, elements):
    np.save("x.npy", np.zeros(elements))
    slice_ = subprocess.Popen([*COMMAND, "slice", "x.npy", "--index", "...", "-o", "-"], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True)  # fmt: skip
    slice_.stdout.close()
    error = slice_.stderr.read()
    slice_.stderr.close()
    assert slice_.wait() == 1
    assert error == "backslice: error: standard output: Broken pipe: the array is incomplete\n"


def killed_while_writing(folder: Path) -> str:
    """Return the temporary file that a killed command leaves behind."""
    done = during("os.kill(os.getpid(), signal.SIGKILL)", "slice", "x.npy", "--index", "1:", "-o", "y.npy")
    assert done.returncode == -signal.SIGKILL
    (left,) = leftovers(folder)
    return left


def test_what_killed_commands_leave_is_removed_and_mentioned(folder):
    np.save("x.npy", np.arange(3.0))
    left = killed_while_writing(folder)
    Path(".other.npy.12345678.part").touch()  # temporary file of another target
    Path(".y.npy.download.part").touch()  # file of another program
    done = run("slice", "x.npy", "--index", "1:", "-o", "y.npy")
    assert done.stderr.startswith(
        f"backslice: removed {folder / left}, which a command that was killed had left behind\n"
    )
    assert sorted(leftovers(folder)) == [".other.npy.12345678.part", ".y.npy.download.part"]


@pytest.mark.parametrize("suffix", [".npy", ".npz", ".safetensors", ".svg", ".png"])
def test_the_file_that_is_locked_is_the_one_that_is_written(folder, suffix, monkeypatch):
    """No library replaces it with its own file, which is not locked."""
    np.save("x.npy", np.arange(3.0))
    made, locked = temporary._made, []

    def remember(target: Path) -> tuple[Path, int]:
        path, handle = made(target)
        locked.append(os.fstat(handle).st_ino)
        return path, handle

    monkeypatch.setattr(temporary, "_made", remember)
    if suffix in (".svg", ".png"):
        assert answer("explain", "4", "1", f"--{suffix[1:]}", f"y{suffix}")[0] == 0
    else:
        assert answer("slice", "x.npy", "--index", "1:", "-o", f"y{suffix}")[0] == 0
    assert locked == [os.stat(f"y{suffix}").st_ino]


def test_what_another_command_is_writing_is_left_alone(folder):
    np.save("x.npy", np.arange(3.0))
    left = killed_while_writing(folder)
    with open(left) as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        done = run("slice", "x.npy", "--index", "1:", "-o", "y.npy")
    assert "removed" not in done.stderr and leftovers(folder) == [left]


def test_two_commands_write_one_target(folder):
    """Both write their whole result, one after the other. Neither treats the other's file as stale."""
    np.save("x.npy", np.arange(30_000.0))
    arguments = [*COMMAND, "slice", "x.npy", "--index", "1:", "-o", "y.npy", "--force"]
    commands = [subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    for command in commands:
        assert "removed" not in command.communicate()[1] and command.returncode == 0
    assert np.array_equal(np.load("y.npy"), np.arange(1.0, 30_000)) and leftovers(folder) == []
