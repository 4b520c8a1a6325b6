// What Highway's library would answer: WebAssembly runs the scalar target, which needs no asking.
#include <hwy/highway.h>
#include <hwy/targets.h>

namespace hwy {

int64_t SupportedTargets() { return HWY_SCALAR; }

}  // namespace hwy
