// Calls without a driver, with one that is too old, or without a device. Each call returns an error that says which,
// and the process continues. Usage: no_driver missing|old|without_device
#include <iostream>
#include <string>
#include <vector>

#include "backslice/backslice.h"

namespace {

using namespace backslice;

int failures = 0;

void expect(bool holds, const char* what, const Status& status) {
  std::cout << what << ": " << status << "\n";
  if (!holds) ++failures;
}

std::string reason;  // the error of every call

void expect_refused(const char* what, const Status& status) {
  const bool says_why = status.message().find(reason) != std::string::npos;
  expect(status.code() == StatusCode::FailedPrecondition && says_why, what, status);
}

std::string reason_for(const std::string& driver) {
  if (driver == "missing") return "no driver was found";
  if (driver == "old") return "a newer driver is needed: this one is for CUDA 11.0";
  if (driver == "without_device") return "no CUDA-capable device is detected";
  return "none: the driver must be missing, old or without_device";
}

}  // namespace

int main(int argc, char** argv) {
  reason = reason_for(argc == 2 ? argv[1] : "");
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
