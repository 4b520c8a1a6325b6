// Structs that begin with their size: shorter ones of earlier headers, and lists of them.
#include "capi/structs.h"

#include "capi/handles.h"
#include "testing.h"

namespace {

// The struct of the first header, and the current one.
struct Early {
  std::size_t struct_size;
  std::int64_t first;
};
struct Grown {
  std::size_t struct_size;
  std::int64_t first, second;
};

}  // namespace

namespace backslice::capi {

template <>
struct FirstHeader<Grown> {
  static constexpr std::size_t kSize = sizeof(Early);
  static constexpr Grown kDefaults = {sizeof(Grown), 1, 2};
};

namespace {

using namespace testing;

const Grown* as_grown(const Early* early) { return reinterpret_cast<const Grown*>(early); }

TEST(Structs, ThoseOfAnEarlierHeaderAreFilledUp) {
  const Early early = {sizeof(Early), 7};
  const Grown given = given_struct(as_grown(&early), "options");
  EXPECT_EQ(given.first, 7);
  EXPECT_EQ(given.second, 2);
  const Grown now = {sizeof(Grown), 8, 9};
  EXPECT_EQ(given_struct(&now, "options").second, 9);
}

TEST(Structs, OtherSizesAreRefused) {
  for (std::size_t size : {std::size_t{0}, sizeof(Early) - 8, sizeof(Early) + 4, sizeof(Grown) + 8}) {
    const Grown wrong = {size, 0, 0};
    const Status status = without_throwing([&] {
      (void)given_struct(&wrong, "options");
      return Status();
    });
    EXPECT_TRUE(is_error(status, StatusCode::InvalidArgument, "options.struct_size is ", std::to_string(size)));
  }
}

TEST(Structs, ResultsAreWrittenAsFarAsTheProgramHasThem) {
  Early early[2] = {{sizeof(Early), 7}, {sizeof(Early), 8}};
  StructOut out(reinterpret_cast<Grown*>(early), "out");
  (*out).first = 1;
  (*out).second = 99;
  EXPECT_TRUE(out.give().ok());
  EXPECT_EQ(early[0].first, 1);
  EXPECT_EQ(early[1].struct_size, sizeof(Early));
}

TEST(Structs, ListsHaveTheSizeOfTheirFirst) {
  const Early list[3] = {{sizeof(Early), 1}, {sizeof(Early), 2}, {sizeof(Early), 3}};
  EXPECT_EQ(given_struct(element(as_grown(list), 2), "list").first, 3);
  const Grown grown[2] = {{sizeof(Grown), 4, 5}, {sizeof(Grown), 6, 7}};
  EXPECT_EQ(element(grown, 1)->second, 7);
}

// The compiler may leave out a store to memory that is about to go.
TEST(Handles, AnEndedOneIsMarked) {
  alignas(HandleBase) std::byte memory[sizeof(HandleBase)];
  auto* const handle = new (memory) HandleBase(Kind::Selection);
  const auto offset = reinterpret_cast<std::byte*>(&handle->kind) - memory;
  handle->~HandleBase();
  Kind found;
  std::memcpy(&found, memory + offset, sizeof(found));
  EXPECT_EQ(found, Kind::Ended);
}

}  // namespace
}  // namespace backslice::capi
