#include "backslice/ragged_tensor.h"

#include <algorithm>

#include "core/element_type.h"
#include "core/errors.h"
#include "core/items.h"
#include "memory/tensor_rows.h"
#include "ops/checks.h"
#include "ops/move.h"
#include "ragged/named.h"
#include "ragged/on_cpu.h"
#include "ragged/ragged_parts.h"
#include "ragged/row_splits.h"
#include "ragged/splits_writer.h"

namespace backslice {
namespace {

Result<Tensor> without_gaps(const Tensor& tensor, const Call& call) {
  if (is_contiguous(tensor.view().layout)) return tensor;
  return copy_of(tensor.view(), call);
}

// Returns splits[lo..hi] with the first subtracted.
Result<Tensor> rebased(const RaggedTensor& rt, int level, std::int64_t lo, std::int64_t hi, const Call& call) {
  const Tensor& splits = rt.nested_row_splits()[static_cast<std::size_t>(level)];
  if (lo == 0) return rows_of(splits, 0, hi + 1);
  auto made = allocate_splits(splits.dtype(), hi - lo + 1, call);
  if (!made.ok()) return made;
  SplitsWriter writer(made->view());
  for (std::int64_t i = lo + 1; i <= hi; ++i) writer.push(rt.split(level, i) - rt.split(level, lo));
  return made;
}

Status check_has_rows(const Tensor& values) {
  if (values.shape().rank() > 0) return Status();
  return invalid_argument("values must have at least one axis when there are row splits, got a scalar").at("values");
}

// Checks the dtype, and that memory on a device is there: every existing ragged tensor is valid.
Status check_memory(const Tensor& values) {
  BACKSLICE_RETURN_IF_ERROR(check_element_type(values.dtype(), "values", ".dtype"));
  return values.device().is_cpu() ? Status() : check_input(values.view(), "values", RunsOn::AnyDevice);
}

Status check_is_no_scalar(const RaggedTensor& rt) {
  if (rt.ragged_rank() > 0 || rt.values().shape().rank() > 0) return Status();
  return invalid_argument("a scalar has no rows");
}

}  // namespace

Result<RaggedTensor> named::make_ragged(const Tensor& given_values, const std::vector<Tensor>& row_splits,
                                        const char* argument, const Context& context) {
  return without_throwing([&]() -> Result<RaggedTensor> {
    BACKSLICE_RETURN_IF_ERROR(check_memory(given_values));
    const Call call(context, given_values.device());
    std::vector<Tensor> lists;
    if (!row_splits.empty()) {
      BACKSLICE_RETURN_IF_ERROR(check_has_rows(given_values));
      auto splits = check_row_splits(row_splits, argument, given_values.shape()[0], Keep::Yes, call);
      if (!splits.ok()) return splits.status();
      lists = std::move(splits->lists);
    }
    auto values = without_gaps(given_values, call);
    if (!values.ok()) return values.status();
    return RaggedParts::join(*std::move(values), std::move(lists));
  });
}

Result<RaggedTensor> RaggedTensor::make(const Tensor& values, const std::vector<Tensor>& nested_row_splits,
                                        const Context& context) {
  return named::make_ragged(values, nested_row_splits, "nested_row_splits", context);
}

Result<RaggedTensor> RaggedTensor::make(const ConstView& values, std::shared_ptr<const void> owner,
                                        const std::vector<ConstView>& nested_row_splits, const Context& context) {
  const auto lists = without_throwing([&]() -> Result<std::vector<Tensor>> {
    std::vector<Tensor> tensors;
    for (const ConstView& list : nested_row_splits) tensors.push_back(detail::shared_tensor(list, nullptr));
    return tensors;
  });
  if (!lists.ok()) return lists.status();
  return make(detail::shared_tensor(values, std::move(owner)), *lists, context);
}

Result<RaggedTensor> named::ragged_from_row_lengths(const Tensor& given_values, const std::vector<Tensor>& row_lengths,
                                                    const char* argument, const Context& context) {
  return without_throwing([&]() -> Result<RaggedTensor> {
    if (row_lengths.empty()) return RaggedTensor::make(given_values, {}, context);
    BACKSLICE_RETURN_IF_ERROR(check_memory(given_values));
    const Call call(context, given_values.device());
    BACKSLICE_RETURN_IF_ERROR(check_has_rows(given_values));
    auto splits = add_up_row_lengths(row_lengths, argument, given_values.shape()[0], call);
    if (!splits.ok()) return splits.status();
    auto values = without_gaps(given_values, call);
    if (!values.ok()) return values.status();
    return RaggedParts::join(*std::move(values), std::move(splits->lists));
  });
}

Result<RaggedTensor> RaggedTensor::from_row_lengths(const Tensor& values, const std::vector<Tensor>& lengths,
                                                    const Context& context) {
  return named::ragged_from_row_lengths(values, lengths, "nested_row_lengths", context);
}

bool RaggedTensor::equals(const RaggedTensor& other) const {
  if (dtype() != other.dtype() || ragged_rank() != other.ragged_rank() || !(values_.shape() == other.values_.shape())) {
    return false;
  }
  for (int level = 0; level < ragged_rank(); ++level) {
    const auto at = static_cast<std::size_t>(level);
    if (!(splits_[at].shape() == other.splits_[at].shape())) return false;
    for (std::int64_t i = 0; i < splits_[at].shape()[0]; ++i) {
      if (split(level, i) != other.split(level, i)) return false;
    }
  }
  const std::int64_t count = values_.shape().elements(), size = values_.view().layout.item_size;
  if (size != other.values_.view().layout.item_size) return false;
  const Tensor mine = on_cpu(values_), others = on_cpu(other.values_);
  return operations_of(dtype()).equal(mine.data(), others.data(), count, size);
}

std::int64_t RaggedTensor::rows() const { return splits_.empty() ? values_.shape()[0] : splits_[0].shape()[0] - 1; }

Result<RaggedTensor> RaggedTensor::slice_rows(std::int64_t lo, std::int64_t hi, const Context& context) const {
  return without_throwing([&]() -> Result<RaggedTensor> {
    BACKSLICE_RETURN_IF_ERROR(check_is_no_scalar(*this));
    if (lo < 0 || hi < lo || hi > rows()) {
      return out_of_range("rows ", lo, " to ", hi, " are out of bounds for ", counted(rows(), "row", "rows"))
          .at(lo < 0 || lo > rows() ? "lo" : "hi");
    }
    const Call call(context, device());
    std::vector<Tensor> splits;
    for (int level = 0; level < ragged_rank(); ++level) {
      auto own = rebased(*this, level, lo, hi, call);
      if (!own.ok()) return own.status();
      splits.push_back(*std::move(own));
      lo = split(level, lo);
      hi = split(level, hi);
    }
    return RaggedTensor(backslice::rows_of(values_, lo, hi), std::move(splits));
  });
}

Result<RaggedTensor> RaggedTensor::row(std::int64_t i, const Context& context) const {
  return without_throwing([&]() -> Result<RaggedTensor> {
    BACKSLICE_RETURN_IF_ERROR(check_is_no_scalar(*this));
    if (i < 0 || i >= rows()) {
      return out_of_range("row ", i, " is out of bounds for ", counted(rows(), "row", "rows")).at("i");
    }
    if (ragged_rank() == 0) return RaggedTensor(backslice::row_of(values_, i), {});
    auto one = slice_rows(i, i + 1, context);
    if (one.ok()) one->splits_.erase(one->splits_.begin());
    return one;
  });
}

}  // namespace backslice
