// A training runtime that lends backslice its own memory and threads.
//
// Everything that a step makes lies in one arena, which the next step uses
// again. The work runs on the runtime's own threads, and a std::stop_token ends
// it. A step is the backward pass of y[t] = x[:, t] for every t, as a recurrent
// network reads its input.
#include <backslice/backslice.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdio>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace {

using namespace backslice;

// One block of memory, given out from the front. Each Buffer keeps the block
// alive, so no result can outlive its memory.
class Arena final : public Allocator {
 public:
  explicit Arena(std::int64_t bytes)
      : block_(
            static_cast<std::byte*>(::operator new(
                static_cast<std::size_t>(bytes), std::align_val_t(64))),
            [](std::byte* p) { ::operator delete(p, std::align_val_t(64)); }),
        size_(bytes) {}

  Result<Buffer> allocate(std::int64_t bytes, Contents contents) override {
    const std::int64_t rounded = (bytes + 63) / 64 * 64;  // to kAlignment
    const std::int64_t at = used_.fetch_add(rounded);     // from any thread
    if (at + rounded > size_) {
      return Status(StatusCode::ResourceExhausted, "the arena is full");
    }
    std::byte* data = block_.get() + at;
    if (contents == Contents::Zero) std::fill_n(data, bytes, std::byte{0});
    return Buffer::wrap(block_, data);
  }

  // Begins again from the front. False while a result is still in use.
  bool reset() {
    if (block_.use_count() > 1) return false;
    used_ = 0;
    return true;
  }

 private:
  std::shared_ptr<std::byte> block_;
  std::int64_t size_;
  std::atomic<std::int64_t> used_ = 0;
};

// Threads that take tasks from a queue of jobs. The caller of run() works, too,
// so that a task may call run() again.
class Pool final : public Executor {
 public:
  explicit Pool(int threads) {
    for (int i = 1; i < threads; ++i)
      threads_.emplace_back([this](std::stop_token stop) { work(stop); });
  }

  int concurrency() const override {
    return static_cast<int>(threads_.size()) + 1;
  }

  void run(std::int64_t count,
           const std::function<void(std::int64_t)>& task) override {
    const auto job = std::make_shared<Job>(count, task);
    {
      const std::lock_guard lock(mutex_);
      jobs_.push_back(job);
    }
    ready_.notify_all();
    job->help();
    for (auto done = job->done.load(); done < count; done = job->done.load())
      job->done.wait(done);
    const std::lock_guard lock(mutex_);
    std::erase(jobs_, job);
  }

 private:
  struct Job {
    Job(std::int64_t tasks, const std::function<void(std::int64_t)>& function)
        : count(tasks), task(function) {}

    void help() {
      for (auto i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
        task(i);
        done.fetch_add(1);
        done.notify_all();
      }
    }

    const std::int64_t count;
    const std::function<void(std::int64_t)>& task;
    std::atomic<std::int64_t> next = 0, done = 0;
  };

  void work(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    while (ready_.wait(lock, stop, [&] { return !jobs_.empty(); })) {
      const std::shared_ptr<Job> job = jobs_.front();
      if (job->next >= job->count) {  // nothing is left to begin
        jobs_.pop_front();
        continue;
      }
      lock.unlock();
      job->help();
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable_any ready_;
  std::deque<std::shared_ptr<Job>> jobs_;
  std::vector<std::jthread> threads_;  // the last member: they end first
};

constexpr std::int64_t kBatch = 64, kSteps = 32, kWidth = 128;

Result<Tensor> input_gradient(const std::vector<Tensor>& dy,
                              const Context& context) {
  std::vector<SliceGradient> slices;
  for (std::int64_t t = 0; t < kSteps; ++t) {
    Result<Selection> column =
        Selection::from_index({kBatch, kSteps, kWidth}, Index{SliceRange{}, t});
    if (!column) return column.status();
    slices.push_back({*column, dy[static_cast<std::size_t>(t)]});
  }
  return multi_slice_grad({kBatch, kSteps, kWidth}, slices, context);
}

}  // namespace

int main() {
  Arena arena(4 << 20);
  Pool pool(4);
  std::stop_source stop;
  const Context context{
      .executor = &pool, .allocator = &arena, .stop = stop.get_token()};

  for (int step = 0; step < 3; ++step) {
    std::vector<Tensor> dy;
    for (std::int64_t t = 0; t < kSteps; ++t) {
      Result<Tensor> made =
          Tensor::zeros(DType::Float32, {kBatch, kWidth}, arena);
      if (!made) return std::puts(made.status().to_string().c_str()), 1;
      std::ranges::fill(made->elements<float>().value(),
                        static_cast<float>(step * kSteps + t));
      dy.push_back(*made);
    }
    Result<Tensor> dx = input_gradient(dy, context);
    if (!dx) return std::puts(dx.status().to_string().c_str()), 1;

    const std::span<float> values = dx->elements<float>().value();
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t t = i / kWidth % kSteps;
      if (values[i] !=
          static_cast<float>(step * kSteps) + static_cast<float>(t))
        return std::puts("a wrong gradient"), 1;
    }
    if (arena.reset()) return std::puts("the results are still in use"), 1;
    dx = Status(StatusCode::Cancelled, "done");
    dy.clear();
    if (!arena.reset()) return std::puts("the arena is in use"), 1;
  }

  stop.request_stop();
  const Result<Tensor> ended =
      slice(Selection::all({1 << 19}).value(),
            Tensor::zeros(DType::Float32, {1 << 19}).value(), context);
  std::printf("three steps in one arena, on %d threads; then: %s\n",
              pool.concurrency(), ended.status().to_string().c_str());
  return ended.status().code() == StatusCode::Cancelled ? 0 : 1;
}
