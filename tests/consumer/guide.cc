// What the C++ guide of the manual shows of slices.
#include <backslice/backslice.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <iostream>
#include <stop_token>
#include <vector>

using namespace backslice;

// A view is memory, a dtype, extents, and strides where there are gaps.
Status views() {
  std::vector<float> memory(24);
  Result<View> whole = View::of(memory, {4, 6});  // 24 elements, or an error
  if (!whole) return whole.status();
  Result<View> same = View::contiguous(memory.data(), {4, 6});
  if (!same) return same.status();
  // strides count elements: every other column
  Result<View> even_columns = View::strided(memory.data(), {4, 3}, {6, 2});
  return even_columns.status();
}

// A Tensor owns its memory, and is taken wherever a view is.
Status tensors() {
  Result<Tensor> x = Tensor::zeros(DType::Float32, {2, 3});
  Result<Tensor> ones = Tensor::copy_of({1.0f, 1.0f, 1.0f}, {1, 3});
  Result<Selection> last = Selection::from_index({2, 3}, "1:");
  if (!x || !ones || !last) return {StatusCode::Internal, "wrong sizes"};
  if (Status s = slice_grad_into(*last, *ones, *x); !s.ok()) return s;

  Result<std::span<float>> values = x->elements<float>();
  if (!values) return values.status();  // refused unless these are floats
  for (float v : *values) std::cout << v << ' ';
  std::cout << '\n';  // 0 0 0 1 1 1
  return Status();
}

// C++20 has no bfloat16 or float8: declare your own type for it.
struct MyBfloat16 {
  std::uint16_t bits;
};

template <>
struct backslice::DTypeOf<MyBfloat16> : DTypeConstant<DType::BFloat16> {};

Status own_types() {
  std::array<MyBfloat16, 4> memory = {};
  return View::of(memory, {2, 2}).status();
}

// Shapes and strides of other libraries may be lists of int or std::size_t.
Status other_integers(float* data, const std::vector<std::size_t>& extents,
                      const std::vector<int>& element_strides) {
  Result<Shape> shape = Shape::make(extents);
  if (!shape) return shape.status();
  Result<Dims> strides = Dims::make(element_strides);
  if (!strides) return strides.status();
  return View::strided(data, *shape, *strides).status();
}

// Operations come in pairs: one makes its result, ..._into fills yours.
Status gradients() {
  const std::vector<float> dy = {1, 2, 3, 4, 5, 6};
  Result<ConstView> view = ConstView::of(dy, {2, 3});
  if (!view) return view.status();

  Result<Selection> selection = Selection::from_index({4, 6}, "1:3, ::2");
  if (!selection) return selection.status();
  Result<Tensor> dx = slice_grad(*selection, *view);
  if (!dx) return dx.status();

  std::vector<float> sum(24, 1.0f);
  Result<View> out = View::of(sum, {4, 6});
  if (!out) return out.status();
  // sum[1:3, ::2] += dy
  return slice_grad_into(*selection, *view, *out, Write::Accumulate);
}

// TensorFlow's and ONNX's arguments are taken as they are.
Status dialects() {
  Result<Tensor> dy = Tensor::copy_of({1.0f, 2.0f}, {2});
  if (!dy) return dy.status();
  Result<Tensor> tf = strided_slice_grad(
      {5}, {.begin = {0}, .end = {4}, .strides = {2}, .begin_mask = 1}, *dy);
  if (!tf) return tf.status();
  Result<Tensor> onnx =
      onnx_slice_grad(*dy, {5}, {.starts = {0}, .ends = {4}, .steps = {{2}}});
  return onnx.status();
}

// A slice that runs often is checked and planned once.
Status prepared() {
  Result<Selection> crop = Selection::from_index({4, 6}, "1:3, 2:5");
  if (!crop) return crop.status();
  Result<PreparedSlice> slice = PreparedSlice::make(*crop, DType::Float32);
  if (!slice) return slice.status();

  std::vector<float> x(24, 1.0f), y(6), dx(24);
  Result<View> all = View::of(x, {4, 6});
  Result<View> part = View::of(y, {2, 3});
  Result<View> grad = View::of(dx, {4, 6});
  if (!all || !part || !grad) return {StatusCode::Internal, "wrong sizes"};
  for (int step = 0; step < 3; ++step) {
    if (Status s = slice->forward(*all, *part); !s.ok()) return s;
    // dx[1:3, 2:5] += y
    if (Status s = slice->accumulate(*part, *grad); !s.ok()) return s;
  }
  // all of dx: y where it was taken from, zero elsewhere
  return slice->gradient(*part, *grad);
}

