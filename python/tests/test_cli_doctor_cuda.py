"""doctor on CUDA: devices, versions, or the reason why there are none, also with the drivers of
tests/cuda/fake_libcuda.cc."""

import json
import shutil
import subprocess
from pathlib import Path

import backslice as bs
import pytest
from backslice.cli import doctor
from command_line import backslice

FAKE = Path(__file__).parents[2] / "tests" / "cuda" / "fake_libcuda.cc"
H200 = {"ordinal": 0, "name": "NVIDIA H200", "capability": (9, 0), "bytes": 150_000_000_000, "multiprocessors": 132}


def is_built_with_cuda() -> bool:
    try:
        bs.cuda.versions()
    except bs.UnimplementedError:
        return False
    return True


with_cuda = pytest.mark.skipif(not is_built_with_cuda(), reason="backslice was built without CUDA")


@pytest.fixture(scope="module")
def fake_driver(tmp_path_factory) -> Path:
    """Make a folder with a libcuda that the CUDA runtime loads instead of the real one."""
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler")
    folder = tmp_path_factory.mktemp("driver")
    subprocess.run(["c++", "-shared", "-fPIC", "-o", folder / "libcuda.so.1", FAKE], check=True)
    return folder


def told(**env: str) -> dict[str, str]:
    return json.loads(backslice("doctor", "--json", env=env).stdout)["CUDA"]


@with_cuda
def test_a_driver_without_a_device_is_told_with_its_version(fake_driver):
    found = told(LD_LIBRARY_PATH=str(fake_driver), BACKSLICE_FAKE_DRIVER="none")
    assert found["part of this build"] == "yes"
    assert found["runtime"] == ".".join(map(str, bs.cuda.versions()["runtime"]))
    assert found["driver"] == "13.0"
    assert found["devices"].startswith("none: cudaGetDeviceCount failed") and "cudaErrorNoDevice" in found["devices"]


@with_cuda
def test_a_driver_that_is_too_old_is_told_with_its_version(fake_driver):
    found = told(LD_LIBRARY_PATH=str(fake_driver), BACKSLICE_FAKE_DRIVER="old")
    assert found["driver"] == "11.0"
    assert "a newer driver is needed" in found["devices"]


@with_cuda
def test_the_text_says_what_the_json_says(fake_driver):
    env = {"LD_LIBRARY_PATH": str(fake_driver), "BACKSLICE_FAKE_DRIVER": "old", "COLUMNS": "300"}
    text = backslice("doctor", env=env).stdout
    section = text[text.index("\nCUDA\n") :]
    assert " ".join(told(**env)["devices"].split()) in " ".join(section.split())


@with_cuda
@pytest.mark.skipif(bs.cuda.is_available(), reason="there is a device")
def test_this_machine_is_told_as_the_library_sees_it():
    found = doctor.cuda()
    assert found["devices"] == f"none: {bs.cuda.unavailable_reason()}"
    assert (found["driver"] == "not found") == (bs.cuda.versions()["driver"] is None)


def test_devices_are_told_with_name_memory_and_capability(monkeypatch):
    monkeypatch.setattr(bs.cuda, "versions", lambda: {"runtime": (13, 0), "driver": (13, 2)})
    monkeypatch.setattr(bs.cuda, "devices", lambda: [H200, H200 | {"ordinal": 1}])
    found = doctor.cuda()
    assert found["driver"] == "13.2" and "devices" not in found
    assert found["cuda:0"] == "NVIDIA H200, 139.7 GiB, compute capability 9.0, 132 multiprocessors"
    assert found["cuda:1"] == found["cuda:0"]


def test_no_driver_is_told(monkeypatch):
    def no_devices():
        raise bs.FailedPreconditionError("there is none")

    monkeypatch.setattr(bs.cuda, "versions", lambda: {"runtime": (13, 0), "driver": None})
    monkeypatch.setattr(bs.cuda, "devices", no_devices)
    assert doctor.cuda() == {
        "part of this build": "yes", "runtime": "13.0", "driver": "not found", "devices": "none: there is none"
    }  # fmt: skip


def test_a_build_without_cuda_says_so(monkeypatch):
    def no_versions():
        raise bs.UnimplementedError("backslice was built without CUDA")

    monkeypatch.setattr(bs.cuda, "versions", no_versions)
    assert doctor.cuda() == {"part of this build": "no"}
