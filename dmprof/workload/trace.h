// Public request traces, read into Requests. Both readers are strict about the fields they need and ignore others.
//
// Azure LLM inference traces (2023, 2024, 2025; CSV): a header with TIMESTAMP, ContextTokens and GeneratedTokens in any
// order;
//   TIMESTAMP is "2023-11-16 18:15:46.6805900", since 2024 with "+00:00" behind it. LF or CRLF.
// Mooncake traces (JSON lines): {"timestamp": milliseconds, "input_length": n, "output_length": n, "hash_ids": [block
// ids]}; a
//   block is 512 prompt tokens; hash_ids may be absent.
//
// Times become nanoseconds since the trace's first request. A request of zero output tokens counts as one of one token
// (the Azure traces hold a few); zero prompt tokens likewise.
#pragma once

#include <istream>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/workload/request.h"

namespace dmprof::workload {

enum class TraceFormat { azure, mooncake };

struct Trace {
  TraceFormat format = TraceFormat::azure;
  std::vector<Request> requests;  // sorted by arrival; equal times in the order of the file
};

inline constexpr std::int64_t most_tokens = 100'000'000;  // of a prompt or an output

// Prompts and outputs longer than `longest` are refused where they stand. `name` stands for the file in messages:
// `name:line: field: what, how to mend`. Reads at most ten million requests, lines of at most 4 MiB. An empty trace is
// an error.
Result<Trace> read_azure(std::istream& in, const std::string& name, std::int64_t longest = most_tokens);
Result<Trace> read_mooncake(std::istream& in, const std::string& name, std::int64_t longest = most_tokens);
// Opens a file and recognises the format by its first character that is no space.
Result<Trace> read_trace(const std::string& path, std::int64_t longest = most_tokens);

}  // namespace dmprof::workload
