// Colours, or none: a renderer is told once whether its text goes to a terminal.
#pragma once

#include <string>
#include <string_view>

namespace dmprof::report {

class Style {
 public:
  explicit Style(bool colour) : colour_(colour) {}
  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string dim(std::string_view text) const { return wrap("2", text); }
  std::string bad(std::string_view text) const { return wrap("31", text); }
  std::string warn(std::string_view text) const { return wrap("33", text); }
  std::string good(std::string_view text) const { return wrap("32", text); }

 private:
  std::string wrap(std::string_view code, std::string_view text) const {
    std::string styled;
    if (colour_) styled.append("\033[").append(code).append("m");
    styled.append(text);
    if (colour_) styled.append("\033[0m");
    return styled;
  }
  bool colour_;
};

}  // namespace dmprof::report
