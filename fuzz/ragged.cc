// Ragged tensors, compared with vectors of vectors: making, rows, slices, encoding row by row, decoding, gradients.
#include "backslice/ragged_slice.h"
#include "fuzz/input.h"
#include "fuzz/must.h"
#include "fuzz/ragged_model.h"

namespace backslice::fuzz {
namespace {

class Program {
 public:
  Program(Input& in, const RaggedParts& c, const RaggedTensor& rt)
      : in_(in), c_(c), rt_(rt), model_(nested(value_rows(c.values.view()), c.splits)) {}

  void run() {
    must(nested(rt_) == model_, "a ragged tensor is what it was made of");
    must(rt_ == rt_, "a ragged tensor equals itself");
    check_row_lengths();
    for (int left = 8; in_.has_more() && left > 0; --left) {
      switch (in_.within(0, 5)) {
        case 0: rows(); break;
        case 1: slice(); break;
        case 2: slice_grad(); break;
        case 3: encode(); break;
        case 4: gradient_of_pieces(); break;
        default: hostile_gradient(); break;
      }
    }
  }

 private:
  void check_row_lengths() {
    std::vector<Tensor> lengths;
    for (const Numbers& list : c_.splits) {
      Numbers own;
      for (std::size_t i = 1; i < list.size(); ++i) own.push_back(list[i] - list[i - 1]);
      lengths.push_back(tensor_of(in_, c_.splits_dtype, own));
    }
    const auto same_rows = must_get(RaggedTensor::from_row_lengths(c_.values, lengths), "from_row_lengths");
    must(same_rows == rt_, "row lengths say the same as splits");
  }

  std::int64_t count() const { return static_cast<std::int64_t>(model_.rows.size()); }

  void rows() {
    const std::int64_t lo = in_.position(count()), hi = in_.position(count());
    const auto part = rt_.slice_rows(lo, hi);
    if (agree(part.status(), 0 <= lo && lo <= hi && hi <= count(), "slice_rows")) {
      must(nested(*part) == Nested{{model_.rows.begin() + lo, model_.rows.begin() + hi}, {}}, "slice_rows");
    }
    const auto row = rt_.row(lo);
    if (!agree(row.status(), 0 <= lo && lo < count(), "row")) return;
    check_row(*row, model_.rows[static_cast<std::size_t>(lo)], rt_.ragged_rank(), "row");
  }

  Selection any_rows() { return any_selection(in_, {count()}); }

  // Returns whether this is a range of rows or one row, without new axes, as the functions require.
  static bool is_rows(const Selection& s) { return s.result_shape().rank() == (s.is_dropped(0) ? 0 : 1); }

  // Runs both forms: the one that makes a ragged tensor, and the one that fills the caller's memory.
  template <class Make, class Measure, class Fill>
  Result<RaggedTensor> made_or_filled(const Make& make, const Measure& measure, const Fill& fill) {
    if (in_.flag()) return make();
    const auto size = measure();
    if (!size.ok()) return size.status();
    const DType splits_dtype = in_.flag() ? DType::Int32 : DType::Int64;
    std::vector<Placed> lists;
    RaggedView out;
    for (const std::int64_t length : size->splits) {
      lists.emplace_back(in_, splits_dtype, item_size(splits_dtype), Numbers{length}, Strides::Distinct, Device::cpu());
      out.splits.push_back(lists.back().view());
    }
    const Numbers shape(size->values.begin(), size->values.end());
    Placed values(in_, size->dtype, size->item_size, shape, Strides::Distinct);
    out.values = values.view();
    if (Status status = fill(out); !status.ok()) return status;
    values.check_gaps();
    std::vector<Tensor> splits;
    for (Placed& list : lists) {
      list.check_gaps();
      splits.push_back(owned(std::move(list)));
    }
    return RaggedTensor::make(owned(std::move(values)), splits);
  }

  void slice() {
    const Selection s = any_rows();
    const Context context{.executor = &in_.executor()};
    const auto taken =
        made_or_filled([&] { return ragged_slice(s, rt_, context); }, [&] { return ragged_slice_size(s, rt_); },
                       [&](const RaggedView& out) { return ragged_slice_into(s, rt_, out, context); });
    if (!agree(taken.status(), is_rows(s), "ragged_slice")) return;
    if (s.is_dropped(0)) {
      const auto row = static_cast<std::size_t>(s.axis(0).start);
      return check_row(*taken, model_.rows[row], rt_.ragged_rank(), "ragged_slice of one row");
    }
    Nested expected;
    for (std::int64_t at : positions(s)) expected.rows.push_back(model_.rows[static_cast<std::size_t>(at)]);
    must(nested(*taken) == expected, "ragged_slice");
  }

