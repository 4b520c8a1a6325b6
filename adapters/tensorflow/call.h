// The inputs and outputs of one run of an op.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backslice/tensor.h"
#include "c_api.h"
#include "status.h"
#include "strings.h"

namespace backslice::tensorflow {

struct DeleteTensor {
  void operator()(TF_Tensor* tensor) const { TF_DeleteTensor(tensor); }
};
using OwnedTensor = std::unique_ptr<TF_Tensor, DeleteTensor>;

/// An input tensor. Views of it are valid during its lifetime.
class Input {
 public:
  explicit Input(OwnedTensor tensor);
  Input(const Input&) = delete;

  int data_type() const { return TF_TensorType(tensor_.get()); }
  int rank() const { return rank_; }
  Ints dims() const { return {dims_, static_cast<std::size_t>(rank_)}; }

  /// Throws above 32 axes. Strings become DType::StringView.
  ConstView view();

  /// Returns the elements of an integer tensor of any shape, in row-major order.
  std::vector<std::int64_t> integers() const;

 private:
  static constexpr int kMaxDims = 254;  // TensorFlow's limit

  std::int64_t count() const;

  OwnedTensor tensor_;
  int rank_;
  std::int64_t dims_[kMaxDims];
  std::vector<StringView> texts_;
};

/// One run of an op. Errors from TensorFlow are thrown.
class Call {
 public:
  explicit Call(TF_OpKernelContext* context) : context_(context), status_(new_status()) {}

  int inputs() const { return TF_NumInputs(context_); }
  Input input(int index) const { return Input(tensor(index)); }
  OwnedTensor tensor(int index) const;

  /// Makes a contiguous tensor an output. Its memory is passed on, not copied, unless its elements are strings.
  void set_output(int index, int data_type, const Tensor& result);

  /// Makes a part of an input an output, without a copy: from an address with TensorFlow's alignment. It keeps the
  /// input's memory alive.
  void share_input(int output, int input, const ConstView& part);

  /// Makes an output in TensorFlow's own memory, which later ops can reuse if they are its last reader.
  View allocate_output(int index, int data_type, const Shape& shape);

 private:
  void set_output(int index, OwnedTensor tensor);

  TF_OpKernelContext* context_;
  OwnedStatus status_;  // what TensorFlow says of each of our calls
};

}  // namespace backslice::tensorflow
