#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/parallel_for.h>
#include <oneapi/tbb/task_arena.h>

#include <optional>

#include "execute/default_pool.h"

namespace backslice {
namespace {

class TbbExecutor final : public Executor {
 public:
  explicit TbbExecutor(int threads) : arena_(threads) {}
  int concurrency() const override { return arena_.max_concurrency(); }
  void run(std::int64_t count, const std::function<void(std::int64_t)>& task) override {
    const auto run_all = [&] {
      oneapi::tbb::parallel_for(
          oneapi::tbb::blocked_range<std::int64_t>(0, count, 1),
          [&](const auto& range) {
            for (std::int64_t i = range.begin(); i < range.end(); ++i) task(i);
          },
          oneapi::tbb::simple_partitioner());
    };
    // Isolated: a thread that waits here takes only these tasks, since other tasks may need locks that its caller
    // holds.
    arena_.execute([&] { oneapi::tbb::this_task_arena::isolate(run_all); });
  }

 private:
  oneapi::tbb::task_arena arena_;
};

// oneTBB has as many workers as cores, and ignores larger requests with a warning on standard error. The lowest of
// several limits holds, so there is one limit, which grows. Called by one thread at a time.
void allow_workers(int threads) {
  static int most = oneapi::tbb::info::default_concurrency();
  static std::optional<oneapi::tbb::global_control> more;
  if (threads <= most) return;
  more.reset();
  more.emplace(oneapi::tbb::global_control::max_allowed_parallelism, threads);
  most = threads;
}

}  // namespace

std::unique_ptr<Executor> make_default_pool(int threads) {
  allow_workers(threads);
  return std::make_unique<TbbExecutor>(threads);
}

}  // namespace backslice
