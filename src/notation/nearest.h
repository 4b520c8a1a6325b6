// The nearest right name, for errors about a wrong one.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace backslice {

// How many letters must be added, removed or replaced to make one name of the other.
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

// "; did you mean 'begin'?", or nothing where no name is near.
inline std::string did_you_mean(std::string_view name, std::span<const std::string_view> known) {
  constexpr std::size_t kLongest = 40;  // no name is: what is longer is no slip of the pen
  if (name.empty() || name.size() > kLongest) return "";
  const auto nearest = std::min_element(known.begin(), known.end(), [&](std::string_view a, std::string_view b) {
    return edit_distance(name, a) < edit_distance(name, b);
  });
  if (nearest == known.end() || 3 * edit_distance(name, *nearest) > std::max(name.size(), nearest->size())) return "";
  return "; did you mean '" + std::string(*nearest) + "'?";
}

}  // namespace backslice
