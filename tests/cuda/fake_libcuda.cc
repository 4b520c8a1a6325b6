// A driver that the CUDA runtime loads instead of the real one: too old for it, or without a device.
#include <cstdlib>
#include <cstring>

namespace {

bool is_old() {
  const char* kind = std::getenv("BACKSLICE_FAKE_DRIVER");
  return kind != nullptr && std::strcmp(kind, "old") == 0;
}

constexpr int kNoDevice = 100, kNotFound = 500;

}  // namespace

extern "C" {

int cuDriverGetVersion(int* version) {
  *version = is_old() ? 11000 : 13000;
  return 0;
}
int cuInit(unsigned) { return kNoDevice; }
int cuGetProcAddress(const char*, void**, int, unsigned long long) { return kNotFound; }
int cuGetProcAddress_v2(const char* name, void** function, int, unsigned long long, int*) {
  *function = nullptr;
  if (std::strcmp(name, "cuDriverGetVersion") == 0) *function = reinterpret_cast<void*>(&cuDriverGetVersion);
  if (std::strcmp(name, "cuInit") == 0) *function = reinterpret_cast<void*>(&cuInit);
  return *function != nullptr ? 0 : kNotFound;
}
}
