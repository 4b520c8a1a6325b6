#include "backslice/ragged_tensor.h"

#include <algorithm>

#include "containers/elements.h"
#include "containers/splits_builder.h"
#include "core/errors.h"
#include "core/row_layout.h"
#include "kernels/pieces/pieces.h"
#include "ops/checks.h"

namespace backslice {
namespace {

Result<Tensor> without_gaps(const Tensor& tensor) {
  if (is_dense(tensor)) return tensor;
  return slice(Selection::all(tensor.shape()), tensor.view());
}

template <class T>
Status check_order(const Tensor& splits) {
  const auto* s = reinterpret_cast<const T*>(splits.view().data);
  const std::int64_t count = splits.shape()[0];
  if (s[0] != 0)
    return invalid_argument("Invalid ragged splits: first element of ragged splits must be 0, but is ", s[0]);
  bool ascending = true;  // without a branch in the loop
  for (std::int64_t i = 1; i < count; ++i) ascending &= s[i - 1] <= s[i];
  if (ascending) return Status();
  std::int64_t i = 1;
  while (s[i - 1] <= s[i]) ++i;
  return invalid_argument("Invalid ragged splits: ragged splits must be monotonically increasing, but ragged_splits[",
                          i, "]=", s[i], " is smaller than row_splits[", i - 1, "]=", s[i - 1]);
}

Status check_splits(const Tensor& splits, std::size_t level) {
  if (splits.shape().rank() != 1) {
    return invalid_argument("nested_row_splits[", level, "] must be a vector, got shape ", Ints(splits.shape()));
  }
  if (splits.shape()[0] == 0) {
    return invalid_argument("Invalid ragged splits: nested_row_splits[", level,
                            "] is empty; it has one item more than "
                            "there are rows");
  }
  return splits.dtype() == DType::Int32 ? check_order<std::int32_t>(splits) : check_order<std::int64_t>(splits);
}

// splits[lo..hi] with the first subtracted.
Result<Tensor> rebased(const RaggedTensor& rt, int level, std::int64_t lo, std::int64_t hi) {
  const Tensor& splits = rt.nested_row_splits()[static_cast<std::size_t>(level)];
  if (lo == 0) return rows_of(splits, 0, hi + 1);
  auto made = SplitsBuilder::make(splits.dtype(), hi - lo);
  if (!made.ok()) return made.status();
  for (std::int64_t i = lo + 1; i <= hi; ++i) made->push(rt.split(level, i) - rt.split(level, lo));
  return made->finish();
}

}  // namespace

Result<RaggedTensor> RaggedTensor::make(const Tensor& given_values, std::vector<Tensor> splits) {
  return without_throwing([&]() -> Result<RaggedTensor> {
    auto values = without_gaps(given_values);
    if (!values.ok()) return values.status();
    if (!splits.empty() && values->shape().rank() == 0) {
      return invalid_argument("values must have at least one axis when there are row splits, got a scalar");
    }
    for (std::size_t level = 0; level < splits.size(); ++level) {
      const DType dtype = splits[level].dtype();
      if (dtype != DType::Int32 && dtype != DType::Int64) {
        return dtype_error("nested_row_splits[", level, "] has dtype ", name(dtype), ", expected int64 or int32");
      }
      if (dtype != splits[0].dtype()) {
        return dtype_error("nested_row_splits[", level, "] has dtype ", name(dtype), ", but nested_row_splits[0] has ",
                           name(splits[0].dtype()));
      }
      auto dense = without_gaps(splits[level]);
      if (!dense.ok()) return dense.status();
      splits[level] = *std::move(dense);
    }
    // Innermost first, each fully.
    RaggedTensor rt(*std::move(values), std::move(splits));
    for (std::size_t level = rt.splits_.size(); level-- > 0;) {
      BACKSLICE_RETURN_IF_ERROR(check_splits(rt.splits_[level], level));
      const bool innermost = level + 1 == rt.splits_.size();
      const std::int64_t inner = innermost ? rt.values_.shape()[0] : rt.splits_[level + 1].shape()[0] - 1;
      const std::int64_t last = rt.split(static_cast<int>(level), rt.splits_[level].shape()[0] - 1);
      if (last != inner) {
        return invalid_argument("Invalid ragged splits: the last of nested_row_splits[", level, "] is ", last,
                                ", but there are ", inner, innermost ? " values" : " rows in the next list");
      }
    }
    return rt;
  });
}

Result<RaggedTensor> RaggedTensor::from_row_lengths(const Tensor& values, const std::vector<Tensor>& lengths) {
  return without_throwing([&]() -> Result<RaggedTensor> {
    std::vector<Tensor> splits;
    for (const Tensor& given : lengths) {
      const DType dtype = given.dtype();
      const std::size_t level = splits.size();
      if (dtype != DType::Int32 && dtype != DType::Int64) {
        return dtype_error("nested_row_lengths[", level, "] has dtype ", name(dtype), ", expected int64 or int32");
      }
      if (given.shape().rank() != 1) {
        return invalid_argument("nested_row_lengths[", level, "] must be a vector, got shape ", Ints(given.shape()));
      }
      auto dense = without_gaps(given);
      if (!dense.ok()) return dense.status();
      auto list = Tensor::make(dtype, *Shape::make({given.shape()[0] + 1}));
      if (!list.ok()) return list.status();
      const auto add_up = [&]<class T>() -> Status {
        T sum = 0;
        list->elements<T>()[0] = 0;
        for (std::size_t i = 0; i < dense->elements<T>().size(); ++i) {
          const T length = dense->elements<T>()[i];
          if (length < 0) {
            return invalid_argument("nested_row_lengths[", level, "][", i, "] is ", length, ", must be >= 0");
          }
          if (__builtin_add_overflow(sum, length, &sum)) {
            return invalid_argument("nested_row_lengths[", level, "] add up to more than ", name(dtype), " holds");
          }
          list->elements<T>()[i + 1] = sum;
        }
        return Status();
      };
      BACKSLICE_RETURN_IF_ERROR(dtype == DType::Int32 ? add_up.operator()<std::int32_t>()
                                                      : add_up.operator()<std::int64_t>());
      splits.push_back(*std::move(list));
    }
    return make(values, std::move(splits));
  });
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
  if (dtype() == DType::String) {
    const auto* strings = reinterpret_cast<const std::string*>(values_.data());
    return std::equal(strings, strings + count, reinterpret_cast<const std::string*>(other.values_.data()));
  }
  return size == other.values_.view().layout.item_size &&
         std::equal(values_.data(), values_.data() + count * size, other.values_.data());
}

std::int64_t RaggedTensor::rows() const { return splits_.empty() ? values_.shape()[0] : splits_[0].shape()[0] - 1; }

Result<RaggedTensor> RaggedTensor::slice_rows(std::int64_t lo, std::int64_t hi) const {
  return without_throwing([&]() -> Result<RaggedTensor> {
    std::vector<Tensor> splits;
    for (int level = 0; level < ragged_rank(); ++level) {
      auto own = rebased(*this, level, lo, hi);
      if (!own.ok()) return own.status();
      splits.push_back(*std::move(own));
      lo = split(level, lo);
      hi = split(level, hi);
    }
    return RaggedTensor(backslice::rows_of(values_, lo, hi), std::move(splits));
  });
}

Result<RaggedTensor> RaggedTensor::row(std::int64_t i) const {
  if (ragged_rank() == 0) return RaggedTensor(backslice::row_of(values_, i), {});
  auto one = slice_rows(i, i + 1);
  if (!one.ok()) return one;
  one->splits_.erase(one->splits_.begin());
  return one;
}

namespace {

Status check_rows(const RaggedTensor& rt, const Selection& rows) {
  if (rt.values().shape().rank() == 0) return invalid_argument("a scalar has no rows to slice");
  if (rows.shape().rank() == 1 && rows.shape()[0] == rt.rows() && !rows.is_dropped(0) &&
      rows.result_shape().rank() == 1) {
    return Status();
  }
  return invalid_argument("the slice must be a range of the ", rt.rows(), " rows, got one of shape ",
                          Ints(rows.shape()), " with a result of rank ", rows.result_shape().rank());
}

// The i-th row that is taken.
Range nth_row(const Selection& rows, std::int64_t i) {
  const std::int64_t row = rows.axis(0).start + i * rows.axis(0).step;
  return {row, row + 1};
}

}  // namespace

Result<RaggedTensor> ragged_slice(const RaggedTensor& rt, const Selection& rows, const Options& options) {
  return without_throwing([&]() -> Result<RaggedTensor> {
    BACKSLICE_RETURN_IF_ERROR(check_rows(rt, rows));
    const std::int64_t count = rows.axis(0).count;
    if (rows.axis(0).step == 1) return rt.slice_rows(rows.axis(0).start, rows.axis(0).start + count);
    // Row by row, then joined: splits of each level are the lengths of the rows that are taken, added up.
    std::vector<Range> taken;
    for (std::int64_t i = 0; i < count; ++i) taken.push_back(nth_row(rows, i));
    std::vector<Tensor> splits;
    for (int level = 0; level < rt.ragged_rank(); ++level) {
      std::int64_t total = 0;
      for (const Range& range : taken) total += range.hi - range.lo;
      auto own = SplitsBuilder::make(rt.splits_dtype(), total);
      if (!own.ok()) return own.status();
      std::int64_t sum = 0;
      for (Range& range : taken) {
        const std::int64_t first = rt.split(level, range.lo), end = rt.split(level, range.hi);
        for (std::int64_t i = range.lo; i < range.hi; ++i) own->push(sum + rt.split(level, i + 1) - first);
        sum += end - first;
        range = {first, end};
      }
      auto list = own->finish();
      if (!list.ok()) return list.status();
      splits.push_back(*std::move(list));
    }
    Dims dims(rt.values().shape());
    dims[0] = 0;
    for (const Range& range : taken) dims[0] += range.hi - range.lo;
    const auto shape = Shape::make(dims, "the result's values");
    if (!shape.ok()) return shape.status();
    std::vector<Element> elements;
    for (const Range& range : taken) {
      const Tensor part = rows_of(rt.values(), range.lo, range.hi);
      elements.push_back({part.shape(), {part}});
    }
    auto values =
        join_elements(elements, *shape, rt.dtype(), rt.values().view().layout.item_size, runner_of(options).executor());
    if (!values.ok()) return values.status();
    return RaggedTensor::make(*values, std::move(splits));
  });
}

Result<Tensor> ragged_slice_grad(const RaggedTensor& rt, const Selection& rows, const ConstView& grad_values,
                                 const Options& options) {
  return without_throwing([&]() -> Result<Tensor> {
    BACKSLICE_RETURN_IF_ERROR(check_makes_result(options));
    BACKSLICE_RETURN_IF_ERROR(check_rows(rt, rows));
    BACKSLICE_RETURN_IF_ERROR(check_input(grad_values, "grad_values"));
    Dims expected(rt.values().shape());
    expected[0] = 0;
    for (std::int64_t i = 0; i < rows.axis(0).count; ++i) {
      const Range range = rt.values_of(nth_row(rows, i));
      expected[0] += range.hi - range.lo;
    }
    const auto shape = Shape::make(expected);
    if (!shape.ok()) return shape.status();
    BACKSLICE_RETURN_IF_ERROR(check_shape(grad_values, "grad_values", *shape, "that of the slice's values"));
    const DType dtype = grad_values.dtype;
    if (dtype == DType::String) return dtype_error("grad_values: strings have no gradient");
    if (!has_zero(dtype) && (*shape)[0] < rt.values().shape()[0]) {
      return dtype_error(name(dtype),
                         " has no zero, and the gradient is zero in the rows that the slice does not take");
    }
    auto dense = slice(Selection::all(grad_values.shape()), grad_values, {.executor = options.executor});
    if (!dense.ok()) return dense;
    auto out = Tensor::make(dtype, rt.values().shape(), grad_values.layout.item_size);
    if (!out.ok()) return out;
    // The rows in the order of memory, and the gaps between them.
    const Layout row = row_layout(out->view().layout);
    const std::int64_t bytes = row.shape.elements() * row.item_size, count = rows.axis(0).count;
    const bool backwards = rows.axis(0).step < 0;
    std::vector<PieceOfBytes> pieces;
    std::int64_t written = 0, from = backwards ? (*shape)[0] : 0;
    for (std::int64_t i = 0; i < count; ++i) {
      const Range range = rt.values_of(nth_row(rows, backwards ? count - 1 - i : i));
      const std::int64_t length = range.hi - range.lo;
      if (backwards) from -= length;
      pieces.push_back({nullptr, (range.lo - written) * bytes});
      pieces.push_back({std::as_const(*dense).view().data + from * bytes, length * bytes});
      if (!backwards) from += length;
      written = range.hi;
    }
    pieces.push_back({nullptr, (rt.values().shape()[0] - written) * bytes});
    write_pieces(out->view().data, pieces, runner_of(options));
    return out;
  });
}

}  // namespace backslice
