#include "tensor_array/elements.h"

#include <vector>

#include "core/errors.h"
#include "memory/tensor_rows.h"
#include "ops/joiner.h"
#include "ops/move.h"

namespace backslice {
namespace {

// Terms as the joiner takes them: without gaps.
class DenseTerms {
 public:
  explicit DenseTerms(const Call& call) : call_(call) {}

  Result<const Tensor*> dense(const Tensor& term) {
    if (is_dense(term)) return &term;
    auto copy = copy_of(term.view(), call_);
    if (!copy.ok()) return copy.status();
    copies_.push_back(*std::move(copy));
    return &copies_.back();
  }

 private:
  const Call& call_;
  std::deque<Tensor> copies_;
};

Status push(const Element& element, Joiner& joiner, DenseTerms& terms) {
  const std::int64_t elements = element.shape.elements();
  if (element.terms.empty()) {
    joiner.push_zeros(elements);
    return Status();
  }
  if (element.terms.size() == 1) {
    const auto only = terms.dense(element.terms[0]);
    if (!only.ok()) return only.status();
    joiner.push((*only)->data(), elements, [&]() -> const Buffer& { return (*only)->buffer(); });
    return Status();
  }
  Terms sum;
  for (const Tensor& term : element.terms) {
    const auto dense = terms.dense(term);
    if (!dense.ok()) return dense.status();
    sum.push_back((*dense)->data());
  }
  joiner.push_sum(std::move(sum), elements);
  return Status();
}

}  // namespace

Result<Tensor> sum_of(const Element& element, DType dtype, std::int64_t item_size, const Call& call) {
  if (element.terms.size() == 1) return element.terms[0];
  return join_elements({&element, 1}, element.shape, dtype, item_size, call);
}

Result<Tensor> join_elements(std::span<const Element> elements, const Shape& shape, DType dtype, std::int64_t item_size,
                             const Call& call) {
  Joiner joiner(dtype, item_size, elements.size());
  DenseTerms terms(call);
  for (const Element& element : elements) {
    if (element.terms.empty() && element.shape.elements() > 0 && !has_zero(dtype)) {
      return dtype_error(name(dtype), " has no zero, and an element was not written");
    }
    BACKSLICE_RETURN_IF_ERROR(push(element, joiner, terms));
  }
  return joiner.join(shape, call);
}

}  // namespace backslice
