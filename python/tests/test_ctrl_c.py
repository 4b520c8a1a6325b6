"""Signals during a long operation: their handlers run soon, and Ctrl-C ends the operation."""

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
    """Without Ctrl-C it would take four times as long as the first call."""
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


def test_ctrl_c_ends_the_call_of_a_prepared_slice():
    """The progress of the call by then depends on time, so it is repeated until one was not finished."""
    assert run("""
import ml_dtypes
dy, dx = (np.ones(1 << 27, ml_dtypes.float8_e5m2) for _ in range(2))
prepared = bs.Selection.from_index(dy.shape, "::-1").prepare(dy.dtype)
was_ended = False
for _ in range(30):
    dx.view(np.uint8)[:] = 0
    timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        prepared.accumulate(dy, dx)
        timer.join()
        time.sleep(0.1)
    except KeyboardInterrupt:
        was_ended = not dx.view(np.uint8).all()
    if was_ended:
        break
print(was_ended)
""") == "True"  # fmt: skip


def test_handlers_that_do_not_raise_let_the_call_go_on():
    assert run("""
calls = []
def handler(*_):
    calls.append(float(bs.slice_grad(dy, (4096, 2048), "::2").sum()))  # an operation inside an operation
    threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGUSR1)).start()
signal.signal(signal.SIGUSR1, handler)
os.kill(os.getpid(), signal.SIGUSR1)
result = bs.multi_slice_grad((2048, 2048), slices)
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
print((result == 2000).all(), len(calls) > 2, set(calls) == {2048.0 * 2048})
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


CONTAINERS = """
values = np.ones((1 << 20, 64), np.float32)
four = np.broadcast_to(values, (4, *values.shape))  # the ninth term of each element: all are added up
columns = np.ones((64, 1 << 20), np.float32).T  # takes its time

def fill():
    array = bs.TensorArray(4, np.float32).grad("loss")
    for i in range(4 * 8):
        array.write(i % 4, values, copy=False)
    buffer.write(":100", values[:100])
    return array

buffer = bs.GradBuffer(values.shape, np.float32)
array = fill()
"""
CONTAINER_CALLS = {  # a call, and an expression that is true once it has happened
    "TensorArray.stack": ("array.stack()", "can_read()", True, False),  # reading clears
    "TensorArray.unstack": ("array.unstack(four, copy=False)", "float(array.read(0).max())", 8.0, 9.0),
    "GradBuffer.add": ("buffer.add(':', columns)", "float(buffer.array.sum())", 6400.0, float(2**26 + 6400)),
}


@pytest.mark.parametrize(("call", "look", "before", "after"), CONTAINER_CALLS.values(), ids=CONTAINER_CALLS)
def test_ctrl_c_ends_the_call_of_a_container_and_changes_nothing(call, look, before, after):
    """A call that has begun to change the container is finished. How often that happens depends on time."""
    seen = run(CONTAINERS + f"""
def can_read():
    try:
        return bool((array.read(0) == 8).all())
    except bs.Error:
        return False
seen = []
while seen[-1:] != [{before}] and len(seen) < 30:
    array = fill()
    timer = threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT))
    try:
        timer.start()
        {call}
        timer.join()
        time.sleep(0.1)
    except KeyboardInterrupt:
        seen.append({look})
print(seen)
""")  # fmt: skip
    assert eval(seen)[-1] == before and set(eval(seen)) <= {before, after}


@pytest.mark.parametrize("call", [call for call, *_ in CONTAINER_CALLS.values()], ids=CONTAINER_CALLS)
def test_handlers_may_use_the_container(call):
    assert run(CONTAINERS + f"""
seen = []
def handler(*_):
    seen.append(array.size())
    array.grad  # and the locks of the array are free
    buffer.add(":0", values[:0])
signal.signal(signal.SIGINT, handler)
threading.Timer(0.03, os.kill, (os.getpid(), signal.SIGINT)).start()
{call}
while not seen:
    time.sleep(0.01)
print(seen, buffer.array.sum() == 6400 or buffer.array.min() == 1)
""") == "[4] True"  # fmt: skip


def test_every_ctrl_c_ends_the_call_of_a_container():
    """The handler lets the call continue twice, each time from its start, and raises at the third Ctrl-C."""
    handled, lasted, whole = eval(run("""
import ml_dtypes
bs.set_num_threads(1)
x = np.zeros(1 << 28, ml_dtypes.float8_e5m2)  # slow to add
def fill():
    array = bs.TensorArray(1, x.dtype).grad("loss")
    for _ in range(2):
        array.write(0, x, copy=False)
    return array

