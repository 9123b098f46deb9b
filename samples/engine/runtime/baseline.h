// When to run without speculation so that its gain can be measured: after every `every` speculating steps a window of a
// few plain ones. Windows are short (a few per cent of the steps at the usual settings) and marked, so that metrics
// leave them out.
#pragma once

#include <cstdint>

namespace dmengine {

class BaselineWindows {
 public:
  // every = 0: never.
  BaselineWindows(std::uint32_t every, std::uint32_t window) : every_(every), window_(window) {}

  // Asked once for each decode step: whether it belongs to a window.
  bool next() {
    if (every_ == 0) return false;
    const bool inside = at_ >= every_;
    at_ = (at_ + 1) % (every_ + window_);
    return inside;
  }

 private:
  std::uint32_t every_;
  std::uint32_t window_;
  std::uint32_t at_ = 0;
};

}  // namespace dmengine
