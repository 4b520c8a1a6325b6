// Executors that break their contract, one in each way there is.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "backslice/executor.h"

namespace backslice::testing {

using Task = std::function<void(std::int64_t)>;

// An executor of four threads that runs tasks in a prescribed way.
class Executing final : public Executor {
 public:
  explicit Executing(std::function<void(std::int64_t, const Task&)> how) : how_(std::move(how)) {}
  int concurrency() const override { return 4; }
  void run(std::int64_t count, const Task& task) override { how_(count, task); }

 private:
  std::function<void(std::int64_t, const Task&)> how_;
};

inline void run_all(std::int64_t count, const Task& task) {
  for (std::int64_t i = 0; i < count; ++i) task(i);
}

// Each way to break the contract, and the words of its error message.
struct Hostile {
  const char* name;
  const char* message;
  std::function<void(std::int64_t, const Task&)> run;
};

// Threads that executors have left behind on this one, and whether they may go on.
using Gate = std::shared_ptr<std::atomic<bool>>;
inline Gate& gate() {
  thread_local Gate closed = std::make_shared<std::atomic<bool>>(false);
  return closed;
}
inline std::vector<std::thread>& threads_left() {
  thread_local std::vector<std::thread> all;
  return all;
}

inline std::vector<Hostile> hostile_executors() {
  return {
      {"none", "left out tasks", [](std::int64_t, const Task&) {}},
      {"leaves_out_the_last", "left out tasks", [](std::int64_t n, const Task& task) { run_all(n - 1, task); }},
      {"leaves_out_the_first", "left out tasks",
       [](std::int64_t n, const Task& task) {
         for (std::int64_t i = 1; i < n; ++i) task(i);
       }},
      {"twice", "called a task twice",
       [](std::int64_t n, const Task& task) {
         run_all(n, task);
         task(0);
       }},
      {"past_the_end", "called a task twice, or one that is not in",
       [](std::int64_t n, const Task& task) {
         run_all(n, task);
         task(n);
       }},
      {"negative", "called a task twice, or one that is not in",
       [](std::int64_t n, const Task& task) {
         task(-1);
         run_all(n, task);
       }},
      {"early", "left out tasks",
       [](std::int64_t n, const Task& task) {
         task(0);
         threads_left().emplace_back([n, task, may_go_on = gate()] {
           while (!*may_go_on) std::this_thread::yield();
           for (std::int64_t i = 1; i < n; ++i) task(i);
         });
       }},
      {"throws_in_the_middle", "threw after it had begun its tasks: out of threads",
       [](std::int64_t, const Task& task) {
         task(1);
         throw std::runtime_error("out of threads");
       }},
      {"throws_what_is_no_exception", "threw after it had begun its tasks",
       [](std::int64_t n, const Task& task) {
         run_all(n, task);
         throw 1;
       }},
  };
}

inline void join_threads() {
  *gate() = true;
  gate() = std::make_shared<std::atomic<bool>>(false);
  for (std::thread& thread : threads_left()) thread.join();
  threads_left().clear();
}

}  // namespace backslice::testing
