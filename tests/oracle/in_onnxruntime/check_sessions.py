"""Many sessions, threads, saved models, and a net that learns. Runs in ONNX Runtime's environments."""

import gc
import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import backslice as bs
import numpy as np
import onnx
import onnxruntime as ort
import pytest
from backslice.onnx import gradient_nodes
from backslice.onnxruntime import library_path, session_options
from onnx import TensorProto, helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
NAMES = ["dY", "shape", "starts", "ends"]


def built(
    nodes: list[Any], inputs: dict[str, Any], outputs: dict[str, Any], initializers: Any = (), between: Any = ()
) -> bytes:
    """A model. `between` declares tensors that are neither inputs nor outputs."""
    infos, results, declared = (
        [helper.make_tensor_value_info(name, *what) for name, what in dict(tensors).items()]
        for tensors in (inputs, outputs, between)
    )
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("backslice", 1)]
    graph = helper.make_graph(nodes, "g", infos, results, list(initializers), value_info=declared)
    return bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())


def slice_grad() -> bytes:
    inputs = {name: (FLOAT if name == "dY" else INT64, None) for name in NAMES}
    return built([helper.make_node("SliceGrad", NAMES, ["dX"], domain="backslice")], inputs, {"dX": (FLOAT, None)})


def session(model: Any, options: Any = None) -> Any:
    return ort.InferenceSession(model, options or session_options(model), providers=["CPUExecutionProvider"])


def feeds(rows: int, columns: int, start: int, end: int, value: float = 1) -> dict[str, Any]:
    dy = np.full((end - start, columns), value, np.float32)
    return {"dY": dy, "shape": np.array([rows, columns]), "starts": np.array([start]), "ends": np.array([end])}


def expected(given: dict[str, Any]) -> Any:
    return bs.onnx_slice_grad(given["dY"], given["shape"], given["starts"], given["ends"])


@pytest.mark.parametrize("declared", [TensorProto.UINT8, TensorProto.STRING, TensorProto.DOUBLE])
def test_a_result_that_the_model_declares_of_another_type_is_refused(declared: int) -> None:
    """ONNX Runtime 1.17 does not infer the type if an input is left out, and allocates for the declared type."""
    inputs = {name: (FLOAT if name == "dY" else INT64, None) for name in [*NAMES, "steps"]}
    node = helper.make_node("SliceGrad", [*NAMES, "", "steps"], ["dX"], domain="backslice")
    given = feeds(300, 100, 0, 300) | {"steps": np.array([1])}
    with pytest.raises(Exception, match=r"declares the result|Type Error|output arg"):
        session(built([node], inputs, {"dX": (declared, None)})).run(None, given)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_large_gradients_on_the_threads_of_the_session(threads: int) -> None:
    options = session_options()
    options.intra_op_num_threads = threads
    given = feeds(1024, 2048, 256, 768, 3)
    assert np.array_equal(session(slice_grad(), options).run(None, given)[0], expected(given))


@pytest.mark.parametrize("threads", [1, 3])
def test_no_threads_but_those_of_the_session(threads: int) -> None:
    options = session_options()
    options.intra_op_num_threads = threads
    made, given = session(slice_grad(), options), feeds(4096, 2048, 256, 768)
    before = len(list(Path("/proc/self/task").iterdir()))
    made.run(None, given)
    assert len(list(Path("/proc/self/task").iterdir())) == before


def time_of(thread: str) -> int:
    """Nanoseconds that a thread of this process has run."""
    return int(Path(f"/proc/self/task/{thread}/schedstat").read_text().split()[0])


def threads_now() -> set[str]:
    return {task.name for task in Path("/proc/self/task").iterdir()}


@pytest.fixture
def two_threads() -> Any:
    before = bs.get_num_threads()
    bs.set_num_threads(2)
    yield
    bs.set_num_threads(before)


@pytest.mark.usefixtures("two_threads")
def test_the_threads_of_the_session_take_work() -> None:
    """Threads sleep without work, so an awake one runs a piece of the gradient."""
    options = session_options()
    options.intra_op_num_threads = 2
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    before = threads_now()
    made, given = session(slice_grad(), options), feeds(4096, 4096, 1024, 3072)
    [helper_thread] = threads_now() - before
    made.run(None, feeds(4, 4, 1, 2))
    asleep = time_of(helper_thread)
    for _ in range(20):
        made.run(None, feeds(4, 4, 1, 2))
    assert time_of(helper_thread) - asleep < 1_000_000
    start = time.thread_time_ns()
    for _ in range(10):
        made.run(None, given)
    assert time_of(helper_thread) - asleep > (time.thread_time_ns() - start) / 20


