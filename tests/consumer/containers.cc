// What the C++ guide of the manual shows of containers.
#include <backslice/backslice.h>

#include <array>
#include <iostream>
#include <memory>
#include <vector>

using namespace backslice;

// A GradBuffer is reused from step to step and clears only what was written.
Status grad_buffers() {
  Result<GradBuffer> buffer = GradBuffer::make(DType::Float32, {1000, 4});
  Result<Tensor> dy = Tensor::copy_of({1.0f, 2.0f, 3.0f, 4.0f}, {4});
  if (!buffer) return buffer.status();
  if (!dy) return dy.status();
  for (std::int64_t step = 0; step < 3; ++step) {
    Result<Selection> row = Selection::from_index({1000, 4}, Index{step});
    if (!row) return row.status();
    // all zero but for this row: the row before is cleared
    if (Status s = buffer->write(*row, *dy); !s.ok()) return s;
    // added to what it holds
    if (Status s = buffer->add(*row, *dy); !s.ok()) return s;
  }
  // [2:3, :] of shape [1000,4]
  std::cout << buffer->regions().front() << '\n';
  return buffer->view().elements<float>().status();
}

// A slice of a sparse tensor, and the gradient of its values.
Status sparse_tensors() {
  // three entries of a tensor of shape [3, 4]
  const std::int64_t at[] = {0, 1, 1, 2, 2, 0};
  const std::vector<float> entries = {10, 20, 30};
  Result<ConstView> matrix = ConstView::of(at, {3, 2});
  Result<ConstView> values = ConstView::of(entries, {3});
  if (!matrix || !values) return {StatusCode::Internal, "wrong sizes"};
  Result<CooIndices> indices = CooIndices::from_matrix(*matrix);
  if (!indices) return indices.status();

  // the window [0:2, 1:3]
  Result<SparseTensor> y =
      sparse_slice(*indices, *values, {3, 4}, {0, 1}, {2, 2});
  if (!y) return y.status();
  std::cout << y->shape << " with " << y->values.shape()[0] << " entries\n";

  Result<Tensor> dy = Tensor::copy_of({1.0f, 2.0f}, {2});
  if (!dy) return dy.status();
  Result<Tensor> dvalues =
      sparse_slice_grad_by_size(*dy, *indices, {0, 1}, {2, 2});
  if (!dvalues) return dvalues.status();
  for (float v : dvalues->elements<float>().value()) std::cout << v << ' ';
  std::cout << '\n';  // 1 2 0
  return Status();
}

// A slice of a sparse tensor in your own memory: count, then fill.
Status sparse_into(const CooIndices& indices, const ConstView& values) {
  Result<std::int64_t> count = sparse_slice_count(indices, {0, 1}, {2, 2});
  if (!count) return count.status();
  std::vector<std::int64_t> rows(static_cast<std::size_t>(2 * *count));
  std::vector<float> kept(static_cast<std::size_t>(*count));
  Result<View> row_view = View::of(rows, {*count, 2});
  Result<View> kept_view = View::of(kept, {*count});
  if (!row_view || !kept_view) return {StatusCode::Internal, "wrong sizes"};
  Result<Shape> shape = sparse_slice_into(indices, values, {3, 4}, {0, 1},
                                          {2, 2}, *row_view, *kept_view);
  return shape.status();
}

// What is written to one index of a gradient array adds up.
Status tensor_arrays() {
  Result<TensorArray> states = TensorArray::make(2, DType::Float32);
  Result<Tensor> x = Tensor::copy_of({1.0f, 2.0f}, {2});
  if (!states) return states.status();
  if (!x) return x.status();
  for (std::int64_t i = 0; i < 2; ++i) {
    if (Status s = states->write(i, *x); !s.ok()) return s;
  }
  Result<TensorArray> gradient = states->grad("loss");
  if (!gradient) return gradient.status();
  for (int term = 0; term < 2; ++term) {
    if (Status s = gradient->write(0, *x); !s.ok()) return s;
  }
  Result<Tensor> sum = gradient->read(0);
  if (!sum) return sum.status();
  for (float v : sum->elements<float>().value()) std::cout << v << ' ';
  std::cout << '\n';  // 2 4

  // into your own memory: ask for the shape, then fill
  Result<Shape> shape = states->stack_shape();
  if (!shape) return shape.status();
  Result<Tensor> out = Tensor::make(states->dtype(), *shape);
  if (!out) return out.status();
  return states->stack_into(*out);
}

// Your own memory, held without a copy until nothing needs it any more.
Status shared_memory(TensorArray& states) {
  auto owner = std::make_shared<std::vector<float>>(2, 1.0f);
  Result<ConstView> value = ConstView::of(*owner, {2});
  if (!value) return value.status();
  return states.write(1, *value, owner);
}

