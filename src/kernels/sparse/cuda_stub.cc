// What takes the place of sparse slices on CUDA devices in a build without them.
#include "core/errors.h"
#include "kernels/sparse/cuda.h"

namespace backslice::cuda {
namespace {

[[noreturn]] void refuse() { throw StatusException(unimplemented("backslice was built without CUDA")); }

}  // namespace

DeviceFound::DeviceFound(std::int64_t rows, std::int64_t slice_rows, const Workspace&)
    : rows_(rows), slice_rows_(slice_rows) {
  refuse();
}
DeviceFound DeviceFound::in_order(const CooIndices&, Ints, const CooIndices&, const Workspace&, DeviceStatus*) {
  refuse();
}
DeviceFound DeviceFound::in_any_order(const CooIndices&, Ints, const CooIndices&, const Workspace&, DeviceStatus*) {
  refuse();
}
DeviceFound DeviceFound::in_window(const CooIndices&, Ints, Ints, std::int64_t, const Workspace&, DeviceStatus*) {
  refuse();
}
DeviceStatus DeviceFound::outcome(DeviceStream) const { refuse(); }
void DeviceFound::write_gradient(const ConstView&, const View&, Write, DeviceStream) const { refuse(); }
void DeviceFound::write_slice(const CooIndices&, Ints, const ConstView&, const View&, const View&, DeviceStream) const {
  refuse();
}

}  // namespace backslice::cuda
