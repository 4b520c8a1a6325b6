"""Text as arguments and in messages: any str that Python can store."""

import subprocess
import sys

import backslice as bs
import numpy as np
import pytest
from backslice import _core, dialects

SURROGATE = "\ud800"
X = np.arange(5)


@pytest.mark.parametrize(
    "call",
    [
        lambda: bs.slice(X, SURROGATE),
        lambda: bs.slice_grad(X, (5,), SURROGATE + ":"),
        lambda: bs.multi_slice_grad((5,), [(SURROGATE, X)]),
        lambda: bs.GradBuffer((5,), X.dtype).write(SURROGATE, X),
        lambda: bs.Selection.from_index((5,), SURROGATE),
        lambda: _core.parse_index(SURROGATE),
        lambda: bs.sparse_slice_grad(X, [[0]] * 5, [0], [[0]] * 5, order=SURROGATE),
        lambda: bs.RaggedTensor(X, [0, 5])[SURROGATE],
        lambda: bs.TensorArray(1, X.dtype, name=SURROGATE),
        lambda: bs.TensorArray(1, X.dtype).grad(SURROGATE),
        lambda: bs.TensorArray(1, object).write(0, [SURROGATE]),
        lambda: bs._core.TensorArrayContainer().create(1, X.dtype, name=SURROGATE),
        lambda: bs._core.TensorArrayContainer().find(SURROGATE),
        lambda: bs._core.TensorArrayContainer().remove(SURROGATE),
    ],
)
def test_lone_surrogates_are_refused_and_shown(call):
    with pytest.raises(bs.InvalidArgumentError, match=r"\\ud800"):
        call()


@pytest.mark.parametrize("text", ["1:3\0garbage", "\0", "1:3\0"])
def test_index_text_is_read_past_a_nul(text):
    for call in (lambda: bs.slice(X, text), lambda: _core.parse_index(text)):
        with pytest.raises(bs.InvalidArgumentError, match=r"\\x00.*NUL"):
            call()


def test_index_text_of_other_scripts_is_quoted_whole():
    with pytest.raises(bs.InvalidArgumentError, match='"früh"'):
        bs.slice(X, "früh")


@pytest.mark.parametrize(
    "call",
    [
        lambda text: bs.slice(np.zeros((3, 4)), text),
        lambda text: bs.slice_grad(np.zeros(4), (3, 4), text),
        lambda text: bs.Selection.from_index((3, 4), text),
        lambda text: bs.GradBuffer((3, 4), "f4").write(text, np.zeros(4, "f4")),
        lambda text: bs.RaggedTensor([1, 2], [0, 2])[text],
        lambda text: dialects.parse("python", text),
    ],
)
def test_a_list_in_index_text_is_refused_everywhere_with_the_alternative(call):
    for text in ("[0, 2]", "x[[0, 2]]"):
        with pytest.raises(bs.InvalidArgumentError, match=r"x\[\[0, 2\]\] is .*not a slice; write 0, 2 for x\[0, 2\]"):
            call(text)


def test_index_text_may_name_the_array():
    assert bs.slice(X, "x[1:3]").tolist() == bs.slice(X, "np.s_[1:3]").tolist() == [1, 2]


def test_text_must_be_str():
    with pytest.raises(bs.DTypeError, match="text is 3, expected a str"):
        _core.parse_index(3)


def test_names_of_fields_may_be_anything():
    for name in (SURROGATE, "qint8" + SURROGATE, "qint\0"):
        with pytest.raises(bs.DTypeError, match="x has dtype"):
            bs.slice(np.zeros(2, [(name, "i1")]), ":")


class Unprintable:
    def __repr__(self):
        raise RuntimeError("no repr")

    __str__ = __repr__


class Surrogates:
    def __repr__(self):
        return SURROGATE


class Endless:
    def __repr__(self):
        return "x" * 10**6


@pytest.mark.parametrize(
    ("item", "shown"),
    [(Unprintable(), "<Unprintable that cannot be shown>"), (Surrogates(), r"\\ud800"), (Endless(), r"x{500} \.\.\.")],
)
def test_messages_show_any_object(item, shown):
    for call in (
        lambda: bs.slice(X, item),
        lambda: bs.slice(X, slice(item)),
        lambda: bs.slice_grad(X, [item], ":"),
        lambda: bs.slice_grad(X, (5,), ":", accumulate=item),
        lambda: bs.strided_slice(X, [0], [1], [1], begin_mask=item),
        lambda: bs.set_num_threads(item),
    ):
        with pytest.raises(bs.DTypeError, match=shown) as raised:
            call()
        assert len(str(raised.value)) < 700


def test_what_an_exporter_says_may_be_anything():
    class Raising:
        def __init__(self, error):
            self.error = error

        def __dlpack_device__(self):
            raise self.error

        def __dlpack__(self):
            pass

    class SilentError(ValueError):
        __str__ = Unprintable.__repr__

    shown = {ValueError(SURROGATE): r"failed: \\ud800", SilentError(): "SilentError that cannot be shown"}
    for error, message in shown.items():
        with pytest.raises(bs.InvalidArgumentError, match=message):
            bs.slice(Raising(error), ":")


def test_index_text_on_the_command_line_need_not_be_utf8():
    command = [sys.executable, "-m", "backslice", "explain", "4,6", b"\xff"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and r"the slice is '\udcff'" in done.stderr and done.stderr.count("\n") == 1


class OneString:
    """A tensor of another library that contains one string, like TensorFlow's."""

    def __array__(self, dtype=None, copy=None):
        return np.array(b"a", object)


def test_one_string_of_another_library_is_an_element():
    array = bs.TensorArray(1, object)
    array.write(0, OneString())
    assert array.read(0) == b"a"
    assert bs.slice_grad(OneString(), (2,), 1).tolist() == [b"", b"a"]
