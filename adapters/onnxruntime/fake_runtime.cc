#include "fake_runtime.h"

#include <algorithm>
#include <array>
#include <thread>

namespace backslice::onnxruntime::testing {
namespace {

int statuses = 0;

OrtStatus* failure(const char* message) {
  ++statuses;
  return new OrtStatus{message};
}

class Table {
 public:
  Table() {
    set(slots::kCreateStatus, [](int, const char* message) { return failure(message); });
    set(slots::kGetErrorMessage, [](const OrtStatus* status) { return status->message.c_str(); });
    set(slots::kReleaseStatus, [](OrtStatus* status) {
      --statuses;
      delete status;
    });
    set_values();
    set_node();
    set_context();
  }

  const OrtApi* get() const { return reinterpret_cast<const OrtApi*>(functions_.data()); }

 private:
  using Any = void (*)();

  template <class Function, class Body>
  void set(Slot<Function> slot, Body body) {
    functions_[slot.place] = reinterpret_cast<Any>(static_cast<Function*>(body));
  }

  void set_values() {
    using Info = OrtTensorTypeAndShapeInfo;
    set(slots::kIsTensor, [](const OrtValue*, int* is) -> OrtStatus* { return *is = 1, nullptr; });
    set(slots::kGetTensorMutableData,
        [](const OrtValue* value, void** data) -> OrtStatus* { return *data = value->data.get(), nullptr; });
    set(slots::kGetTensorTypeAndShape,
        [](const OrtValue* value, Info** info) -> OrtStatus* { return *info = new Info(value->info), nullptr; });
    set(slots::kReleaseTensorTypeAndShapeInfo, [](Info* info) { delete info; });
    set(slots::kGetTensorElementType,
        [](const Info* info, int* type) -> OrtStatus* { return *type = info->type, nullptr; });
    set(slots::kGetDimensionsCount,
        [](const Info* info, std::size_t* rank) -> OrtStatus* { return *rank = info->dims.size(), nullptr; });
    set(slots::kGetDimensions, [](const Info* info, std::int64_t* dims, std::size_t rank) -> OrtStatus* {
      std::copy_n(info->dims.begin(), rank, dims);
      return nullptr;
    });
    set(slots::kTensorAt,
        [](OrtValue* value, const std::int64_t* place, std::size_t rank, void** element) -> OrtStatus* {
          const auto& dims = value->info.dims;
          if (rank != dims.size()) return failure("another rank");
          std::int64_t offset = 0;
          for (std::size_t axis = 0; axis < rank; ++axis) {
            if (place[axis] >= dims[axis]) return failure("no such place");
            offset = offset * dims[axis] + place[axis];
          }
          *element = value->data.get() + offset * (value->info.type == 7 ? 8 : 4);
          return nullptr;
        });
    set(slots::kGetTypeAndShape,
        [](const OrtValue* value, int* type, const std::int64_t** dims, std::size_t* rank) -> OrtStatus* {
          *type = value->info.type;
          *dims = value->info.dims.data();
          *rank = value->info.dims.size();
          return nullptr;
        });
    set(slots::kGetElementCount,
        [](const Info* info, std::size_t* count) -> OrtStatus* { return *count = info->elements(), nullptr; });
  }

  void set_node() {
    using Node = OrtKernelInfo;
    set(slots::kGetIntegerAttribute, [](const Node*, const char*, std::int64_t*) { return failure("none"); });
    set(slots::kGetFloatAttribute, [](const Node*, const char*, float*) { return failure("none"); });
    set(slots::kGetStringAttribute, [](const Node*, const char*, char*, std::size_t*) { return failure("none"); });
    set(slots::kGetFloatsAttribute, [](const Node*, const char*, float*, std::size_t*) { return failure("none"); });
    set(slots::kGetIntegersAttribute,
        [](const Node*, const char*, std::int64_t*, std::size_t*) { return failure("none"); });
    set(slots::kGetNodeInputCount,
        [](const Node* node, std::size_t* count) -> OrtStatus* { return *count = node->constants.size(), nullptr; });
    set(slots::kGetNodeInputType, [](const Node* node, std::size_t i, OrtTypeInfo** type) -> OrtStatus* {
      if (i >= node->declared.size()) return failure("not told");
      *type = new OrtTypeInfo{node->declared[i]};
      return nullptr;
    });
    set(slots::kGetNodeOutputType, [](const Node*, std::size_t, OrtTypeInfo**) { return failure("not told"); });
    set(slots::kReleaseTypeInfo, [](OrtTypeInfo* type) { delete type; });
    set(slots::kCastTypeInfo, [](const OrtTypeInfo* type, const OrtTensorTypeAndShapeInfo** tensor) -> OrtStatus* {
      return *tensor = &type->tensor, nullptr;
    });
    set(slots::kGetConstantInput, [](const Node* node, std::size_t i, int* is, const OrtValue** value) -> OrtStatus* {
      *value = node->constants[i];
      *is = *value != nullptr;
      return nullptr;
    });
  }

  void set_context() {
    using Context = OrtKernelContext;
    set(slots::kGetInputCount,
        [](const Context* c, std::size_t* count) -> OrtStatus* { return *count = c->inputs.size(), nullptr; });
    set(slots::kGetInput, [](const Context* c, std::size_t i, const OrtValue** value) -> OrtStatus* {
      *value = c->inputs[i];
      return nullptr;
    });
    set(slots::kGetOutput,
        [](Context* c, std::size_t, const std::int64_t* dims, std::size_t rank, OrtValue** value) -> OrtStatus* {
          c->output.info.dims.assign(dims, dims + rank);
          c->output.data = std::make_unique<std::byte[]>(c->output.info.elements() * c->item_size);
          std::fill_n(c->output.data.get(), c->output.info.elements() * c->item_size, std::byte{0xAB});
          *value = &c->output;
          return nullptr;
        });
    set(slots::kParallelFor,
        [](const Context* c, void (*run)(void*, std::size_t), std::size_t count, std::size_t, void* argument) {
          c->most_tasks = std::max(c->most_tasks, count);
          const std::size_t own = c->has_helper ? 1 : std::min(count, c->runs_before_failing);
          std::thread([&] {
            for (std::size_t i = own; c->has_helper && i < count; ++i) run(argument, i);
          }).join();
          for (std::size_t i = 0; i < own; ++i) run(argument, i);
          return c->runs_before_failing < count ? failure("the pool is gone") : nullptr;
        });
  }

  std::array<Any, 415> functions_{};
};

}  // namespace

int live_statuses() { return statuses; }

const OrtApi* fake_api() {
  static const Table table;
  return table.get();
}

}  // namespace backslice::onnxruntime::testing
