#include "fuzz/placed.h"

#include <sanitizer/asan_interface.h>

#include <numeric>

#include "fuzz/must.h"
#include "kernels/slice/kernel.h"
#include "plan/plan.h"

namespace backslice::fuzz {
namespace {

constexpr auto kString = static_cast<std::int64_t>(sizeof(std::string));

Numbers contiguous_strides(const Numbers& shape, std::int64_t item_size) {
  Numbers strides(shape.size());
  std::int64_t stride = item_size;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride *= shape[i];
  }
  return strides;
}

// Makes strides with axes in any order, each outside the inner ones, and some reversed. Strings stay aligned.
Numbers distinct_strides(Input& in, const Numbers& shape, std::int64_t item_size, std::int64_t unit) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t i = order.size(); i > 1; --i) {
    std::swap(order[i - 1], order[static_cast<std::size_t>(in.within(0, static_cast<std::int64_t>(i) - 1))]);
  }
  const auto gap = [&] { return in.one_in(3) ? in.within(0, 7) * unit : 0; };
  Numbers strides(shape.size());
  std::int64_t stride = item_size + gap();
  for (std::size_t axis : order) {
    strides[axis] = in.one_in(3) ? -stride : stride;
    stride = stride * shape[axis] + gap();
  }
  return strides;
}

Numbers any_strides(Input& in, const Numbers& shape, std::int64_t unit) {
  Numbers strides(shape.size());
  for (std::int64_t& stride : strides) stride = in.within(-40, 40) * unit;
  return strides;
}

}  // namespace

std::int64_t any_item_size(Input& in, DType dtype) {
  return dtype == DType::Bytes ? in.within(1, 40) : item_size(dtype);
}

Placed::Placed(Input& in, DType dtype, std::int64_t item_size, const Numbers& shape, Strides most, Device device) {
  const std::int64_t unit = dtype == DType::String ? kString : 1;
  // Without elements any strides are valid, and extents may be too large for other strides.
  const bool empty = std::ranges::count(shape, 0) > 0;
  const auto how = empty ? Strides::Any : static_cast<Strides>(in.within(0, static_cast<std::int64_t>(most)));
  const Numbers strides = how == Strides::Contiguous ? contiguous_strides(shape, item_size)
                          : how == Strides::Distinct ? distinct_strides(in, shape, item_size, unit)
                                                     : any_strides(in, shape, unit);
  host_ = view_ = must_get(View::strided(nullptr, dtype, shape, strides, item_size), "a small view");
  view_.device = device;
  if (empty) return;
  const Span span = span_of(host_.layout);
  allocate(in, span.below, span.above - span.below);
  if (device.is_cpu()) {
    view_ = host_;
    return;
  }
  const auto past = [](const std::byte* p) { return reinterpret_cast<std::uintptr_t>(p) % 256; };
  const auto size = static_cast<std::int64_t>(before_.size());
  device_memory_ = must_get(memory_there().allocate(size + 256, Contents::Uninitialised), "a little memory");
  std::byte* const first = device_memory_.data() + (past(memory_.get()) + 256 - past(device_memory_.data())) % 256;
  view_.data = first + (host_.data - memory_.get());
  send();
}

void Placed::allocate(Input& in, std::int64_t below, std::int64_t span) {
  span_ = span;
  if (view_.dtype == DType::String) {
    const std::int64_t count = span / kString;
    strings_ = std::make_unique<std::string[]>(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      strings_[static_cast<std::size_t>(i)] =
          std::to_string(i) + (in.flag() ? " is a string that is too long to be short" : "");
    }
    strings_before_.assign(strings_.get(), strings_.get() + count);
    host_.data = reinterpret_cast<std::byte*>(strings_.get()) - below;
    return;
  }
  front_ = kCanary + in.within(0, 63);
  const auto size = static_cast<std::size_t>(front_ + span + kCanary);
  memory_ = std::make_unique<std::byte[]>(size);
  in.fill(memory_.get(), size);
  before_.assign(memory_.get(), memory_.get() + size);
  ASAN_POISON_MEMORY_REGION(memory_.get(), static_cast<std::size_t>(front_));
  ASAN_POISON_MEMORY_REGION(memory_.get() + front_ + span, static_cast<std::size_t>(kCanary));
  host_.data = memory_.get() + front_ - below;
}

const View& Placed::fetched() const {
  if (device_memory_.data() == nullptr) return host_;
  copy_back(memory_.get(), there(), std::ssize(before_));
  return host_;
}

void Placed::send() const {
  if (device_memory_.data() != nullptr) copy_there(there(), memory_.get(), std::ssize(before_));
}

Placed::~Placed() {
  if (memory_ != nullptr) ASAN_UNPOISON_MEMORY_REGION(memory_.get(), before_.size());
}

void Placed::set_zero() const {
  edit([](const View& view) {
    reference::overwrite(plan_zero(view.layout, Widen::No), view.dtype, view.data, view.data);
  });
}

void Placed::check_gaps() const {
  if (strings_ != nullptr) {
    std::vector<std::string> now(strings_.get(), strings_.get() + strings_before_.size());
    for_each_index(view_.shape(), [&](const Numbers& index) {
      const std::byte* element = host_.data + offset_of(host_.layout, index);
      const auto at = static_cast<std::size_t>(reinterpret_cast<const std::string*>(element) - strings_.get());
      now[at] = strings_before_[at];
    });
    return must(now == strings_before_, "strings between the elements are not touched");
  }
  if (memory_ == nullptr) return;
  fetched();
  ASAN_UNPOISON_MEMORY_REGION(memory_.get(), before_.size());
  std::vector<std::byte> now(memory_.get(), memory_.get() + before_.size());
  for_each_index(view_.shape(), [&](const Numbers& index) {
    const std::int64_t at = host_.data + offset_of(host_.layout, index) - memory_.get();
    std::copy_n(before_.begin() + at, host_.layout.item_size, now.begin() + at);
  });
  must(now == before_, "bytes around and between the elements are not touched");
}

}  // namespace backslice::fuzz
