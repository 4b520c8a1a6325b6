// Decides for every slice of a backward pass whether its gradient may be added to the sum that waits in PyTorch's
// engine, and adds it on devices. growing.py says when that may be, and why nobody can tell. What it asks of PyTorch
// and of the package, it asks as Python code would: nothing here knows how their objects look inside.
#include <nanobind/nanobind.h>

#include <optional>

#include "bindings/addresses.h"
#include "bindings/errors.h"
#include "bindings/module.h"
#include "bindings/objects.h"
#include "bindings/signatures.h"

namespace backslice::python {
namespace {

// The name of an attribute, looked up often.
class Name {
 public:
  explicit Name(const char* text) : name_(PyUnicode_InternFromString(text)) {
    if (name_ == nullptr) nb::raise_python_error();
  }
  nb::object of(nb::handle object) const {
    return checked([&] { return PyObject_GetAttr(object.ptr(), name_); });
  }
  nb::object call(nb::handle object) const {
    return checked([&] { return PyObject_CallMethodNoArgs(object.ptr(), name_); });
  }
  bool is_true(nb::handle object) const { return of(object).ptr() == Py_True; }
  PyObject* ptr() const { return name_; }

 private:
  PyObject* name_;  // lives as long as the process
};

// Py_EQ: a == b; Py_GE: a >= b.
bool compare(nb::handle a, int comparison, nb::handle b) {
  const int found = call_python([&] { return PyObject_RichCompareBool(a.ptr(), b.ptr(), comparison); });
  if (found < 0) nb::raise_python_error();
  return found == 1;
}
bool are_equal(nb::handle a, nb::handle b) { return compare(a, Py_EQ, b); }

bool is_in(nb::handle set, nb::handle object) {
  const int found = call_python([&] { return PySet_Contains(set.ptr(), object.ptr()); });
  if (found < 0) nb::raise_python_error();
  return found == 1;
}

std::int64_t number(nb::handle object) {
  const long long value = call_python([&] { return PyLong_AsLongLong(object.ptr()); });
  if (value == -1 && PyErr_Occurred() != nullptr) nb::raise_python_error();
  return value;
}

// dict.get(key); not valid where there is none.
nb::object found_in(nb::handle dict, nb::handle key) {
  nb::object found = nb::borrow(call_python([&] { return PyDict_GetItemWithError(dict.ptr(), key.ptr()); }));
  if (!found.is_valid() && PyErr_Occurred() != nullptr) nb::raise_python_error();
  return found;
}

nb::object item(nb::handle tuple, Py_ssize_t i) {
  PyObject* found = PyTuple_GetItem(tuple.ptr(), i);
  if (found == nullptr) nb::raise_python_error();
  return nb::borrow(found);
}

bool is_true(const nb::object& answer) { return answer.ptr() == Py_True; }

// A lock of Python's threading, as `with` takes it.
class Locked {
 public:
  explicit Locked(nb::object lock) : lock_(std::move(lock)), release_(release().of(lock_)) {
    static const Name acquire("acquire");
    acquire.call(lock_);
  }
  ~Locked() {
    PyObject* released = call_python([this] { return PyObject_CallNoArgs(release_.ptr()); });
    if (released == nullptr) PyErr_WriteUnraisable(lock_.ptr());
    drop(released);
  }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  static const Name& release() {
    static const Name name("release");
    return name;
  }

  nb::object lock_, release_;
};

// What is asked of PyTorch, and of the modules of backslice.torch.
struct Asked {
  explicit Asked(nb::handle given)
      : latest(attribute(given, "latest")),
        task(attribute(given, "task")),
        node(attribute(given, "node")),
        slices(attribute(given, "slices")),
        tensor(attribute(given, "tensor")),
        is_graph_asked_for(attribute(given, "is_graph_asked_for")),
        is_looking_for_nans(attribute(given, "is_looking_for_nans")),
        forward_mode(attribute(given, "forward_mode")),
        engine_call(attribute(given, "engine_call")),
        weak_references(attribute(given, "weak_references")),
        capture(attribute(given, "capture")),
        known(attribute(given, "known")),
        waiting(attribute(given, "waiting")),
        stream(attribute(given, "stream")),
        is_capturing(attribute(given, "is_capturing")),
        is_shared(attribute(given, "is_shared")),
        has_memory(attribute(given, "has_memory")),
        add_shared(attribute(given, "add_shared")) {}

