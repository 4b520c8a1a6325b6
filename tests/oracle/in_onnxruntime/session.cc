// A program without Python: a session of ONNX Runtime's shared library with backslice's operators.
//
//     session libonnxruntime.so libbackslice_onnxruntime.so model.onnx
//
// The model computes dX [4, 2] from dY, the gradient of x[1:3], with com.microsoft::SliceGrad.
#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <vector>

#include "c_api.h"

namespace {

using backslice::onnxruntime::Slot;
namespace slots = backslice::onnxruntime::slots;

struct OrtEnv;
struct OrtSession;
struct OrtMemoryInfo;
struct OrtRunOptions;

constexpr Slot<OrtStatus*(int severity, const char* name, OrtEnv**)> kCreateEnv{3};
constexpr Slot<OrtStatus*(const OrtEnv*, const char* path, const OrtSessionOptions*, OrtSession**)> kCreateSession{7};
constexpr Slot<OrtStatus*(OrtSession*, const OrtRunOptions*, const char* const* inputs, const OrtValue* const* values,
                          std::size_t, const char* const* outputs, std::size_t, OrtValue** results)>
    kRun{9};
constexpr Slot<OrtStatus*(OrtSessionOptions**)> kCreateSessionOptions{10};
constexpr Slot<OrtStatus*(const OrtMemoryInfo*, void*, std::size_t bytes, const std::int64_t* shape, std::size_t, int,
                          OrtValue**)>
    kCreateTensorWithData{49};
constexpr Slot<OrtStatus*(int allocator, int memory, OrtMemoryInfo**)> kCreateCpuMemoryInfo{69};
constexpr Slot<void(OrtEnv*)> kReleaseEnv{92};
constexpr Slot<void(OrtMemoryInfo*)> kReleaseMemoryInfo{94};
constexpr Slot<void(OrtSession*)> kReleaseSession{95};
constexpr Slot<void(OrtValue*)> kReleaseValue{96};
constexpr Slot<void(OrtSessionOptions*)> kReleaseSessionOptions{100};
constexpr Slot<OrtStatus*(OrtSessionOptions*, const char* path)> kRegisterCustomOpsLibrary{228};

const OrtApi* table = nullptr;

template <class R, class... Parameters>
R call(Slot<R(Parameters...)> slot, std::type_identity_t<Parameters>... arguments) {
  return reinterpret_cast<R (*const*)(Parameters...)>(table)[slot.place](arguments...);
}

void expect(bool holds, const char* what) {
  if (holds) return;
  std::cerr << "failed: " << what << '\n';
  std::exit(1);
}

void succeed(OrtStatus* status) { expect(status == nullptr, status ? call(slots::kGetErrorMessage, status) : ""); }

const OrtApi* load(const char* library) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  expect(handle != nullptr, "dlopen");
  const auto base = reinterpret_cast<const OrtApiBase* (*)()>(dlsym(handle, "OrtGetApiBase"));
  expect(base != nullptr, "OrtGetApiBase");
  return base()->get_api(backslice::onnxruntime::kApi);
}

// Runs the session on a dY of `rows` rows: 1, 2, 3, ...
OrtStatus* run(OrtSession* session, std::int64_t rows, OrtValue** dx) {
  std::vector<float> elements(static_cast<std::size_t>(rows) * 2);
  for (std::size_t i = 0; i < elements.size(); ++i) elements[i] = static_cast<float>(i + 1);
  const std::array<std::int64_t, 2> shape{rows, 2};
  OrtMemoryInfo* memory = nullptr;
  OrtValue* dy = nullptr;
  succeed(call(kCreateCpuMemoryInfo, 0, 0, &memory));
  succeed(call(kCreateTensorWithData, memory, elements.data(), elements.size() * sizeof(float), shape.data(),
               shape.size(), 1, &dy));
  const char *const input = "dY", *const output = "dX";
  OrtStatus* status = call(kRun, session, nullptr, &input, &dy, std::size_t{1}, &output, std::size_t{1}, dx);
  call(kReleaseValue, dy);
  call(kReleaseMemoryInfo, memory);
  return status;
}

void check_gradient(OrtSession* session) {
  OrtValue* dx = nullptr;
  succeed(run(session, 2, &dx));
  void* data = nullptr;
  succeed(call(slots::kGetTensorMutableData, dx, &data));
  const std::array<float, 8> expected{0, 0, 1, 2, 3, 4, 0, 0};
  expect(std::equal(expected.begin(), expected.end(), static_cast<const float*>(data)), "the gradient");
  call(kReleaseValue, dx);
}

void check_refusal(OrtSession* session) {
  OrtValue* dx = nullptr;
  OrtStatus* refused = run(session, 3, &dx);
  expect(refused != nullptr, "a dY of three rows is refused");
  expect(std::strstr(call(slots::kGetErrorMessage, refused), "dY has 6 elements") != nullptr, "our message");
  call(slots::kReleaseStatus, refused);
}

}  // namespace

int main(int count, char** arguments) {
  expect(count == 4, "three arguments");
  table = load(arguments[1]);
  expect(table != nullptr, "version 17 of the interface");
  OrtEnv* environment = nullptr;
  OrtSessionOptions* options = nullptr;
  OrtSession* session = nullptr;
  succeed(call(kCreateEnv, 3, "session", &environment));
  succeed(call(kCreateSessionOptions, &options));
  succeed(call(slots::kAddSessionConfigEntry, options, "custom_op.SliceGrad.domain", "com.microsoft"));
  succeed(call(kRegisterCustomOpsLibrary, options, arguments[2]));
  succeed(call(kCreateSession, environment, arguments[3], options, &session));
  check_gradient(session);
  check_refusal(session);
  call(kReleaseSession, session);
  call(kReleaseSessionOptions, options);
  call(kReleaseEnv, environment);
}
