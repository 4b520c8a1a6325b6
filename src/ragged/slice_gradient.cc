// Gradients of slices of ragged tensors.
#include "core/device.h"
#include "core/errors.h"
#include "core/items.h"
#include "memory/tensor_rows.h"
#include "ops/checks.h"
#include "ops/move.h"
#include "ragged/selected_source.h"

namespace backslice {
namespace {

Status check_dtype(const RaggedTensor& rt, const ConstView& grad) {
  const std::int64_t item_size = rt.values().view().layout.item_size;
  if (grad.dtype != rt.dtype()) {
    return dtype_error("dy has dtype ", name(grad.dtype), ", expected ", name(rt.dtype()), ", that of the values")
        .at("dy");
  }
  if (grad.layout.item_size != item_size) {
    return dtype_error("dy has items of ", grad.layout.item_size, " bytes, expected ", item_size, ", as in the values")
        .at("dy");
  }
  if (!are_bytes(grad.dtype)) return dtype_error("dy: strings have no gradient").at("dy");
  return Status();
}

// Returns some rows of a view.
ConstView rows_of(const ConstView& view, std::int64_t first, std::int64_t count) {
  ConstView rows = view;
  rows.layout.shape = with_rows(view.shape(), count);
  if (view.elements() > 0) rows.data += first * view.layout.strides[0];
  return rows;
}

class GradientWriter {
 public:
  GradientWriter(const RaggedSelection& selection, const Context& context)
      : selection_(selection),
        rt_(selection.tensor()),
        context_(context),
        call_(context, rt_.device()),
        source_(selection, call_) {}

  Status check(const ConstView& grad, Write write) const {
    BACKSLICE_RETURN_IF_ERROR(check_dtype(rt_, grad));
    BACKSLICE_RETURN_IF_ERROR(check_same_device(grad.device, "dy", rt_.device(), "rt"));
    BACKSLICE_RETURN_IF_ERROR(check_input(grad, "dy", RunsOn::AnyDevice));
    const Shape& expected = source_.size().values;
    BACKSLICE_RETURN_IF_ERROR(check_shape(grad.shape(), "dy", expected, "that of the slice's values"));
    if (write == Write::Accumulate) return check_can_accumulate(grad.dtype, "dy");
    if (has_zero(grad.dtype) || expected.elements() == rt_.values().shape().elements()) return Status();
    return dtype_error(name(grad.dtype), " has no zero, and the gradient is zero where the slice takes nothing")
        .at("dy");
  }

  Status check_output(const ConstView& grad, const View& out) const {
    BACKSLICE_RETURN_IF_ERROR(backslice::check_output(out, rt_.values().shape(), grad, "dy"));
    if (splits_share_memory(rt_, out)) return invalid_argument("out shares memory with the splits of rt").at("out");
    return Status();
  }

  Result<Tensor> make(const ConstView& grad) const {
    if (source_.one_slice()) return slice_grad(*source_.one_slice(), grad, context_);
    auto out = call_.allocate(grad.dtype, rt_.values().shape(), grad.layout.item_size);
    if (!out.ok()) return out;
    BACKSLICE_RETURN_IF_ERROR(write(grad, out->view(), Write::Overwrite));
    return out;
  }

  Status write(const ConstView& grad, const View& out, Write write) const {
    if (source_.one_slice()) return slice_grad_into(*source_.one_slice(), grad, out, write, context_);
    if (selection_.selects_whole_values()) return write_rows(grad, out, write);
    if (write == Write::Accumulate) return add_run_by_run(grad, out);
    const auto rows = slice_grad(source_.of_rows(), grad, context_);
    if (!rows.ok()) return rows.status();
    return write_rows(rows->view(), out, write);
  }

 private:
  Status write_rows(const ConstView& rows, const View& out, Write write) const {
    if (is_contiguous(rows.layout)) return in_memory_order(rows).join_into(out, write, call_);
    const auto dense = copy_of(rows, call_);
    if (!dense.ok()) return dense.status();
    return in_memory_order(dense->view()).join_into(out, write, call_);
  }

