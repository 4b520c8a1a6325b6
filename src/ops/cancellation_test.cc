// An operation asks whether it was cancelled before every 8 MiB that it writes at the latest, on one thread, too.
#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

constexpr std::int64_t kMiB = 1 << 20, kRows = 16, kRow = kMiB / 4;  // float32
constexpr std::int64_t kLatest = 8 * kMiB;

// Writes `bytes`, and may be called again.
struct Cancellable {
  const char* name;
  std::function<Status(const Context&)> run;
  std::int64_t bytes = kRows * kMiB;
};

// The operation, cancelled when it asks for the n-th time; never for 0. Counts the questions.
Status run_until(const Cancellable& operation, int n, int& asked) {
  asked = 0;
  const CancelledTest cancelled = [&] { return ++asked == n; };
  return operation.run({.executor = &serial_executor(), .cancelled = &cancelled});
}

void expect_asks(const std::vector<Cancellable>& operations) {
  for (const Cancellable& operation : operations) {
    int asked = 0, again = 0;
    const Status done = run_until(operation, 0, asked);
    EXPECT_TRUE(done.ok()) << operation.name << ": " << done;
    EXPECT_GE(asked, operation.bytes / kLatest) << operation.name;
    EXPECT_LE(asked, 4 * kRows + 8) << operation.name << " asks more often than it does anything";
    const Status first = run_until(operation, 1, again);
    EXPECT_TRUE(is_error(first, StatusCode::Cancelled, "the context ended the operation")) << operation.name;
    const CancelledTest throws = []() -> bool { throw std::runtime_error("boom"); };
    const Status thrown = operation.run({.executor = &serial_executor(), .cancelled = &throws});
    EXPECT_TRUE(is_error(thrown, StatusCode::Internal, "context.cancelled threw an exception: boom")) << operation.name;
    const Status last = run_until(operation, asked, again);
    EXPECT_TRUE(is_error(last, StatusCode::Cancelled, "the context ended the operation")) << operation.name;
  }
}

TEST(Cancellation, OfDenseOperationsOnOneThread) {
  std::vector<float> from(kRows * kRow, 1.0f), to(kRows * kRow);
  const ConstView x = view_of(from, {kRows, kRow});
  const View out = view_of(to, {kRows, kRow});
  const Selection all = at({kRows, kRow}, ":"), reversed = at({kRows, kRow}, "::-1, ::-1");
  const Selection one = at({kRows, kRow}, "3:4");
  const ConstView row = view_of(from, {1, kRow});
  const PreparedSlice prepared = PreparedSlice::make(reversed, DType::Float32).value();
  const std::vector<SliceGradient> sums(kRows, {one, row});
  std::vector<SliceGradient> rows;
  for (std::int64_t i = 0; i < kRows; ++i)
    rows.push_back({at({kRows, kRow}, std::to_string(i)), view_of(from, {kRow})});
  const ConstView transposed = View::strided(from.data(), {kRow, kRows}, {1, kRow}).value();
  expect_asks({
      {"slice", [&](const Context& c) { return slice(reversed, x, c).status(); }},
      {"slice_into", [&](const Context& c) { return slice_into(all, x, out, c); }},
      {"slice_grad", [&](const Context& c) { return slice_grad(reversed, x, c).status(); }},
      {"accumulate", [&](const Context& c) { return slice_grad_into(all, x, out, Write::Accumulate, c); }},
      {"into zeros", [&](const Context& c) { return slice_grad_into(all, x, out, Write::IntoZeros, c); }},
      {"onnx_slice_grad", [&](const Context& c) { return onnx_slice_grad(all, transposed, c).status(); }},
      {"prepared", [&](const Context& c) { return prepared.gradient(x, out, c); }},
      {"many", [&](const Context& c) { return multi_slice_grad({kRows, kRow}, rows, c).status(); }},
      {"many sums", [&](const Context& c) { return multi_slice_grad_into({kRows, kRow}, sums, out, c); }},
      {"many accumulated",
       [&](const Context& c) { return multi_slice_grad_into({kRows, kRow}, sums, out, Write::Accumulate, c); }},
  });
}

TEST(Cancellation, OfStringsOnOneThread) {
  constexpr std::int64_t kCount = 16 * kMiB / std::int64_t{sizeof(std::string)};
  const Tensor x = Tensor::zeros(DType::String, {kCount}).value();
  Tensor out = Tensor::zeros(DType::String, {kCount}).value();
  const Selection reversed = at({kCount}, "::-1");
  expect_asks({
      {"slice", [&](const Context& c) { return slice(reversed, x, c).status(); }},
      {"slice_grad_into", [&](const Context& c) { return slice_grad_into(reversed, x, out, c); }},
  });
}

TEST(Cancellation, OfAGradBufferOnOneThread) {
  std::vector<float> from(kRows * kRow, 1.0f);
  const ConstView dy = view_of(from, {kRows, kRow});
  GradBuffer buffer = GradBuffer::make(DType::Float32, {kRows, kRow}).value();
  const Selection all = at({kRows, kRow}, ":");
  expect_asks({{"write", [&](const Context& c) { return buffer.write(all, dy, c); }}});
}

