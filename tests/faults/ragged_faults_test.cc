#include "backslice/backslice.h"
#include "faults/fault_injection.h"

#ifdef BACKSLICE_FAULT_INJECTION

namespace backslice {
namespace {

using namespace testing;

std::vector<Operation> ragged_operations() {
  const auto splits = [] { return tensor_of<std::int64_t>({0, 2, 2, 5, 6}, {5}); };
  const auto ragged = [=] { return RaggedTensor::make(tensor_of<float>({1, 2, 3, 4, 5, 6}, {6}), {splits()}).value(); };
  const Selection reversed = selection_of({4}, "::-1"), last = selection_of({4}, "2:");
  const Tensor dy = tensor_of<float>({1, 2, 3, 4}, {4}), values = tensor_of<float>({1, 2, 3, 4, 5, 6}, {6});
  const Index inside = parse_index("None, ::-1, None, :1").value();
  const Tensor inside_dy = tensor_of<float>({1, 2, 3}, {3});
  const auto operation = [](auto state, auto call) {
    return [=] {
      const auto made = std::make_shared<decltype(state())>(state());
      return Attempt{[=] { return call(*made); }};
    };
  };
  const auto pieces = [=] {
    std::vector<std::optional<RaggedTensor>> all;
    for (std::int64_t i = 0; i < 4; ++i) all.push_back(i == 1 ? std::nullopt : std::optional(*ragged().row(i)));
    return VariantArray::make(all, {4}).value();
  };
  // Memory for a result, strided, so that the way there needs some of its own.
  struct Output {
    std::vector<float> values = std::vector<float>(36, -1);
    std::vector<std::int64_t> splits = std::vector<std::int64_t>(32, -1);
    RaggedView view;
    Output(Ints lengths, std::int64_t count) {
      view.values = View::strided(values.data(), {count}, {2}).value();
      std::int64_t at = 0;
      for (const std::int64_t length : lengths) {
        view.splits.push_back(View::contiguous(splits.data() + at, DType::Int64, {length}).value());
        at += length;
      }
    }
  };
  const auto into = [=](auto state, const std::vector<std::int64_t>& lengths, std::int64_t count, auto call) {
    return [=] {
      const auto made = std::make_shared<decltype(state())>(state());
      const auto out = std::make_shared<Output>(lengths, count);
      return Attempt{[=] { return call(*made, out->view); }, [=] { EXPECT_NE(out->values[0], -1); }};
    };
  };
  const auto three = [=] {
    std::vector<std::optional<RaggedTensor>> all(3, ragged());
    return VariantArray::make(all, {3}).value();
  };
  return {
      {"ragged_slice_size",
       operation(ragged, [=](const RaggedTensor& rt) { return ragged_slice_size(reversed, rt).status(); })},
      {"ragged_slice_into",
       into(ragged, {5}, 6,
            [=](const RaggedTensor& rt, const RaggedView& out) { return ragged_slice_into(reversed, rt, out); })},
      {"ragged_slice_grad_into", into(ragged, {}, 6,
                                      [=](const RaggedTensor& rt, const RaggedView& out) {
                                        return ragged_slice_grad_into(last, rt, dy.view(), out.values);
                                      })},
      {"ragged_element_into",
       into(pieces, {}, 2,
            [](const VariantArray& array, const RaggedView& out) { return array.element_into(0, out); })},
      {"ragged_decode_size",
       operation(three,
                 [](const VariantArray& array) { return ragged_tensor_from_variant_size(array, 1, 2).status(); })},
      {"ragged_decode_into", into(three, {4, 13}, 18,
                                  [](const VariantArray& array, const RaggedView& out) {
                                    return ragged_tensor_from_variant_into(array, 1, 2, out);
                                  })},
      {"ragged_gradient_into", into(pieces, {}, 6,
                                    [lists = std::vector{splits()}](const VariantArray& array, const RaggedView& out) {
                                      return ragged_tensor_to_variant_gradient_into(array, lists, {6}, out.values);
                                    })},
      {"ragged_make", operation([=] { return std::vector{splits()}; },
                                [=](const std::vector<Tensor>& s) { return RaggedTensor::make(values, s).status(); })},
      {"ragged_from_row_lengths", operation([] { return std::vector{tensor_of<std::int64_t>({2, 0, 3, 1}, {4})}; },
                                            [=](const std::vector<Tensor>& lengths) {
                                              return status_of(RaggedTensor::from_row_lengths(values, lengths));
                                            })},
      {"ragged_make_with_gaps",
       operation(
           [=] {
             const Tensor dense = splits();
             View view{const_cast<std::byte*>(dense.data()), DType::Int64, dense.view().layout};
             view.layout = *make_strided_layout(DType::Int64, {3}, {16}, 0);
             return std::vector{Tensor::of(dense.buffer(), view)};
           },
           [=](const std::vector<Tensor>& s) { return RaggedTensor::make(values, s).status(); })},
      {"ragged_slice", operation(ragged, [=](const RaggedTensor& rt) { return ragged_slice(reversed, rt).status(); })},
      {"ragged_index", operation(ragged, [=](const RaggedTensor& rt) { return ragged_slice(inside, rt).status(); })},
      {"ragged_index_grad",
       operation(ragged,
                 [=](const RaggedTensor& rt) { return ragged_slice_grad(inside, rt, inside_dy.view()).status(); })},
      {"ragged_index_into",
       into(ragged, {2, 5, 5}, 3,
            [=](const RaggedTensor& rt, const RaggedView& out) { return ragged_slice_into(inside, rt, out); })},
      {"ragged_slice_rows", operation(ragged, [](const RaggedTensor& rt) { return rt.slice_rows(1, 3).status(); })},
      {"ragged_slice_grad",
       operation(ragged, [=](const RaggedTensor& rt) { return ragged_slice_grad(last, rt, dy.view()).status(); })},
      {"ragged_encode",
       operation(ragged, [](const RaggedTensor& rt) { return ragged_tensor_to_variant(rt).status(); })},
      {"ragged_decode",
       operation(
           [=] {
             std::vector<std::optional<RaggedTensor>> all(3, ragged());
             return VariantArray::make(all, {3}).value();
           },
           [](const VariantArray& array) { return ragged_tensor_from_variant(array, 1, 2).status(); })},
      {"ragged_decode_gradient",
       operation(ragged,
                 [](const RaggedTensor& rt) { return ragged_tensor_from_variant_gradient(rt, {rt.rows()}).status(); })},
      {"ragged_gradient", operation(pieces,
                                    [lists = std::vector{splits()}](const VariantArray& array) {
                                      return ragged_tensor_to_variant_gradient(array, lists, {6}).status();
                                    })},
  };
}

INSTANTIATE_TEST_SUITE_P(Ragged, FaultInjection, ::testing::ValuesIn(ragged_operations()), name_of_operation);

}  // namespace
}  // namespace backslice

#endif
