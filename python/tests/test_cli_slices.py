"""explain, convert and check: the commands about slices themselves."""

import json

import backslice as bs
import numpy as np
import pytest
from backslice import dialects
from backslice.dialects import index_text
from command_line import backslice, fails
from hypothesis import given, settings
from strategies import shapes_and_indices


def json_of(*args) -> dict:
    run = backslice(*args, "--json")
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def test_explain_all_tells_everything():
    run = backslice("explain", "4,6", "1:3, ::-2", "--all")
    assert run.returncode == 0, run.stderr
    for part in (
        "x[1:3, ::-2] of shape [4, 6] gives shape [2, 3]",
        "1 · 2 · 1 · 0",
        "axis 1 of 6: start 5, step -2, count 3",
        "y = x[1:3, ::-2]",
        "tf.raw_ops.StridedSlice(input=x, begin=[1, 5]",
        'make_node("Slice"',
        "reads 24 bytes, writes 96 bytes",
        "cached:",
        "ONNX Runtime: fails with a narrowing error",
    ):
        assert part in run.stdout, part


def test_explain_in_json():
    facts = json_of("explain", "4,6", "1:3, ::-2")
    assert facts["result_shape"] == [2, 3]
    assert facts["axes"][1] == {"start": 5, "step": -2, "count": 3}
    assert facts["cost"]["strategy"] == "cached" and facts["cost"]["memory_limit_seconds"] is None
    large = json_of("explain", "4096,4096", "::2")["cost"]
    assert large["strategy"] == "streaming" and 1e-5 < large["memory_limit_seconds"] < 1
    assert json_of("explain", str(1 << 26), "100:200")["cost"]["strategy"] == "fresh zeros"
    assert json_of("explain", "2," * 9, "0:1")["peers"]["TensorFlow"].startswith("returns uninitialised memory")
    assert "only float32 and float64" in json_of("explain", "4", "::2", "--dtype", "bfloat16")["peers"]["ONNX Runtime"]


@pytest.mark.parametrize("width", [20, 40, 80, 200])
@pytest.mark.parametrize(
    "shape, index", [("4096,4096", "::2"), ("8,3,64,64", ":, 1"), ("12", "3"), ("3,4,5", "1:, ::2")]
)
def test_pictures_fit_the_terminal(width, shape, index):
    run = backslice("explain", shape, index, env={"COLUMNS": str(width)})
    picture = run.stdout.split("\n\n")[1]
    assert max(map(len, picture.splitlines())) <= width, picture


def test_explain_of_what_has_no_gradient():
    assert "zero" in json_of("explain", "4", "::2", "--dtype", "float8_e8m0fnu")["cost"]["error"]
    run = backslice("explain", str(1 << 62), "::2")
    assert run.returncode == 0 and "cannot be computed" in run.stdout


@pytest.mark.parametrize("dtype", ["V8", "M8[s]", "2f4", "f4,f4", "S", "U", "longdouble"])
def test_explain_refuses_what_has_no_gradient_in_any_slice(dtype):
    fails(2, f"--dtype {dtype!r}", "explain", "4,6", "1:3", "--dtype", dtype)


@pytest.mark.parametrize("dtype", ["object", "S5", "U5"])
def test_explain_says_who_has_no_strings(dtype):
    peers = json.loads(backslice("explain", "4,6", "1:3", "--dtype", dtype, "--json").stdout)["peers"]
    assert peers["PyTorch"] == peers["JAX"] == "has no strings"


def test_explain_takes_every_dialect_and_negative_indices():
    assert json_of("explain", "4,6", "-1")["result_shape"] == [6]
    assert json_of("explain", "4,6", "--tf", "begin=1", "end=3")["index"] == "x[1:3]"
    assert json_of("explain", "4,6", "--onnx", "starts=1", "ends=3", "axes=1")["index"] == "x[:, 1:3]"
    assert json_of("explain", "", "...")["result_shape"] == []
    assert json_of("explain", "4,6", "--index", "-1")["index"] == json_of("explain", "4,6", "-1")["index"] == "x[3]"
    assert json_of("convert", "4,6", "--index", "1")["python"]["arguments"] == {"index": "1"}
    fails(2, "no slice is given", "explain", "4,6")
    fails(2, "more than one slice", "explain", "4,6", "1", "--index", "1")
    fails(2, "more than one slice", "explain", "4,6", "1", "--tf", "begin=1", "end=3")


