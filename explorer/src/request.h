// What the page asks: the text of its fields by name.
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
  // Fields are separated by U+001E, names from texts by U+001F, which the page removes from what is typed.
  explicit Request(std::string_view text);

  std::string_view text(std::string_view field) const;  // empty where the page sent none
  bool is_blank(std::string_view field) const;
  int number(std::string_view field, int otherwise) const;  // of the page's own; small
  std::size_t entries(std::string_view field) const;  // how many integers it lists; 0 where it is not a list of them

  // What a field is read as. Errors have the name of the field as their argument, and the span in its text.
  Result<backslice::IntegerList> integers(std::string_view field) const;
  Result<std::int32_t> mask(std::string_view field) const;  // 0 where the field is blank
  Result<backslice::IndexText> index() const;
  Result<backslice::IntegerList> shape() const;

  backslice::PictureLimits limits() const;

 private:
  std::vector<std::pair<std::string_view, std::string_view>> fields_;
};

// An error about entry i of a field, with the span that the entry has in the field's text; others as they are.
Status located(Status error, std::string_view field, const std::vector<backslice::TextSpan>& spans);

// One line of a field of many, with where it begins.
struct Line {
  std::string_view text;
  std::size_t begin;
};
// The lines that hold something. ResourceExhausted where there are more than `most`.
Result<std::vector<Line>> lines_of(std::string_view text, std::string_view field, std::size_t most, bool keep_empty);

// An error about a line's text as one about the field.
Status in_line(Status error, const Line& line, std::string_view field);

}  // namespace explorer
