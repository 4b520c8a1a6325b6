// A TensorArray as TensorFlow's documentation describes it, without sharing, locks or lazy sums.
//
// Every operation returns whether it is allowed. One that is not allowed changes nothing.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "fuzz/values.h"

namespace backslice::fuzz {

struct Dense {
  Numbers shape;
  Values values;

  friend bool operator==(const Dense&, const Dense&) = default;
};

using Partial = std::optional<Numbers>;  // -1 for an unknown extent; nullopt for an unknown rank

class TensorArrayModel {
 public:
  struct Kind {
    DType dtype;
    std::int64_t item_size;
    bool dynamic_size, clear_after_read, identical_element_shapes, is_gradient;
  };

  TensorArrayModel(std::int64_t size, const Kind& kind, Partial element_shape)
      : kind_(kind), size_(size), element_shape_(std::move(element_shape)) {}

  const Kind& kind() const { return kind_; }
  bool is_closed() const { return closed_; }
  std::int64_t size() const { return size_; }
  const Partial& element_shape() const { return element_shape_; }

  bool write(std::int64_t index, const Dense& value);
  bool scatter(const Numbers& indices, const Dense& value);
  bool split(const Dense& value, const Numbers& lengths);

  std::optional<Dense> read(std::int64_t index);
  std::optional<Dense> gather(const Numbers& indices, const Partial& element_shape);
  struct Concatenated {
    Dense value;
    Numbers lengths;
  };
  std::optional<Concatenated> concat(const Partial& element_shape_except0);

  void close();
  std::shared_ptr<TensorArrayModel> grad(const std::string& source, const Numbers& shape_to_prepend);

 private:
  struct Slot {
    Numbers shape;
    std::optional<Values> value;  // nullopt means zeros
    bool written = false, read = false, cleared = false;
  };

  bool write_all(const std::vector<std::pair<std::int64_t, Dense>>& writes);
  std::optional<std::vector<Dense>> read_all(const Numbers& indices, const Partial& given);
  void count_as_read(const Numbers& indices, const Partial& given);

  Kind kind_;
  std::int64_t size_;
  Partial element_shape_;
  bool closed_ = false;
  std::map<std::int64_t, Slot> slots_;
  std::map<std::string, std::shared_ptr<TensorArrayModel>> gradients_;
};

}  // namespace backslice::fuzz