def resident_bytes() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")


def test_results_lie_in_the_arena_of_the_session() -> None:
    """The arena keeps the memory of an unused result until it must shrink."""
    rows, columns = 4096, 8192
    made, given = session(slice_grad()), feeds(rows, columns, 1, 2)
    made.run(None, feeds(4, 4, 1, 2))
    before, most = resident_bytes(), 0.9 * rows * columns * 4
    [dx] = made.run_with_ort_values(["dX"], {name: ort.OrtValue.ortvalue_from_numpy(a) for name, a in given.items()})
    assert resident_bytes() - before > most
    del dx
    gc.collect()
    assert resident_bytes() - before > most
    shrinking = ort.RunOptions()
    shrinking.add_run_config_entry("memory.enable_memory_arena_shrinkage", "cpu:0")
    made.run(None, feeds(4, 4, 1, 2), shrinking)
    assert resident_bytes() - before < most


@pytest.mark.parametrize("lengths", [None, ["n"], [1]])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_arguments_that_change_from_run_to_run_count(lengths: Any, index: Any) -> None:
    """With shapes in the graph that are known, partly known or unknown."""
    type_of = {"dY": FLOAT, "shape": INT64}
    kind = TensorProto.INT32 if index == np.int32 else INT64
    inputs = {name: (type_of.get(name, kind), lengths if name in ("starts", "ends") else None) for name in NAMES}
    node = helper.make_node("SliceGrad", NAMES, ["dX"], domain="backslice")
    made = session(built([node], inputs, {"dX": (FLOAT, None)}))
    for rows, start, end in [(6, 1, 3), (6, 1, 3), (6, 1, 3), (6, 2, 3), (7, 2, 3), (7, 2, 3), (6, 1, 3), (6, 1, 3)]:
        given = feeds(rows, 4, start, end, rows)
        given |= {name: given[name].astype(index) for name in ("starts", "ends")}
        assert np.array_equal(made.run(None, given)[0], expected(given))
    longer = given | {"starts": np.array([1, 0], index), "ends": np.array([3, 2], index)}
    longer["dY"] = np.ones((2, 2), np.float32)
    if lengths == [1]:
        with pytest.raises(Exception, match="invalid dimensions for input"):
            made.run(None, longer)
    else:
        assert np.array_equal(made.run(None, longer)[0], expected(longer))


@pytest.mark.parametrize(
    ("declared", "larger"), [([2, 2], [3, 2]), ([2, 2], [2, 3]), ([1, 4], [2, 4]), ([1, 4], [1, 6])]
)
def test_a_computed_gradient_that_is_larger_than_declared_is_refused(declared: list[int], larger: list[int]) -> None:
    """ONNX Runtime warns, and goes on."""
    nodes = [helper.make_node("Reshape", ["flat", "as"], ["dY"])]
    nodes.append(helper.make_node("SliceGrad", NAMES, ["dX"], domain="backslice"))
    lengths = {"flat": None, "as": [2], "shape": [2], "starts": [2], "ends": [2]}
    inputs = {name: (FLOAT if name == "flat" else INT64, length) for name, length in lengths.items()}
    model = built(nodes, inputs, {"dX": (FLOAT, None)}, between={"dY": (FLOAT, declared)})
    options = session_options()
    options.log_severity_level = 4
    made = session(model, options)
    lists = {"shape": [5, 5], "starts": [1, 1], "ends": [n + 1 for n in declared]}
    given = {name: np.array(values) for name, values in lists.items()}
    for _ in range(3):
        dy = np.arange(4, dtype=np.float32)
        [dx] = made.run(None, {"flat": dy, "as": np.array(declared), **given})
        assert np.array_equal(dx, bs.onnx_slice_grad(dy, **given))
        with pytest.raises(Exception, match=f"dY has {np.prod(larger)} elements"):
            made.run(None, {"flat": np.ones(np.prod(larger), np.float32), "as": np.array(larger), **given})


def on_threads(work: Callable[[int], None]) -> None:
    """Run it for six seeds at once; what fails in one of them fails here."""
    with ThreadPoolExecutor(6) as pool:
        for done in [pool.submit(work, seed) for seed in range(1, 7)]:
            done.result()


def test_one_session_in_many_threads() -> None:
    shared = session(slice_grad())

    def work(seed: int) -> None:
        for i in range(50):
            given = feeds(20 + seed, 30, seed, seed + 1 + i % 8, seed)
            assert np.array_equal(shared.run(None, given)[0], expected(given)), i

    on_threads(work)


