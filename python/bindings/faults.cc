// Injected failures for python/tests/test_fault_injection.py. Not part of ordinary builds.
#include "core/faults.h"

#include <nanobind/nanobind.h>

#include "bindings/module.h"

namespace backslice::python {

void bind_faults(nanobind::module_& m) {
  m.def("_strike_at", &faults::strike_at, nanobind::arg("n"),
        "The n-th request for memory or a thread from now on fails, the first being number 0.");
  m.def("_disarm", &faults::disarm, "Ends it. True if the request was reached, and so failed.");
}

}  // namespace backslice::python
