#include "backslice/grad_buffer.h"

#include <memory>

#include "backslice/plan.h"
#include "core/caches.h"
#include "core/errors.h"
#include "kernels/slice/fill.h"
#include "kernels/slice/reference.h"
#include "ops/checks.h"
#include "select/progression.h"

namespace backslice {
namespace {

// More regions than this are treated as one: the whole.
constexpr std::size_t kMaxRegions = 1024;

// A region of a buffer that is larger than the caches is not in them either, however small it is. What has begun to
// change the buffer is finished, unless it is `cancellable`.
FillOptions fill_options(const Options& options, std::int64_t buffer_bytes = 0,
                         const CancelledTest* cancellable = nullptr) noexcept {
  return {.runner = {executor_of(options), cancellable},
          .stores = buffer_bytes > caches().l3 ? Stores::Streaming : Stores::Auto};
}

std::int64_t bytes_of(const Tensor& tensor) { return tensor.shape().elements() * tensor.view().layout.item_size; }

// The region of a selection: the same positions, ascending, with every axis kept.
Selection region_of(const Selection& selection) {
  const Selection all = Selection::all(selection.shape());
  Selection::Axes axes;
  const int rank = selection.shape().rank();
  for (int i = 0; i < rank; ++i) {
    const Progression p = ascending(selection.axis(i));
    axes.push_back({p.start, p.step, p.count});
  }
  return *Selection::make(selection.shape(), axes, all.result_axes());
}

std::optional<Selection> intersection(const Selection& a, const Selection& b) {
  Selection::Axes axes;
  const int rank = a.shape().rank();
  for (int i = 0; i < rank; ++i) {
    const auto both = intersect(ascending(a.axis(i)), ascending(b.axis(i)));
    if (!both) return std::nullopt;
    axes.push_back({both->start, both->step, both->count});
  }
  return *Selection::make(a.shape(), axes, a.result_axes());
}

// A region inside another, in the coordinates of the other's elements.
Selection relative_to(const Selection& inner, const Selection& outer) {
  Selection::Axes axes;
  const int rank = outer.shape().rank();
  for (int i = 0; i < rank; ++i) {
    const Selection::Axis &a = inner.axis(i), &b = outer.axis(i);
    axes.push_back({(a.start - b.start) / b.step, std::max<std::int64_t>(1, a.step / b.step), a.count});
  }
  return *Selection::make(outer.result_shape(), axes, inner.result_axes());
}

// The union of two regions, where that is a region too: they agree on all axes but one, and there one continues the
// other.
std::optional<Selection> joined(const Selection& a, const Selection& b) {
  Selection::Axes axes;
  const int rank = a.shape().rank();
  int differing = 0;
  for (int i = 0; i < rank; ++i) {
    const Selection::Axis &x = a.axis(i), &y = b.axis(i);
    axes.push_back(x);
    if (x == y) continue;
    const bool touch = x.step == 1 && y.step == 1 && x.start <= y.start + y.count && y.start <= x.start + x.count;
    if (++differing > 1 || !touch) return std::nullopt;
    const std::int64_t start = std::min(x.start, y.start);
    axes[i] = {start, 1, std::max(x.start + x.count, y.start + y.count) - start};
  }
  return *Selection::make(a.shape(), axes, a.result_axes());
}

bool contains(const Selection& outer, const Selection& inner) { return intersection(outer, inner) == inner; }

// The slice whose result is `selection`'s, of a tensor that holds its region alone.
Selection within_region(const Selection& selection, const Selection& region) {
  Selection::Axes axes;
  const int rank = region.shape().rank();
  for (int i = 0; i < rank; ++i) {
    const Selection::Axis &a = selection.axis(i), &r = region.axis(i);
    axes.push_back({(a.start - r.start) / r.step, a.step < 0 ? -1 : 1, a.count});
  }
  return *Selection::make(region.result_shape(), axes, selection.result_axes());
}

// -- Writing that cannot fail, though it may be cancelled where the options say so. A kernel allocates before it runs
// anything; where there is no memory for that, the reference kernel does without, one item at a time, on this thread.

void overwrite(const Plan& plan, DType dtype, std::byte* dst, const std::byte* src, const FillOptions& options) {
  try {
    fill(plan, dtype, dst, src, options);
  } catch (const StatusException&) {
    throw;  // cancelled
  } catch (...) {
    reference::overwrite(plan, dtype, dst, src);
  }
}

void copy_elements(const View& dst, const ConstView& src, const FillOptions& options) {
  overwrite(plan_copy(dst.layout, src.layout, widen_for(src.dtype)), src.dtype, dst.data, src.data, options);
}

void add_elements(const View& dst, const ConstView& src, const FillOptions& options) noexcept {
  const Plan plan = plan_copy(dst.layout, src.layout, Widen::No);
  try {
    backslice::add(plan, src.dtype, dst.data, src.data, options);
  } catch (...) {
    reference::accumulate(plan, src.dtype, dst.data, src.data);
  }
}

// Strings are moved into place, since copying one allocates.
void move_strings(const View& dst, const View& src, int axis = 0) noexcept {
  if (axis == dst.shape().rank()) {
    *reinterpret_cast<std::string*>(dst.data) = std::move(*reinterpret_cast<std::string*>(src.data));
    return;
  }
  View to = dst, from = src;
  for (std::int64_t i = 0; i < dst.shape()[axis]; ++i) {
    move_strings(to, from, axis + 1);
    to.data += dst.layout.strides[axis];
    from.data += src.layout.strides[axis];
  }
}

// What will be copied into the buffer, with all memory that takes.
class Copy {
 public:
  static Result<Copy> make(const ConstView& src, const Options& options) {
    Copy copy(src);
    if (src.dtype != DType::String) return copy;
    auto own = slice(Selection::all(src.shape()), src, {.executor = options.executor, .cancelled = options.cancelled});
    if (!own.ok()) return own.status();
    copy.strings_ = std::make_unique<Tensor>(*std::move(own));
    return copy;
  }

