"""The interpreter may end while daemon threads are inside calls, or while other code holds results."""

import subprocess
import sys

import pytest

CALLS = {
    "slice_grad": 'bs.slice_grad(dy, (2048, 2048), "::2")',
    "slice_grad, out": 'bs.slice_grad(dy, (2048, 2048), "::2", out=out)',
    "slice": 'bs.slice(dy, "::-1, ::2")',
    "strided_slice": "bs.strided_slice(dy, [0], [1024], [2])",
    "multi_slice_grad": 'bs.multi_slice_grad((2048, 2048), [("::2", dy), ("1::2", dy)])',
    "GradBuffer": 'buffer.write("::2", dy)',
    "sparse_slice": "bs.sparse_slice(indices, values, [2**20], [5], [2**19])",
    "sparse_slice_grad_by_size": "bs.sparse_slice_grad_by_size(values, indices, [0], [2**20])",
    "TensorArray": "array.write(0, dy)",
    "TensorArray without copies": "array.write(0, dy, copy=False)",
    "RaggedTensor": "rt[::-1]",
}
PROGRAM = """
import sys, threading, time
import backslice as bs, numpy as np
dy, out = np.ones((1024, 2048), np.float32), np.empty((2048, 2048), np.float32)
indices, values = np.arange(2**20)[:, None], np.ones(2**20, np.float32)
buffer = bs.GradBuffer((2048, 2048), np.float32)
rt = bs.RaggedTensor(values, np.arange(0, 2**20 + 1, 2**10))
started = threading.Semaphore(0)
def work():
    array = bs.TensorArray(1, np.float32).grad("exit")
    started.release()
    while True:
        CALL
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
for _ in range(3):
    started.acquire()
time.sleep(0.05)
"""


def run(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, (done.returncode, done.stderr)


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_daemon_threads_inside_calls(call):
    for _ in range(3):
        run(PROGRAM.replace("CALL", call))


CALLBACKS = {
    "__index__": "bs.slice(dy, Slow())",
    "__index__ in a list": "bs.strided_slice(dy, [Slow()], [Slow()], [Slow()])",
    "__array__": "bs.slice(SlowArray(), 0)",
    "__array__ of a list": "bs.strided_slice(dy, SlowArray(), [1], [1])",
    "__dlpack__": "bs.slice(SlowExporter(), 0)",
    "__repr__": "refused(lambda: bs.slice(dy, Unreadable()))",
    "TensorArray.write": "refused(lambda: array.write(0, SlowArray()))",
    "splits": "refused(lambda: bs.RaggedTensor(values, [Slow(), Slow()]))",
    "from_list": "bs.RaggedTensor.from_list([[1, 2]] * 3000)",
    "==": "rt == rt",
    "pictures": "bs.Selection.from_index((3,), ':')._repr_svg_()",
}
SLOW = """
class Slow:
    def slow(self):
        for i in range(20000): pass
    def __index__(self):
        self.slow()
        return 1
class SlowArray(Slow):
    def __array__(self, dtype=None, copy=None):
        self.slow()
        return np.ones(1, np.int64)
class SlowExporter(Slow):
    memory = np.ones(3)
    def __dlpack_device__(self):
        self.slow()
        return (1, 0)
    def __dlpack__(self):
        self.slow()
        return self.memory.__dlpack__()
class Unreadable:
    def __repr__(self):
        Slow().slow()
        return "Unreadable"
def refused(call):
    try: call()
    except bs.Error: pass
"""


@pytest.mark.parametrize("call", CALLBACKS.values(), ids=CALLBACKS)
def test_daemon_threads_inside_python_code_that_calls_run(call):
    for _ in range(3):
        run(PROGRAM.replace("started =", SLOW + "started =", 1).replace("CALL", call))


COLLECTED = {  # calls that make Python objects: any of them may start the garbage collector, which runs finalizers
    "to_list": "rt.to_list()",
    "repr": "repr(bs.RaggedTensor(values[:9], [0, 4, 9]))",
    "shape": "rt.shape, rt.nested_row_splits",
    "Selection": "bs.Selection.from_index((3, 4), '1:, ::2').to_index()",
    "cost": "bs.Selection.from_index((3, 4), '1:, ::2').cost('float32')",
    "VariantArray": "list(bs.VariantArray([None, values[:2], values[3:5]]))",
    "object arrays": "bs.slice(np.array(['a', 'b'] * 50, object), '::2')",
    "element_shape": "bs.TensorArray(1, float, (2, None)).element_shape",
    "concat": "array = bs.TensorArray(1, np.float32); array.write(0, dy); array.concat()",
}
# While one thread collects, the others make garbage that is not collected. It is limited: otherwise each collection
# would take many times as long as the one before, and a collecting thread might never reach its call.
GARBAGE = """
import gc
gc.set_threshold(1, 1, 1)
alive = []
class Garbage:
    def __init__(self):
        self.itself = self
        alive.append(None)
    def __del__(self):
        alive.pop()
        for i in range(3000): pass
"""


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 crashes there by itself, without any library")
@pytest.mark.parametrize("call", COLLECTED.values(), ids=COLLECTED)
def test_daemon_threads_inside_finalizers_that_calls_start(call):
    program = PROGRAM.replace("started =", GARBAGE + "started =", 1).replace("2**20", "2**12").replace("2**10", "2")
    for _ in range(3):
        run(program.replace("CALL", "len(alive) < 9 and Garbage(); " + call))


DROPPED = {  # calls that drop the last reference to a caller's array
    "TensorArray": "array.write(0, made(), copy=False); array.read(0)",
    "TensorArray.close": "array.write(0, made(), copy=False); array.close()",
    "RaggedTensor": "bs.RaggedTensor(made(), [0, 2])",
    "VariantArray": "bs.VariantArray([made(), made()])",
}
SLOW_ARRAY = """
class Slow(np.ndarray):
    def __del__(self):
        for i in range(20000): pass
def made():
    return np.ones(2, np.float32).view(Slow)
"""


@pytest.mark.parametrize("call", DROPPED.values(), ids=DROPPED)
def test_daemon_threads_inside_finalizers_of_arrays(call):
    program = PROGRAM.replace("started =", SLOW_ARRAY + "started =", 1)
    program = program.replace(
        "    while True:", "    while True:\n        array = bs.TensorArray(1, np.float32).grad('x')"
    )
    for _ in range(3):
        run(program.replace("CALL", call))


def test_daemon_threads_that_raise():
    run(PROGRAM.replace("CALL", 'try: bs.slice_grad(dy, (2, 2), "::2", out=out)\n        except bs.Error: pass'))


def test_memory_that_outlives_the_interpreter():
    """Python never destroys the container: borrowed memory is released late, or never."""
    run(
        "import builtins, sys, numpy as np, backslice as bs\n"
        "array = bs.TensorArray(2, float)\n"
        "array.write(0, np.ones(5), copy=False)\n"
        "class Late:\n"
        "    def __del__(self, array=array): array.close()\n"
        "builtins.late = sys.late = Late(); late.itself = late; late.array = array\n"
    )
