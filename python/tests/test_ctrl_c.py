"""Signals while a long operation runs: their handlers run soon, and Ctrl-C ends the operation."""

import subprocess
import sys

import pytest

CALLS = {
    "multi_slice_grad": "bs.multi_slice_grad((2048, 2048), slices)",
    "multi_slice_grad, out": "bs.multi_slice_grad((2048, 2048), slices, out=out)",
}
PROGRAM = """
import os, signal, threading, time
import backslice as bs, numpy as np
dy, out = np.ones((2048, 2048), np.float32), np.empty((2048, 2048), np.float32)
slices = [(":", dy)] * 2000
"""


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", PROGRAM + program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stderr)
    return done.stdout.strip()


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_ctrl_c_ends_the_call(call):
    """It would take four times as long as the first call, but for Ctrl-C."""
    first, waited = run(f"""
start = time.monotonic()
bs.multi_slice_grad((2048, 2048), slices[::4])
print(time.monotonic() - start)
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    {call}
except KeyboardInterrupt:
    print(time.monotonic() - start)
assert (bs.multi_slice_grad((2048, 2048), slices[:3], out=out) == 3).all()
""").split()
    assert float(waited) < 2 * float(first)


def test_handlers_that_do_not_raise_let_the_call_go_on():
    assert run("""
calls = []
def handler(*_):
    calls.append(float(bs.slice_grad(dy, (4096, 2048), "::2").sum()))  # an operation inside an operation
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
signal.signal(signal.SIGUSR1, handler)
os.kill(os.getpid(), signal.SIGUSR1)
result = bs.multi_slice_grad((2048, 2048), slices[:500])
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
print((result == 500).all(), len(calls) > 2, set(calls) == {2048.0 * 2048})
""") == "True True True"  # fmt: skip


def test_other_threads_are_not_interrupted():
    assert run("""
results = []
worker = threading.Thread(target=lambda: results.append(bs.multi_slice_grad((2048, 2048), slices[:300])))
worker.start()
try:
    time.sleep(0.05)
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
except KeyboardInterrupt:
    worker.join()
print((results[0] == 300).all())
""") == "True"  # fmt: skip
