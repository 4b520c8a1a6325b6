#include "faults/fault_injection.h"

#include "backslice/buffer_pool.h"

#ifdef BACKSLICE_FAULT_INJECTION

namespace backslice::testing {

TEST_P(FaultInjection, EveryRequestMayFail) {
  const Status expected = GetParam().prepare().call();
  trim_pool();
  const std::int64_t in_use = pool_stats().bytes_in_use;
  for (std::int64_t n = 0; n < 10'000; ++n) {
    {
      Attempt attempt = GetParam().prepare();
      faults::strike_at(n);
      const Status status = attempt.call();
      const bool struck = faults::disarm();
      if (struck && status.code() == StatusCode::ResourceExhausted) {
        EXPECT_EQ(attempt.call().to_string(), expected.to_string()) << "tried again after request " << n << " failed";
      } else {
        EXPECT_EQ(status.to_string(), expected.to_string()) << "request " << n;
      }
      if (expected.ok()) attempt.check();
      if (!struck) return;
    }
    trim_pool();
    EXPECT_EQ(pool_stats().bytes_in_use, in_use) << "after request " << n << " failed";
  }
  FAIL() << "the operation never came to its end";
}

}  // namespace backslice::testing

#endif
