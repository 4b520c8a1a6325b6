// Marks a part of a text, for errors.
#include <algorithm>
#include <vector>

#include "backslice/status.h"

namespace backslice {
namespace {

constexpr std::size_t kWidest = 72;  // number of characters that are shown
constexpr std::size_t kBefore = 24;  // those before the part, if not all fit

bool is_inside_character(char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; }
bool is_printed(char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; }

// The positions at which UTF-8 characters begin, and the end of the text.
std::vector<std::size_t> character_starts(std::string_view text) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (i == 0 || !is_inside_character(text[i])) starts.push_back(i);
  }
  starts.push_back(text.size());
  return starts;
}

}  // namespace

std::string marked(std::string_view text, TextSpan part) {
  const std::vector<std::size_t> starts = character_starts(text);
  const std::size_t characters = starts.size() - 1;
  const auto character_at = [&](std::size_t byte) {
    return static_cast<std::size_t>(std::lower_bound(starts.begin(), starts.end() - 1, byte) - starts.begin());
  };
  const std::size_t begin = character_at(part.begin), end = std::max(character_at(part.end), begin + 1);
  const bool fits = characters <= kWidest;
  const std::size_t first = fits || begin < kBefore ? 0 : begin - kBefore;
  const std::size_t last = fits ? characters : std::min(characters, first + kWidest);

  std::string line = first > 0 ? "..." : "", carets(line.size() + begin - first, ' ');
  line += text.substr(starts[first], starts[last] - starts[first]);
  if (last < characters) line += "...";
  std::replace_if(
      line.begin(), line.end(), [](char c) { return !is_printed(c); }, ' ');
  carets.append(std::min(end, std::max(last, begin + 1)) - begin, '^');
  return line + "\n" + carets;
}

}  // namespace backslice
