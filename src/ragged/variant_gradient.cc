// The gradient of a ragged tensor that was encoded row by row: sizes first, then the pieces one after the other.
#include <algorithm>
#include <span>

#include "backslice/ragged_variant.h"
#include "core/checked_math.h"
#include "core/errors.h"
#include "core/overlap.h"
#include "ops/checks.h"
#include "ops/joiner.h"
#include "ragged/named.h"
#include "ragged/row_splits.h"
#include "ragged/values_type.h"

namespace backslice {
namespace {

// The elements of an array, reduced to their values.
struct EncodedPieces {
  const VariantArray& encoded;
  const char* argument;

  std::int64_t size() const { return encoded.size(); }
  bool has_missing() const { return encoded.has_missing(); }
  VariantArray::Piece piece(std::int64_t i) const { return encoded.piece(i); }
  void push(Joiner& joiner, const VariantArray::Piece& piece, std::int64_t i) const {
    joiner.push(piece.data, piece.elements, [&]() -> const Buffer& { return encoded.buffer(i); });
  }
};

// Pieces in the caller's memory.
struct BorrowedPieces {
  std::span<const VariantArray::Piece> pieces;
  bool is_any_missing;
  const char* argument;

  std::int64_t size() const { return static_cast<std::int64_t>(pieces.size()); }
  bool has_missing() const { return is_any_missing; }
  VariantArray::Piece piece(std::int64_t i) const { return pieces[static_cast<std::size_t>(i)]; }
  void push(Joiner& joiner, const VariantArray::Piece& piece, std::int64_t) const {
    joiner.push_borrowed(piece.data, piece.elements);
  }
};

// The known splits of the encoded tensor: enough to compute the sizes of missing pieces.
class KnownSplits {
 public:
  template <class Pieces>
  static Result<KnownSplits> make(const std::vector<Tensor>& given, const Pieces& encoded, const Shape& shape,
                                  const Call& call) {
    if (given.empty()) return invalid_argument("row_splits: at least one list is needed").at("row_splits");
    KnownSplits known;
    if (given.size() == 1 && given[0].shape().rank() == 0) {
      if (!encoded.has_missing()) return known;
      return invalid_argument("row_splits is a scalar, but a piece is missing: its size must come from the splits")
          .at("row_splits");
    }
    // Checks the splits like those of a ragged tensor. The last list says how many values there are.
    auto splits =
        check_row_splits(given, "row_splits", std::nullopt, encoded.has_missing() ? Keep::Yes : Keep::No, call);
    if (!splits.ok()) return splits.status();
    if (splits->rows < encoded.size()) {
      return invalid_argument("row_splits is for ", counted(splits->rows, "row", "rows"), ", but there are ",
                              counted(encoded.size(), "piece", "pieces"))
          .at("row_splits");
    }
    if (given.size() > 1 && (shape.rank() == 0 || splits->values != shape[0])) {
      return invalid_argument("the innermost of row_splits ends at ", splits->values, ", but dense_values_shape is ",
                              Ints(shape))
          .at("row_splits");
    }
    known.splits_ = std::move(splits->lists);
    return known;
  }

  // Returns the number of values of piece i, along the first axis. Precondition: a piece is missing.
  std::int64_t values_of(std::int64_t i) const {
    std::int64_t lo = i, hi = i + 1;
    for (const Tensor& list : splits_) {
      lo = at(list, lo);
      hi = at(list, hi);
    }
    return hi - lo;
  }

 private:
  static std::int64_t at(const Tensor& list, std::int64_t i) {
    if (list.dtype() == DType::Int32) return reinterpret_cast<const std::int32_t*>(list.data())[i];
    return reinterpret_cast<const std::int64_t*>(list.data())[i];
  }

  std::vector<Tensor> splits_;
};

// Returns the number of elements of a missing piece: its rows times the elements of a row. Without rows it is 0,
// however large a row is.
class MissingPieces {
 public:
  MissingPieces(const KnownSplits& splits, const Shape& shape) : splits_(splits), shape_(shape) {
    Dims dims(shape);
    if (!dims.empty()) dims.erase_first();
    if (const auto row = Shape::make(dims); row.ok()) row_ = row->elements();
  }

  Result<std::int64_t> elements(std::int64_t i) const {
    const std::int64_t rows = splits_.values_of(i);
    const auto elements = rows == 0 ? std::optional<std::int64_t>(0)
                          : row_    ? checked_multiply(rows, *row_)
                                    : std::nullopt;
    if (elements) return *elements;
    return invalid_argument("piece ", i, " is missing, and its ", counted(rows, "row", "rows"),
                            " of dense_values_shape ", Ints(shape_), " have more than 2**63 - 1 elements")
        .at("dense_values_shape");
  }

