// SparseSlice: the window of a COO tensor.
#include <limits>

#include "backslice/sparse_slice.h"
#include "core/device.h"
#include "core/errors.h"
#include "core/row_layout.h"
#include "kernels/sparse/kernel.h"
#include "ops/call.h"
#include "ops/checks.h"
#include "sparse/checks.h"
#include "sparse/pieces.h"

namespace backslice {
namespace {

// Returns the size along an axis of n: size if start + size < n, else the rest from start on.
Result<Shape> result_shape(const Shape& shape, Ints start, Ints size) {
  Dims dims;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    const auto i = static_cast<std::size_t>(axis);
    std::int64_t end;
    // overflows only upwards, since size is not negative
    const bool past_int64 = __builtin_add_overflow(start[i], size[i], &end);
    if (!past_int64 && end < shape[axis]) {
      dims.push_back(size[i]);
    } else {
      dims.push_back(start[i] < shape[axis] ? shape[axis] - start[i] : 0);
    }
  }
  const auto result = Shape::make(dims, "the result's shape");
  if (!result.ok()) return result.status().at("start");
  return result;
}

// Indices of the result are below size. With a negative start they may be larger than the input's indices.
Status check_indices_fit(const CooIndices& indices, Ints start, Ints size) {
  if (indices.dtype() == DType::Int64) return Status();
  for (std::size_t axis = 0; axis < start.size(); ++axis) {
    if (start[axis] < 0 && size[axis] - 1 > std::numeric_limits<std::int32_t>::max()) {
      return invalid_argument("start[", axis, "] is ", start[axis], " and size[", axis, "] is ", size[axis],
                              ": indices of the result may not fit int32; give int64 indices")
          .at("start", static_cast<std::int64_t>(axis));
    }
  }
  return Status();
}

// Returns the shape [rows, rank], with contiguous columns if the input's columns are contiguous.
Result<Tensor> make_indices(const CooIndices& like, std::int64_t rows, const Call& call) {
  if (!like.is_columns()) return call.allocate(like.dtype(), *Shape::make({rows, like.rank()}), 0);
  auto columns = call.allocate(like.dtype(), *Shape::make({like.rank(), rows}), 0);
  if (!columns.ok()) return columns;
  View view = columns->view();
  const std::int64_t item = view.layout.item_size;
  view.layout = *make_strided_layout(like.dtype(), {rows, like.rank()}, {item, rows * item}, item);
  return Tensor::of(columns->buffer(), view);
}

Status check_window(const CooIndices& indices, Ints start, Ints size) {
  BACKSLICE_RETURN_IF_ERROR(check_length(start, "start", indices.rank(), "indices"));
  BACKSLICE_RETURN_IF_ERROR(check_size(size, indices.rank(), "indices"));
  return check_indices_fit(indices, start, size);
}

// Checks the arguments in TensorFlow's order and returns the shape of the result.
Result<Shape> check_slice_arguments(const CooIndices& indices, const ConstView& values, Ints shape, Ints start,
                                    Ints size) {
  BACKSLICE_RETURN_IF_ERROR(check_rows(values, "values"));
  BACKSLICE_RETURN_IF_ERROR(check_input(values, "values", RunsOn::AnyDevice));
  BACKSLICE_RETURN_IF_ERROR(check_indices(indices, "indices", values.device, "values"));
  if (indices.rows() != values.shape()[0]) {
    return invalid_argument("Number of elements in indices (", indices.rows(), ") and values (", values.shape()[0],
                            ") do not match")
        .at("values");
  }
  const auto dense_shape = Shape::make(shape);
  if (!dense_shape.ok()) return dense_shape.status();
  if (indices.rank() != dense_shape->rank()) {
    return invalid_argument("indices has ", counted(indices.rank(), "column", "columns"), ", but shape ", shape,
                            " has ", counted(shape.size(), "axis", "axes"))
        .at("indices");
  }
  BACKSLICE_RETURN_IF_ERROR(check_window(indices, start, size));
  return result_shape(*dense_shape, start, size);
}

// Checks that an output has that shape and shares no memory with the inputs.
Status check_slice_out(const View& out, const char* argument, DType dtype, std::int64_t item_size,
                       const Shape& expected, const CooIndices& indices, const ConstView& values) {
  if (out.dtype != dtype || out.layout.item_size != item_size) {
    return dtype_error(argument, " has dtype ", name(out.dtype), " of ", out.layout.item_size, " bytes, expected ",
                       name(dtype), " of ", item_size)
        .at(argument);
  }
  BACKSLICE_RETURN_IF_ERROR(check_same_device(out.device, argument, values.device, "values"));
  BACKSLICE_RETURN_IF_ERROR(check_input(out, argument, RunsOn::AnyDevice));
  BACKSLICE_RETURN_IF_ERROR(check_shape(out.shape(), argument, expected, "one row per entry in the window"));
  BACKSLICE_RETURN_IF_ERROR(check_distinct(out, argument));
  BACKSLICE_RETURN_IF_ERROR(check_apart(out, argument, values, "values"));
  return check_apart(out, argument, indices, "indices");
}

Status check_outputs(const View& out_indices, const View& out_values, std::int64_t entries, const CooIndices& indices,
                     const ConstView& values) {
  const DType index = indices.dtype();
  BACKSLICE_RETURN_IF_ERROR(check_slice_out(out_indices, "out_indices", index, item_size(index),
                                            *Shape::make({entries, indices.rank()}), indices, values));
  BACKSLICE_RETURN_IF_ERROR(check_slice_out(out_values, "out_values", values.dtype, values.layout.item_size,
                                            with_rows(values.shape(), entries), indices, values));
  return check_apart(out_indices, "out_indices", out_values, "out_values");
}

// The counted entries in the window, with which both ways of making a slice begin.
struct Window {
  Window(const CooIndices& indices, Ints start, Ints size, std::int64_t bytes_per_row, const Call& call)
      : matcher(match_window(indices, start, size, call.rows)),
        pieces(cut_rows(indices.rows(), bytes_per_row, call.tasks)) {
    count_pieces(*matcher, pieces, call.tasks);
  }

