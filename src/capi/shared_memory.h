// SharedMemory: the caller's memory as a Tensor. A callback returns the memory when its last owner is gone.
#pragma once

#include "backslice/tensor.h"

namespace backslice::capi {

using Release = void (*)(void* user);

class SharedMemory {
 public:
  SharedMemory(const View& view, Release release, void* user)
      : owner_(std::make_shared<Owner>(release, user)),
        tensor_(Tensor::of(Buffer::wrap(owner_, view.data, view.device), view)) {}

  const Tensor& tensor() const { return tensor_; }

  // Passes ownership after success. Until then the memory stays the caller's, even if the call fails.
  Status keep_if_ok(Status status) {
    owner_->is_kept = status.ok();
    return status;
  }

 private:
  struct Owner {
    Owner(Release callback, void* data) : release(callback), user(data) {}
    Owner(const Owner&) = delete;
    ~Owner() {
      if (is_kept && release != nullptr) release(user);
    }
    Release release;
    void* user;
    bool is_kept = false;
  };

  std::shared_ptr<Owner> owner_;
  Tensor tensor_;
};

}  // namespace backslice::capi