  void run(const View& dst, const FillOptions& options) {
    if (strings_ != nullptr) return move_strings(dst, strings_->view());
    copy_elements(dst, src_, options);
  }

 private:
  explicit Copy(const ConstView& src) : src_(src) {}
  ConstView src_;
  std::unique_ptr<Tensor> strings_;
};

// What an addition leaves in a region of which only some holds a value already: dy where it does not (which must be
// copied, not added to zero), sums where it does. (Met regions may overlap: a sum that is written twice is the same.)
Result<Tensor> sums_in_region(const Selection& selection, const Selection& region, const std::vector<Selection>& met,
                              const ConstView& before, const ConstView& dy, const Options& given) {
  const Options options{.executor = given.executor, .cancelled = given.cancelled};
  const auto terms = slice_grad(within_region(selection, region), dy, options);
  if (!terms.ok()) return terms;
  auto sums = slice(Selection::all(terms->shape()), terms->view(), options);
  if (!sums.ok()) return sums;
  for (const Selection& both : met) {
    const Selection inside = relative_to(both, region);
    auto sum = slice(inside, before, options);
    if (!sum.ok()) return sum;
    const ConstView term = select(inside, terms->view());
    backslice::add(plan_copy(sum->view().layout, term.layout, Widen::No), dy.dtype, sum->view().data, term.data,
                   fill_options(options));
    copy_elements(select(inside, sums->view()), sum->view(), fill_options(options));
  }
  return sums;
}

}  // namespace

Result<GradBuffer> GradBuffer::make(Ints dims, DType dtype, std::int64_t item_size) {
  return without_throwing([&]() -> Result<GradBuffer> {
    const auto shape = Shape::make(dims);
    if (!shape.ok()) return shape.status();
    if (!has_zero(dtype)) return dtype_error(name(dtype), " has no zero to fill a gradient with");
    auto tensor = Tensor::make(dtype, *shape, item_size, Contents::Zero);
    if (!tensor.ok()) return tensor.status();
    active_target();  // whatever is looked up once is looked up here, where it may fail
    caches();
    executor_of({});
    GradBuffer buffer(*std::move(tensor));
    buffer.regions_.reserve(1);  // so that writable() needs no memory
    return buffer;
  });
}

Status GradBuffer::check(const Selection& selection, const ConstView& dy) {
  if (selection.shape() != tensor_.shape()) {
    return invalid_argument("the selection is for shape ", Ints(selection.shape()), ", the buffer has shape ",
                            Ints(tensor_.shape()));
  }
  BACKSLICE_RETURN_IF_ERROR(check_input(dy, "dy"));
  BACKSLICE_RETURN_IF_ERROR(check_shape(dy, "dy", selection.result_shape(), "the shape of the slice"));
  return check_output(tensor_.view(), tensor_.shape(), dy, "dy");
}

void GradBuffer::clear(const Selection& region, const Options& options) {
  const View view = select(region, tensor_.view());
  if (view.shape().rank() == 0) {  // a scalar: there is no axis to take nothing from
    if (view.dtype == DType::String) {
      reinterpret_cast<std::string*>(view.data)->clear();
    } else {
      std::fill_n(view.data, view.layout.item_size, std::byte{0});
    }
    return;
  }
  Selection::Axes none;
  for (int axis = 0; axis < view.shape().rank(); ++axis) none.push_back({});
  const Selection nothing = *Selection::make(view.shape(), none, Selection::all(view.shape()).result_axes());
  const Layout empty = contiguous_layout(nothing.result_shape(), view.layout.item_size);
  overwrite(plan_scatter(nothing, view.layout, empty, widen_for(view.dtype)), view.dtype, view.data, view.data,
            fill_options(options, bytes_of(tensor_), options.cancelled));
}

void GradBuffer::remember(const Selection& region) noexcept {
  Selection grown = region;
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = 0; i < regions_.size(); ++i) {
      if (contains(regions_[i], grown)) return;
      const auto both = joined(regions_[i], grown);
      if (!both && !contains(grown, regions_[i])) continue;
      if (both) grown = *both;
      regions_.erase(regions_.begin() + static_cast<std::ptrdiff_t>(i));
      again = true;
      break;
    }
  }
  regions_.push_back(grown);
  if (regions_.size() > kMaxRegions) remember_all();
}

