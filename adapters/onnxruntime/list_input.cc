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
bool are_equal(Integers integers, std::span<const std::int64_t> list) {
  if (integers.size() != list.size()) return false;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (integers[i] != list[i]) return false;
  }
  return true;
}

// The same for integers of which `last` is the last.
template <class Integer>
bool end_in(const Integer* last, std::span<const std::int64_t> list) {
  for (std::size_t i = list.size(); i > 0; --i, --last) {
    if (*last != list[i - 1]) return false;
  }
  return true;
}

bool are_integers(int type) { return type == kInt32 || type == kInt64; }

}  // namespace

ListInput::ListInput(const Node& node, std::size_t index, const char* name)
    : index_(static_cast<std::uint32_t>(index)), name_(name), is_constant_(index >= node.inputs()) {
  if (is_constant_) return;  // left out
  if (auto list = node.constant_list(index)) {
    constant_ = std::make_unique<const std::vector<std::int64_t>>(*std::move(list));
    is_constant_ = true;
  }
  const auto declared = node.input(index);
  if (!declared || !are_integers(declared->type) || declared->dims.size() != 1) return;
  type_ = declared->type;
  length_ = std::max<std::int64_t>(declared->dims[0], 0);
}

std::optional<std::vector<std::int64_t>> ListInput::constant() const {
  return constant_ != nullptr ? std::optional(*constant_) : std::nullopt;
}

std::optional<std::vector<std::int64_t>> ListInput::read(const Call& call) const {
  if (is_constant_) return constant();
  const Input input = call.optional_input(index_, name_);
  if (!input.is_given()) return std::nullopt;
  return input.list();
}

std::vector<std::int64_t> ListInput::read_required(const Call& call) const {
  auto list = read(call);
  if (!list) refuse(invalid_argument(name_, " is left out, but it is not optional"));
  return *std::move(list);
}

bool ListInput::is_left_out(const Call& call) const {
  return is_constant_ ? constant_ == nullptr : call.value(index_) == nullptr;
}

// If the graph declares the length, reading the last element proves that the list is not shorter. ONNX Runtime itself
// ensures that it is not longer: it checks the inputs of a graph, and infers other tensors.
inline bool ListInput::holds_declared(const Call& call, const OrtValue* value,
                                      std::span<const std::int64_t> list) const {
  const std::int64_t index = length_ - 1;
  const void* last = call.element(value, &index, 1);
  if (last == nullptr) return false;
  return type_ == kInt32 ? end_in(static_cast<const std::int32_t*>(last), list)
                         : end_in(static_cast<const std::int64_t*>(last), list);
}

bool ListInput::holds(const Call& call, std::span<const std::int64_t> list) const {
  if (is_constant_) return constant_ != nullptr;
  const OrtValue* value = call.value(index_);
  if (value == nullptr) return false;
  const bool is_told = !list.empty() && static_cast<std::size_t>(length_) == list.size();
  return is_told && !call.api().has(slots::kGetTypeAndShape) ? holds_declared(call, value, list)
                                                             : holds_described(call, value, list);
}

bool ListInput::holds_described(const Call& call, const OrtValue* value, std::span<const std::int64_t> list) const {
  const TensorInfo info(call.api(), value, name_);
  if (info.rank() != 1 || !are_integers(info.type())) return false;
  return with_integers(info.type(), call.data(value), static_cast<std::size_t>(info.elements()),
                       [&](auto integers) { return are_equal(integers, list); });
}

}  // namespace backslice::onnxruntime