def test_explain_writes_pictures(tmp_path):
    run = backslice("explain", "4,6", "1:3", "--svg", tmp_path / "a.svg", "--png", tmp_path / "a.png")
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "a.svg").read_text().startswith("<svg")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    again = backslice("explain", "4,6", "1:3", "--svg", tmp_path / "a.svg")
    assert again.returncode == 1 and "--force" in again.stderr
    assert backslice("explain", "4,6", "1:3", "--svg", tmp_path / "a.svg", "--force").returncode == 0
    missing = backslice("explain", "4,6", "1:3", "--svg", tmp_path / "none" / "a.svg")
    assert missing.returncode == 1 and "does not exist" in missing.stderr


FACTS = [  # the dialects disagree for n = 5
    (("--onnx", "starts=-10", "ends=INT_MIN", "steps=-1"), [0], "takes [0] in ONNX, but the same numbers"),
    (("--tf", "begin=-10", "end=INT_MIN", "strides=-1"), [], "the same numbers would take [0] in ONNX"),
    (("--onnx", "starts=4", "ends=INT_MAX", "steps=-1"), [4, 3, 2, 1, 0], "would take [] in TensorFlow"),
    (("--tf", "begin=4", "end=INT_MAX", "strides=-1"), [], "would take [4, 3, 2, 1, 0] in ONNX"),
    (("--onnx", "starts=4", "ends=INT32_MAX", "steps=-1"), [4, 3, 2, 1, 0], "would take [] in TensorFlow"),
]  # fmt: skip


@pytest.mark.parametrize("arguments, taken, warning", FACTS, ids=[" ".join(f[0]) for f in FACTS])
def test_convert_keeps_the_meaning_and_warns(arguments, taken, warning):
    result = json_of("convert", "5", *arguments)
    assert any(warning in w for w in result["warnings"]), result["warnings"]
    x = np.arange(5)
    assert eval(result["python"]["code"].removeprefix("y = "), {"x": x}).tolist() == taken
    assert bs.strided_slice(x, **result["tf"]["arguments"]).tolist() == taken
    onnx = {k: v for k, v in result["onnx"]["arguments"].items() if k in ("starts", "ends", "axes", "steps")}
    assert bs.onnx_slice(x, **onnx).tolist() == taken


def test_convert_does_not_warn_where_they_agree():
    for arguments in (("1:3, ::2",), ("::-1",), ("--tf", "begin=1", "end=-1"), ("--onnx", "starts=1", "ends=INT_MAX")):
        run = backslice("convert", "4,6", *arguments)
        assert run.returncode == 0 and run.stderr == "", run.stderr


def test_convert_of_integers_beyond_int64():
    result = json_of("convert", "5", f"{10**30}:{-(10**30)}:-{10**25}")
    assert result["python"]["arguments"]["index"] == "4:" and result["warnings"] == []
    fails(2, "begin", "convert", "5", "--tf", f"begin={10**30}", "end=1")


def test_convert_reads_every_index_that_the_library_reads():
    assert json_of("convert", "5", "None:3")["python"]["arguments"]["index"] == ":3"
    assert json_of("convert", "5", "+1:None:-1")["warnings"] == []
    assert json_of("convert", "4,5", "Ellipsis, -10::-1")["warnings"] == [
        "axis 1: -10::-1 takes [] in NumPy, but the same numbers would take [0] in ONNX"
    ]
    assert json_of("convert", "4,5", "newaxis, ..., np.newaxis, 4")["python"]["code"] == "y = x[None, :, None, 4]"


def test_convert_says_what_onnx_needs_besides():
    run = backslice("convert", "4,6", "-1, None, ::2", "--to", "onnx")
    assert "Squeeze axes [0]" in run.stderr and "Unsqueeze axes [0]" in run.stderr
    assert 'make_node("Squeeze"' in run.stdout and 'make_node("Unsqueeze"' in run.stdout
    assert "refuses a scalar input" in backslice("convert", "", "...", "--to", "onnx").stderr
    too_long = json_of("convert", "1," * 32, ", ".join(["0:0"] * 32))
    assert "tf" not in too_long and too_long["warnings"]


