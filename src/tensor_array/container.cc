#include "backslice/tensor_array_container.h"

#include "core/errors.h"

namespace backslice {

namespace {
constexpr char kBeforeSource = '@';
}

Result<TensorArray> TensorArrayContainer::make(std::int64_t size, DType dtype, const TensorArrayOptions& given,
                                               const Context& context) {
  return without_throwing([&]() -> Result<TensorArray> {
    if (given.name.find(kBeforeSource) != std::string::npos) {
      return invalid_argument("name \"", given.name, "\" has an '@', which separates an array from the source of its ",
                              "gradient in the names of a container; use another character");
    }
    const std::lock_guard lock(mutex_);
    std::int64_t& number = made_[given.name];
    TensorArrayOptions options = given;
    options.name += "_" + std::to_string(number);
    auto array = TensorArray::make(size, dtype, options, context);
    if (!array.ok()) return array;
    arrays_.emplace(options.name, *array);
    ++number;
    return array;
  });
}

std::optional<TensorArray> TensorArrayContainer::find(std::string_view name) const {
  // A source may hold an '@', the name of a forward array cannot: the first is the one between them.
  const std::size_t at = name.find(kBeforeSource);
  const std::lock_guard lock(mutex_);
  const auto forward = arrays_.find(name.substr(0, at));
  if (forward == arrays_.end()) return std::nullopt;
  if (at == std::string_view::npos) return forward->second;
  return forward->second.find_grad(name.substr(at + 1));
}

bool TensorArrayContainer::remove(std::string_view name) {
  decltype(arrays_)::node_type removed;  // let go of outside the lock: the last handle may free much
  const std::lock_guard lock(mutex_);
  if (const auto found = arrays_.find(name); found != arrays_.end()) removed = arrays_.extract(found);
  return !removed.empty();
}

std::vector<std::string> TensorArrayContainer::names() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, array] : arrays_) names.push_back(name);
  return names;
}

}  // namespace backslice
