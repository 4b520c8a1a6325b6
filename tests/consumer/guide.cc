// What the C++ guide of the manual shows.
#include <backslice/backslice.h>

#include <cstdio>
#include <vector>

using namespace backslice;

// A tensor of yours is a view: memory, dtype, extents, and byte strides where it has gaps.
Status views() {
  std::vector<float> memory(24);
  Result<View> whole = View::contiguous(memory.data(), DType::Float32, {4, 6});
  if (!whole.ok()) return whole.status();
  Result<View> even_columns = View::strided(memory.data(), DType::Float32, {4, 3}, {24, 8});
  return even_columns.status();
}

// Every operation comes as a pair: one makes its result, ..._into fills yours.
Status gradients() {
  const std::vector<float> dy = {1, 2, 3, 4, 5, 6};
  Result<ConstView> view = ConstView::contiguous(dy.data(), DType::Float32, {2, 3});
  if (!view.ok()) return view.status();

  Result<Selection> selection = Selection::from_index({4, 6}, parse_index("1:3, ::2").value());
  if (!selection.ok()) return selection.status();
  Result<Tensor> dx = slice_grad(*selection, *view);
  if (!dx.ok()) return dx.status();

  std::vector<float> sum(24, 1.0f);
  Result<View> out = View::contiguous(sum.data(), DType::Float32, {4, 6});
  return slice_grad_into(*selection, *view, *out, Write::Accumulate);  // sum[1:3, ::2] += dy
}

// Errors are values. The message names the argument, the axis, the value, and what was expected.
bool errors() {
  Result<Selection> wrong = Selection::from_tf({4}, {.begin = {0}, .end = {2}, .strides = {0}});
  std::printf("%s\n", wrong.status().to_string().c_str());
  return !wrong.ok() && wrong.status().code() == StatusCode::InvalidArgument;
}

// An executor says where the work runs: the default pool, this thread, or a pool of yours.
class MyPool final : public Executor {
 public:
  int concurrency() const override { return 4; }
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override {
    for (std::int64_t i = 0; i < count; ++i) task(i);  // yours would hand these to its threads
  }
};

Status executors(const Selection& selection, const ConstView& dy) {
  MyPool pool;
  Result<Tensor> dx = slice_grad(selection, dy, {.executor = &pool});
  return dx.status();
}

// What a gradient will cost is known before any memory is touched.
bool costs() {
  const Selection half = Selection::from_index({65536, 65536}, parse_index("::2").value()).value();
  const GradientCost cost = slice_grad_cost(half, DType::Float32).value();
  std::printf("%s", cost.plan.c_str());
  return cost.bytes_written == std::int64_t{16} << 30 && cost.strategy == Strategy::Streaming;
}

int main() {
  const std::vector<double> dy = {1, 2};
  const Selection selection = Selection::from_index({4}, parse_index("1:3").value()).value();
  const bool ok = errors() && costs() && views().ok() && gradients().ok() &&
                  executors(selection, ConstView::contiguous(dy.data(), DType::Float64, {2}).value()).ok();
  return ok ? 0 : 1;
}
