// Writes JSON: values one after the other, with commas between them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backslice/ints.h"

namespace explorer {

class Json {
 public:
  Json& begin_object() { return open('{'); }
  Json& end_object() { return close('}'); }
  Json& begin_list() { return open('['); }
  Json& end_list() { return close(']'); }
  Json& key(std::string_view name) {
    value(name);
    text_ += ':';
    needs_comma_ = false;
    return *this;
  }
  Json& value(std::string_view text);
  Json& value(const char* text) { return value(std::string_view(text)); }
  Json& value(const std::string& text) { return value(std::string_view(text)); }
  Json& value(bool truth) { return literal(truth ? "true" : "false"); }
  Json& value(std::int64_t number) { return literal(std::to_string(number)); }  // exact for JavaScript below 2^53
  Json& value(int number) { return literal(std::to_string(number)); }
  Json& value(std::size_t number) { return literal(std::to_string(number)); }
  Json& null() { return literal("null"); }
  Json& strings(const std::vector<std::string>& list);

  template <class Value>
  Json& member(std::string_view name, const Value& held) {
    return key(name).value(held);
  }
  std::string take() { return std::move(text_); }

 private:
  Json& literal(std::string_view text) {
    separate();
    text_ += text;
    return *this;
  }
  Json& open(char bracket) {
    separate();
    text_ += bracket;
    needs_comma_ = false;
    return *this;
  }
  Json& close(char bracket) {
    text_ += bracket;
    needs_comma_ = true;
    return *this;
  }
  void separate() {
    if (needs_comma_) text_ += ',';
    needs_comma_ = true;
  }

  std::string text_;
  bool needs_comma_ = false;
};

}  // namespace explorer
