#include "capi/boundary.h"

#include "backslice/c/backslice.h"
#include "core/faults.h"
#include "testing.h"

namespace backslice {
namespace {

TEST(CBoundary, WhateverIsThrownBecomesACodeAndAMessage) {
  EXPECT_EQ(capi::guarded([]() -> Status { throw std::bad_alloc(); }), BACKSLICE_RESOURCE_EXHAUSTED);
  EXPECT_STREQ(backslice_last_error(), "out of memory");
  EXPECT_EQ(capi::guarded([]() -> Status { throw 7; }), BACKSLICE_INTERNAL);
  EXPECT_EQ(capi::guarded([] { return Status(); }), BACKSLICE_OK);
  EXPECT_THAT(backslice_last_error(), ::testing::HasSubstr("unknown type"));  // a success keeps the message
}

#ifdef BACKSLICE_FAULT_INJECTION
// Calls it with the first request for memory refused, then the second, and so on, until none is.
template <class Call>
void refuse_each_request(const Call& call, std::int32_t otherwise) {
  for (std::int64_t n = 0;; ++n) {
    faults::strike_at(n);
    const std::int32_t code = call();
    const bool struck = faults::disarm();
    if (!struck) {
      EXPECT_EQ(code, otherwise);
      EXPECT_GT(n, 0) << "nothing was asked for";
      return;
    }
    EXPECT_THAT(code, ::testing::AnyOf(BACKSLICE_RESOURCE_EXHAUSTED, otherwise));
  }
}

TEST(CBoundary, NoMemoryForTheMessageIsAnErrorToo) {
  backslice_selection* none = nullptr;
  const std::int64_t shape[] = {4};
  const backslice_string index = {"a text that is no index and too long to be kept in place", 56};
  refuse_each_request([&] { return backslice_selection_from_index({shape, 1}, index, &none); },
                      BACKSLICE_INVALID_ARGUMENT);
  EXPECT_EQ(none, nullptr);
}

TEST(CBoundary, NoMemoryForAHandleLosesNothing) {
  backslice_selection* made = nullptr;
  const std::int64_t shape[] = {4};
  refuse_each_request([&] { return backslice_selection_from_index({shape, 1}, {"1:3", 3}, &made); }, BACKSLICE_OK);
  EXPECT_NE(made, nullptr);
  backslice_free(made);
}
#endif

}  // namespace
}  // namespace backslice
