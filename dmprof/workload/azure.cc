// Azure LLM inference traces, CSV.
#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "dmprof/workload/trace_lines.h"

namespace dmprof::workload {
namespace {

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> all;
  for (;;) {
    const std::size_t comma = line.find(',');
    all.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos || all.size() > 64) return all;
    line.remove_prefix(comma + 1);
  }
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Days since 1970-01-01 of the proleptic Gregorian calendar (years 1970 to 2999).
std::int64_t days(std::int64_t year, std::int64_t month, std::int64_t day) {
  const std::int64_t y = month <= 2 ? year - 1 : year;
  const std::int64_t m = month <= 2 ? month + 9 : month - 3;
  return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719468;
}

// "2023-11-16 18:15:46.6805900" with an optional "+00:00" or "-05:30"; nanoseconds since 1970.
std::optional<std::int64_t> time_of(std::string_view text) {
  constexpr std::string_view shape = "0000-00-00 00:00:00";
  if (text.size() < shape.size()) return std::nullopt;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (shape[i] == '0' ? !digit : (text[i] != shape[i] && !(i == 10 && text[i] == 'T'))) return std::nullopt;
  }
  const auto part = [&](std::size_t at, std::size_t length) { return *whole(text.substr(at, length)); };
  const std::int64_t year = part(0, 4), month = part(5, 2), day = part(8, 2);
  const std::int64_t hour = part(11, 2), minute = part(14, 2), second = part(17, 2);
  if (year < 1970 || year > 2200 || month < 1 || month > 12 || day < 1 || day > 31) return std::nullopt;
  if (hour > 23 || minute > 59 || second > 60) return std::nullopt;
  std::string_view rest = text.substr(shape.size());
  std::int64_t fraction = 0;
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    std::int64_t scale = 100'000'000;
    std::size_t digits = 0;
    for (; digits < rest.size() && rest[digits] >= '0' && rest[digits] <= '9'; ++digits) {
      fraction += (rest[digits] - '0') * scale;
      scale /= 10;
    }
    if (digits == 0) return std::nullopt;
    rest.remove_prefix(digits);
  }
  std::int64_t offset_s = 0;
  if (!rest.empty() && rest != "Z") {
    if (rest.size() != 6 || (rest[0] != '+' && rest[0] != '-') || rest[3] != ':') return std::nullopt;
    const auto hours = whole(rest.substr(1, 2)), minutes = whole(rest.substr(4, 2));
    if (!hours || !minutes || *hours < 0 || *hours > 23 || *minutes < 0 || *minutes > 59) return std::nullopt;
    offset_s = (*hours * 3600 + *minutes * 60) * (rest[0] == '+' ? 1 : -1);
  }
  const std::int64_t seconds = days(year, month, day) * 86400 + hour * 3600 + minute * 60 + second - offset_s;
  return seconds * 1'000'000'000 + fraction;
}

}  // namespace

Result<Trace> read_azure(std::istream& in, const std::string& name, std::int64_t longest) {
  TraceLines lines(in, name);
  Trace trace;
  trace.format = TraceFormat::azure;
  std::string line;
  if (!lines.next(line)) {
    DMPROF_TRY(lines.status());
    return finished(std::move(trace), name);
  }
  constexpr std::array<std::string_view, 3> columns = {"TIMESTAMP", "ContextTokens", "GeneratedTokens"};
  std::array<std::size_t, 3> at{};
  const std::vector<std::string_view> header = fields_of(line);
  for (std::size_t c = 0; c < columns.size(); ++c) {
    at[c] = header.size();
    for (std::size_t i = 0; i < header.size(); ++i) {
      if (header[i] == columns[c]) at[c] = i;
    }
    if (at[c] == header.size())
      return lines.wrong(columns[c], "no such column; the header must be TIMESTAMP,ContextTokens,GeneratedTokens");
  }
  const std::size_t width = header.size();
  while (lines.next(line)) {
    const std::vector<std::string_view> fields = fields_of(line);
    if (fields.size() != width)
      return lines.wrong("line",
                         fmt::format("has {} fields where the header has {}; mend or remove it", fields.size(), width));
    Request request;
    const auto time = time_of(fields[at[0]]);
    if (!time) return lines.wrong(columns[0], "not a time; write it like 2023-11-16 18:15:46.6805900");
    request.arrival_ns = *time;
    for (std::size_t c = 1; c < columns.size(); ++c) {
      const auto tokens = whole(fields[at[c]]);
      if (!tokens || *tokens < 0 || *tokens > longest)
        return lines.wrong(columns[c],
                           fmt::format("not a number of tokens; write a whole number from 0 to {}", longest));
      (c == 1 ? request.prompt_tokens : request.output_tokens) = std::max<std::int64_t>(1, *tokens);
    }
    if (trace.requests.size() == most_requests)
      return lines.wrong("line", "more than ten million requests; cut the trace");
    trace.requests.push_back(std::move(request));
  }
  DMPROF_TRY(lines.status());
  return finished(std::move(trace), name);
}

}  // namespace dmprof::workload