  std::int64_t entries() const { return pieces.back().end; }

  void write(const CooIndices& indices, Ints start, const ConstView& values, const View& out_indices,
             const View& out_values, const Call& call) {
    const auto write_piece = [&](SparsePiece& piece) {
      write_slice(*matcher, piece.rows, piece.slice_rows(), indices, start, values, out_indices, out_values);
    };
    call.writing([&] { run_pieces(pieces, call.tasks, write_piece); });
  }

  std::unique_ptr<Matcher> matcher;
  SparsePieces pieces;
};

// Finds and counts the entries on a device. Their memory must not change until the entries are moved.
cuda::DeviceFound find_window(const CooIndices& indices, Ints start, Ints size, std::int64_t expected,
                              DeviceStatus* status, const Call& call) {
  return cuda::DeviceFound::in_window(indices, start, size, expected, call.device_kernel(), status);
}

Result<SparseTensor> slice_on_device(const CooIndices& indices, const ConstView& values, const Shape& shape, Ints start,
                                     Ints size, const Call& call) {
  const auto found = find_window(indices, start, size, cuda::DeviceFound::kAnyNumber, nullptr, call);
  const std::int64_t entries = found.outcome(call.queue()).found;
  auto out_indices = make_indices(indices, entries, call);
  if (!out_indices.ok()) return out_indices.status();
  auto out_values = call.allocate(values.dtype, with_rows(values.shape(), entries), values.layout.item_size);
  if (!out_values.ok()) return out_values.status();
  found.write_slice(indices, start, values, out_indices->view(), out_values->view(), call.queue());
  return SparseTensor{*std::move(out_indices), *std::move(out_values), shape};
}

// Moves as many entries as out_values has rows. The device detects another number.
Status slice_into_on_device(const CooIndices& indices, const ConstView& values, Ints start, Ints size,
                            const View& out_indices, const View& out_values, DeviceStatus* status, const Call& call) {
  BACKSLICE_RETURN_IF_ERROR(check_rows(out_values, "out_values"));
  const std::int64_t entries = out_values.shape()[0];
  if (entries > indices.rows()) {
    return invalid_argument("out_values has ", counted(entries, "row", "rows"), ", more than indices, which has ",
                            indices.rows())
        .at("out_values");
  }
  BACKSLICE_RETURN_IF_ERROR(check_outputs(out_indices, out_values, entries, indices, values));
  refuse_captured_wait(status, call);
  const auto found = find_window(indices, start, size, entries, status, call);
  found.write_slice(indices, start, values, out_indices, out_values, call.queue());
  if (status != nullptr) return Status();
  const DeviceStatus outcome = found.outcome(call.queue());
  if (outcome.refused == 0) return Status();
  return invalid_argument("out_values has ", counted(entries, "row", "rows"), ", but ",
                          counted(outcome.found, "entry", "entries"), " lie in the window")
      .at("out_values");
}

}  // namespace

