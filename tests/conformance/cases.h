// Reads the cases of the .json files here, and runs the cases of dense slices.
#pragma once

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "testing.h"

namespace backslice::conformance {

using nlohmann::json;
using Numbers = std::vector<std::int64_t>;

inline std::optional<Numbers> optional_numbers(const json& args, const char* key) {
  return args.contains(key) ? std::optional<Numbers>(args[key].get<Numbers>()) : std::nullopt;
}

inline TfSlice tf_slice(const json& args) {
  return {.begin = args["begin"],
          .end = args["end"],
          .strides = args["strides"],
          .begin_mask = args.value("begin_mask", 0),
          .end_mask = args.value("end_mask", 0),
          .ellipsis_mask = args.value("ellipsis_mask", 0),
          .new_axis_mask = args.value("new_axis_mask", 0),
          .shrink_axis_mask = args.value("shrink_axis_mask", 0)};
}

inline OnnxSlice onnx_slice_of(const json& args) {
  return {.starts = args["starts"],
          .ends = args["ends"],
          .axes = optional_numbers(args, "axes"),
          .steps = optional_numbers(args, "steps")};
}

inline Result<Selection> index_selection(const Numbers& shape, const json& args) {
  const auto index = parse_index(args["index"].get<std::string>());
  if (!index.ok()) return index.status();
  return Selection::from_index(shape, *index);
}

inline Result<Tensor> run(const json& test, const ConstView& input) {
  const std::string op = test["op"];
  const json& args = test["args"];
  const Numbers shape = test.value("shape", Numbers());
  if (op == "strided_slice") return strided_slice(input, tf_slice(args));
  if (op == "strided_slice_grad") return strided_slice_grad(shape, tf_slice(args), input);
  if (op == "onnx_slice") return onnx_slice(input, onnx_slice_of(args));
  if (op == "onnx_slice_grad") return onnx_slice_grad(input, shape, onnx_slice_of(args));
  const bool forward = op == "slice";
  const auto selection = index_selection(forward ? Numbers(input.shape().begin(), input.shape().end()) : shape, args);
  if (!selection.ok()) return selection.status();
  return forward ? slice(*selection, input) : slice_grad(*selection, input);
}

// The variable is for tests that were copied to another machine.
inline json cases_of(const char* file) {
  const char* elsewhere = std::getenv("BACKSLICE_CONFORMANCE_DIR");
  std::ifstream stream(std::string(elsewhere != nullptr ? elsewhere : BACKSLICE_CONFORMANCE_DIR) + "/" + file);
  return json::parse(stream);
}

// Returns whether the case expects an error, after comparing it.
template <class T>
bool expects_error(const json& test, const Result<T>& result) {
  if (!test.contains("error")) {
    EXPECT_TRUE(result.ok()) << result.status().to_string();
    return !result.ok();
  }
  EXPECT_EQ(to_string(result.status().code()), test["error"]["code"].get<std::string>());
  for (const std::string part : test["error"]["message"]) {
    EXPECT_THAT(result.status().message(), ::testing::HasSubstr(part));
  }
  return true;
}

}  // namespace backslice::conformance
