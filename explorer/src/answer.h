// The answers to the page: errors by field, pictures with a note for each cell, and code.
#pragma once

#include <string>
#include <vector>

#include "backslice/picture.h"
#include "json.h"
#include "request.h"

namespace explorer {

// The note of a cell, and a key that it shares with cells of the same element in other pictures.
struct CellNote {
  std::string text;
  std::int64_t key = -1;
};

struct NotedPicture {
  std::string name;  // of the file, and part of the heading's tag
  std::string heading;
  backslice::Picture picture;
  std::vector<CellNote> cells;  // in drawing order
  bool begins_row = false;      // starts a new row of pictures
};

struct Code {
  std::string name, forward, gradient;
};
inline constexpr std::string_view kNumpyImports = "import backslice as bs\nimport numpy as np\n";
inline constexpr std::string_view kTensorFlowImports = "import tensorflow as tf\n";

// Begins an answer without an error. The tabs add their own members to it.
void begin_answer(Json& json);
std::string end_answer(Json& json);
std::string error_answer(const Status& error, const Request& request);

// Adds the pictures, and the SVG file of the picture that the request's field "file" names.
void add_pictures(Json& json, const std::vector<NotedPicture>& pictures, const Request& request);
void add_code(Json& json, const std::vector<Code>& code);

// "x[1, 2]"
std::string element(std::string_view array, backslice::Ints index);
// "1, 2, 3"
std::string listed(backslice::Ints values);
// Returns "1 entry" or "2 entries". Without the second word, the plural has an s.
std::string counted(std::size_t count, std::string_view one, std::string_view many = {});

// Answers the requests of each tab.
std::string answer_slice(const Request& request);
std::string answer_sparse(const Request& request);
std::string answer_ragged(const Request& request);

}  // namespace explorer
