#include "tensor_array/elements.h"

#include <algorithm>
#include <deque>
#include <vector>

#include "core/errors.h"
#include "core/overlap.h"
#include "kernels/cuda/memory.h"
#include "memory/tensor_rows.h"
#include "ops/device_use.h"
#include "ops/joiner.h"
#include "ops/move.h"

namespace backslice::tensor_array {
namespace {

// Pushes elements to a Joiner, which needs terms without gaps.
class DenseElements {
 public:
  DenseElements(DType dtype, std::int64_t item_size, std::size_t count, const Call& call)
      : joiner(dtype, item_size, count), dtype_(dtype), call_(call) {}

  Status push_all(std::span<const Element> elements) {
    for (const Element& element : elements) BACKSLICE_RETURN_IF_ERROR(push(element));
    return Status();
  }

  Joiner joiner;

 private:
  Status push(const Element& element) {
    const std::int64_t count = element.shape.elements();
    if (element.terms.empty()) return push_zeros(count);
    std::vector<const std::byte*> sum;
    for (const Tensor& term : element.terms) {
      const auto dense = without_gaps(term);
      if (!dense.ok()) return dense.status();
      if (element.terms.size() == 1) {
        joiner.push((*dense)->data(), count, [&]() -> const Buffer& { return (*dense)->buffer(); });
        return Status();
      }
      sum.push_back((*dense)->data());
    }
    joiner.push_sum(std::move(sum), count);
    return Status();
  }

  Status push_zeros(std::int64_t count) {
    if (count > 0 && !has_zero(dtype_)) {
      return dtype_error(name(dtype_), " has no zero, and an element was not written");
    }
    joiner.push_zeros(count);
    return Status();
  }

  Result<const Tensor*> without_gaps(const Tensor& term) {
    if (is_contiguous(term.view().layout)) return &term;
    auto copy = copy_of(term.view(), call_);
    if (!copy.ok()) return copy.status();
    copies_.push_back(*std::move(copy));
    return &copies_.back();
  }

  DType dtype_;
  const Call& call_;
  std::deque<Tensor> copies_;
};

// Calls use(buffer) for the memory of the elements, if it is on a device. Adjacent rows of one block count once.
template <class Use>
void for_each_block(std::span<const Element> elements, const Call& call, const Use& use) {
  if (call.device.is_cpu()) return;
  const Buffer* last = nullptr;
  for (const Element& element : elements) {
    for (const Tensor& term : element.terms) {
      if (last != nullptr && term.buffer().is_same_block(*last)) continue;
      last = &term.buffer();
      use(*last);
    }
  }
}

// Elements may have been written on other streams.
void await(std::span<const Element> elements, const Call& call) {
  std::vector<const Buffer*> blocks;
  for_each_block(elements, call, [&](const Buffer& buffer) { blocks.push_back(&buffer); });
  if (blocks.empty()) return;
  if (Status awaited = cuda::await_all(blocks, call.stream); !awaited.ok()) throwing::refuse(std::move(awaited));
}

// Marks all of them as used by this call, since they may be released in the order of another stream while this one
// still reads them.
class ElementsUse {
 public:
  ElementsUse(std::span<const Element> elements, const Call& call) : elements_(elements), call_(call) {
    await(elements, call);
  }
  ~ElementsUse() {
    for_each_block(elements_, call_, [&](const Buffer& buffer) { DeviceUse::keep_until_done(buffer, call_.stream); });
  }
  ElementsUse(const ElementsUse&) = delete;

 private:
  std::span<const Element> elements_;
  const Call& call_;
};

}  // namespace

Result<Tensor> sum_of(const Element& element, DType dtype, std::int64_t item_size, const Call& call) {
  if (element.terms.size() == 1) {
    await({&element, 1}, call);
    return element.terms[0];
  }
  return join_elements({&element, 1}, element.shape, dtype, item_size, call);
}

Result<Tensor> join_elements(std::span<const Element> elements, const Shape& shape, DType dtype, std::int64_t item_size,
                             const Call& call) {
  const ElementsUse use(elements, call);
  DenseElements dense(dtype, item_size, elements.size(), call);
  BACKSLICE_RETURN_IF_ERROR(dense.push_all(elements));
  return dense.joiner.join(shape, call);
}

Status join_elements_into(std::span<const Element> elements, const View& out, const Call& call) {
  const ElementsUse use(elements, call);
  if (elements.size() == 1 && elements[0].terms.size() == 1 && elements[0].shape == out.shape()) {
    call.writing([&] { copy_into(out, elements[0].terms[0].view(), call); });  // with its strides
    return Status();
  }
  DenseElements dense(out.dtype, out.layout.item_size, elements.size(), call);
  BACKSLICE_RETURN_IF_ERROR(dense.push_all(elements));
  return dense.joiner.join_into(out, Write::Overwrite, call);
}

bool shares_memory(const ConstView& view, std::span<const Element> elements) {
  return std::any_of(elements.begin(), elements.end(), [&](const Element& element) {
    return std::any_of(element.terms.begin(), element.terms.end(),
                       [&](const Tensor& term) { return overlap(view, term.view()); });
  });
}

}  // namespace backslice::tensor_array