void GradBuffer::remember_all() noexcept {
  regions_.clear();
  regions_.push_back(Selection::all(tensor_.shape()));
}

// write and add take all memory they need first. Then they remember, then they write: neither can fail, and what holds
// a value is always remembered.

Status GradBuffer::write(const Selection& selection, const ConstView& dy, const Options& options) {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check(selection, dy));
    std::optional<Selection> region;
    if (dy.elements() > 0) region = region_of(selection);
    auto copy = Copy::make(dy, options);
    if (!copy.ok()) return copy.status();
    if (regions_.size() == regions_.capacity()) regions_.reserve(2 * regions_.size() + 1);
    runner_of(options).throw_if_cancelled();
    for (const Selection& old : regions_) {
      if (!region || !contains(*region, old)) clear(old, options);
    }
    if (region) {
      remember(*region);  // beside the old ones, which may be no zeros either when this is cancelled
      copy->run(select(selection, tensor_.view()), fill_options(options, bytes_of(tensor_), options.cancelled));
    }
    regions_.clear();
    if (region) regions_.push_back(*region);
    return Status();
  });
}

Status GradBuffer::add(const Selection& selection, const ConstView& dy, const Options& options) {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check(selection, dy));
    if (dy.elements() == 0) return Status();
    const Selection region = region_of(selection);
    std::vector<Selection> met;  // what of the region holds a value already
    bool all_met = false;
    for (const Selection& old : regions_) {
      if (const auto both = intersection(region, old)) {
        met.push_back(*both);
        all_met |= *both == region;
      }
    }
    if (!met.empty() && !can_add(dy.dtype)) {
      return dtype_error("the slice overlaps one that was written, and elements of dtype ", name(dy.dtype),
                         " cannot be added");
    }
    const FillOptions filling = fill_options(options, bytes_of(tensor_));
    if (all_met) {  // and so remembered
      add_elements(select(selection, tensor_.view()), dy, fill_options(options));
      return Status();
    }
    if (regions_.size() == regions_.capacity()) regions_.reserve(2 * regions_.size() + 1);
    if (met.empty()) {
      auto copy = Copy::make(dy, options);
      if (!copy.ok()) return copy.status();
      remember(region);
      copy->run(select(selection, tensor_.view()), filling);
      return Status();
    }
    const View target = select(region, tensor_.view());
    const auto sums = sums_in_region(selection, region, met, target, dy, options);
    if (!sums.ok()) return sums.status();
    remember(region);
    copy_elements(target, sums->view(), filling);
    return Status();
  });
}

void GradBuffer::zero(const Options& given) {
  const Options options{.executor = given.executor};
  for (const Selection& region : regions_) clear(region, options);
  regions_.clear();
}

View GradBuffer::writable() {
  remember_all();
  return tensor_.view();
}

}  // namespace backslice
