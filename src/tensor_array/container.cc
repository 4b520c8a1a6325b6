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
  std::map<std::string, std::int64_t> made;  // number of arrays with each name

  void add(const TensorArray& array) {
    const std::lock_guard lock(mutex);
    arrays.emplace(array.name(), array);
  }
};

namespace {

// Reserves the next number of a name, for an array that is made without the lock. If that fails, the number is reused,
// unless another call has reserved a later one.
template <class Impl>
class Number {
 public:
  Number(Impl& impl, const std::string& name) : impl_(impl), name_(name), value(take()) {}
  Number(const Number&) = delete;
  ~Number() {
    if (!is_kept_) give_back();
  }
  void keep() { is_kept_ = true; }

 private:
  std::int64_t take() {
    const std::lock_guard lock(impl_.mutex);
    return impl_.made[name_]++;
  }
  void give_back() noexcept {
    try {
      const std::lock_guard lock(impl_.mutex);
      std::int64_t& next = impl_.made.find(name_)->second;
      if (next == value + 1) next = value;
    } catch (...) {  // in a forked child
    }
  }

  Impl& impl_;
  const std::string& name_;
  bool is_kept_ = false;

 public:
  const std::int64_t value;
};

}  // namespace

TensorArrayContainer::TensorArrayContainer() : impl_(std::make_unique<Impl>()) {}
TensorArrayContainer::~TensorArrayContainer() = default;

Result<TensorArray> TensorArrayContainer::make(std::int64_t size, DType dtype, const TensorArrayOptions& given,
                                               const Context& context) {
  return without_throwing([&]() -> Result<TensorArray> {
    if (given.name.find(kBeforeSource) != std::string::npos) {
      return invalid_argument("name \"", given.name, "\" has an '@', which separates an array from the source of its ",
                              "gradient in the names of a container; use another character")
          .at("name");
    }
    Number number(*impl_, given.name);
    TensorArrayOptions options = given;
    options.name += "_" + std::to_string(number.value);
    auto array = TensorArray::make(size, dtype, options, context);
    if (!array.ok()) return array;
    impl_->add(*array);
    number.keep();
    return array;
  });
}

Result<std::optional<TensorArray>> TensorArrayContainer::find(std::string_view name) const {
  return without_throwing([&]() -> Result<std::optional<TensorArray>> {
    // The name of a source may contain '@', that of a forward array cannot: the first '@' separates them.
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
    decltype(impl_->arrays)::node_type removed;  // released outside the lock: the last handle may free much memory
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
