// Decodes arrays of variants to ragged tensors, whose rows are the elements.
#include "backslice/ragged_variant.h"
#include "core/errors.h"
#include "ragged/named.h"
#include "ragged/stack_source.h"
#include "ragged/values_type.h"

namespace backslice {
namespace {

constexpr int kMaxRaggedRank = 1000;
constexpr std::int64_t kMostRows = 1 << 27;  // rows without values may outnumber what memory holds

// The requested ranks, once they are known to fit the array and each other.
struct Ranks {
  int input, output;
  bool dense;  // dense elements, stacked

  static Result<Ranks> make(int input, int output, int axes) {
    if (input < -1) return invalid_argument("input_ragged_rank must be >= -1, got ", input).at("input_ragged_rank");
    if (output < 0) return invalid_argument("output_ragged_rank must be >= 0, got ", output).at("output_ragged_rank");
    if (output > kMaxRaggedRank) {
      return invalid_argument("output_ragged_rank is ", output, "; at most ", kMaxRaggedRank, " is supported")
          .at("output_ragged_rank");
    }
    if (output == 0 && axes > 0 && input <= 0) return Ranks{0, 0, true};
    const int in = input == -1 ? output - axes : input;
    if (in < 0) {
      return invalid_argument("output_ragged_rank ", output, " is less than ", axes, ", the rank of encoded")
          .at("output_ragged_rank");
    }
    if (output - axes == in) return Ranks{in, output, false};
    return invalid_argument(
               "output_ragged_rank must be equal to input_ragged_rank + the rank of encoded; output_ragged_rank: ",
               output, ", input_ragged_rank: ", in, ", rank of encoded: ", axes)
        .at("output_ragged_rank");
  }
};

// Returns the requested dtype, or that of the first element with splits.
Result<DType> splits_dtype_of(const VariantArray& encoded, std::optional<DType> asked, const char* argument) {
  if (asked && *asked != DType::Int32 && *asked != DType::Int64) {
    return dtype_error(argument, " is ", name(*asked), ", expected int64 or int32").at(argument);
  }
  if (asked) return *asked;
  if (const RaggedTensor* batch = encoded.batch()) return batch->splits_dtype();
  for (std::int64_t i = 0; i < encoded.size(); ++i) {
    const RaggedTensor* element = encoded.listed(i);
    if (element != nullptr && element->ragged_rank() > 0) return element->splits_dtype();
  }
  return DType::Int64;
}

class Decoder {
 public:
  Decoder(const VariantArray& encoded, const Ranks& ranks, const ValuesType& type, DType splits_dtype, const Call& call)
      : encoded_(encoded), ranks_(ranks), type_(type), splits_dtype_(splits_dtype), call_(call) {}

  // Returns the source of the result, which lives as long as the Decoder.
  Result<std::unique_ptr<RaggedSource>> source() {
    if (encoded_.shape().rank() == 0) {
      const auto all = elements();
      if (!all.ok()) return all.status();
      return std::unique_ptr<RaggedSource>(std::make_unique<WholeSource>(*(*all)[0]));
    }
    if (encoded_.size() == 0) {
      return std::unique_ptr<RaggedSource>(
          std::make_unique<EmptySource>(ranks_.output, type_.dtype, type_.item_size, splits_dtype_, call_.device));
    }
    auto rows = rows_source();
    if (!rows.ok() || ranks_.dense) return rows;
    return UniformAxes::above(*std::move(rows), encoded_.shape());
  }

 private:
  Result<std::unique_ptr<RaggedSource>> rows_source() {
    // An array that holds all rows of one tensor is used as it is, without taking the rows apart.
    if (is_as_encoded()) return std::unique_ptr<RaggedSource>(std::make_unique<WholeSource>(*encoded_.batch()));
    auto all = elements();
    if (!all.ok()) return all.status();
    return ranks_.dense ? StackSource::dense(*std::move(all)) : StackSource::rows(*std::move(all), splits_dtype_);
  }

  bool is_as_encoded() const {
    const RaggedTensor* batch = encoded_.batch();
    if (batch == nullptr || batch->dtype() != type_.dtype || item_size_of(*batch) != type_.item_size) return false;
    if (ranks_.dense) return batch->ragged_rank() == 0;
    return batch->ragged_rank() == ranks_.input + 1 && batch->splits_dtype() == splits_dtype_;
  }

  static std::int64_t item_size_of(const RaggedTensor& rt) { return rt.values().view().layout.item_size; }

  Status check_element(const RaggedTensor* rt, std::int64_t i) const { return blamed(check_fits(rt, i), "encoded", i); }

  Status check_fits(const RaggedTensor* rt, std::int64_t i) const {
    if (rt == nullptr) return invalid_argument("element ", i, " of encoded is missing");
    if (rt->ragged_rank() != ranks_.input) {
      return invalid_argument("element ", i, " of encoded has ragged rank ", rt->ragged_rank(), ", expected ",
                              ranks_.input);
    }
    if (rt->dtype() != type_.dtype) {
      return dtype_error("element ", i, " of encoded has values of dtype ", name(rt->dtype()), ", expected ",
                         name(type_.dtype));
    }
    if (const std::int64_t size = item_size_of(*rt); size != type_.item_size) {
      return dtype_error("element ", i, " of encoded has values of ", size, " bytes, expected ", type_.item_size);
    }
    if (rt->device() != call_.device) {
      return invalid_argument("element ", i, " of encoded has values on ", to_string(rt->device()), ", others on ",
                              to_string(call_.device));
    }
    if (rt->ragged_rank() == 0 || rt->splits_dtype() == splits_dtype_) return Status();
    return dtype_error("element ", i, " of encoded has splits of dtype ", name(rt->splits_dtype()), ", expected ",
                       name(splits_dtype_));
  }

