// TensorArray: making it, closing it, and its gradient arrays.
#include "backslice/tensor_array.h"

#include "core/items.h"
#include "tensor_array/impl.h"

namespace backslice {

Status TensorArray::Impl::preallocate(const Context& context) {
  const auto shape = element_shape_.full();
  if (!shape || options_.dynamic_size) {
    return invalid_argument(prefix(), "contiguous needs a full element_shape and a fixed size, got ",
                            element_shape_.to_string(), options_.dynamic_size ? " and dynamic_size" : "");
  }
  if (!are_bytes(dtype_) || !has_zero(dtype_)) {
    return dtype_error(prefix(), "contiguous does not take elements of dtype ", backslice::name(dtype_));
  }
  const auto all = stacked_shape(size_, *shape);
  if (!all.ok()) return invalid_argument(prefix(), all.status().message());
  auto block = Call(context).allocate(dtype_, *all, item_size_, Contents::Zero);
  if (!block.ok()) return block.status();
  block_ = *std::move(block);
  return Status();
}

Result<std::int64_t> TensorArray::Impl::size() const {
  const std::shared_lock lock(mutex_);
  BACKSLICE_RETURN_IF_ERROR(check_open());
  return size_;
}

void TensorArray::Impl::close() {
  // Let go of outside the lock: what is held may have owners that take their time.
  SlotTable slots;
  std::map<std::string, std::shared_ptr<Impl>, std::less<>> gradients;
  std::optional<Tensor> block;
  const std::unique_lock lock(mutex_);
  closed_ = true;
  slots.swap(slots_);
  gradients.swap(gradients_);
  block.swap(block_);
}

Result<std::shared_ptr<TensorArray::Impl>> TensorArray::Impl::grad(const std::string& source, Ints shape_to_prepend,
                                                                   const Context& context) {
  const auto prepend = Shape::make(shape_to_prepend, "shape_to_prepend");
  if (!prepend.ok()) return prepend.status();
  if (is_gradient_) {
    return invalid_argument(prefix(),
                            "Wrong input container: this is a gradient array already, and a gradient of a "
                            "gradient array cannot be made");
  }
  const std::unique_lock lock(mutex_);
  BACKSLICE_RETURN_IF_ERROR(check_open());
  if (const auto made = gradients_.find(source); made != gradients_.end()) return made->second;
  const auto shape = element_shape_.prepended(*prepend);
  if (!shape.ok()) return shape.status();
  BACKSLICE_RETURN_IF_ERROR(check_product(*shape, "shape_to_prepend with the element shape"));
  TensorArrayOptions options = options_;
  options.element_shape = *shape;
  options.dynamic_size = options.contiguous = false;
  options.clear_after_read = true;
  options.name = name() + "@" + source;
  auto gradient = std::make_shared<Impl>(size_, dtype_, options);
  gradient->is_gradient_ = true;
  Status status;
  const TaskRunner runner = Call(context).tasks;
  std::int64_t step = 0;
  slots_.for_each_written([&](std::int64_t index, const Slot& slot) {
    runner.throw_if_cancelled_at(++step);
    auto shape_of_slot = PartialShape(slot.shape).prepended(*prepend);
    const auto full = shape_of_slot.ok() ? Shape::make(shape_of_slot->dims(), "the gradient's element shape")
                                         : Result<Shape>(shape_of_slot.status());
    if (!full.ok()) {
      status = full.status();
      return;
    }
    Slot& own = gradient->slots_[index];
    own.shape = *full;
    own.written = true;
  });
  if (!status.ok()) return status;
  gradients_.emplace(source, gradient);
  options_.dynamic_size = false;  // last: nothing can fail any more
  return gradient;
}

std::shared_ptr<TensorArray::Impl> TensorArray::Impl::find_grad(std::string_view source) const {
  const std::shared_lock lock(mutex_);
  const auto made = gradients_.find(source);
  return made == gradients_.end() ? nullptr : made->second;
}

Status TensorArray::Impl::check_dtype(const Tensor& value) const {
  if (value.dtype() != dtype_) {
    return dtype_error(prefix(), "dtype is ", backslice::name(dtype_), " but a value of dtype ",
                       backslice::name(value.dtype()), " was written");
  }
  if (value.view().layout.item_size == item_size_) return Status();
  return dtype_error(prefix(), "items have ", item_size_, " bytes but a value with items of ",
                     value.view().layout.item_size, " was written");
}

Status TensorArray::Impl::check_product(const PartialShape& shape, const char* argument) const {
  if (!shape.has_rank()) return Status();
  for (std::int64_t dim : shape.dims()) {
    if (dim == PartialShape::kUnknown) return Status();
  }
  return Shape::make(shape.dims(), argument).status();
}

Result<TensorArray> TensorArray::make(std::int64_t size, DType dtype, const TensorArrayOptions& options,
                                      const Context& context) {
  return without_throwing([&]() -> Result<TensorArray> {
    if (size < 0) return invalid_argument("TensorArray ", options.name, ": Size should be >= 0. (got ", size, ")");
    if (size > Impl::kMaxSize) {
      return invalid_argument("TensorArray ", options.name, ": size ", size, " is more than ", Impl::kMaxSize);
    }
    if (dtype == DType::Bytes && options.item_size < 0) {
      return invalid_argument("TensorArray ", options.name, ": item_size ", options.item_size, " must be >= 0");
    }
    auto impl = std::make_shared<Impl>(size, dtype, options);
    if (options.contiguous) BACKSLICE_RETURN_IF_ERROR(impl->preallocate(context));
    return TensorArray(std::move(impl));
  });
}

Status TensorArray::write(std::int64_t index, const Tensor& value, const Context& context) {
  return without_throwing([&] { return impl_->write(index, value, context); });
}
Result<Tensor> TensorArray::read(std::int64_t index, const Context& context) {
  return without_throwing([&] { return impl_->read(index, context); });
}
Result<Tensor> TensorArray::gather(Ints indices, const PartialShape& element_shape, const Context& context) {
  return without_throwing([&] { return impl_->gather(indices, element_shape, context); });
}
Status TensorArray::scatter(Ints indices, const Tensor& value, const Context& context) {
  return without_throwing([&] { return impl_->scatter(indices, value, context); });
}
Result<Tensor> TensorArray::stack(const Context& context) {
  return without_throwing([&] { return impl_->stack(context); });
}
Status TensorArray::unstack(const Tensor& value, const Context& context) {
  return without_throwing([&] { return impl_->unstack(value, context); });
}
Result<TensorArray::Concatenated> TensorArray::concat(const PartialShape& element_shape_except0,
                                                      const Context& context) {
  return without_throwing([&] { return impl_->concat(element_shape_except0, context); });
}
Status TensorArray::split(const Tensor& value, Ints lengths, const Context& context) {
  return without_throwing([&] { return impl_->split(value, lengths, context); });
}
Result<std::int64_t> TensorArray::size() const {
  return without_throwing([&] { return impl_->size(); });
}
void TensorArray::close() { impl_->close(); }

Result<TensorArray> TensorArray::grad_with_shape(const std::string& source, Ints shape_to_prepend,
                                                 const Context& context) {
  return without_throwing([&]() -> Result<TensorArray> {
    auto gradient = impl_->grad(source, shape_to_prepend, context);
    if (!gradient.ok()) return gradient.status();
    return TensorArray(*std::move(gradient));
  });
}

std::optional<TensorArray> TensorArray::find_grad(std::string_view source) const {
  auto gradient = impl_->find_grad(source);
  if (gradient == nullptr) return std::nullopt;
  return TensorArray(std::move(gradient));
}

const std::string& TensorArray::name() const { return impl_->name(); }
DType TensorArray::dtype() const { return impl_->dtype(); }
PartialShape TensorArray::element_shape() const { return impl_->element_shape(); }
bool TensorArray::is_gradient() const { return impl_->is_gradient(); }
bool TensorArray::is_closed() const { return impl_->is_closed(); }

Result<GradWithShape> tensor_array_grad_with_shape(TensorArray handle, float, Ints shape_to_prepend,
                                                   const std::string& source) {
  return without_throwing([&]() -> Result<GradWithShape> {
    auto gradient = handle.grad_with_shape(source, shape_to_prepend);
    if (!gradient.ok()) return gradient.status();
    return GradWithShape{*std::move(gradient), 0};
  });
}

}  // namespace backslice
