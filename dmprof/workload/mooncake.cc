// Mooncake traces, JSON lines.
#include <algorithm>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dmprof/workload/trace_lines.h"

namespace dmprof::workload {
namespace {

using Json = nlohmann::json;

constexpr double largest_time_ms = 9e12;  // as int64 nanoseconds; 285 years

// A number of tokens that is whole and possible, or nothing. A flag is no number.
std::optional<std::int64_t> tokens_of(const Json& object, const char* key, std::int64_t longest) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double value = found->get<double>();
  if (!(value >= 0) || value > static_cast<double>(longest)) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(value);
  if (static_cast<double>(whole) != value) return std::nullopt;
  return std::max<std::int64_t>(1, whole);
}

// The parser of a line that nests deeply would recurse when the value is destroyed; a request nests twice.
Json parsed(const std::string& line) {
  constexpr int deepest = 8;
  const auto shallow = [](int depth, Json::parse_event_t event, Json&) {
    if (event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start)
      return depth <= deepest;
    return true;
  };
  return Json::parse(line, shallow, /*allow_exceptions=*/false);
}

}  // namespace

Result<Trace> read_mooncake(std::istream& in, const std::string& name, std::int64_t longest) {
  TraceLines lines(in, name);
  Trace trace;
  trace.format = TraceFormat::mooncake;
  std::string line;
  while (lines.next(line)) {
    const Json object = parsed(line);
    if (!object.is_object()) return lines.wrong("line", "not a JSON object; every line must hold one request");
    Request request;
    const auto time = object.find("timestamp");
    if (time == object.end() || !time->is_number() || !(time->get<double>() >= 0) ||
        time->get<double>() > largest_time_ms)
      return lines.wrong("timestamp", "missing or not a time; write milliseconds since the start of the trace");
    request.arrival_ns = static_cast<std::int64_t>(time->get<double>() * 1e6);
    const auto prompt = tokens_of(object, "input_length", longest),
               output = tokens_of(object, "output_length", longest);
    if (!prompt || !output)
      return lines.wrong(!prompt ? "input_length" : "output_length",
                         fmt::format("missing or not a number of tokens; write 0 to {}", longest));
    request.prompt_tokens = *prompt;
    request.output_tokens = *output;
    if (const auto blocks = object.find("hash_ids"); blocks != object.end()) {
      if (!blocks->is_array()) return lines.wrong("hash_ids", "not a list; write the ids of the prompt's blocks");
      for (const Json& block : *blocks) {
        if (!block.is_number_unsigned() && !(block.is_number_integer() && block.get<std::int64_t>() >= 0))
          return lines.wrong("hash_ids", "holds what is no block id; ids are whole numbers from 0");
        request.prefix_blocks.push_back(block.get<std::uint64_t>());
      }
    }
    if (trace.requests.size() == most_requests)
      return lines.wrong("line", "more than ten million requests; cut the trace");
    trace.requests.push_back(std::move(request));
  }
  DMPROF_TRY(lines.status());
  return finished(std::move(trace), name);
}

}  // namespace dmprof::workload
