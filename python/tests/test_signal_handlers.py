"""Signal handlers that run in the middle of a call: their changes and exceptions harm neither memory nor elements."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, threading, time
import backslice as bs, numpy as np

class Raised(Exception):
    pass

def raising(*_):
    raise Raised
"""


def run(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", PROGRAM + program], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stderr)
    return done.stdout.strip()


RESIZED = {  # the handler resizes the array itself, or the array of which it is a view
    "stack, out": ("out", "array.stack(out=out)", "(out == expected).all()"),
    "stack, a view as out": ("base", "array.stack(out=out)", "(out == expected).all()"),
    "slice_grad, out": ("dy", "bs.slice_grad(dy.T, (n, 16), '::-1', out=out)", "(out == 1).all()"),
    "slice_grad, a new array": ("dy", "new = bs.slice_grad(dy.T, (n, 16), '::-1')", "(new == 1).all()"),
    "GradBuffer.write": ("dy", "buffer.write(':', dy.T)", "(buffer.array == 1).all()"),
    "multi_slice_grad": ("dy", "new = bs.multi_slice_grad((n, 16), [('::-1', dy.T)])", "(new == 1).all()"),
    "sparse_slice_grad, indices": (
        "rows",
        "new = bs.sparse_slice_grad(taken, rows, [0], rows[::-1], order='any')",
        "(new == taken[::-1]).all()",
    ),
}


@pytest.mark.parametrize(("resized", "call", "test"), RESIZED.values(), ids=RESIZED)
def test_handlers_cannot_resize_what_a_call_uses(resized, call, test):
    assert run(f"""
n = 500_000
array = bs.TensorArray(n, np.float64, clear_after_read=False)
order = np.random.default_rng(0).permutation(n)
expected = np.repeat(np.arange(float(n))[:, None], 16, axis=1)
array.scatter(order, expected[order])
buffer = bs.GradBuffer((n, 16), np.float64)
taken = np.arange(2.0 * n)
refused = []
resized = []
calling = False
def handler(*_):
    if not calling:
        return
    try:
        {resized}.resize((1, 16), refcheck=False)
        resized.append(True)
    except ValueError:
        refused.append(True)
signal.signal(signal.SIGINT, handler)
for attempt in range(20):
    base, dy, rows = np.empty((n + 1, 16)), np.ones((16, n)), np.arange(2 * n)[::-1, None].copy()
    out = base[1:] if "{resized}" == "base" else np.empty((n, 16))
    timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    calling = True
    {call}
    calling = False
    timer.join()
    if resized:  # the signal came before or after the call, so nothing follows
        resized.clear()
        continue
    if not {test}:
        print("wrong")
    if refused:
        break
print("done")
""") == "done"  # fmt: skip


@pytest.mark.parametrize("call", ["array.read(0, out=out)", "got.extend(map(array.read, [0]))"], ids=["out", "new"])
def test_strings_are_not_lost_when_a_handler_raises(call):
    assert run(f"""
signal.signal(signal.SIGALRM, raising)
source = np.full(1_000_000, "xyz" * 20, object)
for ms in (20, 40, 60, 80, 100, 120, 150, 200, 300, 500):
    array = bs.TensorArray(1, "O")
    array.write(0, source)
    out, got = np.full(source.shape, None, object), []
    try:
        signal.setitimer(signal.ITIMER_REAL, ms / 1000)
        {call}
        signal.setitimer(signal.ITIMER_REAL, 0)
    except Raised:
        pass
    if out[0] is None and not got:
        out = array.read(0)
    assert (got[0] if got else out)[-1] == source[-1]
print("done")
""") == "done"  # fmt: skip


def test_other_threads_run_while_many_rows_of_few_values_are_counted():
    assert run("""
splits = np.zeros(6_000_001, np.int64)
splits[-1] = 4
rt = bs.RaggedTensor(np.arange(4.0), [splits])
worker = threading.Thread(target=lambda: rt.slice_grad("::-1", np.ones(4)))
start = time.monotonic()
worker.start()
ticks = 0
while worker.is_alive():
    time.sleep(0.001)
    ticks += 1
print(ticks > 10)
""") == "True"  # fmt: skip