// [[1, 2], [], [3, 4, 5]]: values, and splits that say where rows begin.
Result<RaggedTensor> ragged() {
  Result<Tensor> values = Tensor::copy_of({1.0f, 2.0f, 3.0f, 4.0f, 5.0f}, {5});
  if (!values) return values.status();
  Result<Tensor> splits =
      Tensor::copy_of(std::array<std::int64_t, 4>{0, 2, 2, 5}, {4});
  if (!splits) return splits.status();
  return RaggedTensor::make(*values, {*splits});
}

// The same of your own memory. The splits are copied, and need no owner.
Result<RaggedTensor> shared_rows() {
  auto owner = std::make_shared<std::vector<float>>(5, 1.0f);
  const std::vector<std::int64_t> row_splits = {0, 2, 2, 5};
  Result<ConstView> values = ConstView::of(*owner, {5});
  Result<ConstView> splits = ConstView::of(row_splits, {4});
  if (!values) return values.status();
  if (!splits) return splits.status();
  return RaggedTensor::make(*values, owner, {*splits});
}

// Rows of a ragged tensor, and the gradient of its values.
Status ragged_slices(const RaggedTensor& rt) {
  Result<Selection> backwards = Selection::from_index({rt.rows()}, "::-2");
  if (!backwards) return backwards.status();
  Result<RaggedTensor> y = ragged_slice(*backwards, rt);  // [[3,4,5], [1,2]]
  if (!y) return y.status();
  Result<Tensor> dvalues = ragged_slice_grad(*backwards, rt, y->values());
  if (!dvalues) return dvalues.status();
  for (float v : dvalues->elements<float>().value()) std::cout << v << ' ';
  std::cout << '\n';  // 1 2 3 4 5
  return Status();
}

// Rows as the elements of an array; a missing one counts as zeros.
Status variants(const RaggedTensor& rt) {
  Result<VariantArray> encoded = ragged_tensor_to_variant(rt);
  if (!encoded) return encoded.status();
  Result<RaggedTensor> decoded = ragged_tensor_from_variant(*encoded, -1, 1);
  if (!decoded) return decoded.status();

  Result<std::optional<RaggedTensor>> first = encoded->at(0);
  if (!first) return first.status();
  Result<VariantArray> grads =
      VariantArray::make({*first, std::nullopt, std::nullopt}, {3});
  if (!grads) return grads.status();
  Result<Tensor> dvalues = ragged_tensor_to_variant_gradient(
      *grads, rt.nested_row_splits(), rt.values().shape());
  if (!dvalues) return dvalues.status();
  for (float v : dvalues->elements<float>().value()) std::cout << v << ' ';
  std::cout << '\n';  // 1 2 0 0 0
  return *decoded == rt ? Status() : Status(StatusCode::Internal, "not equal");
}

// A ragged result in your own memory: ask for its size, then fill.
Status ragged_into(const RaggedTensor& rt) {
  Result<Selection> last = Selection::from_index({rt.rows()}, "1:");
  if (!last) return last.status();
  Result<RaggedSize> size = ragged_slice_size(*last, rt);
  if (!size) return size.status();
  std::vector<std::int64_t> splits(static_cast<std::size_t>(size->splits[0]));
  std::vector<float> memory(static_cast<std::size_t>(size->values.elements()));
  Result<View> split_view = View::of(splits, {size->splits[0]});
  Result<View> values = View::of(memory, size->values);
  if (!split_view || !values) return {StatusCode::Internal, "wrong sizes"};
  return ragged_slice_into(*last, rt, {{*split_view}, *values});
}

int main() {
  const std::int64_t at[] = {0, 1, 1, 2, 2, 0};
  const CooIndices indices =
      CooIndices::from_matrix(ConstView::of(at, {3, 2}).value()).value();
  const Tensor values = Tensor::copy_of({10.0f, 20.0f, 30.0f}, {3}).value();
  const RaggedTensor rt = ragged().value();
  for (const Status& status :
       {grad_buffers(), sparse_tensors(), sparse_into(indices, values),
        tensor_arrays(), ragged_slices(rt), variants(rt), ragged_into(rt),
        shared_rows().status()}) {
    if (!status.ok()) {
      std::cerr << status << '\n';
      return 1;
    }
  }
  TensorArray states = TensorArray::make(2, DType::Float32).value();
  if (!shared_memory(states).ok()) return 1;
  return states.read(1).value().shape() == Shape::make({2}).value() ? 0 : 1;
}
