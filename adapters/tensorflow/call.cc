#include "call.h"

#include "core/boundary.h"
#include "data_types.h"

namespace backslice::tensorflow {
namespace {

template <class Integer>
std::vector<std::int64_t> widened(const void* data, std::int64_t count) {
  const auto* first = static_cast<const Integer*>(data);
  return {first, first + count};
}

void release_buffer(void*, std::size_t, void* buffer) { delete static_cast<Buffer*>(buffer); }
void release_tensor(void*, std::size_t, void* tensor) { TF_DeleteTensor(static_cast<TF_Tensor*>(tensor)); }

std::size_t bytes_of(const Shape& shape, std::int64_t item_size) {
  return static_cast<std::size_t>(shape.elements() * item_size);
}

}  // namespace

Input::Input(OwnedTensor tensor) : tensor_(std::move(tensor)), rank_(TF_NumDims(tensor_.get())) {
  for (int axis = 0; axis < rank_; ++axis) dims_[axis] = TF_Dim(tensor_.get(), axis);
}

std::int64_t Input::count() const {
  std::int64_t count = 1;
  for (const std::int64_t extent : dims()) count *= extent;
  return count;
}

ConstView Input::view() {
  const std::optional<DType> dtype = dtype_of(data_type());
  if (!dtype) throwing::refuse({StatusCode::Unimplemented, "elements of this type cannot be moved"});
  const void* data = TF_TensorData(tensor_.get());
  if (data_type() == kString) {
    texts_ = read_strings(data, count());
    data = texts_.data();
  }
  return unwrap(ConstView::contiguous(data, *dtype, dims()));
}

std::vector<std::int64_t> Input::integers() const {
  const void* data = TF_TensorData(tensor_.get());
  if (data_type() == kInt64) return widened<std::int64_t>(data, count());
  if (data_type() == kInt32) return widened<std::int32_t>(data, count());
  return widened<std::int16_t>(data, count());
}

OwnedTensor Call::tensor(int index) const {
  TF_Tensor* tensor = nullptr;
  TF_GetInput(context_, index, &tensor, status_.get());
  check(status_);
  return OwnedTensor(tensor);
}

void Call::set_output(int index, int data_type, const Tensor& result) {
  const Shape& shape = result.shape();
  if (data_type == kString || shape.elements() == 0) {
    const View out = allocate_output(index, data_type, shape);
    if (data_type == kString)
      write_strings(reinterpret_cast<const StringView*>(result.data()), shape.elements(), out.data);
    return;
  }
  auto buffer = std::make_unique<Buffer>(result.buffer());
  auto* data = const_cast<std::byte*>(result.data());
  const std::size_t bytes = bytes_of(shape, result.view().layout.item_size);
  set_output(index, OwnedTensor(TF_NewTensor(data_type, shape.begin(), shape.rank(), data, bytes, release_buffer,
                                             buffer.release())));
}

void Call::share_input(int output, int input, const ConstView& part) {
  OwnedTensor whole = tensor(input);
  auto* data = const_cast<std::byte*>(part.data);
  const std::size_t bytes = bytes_of(part.shape(), part.layout.item_size);
  const int data_type = TF_TensorType(whole.get());
  set_output(output, OwnedTensor(TF_NewTensor(data_type, part.shape().begin(), part.shape().rank(), data, bytes,
                                              release_tensor, whole.release())));
}

void Call::set_output(int index, OwnedTensor tensor) {
  if (!tensor) throwing::refuse({StatusCode::Internal, "TensorFlow refused the result's memory"});
  TF_SetOutput(context_, index, tensor.get(), status_.get());
  check(status_);
}

View Call::allocate_output(int index, int data_type, const Shape& shape) {
  const std::optional<DType> dtype = dtype_of(data_type);
  const std::size_t bytes = data_type == kString ? 0 : bytes_of(shape, item_size(*dtype));
  const OwnedTensor tensor(
      TF_AllocateOutput(context_, index, data_type, shape.begin(), shape.rank(), bytes, status_.get()));
  check(status_);
  return unwrap(View::contiguous(TF_TensorData(tensor.get()), *dtype, shape));
}

}  // namespace backslice::tensorflow
