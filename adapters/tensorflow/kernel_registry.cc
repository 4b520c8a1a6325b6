#include "kernel_registry.h"

#include <dlfcn.h>

#include <cstddef>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>

#include "kernel_def.h"

namespace backslice::tensorflow {
namespace {

constexpr const char* kFramework = "libtensorflow_framework.so.2";
constexpr const char* kFindKernelDef =
    "_ZN10tensorflow13FindKernelDefERKN3tsl10DeviceTypeERKNS_7NodeDefEPPKNS_9KernelDefEPNSt7__cxx1112basic_stringIcSt11"
    "char_traitsIcESaIcEEE";
constexpr const char* kParseFromArray = "_ZN6google8protobuf11MessageLite14ParseFromArrayEPKvi";
constexpr const char* kNodeDef = "_ZN10tensorflow7NodeDefC1EPN6google8protobuf5ArenaE";
constexpr const char* kNodeDefUntil2_17 = "_ZN10tensorflow7NodeDefC1EPN6google8protobuf5ArenaEb";

// absl::Status: one word, returned through memory. What it points to when it is an error is never freed.
struct AbslStatus {
  std::uintptr_t word;
  ~AbslStatus() {}
};

// tsl::DeviceType is a std::string, and protocol buffers are opaque.
struct Functions {
  AbslStatus (*find_kernel_def)(const std::string& device, const void* node, const void** def, std::string* class_name);
  bool (*parse)(void* message, const void* data, int size);
  void (*new_node)(void* memory, void* arena, bool is_owned);  // the last argument is read by older versions alone
};

template <class Function>
bool look_up(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

Result<Functions> load_functions() {
  Functions f = {};
  void* library = dlopen(kFramework, RTLD_NOLOAD | RTLD_LAZY);
  if (library != nullptr && look_up(library, kFindKernelDef, f.find_kernel_def) &&
      look_up(library, kParseFromArray, f.parse) &&
      (look_up(library, kNodeDef, f.new_node) || look_up(library, kNodeDefUntil2_17, f.new_node)))
    return f;
  return Status(StatusCode::Unimplemented, "this version of TensorFlow does not tell which kernel it takes");
}

// Made once per op and type, and never destroyed: that would take one more symbol. Null: it cannot be made.
const void* node_of(const Functions& functions, const char* op, int type) {
  static std::mutex mutex;
  static std::map<std::string, std::unique_ptr<std::max_align_t[]>> nodes;
  const std::lock_guard lock(mutex);
  const std::string bytes = node_def(op, type);
  auto& node = nodes[bytes];
  if (node) return node.get();
  auto made = std::make_unique<std::max_align_t[]>(64);  // far larger than a NodeDef is
  functions.new_node(made.get(), nullptr, false);
  if (!functions.parse(made.get(), bytes.data(), static_cast<int>(bytes.size()))) return nullptr;
  node = std::move(made);
  return node.get();
}

}  // namespace

Result<KernelInUse> kernel_in_use(const char* op, int type) {
  static const Result<Functions> functions = load_functions();
  if (!functions) return functions.status();
  const void* node = node_of(*functions, op, type);
  if (node == nullptr) return Status(StatusCode::Internal, "TensorFlow cannot read a NodeDef");
  const void* definition = nullptr;
  KernelInUse kernel;
  functions->find_kernel_def("CPU", node, &definition, &kernel.class_name);
  if (definition == nullptr) return Status(StatusCode::Unimplemented, "none");
  kernel.definition = static_cast<std::byte*>(const_cast<void*>(definition));
  return kernel;
}

Result<std::int32_t*> find_priority(const KernelInUse& kernel, std::int32_t priority) {
  constexpr std::size_t kSize = 112;  // a KernelDef is about 90 bytes, and the registry keeps 48 more behind it
  std::int32_t* found = nullptr;
  for (std::size_t at = 0; at < kSize; at += sizeof priority) {
    if (std::memcmp(kernel.definition + at, &priority, sizeof priority) != 0) continue;
    if (found != nullptr) return Status(StatusCode::Unimplemented, "the priority of a kernel is there twice");
    found = reinterpret_cast<std::int32_t*>(kernel.definition + at);
  }
  if (found == nullptr) return Status(StatusCode::Unimplemented, "the priority of a kernel is not where it was");
  return found;
}

}  // namespace backslice::tensorflow