  // Runs both forms: the one that makes a gradient of the values, and the one that fills the caller's memory.
  template <class Make, class Fill>
  Result<Tensor> gradient(const Make& make, const Fill& fill) {
    if (in_.flag()) return make();
    Placed out(in_, c_.dtype, c_.item_size, c_.values_shape, Strides::Distinct);
    if (Status status = fill(out.view(), Write::Overwrite); !status.ok()) return status;
    out.check_gaps();
    return owned(std::move(out));
  }

  void slice_grad() {
    const Selection s = any_rows();
    if (!is_rows(s) || (s.is_dropped(0) && rt_.ragged_rank() == 0)) return;  // a row of a dense tensor has a lower rank
    std::vector<std::pair<std::int64_t, std::int64_t>> taken;  // ranges of the values, in the order of the slice
    Numbers shape = c_.values_shape;
    shape[0] = 0;
    for (std::int64_t at : positions(s)) {
      const Range range = rt_.values_of({at, at + 1});
      taken.push_back({range.lo, range.hi});
      shape[0] += range.hi - range.lo;
    }
    const Placed grad(in_, c_.dtype, c_.item_size, shape, Strides::Any);
    const Context context{.executor = &in_.executor()};
    const auto dx = gradient(
        [&] { return ragged_slice_grad(s, rt_, grad.view(), context); },
        [&](const View& out, Write write) { return ragged_slice_grad_into(s, rt_, grad.view(), out, write, context); });
    const bool any_zeros = !flattened({zero_rows(c_, c_.values_shape[0] - shape[0]), {}}).empty();
    const bool possible = c_.dtype != DType::String && (has_zero(c_.dtype) || !any_zeros);
    if (!agree(dx.status(), possible, "ragged_slice_grad")) return;
    std::vector<Nested> expected = zero_rows(c_, c_.values_shape[0]);
    const std::vector<Nested> dy = value_rows(grad.view());
    std::size_t next = 0;
    for (const auto& [lo, hi] : taken) {
      for (std::int64_t i = lo; i < hi; ++i) expected[static_cast<std::size_t>(i)] = dy[next++];
    }
    must(value_rows(dx->view()) == expected, "ragged_slice_grad");
  }

  void encode() {
    const bool batched = in_.flag();
    const VariantArray encoded = must_get(ragged_tensor_to_variant(rt_, batched), "ragged_tensor_to_variant");
    must(encoded.size() == (batched ? count() : 1), "one element per row");
    for (std::int64_t i = 0; batched && i < encoded.size(); ++i) {
      const auto element = made_or_filled(
          [&]() -> Result<RaggedTensor> { return *must_get(encoded.at(i), "an element"); },
          [&] { return encoded.element_size(i); }, [&](const RaggedView& out) { return encoded.element_into(i, out); });
      agree(element.status(), true, "no row is missing");
      check_row(*element, model_.rows[static_cast<std::size_t>(i)], rt_.ragged_rank(), "an encoded row");
    }
    decode(in_.flag() ? encoded : listed(encoded), batched);
  }

  // The same elements, stored one by one.
  static VariantArray listed(const VariantArray& encoded) {
    std::vector<std::optional<RaggedTensor>> elements;
    for (std::int64_t i = 0; i < encoded.size(); ++i) elements.push_back(must_get(encoded.at(i), "an element"));
    return must_get(VariantArray::make(std::move(elements), encoded.shape()), "a list of elements");
  }

  ValuesType values_type() const { return {c_.dtype, c_.dtype == DType::Bytes ? c_.item_size : 0}; }

