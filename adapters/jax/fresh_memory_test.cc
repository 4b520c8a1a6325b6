#include "fresh_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>

namespace backslice::jax {
namespace {

constexpr std::int64_t kBytes = 16 << 20, kPage = 4096;

// A mapping, and a tensor in it that begins and ends within a page.
class Mapping {
 public:
  explicit Mapping(int flags, int file = -1)
      : data_(static_cast<std::byte*>(mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, flags, file, 0))) {}
  ~Mapping() { munmap(data_, kBytes); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  View tensor() const { return *View::contiguous(data_ + 64, DType::UInt8, {{kBytes - 128}}); }
  std::byte& operator[](std::int64_t i) { return data_[i]; }

  bool is_zero() const {
    const View view = tensor();
    return std::all_of(view.data, view.data + view.elements(), [](std::byte b) { return b == std::byte{0}; });
  }

 private:
  std::byte* data_;
};

constexpr int kPrivate = MAP_PRIVATE | MAP_ANONYMOUS;

TEST(FreshMemory, IsZeroAndNotProvidedByTheQuestion) {
  Mapping memory(kPrivate);
  EXPECT_EQ(write_of_gradients({}, memory.tensor()), Write::IntoZeros);
  unsigned char provided = 1;
  mincore(&memory[8 << 20], 1, &provided);
  EXPECT_EQ(provided & 1, 0);
  EXPECT_TRUE(memory.is_zero());
}

TEST(FreshMemory, WhatWasWrittenIsDiscardedOrOverwritten) {
  for (const std::int64_t at : {std::int64_t{64}, std::int64_t{100}, 3 * kPage, kBytes / 2, kBytes - 65}) {
    Mapping memory(kPrivate);
    memory[at] = std::byte{7};
    EXPECT_TRUE(write_of_gradients({}, memory.tensor()) == Write::Overwrite || memory.is_zero()) << at;
  }
}

TEST(FreshMemory, MemoryInUseIsOverwritten) {
  Mapping memory(kPrivate);
  for (std::int64_t at = 0; at < kBytes; at += kPage) memory[at] = std::byte{7};
  EXPECT_EQ(write_of_gradients({}, memory.tensor()), Write::Overwrite);
  EXPECT_EQ(memory[kPage], std::byte{7});
}

TEST(FreshMemory, OthersMemoryIsNotDiscarded) {
  Mapping shared(MAP_SHARED | MAP_ANONYMOUS);
  EXPECT_EQ(write_of_gradients({}, shared.tensor()), Write::Overwrite);
  char path[] = "/tmp/fresh_memory_XXXXXX";
  const int file = mkstemp(path);
  ASSERT_EQ(ftruncate(file, kBytes), 0);
  Mapping of_file(MAP_PRIVATE, file);
  EXPECT_EQ(write_of_gradients({}, of_file.tensor()), Write::Overwrite);
  close(file);
  unlink(path);
}

TEST(FreshMemory, SmallResultsAreOverwritten) {
  Mapping memory(kPrivate);
  const View small = *View::contiguous(&memory[64], DType::UInt8, {{1 << 20}});
  EXPECT_EQ(write_of_gradients({}, small), Write::Overwrite);
  const View empty = *View::contiguous(&memory[64], DType::UInt8, {{0}});
  EXPECT_EQ(write_of_gradients({}, empty), Write::Overwrite);
}

// Whether the system was asked for huge pages there: the flag "hg" of the mapping that has the address.
bool asks_for_huge_pages(const void* at) {
  std::ifstream mappings("/proc/self/smaps");
  bool is_inside = false;
  for (std::string line; std::getline(mappings, line);) {
    std::istringstream words(line);
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    if (words >> std::hex >> begin >> dash >> end && dash == '-') {
      is_inside = begin <= reinterpret_cast<std::uintptr_t>(at) && reinterpret_cast<std::uintptr_t>(at) < end;
    } else if (is_inside && line.starts_with("VmFlags:")) {
      return line.find(" hg") != std::string::npos;
    }
  }
  return false;
}

TEST(FreshMemory, HugePagesAreAskedFor) {
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) GTEST_SKIP() << "this system has none";
  Mapping memory(kPrivate);
  EXPECT_FALSE(asks_for_huge_pages(&memory[kBytes / 2]));
  expect_writes(*View::contiguous(&memory[64], DType::UInt8, {{1 << 20}}));  // holds no huge page
  EXPECT_FALSE(asks_for_huge_pages(&memory[kBytes / 2]));
  EXPECT_EQ(write_of_gradients({}, memory.tensor()), Write::IntoZeros);
  EXPECT_TRUE(asks_for_huge_pages(&memory[kBytes / 2]));
}

Write write_of(const char* index) {
  Mapping memory(kPrivate);
  const View dx = *View::contiguous(&memory[64], DType::Float32, {{1024, 1024}});  // 4 MiB
  const Selection taken = *Selection::from_index(dx.shape(), index);
  const ConstView dy = *ConstView::contiguous(nullptr, DType::Float32, taken.result_shape());
  return write_of_gradients({{{taken, dy}}}, dx);
}

TEST(FreshMemory, ZerosBetweenScatteredElementsAreWritten) {
  EXPECT_EQ(write_of("256:768"), Write::IntoZeros);
  EXPECT_EQ(write_of(":, 1:513"), Write::IntoZeros);
  EXPECT_EQ(write_of("::2, ::-1"), Write::IntoZeros);
  EXPECT_EQ(write_of(":, ::2"), Write::Overwrite);
  EXPECT_EQ(write_of(":, 3"), Write::Overwrite);
}

}  // namespace
}  // namespace backslice::jax