def test_errors_in_some_threads_do_not_disturb_others() -> None:
    shared = session(slice_grad())

    def work(seed: int) -> None:
        for i in range(50):
            given = feeds(20, 30, seed, seed + 4, seed)
            if i % 2:
                given["dY"] = given["dY"][: i % 4]
                with pytest.raises(Exception, match="dY has"):
                    shared.run(None, given)
            else:
                assert np.array_equal(shared.run(None, given)[0], expected(given)), i

    on_threads(work)


def test_sessions_end_and_others_go_on() -> None:
    given = feeds(5, 6, 1, 3)
    kept = session(slice_grad())
    for _ in range(20):
        assert np.array_equal(session(slice_grad()).run(None, given)[0], expected(given))
        gc.collect()
    assert np.array_equal(kept.run(None, given)[0], expected(given))


def test_two_sessions_share_options() -> None:
    options, given = session_options(), feeds(5, 6, 1, 3)
    for one in [session(slice_grad(), options), session(slice_grad(), options)]:
        assert np.array_equal(one.run(None, given)[0], expected(given))


def test_onnx_runtimes_own_operators_of_the_domain_still_run() -> None:
    nodes = [
        helper.make_node("SliceGrad", NAMES, ["dX"], domain="com.microsoft"),
        helper.make_node("Gelu", ["dX"], ["out"], domain="com.microsoft"),
    ]
    inputs = {name: (FLOAT if name == "dY" else INT64, None) for name in NAMES}
    given = feeds(5, 6, 1, 3)
    [out] = session(built(nodes, inputs, {"out": (FLOAT, None)})).run(None, given)
    assert out[0].max() == 0 and np.allclose(out[1], 0.8413447)


def test_saved_optimised_models_run_again(tmp_path: Path) -> None:
    options, given = session_options(), feeds(5, 6, 1, 3)
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    session(slice_grad(), options)
    assert np.array_equal(session(str(tmp_path / "optimised.onnx")).run(None, given)[0], expected(given))


# Of each operator the lists, the attributes and the gradients that it is given.
OPERATORS: dict[str, tuple[dict[str, Any], dict[str, Any], list[str]]] = {
    "StridedSliceGrad": ({"shape": [4], "begin": [1], "end": [0], "strides": [1]}, {"end_mask": 1}, ["dy"]),
    "SliceGradAccumulate": ({"starts": [0], "ends": [3], "axes": [0], "steps": [1]}, {}, ["x", "dy"]),
    "MultiSliceGrad": (
        {"shape": [5], "starts": [[0], [1]], "ends": [[3], [4]], "axes": [0], "steps": [[1], [1]]}, {}, ["dy", "dy"],
    ),
    "SparseSliceGrad": (
        {"input_indices": [[5], [0], [2], [1]], "input_start": [1], "output_indices": [[0], [1], [4]]},
        {"order": "any"}, ["dy"],
    ),
    "RaggedGradient": ({"row_splits": [0, 1, 4], "dense_values_shape": [4]}, {"missing": [0]}, ["dy"]),
}  # fmt: skip


def constants_of(name: str) -> list[Any]:
    lists = OPERATORS[name][0]
    return [helper.make_tensor(f"{name}_{k}", INT64, np.shape(v), np.ravel(v).tolist()) for k, v in lists.items()]


def node_of(name: str) -> Any:
    """It has the operator's name as its output."""
    lists, attributes, others = OPERATORS[name]
    inputs = [f"{name}_{k}" for k in lists]
    inputs = [*others, *inputs] if name == "SparseSliceGrad" else [*inputs, *others]
    return helper.make_node(name, inputs, [name], domain="backslice", **attributes)


@pytest.mark.parametrize("level", ["ORT_ENABLE_BASIC", "ORT_ENABLE_ALL"])
def test_saved_optimised_models_have_the_operators_of_domain_backslice(tmp_path: Path, level: str) -> None:
    """With their attributes and constants, beside nodes that ONNX Runtime folds."""
    folded = [helper.make_node("Identity", ["given"], ["dy"]), helper.make_node("Add", ["one", "two"], ["x"])]
    constants = [helper.make_tensor(name, FLOAT, [4], [n] * 4) for name, n in [("one", 1.0), ("two", 2.0)]]
    constants += [constant for name in OPERATORS for constant in constants_of(name)]
    outputs = {name: (FLOAT, None) for name in OPERATORS}
    model = built([*folded, *map(node_of, OPERATORS)], {"given": (FLOAT, [3])}, outputs, constants)
    options = session_options()
    options.graph_optimization_level = getattr(ort.GraphOptimizationLevel, level)
    options.optimized_model_filepath = str(tmp_path / "optimised.onnx")
    given = {"given": np.float32([1, 2, 3])}
    first = session(model, options).run(list(OPERATORS), given)
    assert [dx.tolist() for dx in first] == [
        [0, 1, 2, 3], [4, 5, 6, 3], [1, 3, 5, 3, 0], [3, 0, 2, 1], [0, 1, 2, 3],
    ]  # fmt: skip
    again = session(str(tmp_path / "optimised.onnx")).run(list(OPERATORS), given)
    assert [dx.tolist() for dx in again] == [dx.tolist() for dx in first]


