// Reads lists of integers as people write them.
#include "notation/integers.h"

#include <charconv>
#include <limits>
#include <optional>

#include "backslice/notation.h"
#include "core/errors.h"

namespace backslice {
namespace {

struct NamedInteger {
  std::string_view name;
  std::int64_t value;
};
constexpr NamedInteger kNamed[] = {
    {"INT_MAX", std::numeric_limits<std::int64_t>::max()},   {"INT64_MAX", std::numeric_limits<std::int64_t>::max()},
    {"INT32_MAX", std::numeric_limits<std::int32_t>::max()}, {"INT_MIN", std::numeric_limits<std::int64_t>::min()},
    {"INT64_MIN", std::numeric_limits<std::int64_t>::min()},
};

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

std::optional<std::int64_t> named_integer(std::string_view text) {
  std::string name(text);
  for (char& c : name) c = upper(c);
  for (const NamedInteger& known : kNamed) {
    if (name == known.name) return known.value;
  }
  return std::nullopt;
}

// Returns the digits without the underscores that Python allows between them; empty if an underscore is elsewhere.
std::string without_underscores(std::string_view digits) {
  std::string plain;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const bool is_between = i > 0 && i + 1 < digits.size() && digits[i - 1] != '_';
    if (digits[i] == '_' && !is_between) return "";
    if (digits[i] != '_') plain += digits[i];
  }
  return plain;
}

int take_base(std::string_view& digits) {
  if (digits.size() < 2 || digits[0] != '0') return 10;
  const char letter = upper(digits[1]);
  const int base = letter == 'X' ? 16 : letter == 'O' ? 8 : letter == 'B' ? 2 : 10;
  if (base != 10) digits.remove_prefix(2);
  if (base != 10 && digits.starts_with('_')) digits.remove_prefix(1);
  return base;
}

// Reads an integer of 64 bits as Python's int(text, 0) does.
ReadInteger read_digits(std::string_view text) {
  const bool is_negative = text.starts_with('-');
  if (is_negative || text.starts_with('+')) text.remove_prefix(1);
  const int base = take_base(text);
  const std::string digits = without_underscores(text);
  const bool is_octal_of_c = base == 10 && digits.size() > 1 && digits[0] == '0' &&
                             digits.find_first_not_of('0') != std::string::npos;  // Python refuses 010
  std::uint64_t magnitude = 0;
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, magnitude, base);
  if (digits.empty() || is_octal_of_c || stopped != end || error == std::errc::invalid_argument) return {};
  const std::uint64_t most = std::uint64_t{1} << 63;
  if (error == std::errc::result_out_of_range || magnitude > most - !is_negative) return {0, Read::TooLarge};
  return {static_cast<std::int64_t>(is_negative ? ~magnitude + 1 : magnitude), Read::Whole};
}

TextSpan trimmed(std::string_view text, TextSpan span) {
  while (span.begin < span.end && is_blank(text[span.begin])) ++span.begin;
  while (span.end > span.begin && is_blank(text[span.end - 1])) --span.end;
  return span;
}

TextSpan without_brackets(std::string_view text, TextSpan span) {
  for (const auto& [open, close] : {std::pair('[', ']'), std::pair('(', ')')}) {
    if (span.begin < span.end && text[span.begin] == open) ++span.begin;
    if (span.begin < span.end && text[span.end - 1] == close) --span.end;
  }
  return trimmed(text, span);
}

// Entries end at a comma, with or without blanks around it, or at blanks.
std::size_t end_of_entry(std::string_view text, TextSpan rest) {
  std::size_t at = rest.begin;
  while (at < rest.end && text[at] != ',' && !is_blank(text[at])) ++at;
  return at;
}

}  // namespace

ReadInteger read_integer(std::string_view text) {
  if (const auto value = named_integer(text)) return {*value, Read::Whole};
  return read_digits(text);
}

Status not_an_integer(const ReadInteger& read, std::string_view text, std::string_view argument,
                      std::optional<std::int64_t> position, TextSpan span) {
  const std::string entry = position ? join("[", *position, "]") : "";
  Status error = read.outcome == Read::TooLarge
                     ? invalid_argument(argument, entry, " is ", text, ", which does not fit int64")
                     : invalid_argument(argument, ": '", text, "' is not an integer");
  return std::move(error).at(argument, position, span);
}

Result<std::int32_t> read_mask(std::string_view text, std::string_view argument, TextSpan span) {
  const ReadInteger read = read_integer(text);
  if (read.outcome == Read::Nothing) return not_an_integer(read, text, argument, {}, span);
  using Int32 = std::numeric_limits<std::int32_t>;
  if (read.outcome == Read::TooLarge || read.value < Int32::min() || read.value > Int32::max()) {
    return invalid_argument(argument, " is ", text, ", which does not fit int32").at(argument, {}, span);
  }
  return static_cast<std::int32_t>(read.value);
}

Result<IntegerList> parse_integers(std::string_view text, std::string_view argument) {
  return without_throwing([&]() -> Result<IntegerList> {
    TextSpan rest = without_brackets(text, trimmed(text, {0, text.size()}));
    IntegerList list;
    if (rest.begin == rest.end) return list;
    if (text[rest.end - 1] == ',') rest.end -= 1;
    while (true) {
      const TextSpan entry{rest.begin, end_of_entry(text, rest)};
      const std::string_view word = text.substr(entry.begin, entry.end - entry.begin);
      const ReadInteger read = read_integer(word);
      const auto position = static_cast<std::int64_t>(list.values.size());
      if (read.outcome != Read::Whole) {
        const TextSpan blamed{entry.begin, std::max(entry.end, std::min(entry.begin + 1, text.size()))};
        return not_an_integer(read, word, argument, position, blamed);
      }
      list.values.push_back(read.value);
      list.spans.push_back(entry);
      rest = trimmed(text, {entry.end, rest.end});
      const bool has_comma = rest.begin < rest.end && text[rest.begin] == ',';
      if (rest.begin == rest.end) return list;
      if (has_comma) {
        rest.begin += 1;
        while (rest.begin < rest.end && is_blank(text[rest.begin])) ++rest.begin;
      }
    }
  });
}

}  // namespace backslice
