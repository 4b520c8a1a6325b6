#include "containers/elements.h"

#include "backslice/slice.h"
#include "core/errors.h"
#include "core/row_layout.h"
#include "kernels/slice/fill.h"
#include "kernels/sum/sum.h"

namespace backslice {
namespace {

std::byte* data_of(const Tensor& tensor) { return const_cast<std::byte*>(tensor.view().data); }

// The same elements without gaps.
Result<Tensor> dense_copy(const Tensor& tensor, const TaskRunner& runner) {
  const ConstView from = tensor.view();
  auto copy = Tensor::make(from.dtype, from.shape(), from.layout.item_size);
  if (!copy.ok()) return copy;
  const View to = copy->view();
  fill(plan_copy(to.layout, from.layout, widen_for(from.dtype)), from.dtype, to.data, from.data, {.runner = runner});
  return copy;
}

// The first of single dense tensors, each of which lies where the one before it ends, in one block; null where they do
// not. Tensors without elements lie nowhere.
const Tensor* first_of_neighbours(std::span<const Element> elements) {
  const Tensor* first = nullptr;
  const std::byte* expected = nullptr;
  for (const Element& element : elements) {
    if (element.shape.elements() == 0) continue;
    if (element.terms.size() != 1 || !is_dense(element.terms[0])) return nullptr;
    const Tensor& tensor = element.terms[0];
    if (first == nullptr) {
      first = &tensor;
    } else if (tensor.data() != expected || !tensor.buffer().is_same_block(first->buffer())) {
      return nullptr;
    }
    expected = tensor.data() + element.shape.elements() * tensor.view().layout.item_size;
  }
  return first;
}

// Strings are objects: each element is assigned.
Status assign_strings(std::span<const Element> elements, Tensor& out) {
  View to = out.view();
  for (const Element& element : elements) {
    if (!element.terms.empty()) {
      to.layout = contiguous_layout(element.shape, to.layout.item_size);
      BACKSLICE_RETURN_IF_ERROR(slice_into(Selection::all(element.shape), element.terms[0].view(), to));
    }
    to.data += element.shape.elements() * to.layout.item_size;
  }
  return Status();
}

}  // namespace

Tensor rows_of(const Tensor& tensor, std::int64_t lo, std::int64_t hi) {
  View view{data_of(tensor), tensor.dtype(), tensor.view().layout};
  Dims extents(view.shape());
  extents[0] = hi - lo;
  if (view.elements() > 0) view.data += lo * view.layout.strides[0];
  view.layout.shape = *Shape::make(extents);
  return Tensor::of(tensor.buffer(), view);
}

Tensor row_of(const Tensor& tensor, std::int64_t row) {
  const ConstView all = tensor.view();
  View view{data_of(tensor), all.dtype, row_layout(all.layout)};
  if (all.elements() > 0) view.data += row * all.layout.strides[0];
  return Tensor::of(tensor.buffer(), view);
}

bool is_dense(const Tensor& tensor) {
  const ConstView view = tensor.view();
  const Layout& layout = view.layout;
  if (view.elements() == 0) return true;  // and its other extents may have a product that overflows
  std::int64_t expected = layout.item_size;
  for (int axis = layout.shape.rank() - 1; axis >= 0; --axis) {
    if (layout.shape[axis] != 1 && layout.strides[axis] != expected) return false;
    expected *= layout.shape[axis];
  }
  return true;
}

Result<Shape> stacked_shape(std::int64_t count, Ints inner) {
  if (inner.size() + 1 > kMaxRank) {
    return invalid_argument("the result would have ", inner.size() + 1, " axes; at most ", kMaxRank, " are supported");
  }
  Dims dims;
  dims.push_back(count);
  for (std::int64_t dim : inner) dims.push_back(dim);
  return Shape::make(dims, "the result's shape");
}

Result<Tensor> sum_of(const Element& element, DType dtype, std::int64_t item_size, const TaskRunner& runner) {
  if (element.terms.size() == 1) return element.terms[0];
  return join_elements({&element, 1}, element.shape, dtype, item_size, runner);
}

Result<Tensor> join_elements(std::span<const Element> elements, const Shape& shape, DType dtype, std::int64_t item_size,
                             const TaskRunner& runner) {
  if (const Tensor* first = first_of_neighbours(elements)) {
    return Tensor::of(first->buffer(), View{data_of(*first), dtype, contiguous_layout(shape, item_size)});
  }
  const bool any_zeros = std::any_of(elements.begin(), elements.end(),
                                     [](const Element& e) { return e.terms.empty() && e.shape.elements() > 0; });
  if (any_zeros && !has_zero(dtype)) return dtype_error(name(dtype), " has no zero, and an element was not written");
  auto out = Tensor::make(dtype, shape, item_size);
  if (!out.ok()) return out;
  if (dtype == DType::String) {
    BACKSLICE_RETURN_IF_ERROR(assign_strings(elements, *out));
    return out;
  }
  std::vector<Sum> sums;
  std::vector<Tensor> copies;  // of terms with gaps
  std::byte* to = out->view().data;
  std::int64_t step = 0;
  for (const Element& element : elements) {
    runner.throw_if_cancelled_at(step++);
    Sum sum{to, {}, element.shape.elements()};
    for (const Tensor& term : element.terms) {
      if (is_dense(term)) {
        sum.terms.push_back(term.view().data);
      } else {
        auto copy = dense_copy(term, runner);
        if (!copy.ok()) return copy;
        sum.terms.push_back(copy->view().data);
        copies.push_back(*std::move(copy));
      }
    }
    to += element.shape.elements() * item_size;
    sums.push_back(std::move(sum));
  }
  run_sums(sums, dtype, item_size, runner);
  return out;
}

}  // namespace backslice
