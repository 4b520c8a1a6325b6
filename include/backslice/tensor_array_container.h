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
  // Makes an array and keeps a handle to it under its name, which is options.name with a number: "steps_0". The name
  // has no '@': that is what separates an array from the source of its gradient, and no two names can be the same.
  Result<TensorArray> make(std::int64_t size, DType dtype, const TensorArrayOptions& options = {},
                           const Context& = {});

  // The array of that name, or "name@source" for a gradient that was made of it. A source may hold an '@'.
  std::optional<TensorArray> find(std::string_view name) const;

  // Lets go of the handle; the array lives on while others hold it. False if there is none of that name.
  bool remove(std::string_view name);

  std::vector<std::string> names() const;  // of forward arrays, sorted

 private:
  mutable std::mutex mutex_;
  std::map<std::string, TensorArray, std::less<>> arrays_;
  std::map<std::string, std::int64_t> made_;  // how many of each name
};

}  // namespace backslice
