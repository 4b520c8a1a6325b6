// Reads slices in the notations of TensorFlow and ONNX, as people write them: begin=1,0 end=3,5 begin_mask=1.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "backslice/notation.h"
#include "core/errors.h"
#include "notation/integers.h"
#include "notation/nearest.h"

namespace backslice {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::string_view kTfNames[] = {"begin",    "end",           "strides",       "begin_mask",
                                         "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"};
constexpr std::string_view kOnnxNames[] = {"starts", "ends", "axes", "steps"};

Names names_of(Dialect dialect) { return dialect == Dialect::Tf ? Names(kTfNames) : Names(kOnnxNames); }
bool is_mask(std::string_view name) { return name.ends_with("_mask"); }
bool is_name_letter(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

// A text without brackets and meaningless blanks, which knows the original position of each letter.
class PlainText {
 public:
  explicit PlainText(std::string_view text) : text_(text) {
    for (std::size_t i = 0; i < text.size(); ++i) from_.push_back(i);
    drop_brackets();
    drop_blanks_around_commas();
    drop_blanks_around_equals();
  }

  // Returns the next word as a range of letters, or nullopt at the end.
  std::optional<TextSpan> next_word(std::size_t from) const {
    while (from < text_.size() && is_blank(text_[from])) ++from;
    std::size_t end = from;
    while (end < text_.size() && !is_blank(text_[end])) ++end;
    if (from == end) return std::nullopt;
    return TextSpan{from, end};
  }
  std::string_view letters(TextSpan word) const {
    return std::string_view(text_).substr(word.begin, word.end - word.begin);
  }
  // Returns the span of the letters in the original text.
  TextSpan original(TextSpan word) const {
    if (word.begin < word.end) return {from_[word.begin], from_[word.end - 1] + 1};
    const std::size_t at = word.begin < from_.size() ? from_[word.begin] : from_.empty() ? 0 : from_.back();
    return {at, at + 1};
  }

 private:
  // Removes the letters for which is_dropped(i) holds.
  template <class IsDropped>
  void drop(const IsDropped& is_dropped) {
    find_letters();
    std::string kept;
    std::vector<std::size_t> kept_from;
    for (std::size_t i = 0; i < text_.size(); ++i) {
      if (is_dropped(i)) continue;
      kept += text_[i];
      kept_from.push_back(from_[i]);
    }
    text_ = std::move(kept);
    from_ = std::move(kept_from);
  }
  // Finds, for each position, the first letter from there on that is not blank, and the last one before it. There may
  // be millions of blanks, so both are found in one pass.
  void find_letters() {
    first_from_.assign(text_.size() + 1, text_.size());
    for (std::size_t i = text_.size(); i > 0; --i) first_from_[i - 1] = is_blank(text_[i - 1]) ? first_from_[i] : i - 1;
    last_before_.assign(text_.size() + 1, '\0');
    for (std::size_t i = 0; i < text_.size(); ++i) {
      last_before_[i + 1] = is_blank(text_[i]) ? last_before_[i] : text_[i];
    }
  }
  std::size_t first_letter_from(std::size_t i) const { return first_from_[i]; }
  char letter_after(std::size_t i) const {
    const std::size_t at = first_letter_from(i + 1);
    return at < text_.size() ? text_[at] : '\0';
  }
  char letter_before(std::size_t i) const { return last_before_[i]; }
  // Returns whether an argument (name=) begins at this position.
  bool begins_argument(std::size_t i) const {
    std::size_t end = i;
    while (end < text_.size() && is_name_letter(text_[end])) ++end;
    return end > i && end < text_.size() && text_[end] == '=';
  }

  void drop_brackets() {
    const auto opens = [](char c) { return c == '[' || c == '('; };
    const auto closes = [](char c) { return c == ']' || c == ')'; };
    drop([&](std::size_t i) {
      if (is_blank(text_[i])) return opens(letter_before(i)) || closes(letter_after(i));
      return opens(text_[i]) || closes(text_[i]);
    });
  }
  void drop_blanks_around_commas() {
    drop([&](std::size_t i) { return is_blank(text_[i]) && (letter_before(i) == ',' || letter_after(i) == ','); });
  }
  void drop_blanks_around_equals() {
    drop([&](std::size_t i) { return is_blank(text_[i]) && letter_after(i) == '='; });
    drop([&](std::size_t i) {
      return is_blank(text_[i]) && letter_before(i) == '=' && !begins_argument(first_letter_from(i));
    });
  }

  std::string text_;
  std::vector<std::size_t> from_;
  std::vector<std::size_t> first_from_;
  std::string last_before_;
};

// The arguments read so far, by name.
struct Arguments {
  std::vector<std::pair<std::string_view, std::vector<std::int64_t>>> lists;
  std::vector<ArgumentText> places;

  const std::vector<std::int64_t>* find(std::string_view name) const {
    const auto found = std::find_if(lists.begin(), lists.end(), [&](const auto& list) { return list.first == name; });
    return found == lists.end() ? nullptr : &found->second;
  }
  std::vector<std::int64_t> list(std::string_view name) const {
    return find(name) ? *find(name) : std::vector<std::int64_t>();
  }
  std::int32_t mask(std::string_view name) const {
    return find(name) ? static_cast<std::int32_t>(find(name)->front()) : 0;
  }
};

Status unknown_argument(std::string_view word, std::string_view name, Names known, TextSpan span) {
  std::string expected;
  for (std::string_view one : known) expected += join(expected.empty() ? "" : ", ", one, "=..");
  return invalid_argument("'", word, "' is not one of ", expected, did_you_mean(name, known)).at("", {}, span);
}

// Moves an error's span from the plain text, where the value begins at `first`, to the original text.
Status moved(Status error, const PlainText& text, std::size_t first) {
  const auto span = error.span();
  if (!span) return error;
  const TextSpan placed = text.original({span->begin + first, span->end + first});
  const std::string argument(error.argument());
  const auto position = error.position();
  return std::move(error).at(argument, position, placed);
}

Status read_value(const PlainText& text, TextSpan word, std::string_view name, Arguments& read) {
  const std::size_t first = word.begin + name.size() + 1;
  const std::string_view value = text.letters({first, word.end});
  ArgumentText place{std::string(name), text.original(word), {}};
  if (is_mask(name)) {
    const TextSpan span = text.original({first, word.end});
    const auto mask = read_mask(value, name, span);
    if (!mask.ok()) return mask.status();
    read.lists.emplace_back(name, std::vector<std::int64_t>{*mask});
    place.whole = span;
  } else {
    auto list = parse_integers(value, name);
    if (!list.ok()) return moved(list.status(), text, first);
    for (TextSpan span : list->spans) place.entries.push_back(text.original({span.begin + first, span.end + first}));
    read.lists.emplace_back(name, std::move(list->values));
  }
  read.places.push_back(std::move(place));
  return Status();
}

Status read_argument(const PlainText& text, TextSpan word, Names known, Arguments& read) {
  const std::string_view letters = text.letters(word);
  const std::size_t equals = letters.find('=');
  const std::string_view name = letters.substr(0, equals);
  const auto found = std::find(known.begin(), known.end(), name);
  if (equals == std::string_view::npos || found == known.end()) {
    return unknown_argument(letters, name, known, text.original(word));
  }
  if (read.find(name) != nullptr) return invalid_argument(name, " is given twice").at(name, {}, text.original(word));
  return read_value(text, word, *found, read);
}

Status check_needed(Dialect dialect, const Arguments& read) {
  for (std::string_view needed : names_of(dialect).first(2)) {
    if (read.find(needed) == nullptr) {
      return invalid_argument(needed, " is missing: ", name(dialect), "'s slice needs ", needed, "=..").at(needed);
    }
  }
  return Status();
}

TfSlice tf_slice(const Arguments& read) {
  TfSlice slice{.begin = read.list("begin"),
                .end = read.list("end"),
                .strides = read.list("strides"),
                .begin_mask = read.mask("begin_mask"),
                .end_mask = read.mask("end_mask"),
                .ellipsis_mask = read.mask("ellipsis_mask"),
                .new_axis_mask = read.mask("new_axis_mask"),
                .shrink_axis_mask = read.mask("shrink_axis_mask")};
  if (read.find("strides") == nullptr) slice.strides.assign(slice.begin.size(), 1);
  return slice;
}

OnnxSlice onnx_slice(const Arguments& read) {
  OnnxSlice slice{.starts = read.list("starts"), .ends = read.list("ends")};
  if (read.find("axes") != nullptr) slice.axes = read.list("axes");
  if (read.find("steps") != nullptr) slice.steps = read.list("steps");
  return slice;
}

Result<SliceText> parse_python(std::string_view text) {
  return parse_index_text(text).transform(
      [](IndexText&& index) { return SliceText{std::move(index.items), {{"index", {}, std::move(index.spans)}}}; });
}

}  // namespace

std::string_view name(Dialect dialect) {
  return dialect == Dialect::Python ? "NumPy" : dialect == Dialect::Tf ? "TensorFlow" : "ONNX";
}

Result<SliceText> parse_slice(Dialect dialect, std::string_view text) {
  if (dialect == Dialect::Python) return parse_python(text);
  return without_throwing([&]() -> Result<SliceText> {
    const PlainText plain(text);
    Arguments read;
    for (auto word = plain.next_word(0); word; word = plain.next_word(word->end)) {
      BACKSLICE_RETURN_IF_ERROR(read_argument(plain, *word, names_of(dialect), read));
    }
    BACKSLICE_RETURN_IF_ERROR(check_needed(dialect, read));
    if (dialect == Dialect::Tf) return SliceText{tf_slice(read), std::move(read.places)};
    return SliceText{onnx_slice(read), std::move(read.places)};
  });
}

Status SliceText::located(Status error) const {
  return without_throwing([&] {
    if (error.span()) return std::move(error);
    const auto place =
        std::find_if(places.begin(), places.end(), [&](const auto& p) { return p.name == error.argument(); });
    if (place == places.end()) return std::move(error);
    const auto position = error.position();
    const bool is_entry = position && static_cast<std::size_t>(*position) < place->entries.size();
    const TextSpan span = is_entry ? place->entries[static_cast<std::size_t>(*position)] : place->whole;
    return std::move(error).at(place->name, position, span);
  });
}

Result<Selection> SliceText::to_selection(Ints shape) const {
  return backslice::to_selection(shape, arguments).or_else([&](Status error) -> Result<Selection> {
    return located(std::move(error));
  });
}

Result<Selection> to_selection(Ints shape, const SliceArguments& arguments) {
  if (const auto* tf = std::get_if<TfSlice>(&arguments)) return Selection::from_tf(shape, *tf);
  if (const auto* onnx = std::get_if<OnnxSlice>(&arguments)) return Selection::from_onnx(shape, *onnx);
  return Selection::from_index(shape, std::get<Index>(arguments));
}

}  // namespace backslice
