// Replaces Highway's library. WebAssembly runs the scalar target, which needs no detection.
#include <hwy/highway.h>
#include <hwy/targets.h>

namespace hwy {

int64_t SupportedTargets() { return HWY_SCALAR; }

}  // namespace hwy
