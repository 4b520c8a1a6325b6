// The destination of a result: a new array or `out`, with or without the GIL, and with Python strings if the input has
// them. All operations whose result has the elements of an argument share this code. Containers hold the library's own
// strings and may give memory away; their code is in tensor_arrays.cc and variant_arrays.cc.
//
//     const ResultElements elements(input, "x");     // those of the input
//     return elements.result(&shape, out,
//                            [&] { return slice(selection, input.view, context); },
//                            [&](const View& view) { return slice_into(selection, input.view, view, context); });
#pragma once

#include <functional>

#include "bindings/arrays.h"
#include "bindings/call_context.h"
#include "bindings/errors.h"
#include "bindings/gil.h"
#include "bindings/output_argument.h"

namespace backslice::python {

// Returns the same error with NumPy's name of the dtype: objects, S, U and foreign byte orders are bytes or strings to
// the library.
Status in_numpy_terms(Status status, nb::handle numpy_dtype);

class ResultElements {
 public:
  // The elements of an input, which must outlive this. Raises DTypeError for an object array with anything but strings
  // of one type. `argument` names the input in messages.
  ResultElements(const InputArray& input, const char* argument);

  // The same for several inputs whose common zero is known already; `zero` is not valid unless they are objects.
  ResultElements(const InputArray& first, const char* argument, nb::object zero)
      : input_(first), argument_(argument), zero_(std::move(zero)) {}

  // The amount of work: in proportion to the result, or unknown.
  enum class Work { LikeResult, Any };

  // Returns the result: `out`, filled by `fill(view)`; if `out` is None, a new array from `make()`. `shape` is the
  // result's; null if only the library knows it, and then the amount of work counts as unknown.
  template <class Make, class Fill>
  nb::object result(const Shape* shape, Work work, const OutputArgument& out, const Make& make,
                    const Fill& fill) const {
    if (!out.is_none()) return filled(out, fill, work);
    if (is_on_device()) return device_result(shape, make, fill);
    if (shape == nullptr || work == Work::Any || is_object() || !is_small(*shape, input_)) {
      auto made = run(make);
      if (!made.ok()) raise(in_numpy_terms(made.status(), input_.numpy_dtype));
      return new_array(*std::move(made));
    }
    // NumPy's own memory is the fastest to get.
    View view;
    nb::object array = new_small_array(*shape, input_, view);
    check(fill(view));
    return array;
  }

  // `out`, filled.
  template <class Fill>
  nb::object filled(const OutputArgument& out, const Fill& fill, Work work) const {
    const View view = out.view(input_, argument_);
    if (is_on_device() || !view.device.is_cpu()) {
      fill_on_device(view, fill, out.call());
    } else if (is_object()) {
      fill_objects(view, [&](const View& objects) { return in_numpy_terms(fill(objects), input_.numpy_dtype); });
    } else if (work == Work::LikeResult && is_small(view.shape(), input_)) {
      check(fill(view));  // done before another thread would wake up
    } else {
      const nb::object guard = out.guard(), input_guard = keep_from_resizing(input_);
      check(without_gil([&] { return fill(view); }));
    }
    return nb::borrow(out.object());
  }

  // Runs the library without the GIL, unless other threads could then drop the objects whose addresses are moved.
  template <class Body>
  auto run(const Body& body) const {
    if (is_object()) return body();
    const nb::object guard = keep_from_resizing(input_);
    return without_gil(body);
  }

  // Returns the library's tensor as an array of the input's place.
  nb::object new_array(Tensor tensor) const;

 private:
  // Raises an error, with the dtype as the caller gave it.
  void check(const Status& status) const {
    if (!status.ok()) raise(in_numpy_terms(status, input_.numpy_dtype));
  }

  bool is_object() const { return input_.type.is_object; }
  bool is_on_device() const { return input_.on_device.call != nullptr; }

  template <class Fill>
  void fill_on_device(const View& view, const Fill& fill, const CallContext* call) const {
    check(without_gil([&] { return fill(view); }));
    finish(call);
  }

  // Returns an array of the caller's library, filled; if that makes none, one of ours.
  template <class Make, class Fill>
  nb::object device_result(const Shape* shape, const Make& make, const Fill& fill) const {
    View view;
    if (nb::object made = quickly_made(shape, view); made.is_valid()) {
      fill_on_device(view, fill, input_.on_device.call);
      return made;
    }
    const nb::object array = shape != nullptr ? new_device_array(*shape) : nb::none();
    if (!array.is_none()) return filled(device_output(array), fill, Work::Any);
    auto made = without_gil(make);
    check(made.status());
    return input_.on_device.call->device_array(*made, input_.numpy_dtype);
  }
  nb::object quickly_made(const Shape* shape, View& view) const;
  nb::object new_device_array(const Shape& shape) const;
  OutputArgument device_output(nb::handle array) const;

  // Waits for queued work if the caller's library would not.
  static void finish(const CallContext* call);
  void fill_objects(const View& out, const std::function<Status(const View&)>& fill) const;

  const InputArray& input_;
  const char* argument_;
  nb::object zero_;  // of objects
};

}  // namespace backslice::python
