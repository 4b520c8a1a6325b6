// Converts XLA's buffers to views, its element types to ours, and our errors to its own.
#pragma once

#include <optional>

#include "backslice/result.h"
#include "backslice/view.h"
#include "xla/ffi/api/ffi.h"

namespace backslice::jax {

/// Returns nullopt for types without elements, and for those of less than a byte, which XLA packs.
std::optional<DType> dtype_of(xla::ffi::DataType type);

/// Returns a row-major view, as in all buffers of handlers, in memory of that device. `name` is for messages.
Result<View> view_of(const xla::ffi::AnyBuffer& buffer, std::string_view name, Device device = {});

xla::ffi::Error to_xla(const Status& status);

}  // namespace backslice::jax
