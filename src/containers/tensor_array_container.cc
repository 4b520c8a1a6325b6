#include "backslice/tensor_array_container.h"

#include "core/errors.h"

namespace backslice {

Result<TensorArray> TensorArrayContainer::make(std::int64_t size, DType dtype, TensorArrayOptions options) {
  return without_throwing([&]() -> Result<TensorArray> {
    const std::lock_guard lock(mutex_);
    int& number = made_[options.name];
    options.name += "_" + std::to_string(number);
    auto array = TensorArray::make(size, dtype, options);
    if (!array.ok()) return array;
    arrays_.insert_or_assign(options.name, *array);
    ++number;
    return array;
  });
}

std::optional<TensorArray> TensorArrayContainer::find(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  if (const auto found = arrays_.find(name); found != arrays_.end()) return found->second;
  // Names and sources may hold an '@' themselves: every one may be the one between them.
  for (std::size_t at = name.find('@'); at != std::string::npos; at = name.find('@', at + 1)) {
    const auto forward = arrays_.find(name.substr(0, at));
    if (forward == arrays_.end()) continue;
    if (auto gradient = forward->second.find_grad(name.substr(at + 1))) return gradient;
  }
  return std::nullopt;
}

bool TensorArrayContainer::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  return arrays_.erase(name) > 0;
}

std::vector<std::string> TensorArrayContainer::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays_) names.push_back(name);
  return names;
}

}  // namespace backslice
