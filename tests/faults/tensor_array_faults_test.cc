#include "backslice/backslice.h"
#include "core/row_layout.h"
#include "faults/fault_injection.h"

#ifdef BACKSLICE_FAULT_INJECTION

namespace backslice {
namespace {

using namespace testing;

using Numbers = std::vector<std::int64_t>;

Tensor row(float value) { return tensor_of<float>({value, value}, {2}); }

// The only row of a matrix.
View row_of(const View& matrix) { return {matrix.data, matrix.dtype, row_layout(matrix.layout)}; }

std::vector<Operation> array_operations() {
  const auto seven = row(7), four = tensor_of<float>({1, 1, 2, 2, 3, 3, 4, 4}, {4, 2}),
             three = tensor_of<float>({1, 1, 1, 1, 1, 1}, {3, 2}), vector = tensor_of<float>({1, 2, 3}, {3}),
             one = row(1);
  const std::vector<std::int64_t> apart = {2, 700, 3, 90}, lengths = {1, 0, 2}, backwards = {1, 0}, order = {1, 0, 2};
  const std::string source = "a source of some length", long_name = "a name of some length";
  const auto with = [](auto change, auto look) {
    return [=] {
      const auto array = std::make_shared<TensorArray>(
          TensorArray::make(4, DType::Float32, {.dynamic_size = true, .clear_after_read = false, .name = "steps"})
              .value());
      EXPECT_TRUE(array->write(0, row(1)).ok() && array->write(1, row(2)).ok());
      return Attempt{[=] { return change(*array); }, [=] { look(*array); }};
    };
  };
  const auto holds = [](std::int64_t index, float value) {
    return
        [=](TensorArray& array) { EXPECT_THAT(elements<float>(array.read(index).value()), ElementsAre(value, value)); };
  };
  const auto with_gradient = [](auto change) {
    return [=] {
      const auto array = std::make_shared<TensorArray>(TensorArray::make(3, DType::Float32).value());
      EXPECT_TRUE(array->unstack(tensor_of<float>({1, 2, 3, 4, 5, 6}, {3, 2})).ok());
      const auto gradient = std::make_shared<TensorArray>(array->grad("loss").value());
      for (int i = 0; i < 8; ++i) EXPECT_TRUE(gradient->write(0, row(1)).ok());
      return Attempt{[=] { return change(*gradient); },
                     [=] {
                       (void)array;
                       const auto sum = elements<float>(gradient->read(0).value());
                       EXPECT_EQ(sum[0], 9);
                     }};
    };
  };
  const auto full = [three](auto call) {
    return [=] {
      const auto array = std::make_shared<TensorArray>(TensorArray::make(3, DType::Float32).value());
      EXPECT_TRUE(array->unstack(three).ok());
      return Attempt{[=] { return call(*array); }};
    };
  };
  // Reading into memory with gaps; some elements have gaps too. A failed call clears nothing, so that it can be
  // repeated.
  const auto into = [](auto call, const std::vector<std::int64_t>& shape) {
    return [=] {
      const auto array = std::make_shared<TensorArray>(TensorArray::make(3, DType::Float32).value());
      const auto out = std::make_shared<std::vector<float>>(40, -1);
      const auto lengths = std::make_shared<Numbers>(3, -1);
      Tensor memory = tensor_of(std::vector<float>(18, 7), {18});
      const bool stacks = shape.size() == 2 && shape[1] == 2;
      const Numbers rows = stacks ? Numbers{3, 2} : Numbers{3, 3, 1};
      const Numbers strides = stacks ? Numbers{16, 8} : Numbers{24, 8, 8};
      EXPECT_TRUE(array
                      ->unstack(Tensor::of(memory.buffer(),
                                           View::strided(memory.view().data, DType::Float32, rows, strides).value()))
                      .ok());
      const View view = View::strided(out->data(), shape, Numbers{2 * shape[1], 2}).value();
      return Attempt{[=] { return call(*array, view, *lengths); }, [=] { EXPECT_EQ((*out)[0], 7); }};
    };
  };
  return {
      {"tensor_array_contents", full([](TensorArray& array) { return array.contents().status(); })},
      {"tensor_array_restore", full([](TensorArray& array) {
         const auto contents = array.contents();
         return contents.ok() ? TensorArray::restore(*contents).status() : contents.status();
       })},
      {"array_make",
       [=] {
         return Attempt{[options = TensorArrayOptions{.name = long_name}] {
           return TensorArray::make(5, DType::Float32, options).status();
         }};
       }},
      {"array_write", with([=](TensorArray& a) { return a.write(1'000, seven); }, holds(1'000, 7))},
      {"array_write_refused", with([=](TensorArray& a) { return a.write(0, seven); }, holds(0, 1))},
      {"array_scatter", with([=](TensorArray& a) { return a.scatter(apart, four); }, holds(700, 2))},
      {"array_split", with(
                          [=](TensorArray&) {
                            auto fresh = TensorArray::make(3, DType::Float32);
                            return fresh.ok() ? fresh->split(vector, lengths) : fresh.status();
                          },
                          holds(0, 1))},
      {"array_gather",
       with([=](TensorArray& a) { return a.gather(backwards, *PartialShape::make({2})).status(); }, holds(1, 2))},
      {"array_read_shape", full([](TensorArray& a) { return status_of(a.read_shape(1)); })},
      {"array_gather_shape", full([=](TensorArray& a) { return status_of(a.gather_shape(backwards)); })},
      {"array_stack_shape", full([](TensorArray& a) { return status_of(a.stack_shape()); })},
      {"array_concat_shape", full([](TensorArray& a) { return status_of(a.concat_shape()); })},
      {"array_read_into",
       into([](TensorArray& a, const View& out, Numbers&) { return a.read_into(0, row_of(out)); }, {1, 2})},
      {"array_gather_into",
       into([](TensorArray& a, const View& out, Numbers&) { return a.gather_into({0}, out); }, {1, 2})},
      {"array_stack_into", into([](TensorArray& a, const View& out, Numbers&) { return a.stack_into(out); }, {3, 2})},
      {"array_concat_into",
       into([](TensorArray& a, const View& out, Numbers& lengths) { return a.concat_into(out, lengths); }, {9, 1})},
      {"array_concat", with(
                           [](TensorArray& a) {
                             const Status status = a.concat().status();
                             return status.code() == StatusCode::InvalidArgument ? Status()
                                                                                 : status;  // two are not written
                           },
                           holds(1, 2))},
      {"array_grad", with([=](TensorArray& a) { return a.grad_with_shape(source, {3}).status(); },
                          [=](TensorArray& a) { EXPECT_TRUE(a.find_grad(source).value().has_value()); })},
      {"array_grad_write", with_gradient([=](TensorArray& g) { return g.write(0, one); })},
      {"array_grad_scatter", with_gradient([=](TensorArray& g) { return g.scatter(order, three); })},
      {"container",
       [] {
         const auto container = std::make_shared<TensorArrayContainer>();
         return Attempt{[=, options = TensorArrayOptions{.name = "a name of some length"}] {
                          return container->make(2, DType::Float32, options).status();
                        },
                        [=] { EXPECT_THAT(container->names().value(), ElementsAre("a name of some length_0")); }};
       }},
  };
}

INSTANTIATE_TEST_SUITE_P(TensorArray, FaultInjection, ::testing::ValuesIn(array_operations()), name_of_operation);

}  // namespace
}  // namespace backslice

#endif
