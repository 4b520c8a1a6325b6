// Slices of ragged tensors.
#include <functional>

#include "core/errors.h"
#include "core/overlap.h"
#include "memory/tensor_rows.h"
#include "ragged/named.h"
#include "ragged/ragged_parts.h"
#include "ragged/selected_source.h"

namespace backslice {
namespace {

// Returns the elements as a view of the tensor if they are contiguous, else as a copy.
Result<Tensor> taken_of(const Tensor& tensor, const Selection& selection, const Context& context) {
  Tensor shared = select(selection, tensor);
  if (is_contiguous(shared.view().layout)) return shared;
  return slice(selection, tensor, context);
}

Result<Tensor> make_values(const RaggedSelection& selection, const SelectedSource& source, const Call& call,
                           const Context& context) {
  if (source.one_slice()) return taken_of(selection.tensor().values(), *source.one_slice(), context);
  if (selection.selects_whole_values()) return joiner_of(source).join(source.size().values, call);
  const auto rows = joiner_of(source).join(source.rows_shape(), call);
  if (!rows.ok()) return rows;
  return slice(source.of_rows(), rows->view(), context);
}

Result<RaggedTensor> make(const Result<RaggedSelection>& selection, const Context& context) {
  if (!selection.ok()) return selection.status();
  const Call call(context, selection->tensor().device());
  const SelectedSource source(*selection, call);
  auto splits = make_splits(source, call);
  if (!splits.ok()) return splits.status();
  auto values = make_values(*selection, source, call, context);
  if (!values.ok()) return values.status();
  return RaggedParts::join(*std::move(values), *std::move(splits));
}

Result<RaggedSize> size_of(const Result<RaggedSelection>& selection, const Context& context) {
  if (!selection.ok()) return selection.status();
  return SelectedSource(*selection, Call(context, selection->tensor().device())).size();
}

Status fill_one_slice(const SelectedSource& source, const Tensor& tensor, const RaggedView& out,
                      const RaggedViewNames& names, const Context& context) {
  const ConstView values = tensor.view();
  const auto shares_values = [&](const ConstView& view) { return overlap(view, values); };
  BACKSLICE_RETURN_IF_ERROR(check_ragged_output(source, out, names, std::cref(shares_values)));
  return slice_into(*source.one_slice(), values, out.values, context);
}

Status fill_slices_of_rows(const SelectedSource& source, const RaggedView& out, const RaggedViewNames& names,
                           const Call& call, const Context& context) {
  const Joiner joiner = joiner_of(source);
  const auto shares_values = [&](const ConstView& view) { return joiner.shares_memory_with(view); };
  BACKSLICE_RETURN_IF_ERROR(check_ragged_output(source, out, names, std::cref(shares_values)));
  const auto rows = joiner.join(source.rows_shape(), call);
  if (!rows.ok()) return rows.status();
  return slice_into(source.of_rows(), rows->view(), out.values, context);
}

Status fill(const Result<RaggedSelection>& selection, const RaggedView& out, const RaggedViewNames& names,
            const Context& context) {
  if (!selection.ok()) return selection.status();
  const Call call(context, selection->tensor().device());
  const SelectedSource source(*selection, call);
  if (!source.one_slice() && selection->selects_whole_values()) return fill_ragged(source, out, names, call);
  BACKSLICE_RETURN_IF_ERROR(source.one_slice()
                                ? fill_one_slice(source, selection->tensor().values(), out, names, context)
                                : fill_slices_of_rows(source, out, names, call, context));
  fill_splits(source, out);
  return Status();
}

}  // namespace

Result<RaggedTensor> ragged_slice(const Selection& rows, const RaggedTensor& rt, const Context& context) {
  return without_throwing([&] { return make(RaggedSelection::from_rows(rt, rows), context); });
}

Result<RaggedTensor> ragged_slice(const Index& index, const RaggedTensor& rt, const Context& context) {
  return without_throwing([&] { return make(RaggedSelection::from_index(rt, index), context); });
}

Result<RaggedSize> ragged_slice_size(const Selection& rows, const RaggedTensor& rt, const Context& context) {
  return without_throwing([&] { return size_of(RaggedSelection::from_rows(rt, rows), context); });
}

Result<RaggedSize> ragged_slice_size(const Index& index, const RaggedTensor& rt, const Context& context) {
  return without_throwing([&] { return size_of(RaggedSelection::from_index(rt, index), context); });
}

Status named::ragged_slice_into(const Selection& rows, const RaggedTensor& rt, const RaggedView& out,
                                const RaggedViewNames& names, const Context& context) {
  return without_throwing([&] { return fill(RaggedSelection::from_rows(rt, rows), out, names, context); });
}

Status ragged_slice_into(const Selection& rows, const RaggedTensor& rt, const RaggedView& out, const Context& context) {
  return named::ragged_slice_into(rows, rt, out, {}, context);
}

Status ragged_slice_into(const Index& index, const RaggedTensor& rt, const RaggedView& out, const Context& context) {
  return without_throwing([&] { return fill(RaggedSelection::from_index(rt, index), out, {}, context); });
}

}  // namespace backslice
