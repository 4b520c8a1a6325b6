#include "backslice/grad_buffer.h"

#include <memory>
#include <utility>

#include "core/caches.h"
#include "core/device.h"
#include "core/element_type.h"
#include "core/errors.h"
#include "core/items.h"
#include "core/overlap.h"
#include "grad_buffer/small_update.h"
#include "kernels/slice/kernel.h"
#include "memory/block.h"
#include "ops/checks.h"
#include "ops/device_use.h"
#include "ops/move.h"
#include "ops/small_gradient.h"
#include "select/regions.h"

namespace backslice {
namespace {

// More regions than this are treated as one: the whole.
constexpr std::size_t kMaxRegions = 1024;

// For what is finished once it has begun to change the buffer.
Call uncancelled(const Context& context, Device device) {
  return Call({.executor = context.executor, .allocator = context.allocator, .stream = context.stream}, device);
}

std::int64_t bytes_of(const Tensor& buffer) { return buffer.shape().elements() * buffer.view().layout.item_size; }

// -- Writing that cannot fail on the CPU, though it may be cancelled where the call can be. A kernel allocates before
// it runs anything; where there is no memory for that, the reference kernel does without, one item at a time, on this
// thread. On a device, what was remembered before may hold anything where the driver refuses.

void overwrite(const Schedule& schedule, DType dtype, std::byte* dst, const std::byte* src, const Call& call) {
  try {
    run_fill(schedule, dtype, dst, src, call);
  } catch (const StatusException&) {
    throw;  // cancelled, refused by the driver, or what the executor did wrong when all was written
  } catch (...) {
    if (!call.device.is_cpu()) throw;
    reference::overwrite(schedule.plan, dtype, dst, src);
  }
}

void copy_elements(const View& dst, const ConstView& src, const Tensor& buffer, const Call& call) {
  const Schedule schedule = schedule_copy(dst.layout, src.layout, src.dtype, bytes_of(buffer));
  overwrite(schedule, src.dtype, dst.data, src.data, call);
}

void zero_elements(const View& dst, const Tensor& buffer, const Call& call) {
  const Schedule schedule = schedule_zero(dst.layout, dst.dtype, bytes_of(buffer));
  overwrite(schedule, dst.dtype, dst.data, dst.data, call);
}

void add_elements(const View& dst, const ConstView& src, const Call& call) {
  const Schedule schedule = schedule_addition(dst.layout, src.layout, src.dtype);
  try {
    run_add(schedule, src.dtype, dst.data, src.data, call);
  } catch (const StatusException&) {
    throw;  // refused by the driver, or what the executor did wrong when all was added
  } catch (...) {
    if (!call.device.is_cpu()) throw;
    reference::accumulate(schedule.plan, src.dtype, dst.data, src.data);
  }
}

// Returns nullopt if the update is not small, or if the context matters to it.
std::optional<SmallUpdate> small_update(const Selection& selection, const ConstView& dy, const Tensor& buffer,
                                        const Context& context) {
  return is_usual(context) ? SmallUpdate::of(selection, dy, buffer.view()) : std::nullopt;
}

// Objects are moved into place, since copying one allocates.
void move_objects(const View& dst, const View& src, int axis = 0) noexcept {
  if (axis == dst.shape().rank()) {
    return operations_of(dst.dtype).move(dst.data, src.data, 1, dst.layout.item_size);
  }
  View to = dst, from = src;
  for (std::int64_t i = 0; i < dst.shape()[axis]; ++i) {
    move_objects(to, from, axis + 1);
    to.data += dst.layout.strides[axis];
    from.data += src.layout.strides[axis];
  }
}

// What will be copied into the buffer, with all memory that takes.
class Copy {
 public:
  static Result<Copy> make(const ConstView& src, const Call& call) {
    Copy copy(src);
    if (are_bytes(src.dtype)) return copy;
    auto own = copy_of(src, call);
    if (!own.ok()) return own.status();
    copy.objects_ = std::make_unique<Tensor>(*std::move(own));
    return copy;
  }

  void run(const View& dst, const Tensor& buffer, const Call& call) {
    if (objects_ != nullptr) return move_objects(dst, objects_->view());
    copy_elements(dst, src_, buffer, call);
  }

