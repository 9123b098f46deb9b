// The target's next-token distributions over the training text, computed once: a draft learns from them for several epochs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "samples/models/train/network.h"

namespace dmprof::train {

class Teacher {
 public:
  // Runs the target over consecutive windows of the stream, at most max_windows of them. Takes windows x context x vocab x 2
  // bytes of memory.
  Teacher(const Shape& shape, const std::vector<float>& parameters, const std::vector<Token>& stream, int max_windows,
          int threads);

  int windows() const { return windows_; }
  std::size_t first_token(int window) const { return static_cast<std::size_t>(window) * static_cast<std::size_t>(context_); }
  const std::uint16_t* distributions(int window) const {
    return probabilities_.data() + first_token(window) * static_cast<std::size_t>(vocab_);
  }

 private:
  int context_, vocab_, windows_;
  std::vector<std::uint16_t> probabilities_;
};

}  // namespace dmprof::train