  nb::object latest;      // of this thread: the backward pass that it was inside last, and what waits in that
  nb::object task, node;  // the pass and the node that run
  nb::object slices;      // the classes of nodes of slices
  nb::object tensor;      // the class
  nb::object is_graph_asked_for, is_looking_for_nans, forward_mode;
  nb::object engine_call;      // the code in which Python waits for the engine
  nb::object weak_references;  // how many there are to an object
  nb::object capture, known;   // how often gradients are held that nobody else has
  nb::object waiting;          // the key of sums that wait, in that
  nb::object stream, is_capturing;
  nb::object is_shared;  // copy on write
  nb::object has_memory, add_shared;
};

class SliceAdder {
 public:
  SliceAdder(nb::handle op, nb::handle key, nb::handle kind, nb::handle sizes, nb::handle asked)
      : op_(nb::borrow(op)),
        where_(nb::make_tuple(op, key)),
        kind_(number(kind)),
        sizes_(nb::borrow(sizes)),
        asked_(asked) {
    if (kind_ < kOfOthers || kind_ > kOfSlice) raise_invalid_argument("kind must be 0, 1 or 2");
  }

  nb::object add(nb::handle dy, nb::handle shape, nb::handle arguments) {
    const nb::object waiting = found();
    if (!waiting.is_valid()) return nb::none();
    const nb::object lazy = growing(waiting, dy, shape);
    if (!lazy.is_valid()) return nb::none();
    static const Name is_on_device("is_on_device");
    if (!is_on_device.is_true(waiting) || !is_small(dy)) return waiting;
    if (!add_at_once(waiting, lazy, dy, shape, arguments)) return waiting;
    count(waiting);
    return nb::borrow(Py_True);
  }

  bool add_at_once(nb::handle waiting, nb::handle lazy, nb::handle dy, nb::handle shape, nb::handle arguments) {
    static const Name computing("_computing"), to("to");
    if (kind_ == kOfOthers) return false;
    const Locked locked(computing.of(lazy));
    if (!is_made(waiting, lazy) || !is_now(waiting)) return false;
    write(to.of(waiting), dy, shape, arguments);
    ++added_at_once_;
    return true;
  }

  void count(nb::handle waiting) const {
    static const Name tally("tally");
    const nb::object counts = tally.of(waiting);
    const nb::object before = found_in(counts, where_);
    const std::int64_t now = 1 + (before.is_valid() ? number(before) : 0);
    const nb::object counted = checked([&] { return PyLong_FromLongLong(now); });
    if (PyDict_SetItem(counts.ptr(), where_.ptr(), counted.ptr()) != 0) nb::raise_python_error();
  }

  // The engine has a gradient once more while the node that it goes to has hooks to show it to, and it is the gradient
  // that it has, not what the dispatcher made of that.
  bool is_without_hooks(nb::handle dy, nb::handle given) const {
    static const Name tells_hooks("tells_hooks"), use_count("_use_count"), of_given("given"), alone("alone");
    const nb::object known = found_in(asked_.known, op_);
    if (!known.is_valid() || !tells_hooks.is_true(known)) return false;
    const nb::object id = checked([&] { return PyLong_FromVoidPtr(dy.ptr()); });
    const nb::object expected = is_in(given, id) ? of_given.of(known) : item(alone.of(known), 0);
    return are_equal(use_count.call(dy), expected);
  }

  std::int64_t added_at_once() const { return added_at_once_; }

 private:
  enum Arguments { kOfOthers, kOfSelect, kOfSlice };  // an op's: the slices of others are no boxes

