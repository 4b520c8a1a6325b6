// Reads one integer from text.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "backslice/result.h"

namespace backslice {

inline bool is_blank(char c) { return std::string_view(" \t\r\n\f\v").find(c) != std::string_view::npos; }

enum class Read { Nothing, TooLarge, Whole };

struct ReadInteger {
  std::int64_t value = 0;
  Read outcome = Read::Nothing;
};

// Reads an integer in Python's notation, or a name such as INT_MAX.
ReadInteger read_integer(std::string_view text);

// Returns the error for text that is not an integer.
Status not_an_integer(const ReadInteger& read, std::string_view text, std::string_view argument,
                      std::optional<std::int64_t> position, TextSpan span);

// Reads a mask of TensorFlow: one integer of 32 bits. `span` is the span of the text, for the error.
Result<std::int32_t> read_mask(std::string_view text, std::string_view argument, TextSpan span);

}  // namespace backslice
