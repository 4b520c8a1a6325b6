#include "fuzz/place.h"

#include "backslice/cuda.h"
#include "fuzz/must.h"

namespace backslice::fuzz {
namespace {

void copy(std::byte* to, Device there, const std::byte* from, Device here, std::int64_t bytes) {
  const View dst = must_get(View::contiguous(to, DType::UInt8, {bytes}, 0, there), "a view of memory");
  const ConstView src = must_get(ConstView::contiguous(from, DType::UInt8, {bytes}, 0, here), "a view of memory");
  agree(cuda_copy(dst, src), true, "a copy");
  agree(cuda_synchronize(place().ordinal), true, "waiting for a copy");
}

}  // namespace

void copy_there(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes > 0) copy(to, place(), from, Device::cpu(), bytes);
}

void copy_back(std::byte* to, const std::byte* from, std::int64_t bytes) {
  if (bytes > 0) copy(to, Device::cpu(), from, place(), bytes);
}

Span span_of(const Layout& layout) {
  Span span{0, layout.item_size};
  for (int i = 0; i < layout.shape.rank(); ++i) {
    if (layout.shape[i] == 0) return {};
    (layout.strides[i] < 0 ? span.below : span.above) += (layout.shape[i] - 1) * layout.strides[i];
  }
  return span;
}

OnCpu::OnCpu(const ConstView& view) : view_(view) {
  if (view.device.is_cpu()) return;
  const Span span = span_of(view.layout);
  copy_.resize(static_cast<std::size_t>(span.above - span.below));
  copy_back(copy_.data(), view.data + span.below, std::ssize(copy_));
  view_.data = copy_.data() - span.below;
  view_.device = Device::cpu();
}

}  // namespace backslice::fuzz
