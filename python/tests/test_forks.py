"""Children that are forked while the library works: their calls work or raise a clear error, and nothing hangs."""

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal, sys, threading, time
import backslice as bs, numpy as np
bs.set_num_threads(4)
dy = np.ones((2048, 2048), np.float32)

def check(child):
    if child == 0:
        signal.alarm(20)
        return
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0

def gradient():
    assert bs.slice_grad(dy, (4096, 2048), "::2")[::2].min() == 1
"""


def run(program: str) -> None:
    # From 3.12 on, Python warns of every fork of a process with threads.
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM + program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stderr)


def test_a_handler_that_forks_during_a_call():
    """The child returns from the handler into the call, but lacks its threads."""
    run("""
child = None
def handler(*_):
    global child
    if child is None:
        child = os.fork()
        if child == 0:
            signal.alarm(60)
signal.signal(signal.SIGUSR1, handler)
for attempt in range(3):
    child = None
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
    try:
        assert (bs.multi_slice_grad((2048, 2048), [(":", dy)] * 300) == 300).all()
    except bs.FailedPreconditionError as error:
        assert child == 0 and "forked" in str(error)
    while child is None:
        time.sleep(0.01)
    gradient()
    if child == 0:
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
""")


CONTAINERS = {  # a container, the work of threads on it, and the work of a child
    "TensorArray": (
        "array = bs.TensorArray(2, np.float32).grad('x'); array.write(0, dy); array.write(1, dy)",
        "array.write(0, dy, copy=False)",
        "array.write(0, dy), array.size(), array.stack()",
    ),
    "GradBuffer": (
        "buffer = bs.GradBuffer(dy.shape, np.float32)",
        "buffer.add('::2', dy[::2])",
        "buffer.write('0', dy[0]), buffer.zero(), buffer.writable()",
    ),
    "TensorArrayContainer": (
        "container = bs._core.TensorArrayContainer()",
        "container.create(1, np.float32, name='x')",
        "container.names(), container.create(1, np.float32)",
    ),
}


@pytest.mark.parametrize(("container", "use", "in_child"), CONTAINERS.values(), ids=CONTAINERS)
def test_children_made_while_other_threads_use_a_container(container, use, in_child):
    run(f"""
{container}
stop = False
def work():
    while not stop:
        {use}
threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(20):
    time.sleep(0.005)
    child = os.fork()
    if child == 0:
        signal.alarm(60)
        try:
            {in_child}
        except bs.FailedPreconditionError as error:
            assert "forked" in str(error)
        gradient()
        os._exit(0)
    check(child)
stop = True
for thread in threads:
    thread.join()
""")
