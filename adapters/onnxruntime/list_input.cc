#include "list_input.h"

#include "core/errors.h"

namespace backslice::onnxruntime {
namespace {

template <class Use>
auto with_integers(int type, const void* elements, std::size_t count, const Use& use) {
  if (type == kInt32) return use(std::span(static_cast<const std::int32_t*>(elements), count));
  return use(std::span(static_cast<const std::int64_t*>(elements), count));
}

// A loop: lists are too short to call memcmp for.
template <class Integers>
bool are_equal(Integers integers, const std::vector<std::int64_t>& list) {
  if (integers.size() != list.size()) return false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (integers[i] != list[i]) return false;
  }
  return true;
}

// Whether the graph tells how many elements there are, of which type.
bool is_list(const Declared& tensor) {
  return (tensor.type == kInt32 || tensor.type == kInt64) && tensor.dims.size() == 1 && tensor.dims[0] > 0;
}

}  // namespace

ListInput::ListInput(const Node& node, std::size_t index, const char* name)
    : index_(index), name_(name), is_constant_(index >= node.inputs()) {
  if (is_constant_) return;  // left out
  constant_ = node.constant_list(index);
  is_constant_ = constant_.has_value();
  declared_ = node.input(index).value_or(Declared{});
  if (!is_list(declared_)) declared_ = {};
}

std::optional<std::vector<std::int64_t>> ListInput::read(const Call& call) const {
  if (is_constant_) return constant_;
  const Input input = call.optional_input(index_, name_);
  if (!input.is_given()) return std::nullopt;
  return input.list();
}

std::vector<std::int64_t> ListInput::read_required(const Call& call) const {
  auto list = read(call);
  if (!list) refuse(invalid_argument(name_, " is left out, but it is not optional"));
  return *std::move(list);
}

bool ListInput::holds(const Call& call, const std::vector<std::int64_t>* list) const {
  if (is_constant_) return true;
  if (const void* elements = declared_elements(call)) {
    return with_integers(declared_.type, elements, static_cast<std::size_t>(declared_.dims[0]),
                         [&](auto integers) { return list != nullptr && are_equal(integers, *list); });
  }
  const auto found = read(call);
  return found && list != nullptr ? *found == *list : !found && list == nullptr;
}

// Where the graph tells the length, asking for the last element finds out that there are no fewer. That there are no
// more is what ONNX Runtime checks of a graph's inputs and infers of its other tensors; where a graph says what is not
// so, read() has seen all of the list.
const void* ListInput::declared_elements(const Call& call) const {
  if (declared_.dims.empty()) return nullptr;
  const void* last = call.element(index_, declared_.dims[0] - 1);
  if (last == nullptr) return nullptr;
  const auto size = static_cast<std::size_t>(declared_.dims[0] - 1);
  return declared_.type == kInt32 ? static_cast<const void*>(static_cast<const std::int32_t*>(last) - size)
                                  : static_cast<const std::int64_t*>(last) - size;
}

}  // namespace backslice::onnxruntime
