// Index <-> Python's notation.
#include <algorithm>
#include <charconv>
#include <limits>

#include "backslice/index.h"
#include "core/errors.h"

namespace backslice {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

// Returns the text up to the next `separator`, and removes both from `rest`. Without a separator it is all of the rest.
std::string_view take_until(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return trim(part);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text.starts_with("+-")) return std::nullopt;
  if (text.starts_with('+')) text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) {
    return text.starts_with('-') ? std::numeric_limits<std::int64_t>::min() : std::numeric_limits<std::int64_t>::max();
  }
  return value;
}

std::optional<IndexItem> parse_range(std::string_view text) {
  SliceRange range;
  std::string_view rest = text;
  for (auto* bound : {&range.start, &range.stop, &range.step}) {
    const bool is_last = rest.find(':') == std::string_view::npos;
    const std::string_view part = take_until(rest, ':');
    if (!part.empty() && part != "None") {
      const auto integer = parse_integer(part);
      if (!integer) return std::nullopt;
      *bound = *integer;
    }
    if (is_last) return range;
  }
  return std::nullopt;  // a third colon
}

std::optional<IndexItem> parse_item(std::string_view text) {
  if (text == "..." || text == "Ellipsis") return EllipsisItem{};
  if (text == "None" || text == "newaxis" || text == "np.newaxis") return NewAxis{};
  if (text.find(':') != std::string_view::npos) return parse_range(text);
  if (const auto integer = parse_integer(text)) return *integer;
  return std::nullopt;
}

bool is_name(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789", kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
  return !text.empty() && kLetters.find(text.front()) != std::string_view::npos &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return c == '.' || kLetters.find(c) != std::string_view::npos || kDigits.find(c) != std::string_view::npos;
         });
}

// Returns the text in the brackets of x[1:3] or np.s_[1:3]; any other text unchanged.
std::string_view without_name(std::string_view text) {
  const std::size_t open = text.find('[');
  if (open == std::string_view::npos || !text.ends_with(']') || !is_name(trim(text.substr(0, open)))) return text;
  return trim(text.substr(open + 1, text.size() - open - 2));
}

// Removes brackets and blanks, for an index that somebody put into a list.
std::string without_brackets(std::string_view text) {
  std::string flat(text);
  std::erase_if(flat, [](char c) { return c == '[' || c == ']'; });
  const std::string_view trimmed = trim(flat);
  return trimmed.empty() ? "..." : std::string(trimmed);
}

// Returns the span of a part of a text.
TextSpan span_of(std::string_view part, std::string_view text) {
  const auto begin = static_cast<std::size_t>(part.data() - text.data());
  return {begin, begin + part.size()};
}

// Reads the list at the beginning of `rest`.
std::string_view list_at(std::string_view rest) {
  const std::size_t close = rest.find(']');
  return rest.substr(0, close == std::string_view::npos ? close : close + 1);
}

Status list_refused(std::size_t item, std::string_view list, std::string_view index) {
  const std::string instead = without_brackets(index);
  return invalid_argument("index item ", item, ", \"", list, "\", is a list: x[", index,
                          "] is NumPy's integer-array indexing, which is not a slice; write ", instead, " for x[",
                          instead, "]");
}

std::string to_string(const SliceRange& range) {
  const auto bound = [](const std::optional<std::int64_t>& v) { return v ? std::to_string(*v) : std::string(); };
  std::string text = bound(range.start) + ":" + bound(range.stop);
  if (range.step) text += ":" + bound(range.step);
  return text;
}

}  // namespace

Result<IndexText> parse_index_text(std::string_view text) {
  return without_throwing([&]() -> Result<IndexText> {
    IndexText index;
    const std::string_view whole = without_name(trim(text));
    std::string_view rest = whole;
    while (!rest.empty()) {
      const std::size_t number = index.items.size();
      const auto refused = [&](Status error, std::string_view part) {
        return std::move(error).at("index", static_cast<std::int64_t>(number), span_of(part, text));
      };
      if (rest.starts_with('[')) return refused(list_refused(number, list_at(rest), whole), list_at(rest));
      const std::string_view before = rest, part = take_until(rest, ',');
      // an empty item is blamed on its comma
      const std::string_view blamed = part.empty() ? before.substr(0, 1) : part;
      const auto item = parse_item(part);
      if (!item) {
        return refused(invalid_argument("index item ", number, ", \"", part, "\", of \"", text,
                                        "\" is not an integer, a slice such as 1:3 or ::2, None or ..."),
                       blamed);
      }
      index.items.push_back(*item);
      index.spans.push_back(span_of(part, text));
      rest = trim(rest);
    }
    return index;
  });
}

Result<Index> parse_index(std::string_view text) {
  return parse_index_text(text).transform([](IndexText&& index) { return std::move(index.items); });
}

Status IndexText::located(Status error) const {
  return without_throwing([&] {
    if (error.argument() != "index" || !error.position() || error.span()) return std::move(error);
    const auto item = static_cast<std::size_t>(*error.position());
    if (item >= spans.size()) return std::move(error);
    return std::move(error).at("index", error.position(), spans[item]);
  });
}

std::string to_string(const Index& index) {
  struct Writer {
    std::string operator()(std::int64_t i) const { return std::to_string(i); }
    std::string operator()(const SliceRange& range) const { return to_string(range); }
    std::string operator()(NewAxis) const { return "None"; }
    std::string operator()(EllipsisItem) const { return "..."; }
  };
  std::string text;
  for (const IndexItem& item : index) {
    if (!text.empty()) text += ", ";
    text += std::visit(Writer{}, static_cast<const IndexItem::variant&>(item));
  }
  return text;
}

}  // namespace backslice
