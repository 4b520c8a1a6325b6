#include "op.h"

#include <memory>

namespace backslice::onnxruntime {
namespace {

struct Kernel {
  Api api;
  const OpDescription& description;
  std::size_t inputs;
  std::optional<ElementType> result;  // its type, as the graph declares it
  void* state;
  PromptHelp help = {};
};

const Op& op_of(const OrtCustomOp* op) { return *static_cast<const Op*>(op); }

const InputDescription& input_of(const OrtCustomOp* op, std::size_t index) {
  return op_of(op).description.inputs[index];
}

int input_type(const OrtCustomOp* op, std::size_t index) {
  switch (input_of(op, index).type) {
    case InputType::Any: return kAnyType;
    case InputType::Index: return op_of(op).index_type;
    case InputType::Int64: break;
  }
  return kInt64;
}

std::optional<ElementType> result_type(const Node& node) {
  const auto declared = node.output();
  return declared ? element_type(declared->type) : std::nullopt;
}

// The given table has the version that an operator declares; ours may have more functions.
OrtStatus* make_kernel(const OrtCustomOp* op, const OrtApi*, const OrtKernelInfo* info, void** kernel) {
  const Api& api = op_of(op).api;
  return api.guarded([&] {
    const OpDescription& description = op_of(op).description;
    const Node node(api, info);
    auto made = std::make_unique<Kernel>(api, description, node.inputs(), result_type(node), nullptr);
    made->state = description.create(node);
    *kernel = made.release();
  });
}

OrtStatus* compute(void* kernel, OrtKernelContext* context) {
  Kernel& self = *static_cast<Kernel*>(kernel);
  return self.api.guarded([&] {
    Call call(self.api, context, self.help, self.inputs, self.result);
    self.description.compute(self.state, call);
  });
}

void destroy_kernel(void* kernel) {
  Kernel* self = static_cast<Kernel*>(kernel);
  self->description.destroy(self->state);
  delete self;
}

}  // namespace

Op::Op(const Api& runtime, const OpDescription& what, int index_type_number)
    : OrtCustomOp{}, api(runtime), description(what), index_type(index_type_number) {
  version = kApi;
  get_name = [](const OrtCustomOp* op) { return op_of(op).description.name; };
  get_execution_provider_type = [](const OrtCustomOp*) -> const char* { return nullptr; };  // the CPU's
  get_input_type = input_type;
  get_input_type_count = [](const OrtCustomOp* op) { return op_of(op).description.inputs.size(); };
  get_output_type = [](const OrtCustomOp*, std::size_t) { return kAnyType; };
  get_output_type_count = [](const OrtCustomOp*) { return std::size_t{1}; };
  kernel_destroy = destroy_kernel;
  get_input_characteristic = [](const OrtCustomOp* op, std::size_t index) -> int {
    return input_of(op, index).characteristic;
  };
  get_output_characteristic = [](const OrtCustomOp*, std::size_t) -> int { return kRequired; };
  get_input_memory_type = [](const OrtCustomOp*, std::size_t) { return 0; };
  get_variadic_input_min_arity = [](const OrtCustomOp*) { return 1; };
  get_variadic_input_homogeneity = [](const OrtCustomOp*) { return 1; };
  get_variadic_output_min_arity = [](const OrtCustomOp*) { return 1; };
  get_variadic_output_homogeneity = [](const OrtCustomOp*) { return 1; };
  create_kernel_v2 = make_kernel;
  kernel_compute_v2 = compute;
  get_start_version = [](const OrtCustomOp*) { return 1; };
}

}  // namespace backslice::onnxruntime
