#include <mutex>

#include "backslice/tensor_array_container.h"
#include "core/errors.h"
#include "core/fork.h"

namespace backslice {

namespace {
constexpr char kBeforeSource = '@';
}

struct TensorArrayContainer::Impl {
  ForkAwareMutex mutex;
  std::map<std::string, TensorArray, std::less<>> arrays;
  std::map<std::string, std::int64_t> made;  // how many of each name
};

TensorArrayContainer::TensorArrayContainer() : impl_(std::make_unique<Impl>()) {}
TensorArrayContainer::~TensorArrayContainer() = default;

Result<TensorArray> TensorArrayContainer::make(std::int64_t size, DType dtype, const TensorArrayOptions& given,
                                               const Context& context) {
  return without_throwing([&]() -> Result<TensorArray> {
    if (given.name.find(kBeforeSource) != std::string::npos) {
      return invalid_argument("name \"", given.name, "\" has an '@', which separates an array from the source of its ",
                              "gradient in the names of a container; use another character");
    }
    const std::lock_guard lock(impl_->mutex);
    std::int64_t& number = impl_->made[given.name];
    TensorArrayOptions options = given;
    options.name += "_" + std::to_string(number);
    auto array = TensorArray::make(size, dtype, options, context);
    if (!array.ok()) return array;
    impl_->arrays.emplace(options.name, *array);
    ++number;
    return array;
  });
}

Result<std::optional<TensorArray>> TensorArrayContainer::find(std::string_view name) const {
  return without_throwing([&]() -> Result<std::optional<TensorArray>> {
    // A source may hold an '@', the name of a forward array cannot: the first is the one between them.
    const std::size_t at = name.find(kBeforeSource);
    const std::lock_guard lock(impl_->mutex);
    const auto forward = impl_->arrays.find(name.substr(0, at));
    if (forward == impl_->arrays.end()) return std::optional<TensorArray>();
    if (at == std::string_view::npos) return std::optional(forward->second);
    return forward->second.find_grad(name.substr(at + 1));
  });
}

Result<bool> TensorArrayContainer::remove(std::string_view name) {
  return without_throwing([&]() -> Result<bool> {
    decltype(impl_->arrays)::node_type removed;  // released outside the lock: the last handle may free much
    const std::lock_guard lock(impl_->mutex);
    const auto found = impl_->arrays.find(name);
    if (found != impl_->arrays.end()) removed = impl_->arrays.extract(found);
    return !removed.empty();
  });
}

Result<std::vector<std::string>> TensorArrayContainer::names() const {
  return without_throwing([&]() -> Result<std::vector<std::string>> {
    const std::lock_guard lock(impl_->mutex);
    std::vector<std::string> names;
    for (const auto& [name, array] : impl_->arrays) names.push_back(name);
    return names;
  });
}

}  // namespace backslice
