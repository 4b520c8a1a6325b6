/// @file
/// TensorArrayContainer: finds tensor arrays by name.
///
/// Containers are independent of each other, and an array need not be in one. Thread-safe. In a child that was forked
/// while another thread was changing the container, functions that return no Result throw a std::exception.
#pragma once

#include <map>
#include <memory>

#include "backslice/tensor_array.h"

namespace backslice {

/// A set of named tensor arrays.
class BACKSLICE_EXPORT TensorArrayContainer {
 public:
  TensorArrayContainer();
  ~TensorArrayContainer();
  TensorArrayContainer(const TensorArrayContainer&) = delete;
  TensorArrayContainer& operator=(const TensorArrayContainer&) = delete;

  /// Makes an array and keeps a handle to it under its name, which is options.name with a number: "steps_0". The name
  /// contains no '@', which separates an array from the source of its gradient, so names are unique.
  Result<TensorArray> make(std::int64_t size, DType dtype, const TensorArrayOptions& options = {}, const Context& = {});
  template <int = 0>  // so that `{}` is the options, not the Context
  Result<TensorArray> make(std::int64_t size, DType dtype, const Context& context) {
    return make(size, dtype, TensorArrayOptions(), context);
  }

  /// The array of that name, or "name@source" for a gradient that was made of it. A source may hold an '@'.
  Result<std::optional<TensorArray>> find(std::string_view name) const;

  /// Releases the handle; the array stays alive while others hold it. Returns false if there is no array of that name.
  Result<bool> remove(std::string_view name);

  Result<std::vector<std::string>> names() const;  ///< Of forward arrays, sorted.

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace backslice