def test_convert_refuses_unknown_dialects():
    fails(2, "expected one of python, tf, onnx, all", "convert", "4", "1", "--to", "matlab")
    fails(2, "did you mean 'python'?", "convert", "4", "1", "--to", "pyton")


@settings(max_examples=300, deadline=None)
@given(shapes_and_indices())
def test_code_means_the_selection(case):
    shape, index = case
    selection = bs.Selection.from_index(shape, index)
    x = np.arange(np.prod(shape, dtype=int)).reshape(shape)
    y = x[index]
    assert np.array_equal(eval(index_text(selection), {"x": x}), y)
    python = dialects.code(selection, "python", gradient=True)
    scope = {"bs": bs, "np": np, "dy": y}
    exec(python, scope)
    assert np.array_equal(scope["dx"], bs.slice_grad(y, shape, selection))


@pytest.fixture
def gradients(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(
        "import numpy as np\n"
        "def right(dy):\n    dx = np.zeros((4, 6)); dx[1:3, ::2] = dy; return dx\n"
        "def backwards(dy):\n    return right(dy[:, ::-1])\n"
        "def twice(dy):\n    return 2 * right(dy)\n"
        "def dirty(dy):\n    dx = right(dy); dx[0, 1] = 3; return dx\n"
        "def zero(dy):\n    return 0 * right(dy)\n"
        "def small(dy):\n    return dy\n"
        "def fails(dy):\n    raise ValueError('no\\nidea')\n"
        "def forward(x):\n    return x[1:3, ::2]\n"
        "def other(x):\n    return x[1:3, 1::2]\n"
        "def dates(dy):\n    return np.zeros((4, 6), 'M8[s]')\n"
        "def leaves(dy):\n    raise SystemExit\n"
        "def leaves_with_words(dy):\n    raise SystemExit('no idea')\n"
        "class Odd(BaseException):\n    def __str__(self): raise ValueError\n"
        "def odd(dy):\n    raise Odd\n"
        "def killed(dy):\n    import os, signal; os.kill(os.getpid(), signal.SIGTERM); return right(dy)\n"
        "number = 3\n"
    )
    (tmp_path / "leaver.py").write_text("raise SystemExit(0)")
    (tmp_path / "broken.py").write_text("import sys; sys.nope")
    return tmp_path


SLICE = ("--shape", "4,6", "--index", "1:3, ::2")


def test_check_agrees_with_a_right_gradient(gradients):
    run = backslice("check", "mine:right", *SLICE)
    assert run.returncode == 0 and "agrees with backslice in all 24 elements" in run.stdout.replace("\n", " ")
    assert backslice("check", "mine:right", *SLICE, "--forward", "mine:forward").returncode == 0


@pytest.mark.parametrize(
    "name, different, hint",
    [
        ("backwards", 4, "backwards along axis 1"),
        ("twice", 6, "2 times"),
        ("dirty", 1, "should be zero, but are not"),
        ("zero", 6, "not written at all"),
    ],
)
def test_check_says_which_elements_differ(gradients, name, different, hint):
    run = backslice("check", f"mine:{name}", *SLICE, "--json")
    assert run.returncode == 1
    result = json.loads(run.stdout)
    assert result["different"] == different and hint in result["hint"]
    assert result["finite_differences"] == {"taken": 24, "different": different}
    at = result["examples"][0]
    assert at["given"] != at["expected"] == at["finite_difference"]
    shown = backslice("check", f"mine:{name}", *SLICE)
    assert str(at["at"]) in shown.stdout and hint in shown.stdout.replace("\n", " ")


def test_check_uses_the_forward_that_is_given(gradients):
    run = backslice("check", "mine:right", *SLICE, "--forward", "mine:other", "--json")
    assert run.returncode == 1
    result = json.loads(run.stdout)
    assert result["different"] == 0 and result["finite_differences"]["different"] == 12


def test_check_of_files(gradients):
    dy = np.arange(1.0, 7.0, dtype=np.float32).reshape(2, 3)
    np.save("dy.npy", dy)
    np.save("dx.npy", bs.slice_grad(dy, (4, 6), "1:3, ::2"))
    assert backslice("check", "dx.npy", "--dy", "dy.npy", *SLICE).returncode == 0
    np.save("off.npy", bs.slice_grad(dy, (4, 6), "1:3, ::2") * np.float32(1.001))
    assert backslice("check", "off.npy", "--dy", "dy.npy", *SLICE).returncode == 1
    assert backslice("check", "off.npy", "--dy", "dy.npy", "--rtol", "0.01", *SLICE).returncode == 0
    fails(2, "--dy is missing", "check", "dx.npy", *SLICE)


def test_check_of_large_gradients_takes_samples(gradients):
    dy = np.ones((500, 1000), np.float32)
    dx = bs.slice_grad(dy, (1000, 1000), "::2")
    dx[731, 5] = 7
    np.save("dy.npy", dy)
    np.save("dx.npy", dx)
    run = backslice("check", "dx.npy", "--dy", "dy.npy", "--shape", "1000,1000", "--index", "::2", "--json")
    result = json.loads(run.stdout)
    assert run.returncode == 1 and result["different"] == 1
    assert result["examples"] == [{"at": [731, 5], "given": 7, "expected": 0, "finite_difference": 0}]
    assert result["finite_differences"]["taken"] <= 400


def test_check_of_infinite_gradients(gradients):
    dy = np.array([[np.inf, 1, np.nan], [-np.inf, -0.0, 2]])
    np.save("dy.npy", dy)
    np.save("dx.npy", bs.slice_grad(dy, (4, 6), "1:3, ::2"))
    assert backslice("check", "dx.npy", "--dy", "dy.npy", *SLICE).returncode == 0


def test_check_tells_machines_more_than_people(gradients):
    np.save("dy.npy", np.ones((2, 300)))
    np.save("dx.npy", np.zeros((4, 600)))
    arguments = ("check", "dx.npy", "--dy", "dy.npy", "--shape", "4,600", "--index", "1:3, ::2")
    assert len(json.loads(backslice(*arguments, "--json").stdout)["examples"]) == 600
    assert "and 590 more" in backslice(*arguments).stdout


@pytest.mark.parametrize("dtype", [np.int32, np.complex64, np.float16, np.bool_])
def test_check_of_other_dtypes(gradients, dtype):
    dy = np.ones((2, 3), dtype)
    np.save("dy.npy", dy)
    np.save("dx.npy", bs.slice_grad(dy, (4, 6), "1:3, ::2"))
    assert backslice("check", "dx.npy", "--dy", "dy.npy", *SLICE).returncode == 0
    wrong = np.zeros((4, 6), dtype)
    np.save("wrong.npy", wrong)
    run = backslice("check", "wrong.npy", "--dy", "dy.npy", *SLICE)
    assert run.returncode == 1 and not run.stderr


def test_check_of_what_cannot_be_checked(gradients):
    np.save("s.npy", np.array([["a"] * 3] * 2))
    np.save("ds.npy", np.zeros((4, 6), "U1"))
    fails(1, "only gradients of numbers", "check", "ds.npy", "--dy", "s.npy", *SLICE)
    fails(1, "mine:fails raised ValueError: no idea", "check", "mine:fails", *SLICE)
    fails(1, "mine has no function 'nope'", "check", "mine:nope", *SLICE)
    fails(1, "cannot import 'nope'", "check", "nope:nope", *SLICE)
    fails(1, "mine:number is not a function", "check", "mine:number", *SLICE)
    fails(1, "mine:small has shape [2, 3]", "check", "mine:small", *SLICE)
    fails(2, "neither a file", "check", "mine", *SLICE)
    fails(2, "a function is written mine.py:grad", "check", "mine.py", *SLICE)
    fails(2, "'mine.py:' names no function", "check", "mine.py:", *SLICE)
    fails(2, "':right' names no function", "check", ":right", *SLICE)


def test_check_takes_functions_of_files_with_what_lies_beside_them(gradients):
    folder = gradients / "elsewhere"
    folder.mkdir()
    (folder / "part.py").write_text("SHAPE = (4, 6)\n")
    (folder / "whole.py").write_text(
        "import numpy as np, part\ndef grad(dy):\n    dx = np.zeros(part.SHAPE); dx[1:3, ::2] = dy; return dx\n"
    )
    for function in ("mine.py:right", gradients / "mine.py:right", "elsewhere/whole.py:grad"):
        assert backslice("check", function, *SLICE, "--forward", "mine.py:forward").returncode == 0
    fails(1, "leaver.py:f: running leaver.py raised SystemExit: 0", "check", "leaver.py:f", *SLICE)


@pytest.mark.parametrize(
    "given, says",
    [
        ("mine:rihgt", "mine:rihgt: mine has no function 'rihgt'; did you mean 'right'?"),
        ("mine.py:rihgt", "mine.py:rihgt: mine.py has no function 'rihgt'; did you mean 'right'?"),
        ("mien:right", "No module named 'mien'; did you mean 'mine'?"),
        ("mien.py:right", "the file mien.py does not exist; did you mean 'mine.py'?"),
        ("nowhere/mine.py:right", "the file nowhere/mine.py does not exist\n"),
        ("mine.py:number", "mine.py:number is not a function, but 3"),
    ],
)
def test_check_suggests_the_nearest_function_or_file(gradients, given, says):
    fails(1, says, "check", given, *SLICE)
    fails(1, says, "check", "mine:right", *SLICE, "--forward", given)


@pytest.mark.parametrize(
    "given, says",
    [
        ("mine:leaves", "mine:leaves raised SystemExit\n"),
        ("mine:leaves_with_words", "mine:leaves_with_words raised SystemExit: no idea"),
        ("mine:odd", "mine:odd raised Odd, whose message cannot be shown"),
        ("mine:dates", "mine:dates has dtype datetime64[s]: only gradients of numbers"),
        ("leaver:f", "leaver:f: importing 'leaver' raised SystemExit: 0"),
        ("broken:f", "broken:f: importing 'broken' raised AttributeError"),
    ],
)
def test_check_of_functions_that_end_in_any_way(gradients, given, says):
    fails(1, says, "check", given, *SLICE)
    if given != "mine:dates":
        fails(1, says, "check", "mine:right", *SLICE, "--forward", given)


def test_check_is_still_ended_by_signals(gradients):
    assert backslice("check", "mine:killed", *SLICE).returncode == 128 + 15


@pytest.mark.parametrize(
    "shape, index, says",
    [
        ("1000000000000,1000", "...", "checking a gradient of shape [1000000000000, 1000] takes"),
        ("9223372036854775807", "...", "TiB of memory, but only"),
        ("9223372036854775807", ":1", "TiB of memory, but only"),
        ("0,9223372036854775807", "...", "NumPy cannot make an array of shape [0, 9223372036854775807]"),
        ("0,9223372036854775807", "..., :1", "check a smaller shape"),
    ],
)
def test_check_of_shapes_beyond_the_machine(gradients, shape, index, says):
    fails(1, says, "check", "mine:right", "--shape", shape, "--index", index)
    np.save("dy.npy", np.ones(7))
    fails(1, "dy.npy has shape [7], but the slice has shape [2, 3]", "check", "mine:right", "--dy", "dy.npy", *SLICE)


def test_parsing_texts():
    assert dialects.integers("(1, 2)", "n") == dialects.integers("1 2", "n") == [1, 2]
    assert dialects.integers("", "n") == dialects.integers("[]", "n") == []
    assert dialects.integers("0x10,-3", "n") == [16, -3]
    assert dialects.parse("tf", "begin=1, 2 end = [3,4]").arguments == {
        "begin": [1, 2],
        "end": [3, 4],
        "strides": [1, 1],
    }
    assert dialects.parse("tf", "begin= end= strides=").arguments == {"begin": [], "end": [], "strides": []}
    assert dialects.parse("onnx", "starts=-1,-2 ends = INT_MAX , 3").arguments == {
        "starts": [-1, -2],
        "ends": [2**63 - 1, 3],
    }
    for text in ("1:3, ::2", "x[1:3, ::2]", "np.s_[1:3, ::2]"):
        assert dialects.parse("python", text).selection((4, 6)).result_shape == (2, 3)
    with pytest.raises(bs.InvalidArgumentError, match="not a dialect"):
        dialects.parse("matlab", "1:2")


@settings(max_examples=200, deadline=None)
@given(shapes_and_indices())
def test_disagreements_never_fail(case):
    shape, index = case
    selection = bs.Selection.from_index(shape, index)
    for spec in (dialects.parse("python", index_text(selection)[2:-1]), dialects.Spec("tf", dict(selection.to_tf()))):
        assert spec.selection(shape) == selection
        assert spec.disagreements(shape) == []  # code written by backslice has the same meaning everywhere
