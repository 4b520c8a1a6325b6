"""What decides, once per slice of a backward pass, whether its gradient may be added to the sum that waits for it.

It asks PyTorch by functions that it is given, so that others stand in for them here. Inside PyTorch it is tested in
tests/oracle/in_torch/check_growing.py.
"""

import sys
import threading
import weakref
from types import SimpleNamespace

import backslice as bs
import pytest
from backslice._core import _SliceAdder

OTHER, SELECT, SLICE = 0, 1, 2
SHAPE = [4, 3]


class Node:
    next_functions = (("receiver", 0),)


class Tensor:
    """What is asked of a gradient. It does not tell its memory to C."""

    dtype, nbytes = "float32", 16

    def get_device(self):
        return -1

    def _use_count(self):
        return 3


class Sum:
    def __init__(self):
        self._computing, self._sum, self._is_open, self.held = threading.Lock(), object_with_references(), True, 2

    def _use_count(self):
        return self.held


class object_with_references:  # noqa: N801  as `object`, which has no weak ones
    pass


class Engine:
    """One slice's gradient comes to a sum that waits and has memory; each test changes something."""

    def __init__(self, kind=SELECT):
        self.sum, self.dy, self.node, self.added, self.seen = Sum(), Tensor(), Node(), [], []
        self.waiting = SimpleNamespace(
            lazy=weakref.ref(self.sum), shape=[4, 3], size=48, dtype=Tensor.dtype, ordinal=-1, is_on_device=True,
            given=frozenset(), tally={}, made=weakref.ref(self.sum._sum), moment=None, to=None,
        )  # fmt: skip
        self.latest = SimpleNamespace(waiting={("receiver", 0): self.waiting}, task=7)
        self.known = {
            "select_backward": SimpleNamespace(tells_hooks=True, alone=(3, 2), given=4),
            "waiting": SimpleNamespace(alone=(2, 0), objects=2),
        }
        self.capture = SimpleNamespace(measuring=None, note_waiting=lambda *seen: self.seen.append(seen))
        self.sizes = SimpleNamespace(small=1, at_once=1000)
        self.asked = SimpleNamespace(
            latest=self.latest, task=lambda: 7, node=lambda: self.node, slices=frozenset([Node]), tensor=Tensor,
            is_graph_asked_for=lambda: False, is_looking_for_nans=lambda: False,
            forward_mode=SimpleNamespace(_current_level=-1), engine_call=Engine.run.__code__,
            weak_references=lambda _: 1, capture=self.capture, known=self.known, waiting="waiting",
            stream=lambda device: ("stream", device), is_capturing=lambda: False, is_shared=lambda _: True,
            has_memory=lambda *_: False,
            add_shared=lambda dy, shape, arguments, to: self.added.append((dy, shape, arguments, to)),
        )  # fmt: skip
        self.kind = kind

    def adder(self):
        return _SliceAdder("select_backward", "CUDA", self.kind, self.sizes, self.asked)

    def run(self, adder=None):
        """What becomes of it. The engine holds the sum, and nobody else."""
        holder, self.sum = [self.sum], None
        try:
            return kernel(adder or self.adder(), self.dy, (1, 2))
        finally:
            (self.sum,) = holder


def kernel(adder, dy, arguments):
    return adder.add(dy, SHAPE, arguments)


def test_a_gradient_is_added_at_once():
    engine = Engine()
    assert engine.run() is True
    assert engine.added == [(engine.dy, SHAPE, (1, 2), None)]
    assert engine.waiting.tally == {("select_backward", "CUDA"): 1}
    assert engine.run() is True and engine.waiting.tally == {("select_backward", "CUDA"): 2}
    assert not engine.sum._computing.locked()


NOT_ITS_BUSINESS = {
    "nothing waits": lambda e: e.latest.waiting.clear(),
    "no pass": lambda e: setattr(e.latest, "waiting", ()),
    "another pass": lambda e: setattr(e.latest, "task", 8),
    "no node": lambda e: setattr(e, "node", None),
    "another node": lambda e: setattr(e, "node", SimpleNamespace(next_functions=(("receiver", 0),))),
    "a node without a receiver": lambda e: setattr(e.node, "next_functions", ()),
    "another receiver": lambda e: setattr(e.node, "next_functions", (("receiver", 1),)),
    "switched off": lambda e: setattr(e.sizes, "small", float("inf")),
    "a small sum": lambda e: setattr(e.waiting, "size", 0),
    "a subclass": lambda e: setattr(e, "dy", type("Subclass", (Tensor,), {})()),
    "another dtype": lambda e: setattr(e.dy, "dtype", "float64"),
    "another device": lambda e: setattr(e.waiting, "ordinal", 1),
    "another shape": lambda e: setattr(e.waiting, "shape", [4, 4]),
    "a graph is asked for": lambda e: setattr(e.asked, "is_graph_asked_for", lambda: True),
    "anomalies are looked for": lambda e: setattr(e.asked, "is_looking_for_nans", lambda: True),
    "forward mode": lambda e: setattr(e.asked.forward_mode, "_current_level", 0),
    "called by Python code": lambda e: setattr(e.asked, "engine_call", kernel.__code__),
    "hooks": lambda e: setattr(e.dy, "_use_count", lambda: 4),
    "hooks of a gradient that was given": lambda e: setattr(e.waiting, "given", frozenset([id(e.dy)])),
    "hooks cannot be told": lambda e: setattr(e.known["select_backward"], "tells_hooks", False),
    "nothing is known of the op": lambda e: e.known.pop("select_backward"),
    "the sum is gone": lambda e: setattr(e.waiting, "lazy", lambda: None),
    "somebody has the sum": lambda e: setattr(e, "also", e.sum),
    "C++ code has the sum": lambda e: setattr(e.sum, "held", 3),
    "weak references to the sum": lambda e: setattr(e.asked, "weak_references", lambda _: 2),
    "nothing is known of sums": lambda e: e.known.pop("waiting"),
}


