"""Random programs of TensorArray operations, run here and on the live TensorFlow: every value and every error."""

import os
from typing import Any

import backslice as bs
import numpy as np
from cases import Cases
from compare import equal_bits
from numpy.typing import NDArray
from peer import Peer

COUNT = int(os.environ.get("BACKSLICE_ORACLE_CASES", "15000")) // 30
DTYPES = ["float32", "int32", "float16", "bool"]


class Programs(Cases):
    """Programs that mostly succeed, with typical mistakes of users."""

    def program(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        self.dtype = DTYPES[self.pick(0, 3) if self.chance(0.5) else 0]
        self.shape = tuple(self.pick(1, 3) for _ in range(self.pick(0, 2)))
        self.size, self.arrays, sources = self.pick(0, 4), {}, [""]
        known = [None if self.chance(0.3) else n for n in self.shape]
        make = {
            "size": self.size,
            "dtype": self.dtype,
            "element_shape": None if self.chance(0.4) else known,
            "dynamic_size": self.chance(0.4),
            "clear_after_read": self.chance(0.6),
            "identical_element_shapes": self.chance(0.3),
            "tensor_array_name": "t",
        }
        steps = []
        for _ in range(self.pick(1, 9)):
            if self.chance(0.25):
                source = "xy"[self.pick(0, 1)]
                prepend = [] if self.chance(0.6) else [self.pick(0, 2) for _ in range(self.pick(1, 2))]
                steps.append({"op": "grad", "on": "", "source": source, "prepend": prepend})
                if source not in sources:
                    sources.append(source)
                self.prepend = prepend
            else:
                on = sources[self.pick(0, len(sources) - 1)]
                steps.append({"on": on, **self.step_on(on)})
        return {"make": make, "steps": steps}, self.arrays

    def value(self, first: tuple[int, ...] = ()) -> str:
        # Without rows, TensorFlow's graph refuses another shape, but its kernel does not.
        shape = self.shape if 0 in first or not self.chance(0.06) else (*self.shape, 2)
        values = self.random.integers(-5, 6, (*first, *shape)).astype(self.dtype)
        self.arrays[f"v{len(self.arrays)}"] = values
        return f"v{len(self.arrays) - 1}"

    def index(self) -> int:
        return self.pick(-1, self.size + 1) if self.chance(0.08) else self.pick(0, max(self.size - 1, 0))

    def step_on(self, source: str) -> dict[str, Any]:
        kind = self.pick(0, 99)
        if kind < 40:
            prepend = tuple(self.prepend) if source else ()
            return {"op": "write", "index": self.index(), "value": self.value(prepend)}
        if kind < 60:
            return {"op": "read", "index": self.index()}
        indices = [int(i) for i in self.random.permutation(self.size)[: self.pick(0, self.size)]]
        if indices and self.chance(0.08):
            indices.append(indices[0])
        if kind < 70:
            shape = list(self.shape) if self.chance(0.3) else None
            return {"op": "gather", "indices": indices, "element_shape": shape}
        if kind < 80 and (indices or not source):
            return {"op": "scatter", "indices": indices, "value": self.value((len(indices),))}
        if kind < 86 and not source:
            return {"op": "concat"}
        if kind < 92 and self.shape:
            lengths = [self.pick(0, 2) for _ in range(self.size + (1 if self.chance(0.1) else 0))]
            rows = sum(lengths) + (1 if self.chance(0.05) else 0)
            values = self.random.integers(-5, 6, (rows, *self.shape[1:])).astype(self.dtype)
            self.arrays[f"v{len(self.arrays)}"] = values
            return {"op": "split", "value": f"v{len(self.arrays) - 1}", "lengths": lengths}
        return {"op": "size"} if kind < 98 else {"op": "close"}


def play(program: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> tuple[int, list[NDArray[Any]], str]:
    made = dict(program["make"])
    name = made.pop("tensor_array_name")
    handles = {"": bs.TensorArray(**made, name=name)}
    outputs: list[NDArray[Any]] = []
    for number, step in enumerate(program["steps"]):
        try:
            result = run_step(step, handles, arrays)
        except bs.Error as error:
            return number, outputs, f"{type(error).__name__}: {error}"
        outputs += [np.asarray(r) for r in (result if isinstance(result, tuple) else (result,)) if r is not None]
    return -1, outputs, ""


def run_step(step: dict[str, Any], handles: dict[str, bs.TensorArray], arrays: dict[str, NDArray[Any]]) -> Any:
    op, on = step["op"], handles[step["on"]]
    value = arrays.get(step.get("value", ""))
    if op == "write":
        return on.write(step["index"], value)
    if op == "read":
        return on.read(step["index"])
    if op == "gather":
        return on.gather(step["indices"], step["element_shape"])
    if op == "scatter":
        return on.scatter(step["indices"], value)
    if op == "split":
        return on.split(value, step["lengths"])
    if op == "size":
        return np.int32(on.size())
    if op in ("concat", "close"):
        return getattr(on, op)()
    handles[step["source"]] = on.grad_with_shape(step["source"], step["prepend"])
    return None


def goes_on_where_nothing_is_read(program, step, their_step, outputs, their_outputs) -> bool:
    """TensorFlow refuses to gather or concatenate nothing. Here the array's element shape determines the result."""
    if their_step < 0 or 0 <= step <= their_step or len(outputs) < len(their_outputs):
        return False
    refused = program["steps"][their_step]
    reads_nothing = refused["op"] == "concat" or (refused["op"] == "gather" and not refused["indices"])
    return reads_nothing and all(map(equal_bits, outputs, their_outputs))


def test_random_programs(tensorflow: Peer) -> None:
    programs = Programs(seed=21)
    counts = {"finished": 0, "failed at the same step": 0, "peer crashed": 0, "goes on where nothing is read": 0}
    differences = []
    for _ in range(COUNT):
        program, arrays = programs.program()
        theirs = tensorflow.call("tensor array program", arrays, program=program)
        step, outputs, message = play(program, arrays)
        if theirs.crashed:
            counts["peer crashed"] += 1
            continue
        assert theirs.arrays is not None, theirs.error
        their_step, *their_outputs = theirs.arrays
        same = len(outputs) == len(their_outputs) and all(map(equal_bits, outputs, their_outputs))
        if step == int(their_step) and same:
            counts["finished" if step < 0 else "failed at the same step"] += 1
        elif goes_on_where_nothing_is_read(program, step, int(their_step), outputs, their_outputs):
            counts["goes on where nothing is read"] += 1
        else:
            differences.append(
                f"{program}\n  ours: step {step} {outputs} {message}\n  theirs: step {their_step} {their_outputs}"
            )
    print(f"TensorArray programs: {counts}, {len(differences)} differences")
    assert not differences, "\n".join(differences[:4])
    assert min(counts["finished"], counts["failed at the same step"]) > COUNT / 10
