// Replaces ONNX Runtime in tests: a table of functions over values in memory of exactly their size, so that the address
// sanitizer finds every access beyond it.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "c_api.h"

struct OrtStatus {
  std::string message;
};

struct OrtTensorTypeAndShapeInfo {
  int type;
  std::vector<std::int64_t> dims;

  std::size_t elements() const {
    return static_cast<std::size_t>(std::accumulate(dims.begin(), dims.end(), std::int64_t{1}, std::multiplies<>()));
  }
};

struct OrtValue {
  OrtTensorTypeAndShapeInfo info;
  std::unique_ptr<std::byte[]> data;
};

struct OrtTypeInfo {
  OrtTensorTypeAndShapeInfo tensor;
};

struct OrtKernelInfo {
  std::vector<const OrtValue*> constants;             // one per input; null where it is none
  std::vector<OrtTensorTypeAndShapeInfo> declared{};  // the graph's type and shape of each input, if known
};

struct OrtKernelContext {
  std::vector<const OrtValue*> inputs;
  OrtValue output;                          // its type is the one that the model declares
  std::size_t item_size;                    // of the output
  std::size_t runs_before_failing = 1'000;  // number of tasks after which ParallelFor fails
  bool has_helper = false;                  // whether another thread runs all tasks but the first, before that one
  mutable std::size_t most_tasks = 0;       // that ParallelFor was given at once
};

namespace backslice::onnxruntime::testing {

template <class T>
OrtValue value(int type, std::vector<std::int64_t> dims, const std::vector<T>& elements) {
  OrtValue made{{type, std::move(dims)}, std::make_unique<std::byte[]>(elements.size() * sizeof(T))};
  if (!elements.empty()) std::memcpy(made.data.get(), elements.data(), elements.size() * sizeof(T));
  return made;
}

inline OrtValue list(const std::vector<std::int64_t>& elements) {
  return value(7, {static_cast<std::int64_t>(elements.size())}, elements);
}

/// Returns the number of statuses that were not released.
int live_statuses();

/// The table. Nodes have no attributes.
const OrtApi* fake_api();

}  // namespace backslice::onnxruntime::testing
