#include "backslice/grad_buffer.h"

#include <algorithm>
#include <atomic>

#include "testing.h"

namespace backslice {
namespace {

using namespace testing;

std::vector<float> content(const GradBuffer& buffer) {
  const auto* data = reinterpret_cast<const float*>(buffer.view().data);
  return {data, data + buffer.view().elements()};
}

TEST(GradBuffer, WriteReplacesTheContent) {
  GradBuffer buffer = GradBuffer::make(DType::Float32, {6}).value();
  const auto dy = counting<float>(2);
  EXPECT_TRUE(buffer.write(at({6}, "1:3"), view_of(dy, {2})).ok());
  EXPECT_THAT(content(buffer), ElementsAre(0, 1, 2, 0, 0, 0));
  EXPECT_TRUE(buffer.write(at({6}, "::-3"), view_of(dy, {2})).ok());
  EXPECT_THAT(content(buffer), ElementsAre(0, 0, 2, 0, 0, 1));
  EXPECT_TRUE(buffer.zero().ok());
  EXPECT_EQ(content(buffer), std::vector<float>(6, 0));
  EXPECT_TRUE(buffer.regions().empty());
}

TEST(GradBuffer, AgreesWithPlainGradientsUnderRandomUse) {
  std::mt19937 random(14);
  for (int round = 0; round < 200; ++round) {
    const Shape shape = random_selection(random, 3).shape();
    GradBuffer buffer = GradBuffer::make(DType::Float32, shape).value();
    std::vector<float> expected(static_cast<std::size_t>(shape.elements()));
    std::vector<bool> seen(expected.size());
    for (int step = 0; step < 12; ++step) {
      const Selection s = random_slice_of(random, shape);
      std::vector<float> dy(static_cast<std::size_t>(s.result_shape().elements()));
      for (float& v : dy) v = random() % 3 == 0 ? -0.0f : static_cast<float>(random() % 100);
      const int what = static_cast<int>(random() % 6);
      if (what == 0) {
        EXPECT_TRUE(buffer.zero().ok());
      } else if (what == 1) {
        ASSERT_TRUE(buffer.write(s, view_of(dy, s.result_shape())).ok());
      } else {
        ASSERT_TRUE(buffer.add(s, view_of(dy, s.result_shape())).ok());
      }
      if (what <= 1) {
        std::fill(expected.begin(), expected.end(), 0.0f);
        std::fill(seen.begin(), seen.end(), false);
      }
      const auto where = positions(s);
      for (std::size_t i = 0; what > 0 && i < dy.size(); ++i) {
        const auto p = static_cast<std::size_t>(where[i]);
        expected[p] = seen[p] ? expected[p] + dy[i] : dy[i];
        seen[p] = true;
      }
      const auto got = content(buffer);
      ASSERT_TRUE(got.empty() || std::memcmp(got.data(), expected.data(), 4 * got.size()) == 0) << s.explain();
    }
  }
}

// Without an executor of the caller's, small changes are made without a plan.
TEST(GradBuffer, SmallChangesAreThoseOfAPlan) {
  std::mt19937 random(41);
  const Context planned{.executor = &serial_executor()};
  for (int round = 0; round < 500; ++round) {
    const Shape shape = random_selection(random, 4).shape();
    const DType dtype = round % 4 == 0 ? DType::Bool : DType::Int16;
    GradBuffer small = GradBuffer::make(dtype, shape).value(), other = GradBuffer::make(dtype, shape).value();
    Selection s = random_slice_of(random, shape);
    for (int step = 0; step < 12; ++step) {
      if (random() % 3 > 0) s = random_slice_of(random, shape);
      const auto numbers = counting<std::int16_t>(s.result_shape().elements() + 1);
      const ConstView dy = *ConstView::contiguous(numbers.data(), dtype, s.result_shape());
      const auto what = random() % 8;
      if (what == 0) {
        EXPECT_TRUE(small.zero().ok() && other.zero(planned).ok());
      } else if (what == 1) {
        for (GradBuffer* buffer : {&small, &other}) {
          if (shape.elements() > 0) *buffer->writable().data = std::byte{1};
        }
      } else if (what < 4) {
        EXPECT_EQ(small.add(s, dy).code(), other.add(s, dy, planned).code());
      } else {
        EXPECT_TRUE(small.write(s, dy).ok() && other.write(s, dy, planned).ok());
      }
      ASSERT_EQ(small.regions(), other.regions()) << s.explain();
      const auto bytes = static_cast<std::size_t>(shape.elements() * item_size(dtype));
      ASSERT_TRUE(bytes == 0 || std::memcmp(small.view().data, other.view().data, bytes) == 0) << s.explain();
    }
  }
}

TEST(GradBuffer, NeighbouringRegionsMerge) {
  GradBuffer buffer = GradBuffer::make(DType::Float32, {1000, 4}).value();
  const auto dy = counting<float>(40);
  for (std::int64_t k = 0; k < 500; k += 10) {
    EXPECT_TRUE(buffer.add(*Selection::from_index({1000, 4}, {SliceRange{k, k + 10}}), view_of(dy, {10, 4})).ok());
  }
  EXPECT_EQ(buffer.regions().size(), 1u);
  EXPECT_EQ(buffer.regions()[0].axis(0), (Selection::Axis{0, 1, 500}));
}

TEST(GradBuffer, ManyScatteredRegionsStayBounded) {
  GradBuffer buffer = GradBuffer::make(DType::Float32, {100000}).value();
  const auto dy = counting<float>(1);
  for (std::int64_t k = 0; k < 100000; k += 40) {
    EXPECT_TRUE(buffer.add(*Selection::from_index({100000}, {k}), view_of(dy, {})).ok());
  }
  EXPECT_LE(buffer.regions().size(), 1024u);
  EXPECT_TRUE(buffer.zero().ok());
  EXPECT_EQ(content(buffer), std::vector<float>(100000, 0));
}

TEST(GradBuffer, WritableMarksEverything) {
  GradBuffer buffer = GradBuffer::make(DType::Float32, {4}).value();
  reinterpret_cast<float*>(buffer.writable().data)[3] = 7;
  const auto dy = counting<float>(1);
  EXPECT_TRUE(buffer.write(at({4}, "0:1"), view_of(dy, {1})).ok());
  EXPECT_THAT(content(buffer), ElementsAre(1, 0, 0, 0));
}

TEST(GradBuffer, RefusesWhatDoesNotFit) {
  GradBuffer buffer = GradBuffer::make(DType::Float32, {4}).value();
  const auto dy = counting<float>(2);
  const auto wide = counting<double>(2);
  EXPECT_TRUE(buffer.write(at({4}, "1:3"), view_of(dy, {2})).ok());
  for (bool add : {false, true}) {
    const auto call = [&](const Selection& s, const ConstView& v) {
      return add ? buffer.add(s, v) : buffer.write(s, v);
    };
    EXPECT_TRUE(is_error(call(at({5}, "1:3"), view_of(dy, {2})), kInvalid, "[5]", "buffer has shape [4]"));
    EXPECT_TRUE(is_error(call(at({4}, "1:2"), view_of(dy, {2})), kInvalid, "shape of dy"));
    EXPECT_TRUE(is_error(call(at({4}, "1:3"), view_of(wide, {2})), kInvalid, "dtype"));
    const ConstView own{buffer.view().data, DType::Float32, contiguous_layout(*Shape::make({2}), 4)};
    EXPECT_TRUE(is_error(call(at({4}, "1:3"), own), kInvalid, "shares memory"));
  }
  EXPECT_THAT(content(buffer), ElementsAre(0, 1, 2, 0));
  EXPECT_TRUE(is_error(GradBuffer::make(DType::Float8E8M0FNU, {4}), kInvalid, "no zero"));
  EXPECT_TRUE(is_error(GradBuffer::make(DType::Float32, {-4}), kInvalid, "-4"));
}

TEST(GradBuffer, StringsAddWhereNothingWasWritten) {
  GradBuffer buffer = GradBuffer::make(DType::String, {4}).value();
  const std::vector<std::string> dy = {"a", "b"};
  EXPECT_TRUE(buffer.add(at({4}, "0:2"), view_of(dy, {2})).ok());
  EXPECT_TRUE(buffer.add(at({4}, "2:4"), view_of(dy, {2})).ok());
  EXPECT_TRUE(is_error(buffer.add(at({4}, "1:3"), view_of(dy, {2})), kInvalid, "overlaps", "string"));
  EXPECT_TRUE(buffer.zero().ok());
  EXPECT_EQ(*reinterpret_cast<const std::string*>(buffer.view().data), "");
}

// Has no memory to begin with any task: the calling thread does the work.
class NoMemoryExecutor final : public Executor {
 public:
  int concurrency() const override { return 4; }
  void run(std::int64_t, const std::function<void(std::int64_t)>&) override { throw std::bad_alloc(); }
};

TEST(GradBuffer, WritesAllTheSameWhenTheExecutorCannotBegin) {
  constexpr std::int64_t kRows = 64, kColumns = 1 << 16;
  NoMemoryExecutor executor;
  const Context options{.executor = &executor};
  GradBuffer buffer = GradBuffer::make(DType::Float32, {kRows, kColumns}).value();
  const std::vector<float> ones(32 * kColumns, 1);
  EXPECT_TRUE(buffer.write(at({kRows, kColumns}, "::2"), view_of(ones, {32, kColumns}), options).ok());
  EXPECT_TRUE(buffer.add(at({kRows, kColumns}, "::2"), view_of(ones, {32, kColumns}), options).ok());
  EXPECT_EQ(content(buffer)[0], 2);
  EXPECT_EQ(content(buffer)[kColumns], 0);
  EXPECT_TRUE(buffer.add(at({kRows, kColumns}, ":32"), view_of(ones, {32, kColumns}), options).ok());
  EXPECT_EQ(content(buffer)[0], 3);
  EXPECT_EQ(content(buffer)[kColumns], 1);
  EXPECT_TRUE(buffer.zero(options).ok());
  EXPECT_EQ(content(buffer), std::vector<float>(kRows * kColumns, 0));
}

TEST(GradBuffer, StringsComeAndGo) {
  GradBuffer buffer = GradBuffer::make(DType::String, {4}).value();
  const std::vector<std::string> words = {"a word too long to be stored in place", "b"};
  EXPECT_TRUE(buffer.write(at({4}, "::-2"), view_of(words, {2})).ok());
  EXPECT_TRUE(buffer.add(at({4}, "0:1"), ConstView(view_of(words, {2}))).ok() == false);
  const auto* strings = reinterpret_cast<const std::string*>(buffer.view().data);
  EXPECT_THAT(std::vector<std::string>(strings, strings + 4), ElementsAre("", words[1], "", words[0]));
  EXPECT_EQ(words[0].size(), 37u);
  EXPECT_TRUE(buffer.zero().ok());
  EXPECT_EQ(strings[3], "");
}

TEST(GradBuffer, CancelledWritesAreClearedByTheNext) {
  constexpr std::int64_t kRows = 1 << 15, kColumns = 1 << 11;
  GradBuffer buffer = GradBuffer::make(DType::Int8, {kRows, kColumns}).value();
  const auto some = counting<std::int8_t>(kColumns), all = std::vector<std::int8_t>(kRows * kColumns, 1);
  const Selection first = *Selection::from_index({kRows, kColumns}, "7");
  const Selection whole = *Selection::from_index({kRows, kColumns}, ":");
  std::atomic<int> asked = 0, limit = 0;
  const CancelledTest cancelled = [&] { return ++asked > limit; };
  int times = 0;
  for (bool done = false; !done; ++limit) {
    ASSERT_TRUE(buffer.write(first, view_of(some, {kColumns})).ok());
    asked = 0;
    const Status status = buffer.write(whole, view_of(all, {kRows, kColumns}), {.cancelled = &cancelled});
    done = status.ok();
    times += !done;
    EXPECT_EQ(status.code(), done ? StatusCode::Ok : StatusCode::Cancelled);
    EXPECT_TRUE(buffer.zero().ok());
    const std::byte* left = buffer.view().data;
    EXPECT_EQ(std::count(left, left + kRows * kColumns, std::byte{0}), kRows * kColumns);
  }
  EXPECT_GT(times, 1);
}

}  // namespace
}  // namespace backslice