  // Makes the rows of a batch one by one.
  Status make_rows() {
    if (encoded_.size() > kMostRows) {
      return resource_exhausted("encoded has ", counted(encoded_.size(), "row", "rows"),
                                ", too many to join one by one");
    }
    rows_.reserve(static_cast<std::size_t>(encoded_.size()));
    for (std::int64_t i = 0; i < encoded_.size(); ++i) {
      call_.tasks.throw_if_cancelled_at(i);
      auto row = encoded_.batch()->row(i, {.allocator = &call_.allocator, .stream = call_.stream});
      if (!row.ok()) return row.status();
      rows_.push_back(*std::move(row));
    }
    return Status();
  }

  // Returns the elements, after checking that all exist and fit.
  Result<StackSource::Elements> elements() {
    if (encoded_.batch() != nullptr) BACKSLICE_RETURN_IF_ERROR(make_rows());
    StackSource::Elements all;
    all.reserve(static_cast<std::size_t>(encoded_.size()));
    for (std::int64_t i = 0; i < encoded_.size(); ++i) {
      call_.tasks.throw_if_cancelled_at(i);
      const RaggedTensor* rt = rows_.empty() ? encoded_.listed(i) : &rows_[static_cast<std::size_t>(i)];
      BACKSLICE_RETURN_IF_ERROR(check_element(rt, i));
      all.push_back(rt);
    }
    return all;
  }

  const VariantArray& encoded_;
  const Ranks ranks_;
  const ValuesType type_;
  const DType splits_dtype_;
  const Call& call_;
  std::vector<RaggedTensor> rows_;
};

// Checks everything, then returns body(source). `otherwise` is the device if there are no values.
template <class Body>
auto decode(const VariantArray& encoded, int input_ragged_rank, int output_ragged_rank, const FromVariantTypes& types,
            const VariantTypeNames& names, const Context& context, Device otherwise, const Body& body)
    -> decltype(body(std::declval<const RaggedSource&>(), std::declval<const Call&>())) {
  using Returned = decltype(body(std::declval<const RaggedSource&>(), std::declval<const Call&>()));
  return without_throwing([&]() -> Returned {
    const auto ranks = Ranks::make(input_ragged_rank, output_ragged_rank, encoded.shape().rank());
    if (!ranks.ok()) return ranks.status();
    const auto type = values_type(encoded, types.values, names.values);
    if (!type.ok()) return type.status();
    const auto splits_dtype = splits_dtype_of(encoded, types.splits, names.splits);
    if (!splits_dtype.ok()) return splits_dtype.status();
    const Call call(context, device_of(encoded, otherwise));
    Decoder decoder(encoded, *ranks, *type, *splits_dtype, call);
    const auto source = decoder.source();
    if (!source.ok()) return source.status();
    return body(**source, call);
  });
}

}  // namespace

Result<RaggedTensor> named::ragged_tensor_from_variant(const VariantArray& encoded, int input_ragged_rank,
                                                       int output_ragged_rank, const FromVariantTypes& types,
                                                       const VariantTypeNames& names, const Context& context) {
  return decode(encoded, input_ragged_rank, output_ragged_rank, types, names, context, device_of(context),
                [](const RaggedSource& source, const Call& call) { return make_ragged(source, call); });
}

Result<RaggedTensor> ragged_tensor_from_variant(const VariantArray& encoded, int input_ragged_rank,
                                                int output_ragged_rank, const FromVariantTypes& types,
                                                const Context& context) {
  return named::ragged_tensor_from_variant(encoded, input_ragged_rank, output_ragged_rank, types, {}, context);
}

Result<RaggedSize> ragged_tensor_from_variant_size(const VariantArray& encoded, int input_ragged_rank,
                                                   int output_ragged_rank, const FromVariantTypes& types,
                                                   const Context& context) {
  return decode(encoded, input_ragged_rank, output_ragged_rank, types, {}, context, device_of(context),
                [](const RaggedSource& source, const Call&) -> Result<RaggedSize> { return source.size(); });
}

Status named::ragged_tensor_from_variant_into(const VariantArray& encoded, int input_ragged_rank,
                                              int output_ragged_rank, const RaggedView& out,
                                              const RaggedViewNames& names, const FromVariantTypes& types,
                                              const Context& context) {
  return decode(encoded, input_ragged_rank, output_ragged_rank, types, {}, context, out.values.device,
                [&](const RaggedSource& source, const Call& call) { return fill_ragged(source, out, names, call); });
}

Status ragged_tensor_from_variant_into(const VariantArray& encoded, int input_ragged_rank, int output_ragged_rank,
                                       const RaggedView& out, const FromVariantTypes& types, const Context& context) {
  return named::ragged_tensor_from_variant_into(encoded, input_ragged_rank, output_ragged_rank, out, {}, types,
                                                context);
}

}  // namespace backslice
