#include "session_threads.h"

#include <algorithm>
#include <thread>

#include "execute/job.h"

namespace backslice::onnxruntime {
namespace {

// Each task runs once, although ONNX Runtime may fail after some of them: one that adds must not add twice. And the
// same thread begins with the same tasks at every run, so that it finds in its cache what it wrote before.
class SharedJob {
 public:
  SharedJob(std::int64_t count, const std::function<void(std::int64_t)>& task, int threads)
      : job_(count, task, threads), threads_(threads) {}

  void work(int own) {
    const std::int64_t taken = job_.take_tasks(own, threads_);
    if (taken > 0 && std::this_thread::get_id() != caller_) had_help_.store(true, std::memory_order_relaxed);
  }

  bool had_help() const { return had_help_.load(std::memory_order_relaxed); }

 private:
  Job job_;
  const int threads_;
  const std::thread::id caller_ = std::this_thread::get_id();
  std::atomic<bool> had_help_ = false;
};

}  // namespace

std::int64_t SessionThreads::least_work() const { return help_.is_likely() ? kLeastWork / 8 : kLeastWork; }

void SessionThreads::run(std::int64_t count, const std::function<void(std::int64_t)>& task) {
  const int threads = static_cast<int>(std::min<std::int64_t>(count, concurrency()));
  SharedJob job(count, task, threads);
  const auto work = [](void* shared, std::size_t own) { static_cast<SharedJob*>(shared)->work(static_cast<int>(own)); };
  OrtStatus* refused = api_.call(slots::kParallelFor, context_, work, static_cast<std::size_t>(threads), std::size_t{0},
                                 static_cast<void*>(&job));
  if (refused != nullptr) {
    api_.call(slots::kReleaseStatus, refused);
    job.work(0);
  }
  help_.note(job.had_help());
}

}  // namespace backslice::onnxruntime
