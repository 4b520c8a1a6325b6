// TensorArray: construction, closing, and properties.
#include "backslice/tensor_array.h"

#include <numeric>

#include "core/device.h"
#include "core/element_type.h"
#include "core/errors.h"
#include "core/items.h"
#include "memory/tensor_rows.h"
#include "tensor_array/state.h"

namespace backslice {
namespace tensor_array {

namespace {

std::string titled(const TensorArrayOptions& options) {
  return options.name.empty() ? "TensorArray" : "TensorArray " + options.name;
}

}  // namespace

// The name of a gradient begins with that of its array, which may be empty: "@loss".
std::string State::title() const {
  if (!is_gradient || !name().starts_with('@')) return titled(options);
  return "the gradient \"" + name().substr(1) + "\" of a TensorArray";
}

Status State::closed_error() const { return invalid_argument(title(), " has already been closed."); }

Status State::claimed_error(std::int64_t index) const {
  return Status(StatusCode::FailedPrecondition,
                join(prefix(), "another call is using index ", index, "; call again when it has returned"));
}

// The order matters without the mutex: the device is stored before it counts as fixed.
Status State::check_written_device(Device device) const {
  if (fixes_device() || device == this->device()) return Status();
  return invalid_argument(prefix(), "elements are on ", to_string(this->device()), " but a value on ",
                          to_string(device), " was written")
      .at("value");
}

Status State::check_read_device(Device device) const {
  if (device == this->device()) return Status();
  return Status(StatusCode::FailedPrecondition,
                join(prefix(), "another thread has written the first element, on ", to_string(this->device()),
                     ", while this call began; call it again"));
}

Result<std::vector<std::int64_t>> State::indices_up_to(std::int64_t count, const char* done) const {
  constexpr std::int64_t kMostAtOnce = 1 << 27;
  if (count > kMostAtOnce) {
    return resource_exhausted(prefix(), counted(count, "element", "elements"), " are too many to be ", done,
                              " at once");
  }
  std::vector<std::int64_t> indices(static_cast<std::size_t>(count));
  std::iota(indices.begin(), indices.end(), 0);
  return indices;
}

Status check_product(const PartialShape& shape, const char* argument) {
  if (!shape.has_rank()) return Status();
  for (std::int64_t dim : shape.dims()) {
    if (dim == PartialShape::kUnknown) return Status();
  }
  return Shape::make(shape.dims(), argument).status();
}

namespace {

Status check_making(std::int64_t size, DType dtype, const TensorArrayOptions& options) {
  if (size < 0) {
    return invalid_argument(titled(options), ": size is ", size, ", must be >= 0").at("size");
  }
  if (size > kMaxSize) {
    return invalid_argument(titled(options), ": size is ", size, ", must be at most ", kMaxSize).at("size");
  }
  if (const auto bytes = resolved_item_size(dtype, dtype == DType::Bytes ? options.item_size : kItemSizeOfDType);
      !bytes.ok()) {
    return bytes.status();
  }
  if (options.any_device && (options.contiguous || !options.device.is_cpu())) {
    return invalid_argument(titled(options),
                            ": any_device leaves the device to the first write, so that neither device nor contiguous "
                            "can be given")
        .at("any_device");
  }
  if (!are_bytes(dtype)) return check_on_cpu(options.device, "device");
  return Status();
}

// Makes the block of contiguous mode.
Result<Tensor> make_block(const State& array, const Call& call) {
  const auto shape = array.element_shape.full();
  if (!shape || array.options.dynamic_size) {
    return invalid_argument(array.prefix(), "contiguous needs a full element_shape and a fixed size, got ",
                            array.element_shape.to_string(), array.options.dynamic_size ? " and dynamic_size" : "")
        .at("contiguous");
  }
  if (!are_bytes(array.dtype) || !has_zero(array.dtype)) {
    return dtype_error(array.prefix(), "contiguous does not take elements of dtype ", name(array.dtype)).at("dtype");
  }
  const auto all = stacked_shape(array.size, *shape);
  if (!all.ok()) return invalid_argument(array.prefix(), all.status().message());
  return call.allocate(array.dtype, *all, array.item_size, Contents::Zero);
}

}  // namespace
}  // namespace tensor_array

using namespace tensor_array;

Result<TensorArray> TensorArray::make(std::int64_t size, DType dtype, const TensorArrayOptions& options,
                                      const Context& context) {
  return without_throwing([&]() -> Result<TensorArray> {
    BACKSLICE_RETURN_IF_ERROR(check_making(size, dtype, options));
    auto state = std::make_shared<State>(size, dtype, options);
    if (options.contiguous) {
      auto block = make_block(*state, Call(context, options.device));
      if (!block.ok()) return block.status();
      state->block = *std::move(block);
    }
    return TensorArray(std::move(state));
  });
}

Result<std::int64_t> TensorArray::size() const {
  return without_throwing([&]() -> Result<std::int64_t> {
    const std::shared_lock lock(state_->mutex);
    BACKSLICE_RETURN_IF_ERROR(state_->check_open());
    return state_->size;
  });
}

Status TensorArray::close() {
  return without_throwing([&] {
    // Released outside the lock: deleters may take their time.
    auto slots = std::make_shared<SlotTable>();
    decltype(State::gradients) gradients;
    std::optional<Tensor> block;
    const std::unique_lock lock(state_->mutex);
    state_->closed = true;
    slots.swap(state_->slots);
    gradients.swap(state_->gradients);
    block.swap(state_->block);
    return Status();
  });
}

const std::string& TensorArray::name() const& { return state_->name(); }
DType TensorArray::dtype() const { return state_->dtype; }
Device TensorArray::device() const { return state_->device(); }
bool TensorArray::is_gradient() const { return state_->is_gradient; }

Result<bool> TensorArray::is_closed() const {
  return without_throwing([&]() -> Result<bool> {
    const std::shared_lock lock(state_->mutex);
    return state_->closed;
  });
}

Result<PartialShape> TensorArray::element_shape() const {
  return without_throwing([&]() -> Result<PartialShape> {
    const std::shared_lock lock(state_->mutex);
    return state_->element_shape;
  });
}

}  // namespace backslice
