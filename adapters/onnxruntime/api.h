// The functions of the ONNX Runtime that called the library.
#pragma once

#include <utility>

#include "c_api.h"
#include "core/boundary.h"

namespace backslice::onnxruntime {

using throwing::refuse;
using throwing::unwrap;

/// Ends the kernel after an error.
inline void check(const Status& status) {
  if (!status.ok()) refuse(status);
}

/// A table of functions, of that version of the interface. One process may load several.
class Api {
 public:
  explicit Api(const OrtApi* table, std::uint32_t version = kApi) : table_(table), version_(version) {}

  const OrtApi* table() const { return table_; }

  template <class Function>
  bool has(Slot<Function> slot) const {
    return version_ >= slot.since;
  }

  template <class R, class... Parameters>
  R call(Slot<R(Parameters...)> slot, std::type_identity_t<Parameters>... arguments) const {
    using Function = R (*)(Parameters...);
    return reinterpret_cast<const Function*>(table_)[slot.place](arguments...);
  }

  /// The same for a function that can fail: its error ends the kernel.
  template <class... Parameters>
  void require(Slot<OrtStatus*(Parameters...)> slot, std::type_identity_t<Parameters>... arguments) const {
    if (OrtStatus* failure = call(slot, arguments...)) refuse(taken(failure));
  }

  /// Hands our error to ONNX Runtime.
  OrtStatus* status_of(const Status& status) const noexcept;

  /// Converts an error of ONNX Runtime to a Status, and releases it.
  Status taken(OrtStatus* failure) const;

  /// Runs `body`, which may throw. ONNX Runtime gets only its own kind of error, or null.
  template <class Body>
  OrtStatus* guarded(const Body& body) const noexcept {
    be_ready_to_throw();
    try {
      body();
      return nullptr;
    } catch (...) {
      return status_of(status_of_current_exception());
    }
  }

 private:
  const OrtApi* table_;
  std::uint32_t version_;
};

}  // namespace backslice::onnxruntime
