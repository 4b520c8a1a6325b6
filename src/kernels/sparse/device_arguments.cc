#include <algorithm>
#include <bit>

#include "core/row_layout.h"
#include "kernels/nest/units.h"
#include "kernels/sparse/device_join.h"
#include "kernels/sparse/device_move.h"

namespace backslice::cuda {
namespace {

bool is_aligned(const CooIndices& indices, std::uintptr_t size) {
  for (int axis = 0; axis < indices.rank(); ++axis) {
    const CooIndices::Column& column = indices.column(axis);
    const auto bits = reinterpret_cast<std::uintptr_t>(column.data) | static_cast<std::uintptr_t>(column.stride);
    if (bits % size != 0) return false;
  }
  return true;
}

// Whether one load reads a row.
bool is_paired(const CooIndices& indices) {
  if (indices.rank() != 2) return false;
  const CooIndices::Column &first = indices.column(0), &second = indices.column(1);
  const std::int64_t size = item_size(indices.dtype());
  const auto bits = reinterpret_cast<std::uintptr_t>(first.data) | static_cast<std::uintptr_t>(first.stride);
  return bits % static_cast<std::uintptr_t>(2 * size) == 0 && second.data == first.data + size &&
         second.stride == first.stride;
}

IndexList list_of(const CooIndices& indices) {
  IndexList list{};
  list.is_paired = is_paired(indices);
  list.rows = indices.rows();
  list.rank = indices.rank();
  for (int axis = 0; axis < indices.rank(); ++axis) {
    list.data[axis] = indices.column(axis).data;
    list.stride[axis] = indices.column(axis).stride;
  }
  return list;
}

}  // namespace

Lists lists_of(const CooIndices& input, Ints start, const CooIndices& output) {
  Lists lists{};
  lists.input = list_of(input);
  lists.output = list_of(output);
  std::copy(start.begin(), start.end(), lists.start.of);
  const std::int64_t size = item_size(input.dtype());
  const bool aligned =
      is_aligned(input, static_cast<std::uintptr_t>(size)) && is_aligned(output, static_cast<std::uintptr_t>(size));
  lists.kind = input.dtype() == DType::Int32 ? (aligned ? IndexKind::Int32 : IndexKind::UnalignedInt32)
                                             : (aligned ? IndexKind::Int64 : IndexKind::UnalignedInt64);
  return lists;
}

RowMove row_move(const View& to, const ConstView& from, int least_width) {
  RowMove move{};
  const Plan plan = plan_copy(row_layout(to.layout), row_layout(from.layout), Widen::Yes);
  if (plan.is_empty()) return move;  // no chunks
  move.to = to.data + plan.dst_offset();
  move.from = from.data + plan.src_offset();
  move.to_row = to.layout.strides[0];
  move.from_row = from.layout.strides[0];
  std::uint64_t bits = static_cast<std::uint64_t>(plan.item_size()) | static_cast<std::uint64_t>(move.to_row) |
                       static_cast<std::uint64_t>(move.from_row) | reinterpret_cast<std::uintptr_t>(move.to) |
                       reinterpret_cast<std::uintptr_t>(move.from);
  for (const Loop& loop : plan.loops()) {
    bits |= static_cast<std::uint64_t>(loop.dst_stride) | static_cast<std::uint64_t>(loop.src_stride);
  }
  move.width = std::max(static_cast<int>(unit_width(bits)), least_width);
  move.chunks = 1;
  const auto add = [&](std::int64_t extent, std::int64_t to_stride, std::int64_t from_stride) {
    if (extent == 1) return;
    move.extent[move.loops] = {extent};
    move.to_stride[move.loops] = to_stride;
    move.from_stride[move.loops++] = from_stride;
    move.chunks *= extent;
  };
  for (const Loop& loop : plan.loops()) add(loop.extent, loop.dst_stride, loop.src_stride);
  add(plan.item_size() / move.width, move.width, move.width);
  return move;
}

std::vector<KeyColumns> key_columns(const IndexBounds& box, int rank) {
  std::vector<KeyColumns> steps;
  KeyColumns step{rank, rank, 0};
  std::uint64_t positions = 1;  // of the columns of this step; never 0
  for (int axis = rank - 1; axis >= 0; --axis) {
    const std::uint64_t reach = static_cast<std::uint64_t>(box.high[axis]) - static_cast<std::uint64_t>(box.low[axis]);
    std::uint64_t more;
    const bool fits = reach + 1 != 0 && !__builtin_mul_overflow(positions, reach + 1, &more);
    if (!fits && step.first < step.end) {
      steps.push_back(step);
      step = {axis + 1, axis + 1, 0};
      positions = 1;
    }
    step.first = axis;
    step.weight[axis] = positions;
    if (reach + 1 == 0) {  // the whole of int64: a step of its own
      step.bits = 64;
      steps.push_back(step);
      step = {axis, axis, 0};
      positions = 1;
      continue;
    }
    positions *= reach + 1;
    step.bits = static_cast<int>(std::bit_width(positions - 1));
  }
  if (step.first < step.end || steps.empty()) steps.push_back(step);
  return steps;
}

}  // namespace backslice::cuda