@pytest.mark.parametrize("change", NOT_ITS_BUSINESS.values(), ids=NOT_ITS_BUSINESS)
def test_what_is_not_to_be_added(change):
    engine = Engine()
    change(engine)
    assert engine.run() is None
    assert not engine.added and not engine.waiting.tally and not engine.sum._computing.locked()


WAITS = {
    "on the CPU": lambda e: setattr(e.waiting, "is_on_device", False),
    "large": lambda e: setattr(e.dy, "nbytes", 1001),
    "empty": lambda e: setattr(e.dy, "nbytes", 0),
    "no box": lambda e: setattr(e, "kind", OTHER),
    "no memory": lambda e: setattr(e.waiting, "made", lambda: None),
    "other memory": lambda e: setattr(e.sum, "_sum", object_with_references()),
    "read meanwhile": lambda e: setattr(e.sum, "_is_open", False),
    "another stream": lambda e: setattr(e.waiting, "moment", (("other", -1), False)),
    "captured into a graph": lambda e: setattr(e.waiting, "moment", (("stream", -1), True)),
}


@pytest.mark.parametrize("change", WAITS.values(), ids=WAITS)
def test_what_may_wait_in_the_sum(change):
    engine = Engine()
    change(engine)
    assert engine.run() is engine.waiting
    assert not engine.added and not engine.waiting.tally and not engine.sum._computing.locked()


def test_a_gradient_that_was_given_is_held_once_more():
    engine = Engine()
    engine.waiting.given = frozenset([id(engine.dy)])
    engine.dy._use_count = lambda: 4
    assert engine.run() is True


def test_a_sum_gets_its_memory_when_it_is_needed():
    engine = Engine()
    engine.waiting.made = lambda: None
    engine.asked.has_memory = lambda waiting, lazy: waiting is engine.waiting and isinstance(lazy, Sum)
    assert engine.run() is True


def test_the_same_stream():
    engine = Engine()
    engine.waiting.moment = (("stream", -1), False)
    assert engine.run() is True


def test_what_is_seen_while_kernels_are_tried():
    engine = Engine()
    engine.capture.measuring = 1
    engine.run()
    assert engine.seen == [(2, 2)]


@pytest.mark.parametrize("name", ["task", "node", "is_graph_asked_for", "weak_references", "has_memory", "add_shared"])
def test_what_others_raise_is_passed_on(name):
    engine = Engine()
    if name == "has_memory":
        engine.waiting.made = lambda: None

    def fail(*_):
        raise KeyboardInterrupt(name)

    setattr(engine.asked, name, fail)
    with pytest.raises(KeyboardInterrupt, match=name):
        engine.run()
    assert not engine.sum._computing.locked() and not engine.waiting.tally


def test_nothing_is_leaked():
    engine = Engine()
    adder = engine.adder()
    watched = [engine.dy, engine.waiting, engine.asked, engine.sum._sum, engine.sum._computing]
    assert engine.run(adder) is True

    def references():
        engine.added.clear()
        return [sys.getrefcount(one) for one in watched]

    before = references()
    for _ in range(100):
        assert engine.run(adder) is True
    assert references() == before


@pytest.mark.parametrize("missing", ["latest", "known", "add_shared"])
def test_what_is_missing_is_told(missing):
    engine = Engine()
    delattr(engine.asked, missing)
    with pytest.raises(AttributeError, match=missing):
        engine.run()


def test_what_an_op_has_is_told_by_a_number():
    engine = Engine()
    for wrong in (-1, 3, 2**40):
        with pytest.raises(bs.InvalidArgumentError, match="kind must be 0, 1 or 2"):
            _SliceAdder("select_backward", "CUDA", wrong, engine.sizes, engine.asked)
    with pytest.raises(TypeError):
        _SliceAdder("select_backward", "CUDA", "no kind", engine.sizes, engine.asked)


def test_a_lock_that_cannot_be_released_is_told(monkeypatch):
    engine, told = Engine(), []

    class Stuck:
        def acquire(self):
            return True

        def release(self):
            raise RuntimeError("stuck")

    monkeypatch.setattr(sys, "unraisablehook", lambda given: told.append(str(given.exc_value)))
    engine.sum._computing = Stuck()
    assert engine.run() is True and told == ["stuck"]


@pytest.mark.parametrize("to", [None, (), (1, 2), ((0, 0, (4,), (1,)),), ((0, 0, (4,), (1,)), (-1, 0, "f4"))])
def test_memory_that_is_none_is_refused(to):
    engine = Engine()
    engine.waiting.to, engine.asked.is_shared = to, lambda _: False
    with pytest.raises((bs.Error, IndexError, SystemError, TypeError)):
        engine.run()
    assert not engine.sum._computing.locked() and not engine.added


@pytest.mark.parametrize("tally", [None, [], 1])
def test_a_tally_that_is_none_is_refused(tally):
    engine = Engine()
    engine.waiting.tally = tally
    with pytest.raises(SystemError):
        engine.adder().count(engine.waiting)
