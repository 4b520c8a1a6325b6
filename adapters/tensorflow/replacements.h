// The kernels that stand in for TensorFlow's own, and the switch that puts them in and out of use.
#pragma once

#include "backslice/status.h"

namespace backslice::tensorflow {

/// Registers them, the first time, and puts them in use.
Status install();

/// Puts TensorFlow's own back in use. Unimplemented where this version of TensorFlow does not allow it.
Status uninstall();

bool is_installed();

/// The names of the kernels begin with this.
inline constexpr const char* kPrefix = "Backslice";

}  // namespace backslice::tensorflow