  // What waits for the gradient that is being made, where it is large enough; not valid otherwise.
  nb::object found() const {
    static const Name waiting("waiting"), task("task"), functions("next_functions"), size("size"), small("small");
    const nb::object all = waiting.of(asked_.latest);
    if (!PyDict_Check(all.ptr()) || PyDict_GET_SIZE(all.ptr()) == 0) return {};
    if (!are_equal(task.of(asked_.latest), call(asked_.task))) return {};
    const nb::object node = call(asked_.node);
    if (!is_in(asked_.slices, node.type())) return {};
    const nb::object next = functions.of(node);
    if (!PyTuple_Check(next.ptr()) || PyTuple_GET_SIZE(next.ptr()) == 0) return {};
    nb::object found = found_in(all, item(next, 0));
    if (!found.is_valid() || !compare(size.of(found), Py_GE, small.of(sizes_))) return {};
    return found;
  }

  // The sum that a kernel may add the gradient of a slice to; not valid where it may not.
  nb::object growing(nb::handle waiting, nb::handle dy, nb::handle shape) const {
    static const Name lazy("lazy"), dtype("dtype"), device("get_device"), ordinal("ordinal"), whole("shape"),
        level("_current_level"), given("given");
    if (!dy.type().is(asked_.tensor) || !dtype.of(dy).is(dtype.of(waiting))) return {};
    if (!are_equal(device.call(dy), ordinal.of(waiting)) || !are_equal(shape, whole.of(waiting))) return {};
    if (is_true(call(asked_.is_graph_asked_for)) || is_true(call(asked_.is_looking_for_nans))) return {};
    if (number(level.of(asked_.forward_mode)) >= 0 || !is_called_by_engine()) return {};
    if (!is_without_hooks(dy, given.of(waiting))) return {};
    nb::object sum = call(lazy.of(waiting));
    return sum.is_none() || !is_alone(sum) ? nb::object() : sum;
  }

  // See pending.is_called_by_engine.
  bool is_called_by_engine() const {
    PyFrameObject* kernel = call_python([] { return PyEval_GetFrame(); });  // the function that called this
    if (kernel == nullptr) return false;
    const nb::object caller =
        nb::steal(call_python([&] { return reinterpret_cast<PyObject*>(PyFrame_GetBack(kernel)); }));
    if (!caller.is_valid() && PyErr_Occurred() != nullptr) nb::raise_python_error();
    if (!caller.is_valid()) return true;  // a thread of the engine's own
    const nb::object code =
        nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(reinterpret_cast<PyFrameObject*>(caller.ptr()))));
    return code.is(asked_.engine_call);
  }

  // Whether nobody but the engine has a sum. This has it, too, by one reference.
  bool is_alone(nb::handle sum) const {
    static const Name use_count("_use_count"), measuring("measuring"), note("note_waiting"), alone("alone"),
        objects("objects");
    const nb::object held = use_count.call(sum);
    const Py_ssize_t references = Py_REFCNT(sum.ptr());
    if (!measuring.of(asked_.capture).is_none()) {
      call_with(note.of(asked_.capture), nb::make_tuple(held, references));
    }
    const nb::object known = found_in(asked_.known, asked_.waiting);
    if (!known.is_valid() || references > number(objects.of(known))) return false;
    if (number(held) > number(item(alone.of(known), 0))) return false;
    return number(call(asked_.weak_references, sum)) <= 1;  // the pass that it belongs to has one
  }

  bool is_small(nb::handle dy) const {
    static const Name nbytes("nbytes"), at_once("at_once");
    const std::int64_t size = number(nbytes.of(dy));
    return size > 0 && size <= number(at_once.of(sizes_));
  }

  // Whether the sum has memory, and nothing waits before what is added to it. The lock is held.
  bool is_made(nb::handle waiting, nb::handle lazy) const {
    static const Name made("made"), sum("_sum"), is_open("_is_open");
    const nb::object term = call(made.of(waiting));
    if (!term.is_none() && sum.of(lazy).is(term) && is_open.is_true(lazy)) return true;
    return is_true(call_with(asked_.has_memory, nb::make_tuple(waiting, lazy)));
  }

