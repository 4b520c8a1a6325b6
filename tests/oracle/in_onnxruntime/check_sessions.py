"""Many sessions, threads, saved models, and a net that learns. Runs in ONNX Runtime's environments."""

import gc
import threading
from itertools import pairwise
from pathlib import Path
from typing import Any

import backslice as bs
import numpy as np
import onnxruntime as ort
import pytest
from backslice.onnxruntime import library_path, session_options
from onnx import TensorProto, helper

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64
NAMES = ["dY", "shape", "starts", "ends"]


def built(nodes: list[Any], inputs: dict[str, Any], outputs: dict[str, Any], initializers: Any = ()) -> bytes:
    infos = [helper.make_tensor_value_info(name, *what) for name, what in inputs.items()]
    results = [helper.make_tensor_value_info(name, *what) for name, what in outputs.items()]
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1), helper.make_opsetid("backslice", 1)]
    graph = helper.make_graph(nodes, "g", infos, results, list(initializers))
    return bytes(helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString())


def slice_grad() -> bytes:
    inputs = {name: (FLOAT if name == "dY" else INT64, None) for name in NAMES}
    return built([helper.make_node("SliceGrad", NAMES, ["dX"], domain="com.microsoft")], inputs, {"dX": (FLOAT, None)})


def session(model: Any, options: Any = None) -> Any:
    return ort.InferenceSession(model, options or session_options(), providers=["CPUExecutionProvider"])


def feeds(rows: int, columns: int, start: int, end: int, value: float = 1) -> dict[str, Any]:
    dy = np.full((end - start, columns), value, np.float32)
    return {"dY": dy, "shape": np.array([rows, columns]), "starts": np.array([start]), "ends": np.array([end])}


def expected(given: dict[str, Any]) -> Any:
    return bs.onnx_slice_grad(given["dY"], given["shape"], given["starts"], given["ends"])


@pytest.mark.parametrize("declared", [TensorProto.UINT8, TensorProto.STRING, TensorProto.DOUBLE])
def test_a_result_that_the_model_declares_of_another_type_is_refused(declared: int) -> None:
    """ONNX Runtime 1.17 infers no type where an input is left out, and makes room for the declared one."""
    inputs = {name: (FLOAT if name == "dY" else INT64, None) for name in [*NAMES, "steps"]}
    node = helper.make_node("SliceGrad", [*NAMES, "", "steps"], ["dX"], domain="com.microsoft")
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


def test_one_session_in_many_threads() -> None:
    shared, wrong = session(slice_grad()), []

    def work(seed: int) -> None:
        for i in range(50):
            given = feeds(20 + seed, 30, seed, seed + 1 + i % 8, seed)
            if not np.array_equal(shared.run(None, given)[0], expected(given)):
                wrong.append((seed, i))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 7)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


def test_errors_in_some_threads_do_not_disturb_others() -> None:
    shared, wrong = session(slice_grad()), []

    def work(seed: int) -> None:
        for i in range(50):
            given = feeds(20, 30, seed, seed + 4, seed)
            if i % 2:
                given["dY"] = given["dY"][: i % 4]
                with pytest.raises(Exception, match="dY has"):
                    shared.run(None, given)
            elif not np.array_equal(shared.run(None, given)[0], expected(given)):
                wrong.append((seed, i))

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 7)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not wrong


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


def test_a_small_net_with_a_slice_learns() -> None:
    """A convolution, a crop of it, a loss: forward and backward by hand in one graph."""
    constants = [helper.make_tensor(n, INT64, [len(v)], v) for n, v in CONSTANTS.items()]
    model = built(NET, {"x": (FLOAT, [1, 1, 10, 10]), "w": (FLOAT, [1, 1, 3, 3]), "t": (FLOAT, [1, 1, 6, 6])},
                  {"loss": (FLOAT, None), "dw": (FLOAT, None)}, constants)  # fmt: skip
    random = np.random.default_rng(0)
    x, target = (
        random.normal(size=(1, 1, 10, 10)).astype(np.float32),
        random.normal(size=(1, 1, 6, 6)).astype(np.float32),
    )
    w, ran, losses = np.zeros((1, 1, 3, 3), np.float32), session(model), []
    for _ in range(60):
        loss, dw = ran.run(None, {"x": x, "w": w, "t": target})
        losses.append(float(loss))
        w -= 0.005 * dw
    assert losses[-1] < 0.9 * losses[0] and all(b <= a + 1e-4 for a, b in pairwise(losses))
    assert np.allclose(dw, numeric(ran, x, w + 0.005 * dw, target), rtol=0.02, atol=0.05)


CONSTANTS = {"starts": [1, 1], "ends": [7, 7], "axes": [2, 3], "shape": [1, 1, 8, 8]}
NET = [
    helper.make_node("Conv", ["x", "w"], ["c"]),  # [1, 1, 8, 8]
    helper.make_node("Slice", ["c", "starts", "ends", "axes"], ["y"]),  # [1, 1, 6, 6]
    helper.make_node("Sub", ["y", "t"], ["e"]),
    helper.make_node("ReduceSumSquare", ["e"], ["loss"], keepdims=0),
    helper.make_node("Add", ["e", "e"], ["dy"]),
    helper.make_node("SliceGrad", ["dy", "shape", "starts", "ends", "axes"], ["dc"], domain="com.microsoft"),
    helper.make_node("Conv", ["x", "dc"], ["dw"]),  # the gradient of a convolution is one with its output's gradient
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