TEST(Cancellation, OfSparseTensorsOnOneThread) {
  constexpr std::int64_t kEntries = 1 << 16, kWidth = 64;
  std::vector<std::int64_t> at_rows(kEntries);
  for (std::int64_t i = 0; i < kEntries; ++i) at_rows[static_cast<std::size_t>(i)] = i;
  std::vector<std::int64_t> out_rows(kEntries);
  std::vector<float> from(kEntries * kWidth, 1.0f), to(kEntries * kWidth);
  const CooIndices list = CooIndices::from_matrix(view_of(at_rows, {kEntries, 1})).value();
  const ConstView values = view_of(from, {kEntries, kWidth});
  const View out = view_of(to, {kEntries, kWidth}), out_indices = view_of(out_rows, {kEntries, 1});
  expect_asks({
      {"sparse_slice",
       [&](const Context& c) { return sparse_slice(list, values, {kEntries}, {0}, {kEntries}, c).status(); }},
      {"sparse_slice_into",
       [&](const Context& c) {
         return sparse_slice_into(list, values, {kEntries}, {0}, {kEntries}, out_indices, out, c).status();
       }},
      {"sparse_slice_grad", [&](const Context& c) { return sparse_slice_grad(values, list, {0}, list, c).status(); }},
      {"in any order",
       [&](const Context& c) {
         return sparse_slice_grad_into(values, list, {0}, list, out, MatchOrder::Any, Write::Overwrite, c);
       }},
      {"by size",
       [&](const Context& c) {
         return sparse_slice_grad_by_size_into(values, list, {0}, {kEntries}, out, Write::Accumulate, c);
       }},
  });
}

TEST(Cancellation, OfTensorArraysOnOneThread) {
  const Tensor row = tensor_of(std::vector<float>(kRow, 1.0f), {kRow});
  const Tensor rows = tensor_of(std::vector<float>(kRows * kRow, 1.0f), {kRows, kRow});
  std::vector<float> to(kRows * kRow);
  const View out = view_of(to, {kRows, kRow});
  TensorArray array = TensorArray::make(kRows, DType::Float32, {.clear_after_read = false}).value();
  for (std::int64_t i = 0; i < kRows; ++i) {
    ASSERT_TRUE(array.write(i, tensor_of(std::vector<float>(kRow, 1.0f), {kRow})).ok());
  }
  const auto gradient_of = [&] {
    TensorArray gradient = TensorArray::make(1, DType::Float32).value().grad("g").value();
    EXPECT_TRUE(gradient.write(0, rows).ok() && gradient.write(0, rows).ok());
    return gradient;
  };
  TensorArray sums = TensorArray::make(kRows, DType::Float32).value().grad("sums").value();
  for (std::int64_t i = 0; i < 2 * kRows; ++i) ASSERT_TRUE(sums.write(i % kRows, row).ok());
  const auto contiguous = [&] {
    const PartialShape shape = row.shape();
    return TensorArray::make(kRows, DType::Float32, {.element_shape = shape, .contiguous = true}).value();
  };
  expect_asks({
      {"stack", [&](const Context& c) { return array.stack(c).status(); }},
      {"stack_into", [&](const Context& c) { return array.stack_into(out, c); }},
      {"concat", [&](const Context& c) { return array.concat(c).status(); }},
      {"a sum", [&](const Context& c) { return gradient_of().read(0, c).status(); }},
      {"contents", [&](const Context& c) { return sums.contents(c).status(); }},
      {"contiguous", [&](const Context& c) { return contiguous().unstack(rows, c); }},
  });
}

TEST(Cancellation, OfRaggedTensorsOnOneThread) {
  const Tensor values = tensor_of(std::vector<float>(kRows * kRow, 1.0f), {kRows * kRow});
  const Tensor splits = tensor_of<std::int64_t>({0, 3 * kRow, kRows * kRow}, {3});
  const RaggedTensor rt = RaggedTensor::make(values, {splits}).value();
  const Selection reversed = at({2}, "::-1");
  const ConstView dy = values.view();
  const VariantArray pieces =
      VariantArray::make({RaggedTensor::make(tensor_of(std::vector<float>(3 * kRow, 1.0f), {3 * kRow}), {}).value(),
                          RaggedTensor::make(tensor_of(std::vector<float>(13 * kRow, 1.0f), {13 * kRow}), {}).value()},
                         {2})
          .value();
  std::vector<float> to(kRows * kRow);
  const View out = view_of(to, {kRows * kRow});
  expect_asks({
      {"ragged_slice", [&](const Context& c) { return ragged_slice(reversed, rt, c).status(); }},
      {"ragged_slice_grad", [&](const Context& c) { return ragged_slice_grad(reversed, rt, dy, c).status(); }},
      {"accumulated",
       [&](const Context& c) { return ragged_slice_grad_into(reversed, rt, dy, out, Write::Accumulate, c); }},
      {"decoding", [&](const Context& c) { return ragged_tensor_from_variant(pieces, 0, 1, c).status(); }},
      {"gradient of encoding",
       [&](const Context& c) {
         return ragged_tensor_to_variant_gradient_into(pieces, {splits}, {kRows * kRow}, out, c);
       }},
  });
}

}  // namespace
}  // namespace backslice
