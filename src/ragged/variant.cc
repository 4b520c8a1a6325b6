#include <algorithm>

#include "backslice/ragged_variant.h"
#include "core/errors.h"
#include "memory/tensor_rows.h"
#include "ops/joiner.h"
#include "ragged/ragged_parts.h"
#include "ragged/splits_builder.h"
#include "ragged/values_type.h"

namespace backslice {

Result<VariantArray> ragged_tensor_to_variant(const RaggedTensor& rt, bool batched_input) {
  return without_throwing([&]() -> Result<VariantArray> {
    if (!batched_input) return VariantArray::make({rt}, {});
    if (rt.values().shape().rank() == 0) return invalid_argument("Can't unbatch rank-0 tensor.");
    return VariantArray::rows_of(rt);
  });
}

namespace {

constexpr int kMaxRaggedRank = 1000;
constexpr std::int64_t kMostRows = 1 << 27;  // of no elements there may be more than memory holds

struct Decoder {
  const VariantArray& encoded;
  int input_ragged_rank;
  ValuesType type;
  DType splits_dtype;
  Call call;

  using Elements = std::vector<const RaggedTensor*>;

  bool has_type(const RaggedTensor& rt) const {
    return rt.dtype() == type.dtype && rt.values().view().layout.item_size == type.item_size;
  }

  // The elements, all there and of the right kind. Rows of a batch are made, and kept in `rows`.
  Result<Elements> elements(std::vector<RaggedTensor>& rows) const {
    if (encoded.batch() != nullptr) {
      if (encoded.size() > kMostRows) {
        return resource_exhausted("encoded has ", encoded.size(), " rows, too many to be put together one by one");
      }
      rows.reserve(static_cast<std::size_t>(encoded.size()));
      for (std::int64_t i = 0; i < encoded.size(); ++i) {
        auto row = encoded.batch()->row(i);
        if (!row.ok()) return row.status();
        rows.push_back(*std::move(row));
      }
    }
    Elements all;
    all.reserve(static_cast<std::size_t>(encoded.size()));
    for (std::int64_t i = 0; i < encoded.size(); ++i) {
      const RaggedTensor* rt = encoded.batch() != nullptr ? &rows[static_cast<std::size_t>(i)] : encoded.listed(i);
      if (rt == nullptr) return invalid_argument("element ", i, " of encoded is missing");
      if (rt->ragged_rank() != input_ragged_rank) {
        return invalid_argument("element ", i, " of encoded has ragged rank ", rt->ragged_rank(), ", expected ",
                                input_ragged_rank);
      }
      if (rt->dtype() != type.dtype) {
        return dtype_error("element ", i, " of encoded has values of dtype ", name(rt->dtype()), ", expected ",
                           name(type.dtype));
      }
      if (const std::int64_t size = rt->values().view().layout.item_size; size != type.item_size) {
        return dtype_error("element ", i, " of encoded has values of ", size, " bytes, expected ", type.item_size);
      }
      if (rt->ragged_rank() > 0 && rt->splits_dtype() != splits_dtype) {
        return dtype_error("element ", i, " of encoded has splits of dtype ", name(rt->splits_dtype()), ", expected ",
                           name(splits_dtype));
      }
      all.push_back(rt);
    }
    return all;
  }

  Result<Tensor> join_values(const Shape& shape) const {
    Joiner pieces(type.dtype, type.item_size, static_cast<std::size_t>(encoded.size()));
    for (std::int64_t i = 0; i < encoded.size(); ++i) {
      const VariantArray::Piece piece = encoded.piece(i);
      pieces.push(piece.data, piece.elements, [&]() -> const Buffer& { return encoded.buffer(i); });
    }
    return pieces.join(shape, call);
  }

  Result<RaggedTensor> empty(int output_ragged_rank) const {
    std::vector<Tensor> splits;
    for (int level = 0; level < output_ragged_rank; ++level) {
      auto builder = SplitsBuilder::make(splits_dtype, 0);
      if (!builder.ok()) return builder.status();
      auto list = builder->finish();
      if (!list.ok()) return list.status();
      splits.push_back(*std::move(list));
    }
    auto values = call.allocate(type.dtype, *Shape::make({0}), type.item_size);
    if (!values.ok()) return values.status();
    return RaggedParts::join(*std::move(values), std::move(splits));
  }