array = fill()
start = time.monotonic()
array.read(0)
whole = time.monotonic() - start

handled = 0
def handler(*_):
    global handled
    handled += 1
    if handled == 3:
        raise KeyboardInterrupt
    threading.Timer(0.3 * whole, os.kill, (os.getpid(), signal.SIGINT)).start()
signal.signal(signal.SIGINT, handler)
array = fill()
threading.Timer(0.3 * whole, os.kill, (os.getpid(), signal.SIGINT)).start()
start = time.monotonic()
try:
    array.read(0)
except KeyboardInterrupt:
    lasted = time.monotonic() - start
    array.read(0)  # nothing was handed out
    print((handled, lasted, whole))
"""))  # fmt: skip
    assert handled == 3 and lasted < 1.2 * whole + 0.3


RAGGED = """
import collections, itertools
values = np.ones(1 << 24, np.float32)
ragged = bs.RaggedTensor(values, [np.arange((1 << 24) + 1)])
backwards = slice(None, None, -1)
"""
RAGGED_CALLS = {
    "slice": "map(ragged.__getitem__, times)",
    "gradient": "map(ragged.slice_grad, times, itertools.repeat(values))",
}


@pytest.mark.parametrize("calls", RAGGED_CALLS.values(), ids=RAGGED_CALLS)
def test_ctrl_c_ends_operations_on_ragged_tensors(calls):
    """Python checks for signals between its own instructions, so not between the calls of map."""
    assert run(RAGGED + f"""
times = itertools.chain([backwards] * 40)
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    collections.deque({calls}, maxlen=0)
except KeyboardInterrupt:
    print(len(list(times)) > 10)
""") == "True"  # fmt: skip


def test_ctrl_c_says_whether_a_sum_was_begun():
    assert run("""
x = np.ones(1 << 22, np.float32)
out = np.zeros(1 << 22, np.float32)
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    bs.multi_slice_grad((1 << 22,), [(":", x)] * 5000, out=out, accumulate=True)
except KeyboardInterrupt as error:
    print(error.output_written, out.any())
""") == "True True"  # fmt: skip


# Calls that process millions of small items. Some hold Python's lock, so Ctrl-C comes from outside.
MANY = """
import subprocess
one = np.ones(1, np.float32)
rows = np.ones((1 << 21, 1), np.float32)
def array(n=1 << 21):
    return bs.TensorArray(n, np.float32)
"""
MANY_CALLS = {  # the preparation, and the call
    "multi_slice_grad of millions": (
        "slices = [(slice(i, i + 1), one) for i in range(1 << 21)]",
        "bs.multi_slice_grad((1 << 21,), slices)",
    ),
    "multi_slice_grad of one tile": ("x = np.ones(1 << 14, np.float32); slices = [(':', x)] * (1 << 20)",
        "bs.multi_slice_grad((1 << 14,), slices)"),
    "accumulate": ("out = np.zeros(8, np.float32); slices = [(slice(0, 1), one)] * (1 << 21)",
        "bs.multi_slice_grad((8,), slices, out=out, accumulate=True)"),
    "unstack": ("a = array()", "a.unstack(rows)"),
    "scatter": ("a = array(); indices = list(range(1 << 21))", "a.scatter(indices, rows)"),
    "split": ("a = array(); lengths = [1] * (1 << 21)", "a.split(rows, lengths)"),
    "to_list": ("rt = bs.RaggedTensor(np.ones(1 << 25), np.arange(0, (1 << 25) + 1, 4))", "rt.to_list()"),
    "GradBuffer.write": ("buffer = bs.GradBuffer((1 << 30,), np.float32); x = np.broadcast_to(one, (1 << 30,))",
        "buffer.write(':', x)"),
    "a long list": ("x = np.ones(4); shape = [4]; many = [0] * (1 << 25)", "bs.Selection.from_onnx(shape, many, many)"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "call"), MANY_CALLS.values(), ids=MANY_CALLS)
def test_ctrl_c_does_not_wait_for_millions_of_small_things(given, call):
    """On a busy machine, the time of the processor counts: all these calls compute."""
    waited = run(MANY + f"""
def seconds():
    return np.array([time.monotonic(), time.process_time()])
{given}
killer = subprocess.Popen(["sh", "-c", f"sleep 0.2; kill -INT {{os.getpid()}}"])
start = seconds()
try:
    {call}
    time.sleep(1)
    print("it ended before Ctrl-C came")
except KeyboardInterrupt:
    print(min(seconds() - start), flush=True)
killer.wait()
os._exit(0)  # freeing all results takes time as well
""")  # fmt: skip
    assert float(waited) < 0.2 + 0.6
