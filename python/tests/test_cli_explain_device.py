"""explain --device cuda: the plan for a device, without one."""

import json

import backslice as bs
import pytest
from command_line import answer, refuses


def explained(*args: str) -> str:
    code, text, error = answer("explain", *args, "--device", "cuda")
    assert code == 0, error
    return text


def shown(*args: str) -> str:
    return " ".join(explained(*args).split())


def facts(*args: str) -> dict:
    return json.loads(explained(*args, "--json"))


def test_the_kernels_are_those_of_the_library():
    told = facts("1024,1024", "::2")
    assert told["device"] == "cuda"
    cost = bs.Selection.from_index((1024, 1024), "::2").cost("float32", device="cuda")
    assert {name: told["cost"][name] for name in cost} == cost
    assert cost["strategy"] == "gather" and cost["plan"].startswith("kernel chunks_of_16_loops_")


def test_the_limit_is_what_is_moved_at_the_bandwidth():
    moved = 1024 * 1024 * 4 * 3 // 2
    for options, speed in (((), 4.2e12), (("--bandwidth", "1000"), 1e12), (("--bandwidth", "0.5"), 5e8)):
        cost = facts("1024,1024", "::2", *options)["cost"]
        assert cost["memory_limit_seconds"] == pytest.approx(moved / speed)
        assert cost["bytes_per_second"] == speed and "threads" not in cost
    assert facts("64,64", "::2")["cost"]["memory_limit_seconds"] is None


def test_people_are_told_the_same():
    text = shown("1024,1024", "::2", "--all")
    assert "gather: each thread finds where its part of dx comes from" in text
    assert "kernel chunks_of_16_loops_2: 262144 parts of 16 bytes, copied" in text
    assert "in about 1.5 µs: what is read and written, at a copy's 4200 GB/s" in text
    assert "threads" not in text.split("What other libraries do")[0].split("262144 parts")[1]
    assert "Gradient (float32, CUDA): reads 2 MiB, writes 4 MiB, in about 1.5 µs" in shown("1024,1024", "::2")


def test_the_same_kernel_is_named_once_however_often_it_runs():
    code, text, _ = answer("explain", "3,1073741824", ":, ::3", "--dtype", "int8", "--device", "cuda", "--all")
    named = [line for line in text.splitlines() if "kernel " in line]
    assert code == 0 and 1 <= len(named) == len(set(named))


def test_the_cpu_is_the_default():
    told = json.loads(answer("explain", "4,6", "1:3", "--json")[1])
    assert told["device"] == "cpu" and told["cost"]["strategy"] == "cached"


def test_what_a_device_cannot_hold_is_told():
    assert "more than a CUDA device has" in facts("1125899906842624", "1:3")["cost"]["error"]


@pytest.mark.parametrize(
    "options, says",
    [
        (("--device", "gpu"), "--device is 'gpu', expected cpu or cuda"),
        (("--bandwidth", "100"), "--bandwidth is for --device cuda"),
        (("--device", "cuda", "--bandwidth", "0"), "--bandwidth is 0, expected GB/s"),
        (("--device", "cuda", "--bandwidth", "nan"), "--bandwidth is nan, expected GB/s"),
    ],
)
def test_misuse_is_refused(options, says):
    refuses(2, says, "explain", "4,6", "1:3", *options)


def test_python_refuses_other_devices():
    selection = bs.Selection.from_index((4,), "1:3")
    with pytest.raises(bs.InvalidArgumentError, match='device is \'tpu\', expected "cpu" or "cuda"'):
        selection.cost("float32", device="tpu")
