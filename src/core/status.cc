#include "backslice/status.h"

#include <charconv>
#include <ostream>

#include "backslice/ints.h"

namespace backslice {

std::string_view to_string(StatusCode code) {
  switch (code) {
    case StatusCode::Ok: return "Ok";
    case StatusCode::Cancelled: return "Cancelled";
    case StatusCode::InvalidArgument: return "InvalidArgument";
    case StatusCode::ResourceExhausted: return "ResourceExhausted";
    case StatusCode::FailedPrecondition: return "FailedPrecondition";
    case StatusCode::OutOfRange: return "OutOfRange";
    case StatusCode::Unimplemented: return "Unimplemented";
    case StatusCode::Internal: return "Internal";
  }
  return "Unknown";
}

std::ostream& operator<<(std::ostream& stream, StatusCode code) { return stream << to_string(code); }
std::ostream& operator<<(std::ostream& stream, const Status& status) { return stream << status.to_string(); }

std::string Status::to_string() const {
  std::string text(backslice::to_string(code_));
  if (!message_.empty()) text += ": " + message_;
  return text;
}

Status Status::at(std::string_view argument, std::optional<std::int64_t> position, std::optional<TextSpan> span) && {
  const std::size_t bracket = argument.find('[');
  if (!position && bracket != argument.npos) {
    std::int64_t entry = 0;
    if (std::from_chars(argument.data() + bracket + 1, argument.data() + argument.size(), entry).ec == std::errc()) {
      argument = argument.substr(0, bracket);
      position = entry;
    }
  }
  place_ = std::make_shared<const Place>(Place{std::string(argument), position, span});
  return std::move(*this);
}

std::string to_string(Ints list) {
  std::string text = "[";
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (i > 0) text += ',';
    text += std::to_string(list[i]);
  }
  return text + "]";
}

std::ostream& operator<<(std::ostream& stream, Ints list) { return stream << to_string(list); }

}  // namespace backslice
