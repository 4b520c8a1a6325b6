// SharedMemory: the caller's memory as a Tensor, given back by a callback when the last that holds it lets go.
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

  // The call has succeeded: from now on the memory is given back. Until then it is the caller's, whatever goes wrong.
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
