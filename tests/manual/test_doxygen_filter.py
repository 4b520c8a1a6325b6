"""What Doxygen is told of a header's comments."""

import sys

from site_pages import ROOT

sys.path.insert(0, str(ROOT / "tools"))
from doxygen_filter import declarations, documentation, marked  # noqa: E402


def test_the_opening_comment_describes_the_header():
    for comment, command in (("//", []), ("///", ["/// @file"])):
        lines = marked([*command, f"{comment} Slices.", f"{comment}", f"{comment}     slice(s, x);", "#pragma once"], "slice.h")
        assert lines == ["/// @file slice.h", "/// Slices.", "///", "/// @code{.cpp}", "/// slice(s, x);", "/// @endcode",
                         "#pragma once"]  # fmt: skip


def test_a_comment_describes_the_functions_up_to_an_empty_line():
    lines = ["// Reads.", "Tensor read(int i,", "            int j);", "Shape read_shape(int i);", "", "void close();"]
    assert declarations(lines) == ["/// Reads.", "Tensor read(int i,", "            int j);",
                                   "/// Reads.", "Shape read_shape(int i);", "", "void close();"]  # fmt: skip


def test_a_comment_describes_one_member_alone():
    lines = ["  // The first.", "  int a = 0;", "  int b = 0;  // the second", "  int c = 0;  ///< The third."]
    assert declarations(lines) == ["  /// The first.", "  int a = 0;", "  int b = 0;  ///< the second",
                                   "  int c = 0;  ///< The third."]  # fmt: skip


def test_bodies_of_functions_are_not_described():
    lines = ["  // The value.", "  T value() {", "    if (!ok()) throw 1;", "    return get();", "  }", "  T other() {}"]
    assert declarations(lines).count("  /// The value.") == 2


def test_code_goes_on_across_an_empty_line():
    text = ["A:", "    one();", "", "    two();", "", "B"]
    assert documentation(text, "") == ["/// A:", "/// @code{.cpp}", "/// one();", "///", "/// two();", "/// @endcode", "///",
                                       "/// B"]  # fmt: skip


def test_nothing_in_a_sentence_is_a_command_or_a_tag():
    assert documentation(["Result<T> of name@source, `piece_<i>`"], "") == [
        "/// Result\\<T\\> of name\\@source, `piece_<i>`"
    ]
