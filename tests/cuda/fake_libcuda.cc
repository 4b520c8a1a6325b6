// A driver that the CUDA runtime loads instead of the real one: too old for it, or without a device.
#include <cstdlib>
#include <cstring>

namespace {

bool is_old() {
  const char* kind = std::getenv("BACKSLICE_FAKE_DRIVER");
  return kind != nullptr && std::strcmp(kind, "old") == 0;
}

constexpr int kNoDevice = 100, kNotFound = 500;

int everything_else() { return kNoDevice; }

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version) {
  *version = is_old() ? 11000 : 13000;
  return 0;
}
int cuInit(unsigned) { return kNoDevice; }
int cuGetExportTable(const void**, const void*) { return kNotFound; }
int cuGetProcAddress(const char*, void**, int, unsigned long long) { return kNotFound; }

// The runtime finds all functions of the driver through this one, including this one. If one is missing, it takes the
// driver for missing.
int cuGetProcAddress_v2(const char* name, void** function, int, unsigned long long, int*) {
  *function = reinterpret_cast<void*>(&everything_else);
  if (std::strcmp(name, "cuGetProcAddress") == 0) *function = reinterpret_cast<void*>(&cuGetProcAddress_v2);
  if (std::strcmp(name, "cuDriverGetVersion") == 0) *function = reinterpret_cast<void*>(&cuDriverGetVersion);
  if (std::strcmp(name, "cuInit") == 0) *function = reinterpret_cast<void*>(&cuInit);
  if (std::strcmp(name, "cuGetExportTable") == 0) *function = reinterpret_cast<void*>(&cuGetExportTable);
  return 0;
}
}
