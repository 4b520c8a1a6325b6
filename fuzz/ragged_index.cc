// Indices of ragged tensors and their gradients, compared with nested lists.
#include "backslice/ragged_slice.h"
#include "fuzz/input.h"
#include "fuzz/must.h"
#include "fuzz/ragged_model.h"
#include "tests/nested_index.h"

namespace backslice::fuzz {
namespace {

using testing::NestedList;

Index any_index(Input& in, int axes) {
  Index items;
  for (std::int64_t left = in.within(0, axes + 1); left > 0; --left) {
    if (in.one_in(6)) items.push_back(NewAxis{});
    const auto bound = [&] { return in.flag() ? std::optional(in.position(4)) : std::nullopt; };
    items.push_back(in.one_in(4) ? IndexItem(in.position(4)) : IndexItem(SliceRange{bound(), bound(), bound()}));
  }
  if (in.one_in(6)) items.push_back(NewAxis{});
  return items;
}

class Program {
 public:
  Program(Input& in, const RaggedParts& c, const RaggedTensor& rt)
      : in_(in), c_(c), rt_(rt), axes_(rt.ragged_rank() + rt.values().shape().rank()) {}

  void run() {
    std::vector<std::int64_t> all(static_cast<std::size_t>(rt_.values().shape().elements()));
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int64_t>(i);
    const NestedList model = testing::nested_list(rt_, all);
    for (int left = 8; in_.has_more() && left > 0; --left) {
      const Index index = any_index(in_, axes_);
      const auto expected = is_possible(index) ? testing::indexed(model, index) : std::nullopt;
      const Context context{.executor = &in_.executor()};
      const auto taken = ragged_slice(index, rt_, context);
      must(expected || !taken.ok(), "an index that means nothing is refused");
      must(taken.ok() || !expected || taken.status().code() == StatusCode::OutOfRange, "an index is taken");
      if (taken.ok()) check(index, *expected, *taken, context);
    }
  }

 private:
  bool is_possible(const Index& index) const {
    const auto named = std::count_if(index.begin(), index.end(),
                                     [](const IndexItem& item) { return !std::holds_alternative<NewAxis>(item); });
    return named <= axes_ && testing::is_allowed(index, rt_.ragged_rank());
  }

  void check(const Index& index, const NestedList& expected, const RaggedTensor& taken, const Context& context) {
    std::vector<std::int64_t> from;
    testing::flatten(expected, testing::axes_left(index, axes_), from);
    must(taken.values().shape().elements() == std::ssize(from), "as many values are taken as the model takes");
    must(testing::nested_list(taken, from) == expected, "rows are those of the model");
    const Values before = values_of(rt_.values().view()), after = values_of(taken.values().view());
    for (std::size_t i = 0; i < from.size(); ++i) {
      must(after[i] == before[static_cast<std::size_t>(from[i])], "values are those of the model");
    }
    check_gradient(index, taken, from, context);
  }

  void check_gradient(const Index& index, const RaggedTensor& taken, const std::vector<std::int64_t>& from,
                      const Context& context) {
    const Shape& shape = taken.values().shape();
    const Placed grad(in_, c_.dtype, c_.item_size, Numbers(shape.begin(), shape.end()), Strides::Any);
    const auto dx = ragged_slice_grad(index, rt_, grad.view(), context);
    const bool covers = std::ssize(from) == rt_.values().shape().elements();
    const bool possible = c_.dtype != DType::String && (has_zero(c_.dtype) || covers);
    if (!agree(dx.status(), possible, "ragged_slice_grad")) return;
    Values expected = flattened({zero_rows(c_, c_.values_shape[0]), {}});
    const Values dy = values_of(grad.view());
    for (std::size_t i = 0; i < from.size(); ++i) expected[static_cast<std::size_t>(from[i])] = dy[i];
    must(values_of(dx->view()) == expected, "the gradient is the model's");
  }

  Input& in_;
  const RaggedParts& c_;
  const RaggedTensor& rt_;
  int axes_;
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
