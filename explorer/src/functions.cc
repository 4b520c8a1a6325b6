// The functions that the page's script calls.
#include "answer.h"
#include "core/boundary.h"

namespace explorer {
namespace {

std::string palette_json(const backslice::Palette& palette) {
  Json json;
  json.begin_object().member("ground", palette.ground).member("ink", palette.ink).member("faint", palette.faint);
  json.member("left", palette.left).member("part", palette.part).member("taken", palette.taken);
  json.member("often", palette.often).member("on-taken", palette.on_taken).end_object();
  return json.take();
}

std::string answer(const Request& request) {
  const std::string_view tab = request.text("tab");
  if (tab == "sparse") return answer_sparse(request);
  if (tab == "ragged") return answer_ragged(request);
  if (tab == "style") {
    return "{\"light\":" + palette_json(backslice::light_palette()) +
           ",\"dark\":" + palette_json(backslice::dark_palette()) + "}";
  }
  return answer_slice(request);
}

}  // namespace
}  // namespace explorer

// Returns the answer to a request as JSON, which is valid until the next call.
extern "C" [[gnu::used, gnu::visibility("default")]] const char* backslice_explore(const char* text) {
  static std::string answered;
  const explorer::Request request(text);
  const backslice::Status ended = backslice::without_throwing([&] {
    answered = explorer::answer(request);
    return backslice::Status();
  });
  if (!ended.ok()) answered = explorer::error_answer(ended, request);
  return answered.c_str();
}
