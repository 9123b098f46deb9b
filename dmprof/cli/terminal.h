// What a terminal gets and a file or pipe does not: colours and the progress line.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace dmprof::cli {

// True when `stream` is a terminal that can move its cursor (TERM is set and not "dumb").
bool is_terminal(std::FILE* stream);

// True when colours are welcome on `stream`: a terminal, and NO_COLOR is unset or empty.
bool wants_colour(std::FILE* stream);

// One line that is drawn over and over. Does nothing unless `stream` is a terminal and it is `wanted`. Not thread-safe.
class ProgressLine {
 public:
  explicit ProgressLine(std::FILE* stream, bool wanted = true);
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  bool active() const { return active_; }
  void show(std::string_view text);  // cut to the width of the terminal
  void clear();                      // the cursor is at the start of an empty line afterwards

 private:
  std::FILE* stream_;
  bool active_;
  bool shown_ = false;
};

}  // namespace dmprof::cli
