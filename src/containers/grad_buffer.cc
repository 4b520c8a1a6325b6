#include "backslice/grad_buffer.h"

#include "backslice/plan.h"
#include "core/caches.h"
#include "core/errors.h"
#include "kernels/slice/fill.h"
#include "ops/checks.h"
#include "select/progression.h"

namespace backslice {
namespace {

// More regions than this are treated as one: the whole.
constexpr std::size_t kMaxRegions = 1024;

// A region of a buffer that is larger than the caches is not in them either, however small it is.
FillOptions fill_options(const Options& options, std::int64_t buffer_bytes = 0) {
  return {.runner = runner_of(options), .stores = buffer_bytes > caches().l3 ? Stores::Streaming : Stores::Auto};
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

void copy_elements(const View& dst, const ConstView& src, const FillOptions& options) {
  fill(plan_copy(dst.layout, src.layout, widen_for(src.dtype)), src.dtype, dst.data, src.data, options);
}

}  // namespace

Result<GradBuffer> GradBuffer::make(Ints dims, DType dtype, std::int64_t item_size) {
  return without_throwing([&]() -> Result<GradBuffer> {
    const auto shape = Shape::make(dims);
    if (!shape.ok()) return shape.status();
    if (!has_zero(dtype)) return dtype_error(name(dtype), " has no zero to fill a gradient with");
    auto tensor = Tensor::make(dtype, *shape, item_size, Contents::Zero);
    if (!tensor.ok()) return tensor.status();
    return GradBuffer(*std::move(tensor));
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
  const Selection all = Selection::all(view.shape());
  const std::vector<Selection::Axis> none(static_cast<std::size_t>(view.shape().rank()));
  const Selection nothing = *Selection::make(view.shape(), none, all.result_axes());
  if (view.shape().rank() == 0) {  // a scalar: there is no axis to take nothing from
    if (view.dtype == DType::String) {
      reinterpret_cast<std::string*>(view.data)->clear();
    } else {
      std::fill_n(view.data, view.layout.item_size, std::byte{0});
    }
    return;
  }
  const Layout empty = contiguous_layout(nothing.result_shape(), view.layout.item_size);
  fill(plan_scatter(nothing, view.layout, empty, widen_for(view.dtype)), view.dtype, view.data, view.data,
       fill_options(options, bytes_of(tensor_)));
}

void GradBuffer::remember(const Selection& region) {
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
  if (regions_.size() > kMaxRegions) regions_ = {Selection::all(tensor_.shape())};
}

Status GradBuffer::write(const Selection& selection, const ConstView& dy, const Options& options) {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check(selection, dy));
    const bool takes_some = dy.elements() > 0;
    std::vector<Selection> next;
    if (takes_some) next.push_back(region_of(selection));
    for (const Selection& old : regions_) {
      if (!takes_some || !contains(next[0], old)) clear(old, options);
    }
    if (takes_some) copy_elements(select(selection, tensor_.view()), dy, fill_options(options, bytes_of(tensor_)));
    regions_ = std::move(next);
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
    const View selected = select(selection, tensor_.view());
    if (!met.empty() && !all_met) {
      // Where nothing was written yet dy must be copied, not added to zero. So: keep what is there, copy dy, and write
      // the sums where something was met. (Regions may overlap: a sum that is written twice is the same sum.)
      const View target = select(region, tensor_.view());
      const auto before = slice(Selection::all(target.shape()), target, options);
      if (!before.ok()) return before.status();
      copy_elements(selected, dy, fill_options(options, bytes_of(tensor_)));
      const auto terms = slice(Selection::all(target.shape()), target, options);
      if (!terms.ok()) return terms.status();
      for (const Selection& both : met) {
        const Selection inside = relative_to(both, region);
        auto sum = slice(inside, before->view(), options);
        if (!sum.ok()) return sum.status();
        const ConstView term = select(inside, terms->view());
        backslice::add(plan_copy(sum->view().layout, term.layout, Widen::No), dy.dtype, sum->view().data, term.data,
                       fill_options(options));
        copy_elements(select(both, tensor_.view()), sum->view(), fill_options(options, bytes_of(tensor_)));
      }
      remember(region);
      return Status();
    }
    if (met.empty()) {
      copy_elements(selected, dy, fill_options(options, bytes_of(tensor_)));
    } else {
      backslice::add(plan_copy(selected.layout, dy.layout, Widen::No), dy.dtype, selected.data, dy.data,
                     fill_options(options));
    }
    remember(region);
    return Status();
  });
}

void GradBuffer::zero(const Options& options) {
  for (const Selection& region : regions_) clear(region, options);
  regions_.clear();
}

View GradBuffer::writable() {
  regions_ = {Selection::all(tensor_.shape())};
  return tensor_.view();
}

}  // namespace backslice
