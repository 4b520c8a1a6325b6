"""Limits of the machine: sizes past its memory, threads, address space; and variables with invalid values."""

import os
import subprocess
import sys

import backslice as bs
import numpy as np
import pytest
from backslice._core import environment_problems

HUGE = 2**63 - 1


def run(program: str, **environment: str) -> str:
    program = "import os, resource, numpy as np, backslice as bs\n" + program
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env=os.environ | environment
    )
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stderr)
    return done.stdout.strip()


@pytest.mark.parametrize("kept", [False, True], ids=["empty pool", "a block is kept"])
def test_sizes_past_the_machine_are_refused(kept):
    bs.pool.trim()
    if kept:
        bs.slice_grad(np.ones(1 << 17), (1 << 18,), "::2")
    huge = np.broadcast_to(np.int8(1), (HUGE,))
    with pytest.raises(bs.ResourceExhaustedError, match=str(HUGE)):
        bs.slice(huge, ":")
    with pytest.raises(bs.ResourceExhaustedError, match=str(HUGE)):
        bs.multi_slice_grad((HUGE,), [("0:1", np.ones(1, np.int8))])


GRADIENT = """
dy = np.ones((1024, 1024), np.float32)
def gradient():
    dx = bs.slice_grad(dy, (2048, 1024), "::2")
    assert dx[::2].min() == 1 and dx[1::2].max() == 0
bs.set_num_threads(8)
"""


def test_without_threads_the_caller_does_the_work():
    """Run the child as another user, since root is exempt from the limit."""
    assert run(GRADIENT + """
if os.getuid() == 0:
    os.setgid(65534)
    os.setuid(65534)
resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
gradient()
print(len(os.listdir("/proc/self/task")))
""", OPENBLAS_NUM_THREADS="1") == "1"  # fmt: skip


@pytest.mark.parametrize("megabytes", [20, 24, 32, 48])
def test_without_address_space_for_threads_fewer_do_the_work(megabytes):
    assert run(GRADIENT + f"""
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * os.sysconf("SC_PAGESIZE")
limit = used + ({megabytes} << 20)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    gradient()
except MemoryError:
    pass
print("alive")
""", OPENBLAS_NUM_THREADS="1") == "alive"  # fmt: skip


@pytest.mark.parametrize("variable", ["BACKSLICE_NUM_THREADS", "BACKSLICE_FORCE_TARGET"])
@pytest.mark.parametrize("value", ["3x", "1e3", "0", "-2", " ", "99999999999999999999"])
def test_variables_that_mean_nothing_are_refused_until_they_are_corrected(variable, value):
    program = f"""
import os
for i in range(5):
    if i == 3:
        os.environ["{variable}"] = {{"BACKSLICE_NUM_THREADS": "1"}}.get("{variable}", "")
    try:
        print(bs.slice(np.arange(4), "::-1").tolist())
    except bs.InvalidArgumentError as error:
        print(error)
print(bs.get_num_threads())
"""
    first, *others = run(program, **{variable: value}).splitlines()
    threads = "1" if variable == "BACKSLICE_NUM_THREADS" else str(os.cpu_count())
    assert f'{variable} is "{value}"' in first
    assert others == [first, first, "[3, 2, 1, 0]", "[3, 2, 1, 0]", threads]
    with pytest.MonkeyPatch.context() as patch:  # backslice doctor prints the same
        patch.setenv(variable, value)
        assert environment_problems() == [first]


@pytest.mark.parametrize("value", ["3", "0" * 30 + "1", "2147483647"])
def test_numbers_that_are_taken_are_no_problem(value):
    program = 'print(bs.slice(np.arange(4), "::-1").tolist())'
    assert run(program, BACKSLICE_NUM_THREADS=value) == "[3, 2, 1, 0]"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BACKSLICE_NUM_THREADS", value)
        assert environment_problems() == []


def test_variables_that_are_no_utf8_are_shown_escaped(monkeypatch):
    monkeypatch.setenv("BACKSLICE_NUM_THREADS", os.fsdecode(b"\xff"))
    assert environment_problems() == [
        r'BACKSLICE_NUM_THREADS is "\xff", expected a whole number of threads, at least 1'
    ]


def test_variables_that_are_empty_are_not_set():
    program = 'print(bs.slice(np.arange(4), "::-1").tolist(), bs.get_num_threads())'
    expected = f"[3, 2, 1, 0] {os.cpu_count()}"
    assert run(program, BACKSLICE_NUM_THREADS="", BACKSLICE_FORCE_TARGET="") == expected


def test_far_more_threads_than_cores_are_bounded():
    program = "print(bs.get_num_threads()); bs.set_num_threads(4000); print(bs.get_num_threads())"
    most = max(32, 4 * (os.cpu_count() or 1))
    assert run(program, BACKSLICE_NUM_THREADS="4096").split() == [str(most)] * 2
