// One run of a kernel: its inputs, its result, and its threads.
#pragma once

#include <optional>

#include "backslice/context.h"
#include "backslice/tensor.h"
#include "input.h"
#include "session_threads.h"

namespace backslice::onnxruntime {

/// The result of a kernel, in ONNX Runtime's memory. finish() writes elements with a special form after the kernel has
/// succeeded.
class Output {
 public:
  Output(const Api& api, OrtValue* value, ElementType type, const Layout& layout);

  const View& view() const { return view_; }
  void finish();

 private:
  void* data() const;

  Api api_;
  OrtValue* value_;
  ElementType type_;
  std::optional<Tensor> elements_;
  View view_;
};

/// Whether ONNX Runtime can make a result of that shape.
bool fits(const Shape& shape, ElementType type);

class Call {
 public:
  /// For a node with so many inputs. `declared` is the type of the output in the graph.
  Call(const Api& api, OrtKernelContext* context, PromptHelp& help, std::size_t inputs,
       std::optional<ElementType> declared)
      : api_(api), context_(context), threads_(api, context, help), inputs_(inputs), declared_(declared) {}

  const Api& api() const { return api_; }
  std::size_t inputs() const { return inputs_; }

  /// Returns a required input.
  Input input(std::size_t index, std::string name) const;

  /// Returns an input that may be missing: it has an empty name, or comes after the last.
  Input optional_input(std::size_t index, std::string name) const;

  /// Returns an input; null if it is missing.
  const OrtValue* value(std::size_t input) const {
    const OrtValue* value = nullptr;
    if (input < inputs_) api_.require(slots::kGetInput, context_, input, &value);
    return value;
  }

  /// Returns the address of a tensor's elements, in row-major order.
  void* data(const OrtValue* tensor) const {
    void* data = nullptr;
    api_.require(slots::kGetTensorMutableData, tensor, &data);
    return data;
  }

  /// Returns the address of the element at that position; null if the position does not exist or the rank differs.
  const void* element(const OrtValue* tensor, const std::int64_t* place, std::size_t rank) const {
    void* found = nullptr;
    OrtStatus* failure = api_.call(slots::kTensorAt, const_cast<OrtValue*>(tensor), place, rank, &found);
    if (failure == nullptr) return found;
    api_.call(slots::kReleaseStatus, failure);
    return nullptr;
  }

  /// Returns the output, for elements of that type.
  Output output(const Shape& shape, ElementType type) const;

  /// Returns its memory, for elements that ONNX Runtime stores as we do. Precondition: it fits.
  void* plain_output(const Shape& shape, ElementType type) const { return data(room_for(shape, type)); }

  Context context() { return {.executor = &threads_}; }

 private:
  OrtValue* room_for(const Shape& shape, ElementType type) const {
    OrtValue* value = nullptr;
    OrtStatus* failure = api_.call(slots::kGetOutput, context_, std::size_t{0}, shape.data(), shape.size(), &value);
    if (failure != nullptr) refuse_room(shape, type, failure);
    if (declared_ != type) check_type(value, type);
    return value;
  }
  [[noreturn]] void refuse_room(const Shape& shape, ElementType type, OrtStatus* failure) const;
  void check_type(const OrtValue* result, ElementType type) const;

  Api api_;
  OrtKernelContext* context_;
  SessionThreads threads_;
  std::size_t inputs_;
  std::optional<ElementType> declared_;
};

}  // namespace backslice::onnxruntime
