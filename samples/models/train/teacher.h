// The target's next-token distributions over the training text, computed once into a file and mapped from there: the
// drafts learn from them for several epochs, side by side. File: windows x context x vocab probabilities in IEEE half
// precision, nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "samples/models/train/network.h"

namespace dmprof::train {

class Teacher {
 public:
  Teacher(Teacher&& other) noexcept;
  Teacher& operator=(Teacher&&) = delete;
  ~Teacher();

  // Runs the target over windows of the stream, at most max_windows of them and spread evenly, and writes the file.
  static Status compute(const std::string& path, const Shape& target, const std::vector<float>& parameters,
                        const std::vector<Token>& stream, int max_windows, int threads);

  static Result<Teacher> open(const std::string& path, int context, int vocab);

  // Where a window of the file begins in the text it was computed from.
  static std::size_t first_token(std::size_t window, std::size_t windows, std::size_t stream_size,
                                 std::size_t context) {
    return window * (stream_size / context) / windows * context;
  }

  std::size_t windows() const { return windows_; }
  // Of every position of a window, `context` rows of `vocab`.
  const std::uint16_t* distributions(std::size_t window) const { return mapped_ + window * window_values_; }

 private:
  Teacher(const std::uint16_t* mapped, std::size_t windows, std::size_t window_values)
      : mapped_(mapped), windows_(windows), window_values_(window_values) {}
  const std::uint16_t* mapped_;
  std::size_t windows_, window_values_;
};

}  // namespace dmprof::train
