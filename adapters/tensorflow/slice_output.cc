#include <cstdint>
#include <optional>
#include <vector>

#include "backslice/slice.h"
#include "data_types.h"
#include "slice_kernels.h"

namespace backslice::tensorflow {
namespace {

constexpr std::uintptr_t kAlignment = 64;  // what TensorFlow's kernels expect of every tensor

bool are_rows(const Selection& selection) {
  const int rank = selection.shape().rank();
  if (rank == 0 || selection.axis(0).step != 1) return rank == 0;
  for (int axis = 1; axis < rank; ++axis)
    if (!selection.is_whole(axis)) return false;
  return true;
}

// Returns the rows that an output can share, if it can.
std::optional<ConstView> shared_rows(const Selection& selection, const ConstView& x) {
  if (x.dtype == DType::StringView || selection.result_shape().elements() == 0 || !are_rows(selection)) return {};
  const ConstView rows = select(selection, x);
  if (reinterpret_cast<std::uintptr_t>(rows.data) % kAlignment != 0) return {};
  return rows;
}

// Makes an output of the op: rows of the input, or else a slice in memory of its own.
struct Output {
  std::optional<ConstView> rows;
  Result<Tensor> slice = Status(StatusCode::Internal, "not computed");
};

// One task per slice if there are enough slices; otherwise each slice is cut into tasks.
std::vector<Output> outputs_of(std::span<const Selection> selections, const ConstView& x) {
  std::vector<Output> outputs(selections.size());
  Executor& pool = default_executor();
  const bool are_many = selections.size() >= 2 * static_cast<std::size_t>(pool.concurrency());
  const Context context{.executor = are_many ? &serial_executor() : &pool};
  (are_many ? pool : serial_executor()).run(std::ssize(selections), [&](std::int64_t i) {
    const auto index = static_cast<std::size_t>(i);
    outputs[index].rows = shared_rows(selections[index], x);
    if (!outputs[index].rows) outputs[index].slice = slice(selections[index], x, context);
  });
  return outputs;
}

}  // namespace

void set_slices(Call& call, std::span<const Selection> selections, const ConstView& x, int data_type) {
  int index = 0;
  for (Output& output : outputs_of(selections, x)) {
    if (output.rows) {
      call.share_input(index++, 0, *output.rows);
    } else {
      call.set_output(index++, data_type, unwrap(std::move(output.slice)));
    }
  }
}

}  // namespace backslice::tensorflow
