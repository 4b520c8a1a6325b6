// Items moved apart to where bits are set, on every target that does it, against moving them one by one.
#include "kernels/cpu/targets.h"
#include "testing.h"

namespace backslice {
namespace {

template <class T>
std::vector<T> moved_one_by_one(const std::vector<T>& items, const std::vector<std::uint64_t>& words,
                                std::size_t count) {
  std::vector<T> moved(count, T{0});
  std::size_t next = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if ((words[i / 64] >> (i % 64) & 1) != 0) moved[i] = items[next++];
  }
  return moved;
}

// The source ends with its last item, or goes on: vectors may read as far as it reaches and no farther.
template <class T>
void expect_moved(const Target& target, std::mt19937_64& random, std::size_t count, std::size_t more_items) {
  const ExpandRow expand = target.rows->expand[width_index(sizeof(T))];
  if (expand == nullptr) return;
  const auto density = random() % 3;
  std::vector<std::uint64_t> words(count / 64 + 1);
  for (auto& word : words) word = density == 0 ? random() : density == 1 ? random() & random() & random() : ~0ull;
  if (count % 64 != 0) words.back() &= (std::uint64_t{1} << (count % 64)) - 1;
  if (count % 64 == 0) words.back() = 0;
  std::size_t set = 0;
  for (auto word : words) set += static_cast<std::size_t>(std::popcount(word));
  std::vector<T> items(set + more_items), moved(count, T{7});
  for (auto& item : items) item = static_cast<T>(random());
  expand(reinterpret_cast<std::byte*>(moved.data()), reinterpret_cast<const std::byte*>(items.data()),
         static_cast<std::int64_t>(items.size()), words.data(), static_cast<std::int64_t>(count));
  EXPECT_EQ(moved, moved_one_by_one(items, words, count)) << target.name << ", " << count << " items";
}

TEST(ExpandRows, MovesItemsToTheBits) {
  std::mt19937_64 random(45);
  for (const Target& target : available_targets()) {
    for (std::size_t count = 0; count < 300; ++count) {
      for (std::size_t more_items : {0, 1, 40}) {
        expect_moved<std::uint32_t>(target, random, count, more_items);
        expect_moved<std::uint64_t>(target, random, count, more_items);
      }
    }
  }
}

}  // namespace
}  // namespace backslice
