#include "kernels/concat/sum.h"

#include <algorithm>

#include "core/caches.h"
#include "core/visit_dtype.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/writer.h"

namespace backslice {
namespace {

template <class T>
void add_items(std::byte* sum, const std::byte* term, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    T a, b;
    std::memcpy(&a, sum + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    std::memcpy(&b, term + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
    a = a + b;
    std::memcpy(sum + i * static_cast<std::int64_t>(sizeof(T)), &a, sizeof(T));
  }
}

// The elements [lo, hi) of one sum, a block that stays in the L1 cache at a time.
template <class Writer>
void run_part(const Sum& sum, std::int64_t lo, std::int64_t hi, AddRow add, std::int64_t item_size) {
  Writer writer(sum.target + lo * item_size, *active_target().rows);
  if (sum.terms.empty()) {
    writer.zero((hi - lo) * item_size);
  } else if (sum.terms.size() == 1) {
    writer.copy(sum.terms[0] + lo * item_size, (hi - lo) * item_size);
  } else {
    const std::int64_t block = kMaxReserve / item_size;
    for (std::int64_t at = lo; at < hi; at += block) {
      const std::int64_t count = std::min(block, hi - at);
      std::byte* to = writer.reserve(count * item_size);
      copy_bytes(to, sum.terms[0] + at * item_size, count * item_size);
      for (std::size_t term = 1; term < sum.terms.size(); ++term) add(to, sum.terms[term] + at * item_size, count);
      writer.commit(count * item_size);
    }
  }
  writer.finish();
}

}  // namespace

AddRow addition_of(DType dtype) {
  if (const AddRow row = active_target().rows->add[static_cast<int>(dtype)]) return row;
  if (!can_add(dtype)) return nullptr;
  AddRow add = nullptr;
  visit_addable(dtype, [&]<class T>() { add = add_items<T>; });
  return add;
}

void run_sums(std::span<const Sum> sums, DType dtype, std::int64_t item_size, const TaskRunner& runner) {
  if (item_size == 0) return;
  constexpr std::int64_t kPart = 256 << 10;
  const std::int64_t part = std::max<std::int64_t>(1, kPart / std::max<std::int64_t>(1, item_size));  // in elements
  struct Part {
    const Sum* sum;
    std::int64_t lo, hi;
  };
  std::vector<Part> parts;
  std::int64_t total = 0;
  for (const Sum& sum : sums) {
    for (std::int64_t lo = 0; lo < sum.elements; lo += part) {
      parts.push_back({&sum, lo, std::min(lo + part, sum.elements)});
    }
    total += sum.elements * item_size;
  }
  const AddRow add = addition_of(dtype);
  const bool streaming = total > caches().l3;
  const auto run = [&](std::int64_t i) {
    const Part& p = parts[static_cast<std::size_t>(i)];
    streaming ? run_part<StreamWriter>(*p.sum, p.lo, p.hi, add, item_size)
              : run_part<DirectWriter>(*p.sum, p.lo, p.hi, add, item_size);
  };
  const auto count = static_cast<std::int64_t>(parts.size());
  if (total < 2 * kPart) {
    for (std::int64_t i = 0; i < count; ++i) run(i);
  } else {
    runner.run(count, run);
  }
}

}  // namespace backslice
