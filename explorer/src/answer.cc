#include "answer.h"

#include <algorithm>

#include "core/errors.h"

namespace explorer {

using namespace backslice;

namespace {

// Counts in JavaScript's UTF-16 units: one per character, two for characters of four bytes.
std::int64_t utf16_units(std::string_view text) {
  std::int64_t units = 0;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    units += (byte & 0xc0) != 0x80;
    units += byte >= 0xf0;
  }
  return units;
}

}  // namespace

void begin_answer(Json& json) { json.begin_object(); }

std::string end_answer(Json& json) {
  json.end_object();
  return json.take();
}

std::string error_answer(const Status& error, const Request& request) {
  Json json;
  json.begin_object().key("error").begin_object();
  json.member("message", error.message()).member("field", error.argument()).key("span");
  const std::string_view text = request.text(error.argument());
  if (const auto span = error.span(); span && span->end <= text.size() && span->begin <= span->end) {
    json.begin_list().value(utf16_units(text.substr(0, span->begin))).value(utf16_units(text.substr(0, span->end)));
    json.end_list();
  } else {
    json.null();
  }
  json.end_object().member("entries", request.entries("begin"));
  return end_answer(json);
}

void add_pictures(Json& json, const std::vector<NotedPicture>& pictures, const Request& request) {
  const int across = std::clamp(request.number("across", 3), 1, 6);
  json.key("pictures").begin_list();
  for (const NotedPicture& noted : pictures) {
    Picture without_notes = noted.picture;  // the page writes the notes below it
    without_notes.notes.clear();
    json.begin_object()
        .member("name", noted.name)
        .member("heading", noted.heading)
        .member("begins_row", noted.begins_row);
    json.member("svg", svg(without_notes, across)).key("notes").strings(noted.picture.notes);
    if (request.text("file") == noted.name) json.member("file", svg(noted.picture, across));
    json.key("cells").begin_list();
    for (const CellNote& cell : noted.cells) json.begin_list().value(cell.text).value(cell.key).end_list();
    json.end_list().end_object();
  }
  json.end_list();
}

void add_code(Json& json, const std::vector<Code>& code) {
  json.key("code").begin_list();
  for (const Code& one : code) {
    json.begin_object().member("name", one.name).member("forward", one.forward).member("gradient", one.gradient);
    json.end_object();
  }
  json.end_list();
}

std::string listed(Ints values) {
  std::string text;
  for (std::int64_t value : values) text += join(text.empty() ? "" : ", ", value);
  return text;
}

std::string counted(std::size_t count, std::string_view one, std::string_view many) {
  if (count == 1) return join("1 ", one);
  return many.empty() ? join(count, " ", one, "s") : join(count, " ", many);
}

std::string element(std::string_view array, Ints index) {
  return index.empty() ? std::string(array) : join(array, "[", listed(index), "]");
}

}  // namespace explorer
