#include "core/caches.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "core/tuning.h"

namespace backslice {
namespace {

// Linux lists the caches of each core: level, size ("32768K"), type. (sysconf knows them too, but on some machines
// gives the sum over all sockets.)
std::int64_t size_of_level(int level, std::int64_t unknown) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    std::ifstream level_file(folder + "level"), size_file(folder + "size");
    int found = 0;
    std::int64_t size = 0;
    char unit = 0;
    if (level_file >> found && found == level && size_file >> size >> unit) {
      return size * (unit == 'M' ? 1 << 20 : 1 << 10);
    }
  }
  return unknown;
}

}  // namespace

std::int64_t cache_for_results() {
  static const std::int64_t bytes = std::min(size_of_level(3, kTuning.unknown_cache) / 4 * 3, kTuning.most_cached);
  return bytes;
}

std::int64_t huge_page_bytes() {
  static const std::int64_t bytes = [] {
    std::ifstream file("/sys/kernel/mm/transparent_hugepage/enabled");
    std::string choices;
    std::getline(file, choices);  // "always [madvise] never"
    const bool has_any = file && choices.find("[never]") == std::string::npos;
    return has_any ? std::int64_t{2} << 20 : 0;
  }();
  return bytes;
}

}  // namespace backslice