  // Adds only selected elements. Adding whole rows would add zeros to the others, and -0.0 + 0.0 is 0.0.
  Status add_run_by_run(const ConstView& grad, const View& out) const {
    std::int64_t at = 0;
    Status status;
    selection_.for_each_run(rt_.ragged_rank(), call_.tasks, [&](const RaggedSelection::Rows& run) {
      if (run.count == 0 || !status.ok()) return;
      const Selection taken = selection_.of_values(out.shape(), run);
      status = slice_grad_into(taken, rows_of(grad, at, run.count), out, Write::Accumulate, context_);
      if (!status.ok() && at > 0) status = std::move(status).with_output_written();
      at += run.count;
    });
    return status;
  }

  // Lists the rows of the values, and the gaps between them, in memory order.
  Joiner in_memory_order(const ConstView& grad) const {
    const Shape& shape = rt_.values().shape();
    const std::int64_t item_size = grad.layout.item_size, inner = elements_per_row(shape);
    Joiner segments(grad.dtype, item_size, 2 * source_.segments() + 1);
    std::int64_t written = 0, steps = 0;
    const auto push = [&](std::int64_t row, std::int64_t from, std::int64_t count) {
      segments.push_zeros((row - written) * inner);
      segments.push_borrowed(grad.data + from * inner * item_size, count * inner);
      written = row + count;
    };
    const auto push_run = [&](const RaggedSelection::Rows& run, std::int64_t from) {
      if (run.count == 0) return;
      if (run.step == 1) return push(run.start, from, run.count);
      for (std::int64_t i = 0; i < run.count; ++i) {
        call_.tasks.throw_if_cancelled_at(steps++);
        const std::int64_t k = run.step > 0 ? i : run.count - 1 - i;
        push(run.start + k * run.step, from + k, 1);
      }
    };
    selection_.in_memory_order(source_.rows_shape()[0], call_.tasks, push_run);
    segments.push_zeros((shape[0] - written) * inner);
    return segments;
  }

  const RaggedSelection& selection_;
  const RaggedTensor& rt_;
  const Context& context_;
  const Call call_;
  const SelectedSource source_;
};

Result<Tensor> make_gradient(const Result<RaggedSelection>& selection, const ConstView& grad, const Context& context) {
  if (!selection.ok()) return selection.status();
  const GradientWriter gradient(*selection, context);
  BACKSLICE_RETURN_IF_ERROR(gradient.check(grad, Write::Overwrite));
  return gradient.make(grad);
}

Status fill_gradient(const Result<RaggedSelection>& selection, const ConstView& grad, const View& out, Write write,
                     const Context& context) {
  if (!selection.ok()) return selection.status();
  const GradientWriter gradient(*selection, context);
  BACKSLICE_RETURN_IF_ERROR(gradient.check(grad, write));
  BACKSLICE_RETURN_IF_ERROR(gradient.check_output(grad, out));
  return gradient.write(grad, out, write);
}

}  // namespace

Result<Tensor> ragged_slice_grad(const Selection& rows, const RaggedTensor& rt, const ConstView& dy,
                                 const Context& context) {
  return without_throwing([&] { return make_gradient(RaggedSelection::from_rows(rt, rows), dy, context); });
}

Result<Tensor> ragged_slice_grad(const Index& index, const RaggedTensor& rt, const ConstView& dy,
                                 const Context& context) {
  return without_throwing([&] { return make_gradient(RaggedSelection::from_index(rt, index), dy, context); });
}

Status ragged_slice_grad_into(const Selection& rows, const RaggedTensor& rt, const ConstView& dy, const View& out,
                              Write write, const Context& context) {
  return without_throwing([&] { return fill_gradient(RaggedSelection::from_rows(rt, rows), dy, out, write, context); });
}

Status ragged_slice_grad_into(const Index& index, const RaggedTensor& rt, const ConstView& dy, const View& out,
                              Write write, const Context& context) {
  return without_throwing(
      [&] { return fill_gradient(RaggedSelection::from_index(rt, index), dy, out, write, context); });
}

}  // namespace backslice
