#include "samples/engine/cli/output.h"

#include <fmt/format.h>

namespace dmengine {

void TextOutput::write(std::string_view text) {
  failed_ = failed_ || std::fwrite(text.data(), 1, text.size(), out_) != text.size() || std::fflush(out_) != 0;
}

void TextOutput::text(std::size_t request, std::string_view piece) {
  if (request == current_) {
    write(piece);
  } else {
    held_[request] += piece;
  }
}

void TextOutput::ended(std::size_t request) {
  done_[request] = true;
  while (current_ < done_.size() && done_[current_]) {
    write("\n");
    ++current_;
    if (current_ == done_.size()) break;
    write(held_[current_]);
    held_[current_].clear();
  }
}

Status TextOutput::finish() {
  for (; current_ < done_.size(); ++current_) {  // interrupted: requests that never started leave gaps
    if (!held_[current_].empty()) write(held_[current_]);
    if (done_[current_]) write("\n");
  }
  if (failed_)
    return fail(ErrorKind::environment, "the text could not be written to standard output in full: is the disk full?");
  return {};
}

void ProgressOutput::text(std::size_t, std::string_view piece) {
  bytes_ += piece.size();
  const auto now = std::chrono::steady_clock::now();
  if (!visible_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  shown_ = true;
  fmt::print(stderr, "\r{} of {} requests, {} bytes of text ", ended_, requests_, bytes_);
  std::fflush(stderr);
}

void ProgressOutput::erase() {
  if (shown_) fmt::print(stderr, "\r\x1b[K");
  shown_ = false;
}

}  // namespace dmengine
