// Dense slices and gradients, compared with the definition: public functions and every kernel, all dtypes, any strides.
#include "backslice/prepared_slice.h"
#include "backslice/slice.h"
#include "fuzz/input.h"
#include "fuzz/kernel_contexts.h"
#include "fuzz/must.h"
#include "fuzz/placed.h"
#include "fuzz/shared_block.h"
#include "kernels/slice/kernel.h"

namespace backslice::fuzz {
namespace {

struct Case {
  Selection selection;
  DType dtype;
  std::int64_t item_size;
};

// Mostly small shapes; some with long rows, and a few large enough to be divided among threads.
Numbers any_shape(Input& in) {
  Numbers shape = in.small_shape(5, 5);
  if (shape.size() > 4 || shape.empty()) return shape;
  if (in.one_in(8)) shape.back() = in.within(1, 700);
  if (in.one_in(100)) shape = {in.within(1, 3), in.within(1, 50000)};
  return shape;
}

Case any_case(Input& in) {
  const Numbers shape = any_shape(in);
  const DType dtype = in.dtype();
  return {any_selection(in, shape), dtype, any_item_size(in, dtype)};
}

Numbers dims(const Shape& shape) { return Numbers(shape.begin(), shape.end()); }

Placed place(Input& in, const Case& c, const Shape& shape, Strides most) {
  return Placed(in, c.dtype, c.item_size, dims(shape), most);
}

Values gradient(const Case& c, const Values& dy) {
  Values dx(static_cast<std::size_t>(c.selection.shape().elements()), zero(c.dtype, c.item_size));
  std::size_t next = 0;
  for (std::int64_t at : positions(c.selection)) dx[static_cast<std::size_t>(at)] = dy[next++];
  return dx;
}

Values accumulated(const Case& c, Values dx, const Values& dy) {
  std::size_t next = 0;
  for (std::int64_t at : positions(c.selection)) {
    Value& element = dx[static_cast<std::size_t>(at)];
    element = sum(c.dtype, element, dy[next++]);
  }
  return dx;
}

Values sliced(const Case& c, const Values& x) {
  Values y;
  for (std::int64_t at : positions(c.selection)) y.push_back(x[static_cast<std::size_t>(at)]);
  return y;
}

void check(const Case& c, const Placed& out, const Values& expected) {
  must(same(c.dtype, out.values(), expected),
       "the result is the model's: " + std::string(name(c.dtype)) + " " + c.selection.explain());
  out.check_gaps();
}

void check(const Case& c, const Tensor& out, const Values& expected) {
  must(same(c.dtype, values_of(out.view()), expected), "the result is the model's: " + c.selection.explain());
}

PreparedSlice prepared(const Case& c, const Layout& x, const Layout& y) {
  return must_get(PreparedSlice::make(c.selection, c.dtype, x, y), "PreparedSlice::make");
}

void fuzz_slice(Input& in, const Case& c) {
  const Placed x = place(in, c, c.selection.shape(), Strides::Any);
  const Values expected = sliced(c, x.values());
  const Context context{.executor = &in.executor()};
  if (in.flag()) return check(c, must_get(slice(c.selection, x.view(), context), "slice"), expected);
  const Placed out = place(in, c, c.selection.result_shape(), Strides::Distinct);
  if (in.flag()) {
    agree(prepared(c, x.view().layout, out.view().layout).forward(x.view(), out.view(), context), true, "forward");
  } else {
    agree(slice_into(c.selection, x.view(), out.view(), context), true, "slice_into");
  }
  check(c, out, expected);
}

void fuzz_slice_grad(Input& in, const Case& c) {
  const Placed dy = place(in, c, c.selection.result_shape(), Strides::Any);
  const bool accumulate = in.flag();
  const Context context{.executor = &in.executor()};
  const bool possible = accumulate ? can_add(c.dtype) : has_zero(c.dtype) || c.selection.covers_input();
  if (!accumulate && in.flag()) {
    const auto dx = slice_grad(c.selection, dy.view(), context);
    if (agree(dx.status(), possible, "slice_grad")) check(c, *dx, gradient(c, dy.values()));
    return;
  }
  const Placed out = place(in, c, c.selection.shape(), Strides::Distinct);
  Write write = accumulate ? Write::Accumulate : Write::Overwrite;
  if (!accumulate && in.flag()) {
    write = Write::IntoZeros;
    out.set_zero();
  }
  const Values before = out.values();
  const auto run = [&] {
    if (write == Write::IntoZeros || in.flag()) {
      return slice_grad_into(c.selection, dy.view(), out.view(), write, context);
    }
    const PreparedSlice slice = prepared(c, out.view().layout, dy.view().layout);
    return accumulate ? slice.accumulate(dy.view(), out.view(), context)
                      : slice.gradient(dy.view(), out.view(), context);
  };
  const bool done = agree(run(), possible, "a gradient into memory");
  check(c, out, !done ? before : accumulate ? accumulated(c, before, dy.values()) : gradient(c, dy.values()));
}

// The same case in each dialect. ONNX keeps axes that it cannot drop; TensorFlow expresses the whole selection.
struct OnnxDialect {
  OnnxSlice spec;
  explicit OnnxDialect(const Case& c) : spec(c.selection.to_onnx().slice) {}
  Result<Selection> lower(const Shape& shape) const { return Selection::from_onnx(shape, spec); }
  Result<Tensor> slice(const ConstView& x, const Context& context) const { return onnx_slice(x, spec, context); }
  Status slice_into(const ConstView& x, const View& out, const Context& context) const {
    return onnx_slice_into(x, spec, out, context);
  }
  Result<Tensor> grad(const Shape& shape, const ConstView& dy, const Context& context) const {
    return onnx_slice_grad(dy, shape, spec, context);
  }
  Status grad_into(const Shape& shape, const ConstView& dy, const View& out, Write write,
                   const Context& context) const {
    return onnx_slice_grad_into(dy, shape, spec, out, write, context);
  }
  // ONNX's gradient reads dy of any shape in row-major order.
  Numbers dy_shape(Input& in, const Shape& result) const {
    Numbers shape = dims(result);
    if (in.flag()) shape = {result.elements()};
    if (in.flag()) shape.insert(shape.begin() + in.within(0, static_cast<std::int64_t>(shape.size())), 1);
    if (in.flag()) std::ranges::reverse(shape);
    return shape;
  }
};

struct TfDialect {
  TfSlice spec;
  explicit TfDialect(const Case& c) : spec(must_get(c.selection.to_tf(), "to_tf")) {}
  Result<Selection> lower(const Shape& shape) const { return Selection::from_tf(shape, spec); }
  Result<Tensor> slice(const ConstView& x, const Context& context) const { return strided_slice(x, spec, context); }
  Status slice_into(const ConstView& x, const View& out, const Context& context) const {
    return strided_slice_into(x, spec, out, context);
  }
  Result<Tensor> grad(const Shape& shape, const ConstView& dy, const Context& context) const {
    return strided_slice_grad(shape, spec, dy, context);
  }
  Status grad_into(const Shape& shape, const ConstView& dy, const View& out, Write write,
                   const Context& context) const {
    return strided_slice_grad_into(shape, spec, dy, out, write, context);
  }
  Numbers dy_shape(Input&, const Shape& result) const { return dims(result); }
};

template <class Dialect>
void fuzz_dialect_slice(Input& in, const Case& c, const Dialect& dialect) {
  const Placed x = place(in, c, c.selection.shape(), Strides::Any);
  const Context context{.executor = &in.executor()};
  // ONNX refuses scalars
  const bool possible = !std::is_same_v<Dialect, OnnxDialect> || c.selection.shape().rank() > 0;
  if (in.flag()) {
    const auto y = dialect.slice(x.view(), context);
    if (agree(y.status(), possible, "a dialect's slice")) check(c, *y, sliced(c, x.values()));
    return;
  }
  const Placed out = place(in, c, c.selection.result_shape(), Strides::Distinct);
  const Values before = out.values();
  const bool done = agree(dialect.slice_into(x.view(), out.view(), context), possible, "a dialect's slice_into");
  check(c, out, done ? sliced(c, x.values()) : before);
}

template <class Dialect>
void fuzz_dialect_grad(Input& in, const Case& c, const Dialect& dialect) {
  const Placed dy(in, c.dtype, c.item_size, dialect.dy_shape(in, c.selection.result_shape()), Strides::Any);
  const Context context{.executor = &in.executor()};
  const bool writable = has_zero(c.dtype) || c.selection.covers_input();
  if (in.flag()) {
    const auto dx = dialect.grad(c.selection.shape(), dy.view(), context);
    if (agree(dx.status(), writable, "a dialect's gradient")) check(c, *dx, gradient(c, dy.values()));
    return;
  }
  const bool accumulate = in.flag();
  const Placed out = place(in, c, c.selection.shape(), Strides::Distinct);
  const Values before = out.values();
  const Status status = dialect.grad_into(c.selection.shape(), dy.view(), out.view(),
                                          accumulate ? Write::Accumulate : Write::Overwrite, context);
  const bool done = agree(status, accumulate ? can_add(c.dtype) : writable, "a dialect's gradient into memory");
  check(c, out, !done ? before : accumulate ? accumulated(c, before, dy.values()) : gradient(c, dy.values()));
}

template <class Dialect>
void fuzz_dialect(Input& in, const Case& given) {
  const Dialect dialect(given);
  const Case c{must_get(dialect.lower(given.selection.shape()), "the dialect's selection"), given.dtype,
               given.item_size};
  in.flag() ? fuzz_dialect_slice(in, c, dialect) : fuzz_dialect_grad(in, c, dialect);
}

void fuzz_overwrite_kernels(Input& in, const Case& c) {
  const Placed dy = place(in, c, c.selection.result_shape(), Strides::Any);
  const Placed out = place(in, c, c.selection.shape(), Strides::Distinct);
  const Widen widen = in.flag() ? widen_for(c.dtype) : Widen::No;
  const Plan plan = plan_scatter(c.selection, out.view().layout, dy.view().layout, widen);
  if (in.one_in(6)) {
    reference::overwrite(plan, c.dtype, out.view().data, dy.view().data);
  } else {
    fill(plan, c.dtype, out.view().data, dy.view().data, any_kernel_context(in));
  }
  check(c, out, gradient(c, dy.values()));
}

void fuzz_accumulate_kernels(Input& in, const Case& c) {
  if (!can_add(c.dtype)) return;
  const Placed dy = place(in, c, c.selection.result_shape(), Strides::Any);
  const Placed out = place(in, c, c.selection.shape(), Strides::Distinct);
  const Values expected = accumulated(c, out.values(), dy.values());
  const View selected = select(c.selection, out.view());
  const Plan plan = plan_copy(selected.layout, dy.view().layout, Widen::No);
  if (in.one_in(6)) {
    reference::accumulate(plan, c.dtype, selected.data, dy.view().data);
  } else {
    add(plan, c.dtype, selected.data, dy.view().data, any_kernel_context(in));
  }
  check(c, out, expected);
}

// Two tensors of any strides in one block. An output that overlaps itself or the input is refused; any other is
// accepted.
void fuzz_overlap(Input& in, const Case& c) {
  const Shape &shape = c.selection.shape(), &result = c.selection.result_shape();
  if (c.dtype == DType::String || !SharedBlock::has_room_for(shape)) return;
  SharedBlock block;
  const View x = block.view(in, c.dtype, c.item_size, shape), out = block.view(in, c.dtype, c.item_size, result);
  agree(slice_into(c.selection, x, out), !block.overlaps(out, {x}), "an output of these strides");
}

// Shapes of astronomic extents over one element: the result may be small, or is refused.
void fuzz_huge(Input& in) {
  const Numbers shape = in.huge_shape(4);
  const DType dtype = in.dtype();
  const std::int64_t item_size = any_item_size(in, dtype);
  const Placed one(in, dtype, item_size, {}, Strides::Contiguous);
  const auto selection = Selection::from_index(shape, in.index(shape));
  if (!selection.ok()) return;
  const auto in_reach = [&](const Shape& s) { return s.elements() <= 1000 || s.elements() >= std::int64_t{1} << 40; };
  const auto broadcast = [&](const Shape& s) {
    auto view = ConstView::strided(one.view().data, dtype, s, Numbers(static_cast<std::size_t>(s.rank())), item_size);
    if (view.ok()) view->device = one.view().device;
    return view;
  };
  const Context context{.executor = &in.executor()};
  if (in.flag()) {
    const auto x = broadcast(selection->shape());
    if (!x.ok() || !in_reach(selection->result_shape())) return;
    const auto y = slice(*selection, *x, context);
    agree(y.status(), selection->result_shape().elements() <= 1000, "a slice of a huge tensor");
  } else {
    const auto dy = broadcast(selection->result_shape());
    if (!dy.ok() || !in_reach(selection->shape())) return;
    const auto dx = slice_grad(*selection, *dy, context);
    if (selection->shape().elements() > 1000) agree(dx.status(), false, "a huge gradient");
  }
}

}  // namespace
}  // namespace backslice::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace backslice::fuzz;
  Input in(data, size);
  auto what = in.within(0, 10);
  if (!is_on_cpu() && what >= 4 && what < 8) what -= 4;  // they test kernels of the CPU
  if (what == 10) return fuzz_huge(in), 0;
  const Case c = any_case(in);
  if (what < 2)
    fuzz_slice(in, c);
  else if (what < 4)
    fuzz_slice_grad(in, c);
  else if (what < 6)
    fuzz_overwrite_kernels(in, c);
  else if (what < 8)
    fuzz_accumulate_kernels(in, c);
  else if (what < 9)
    fuzz_overlap(in, c);
  else if (in.flag())
    fuzz_dialect<OnnxDialect>(in, c);
  else if (c.selection.to_tf().ok())  // TensorFlow cannot express every selection
    fuzz_dialect<TfDialect>(in, c);
  return 0;
}
