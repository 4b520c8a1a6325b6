// TensorArrayContainer: names for tensor arrays, for those who want to look them up.
//
// Containers know nothing of each other, and arrays need none. Thread-safe.
#pragma once

#include <map>
#include <mutex>

#include "backslice/tensor_array.h"

namespace backslice {

class BACKSLICE_EXPORT TensorArrayContainer {
 public:
  // Makes an array and keeps a handle to it under its name, which is options.name with a number: "steps_0".
  Result<TensorArray> make(std::int64_t size, DType dtype, TensorArrayOptions options = {});

  // The array of that name, or "name@source" for a gradient that was made of it.
  std::optional<TensorArray> find(const std::string& name) const;

  // Lets go of the handle; the array lives on while others hold it. False if there is none of that name.
  bool remove(const std::string& name);

  std::vector<std::string> names() const;  // of forward arrays, sorted

 private:
  mutable std::mutex mutex_;
  std::map<std::string, TensorArray> arrays_;
  std::map<std::string, int> made_;  // how many of each name
};

}  // namespace backslice
