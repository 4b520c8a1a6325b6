// A request of the page: the text of its fields by name.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backslice/notation.h"
#include "backslice/picture.h"

namespace explorer {

using backslice::Result;
using backslice::Status;

class Request {
 public:
  // Fields are separated by U+001E, names from texts by U+001F. The page removes both from typed text.
  explicit Request(std::string_view text);

  std::string_view text(std::string_view field) const;  // empty if the page sent none
  bool is_blank(std::string_view field) const;
  int number(std::string_view field, int otherwise) const;  // a small number, set by the page itself
  std::size_t entries(std::string_view field) const;  // the number of listed integers; 0 if it is not a list of them

  // Read fields as values. Errors have the name of the field as their argument, and a span in its text.
  Result<backslice::IntegerList> integers(std::string_view field) const;
  Result<std::int32_t> mask(std::string_view field) const;  // 0 for a blank field
  Result<backslice::IndexText> index() const;
  Result<backslice::IntegerList> shape() const;

  backslice::PictureLimits limits() const;

 private:
  std::vector<std::pair<std::string_view, std::string_view>> fields_;
};

// Gives an error about entry i of a field the entry's span in the field's text. Other errors are unchanged.
Status located(Status error, std::string_view field, const std::vector<backslice::TextSpan>& spans);

// One line of a text field, and its position.
struct Line {
  std::string_view text;
  std::size_t begin;
};
// Returns the non-empty lines. ResourceExhausted if there are more than `most`.
Result<std::vector<Line>> lines_of(std::string_view text, std::string_view field, std::size_t most, bool keep_empty);

// Turns an error about a line into one about the field.
Status in_line(Status error, const Line& line, std::string_view field);

}  // namespace explorer