 private:
  const KnownSplits& splits_;
  const Shape& shape_;
  std::optional<std::int64_t> row_;  // nullopt if it does not fit
};

Status check_total(std::int64_t pieces, std::int64_t total, const Shape& shape) {
  if (total == shape.elements()) return Status();
  return invalid_argument("the ", counted(pieces, "piece has ", "pieces have "), counted(total, "element", "elements"),
                          " in all, but dense_values_shape ", Ints(shape), " has ", shape.elements())
      .at("dense_values_shape");
}

// `argument` has the pieces.
Status check_piece(const VariantArray::Piece& piece, std::int64_t i, const ValuesType& type, Device device,
                   const char* argument) {
  if (piece.missing) {
    if (piece.elements == 0 || has_zero(type.dtype)) return Status();
    return dtype_error(name(type.dtype), " has no zero, and piece ", i, " is missing").at(argument, i);
  }
  if (piece.dtype != type.dtype) {
    return dtype_error("piece ", i, " has dtype ", name(piece.dtype), ", expected ", name(type.dtype)).at(argument, i);
  }
  if (piece.item_size != type.item_size) {
    return dtype_error("piece ", i, " has items of ", piece.item_size, " bytes, expected ", type.item_size)
        .at(argument, i);
  }
  if (piece.device == device) return Status();
  return invalid_argument("piece ", i, " is on ", to_string(piece.device), ", expected ", to_string(device))
      .at(argument, i);
}

// The rows of one ragged tensor: checks that hold for all rows are done once.
Result<Joiner> whole_batch(const VariantArray& encoded, const Shape& shape, const ValuesType& type, Device device,
                           const char* argument) {
  const Tensor& values = encoded.batch()->values();
  const ConstView view = values.view();
  BACKSLICE_RETURN_IF_ERROR(check_piece(
      {view.data, view.elements(), false, view.dtype, view.layout.item_size, view.device}, 0, type, device, argument));
  BACKSLICE_RETURN_IF_ERROR(check_total(encoded.size(), view.elements(), shape));
  Joiner pieces(type.dtype, type.item_size, 1);
  pieces.push(view.data, view.elements(), [&]() -> const Buffer& { return values.buffer(); });
  return pieces;
}

// How many elements pieces have so far: all of them, and the missing ones among them, whose sizes are from row_splits.
struct Taken {
  std::int64_t all = 0, missing = 0;
};

// An error about a piece for which the pieces before it leave too little.
Status does_not_fit(const VariantArray::Piece& piece, std::int64_t i, const Shape& shape, const Taken& before,
                    const char* argument) {
  const std::string elements = counted(piece.elements, "element", "elements");
  const std::string rest =
      join(", but the pieces before it leave ", shape.elements() - before.all, " of the ",
           counted(shape.elements(), "element", "elements"), " of dense_values_shape ", Ints(shape));
  if (piece.missing) {
    return invalid_argument("row_splits give ", elements, " to piece ", i, ", which is missing", rest).at("row_splits");
  }
  if (before.missing == 0) return invalid_argument("piece ", i, " has ", elements, rest).at(argument, i);
  return invalid_argument("piece ", i, " has ", elements, rest, "; row_splits give ", before.missing,
                          " of theirs to missing pieces");
}

// Computes the sizes first: each piece, then their total.
template <class Pieces>
Result<Joiner> separate_pieces(const Pieces& encoded, const KnownSplits& splits, const Shape& shape,
                               const ValuesType& type, Write write, const Call& call) {
  const auto bytes = size_in_bytes(shape, type.item_size);  // no piece of this shape has more
  if (!bytes.ok()) return bytes.status();
  const MissingPieces missing(splits, shape);
  Joiner pieces(type.dtype, type.item_size, static_cast<std::size_t>(encoded.size()));
  Taken taken;
  for (std::int64_t i = 0; i < encoded.size(); ++i) {
    call.tasks.throw_if_cancelled_at(i);
    VariantArray::Piece piece = encoded.piece(i);
    if (piece.missing) {
      const auto elements = missing.elements(i);
      if (!elements.ok()) return elements.status();
      piece.elements = *elements;
    }
    if (!piece.missing || write != Write::Accumulate)
      BACKSLICE_RETURN_IF_ERROR(check_piece(piece, i, type, call.device, encoded.argument));
    if (piece.elements > shape.elements() - taken.all) {
      return does_not_fit(piece, i, shape, taken, encoded.argument);
    }
    taken.all += piece.elements;
    if (piece.missing) {
      taken.missing += piece.elements;
      pieces.push_zeros(piece.elements);
    } else {
      encoded.push(pieces, piece, i);
    }
  }
  BACKSLICE_RETURN_IF_ERROR(check_total(encoded.size(), taken.all, shape));
  return pieces;
}

// Returns the checked pieces, ready to be joined to a tensor of that shape.
template <class Pieces>
Result<Joiner> checked_pieces(const Pieces& pieces, const VariantArray* encoded, const std::vector<Tensor>& row_splits,
                              const Shape& shape, const ValuesType& type, Write write, const Call& call) {
  const auto splits = KnownSplits::make(row_splits, pieces, shape, call);
  if (!splits.ok()) return splits.status();
  if (pieces.has_missing() && shape.rank() == 0) {
    return invalid_argument("dense_values_shape is [], which has no rows for the pieces that are missing")
        .at("dense_values_shape");
  }
  if (encoded != nullptr && encoded->batch() != nullptr)
    return whole_batch(*encoded, shape, type, call.device, pieces.argument);
  return separate_pieces(pieces, *splits, shape, type, write, call);
}

Status check_gradient_output(const View& out, const Shape& shape, const Joiner& pieces, const ValuesType& type,
                             const std::vector<Tensor>& row_splits, Write write, const char* argument) {
  BACKSLICE_RETURN_IF_ERROR(
      check_output(out, "out", shape, type.dtype, type.item_size, "the pieces", RunsOn::AnyDevice));
  if (pieces.shares_memory_with(out)) return invalid_argument("out shares memory with a piece").at("out");
  for (std::size_t i = 0; i < row_splits.size(); ++i) {
    if (overlap(out, row_splits[i].view())) {
      return invalid_argument("out shares memory with row_splits[", i, "]").at("out");
    }
  }
  return write == Write::Accumulate ? check_can_accumulate(type.dtype, argument) : Status();
}

}  // namespace

Result<Tensor> ragged_tensor_to_variant_gradient(const VariantArray& encoded, const std::vector<Tensor>& row_splits,
                                                 Ints dense_values_shape, std::optional<ValuesType> Tvalues,
                                                 const Context& context) {
  return without_throwing([&]() -> Result<Tensor> {
    const auto shape = Shape::make(dense_values_shape, "dense_values_shape");
    if (!shape.ok()) return shape.status();
    const auto type = values_type(encoded, Tvalues, "Tvalues");
    if (!type.ok()) return type.status();
    const Call call(context, device_of(encoded, device_of(context)));
    const auto pieces = checked_pieces(EncodedPieces{encoded, "encoded_ragged_grad"}, &encoded, row_splits, *shape,
                                       *type, Write::Overwrite, call);
    if (!pieces.ok()) return pieces.status();
    return pieces->join(*shape, call);
  });
}

namespace {

// `first` is the type of the pieces. If all are missing, out gives the type.
template <class Pieces>
Status gradient_into(const Pieces& given, const VariantArray* encoded, const std::optional<ValuesType>& first,
                     const std::vector<Tensor>& row_splits, Ints dense_values_shape, const View& out, Write write,
                     const Context& context) {
  return without_throwing([&]() -> Status {
    const auto shape = Shape::make(dense_values_shape, "dense_values_shape");
    if (!shape.ok()) return shape.status();
    BACKSLICE_RETURN_IF_ERROR(check_input(out, "out", RunsOn::AnyDevice));
    const ValuesType type = first.value_or(ValuesType{out.dtype, out.layout.item_size});
    const Call call(context, out.device);
    const auto pieces = checked_pieces(given, encoded, row_splits, *shape, type, write, call);
    if (!pieces.ok()) return pieces.status();
    BACKSLICE_RETURN_IF_ERROR(check_gradient_output(out, *shape, *pieces, type, row_splits, write, given.argument));
    return pieces->join_into(out, write, call);
  });
}

std::optional<ValuesType> type_of(const VariantArray::Piece& piece) { return ValuesType{piece.dtype, piece.item_size}; }

}  // namespace

Status named::ragged_tensor_to_variant_gradient_into(const VariantArray& encoded, const char* argument,
                                                     const std::vector<Tensor>& row_splits, Ints dense_values_shape,
                                                     const View& out, Write write, const Context& context) {
  const auto first = first_piece(encoded);
  return gradient_into(EncodedPieces{encoded, argument}, &encoded, first ? type_of(*first) : std::nullopt, row_splits,
                       dense_values_shape, out, write, context);
}

Status ragged_tensor_to_variant_gradient_into(const VariantArray& encoded_ragged_grad,
                                              const std::vector<Tensor>& row_splits, Ints dense_values_shape,
                                              const View& out, Write write, const Context& context) {
  return named::ragged_tensor_to_variant_gradient_into(encoded_ragged_grad, "encoded_ragged_grad", row_splits,
                                                       dense_values_shape, out, write, context);
}

Status named::ragged_pieces_gradient_into(std::span<const VariantArray::Piece> pieces, const char* argument,
                                          const std::vector<Tensor>& row_splits, Ints dense_values_shape,
                                          const View& out, Write write, const Context& context) {
  const auto is_missing = [](const VariantArray::Piece& piece) { return piece.missing; };
  const auto first = std::find_if_not(pieces.begin(), pieces.end(), is_missing);
  const BorrowedPieces given{pieces, std::any_of(pieces.begin(), pieces.end(), is_missing), argument};
  return gradient_into(given, nullptr, first != pieces.end() ? type_of(*first) : std::nullopt, row_splits,
                       dense_values_shape, out, write, context);
}

}  // namespace backslice
