// What both trace readers share: bounded lines, checked numbers, the end of reading.
#pragma once

#include <cstdint>
#include <istream>
#include <string>
#include <string_view>

#include "dmprof/base/error.h"
#include "dmprof/workload/trace.h"

namespace dmprof::workload {

inline constexpr std::size_t longest_line = 4u << 20;
inline constexpr std::size_t most_requests = 10'000'000;

class TraceLines {
 public:
  TraceLines(std::istream& in, std::string name) : in_(in), name_(std::move(name)) {}

  // The next line that is not blank, without its line end; false at the end of the file or after an error.
  bool next(std::string& line);
  tl::unexpected<Error> wrong(std::string_view field, std::string_view what) const;
  // The error of a line that was too long, or of a file that could not be read on.
  Status status() const;

 private:
  std::istream& in_;
  std::string name_;
  std::int64_t number_ = 0;
  bool too_long_ = false;
};

// Sorts by arrival, moves the first arrival to 0, and refuses an empty trace.
Result<Trace> finished(Trace trace, const std::string& name);

}  // namespace dmprof::workload
