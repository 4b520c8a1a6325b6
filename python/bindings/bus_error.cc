// Handles SIGBUS, which the system sends if a mapped file becomes shorter. It arrives in whichever thread reads next,
// and no Python handler can run. Only operations that POSIX allows in a signal handler are used here.
#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <csignal>
#include <cstring>
#include <string>

#include "bindings/errors.h"
#include "bindings/module.h"

namespace backslice::python {
namespace {

// The message to print and the file to remove.
struct LastWords {
  std::array<char, 4096> message;
  std::size_t length;
  std::array<char, PATH_MAX> unfinished;  // a path, or empty
};

// New text goes to the unused copy, so that a signal never finds half of it.
std::array<LastWords, 2> copies;
nb::ft_mutex writing;
std::atomic<const LastWords*> current{nullptr};
static_assert(std::atomic<const LastWords*>::is_always_lock_free);

// Several threads may reach the end of the file at once: one of them prints the message.
std::atomic<bool> is_leaving{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void say_and_leave(int) {
  while (is_leaving.exchange(true)) pause();
  const LastWords* words = current.load();
  if (words->unfinished[0] != '\0') unlink(words->unfinished.data());
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, words->message.data(), words->length);
  _exit(1);
}

nb::bytes read_bytes(nb::handle object, const char* argument) {
  if (PyBytes_Check(object.ptr())) return nb::borrow<nb::bytes>(object);
  raise_dtype_error(std::string(argument) + " is " + repr_text(object) + ", expected bytes");
}

void exit_on_bus_error(nb::handle given_message, nb::handle given_unfinished) {
  const nb::bytes message = read_bytes(given_message, "message"),
                  unfinished = read_bytes(given_unfinished, "unfinished");
  if (message.size() > copies[0].message.size() || unfinished.size() >= copies[0].unfinished.size()) {
    raise_invalid_argument("message and unfinished have " + std::to_string(message.size()) + " and " +
                           std::to_string(unfinished.size()) + " bytes, expected at most 4096 and 4095");
  }
  const nb::ft_lock_guard lock(writing);
  LastWords& words = current.load() == copies.data() ? copies[1] : copies[0];
  std::memcpy(words.message.data(), message.c_str(), message.size());
  words.length = message.size();
  std::memcpy(words.unfinished.data(), unfinished.c_str(), unfinished.size());
  words.unfinished[unfinished.size()] = '\0';
  current.store(&words);

  struct sigaction action = {};
  action.sa_handler = say_and_leave;
  sigaction(SIGBUS, &action, nullptr);
}

}  // namespace

void bind_bus_error(nb::module_& m) { m.def("exit_on_bus_error", &exit_on_bus_error); }

}  // namespace backslice::python
