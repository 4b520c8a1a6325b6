// Index text: parsed text prints as text that parses to the same index, and the printed text is stable.
#include "fuzz/input.h"
#include "fuzz/must.h"

using namespace backslice;
using namespace backslice::fuzz;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Copies the text into a block of exactly its size, so that any read past its end is found.
  const std::vector<char> text(data, data + size);
  const auto index = parse_index(std::string_view(text.data(), text.size()));
  if (!index.ok()) {
    must(index.status().code() == StatusCode::InvalidArgument, "text that is no index is InvalidArgument");
    must(!index.status().message().empty(), "a refused text has a message");
    return 0;
  }
  const std::string printed = to_string(*index);
  const auto again = parse_index(printed);
  must(again.ok(), "what was printed parses: " + printed);
  must(*again == *index, "what was printed means the same: " + printed);
  must(to_string(*again) == printed, "printing is stable: " + printed);
  return 0;
}