  // Rows of a dense tensor decode to a dense stack of them.
  void decode(const VariantArray& encoded, bool batched) {
    const int rank = rt_.ragged_rank(), input_rank = batched ? std::max(rank - 1, 0) : rank;
    const FromVariantTypes types{values_type(), c_.splits_dtype};
    const int given_rank = in_.flag() ? -1 : input_rank;
    const Context context{.executor = &in_.executor()};
    const auto decoded =
        made_or_filled([&] { return ragged_tensor_from_variant(encoded, given_rank, rank, types, context); },
                       [&] { return ragged_tensor_from_variant_size(encoded, given_rank, rank, types); },
                       [&](const RaggedView& out) {
                         return ragged_tensor_from_variant_into(encoded, given_rank, rank, out, types, context);
                       });
    agree(decoded.status(), true, "ragged_tensor_from_variant");
    must(decoded->ragged_rank() == rank, "the ragged rank that was asked for");
    must(nested(*decoded) == model_, "what is encoded and decoded is the same");
    if (!batched) return;
    const auto back = must_get(ragged_tensor_from_variant_gradient(*decoded, {count()}), "the gradient of decoding");
    for (std::int64_t i = 0; i < back.size(); ++i) {
      const auto element = must_get(back.at(i), "an element");
      check_row(*element, model_.rows[static_cast<std::size_t>(i)], rank, "the gradient of decoding");
    }
  }

  // The rows one by one, some missing: missing pieces are zero.
  void gradient_of_pieces() {
    if (rt_.ragged_rank() == 0) return;
    std::vector<std::optional<RaggedTensor>> pieces;
    std::vector<Nested> expected;
    bool missing_values = false;
    const std::vector<Nested> all = value_rows(c_.values.view());
    for (std::int64_t i = 0; i < count(); ++i) {
      const Range range = rt_.values_of({i, i + 1});
      const bool missing = in_.one_in(3);
      pieces.push_back(missing ? std::nullopt : std::optional(must_get(rt_.row(i), "a row")));
      const std::vector<Nested> zeros = zero_rows(c_, range.hi - range.lo);
      if (missing)
        expected.insert(expected.end(), zeros.begin(), zeros.end());
      else
        expected.insert(expected.end(), all.begin() + range.lo, all.begin() + range.hi);
      missing_values |= missing && !flattened({zeros, {}}).empty();
    }
    const VariantArray array = must_get(VariantArray::make(pieces, {count()}), "an array of pieces");
    const Context context{.executor = &in_.executor()};
    const auto dx = gradient(
        [&] {
          return ragged_tensor_to_variant_gradient(array, c_.split_tensors, c_.values_shape, values_type(), context);
        },
        [&](const View& out, Write write) {
          return ragged_tensor_to_variant_gradient_into(array, c_.split_tensors, c_.values_shape, out, write, context);
        });
    const bool possible = !missing_values || has_zero(c_.dtype);
    if (!agree(dx.status(), possible, "ragged_tensor_to_variant_gradient")) return;
    must(value_rows(dx->view()) == expected, "the gradient of encoding");
  }

  // Splits and shapes that may not fit: the call is refused, or the result has that shape.
  void hostile_gradient() {
    std::vector<std::optional<RaggedTensor>> pieces(static_cast<std::size_t>(in_.within(0, 4)));
    for (auto& piece : pieces) {
      if (in_.flag()) piece = rt_;
    }
    const auto size = static_cast<std::int64_t>(pieces.size());
    const VariantArray array = must_get(VariantArray::make(std::move(pieces), {size}), "an array of pieces");
    std::vector<Tensor> splits;
    for (auto lists = in_.within(0, 2); lists > 0; --lists) {
      Numbers list = {0};
      for (auto left = in_.within(0, 5); left > 0; --left) {
        const std::int64_t step = in_.one_in(4) ? in_.integer() : in_.within(0, 2);
        if (__builtin_add_overflow(list.back(), step, &list.emplace_back())) list.back() = 0;
      }
      splits.push_back(tensor_of(in_, DType::Int64, list));
    }
    const Numbers shape = in_.flag() ? in_.huge_shape(3) : in_.integers(3);
    // Cases that depend on the machine's memory are skipped.
    const auto result = Shape::make(shape);
    if (result.ok() && result->elements() > (1 << 20) && result->elements() < (std::int64_t{1} << 45)) return;
    const auto dx = ragged_tensor_to_variant_gradient(array, splits, shape, values_type());
    if (dx.ok()) must(std::ranges::equal(Ints(dx->shape()), shape), "the result has the shape that was asked for");
  }

  Input& in_;
  const RaggedParts& c_;
  const RaggedTensor& rt_;
  Nested model_;
};

}  // namespace
}  // namespace backslice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace backslice;
  using namespace backslice::fuzz;
  Input in(data, size);
  with_any_ragged(in, [&](const RaggedParts& parts, const RaggedTensor& rt) { Program(in, parts, rt).run(); });
  return 0;
}
