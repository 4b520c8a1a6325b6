// DLPack's structs, as its specification defines them.
#pragma once

#include <nanobind/ndarray.h>

#include <cstdint>

namespace backslice::python::dlpack {

using nanobind::dlpack::dltensor;

struct Managed {
  static constexpr const char* kName = "dltensor";
  static constexpr const char* kUsedName = "used_dltensor";
  dltensor tensor;
  void* context;
  void (*deleter)(Managed*);
};

struct VersionedManaged {
  static constexpr const char* kName = "dltensor_versioned";
  static constexpr const char* kUsedName = "used_dltensor_versioned";
  std::uint32_t major, minor;
  void* context;
  void (*deleter)(VersionedManaged*);
  std::uint64_t flags;
  dltensor tensor;
};

// The flags.
inline constexpr std::uint64_t kReadOnly = 1, kIsCopy = 2;

}  // namespace backslice::python::dlpack
