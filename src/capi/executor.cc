#include "capi/executor.h"

namespace backslice::capi {
namespace {

using Task = std::function<void(std::int64_t)>;

void call_task(void* arg, std::int64_t i) { (*static_cast<const Task*>(arg))(i); }

}  // namespace

void CallbackExecutor::run(std::int64_t count, const Task& task) {
  const std::int32_t code = callbacks_.run(callbacks_.user, count, call_task, const_cast<Task*>(&task));
  if (code == 0) return;
  refuse(Status(StatusCode::Internal,
                join("context.executor->run returned ", code, ", expected 0: it could not run its tasks")));
}

}  // namespace backslice::capi
