#include "request.h"

#include <algorithm>

#include "core/errors.h"
#include "notation/integers.h"

namespace explorer {

using namespace backslice;

namespace {

constexpr std::size_t kLongest = 20000;  // most characters read from a field

std::string_view take(std::string_view& rest, char separator) {
  const std::size_t end = rest.find(separator);
  const std::string_view part = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return part;
}

Status check_length(std::string_view text, std::string_view field) {
  if (text.size() <= kLongest) return Status();
  return Status(StatusCode::ResourceExhausted,
                join(field, " has ", text.size(), " characters; the explorer reads ", kLongest))
      .at(field);
}

}  // namespace

Request::Request(std::string_view text) {
  while (!text.empty()) {
    std::string_view field = take(text, '\x1e');
    const std::string_view name = take(field, '\x1f');
    fields_.emplace_back(name, field);
  }
}

std::string_view Request::text(std::string_view field) const {
  for (const auto& [name, text] : fields_) {
    if (name == field) return text;
  }
  return {};
}

bool Request::is_blank(std::string_view field) const {
  return text(field).find_first_not_of(" \t\r\n") == std::string_view::npos;
}

int Request::number(std::string_view field, int otherwise) const {
  const auto read = parse_integers(text(field), field);
  if (!read.ok() || read->values.size() != 1) return otherwise;
  return static_cast<int>(std::clamp<std::int64_t>(read->values[0], 0, 1000));
}

std::size_t Request::entries(std::string_view field) const {
  const auto read = integers(field);
  return read.ok() ? read->values.size() : 0;
}

Result<IntegerList> Request::integers(std::string_view field) const {
  BACKSLICE_RETURN_IF_ERROR(check_length(text(field), field));
  return parse_integers(text(field), field);
}

Result<std::int32_t> Request::mask(std::string_view field) const {
  if (is_blank(field)) return 0;
  BACKSLICE_RETURN_IF_ERROR(check_length(text(field), field));
  return read_mask(text(field), field, {0, text(field).size()});
}

Result<IndexText> Request::index() const {
  BACKSLICE_RETURN_IF_ERROR(check_length(text("index"), "index"));
  return parse_index_text(text("index"));
}

Result<IntegerList> Request::shape() const {
  auto read = integers("shape");
  if (!read.ok()) return read;
  if (const auto checked = Shape::make(read->values); !checked.ok()) {
    return located(checked.status(), "shape", read->spans);
  }
  return read;
}

PictureLimits Request::limits() const {
  const auto within = [&](std::string_view field, int otherwise, int most) {
    return std::clamp(number(field, otherwise), 1, most);
  };
  return {within("rows", 16, 32), within("columns", 24, 32), within("panels", 6, 12), false};
}

Status located(Status error, std::string_view field, const std::vector<TextSpan>& spans) {
  if (error.argument() != field || error.span()) return error;
  const auto position = error.position();
  if (!position || *position < 0 || static_cast<std::size_t>(*position) >= spans.size()) return error;
  return std::move(error).at(field, position, spans[static_cast<std::size_t>(*position)]);
}

Result<std::vector<Line>> lines_of(std::string_view text, std::string_view field, std::size_t most, bool keep_empty) {
  BACKSLICE_RETURN_IF_ERROR(check_length(text, field));
  std::vector<Line> lines;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto begin = static_cast<std::size_t>(rest.data() - text.data());
    const std::string_view line = take(rest, '\n');
    const bool is_empty = line.find_first_not_of(" \t\r") == std::string_view::npos;
    if (is_empty && !keep_empty) continue;
    if (lines.size() == most) {
      return Status(StatusCode::ResourceExhausted, join(field, " has more than ", most, " lines"))
          .at(field, static_cast<std::int64_t>(most), TextSpan{begin, begin + line.size()});
    }
    lines.push_back({line, begin});
  }
  return lines;
}

Status in_line(Status error, const Line& line, std::string_view field) {
  const TextSpan span = error.span().value_or(TextSpan{0, line.text.size()});
  const auto position = error.position();
  return std::move(error).at(field, position, TextSpan{line.begin + span.begin, line.begin + span.end});
}

}  // namespace explorer
