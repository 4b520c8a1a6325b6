#include "execute/default_pool.h"

namespace backslice {

std::unique_ptr<Executor> make_default_pool(int threads) { return make_thread_executor(threads); }

}  // namespace backslice
