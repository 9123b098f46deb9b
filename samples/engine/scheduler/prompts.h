// Requests from a file: one JSON object a line,
//   {"id": "a", "prompt": "In the beginning", "max_tokens": 64, "arrival_ms": 12.5, "class": "chat"}
// Only "prompt" is required; "id" may be a string or a whole number and defaults to the line's number. Empty lines are
// skipped. The file is treated as hostile: sizes, types, ranges and encoding are checked, and an error names the line.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dmprof/base/error.h"
#include "samples/engine/scheduler/request.h"

namespace dmengine {

// Whether "arrival_ms" counts: --trace replays it, --prompts hands everything in at once (but still checks it).
enum class Arrivals { ignored, respected };

inline constexpr std::size_t max_prompt_file_bytes = 256U << 20;
inline constexpr std::size_t max_prompt_line_bytes = 4U << 20;
inline constexpr std::size_t max_requests = 1000000;
inline constexpr std::uint32_t max_tokens_limit = 1U << 20;
inline constexpr double max_arrival_ms = 1e9;  // eleven days

// `name` is how errors call the text. bad_input when a line is wrong or there is no request at all. Requests keep the
// file's order.
dmprof::Result<std::vector<Request>> parse_prompts(std::string_view text, const std::string& name, Arrivals arrivals);

// bad_input for a directory, an oversized or a wrong file; environment when it cannot be read.
dmprof::Result<std::vector<Request>> read_prompts(const std::string& path, Arrivals arrivals);

// A whole text file, or standard input for "-", bounded by max_prompt_file_bytes. Errors as read_prompts.
dmprof::Result<std::string> read_text(const std::string& path);

}  // namespace dmengine