// The gradients of many slices of one tensor add up in one pass.
Status many_slices() {
  Result<Tensor> dy = Tensor::copy_of({1.0f, 2.0f, 3.0f}, {3});
  Result<Selection> left = Selection::from_index({5}, ":3");
  Result<Selection> right = Selection::from_index({5}, "2:");
  if (!dy || !left || !right) return {StatusCode::Internal, "bad slices"};
  const SliceGradient slices[] = {{*left, *dy}, {*right, *dy}};
  Result<Tensor> dx = multi_slice_grad({5}, slices);
  if (!dx) return dx.status();
  for (float v : dx->elements<float>().value()) std::cout << v << ' ';
  std::cout << '\n';  // 1 2 4 2 3
  return Status();
}

// Errors are values. The message names the argument, the axis, the value,
// and what was expected.
bool errors() {
  Result<Selection> wrong =
      Selection::from_tf({4}, {.begin = {0}, .end = {2}, .strides = {0}});
  std::cout << wrong.status() << '\n';
  return !wrong && wrong.status().code() == StatusCode::InvalidArgument;
}

// The first error ends a chain and becomes its result.
Result<Tensor> chained(const ConstView& dy) {
  return Selection::from_index({4}, "1:3")
      .and_then([&](const Selection& s) { return slice_grad(s, dy); })
      .or_else([](const Status& why) -> Result<Tensor> {
        std::cerr << why << '\n';
        return Tensor::zeros(DType::Float64, {4});
      });
}

// An executor says where the work runs: the default pool, this thread, or
// your own pool.
class MyPool final : public Executor {
 public:
  int concurrency() const override { return 4; }
  void run(std::int64_t count,
           const std::function<void(std::int64_t)>& task) override {
    // yours would hand these to its threads
    for (std::int64_t i = 0; i < count; ++i) task(i);
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
    auto* data = static_cast<std::byte*>(
        std::aligned_alloc(kAlignment, static_cast<std::size_t>(size)));
    if (data == nullptr) {
      return Status(StatusCode::ResourceExhausted, "MyMemory is full");
    }
    if (contents == Contents::Zero) std::fill_n(data, bytes, std::byte{0});
    ++in_use;
    // released with the last Tensor that shares it
    return Buffer::own(data, [this](std::byte* p) {
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
    if (!dx || memory.in_use != 1) return false;
  }
  return memory.in_use == 0;
}

// A large operation asks between its pieces whether to go on.
Status cancellation(const Selection& selection, const ConstView& dy,
                    std::stop_token token) {
  // Cancelled, once somebody requests the stop: a std::jthread, for example
  Result<Tensor> dx = slice_grad(selection, dy, {.stop = token});
  if (!dx) return dx.status();
  // or by a test of your own
  const CancelledTest asked = [&] { return token.stop_requested(); };
  return slice_grad(selection, dy, {.cancelled = &asked}).status();
}

// What a gradient will cost is known before any memory is touched.
bool costs() {
  Result<Selection> half = Selection::from_index({65536, 65536}, "::2");
  if (!half) return false;
  Result<GradientCost> cost = slice_grad_cost(*half, DType::Float32);
  if (!cost) return false;
  std::cout << cost->plan;
  return cost->bytes_written == std::int64_t{16} << 30 &&
         cost->strategy == Strategy::Streaming;
}

int main() {
  std::array<float, 6> memory = {};
  const Tensor dy = Tensor::copy_of({1.0, 2.0}, {2}).value();
  const Selection selection = Selection::from_index({4}, "1:3").value();
  for (const Status& status :
       {views(), tensors(), own_types(),
        other_integers(memory.data(), {2, 3}, {1, 2}), gradients(), dialects(),
        prepared(), many_slices(), chained(dy).status(),
        executors(selection, dy), cancellation(selection, dy, {})}) {
    if (!status.ok()) {
      std::cerr << status << '\n';
      return 1;
    }
  }
  return errors() && costs() && allocators(selection, dy) ? 0 : 1;
}
