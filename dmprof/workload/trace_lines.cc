#include "dmprof/workload/trace_lines.h"

#include <algorithm>

#include <fmt/format.h>

namespace dmprof::workload {

bool TraceLines::next(std::string& line) {
  line.clear();
  std::streambuf* const buffer = in_.rdbuf();
  for (;;) {
    const int c = buffer->sbumpc();
    const bool end = c == std::streambuf::traits_type::eof();
    if (end || c == '\n') {
      if (!end || !line.empty()) ++number_;
      while (!line.empty() && (line.back() == '\r' || line.back() == ' ' || line.back() == '\t')) line.pop_back();
      if (!line.empty()) return true;
      if (end) return false;
      continue;
    }
    if (line.size() == longest_line) {
      ++number_;
      too_long_ = true;
      return false;
    }
    line += static_cast<char>(c);
  }
}

tl::unexpected<Error> TraceLines::wrong(std::string_view field, std::string_view what) const {
  return fail(ErrorKind::bad_input, fmt::format("{}:{}: {}: {}", name_, number_, field, what));
}

Status TraceLines::status() const {
  if (too_long_) return wrong("line", "longer than 4 MiB; this is not a request trace");
  return {};
}

Result<Trace> finished(Trace trace, const std::string& name) {
  if (trace.requests.empty())
    return fail(ErrorKind::bad_input,
                fmt::format("{}:1: the trace holds no request; give one with at least one line", name));
  std::stable_sort(trace.requests.begin(), trace.requests.end(),
                   [](const Request& a, const Request& b) { return a.arrival_ns < b.arrival_ns; });
  const std::int64_t first = trace.requests.front().arrival_ns;
  for (Request& request : trace.requests) request.arrival_ns -= first;
  return trace;
}

}  // namespace dmprof::workload
