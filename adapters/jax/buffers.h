// XLA's buffers as views, its element types as ours, and our errors as its own.
#pragma once

#include <optional>

#include "backslice/result.h"
#include "backslice/view.h"
#include "xla/ffi/api/ffi.h"

namespace backslice::jax {

/// Nothing for types that have no elements, and for those of less than a byte, which XLA packs.
std::optional<DType> dtype_of(xla::ffi::DataType type);

/// Row-major, as handlers are given buffers, in memory of that device. `name` is for messages.
Result<View> view_of(const xla::ffi::AnyBuffer& buffer, std::string_view name, Device device = {});

xla::ffi::Error to_xla(const Status& status);

}  // namespace backslice::jax