WITHOUT_INFERENCE = ["SliceGradAccumulate", "MultiSliceGrad"]  # in 1.17


@pytest.mark.parametrize("name", OPERATORS)
def test_results_between_other_nodes_have_a_type(name: str) -> None:
    """That of some operators the graph has to declare in 1.17."""
    inputs, outputs = {"dy": (FLOAT, [3]), "x": (FLOAT, [4])}, {"out": (FLOAT, None)}
    nodes, constants = [node_of(name), helper.make_node("Neg", [name], ["out"])], constants_of(name)
    undeclared, given = built(nodes, inputs, outputs, constants), {"dy": np.float32([1, 2, 3]), "x": np.ones(4, "f4")}
    declared = built(nodes, inputs, outputs, constants, {name: (FLOAT, None)})
    [out] = session(declared).run(None, given)
    assert out.sum() < 0
    if ort.__version__.startswith("1.17.") and name in WITHOUT_INFERENCE:
        with pytest.raises(Exception, match="type inference failed"):
            session(undeclared)
    else:
        assert np.array_equal(session(undeclared).run(None, given)[0], out)


WRONG_ATTRIBUTES = {
    "a mask of another type": ("StridedSliceGrad", {"begin_mask": "1"}, "expected an integer"),
    "a mask of more than 32 bits": ("StridedSliceGrad", {"begin_mask": 2**40}, "expected a number of 32 bits"),
    "an order that is none": ("SparseSliceGrad", {"order": "backwards"}, 'order is "backwards"'),
    "a row that is none": ("RaggedGradient", {"missing": [2]}, "missing has 2, expected rows from 0 to 1"),
    "a negative row": ("RaggedGradient", {"missing": [-1]}, "missing has -1, expected rows from 0 to 1"),
    "a row that is missing twice": ("RaggedGradient", {"missing": [1, 1]}, "missing has 1 twice"),
}


@pytest.mark.parametrize("name", WRONG_ATTRIBUTES)
def test_wrong_attributes_are_refused_when_the_session_is_made(name: str) -> None:
    operator, attributes, words = WRONG_ATTRIBUTES[name]
    node = node_of(operator)
    del node.attribute[:]
    node.attribute.extend(helper.make_attribute(key, value) for key, value in attributes.items())
    model = built([node], {"dy": (FLOAT, [3])}, {operator: (FLOAT, None)}, constants_of(operator))
    with pytest.raises(Exception, match=words):
        session(model)


def test_masks_that_the_slice_does_not_allow_are_refused_when_it_runs() -> None:
    lists = ["shape", "begin", "end", "strides"]
    inputs = {name: (INT64, [2]) for name in lists} | {"dy": (FLOAT, None)}
    node = helper.make_node("StridedSliceGrad", list(inputs), ["dx"], domain="backslice", ellipsis_mask=3)
    made = session(built([node], inputs, {"dx": (FLOAT, None)}))
    with pytest.raises(Exception, match="ellips"):
        made.run(None, {name: np.array([1, 1]) for name in lists} | {"dy": np.ones((1, 1), np.float32)})


def test_without_the_library_the_operator_is_unknown() -> None:
    with pytest.raises(Exception, match="backslice"):
        nodes = [
            helper.make_node("SliceGradAccumulate", ["starts", "ends", "", "", "x", "dY"], ["r"], domain="backslice")
        ]
        inputs = {"x": (FLOAT, None), "dY": (FLOAT, None), "starts": (INT64, None), "ends": (INT64, None)}
        session(built(nodes, inputs, {"r": (FLOAT, None)}), ort.SessionOptions())
    assert Path(library_path()).is_absolute()


