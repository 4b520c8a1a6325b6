// The record of a GradBuffer, for code that changes its elements itself.
#pragma once

#include "backslice/grad_buffer.h"

namespace backslice {

struct GradBufferRegions {
  static std::vector<Selection>& of(GradBuffer& buffer) { return buffer.regions_; }
};

}  // namespace backslice
