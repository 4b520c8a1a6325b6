// What becomes of calls where the driver is missing, too old or without a device: an error each time, and a process
// that goes on.
#include <iostream>
#include <vector>

#include "backslice/backslice.h"

namespace {

using namespace backslice;

int failures = 0;

void expect(bool holds, const char* what, const Status& status) {
  std::cout << what << ": " << status << "\n";
  if (!holds) ++failures;
}

void expect_refused(const char* what, const Status& status) {
  expect(status.code() == StatusCode::FailedPrecondition, what, status);
}

}  // namespace

int main() {
  std::vector<float> memory(4);
  View x = View::of(memory, {4}).value();
  const Selection selection = Selection::from_index({4}, "1:3").value();
  for (int i = 0; i < 2; ++i) {  // the second time as the first
    x.device = Device::cuda(0);
    expect_refused("cuda_devices", cuda_devices().status());
    expect_refused("cuda_allocator", cuda_allocator(0).status());
    expect_refused("cuda_synchronize", cuda_synchronize(0));
    expect_refused("slice", slice(selection, x).status());
    x.device = Device::cpu();
    const Status status = slice(selection, x).status();
    expect(status.ok(), "slice on the CPU", status);
  }
  return failures;
}