  Result<RaggedTensor> dense_stack() const {
    if (encoded.size() == 0) return empty(0);
    // The rows of one tensor, as they are.
    if (const RaggedTensor* batch = encoded.batch();
        batch != nullptr && batch->ragged_rank() == 0 && has_type(*batch)) {
      return *batch;
    }
    std::vector<RaggedTensor> rows;
    const auto all = elements(rows);
    if (!all.ok()) return all.status();
    const Shape& first = (*all)[0]->values().shape();
    for (std::size_t i = 1; i < all->size(); ++i) {
      const Shape& shape = (*all)[i]->values().shape();
      if (!(shape == first)) {
        return invalid_argument("element ", i, " of encoded has shape ", Ints(shape), ", but element 0 has ",
                                Ints(first), "; a dense stack needs equal shapes");
      }
    }
    const auto shape = stacked_shape(encoded.size(), first);
    if (!shape.ok()) return shape.status();
    auto values = join_values(*shape);
    if (!values.ok()) return values.status();
    return RaggedParts::join(*std::move(values), {});
  }

  // The splits of the array's own axes but the last, which are all of one length.
  Status append_uniform(std::vector<Tensor>& splits) const {
    std::int64_t rows = 1;
    for (int axis = 0; axis + 1 < encoded.shape().rank(); ++axis) {
      rows *= encoded.shape()[axis];
      auto builder = SplitsBuilder::make(splits_dtype, rows);
      if (!builder.ok()) return builder.status();
      for (std::int64_t i = 1; i <= rows; ++i) builder->push(i * encoded.shape()[axis + 1]);
      auto own = builder->finish();
      if (!own.ok()) return own.status();
      splits.push_back(*std::move(own));
    }
    return Status();
  }

  Result<RaggedTensor> ragged_stack() const {
    std::vector<Tensor> splits;
    BACKSLICE_RETURN_IF_ERROR(append_uniform(splits));
    // The rows of one ragged tensor, as they are: they need not be taken apart to be put together again.
    if (const RaggedTensor* batch = encoded.batch(); batch != nullptr &&
                                                     batch->ragged_rank() == input_ragged_rank + 1 &&
                                                     has_type(*batch) && batch->splits_dtype() == splits_dtype) {
      if (splits.empty()) return *batch;
      for (const Tensor& list : batch->nested_row_splits()) splits.push_back(list);
      return RaggedParts::join(batch->values(), std::move(splits));
    }
    std::vector<RaggedTensor> made;
    const auto all = elements(made);
    if (!all.ok()) return all.status();
    const auto shape = values_shape(*all);
    if (!shape.ok()) return shape.status();
    auto outer = SplitsBuilder::make(splits_dtype, encoded.size());
    if (!outer.ok()) return outer.status();
    std::int64_t rows = 0;  // no more than there are values, or items of splits
    for (const RaggedTensor* rt : *all) outer->push(rows += rt->rows());
    auto own = outer->finish();
    if (!own.ok()) return own.status();
    splits.push_back(*std::move(own));
    for (int level = 0; level < input_ragged_rank; ++level) {
      std::int64_t count = 0, offset = 0;
      for (const RaggedTensor* rt : *all)
        count += rt->nested_row_splits()[static_cast<std::size_t>(level)].shape()[0] - 1;
      auto inner = SplitsBuilder::make(splits_dtype, count);
      if (!inner.ok()) return inner.status();
      for (const RaggedTensor* rt : *all) {
        const std::int64_t last = rt->nested_row_splits()[static_cast<std::size_t>(level)].shape()[0] - 1;
        for (std::int64_t i = 1; i <= last; ++i) inner->push(offset + rt->split(level, i));
        offset += rt->split(level, last);
      }
      auto list = inner->finish();
      if (!list.ok()) return list.status();
      splits.push_back(*std::move(list));
    }
    auto values = join_values(*shape);
    if (!values.ok()) return values.status();
    return RaggedParts::join(*std::move(values), std::move(splits));
  }

  // The shape of all values together; they agree but for their first dim.
  static Result<Shape> values_shape(const Elements& all) {
    const Shape& first = all[0]->values().shape();
    std::int64_t rows = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Shape& shape = all[i]->values().shape();
      if (shape.rank() == 0) {
        return invalid_argument("element ", i, " of encoded is a scalar, which cannot be a row of a ragged tensor");
      }
      bool same = shape.rank() == first.rank();
      for (int axis = 1; same && axis < shape.rank(); ++axis) same = shape[axis] == first[axis];
      if (!same) {
        return invalid_argument("element ", i, " of encoded has values of shape ", Ints(shape), ", element 0 has ",
                                Ints(first), "; they must agree but for their first dim");
      }
      if (__builtin_add_overflow(rows, shape[0], &rows)) {
        return invalid_argument("the elements of encoded have more than 2**63 - 1 rows of values (at element ", i, ")");
      }
    }
    Dims dims(first);
    dims[0] = rows;
    return Shape::make(dims, "the result's values");
  }
};

}  // namespace

