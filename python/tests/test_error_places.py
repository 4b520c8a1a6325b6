"""Errors name the wrong argument, and the position in a text: as attributes, in the message, on the command line."""

import pickle

import backslice as bs
import pytest
from backslice import dialects
from command_line import backslice

CASES = [
    (lambda: bs.Selection.from_index((4, 6), "1:3, 9"), "index", 1, "9"),
    (lambda: bs.Selection.from_index((4, 6), "x[::0, 1]"), "index", 0, "::0"),
    (lambda: bs.slice_grad([1.0], (4, 6), "1, one"), "index", 1, "one"),
    (lambda: bs.slice([[1, 2]], "..., ..."), "index", 1, "..."),
    (lambda: bs.Selection.from_index((4,), "é, ü"), "index", 0, "é"),
    (lambda: dialects.parse("tf", "begin=1,0 end=3,6 strides=1,0").selection((4, 6)), "strides", 1, "0"),
    (lambda: dialects.parse("tf", "begin=[1, one] end=3,6"), "begin", 1, "one"),
    (lambda: dialects.parse("tf", "begn=1 end=3"), None, None, "begn=1"),
    (lambda: dialects.parse("onnx", "starts=1 ends=3 axes=5").selection((4, 6)), "axes", 0, "5"),
    (lambda: dialects.integers("4, x", "shape"), "shape", 1, "x"),
]


@pytest.mark.parametrize("call, argument, position, part", CASES, ids=[case[3] for case in CASES])
def test_text_is_shown_with_carets_under_the_part(call, argument, position, part):
    with pytest.raises(bs.Error) as raised:
        call()
    error = raised.value
    assert (error.argument, error.position) == (argument, position)
    message, text, carets = str(error).split("\n")
    begin, end = error.span
    assert text[2:][begin:end] == part
    assert carets == "  " + " " * begin + "^" * (end - begin)
    assert message and "^" not in message
    again = pickle.loads(pickle.dumps(error))
    assert (again.argument, again.position, again.span, str(again)) == (argument, position, error.span, str(error))


def test_arguments_that_are_no_text_have_a_place_too():
    with pytest.raises(bs.InvalidArgumentError) as raised:
        bs.Selection.from_tf((4, 6), [0, 1], [2, 3], [1, 0])
    assert (raised.value.argument, raised.value.position, raised.value.span) == ("strides", 1, None)
    assert "\n" not in str(raised.value)
    with pytest.raises(bs.InvalidArgumentError) as raised:
        bs.Selection.from_index((4, -6), (0,))
    assert (raised.value.argument, raised.value.position) == ("shape", 1)
    with pytest.raises(bs.InvalidArgumentError) as raised:
        bs.slice_grad([1.0, 2.0], (4,), ":")
    assert (raised.value.argument, raised.value.position, raised.value.span) == ("dy", 0, None)


def test_long_texts_are_cut_and_stay_on_one_line():
    with pytest.raises(bs.Error) as raised:
        bs.Selection.from_index((4,), "1:2,\n" * 400 + "wrong")
    _, text, carets = str(raised.value).rsplit("\n", 2)
    assert len(text) < 90 and carets.strip() == "^" * 5
    assert text[carets.index("^") :].startswith("wrong")


@pytest.mark.parametrize(
    "arguments, text, carets",
    [
        (("explain", "4,6", "1:3, 9"), "1:3, 9", "     ^"),
        (("explain", "4,6", "--tf", "begin=1", "end=one"), "begin=1 end=one", "            ^^^"),
        (("convert", "4,x", "1"), "4,x", "  ^"),
        (("explain", "4", "\x1b[31m, 1"), None, None),
    ],
)
def test_the_command_line_shows_it(arguments, text, carets):
    run = backslice(*arguments)
    assert run.returncode == 2 and not run.stdout
    assert "\x1b" not in run.stderr
    if text:
        assert run.stderr.splitlines()[1:] == [f"  {text}", f"  {carets}"]
