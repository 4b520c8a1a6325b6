"""Support for libraries with arrays on CUDA devices, tested with stand-ins for them; no device is needed."""

import sys
from types import SimpleNamespace

import pytest
from backslice import devices

CURRENT = 0x50


class FakeOutOfMemoryError(RuntimeError):
    pass


class FakeTensor:
    def __init__(self):
        self.recorded = []

    def record_stream(self, stream):
        self.recorded.append(stream)


@pytest.fixture
def tensor(monkeypatch):
    cuda = SimpleNamespace(
        default_stream=lambda ordinal: ("default", ordinal),
        current_stream=lambda ordinal: SimpleNamespace(cuda_stream=CURRENT),
        OutOfMemoryError=FakeOutOfMemoryError,
        ExternalStream=lambda number, device: ("external", number, device),
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(Tensor=FakeTensor, cuda=cuda))
    return FakeTensor()


def test_pytorch_is_told_which_stream_uses_memory(tensor):
    assert devices.keep_memory(tensor, 3, 1)
    assert devices.keep_memory(tensor, 3, CURRENT)
    assert devices.keep_memory(tensor, 3, 0x60)
    default, current, other = tensor.recorded
    assert (default, current.cuda_stream, other) == (("default", 3), CURRENT, ("external", 0x60, 3))


def test_other_libraries_keep_memory_for_no_stream_that_they_are_told():
    assert not devices.keep_memory(object(), 0, 1)


def test_only_what_says_so_is_out_of_memory(tensor):
    pytorch, other = devices.library_of(tensor), devices.library_of(object())
    assert pytorch.is_out_of_memory(FakeOutOfMemoryError())
    assert pytorch.is_out_of_memory(MemoryError())
    assert other.is_out_of_memory(MemoryError())
    assert not pytorch.is_out_of_memory(RuntimeError())
    assert not other.is_out_of_memory(RuntimeError())
