// TensorArray: the operations that write.
#include <algorithm>

#include "core/errors.h"
#include "ops/checks.h"
#include "tensor_array/writing.h"

namespace backslice {

using namespace tensor_array;

namespace {

using Writes = std::vector<ElementWrite>;

// Values are not checked again later, so device memory must be valid now.
Status check_device(const State& array, const Tensor& value) {
  BACKSLICE_RETURN_IF_ERROR(array.check_written_device(value.device()));
  return value.device().is_cpu() ? Status() : check_input(value.view(), "value", RunsOn::AnyDevice);
}

Status check_dtype(const State& array, const Tensor& value) {
  BACKSLICE_RETURN_IF_ERROR(check_device(array, value));
  if (value.dtype() != array.dtype) {
    return dtype_error(array.prefix(), "dtype is ", name(array.dtype), " but a value of dtype ", name(value.dtype()),
                       " was written")
        .at("value");
  }
  const std::int64_t size = value.view().layout.item_size;
  if (size == array.item_size) return Status();
  return dtype_error(array.prefix(), "items have ", array.item_size, " bytes but a value with items of ", size,
                     " was written")
      .at("value");
}

Status check_value_rows(const State& array, Ints indices, const Tensor& value) {
  if (value.shape().rank() < 1) {
    return invalid_argument(array.prefix(), "value must have one row per index, got a scalar").at("value");
  }
  if (static_cast<std::int64_t>(indices.size()) == value.shape()[0]) return Status();
  return invalid_argument(array.prefix(), "value must have one row per index, but it has shape ", Ints(value.shape()),
                          ", and indices has ", counted(indices.size(), "entry", "entries"))
      .at("value");
}

// Checks the array's own state before any element.
Status check_scatter(const State& array, Ints indices, const Tensor& value, ChosenBy chosen_by) {
  BACKSLICE_RETURN_IF_ERROR(check_value_rows(array, indices, value));
  BACKSLICE_RETURN_IF_ERROR(check_dtype(array, value));
  const std::shared_lock lock(array.mutex);
  BACKSLICE_RETURN_IF_ERROR(array.check_open());
  const auto largest = std::max_element(indices.begin(), indices.end());
  if (largest == indices.end() || *largest < array.size || array.options.dynamic_size) return Status();
  const std::string elements = counted(array.size, "element", "elements") + " and a fixed size";
  if (chosen_by.argument == nullptr) {
    return invalid_argument(array.prefix(), "value has ", counted(indices.size(), "row", "rows"),
                            ", but the array has ", elements)
        .at("value");
  }
  const auto at = largest - indices.begin();
  return invalid_argument(array.prefix(), "indices[", at, "] is ", *largest, ", but the array has ", elements)
      .at("indices", at);
}

Status scatter_rows(State& array, Ints indices, const Tensor& value, ChosenBy chosen_by, const Call& call) {
  BACKSLICE_RETURN_IF_ERROR(check_scatter(array, indices, value, chosen_by));
  Writes writes;
  writes.reserve(indices.size());
  for (std::size_t i = 0; i < indices.size(); ++i) {
    writes.push_back({.index = indices[i], .part = ElementWrite::Part::Row, .lo = static_cast<std::int64_t>(i)});
  }
  return write_elements(array, value, writes, chosen_by, call);
}

Status check_sum(const State& array, const Tensor& value, Ints lengths) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] < 0) {
      return invalid_argument(array.prefix(), "lengths[", i, "] is ", lengths[i], ", must be >= 0")
          .at("lengths", static_cast<std::int64_t>(i));
    }
    if (__builtin_add_overflow(sum, lengths[i], &sum)) {
      return invalid_argument(array.prefix(), "lengths add up to more than 2**63 - 1 (at lengths[", i, "])")
          .at("lengths");
    }
  }
  if (sum == value.shape()[0]) return Status();
  return invalid_argument(array.prefix(), "lengths must add up to the rows of value, but the sum is ", sum,
                          " and value has shape ", Ints(value.shape()))
      .at("lengths");
}

Status check_split(const State& array, const Tensor& value, Ints lengths) {
  if (value.shape().rank() < 1) {
    return invalid_argument(array.prefix(), "value must have rows to split, got a scalar").at("value");
  }
  BACKSLICE_RETURN_IF_ERROR(check_sum(array, value, lengths));
  BACKSLICE_RETURN_IF_ERROR(check_dtype(array, value));
  const std::shared_lock lock(array.mutex);
  BACKSLICE_RETURN_IF_ERROR(array.check_open());
  const auto count = static_cast<std::int64_t>(lengths.size());
  if (array.options.dynamic_size ? count >= array.size : count == array.size) return Status();
  return invalid_argument(array.prefix(), "lengths has ", counted(count, "entry", "entries"), ", but the array has ",
                          counted(array.size, "element", "elements"),
                          array.options.dynamic_size ? "; only more are possible" : " and a fixed size")
      .at("lengths");
}

}  // namespace

Status TensorArray::write(std::int64_t index, const Tensor& value, const Context& context) {
  return without_throwing([&] {
    BACKSLICE_RETURN_IF_ERROR(check_dtype(*state_, value));
    return write_element(*state_, index, value, context);
  });
}

Status TensorArray::scatter(Ints indices, const Tensor& value, const Context& context) {
  return without_throwing(
      [&] { return scatter_rows(*state_, indices, value, kByIndices, Call(context, value.device())); });
}

Status TensorArray::unstack(const Tensor& value, const Context& context) {
  return without_throwing([&]() -> Status {
    if (value.shape().rank() < 1) {
      return invalid_argument(state_->prefix(), "value must have one row per element, got a scalar").at("value");
    }
    const auto indices = state_->indices_up_to(value.shape()[0], "unstacked");
    if (!indices.ok()) return indices.status();
    return scatter_rows(*state_, *indices, value, kAll, Call(context, value.device()));
  });
}

Status TensorArray::split(const Tensor& value, Ints lengths, const Context& context) {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check_split(*state_, value, lengths));
    Writes writes;
    writes.reserve(lengths.size());
    std::int64_t row = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
      const auto index = static_cast<std::int64_t>(i);
      writes.push_back({.index = index, .part = ElementWrite::Part::Rows, .lo = row, .hi = row + lengths[i]});
      row += lengths[i];
    }
    return write_elements(*state_, value, writes, kAll, Call(context, value.device()));
  });
}

}  // namespace backslice