 private:
  explicit Copy(const ConstView& src) : src_(src) {}
  ConstView src_;
  std::unique_ptr<Tensor> objects_;
};

// What an addition leaves in a region of which only some holds a value already: dy where it does not (which must be
// copied, not added to zero), sums where it does. (Met regions may overlap: a sum that is written twice is the same.)
Result<Tensor> sums_in_region(const Selection& selection, const Selection& region, const std::vector<Selection>& met,
                              const ConstView& before, const ConstView& dy, const Context& context) {
  const Call call(context, dy.device);
  const auto terms = slice_grad(within_region(selection, region), dy, context);
  if (!terms.ok()) return terms;
  auto sums = copy_of(terms->view(), call);
  if (!sums.ok()) return sums;
  for (const Selection& both : met) {
    const Selection inside = relative_to(both, region);
    auto sum = slice(inside, before, context);
    if (!sum.ok()) return sum;
    const ConstView term = select(inside, terms->view());
    const Schedule schedule = schedule_addition(sum->view().layout, term.layout, dy.dtype);
    run_add(schedule, dy.dtype, sum->view().data, term.data, call);
    copy_into(select(inside, sums->view()), sum->view(), call);
  }
  return sums;
}

}  // namespace

Result<GradBuffer> GradBuffer::make(DType dtype, Ints dims, std::int64_t item_size, const Context& context) {
  return without_throwing([&]() -> Result<GradBuffer> {
    const auto shape = Shape::make(dims);
    if (!shape.ok()) return shape.status();
    BACKSLICE_RETURN_IF_ERROR(check_element_type(dtype, "dtype"));
    if (!has_zero(dtype)) return dtype_error(name(dtype), " has no zero to fill a gradient with").at("dtype");
    const Device device = context.allocator == nullptr ? Device() : context.allocator->device();
    const Call call(context, device);  // whatever is looked up once is looked up here, where it may fail
    cache_for_results();
    huge_page_bytes();
    auto tensor = call.allocate(dtype, *shape, item_size, Contents::Zero);
    if (!tensor.ok()) return tensor.status();
    GradBuffer buffer(*std::move(tensor), call.free_zeros() == FreeZeros::InAnyPages);
    buffer.regions_.reserve(1);  // so that writable() needs no memory
    return buffer;
  });
}

void GradBuffer::choose_pages(const Selection& region) noexcept {
  if (!std::exchange(is_fresh_, false)) return;
  if (fills_huge_pages(region, tensor_.view().layout)) ask_for_huge_pages(tensor_.view().data, bytes_of(tensor_));
}

Status GradBuffer::check(const Selection& selection, const ConstView& dy) {
  if (selection.shape() != tensor_.shape()) {
    return invalid_argument("the selection is for shape ", Ints(selection.shape()), ", the buffer has shape ",
                            Ints(tensor_.shape()))
        .at("selection");
  }
  BACKSLICE_RETURN_IF_ERROR(check_input(dy, "dy", RunsOn::AnyDevice));
  BACKSLICE_RETURN_IF_ERROR(check_shape(dy.shape(), "dy", selection.result_shape(), "the shape of the slice"));
  const Layout& own = tensor_.view().layout;
  if (dy.dtype != tensor_.dtype()) {
    return dtype_error("dy has dtype ", name(dy.dtype), ", expected ", name(tensor_.dtype()), ", that of the buffer")
        .at("dy");
  }
  if (dy.layout.item_size != own.item_size) {
    return dtype_error("dy has items of ", dy.layout.item_size, " bytes, expected ", own.item_size,
                       ", as in the buffer")
        .at("dy");
  }
  BACKSLICE_RETURN_IF_ERROR(check_same_device(dy.device, "dy", tensor_.device(), "the buffer"));
  if (overlap(dy, tensor_.view())) return invalid_argument("dy shares memory with the buffer").at("dy");
  return Status();
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
// a value is always remembered. On a device, changes happen in the order of the calls, whichever streams they are on.

Status GradBuffer::write(const Selection& selection, const ConstView& dy, const Context& context) {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check(selection, dy));
    const auto small = small_update(selection, dy, tensor_, context);
    if (small && small->write(*this)) return Status();
    const DeviceUse use(tensor_.buffer(), context.stream);
    std::optional<Selection> region;
    if (dy.elements() > 0) region = region_of(selection);
    const Call call(context, dy.device);
    auto copy = Copy::make(dy, call);
    if (!copy.ok()) return copy.status();
    if (regions_.size() == regions_.capacity()) regions_.reserve(2 * regions_.size() + 1);
    call.writing([&] {
      call.tasks.throw_if_cancelled();
      for (const Selection& old : regions_) {
        if (!region || !contains(*region, old)) zero_elements(select(old, tensor_.view()), tensor_, call);
      }
      if (region) {
        choose_pages(*region);
        remember(*region);  // beside the old ones, which may be no zeros either when this is cancelled
        copy->run(select(selection, tensor_.view()), tensor_, call);
      }
    });
    regions_.clear();
    if (region) regions_.push_back(*region);
    return Status();
  });
}

Status GradBuffer::add(const Selection& selection, const ConstView& dy, const Context& context) {
  return without_throwing([&]() -> Status {
    BACKSLICE_RETURN_IF_ERROR(check(selection, dy));
    if (dy.elements() == 0) return Status();
    const auto small = small_update(selection, dy, tensor_, context);
    if (small && small->add(*this)) return Status();
    const DeviceUse use(tensor_.buffer(), context.stream);
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
                         " cannot be added")
          .at("dy");
    }
    const Call finishing = uncancelled(context, dy.device);
    if (all_met) {  // and so remembered
      finishing.writing([&] { add_elements(select(selection, tensor_.view()), dy, finishing); });
      return Status();
    }
    if (regions_.size() == regions_.capacity()) regions_.reserve(2 * regions_.size() + 1);
    if (met.empty()) {
      auto copy = Copy::make(dy, Call(context, dy.device));
      if (!copy.ok()) return copy.status();
      choose_pages(region);
      remember(region);
      finishing.writing([&] { copy->run(select(selection, tensor_.view()), tensor_, finishing); });
      return Status();
    }
    const View target = select(region, tensor_.view());
    const auto sums = sums_in_region(selection, region, met, target, dy, context);
    if (!sums.ok()) return sums.status();
    remember(region);
    finishing.writing([&] { copy_elements(target, sums->view(), tensor_, finishing); });
    return Status();
  });
}

Status GradBuffer::zero(const Context& context) {
  return without_throwing([&]() -> Status {
    const DeviceUse use(tensor_.buffer(), context.stream);
    const Call finishing = uncancelled(context, tensor_.device());
    finishing.writing([&] {
      for (const Selection& region : regions_) zero_elements(select(region, tensor_.view()), tensor_, finishing);
    });
    regions_.clear();
    return Status();
  });
}

View GradBuffer::writable() & {
  remember_all();
  return tensor_.view();
}

}  // namespace backslice
