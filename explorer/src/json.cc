#include "json.h"

namespace explorer {

Json& Json::value(std::string_view text) {
  separate();
  text_ += '"';
  for (char c : text) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr char kDigits[] = "0123456789abcdef";
      text_ += "\\u00";
      text_ += kDigits[c >> 4];
      text_ += kDigits[c & 15];
    } else {
      text_ += c;
    }
  }
  text_ += '"';
  return *this;
}

Json& Json::strings(const std::vector<std::string>& list) {
  begin_list();
  for (const std::string& text : list) value(text);
  return end_list();
}

}  // namespace explorer