Result<RaggedTensor> ragged_tensor_from_variant(const VariantArray& encoded, int input_ragged_rank,
                                                int output_ragged_rank, const FromVariantTypes& types,
                                                const Context& context) {
  return without_throwing([&]() -> Result<RaggedTensor> {
    const int d = encoded.shape().rank();
    if (input_ragged_rank < -1) return invalid_argument("input_ragged_rank must be >= -1, got ", input_ragged_rank);
    if (output_ragged_rank < 0) return invalid_argument("output_ragged_rank must be >= 0, got ", output_ragged_rank);
    if (output_ragged_rank > kMaxRaggedRank) {
      return invalid_argument("output_ragged_rank is ", output_ragged_rank, "; at most ", kMaxRaggedRank,
                              " is supported");
    }
    const bool dense = output_ragged_rank == 0 && d > 0 && input_ragged_rank <= 0;
    const int in = dense ? 0 : input_ragged_rank == -1 ? output_ragged_rank - d : input_ragged_rank;
    if (in < 0) {
      return invalid_argument("output_ragged_rank ", output_ragged_rank, " is less than ", d, ", the rank of encoded");
    }
    if (!dense && output_ragged_rank - d != in) {
      return invalid_argument(
          "output_ragged_rank must be equal to input_ragged_rank + encoded_ragged.dims(); "
          "output_ragged_rank: ",
          output_ragged_rank, ", input_ragged_rank: ", in, ", encoded_ragged.dims(): ", d);
    }
    const auto type = values_type(encoded, types.values);
    if (!type.ok()) return type.status();
    DType splits_dtype = types.splits.value_or(DType::Int64);
    if (!types.splits) {
      if (encoded.batch() != nullptr && encoded.batch()->ragged_rank() > 0) {
        splits_dtype = encoded.batch()->splits_dtype();
      } else if (in > 0) {
        for (std::int64_t i = 0; i < encoded.size(); ++i) {
          auto element = encoded.at(i);
          if (!element.ok()) return element.status();
          if (!*element || (*element)->ragged_rank() == 0) continue;
          splits_dtype = (*element)->splits_dtype();
          break;
        }
      }
    }
    if (splits_dtype != DType::Int32 && splits_dtype != DType::Int64) {
      return dtype_error("Tsplits is ", name(splits_dtype), ", expected int64 or int32");
    }
    const Decoder decoder{encoded, in, *type, splits_dtype, Call(context)};
    if (dense) return decoder.dense_stack();
    if (d == 0) {
      std::vector<RaggedTensor> rows;
      const auto all = decoder.elements(rows);
      if (!all.ok()) return all.status();
      return *(*all)[0];
    }
    if (encoded.size() == 0) return decoder.empty(output_ragged_rank);
    return decoder.ragged_stack();
  });
}

Result<VariantArray> ragged_tensor_from_variant_gradient(const RaggedTensor& decoded, Ints encoded_shape) {
  return without_throwing([&]() -> Result<VariantArray> {
    const auto d = static_cast<int>(encoded_shape.size());
    if (d == 0) return ragged_tensor_to_variant(decoded, false);
    if (d > 1 && decoded.ragged_rank() < d - 1) {
      return invalid_argument("encoded_shape ", encoded_shape, " has ", d,
                              " axes, but what was decoded has ragged rank ", decoded.ragged_rank());
    }
    if (decoded.ragged_rank() == 0 || d == 1) {  // all rows, also those of a dense stack
      auto rows = ragged_tensor_to_variant(decoded, true);
      if (!rows.ok()) return rows;
      return rows->reshape(encoded_shape);
    }
    // The array's own axes but the last are splits of one length, and of no more use.
    std::vector<Tensor> splits(decoded.nested_row_splits().begin() + (d - 1), decoded.nested_row_splits().end());
    auto rows = ragged_tensor_to_variant(RaggedParts::join(decoded.values(), std::move(splits)), true);
    if (!rows.ok()) return rows;
    return rows->reshape(encoded_shape);
  });
}

}  // namespace backslice
