// Finds the name nearest to a wrong one, for error messages.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace backslice {

// Returns the edit distance: how many letters must be added, removed or replaced.
inline std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] != b[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

// Returns "; did you mean 'begin'?", or nothing if no name is near.
inline std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  constexpr std::size_t kLongest = 40;  // longer text is not a misspelt name
  if (name.empty() || name.size() > kLongest) return "";
  const auto nearest = std::min_element(known.begin(), known.end(), [&](std::string_view a, std::string_view b) {
    return edit_distance(name, a) < edit_distance(name, b);
  });
  if (nearest == known.end() || 3 * edit_distance(name, *nearest) > std::max(name.size(), nearest->size())) return "";
  return "; did you mean '" + std::string(*nearest) + "'?";
}

}  // namespace backslice
