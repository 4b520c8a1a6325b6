// What the C++ guide of the manual shows.
#include <backslice/backslice.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
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

// A slice that runs often is checked and planned once.
Status prepared() {
  const Selection crop = Selection::from_index({4, 6}, parse_index("1:3, 2:5").value()).value();
  Result<PreparedSlice> slice = PreparedSlice::make(crop, DType::Float32);
  if (!slice.ok()) return slice.status();

  std::vector<float> x(24, 1.0f), y(6), dx(24);
  const View all = View::contiguous(x.data(), DType::Float32, {4, 6}).value();
  const View part = View::contiguous(y.data(), DType::Float32, {2, 3}).value();
  const View grad = View::contiguous(dx.data(), DType::Float32, {4, 6}).value();
  for (int step = 0; step < 3; ++step) {
    if (Status forward = slice->forward(all, part); !forward.ok()) return forward;
    if (Status sum = slice->accumulate(part, grad); !sum.ok()) return sum;  // dx[1:3, 2:5] += y
  }
  return slice->gradient(part, grad);  // all of dx: y where it was taken from, zero elsewhere
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

// An allocator says where results get their memory.
class MyMemory final : public Allocator {
 public:
  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override {
    const std::int64_t size = (bytes / kAlignment + 1) * kAlignment;
    auto* data = static_cast<std::byte*>(std::aligned_alloc(kAlignment, static_cast<std::size_t>(size)));
    if (data == nullptr) return Status(StatusCode::ResourceExhausted, "MyMemory is full");
    if (contents == Contents::Zero) std::fill_n(data, bytes, std::byte{0});
    ++in_use;
    return Buffer::own(data, [this](std::byte* p) {  // when the last Tensor that shares it goes
      std::free(p);
      --in_use;
    });
  }

  std::atomic<int> in_use = 0;  // several threads may allocate at once
};

bool allocators(const Selection& selection, const ConstView& dy) {
  MyMemory memory;
  {
    Result<Tensor> dx = slice_grad(selection, dy, {.allocator = &memory});
    if (!dx.ok() || memory.in_use != 1) return false;
  }
  return memory.in_use == 0;
}

// A large operation asks between its pieces whether to go on.
Status cancellation(const Selection& selection, const ConstView& dy) {
  std::atomic<bool> stop = false;
  const CancelledTest asked = [&] { return stop.load(); };
  const Context context{.cancelled = &asked};
  return slice_grad(selection, dy, context).status();  // Cancelled, once another thread sets `stop`
}

// What a gradient will cost is known before any memory is touched.
bool costs() {
  const Selection half = Selection::from_index({65536, 65536}, parse_index("::2").value()).value();
  const GradientCost cost = slice_grad_cost(half, DType::Float32).value();
  std::printf("%s", cost.plan.c_str());
  return cost.bytes_written == std::int64_t{16} << 30 && cost.strategy == Strategy::Streaming;
}

int main() {
  const std::vector<double> memory = {1, 2};
  const ConstView dy = ConstView::contiguous(memory.data(), DType::Float64, {2}).value();
  const Selection selection = Selection::from_index({4}, parse_index("1:3").value()).value();
  const bool ok = errors() && costs() && views().ok() && gradients().ok() && prepared().ok() &&
                  executors(selection, dy).ok() && allocators(selection, dy) && cancellation(selection, dy).ok();
  return ok ? 0 : 1;
}