def test_accumulating_leaves_what_others_read_alone() -> None:
    """dX is read again after it was added to."""
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["square"]),
        helper.make_node(
            "SliceGradAccumulate", ["starts", "ends", "", "", "square", "dY"], ["sum"], domain="backslice"
        ),
        helper.make_node("Neg", ["square"], ["negative"]),
        helper.make_node(
            "SliceGradAccumulate", ["starts", "ends", "", "", "negative", "dY"], ["last"], domain="backslice"
        ),
    ]
    inputs = {"x": (FLOAT, None), "dY": (FLOAT, None), "starts": (INT64, None), "ends": (INT64, None)}
    ran = session(built(nodes, inputs, {"sum": (FLOAT, None), "last": (FLOAT, None)}))
    x, dy = np.arange(12, dtype=np.float32).reshape(3, 4), np.ones((1, 4), np.float32)
    for _ in range(3):
        total, last = ran.run(None, {"x": x, "dY": dy, "starts": np.array([1]), "ends": np.array([2])})
        dx = bs.slice_grad(dy, (3, 4), np.s_[1:2])
        assert np.array_equal(total, x * x + dx) and np.array_equal(last, -(x * x) + dx)


def test_a_small_net_with_slices_learns() -> None:
    """A convolution, two crops of it that overlap, a loss: forward and backward in one graph."""
    inputs = {"x": (FLOAT, [1, 1, 10, 10]), "w": (FLOAT, [1, 1, 3, 3]), "t": (FLOAT, [1, 1, 6, 6])}
    constants = [helper.make_tensor(n, INT64, [len(v)], v) for n, v in CROPS.items()]
    forward = built(FORWARD, inputs, {"loss": (FLOAT, None)}, constants)
    gradients = gradient_nodes(onnx.load_from_string(forward))
    assert [node.op_type for node in gradients.nodes] == ["MultiSliceGrad"]
    backward = [
        helper.make_node("Add", ["e", "e"], [gradients.dys["y"]]),
        helper.make_node("Neg", [gradients.dys["y"]], [gradients.dys["z"]]),
        *gradients.nodes,
        # the gradient of a convolution is one with its output's gradient
        helper.make_node("Conv", ["x", gradients.dxs["c"]], ["dw"]),
    ]
    outputs = {"loss": (FLOAT, None), "dw": (FLOAT, None)}
    between = {gradients.dxs["c"]: (FLOAT, [1, 1, 8, 8])}
    model = built([*FORWARD, *backward], inputs, outputs, [*constants, *gradients.initializers], between)
    random = np.random.default_rng(0)
    x, goal = (random.normal(size=(1, 1, n, n)).astype(np.float32) for n in (10, 3))
    reached = np.einsum("ijkl,kl->ij", np.lib.stride_tricks.sliding_window_view(x[0, 0], (3, 3)), goal[0, 0])
    target = (reached[1:7, 1:7] - reached[0:6, 2:8])[np.newaxis, np.newaxis]
    w, ran, losses = np.zeros((1, 1, 3, 3), np.float32), session(model), []
    for _ in range(60):
        loss, dw = ran.run(None, {"x": x, "w": w, "t": target})
        losses.append(float(loss))
        w -= 0.003 * dw
    assert losses[-1] < 0.01 * losses[0] and all(b <= a + 1e-4 for a, b in pairwise(losses))
    assert np.allclose(dw, numeric(ran, x, w + 0.003 * dw, target), rtol=0.02, atol=0.05)


CROPS = {"y_starts": [1, 1], "y_ends": [7, 7], "z_starts": [0, 2], "z_ends": [6, 8], "axes": [2, 3]}
FORWARD = [
    helper.make_node("Conv", ["x", "w"], ["c"]),  # [1, 1, 8, 8]
    helper.make_node("Slice", ["c", "y_starts", "y_ends", "axes"], ["y"]),  # [1, 1, 6, 6]
    helper.make_node("Slice", ["c", "z_starts", "z_ends", "axes"], ["z"]),
    helper.make_node("Sub", ["y", "z"], ["difference"]),
    helper.make_node("Sub", ["difference", "t"], ["e"]),
    helper.make_node("ReduceSumSquare", ["e"], ["loss"], keepdims=0),
]


def numeric(ran: Any, x: Any, w: Any, target: Any) -> Any:
    dw = np.zeros_like(w)
    for i in np.ndindex(w.shape):
        up, down = w.copy(), w.copy()
        up[i] += 0.01
        down[i] -= 0.01
        losses = [float(ran.run(["loss"], {"x": x, "w": v, "t": target})[0]) for v in (up, down)]
        dw[i] = (losses[0] - losses[1]) / 0.02
    return dw
