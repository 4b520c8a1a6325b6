#include "reference.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace backslice::tensorflow::reference {
namespace {

void copy_item(Tensor& to, std::int64_t at, const ConstView& from, std::int64_t index) {
  const std::int64_t size = from.layout.item_size;
  std::memcpy(to.view().data + at * size, from.data + index * size, static_cast<std::size_t>(size));
}

// Calls visit(position in x, position in y) for each element of y.
template <class Visit>
void for_each_selected(const Selection& selection, const Visit& visit) {
  const Shape& shape = selection.shape();
  for (std::int64_t y = 0; y < selection.result_shape().elements(); ++y) {
    std::int64_t x = 0, stride = 1, left = y;
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      const Selection::Axis& taken = selection.axis(axis);
      x += (taken.start + left % taken.count * taken.step) * stride;
      left /= taken.count;
      stride *= shape[axis];
    }
    visit(x, y);
  }
}

std::int64_t index_at(const CooIndices& indices, std::int64_t row, int axis) {
  const CooIndices::Column& column = indices.column(axis);
  std::int64_t index = 0;
  std::memcpy(&index, column.data + row * column.stride, sizeof index);
  return index;
}

// Precondition: a >= b. The difference of any two int64 fits.
std::uint64_t distance(std::int64_t a, std::int64_t b) {
  return static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b);
}

bool is_in_window(const CooIndices& indices, std::int64_t row, const std::int64_t* start, const std::int64_t* size) {
  for (int axis = 0; axis < indices.rank(); ++axis, ++start, ++size) {
    const std::int64_t index = index_at(indices, row, axis);
    if (index < *start || distance(index, *start) >= static_cast<std::uint64_t>(*size)) return false;
  }
  return true;
}

bool is_shifted(const CooIndices& input, std::int64_t row, const CooIndices& output, std::int64_t taken,
                const std::int64_t* start) {
  for (int axis = 0; axis < input.rank(); ++axis, ++start) {
    std::int64_t sum = 0;
    if (__builtin_add_overflow(index_at(output, taken, axis), *start, &sum) || sum != index_at(input, row, axis))
      return false;
  }
  return true;
}

// Precondition: no size is negative.
Result<Shape> window_shape(Ints shape, Ints start, Ints size) {
  std::vector<std::int64_t> extents(shape.size(), 0);
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (start[axis] >= shape[axis]) continue;
    const auto whole = static_cast<std::uint64_t>(size[axis]);
    extents[axis] = static_cast<std::int64_t>(std::min(whole, distance(shape[axis], start[axis])));
  }
  return Shape::make(extents);
}

}  // namespace

Result<Tensor> slice(const Selection& selection, const ConstView& x) {
  Result<Tensor> y = Tensor::make(x.dtype, selection.result_shape());
  if (y) for_each_selected(selection, [&](std::int64_t from, std::int64_t to) { copy_item(*y, to, x, from); });
  return y;
}

Result<Tensor> strided_slice_grad(Ints shape, const TfSlice& spec, const ConstView& dy) {
  const Result<Selection> selection = Selection::from_tf(shape, spec);
  if (!selection || dy.shape() != selection->result_shape()) return backslice::strided_slice_grad(shape, spec, dy);
  Result<Tensor> dx = Tensor::make(dy.dtype, selection->shape(), 0, Contents::Zero);
  if (dx) for_each_selected(*selection, [&](std::int64_t to, std::int64_t from) { copy_item(*dx, to, dy, from); });
  return dx;
}

Result<SparseTensor> sparse_slice(const CooIndices& indices, const ConstView& values, Ints shape, Ints start,
                                  Ints size) {
  if (std::any_of(size.begin(), size.end(), [](std::int64_t extent) { return extent < 0; }))
    return backslice::sparse_slice(indices, values, shape, start, size);
  std::vector<std::int64_t> rows;
  for (std::int64_t row = 0; row < indices.rows(); ++row)
    if (is_in_window(indices, row, start.data(), size.data())) rows.push_back(row);
  const Result<Shape> extents = window_shape(shape, start, size);
  Result<Tensor> matrix = Tensor::make(DType::Int64, {std::ssize(rows), indices.rank()});
  Result<Tensor> kept = Tensor::make(values.dtype, {std::ssize(rows)});
  if (!extents || !matrix || !kept) return backslice::sparse_slice(indices, values, shape, start, size);
  auto* out = reinterpret_cast<std::int64_t*>(matrix->view().data);
  for (std::size_t to = 0; to < rows.size(); ++to) {
    for (int axis = 0; axis < indices.rank(); ++axis) *out++ = index_at(indices, rows[to], axis) - start.data()[axis];
    copy_item(*kept, static_cast<std::int64_t>(to), values, rows[to]);
  }
  return SparseTensor{*matrix, *kept, *extents};
}

Result<Tensor> sparse_slice_grad(const ConstView& grad, const CooIndices& input, Ints start, const CooIndices& output) {
  Result<Tensor> dvalues = Tensor::make(grad.dtype, {input.rows()}, 0, Contents::Zero);
  std::int64_t next = 0;
  for (std::int64_t row = 0; dvalues && row < input.rows() && next < output.rows(); ++row)
    if (is_shifted(input, row, output, next, start.data())) copy_item(*dvalues, row, grad, next++);
  return next == output.rows() ? dvalues : backslice::sparse_slice_grad(grad, input, start, output);
}

}  // namespace backslice::tensorflow::reference
