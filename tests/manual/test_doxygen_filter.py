"""The filter that prepares a header's comments for Doxygen."""

import sys

import pytest
from site_pages import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from doxygen_filter import declarations, documentation, marked

OPENING = """\
// Slices.
//
//     slice(s, x);
#pragma once"""

MARKED_OPENING = """\
/// @file slice.h
/// Slices.
///
/// @code{.cpp}
/// slice(s, x);
/// @endcode
#pragma once"""


@pytest.mark.parametrize("opening", [OPENING, "/// @file\n" + OPENING.replace("//", "///")])
def test_the_opening_comment_describes_the_header(opening):
    assert marked(opening.splitlines(), "slice.h") == MARKED_OPENING.splitlines()


FUNCTIONS = """\
// Reads.
Tensor read(int i,
            int j);
Shape read_shape(int i);

void close();"""

DESCRIBED_FUNCTIONS = """\
/// Reads.
Tensor read(int i,
            int j);
/// Reads.
Shape read_shape(int i);

void close();"""


def test_a_comment_describes_the_functions_up_to_an_empty_line():
    assert declarations(FUNCTIONS.splitlines()) == DESCRIBED_FUNCTIONS.splitlines()


MEMBERS = """\
  // The first.
  int a = 0;
  int b = 0;  // the second
  int c = 0;  ///< The third."""

DESCRIBED_MEMBERS = """\
  /// The first.
  int a = 0;
  int b = 0;  ///< the second
  int c = 0;  ///< The third."""


def test_a_comment_describes_one_member_alone():
    assert declarations(MEMBERS.splitlines()) == DESCRIBED_MEMBERS.splitlines()


def test_bodies_of_functions_are_not_described():
    lines = [
        "  // The value.",
        "  T value() {",
        "    if (!ok()) throw 1;",
        "    return get();",
        "  }",
        "  T other() {}",
    ]
    assert declarations(lines).count("  /// The value.") == 2


CODE = """\
/// A:
/// @code{.cpp}
/// one();
///
/// two();
/// @endcode
///
/// B"""


def test_code_goes_on_across_an_empty_line():
    text = ["A:", "    one();", "", "    two();", "", "B"]
    assert documentation(text, "") == CODE.splitlines()


def test_nothing_in_a_sentence_is_a_command_or_a_tag():
    marked_line = "/// Result\\<T\\> of name\\@source, `piece_<i>`"
    assert documentation(["Result<T> of name@source, `piece_<i>`"], "") == [marked_line]