Result<SparseTensor> sparse_slice(const CooIndices& indices, const ConstView& values, Ints shape, Ints start, Ints size,
                                  const Context& context) {
  return without_throwing([&]() -> Result<SparseTensor> {
    auto result = check_slice_arguments(indices, values, shape, start, size);
    if (!result.ok()) return result.status();
    const Call call(context, values.device);
    refuse_captured_wait(nullptr, call);
    if (!call.device.is_cpu()) return slice_on_device(indices, values, *result, start, size, call);
    Window window(indices, start, size, row_bytes(indices, values), call);
    auto out_indices = make_indices(indices, window.entries(), call);
    if (!out_indices.ok()) return out_indices.status();
    auto out_values = call.allocate(values.dtype, with_rows(values.shape(), window.entries()), values.layout.item_size);
    if (!out_values.ok()) return out_values.status();
    window.write(indices, start, values, out_indices->view(), out_values->view(), call);
    return SparseTensor{*std::move(out_indices), *std::move(out_values), *result};
  });
}

Result<std::int64_t> sparse_slice_count(const CooIndices& indices, Ints start, Ints size, const Context& context) {
  return without_throwing([&]() -> Result<std::int64_t> {
    BACKSLICE_RETURN_IF_ERROR(check_window(indices, start, size));
    BACKSLICE_RETURN_IF_ERROR(check_indices(indices, "indices", indices.device(), "indices"));
    const Call call(context, indices.device());
    refuse_captured_wait(nullptr, call);
    if (!call.device.is_cpu()) {
      return find_window(indices, start, size, cuda::DeviceFound::kAnyNumber, nullptr, call)
          .outcome(call.queue())
          .found;
    }
    const std::int64_t bytes_per_row = indices.rank() * item_size(indices.dtype());
    return Window(indices, start, size, bytes_per_row, call).entries();
  });
}

Result<Shape> sparse_slice_into(const CooIndices& indices, const ConstView& values, Ints shape, Ints start, Ints size,
                                const View& out_indices, const View& out_values, const Context& context) {
  return without_throwing([&]() -> Result<Shape> {
    auto result = check_slice_arguments(indices, values, shape, start, size);
    if (!result.ok()) return result.status();
    BACKSLICE_RETURN_IF_ERROR(check_device_status(context, values.device));
    const Call call(context, values.device);
    if (!call.device.is_cpu()) {
      BACKSLICE_RETURN_IF_ERROR(
          slice_into_on_device(indices, values, start, size, out_indices, out_values, context.device_status, call));
      return result;
    }
    Window window(indices, start, size, row_bytes(indices, values), call);
    BACKSLICE_RETURN_IF_ERROR(check_outputs(out_indices, out_values, window.entries(), indices, values));
    window.write(indices, start, values, out_indices, out_values, call);
    return result;
  });
}

}  // namespace backslice
