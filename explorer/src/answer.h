// What the page is told: errors by field, pictures with what to say about each cell, code.
#pragma once

#include <string>
#include <vector>

#include "backslice/picture.h"
#include "json.h"
#include "request.h"

namespace explorer {

// What is said of a cell, and which cells of the other pictures show the same element: those with the same key.
struct CellNote {
  std::string text;
  std::int64_t key = -1;
};

struct NotedPicture {
  std::string name;  // of the file, and of the heading's tag
  std::string heading;
  backslice::Picture picture;
  std::vector<CellNote> cells;  // in the order in which they are drawn
  bool begins_row = false;      // apart from the pictures before it
};

struct Code {
  std::string name, forward, gradient;
};
inline constexpr std::string_view kNumpyImports = "import backslice as bs\nimport numpy as np\n";
inline constexpr std::string_view kTensorFlowImports = "import tensorflow as tf\n";

// An answer without an error so far. The tabs add their own members to it.
void begin_answer(Json& json);
std::string end_answer(Json& json);
std::string error_answer(const Status& error, const Request& request);

// With the SVG file of the one that the request's field "file" names.
void add_pictures(Json& json, const std::vector<NotedPicture>& pictures, const Request& request);
void add_code(Json& json, const std::vector<Code>& code);

// "x[1, 2]"
std::string element(std::string_view array, backslice::Ints index);
// "1, 2, 3"
std::string listed(backslice::Ints values);
// "1 entry", "2 entries"; without the second word, one with an s.
std::string counted(std::size_t count, std::string_view one, std::string_view many = {});

// The tabs.
std::string answer_slice(const Request& request);
std::string answer_sparse(const Request& request);
std::string answer_ragged(const Request& request);

}  // namespace explorer