  // Whether the memory of the sum can be written to by what is queued now.
  bool is_now(nb::handle waiting) const {
    static const Name moment("moment"), ordinal("ordinal");
    const nb::object known = moment.of(waiting), device = ordinal.of(waiting);
    if (known.is_none()) return number(device) < 0;
    return PyTuple_Check(known.ptr()) && PyTuple_GET_SIZE(known.ptr()) == 2 &&
           are_equal(call(asked_.stream, device), item(known, 0)) && call(asked_.is_capturing).is(item(known, 1));
  }

  void write(nb::handle to, nb::handle dy, nb::handle shape, nb::handle arguments) const {
    // What is shared copy on write stays so.
    if (!is_true(call(asked_.is_shared, dy)) && write_viewed(to, dy, arguments)) return;
    call_with(asked_.add_shared, nb::make_tuple(dy, shape, arguments, to));
  }

  // The same for a gradient that tells its memory to C; false, and nothing is done, for others.
  bool write_viewed(nb::handle to, nb::handle dy, nb::handle given) const {
    const Dims arguments = integers(given);  // which may run code, so that memory is looked at then
    const Where where(item(to, 1));          // which `to` holds
    const View sum = where.view(item(to, 0));
    const std::optional<ConstView> view = where.view_of_tensor(dy);
    if (!view) return false;
    const SliceGradient gradient{selection_of(sum.shape(), view->shape(), arguments), *view};
    write_gradients({&gradient, 1}, sum, Write::Accumulate, where);
    return true;
  }

  // Of select_backward they are dim and index, of slice_backward dim, start, end and step.
  Dims integers(nb::handle arguments) const {
    Dims found;
    const int count = kind_ == kOfSelect ? 2 : 4;
    for (int i = 0; i < count; ++i) found.push_back(number(item(arguments, i)));
    return found;
  }

  Selection selection_of(const Shape& shape, const Shape& taken, const Dims& arguments) const {
    const int rank = shape.rank();
    std::int64_t dim = arguments[0];
    if (dim < 0) dim += rank;
    if (dim < 0 || dim >= rank) raise_invalid_argument("dim is no axis of the tensor");
    Selection::Axes axes;
    Dims result_axes;
    for (int axis = 0; axis < rank; ++axis) {
      axes.push_back({0, 1, shape[axis]});
      if (axis != dim || kind_ == kOfSlice) result_axes.push_back(axis);
    }
    const auto along = static_cast<int>(dim);
    Selection::Axis& axis = axes[along];
    if (kind_ == kOfSelect) {
      const std::int64_t index = arguments[1];
      axis = {index < 0 ? index + shape[along] : index, 1, 1};
    } else {
      Py_ssize_t start = arguments[1], end = arguments[2];
      const std::int64_t step = arguments[3];
      if (step <= 0) raise_invalid_argument("step must be positive");
      PySlice_AdjustIndices(shape[along], &start, &end, step);
      axis = {start, step, along < taken.rank() ? taken[along] : 0};
    }
    return unwrap(Selection::make(shape, std::span(axes.begin(), static_cast<std::size_t>(rank)), result_axes));
  }

  nb::object op_, where_;
  std::int64_t kind_;
  nb::object sizes_;
  Asked asked_;
  std::int64_t added_at_once_ = 0;
};

}  // namespace

void bind_slice_adder(nb::module_& m) {
  nb::class_<SliceAdder>(m, "_SliceAdder", class_doc("_SliceAdder"))
      .def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle, nb::handle>())
      .def("add", &SliceAdder::add)
      .def("add_at_once", &SliceAdder::add_at_once)
      .def("count", &SliceAdder::count)
      .def("is_without_hooks", &SliceAdder::is_without_hooks)
      .def_prop_ro("added_at_once", &SliceAdder::added_at_once);
}

}  // namespace backslice::python
