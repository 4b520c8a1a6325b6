// The explorer's answers: valid JSON for any typed text, a note for every drawn cell, errors that mark part of the
// text, and never more of anything than a page can show.
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "fuzz/input.h"
#include "fuzz/must.h"

using namespace backslice;
using namespace backslice::fuzz;
using nlohmann::json;

extern "C" const char* backslice_explore(const char* request);

namespace {

constexpr std::string_view kWords[] = {"0",
                                       "1",
                                       "2",
                                       "3",
                                       "4",
                                       "5",
                                       "6",
                                       "-1",
                                       "-2",
                                       "33",
                                       ":",
                                       "::",
                                       "::-1",
                                       "1:3",
                                       ",",
                                       ", ",
                                       " ",
                                       "\n",
                                       "\n",
                                       "...",
                                       "(",
                                       ")",
                                       "None",
                                       "[",
                                       "]",
                                       "x",
                                       "é",
                                       "😀",
                                       "<b>",
                                       "\"",
                                       "\\",
                                       "1_0",
                                       "INT_MAX",
                                       "0b1011",
                                       "INT_MIN",
                                       "2, 3",
                                       "\t",
                                       "=",
                                       "&",
                                       "1000000000",
                                       "9223372036854775807",
                                       "-9223372036854775808"};
constexpr std::string_view kTabs[] = {"slice", "slice", "sparse", "ragged", "style", "none"};
constexpr std::string_view kNotations[] = {"python", "tf", "onnx", "none"};
constexpr std::string_view kFields[] = {"shape",      "index",    "begin",         "end",           "strides",
                                        "begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask",
                                        "starts",     "ends",     "axes",          "steps",         "more",
                                        "start",      "size",     "entries",       "rows_text",     "missing",
                                        "rows",       "columns",  "panels",        "across"};
constexpr std::size_t kLongestAnswer = 8 << 20;

std::string text_from(Input& input) {
  std::string text;
  for (auto words = input.within(0, 12); words > 0; --words) text += input.pick(kWords);
  return text;
}

// Counts in units of UTF-16, like JavaScript.
std::int64_t length_of(std::string_view text) {
  std::int64_t units = 0;
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    units += ((byte & 0xc0) != 0x80) + (byte >= 0xf0);
  }
  return units;
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

void check_error(const json& error, const std::map<std::string, std::string>& fields) {
  must(!error["message"].get<std::string>().empty(), "an error says something");
  if (error["span"].is_null()) return;
  const auto field = fields.find(error["field"].get<std::string>());
  must(field != fields.end(), "a span is one of a field");
  const std::int64_t begin = error["span"][0], end = error["span"][1];
  must(0 <= begin && begin <= end && end <= length_of(field->second), "a span lies within its field");
}

void check_pictures(const json& pictures) {
  for (const json& picture : pictures) {
    const auto drawn = picture["svg"].get<std::string>();
    must(count(drawn, "<rect") == picture["cells"].size() + 1, "every cell has a note, in " + picture["name"].dump());
    for (const json& cell : picture["cells"]) {
      must(!cell[0].get<std::string>().empty(), "a note says something, in " + picture["name"].dump());
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  std::map<std::string, std::string> fields = {{"tab", std::string(input.pick(kTabs))},
                                               {"from", std::string(input.pick(kNotations))}};
  while (input.has_more()) fields[std::string(input.pick(kFields))] = text_from(input);
  std::string request;
  for (const auto& [name, text] : fields) request += (request.empty() ? "" : "\x1e") + name + "\x1f" + text;

  const std::string answered = backslice_explore(request.c_str());
  must(answered.size() < kLongestAnswer, "an answer is as large as what can be drawn");
  const json answer = json::parse(answered, nullptr, false);
  must(answer.is_object(), "an answer is JSON: " + answered.substr(0, 200));
  must(answer.contains("error") || answer.contains("pictures") || fields["tab"] == "style", "an answer has something");
  if (answer.contains("error")) check_error(answer["error"], fields);
  if (answer.contains("pictures")) check_pictures(answer["pictures"]);
  return 0;
}
