#include "samples/engine/scheduler/prompts.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "dmprof/base/utf8.h"

namespace dmengine {
namespace {

using dmprof::ErrorKind;
using dmprof::fail;
using dmprof::Result;
using dmprof::Status;
using Json = nlohmann::json;

std::string printable(const std::string& text) { return dmprof::clean_utf8(text, {.control = false, .limit = 40}); }

// Nesting is refused while parsing: a line of a million brackets must not build a million objects.
bool flat(int depth, Json::parse_event_t event, Json&) {
  const bool opens = event == Json::parse_event_t::object_start || event == Json::parse_event_t::array_start;
  return !(opens && depth > 0);
}

Status read_field(const std::string& key, const Json& value, Request& request) {
  const auto wrong = [&key](const char* wanted) {
    return fail(ErrorKind::bad_input, fmt::format("\"{}\" must be {}", key, wanted));
  };
  if (key == "prompt") {
    if (!value.is_string()) return wrong("a string");
    request.prompt = value.get<std::string>();
  } else if (key == "id") {
    if (value.is_number_unsigned()) {
      request.id = std::to_string(value.get<std::uint64_t>());
    } else if (value.is_string() && !value.get_ref<const std::string&>().empty() &&
               value.get_ref<const std::string&>().size() <= 256) {
      request.id = value.get<std::string>();
    } else {
      return wrong("a whole number or a string of 1 to 256 bytes");
    }
  } else if (key == "max_tokens") {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < 1 ||
        value.get<std::uint64_t>() > max_tokens_limit) {
      return wrong("a whole number from 1 to 1048576");
    }
    request.max_tokens = value.get<std::uint32_t>();
  } else if (key == "arrival_ms") {
    if (!value.is_number() || !(value.get<double>() >= 0 && value.get<double>() <= max_arrival_ms)) {
      return wrong("a number from 0 to 1e9");
    }
    request.arrival_ns = std::llround(value.get<double>() * 1e6);
  } else if (key == "class") {
    if (!value.is_string() || value.get_ref<const std::string&>().size() > 64)
      return wrong("a string of up to 64 bytes");
    request.request_class = value.get<std::string>();
  } else {
    return fail(ErrorKind::bad_input,
                fmt::format("unknown key \"{}\" (known: id, prompt, max_tokens, arrival_ms, class)", printable(key)));
  }
  return {};
}

Result<Request> parse_line(std::string_view line) {
  if (line.size() > max_prompt_line_bytes) return fail(ErrorKind::bad_input, "longer than 4 MiB");
  bool nested = false;
  std::unordered_set<std::string> keys;
  std::string repeated;  // the object itself would keep the last one and say nothing
  const Json object = Json::parse(
      line,
      [&](int depth, Json::parse_event_t event, Json& value) {
        if (event == Json::parse_event_t::key && !keys.insert(value.get<std::string>()).second && repeated.empty())
          repeated = fmt::format("the key \"{}\" is given twice", printable(value.get<std::string>()));
        const bool kept = flat(depth, event, value);
        nested = nested || !kept;
        return kept;
      },
      /*allow_exceptions=*/false);
  if (nested) return fail(ErrorKind::bad_input, "values must be strings or numbers, not lists or objects");
  if (object.is_discarded()) return fail(ErrorKind::bad_input, "not valid JSON in UTF-8");
  if (!object.is_object()) return fail(ErrorKind::bad_input, "not a JSON object");
  if (!repeated.empty()) return fail(ErrorKind::bad_input, repeated);
  Request request;
  for (const auto& [key, value] : object.items()) DMPROF_TRY(read_field(key, value, request));
  if (!object.contains("prompt")) return fail(ErrorKind::bad_input, "\"prompt\" is missing");
  return request;
}

}  // namespace

Result<std::vector<Request>> parse_prompts(std::string_view text, const std::string& name, Arrivals arrivals) {
  std::vector<Request> requests;
  std::unordered_set<std::string> ids;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    const auto where = [&](const std::string& what) {
      return fail(ErrorKind::bad_input, fmt::format("{}, line {}: {}", name, number, what));
    };
    auto request = parse_line(line);
    if (!request) return where(request.error().message);
    if (request->id.empty()) request->id = std::to_string(number);
    if (!ids.insert(request->id).second)
      return where(fmt::format("the id \"{}\" was used before", printable(request->id)));
    if (arrivals == Arrivals::ignored) request->arrival_ns = 0;
    requests.push_back(std::move(*request));
    if (requests.size() > max_requests) return where("more than 1000000 requests; split the file");
  }
  if (requests.empty()) return fail(ErrorKind::bad_input, name + " holds no request; write one JSON object a line");
  return requests;
}

Result<std::string> read_text(const std::string& path) {
  const bool standard = path == "-";
  const std::string name = standard ? "standard input" : path;
  struct Close {
    void operator()(std::FILE* f) const {
      if (f != stdin) std::fclose(f);
    }
  };
  const std::unique_ptr<std::FILE, Close> file(standard ? stdin : std::fopen(path.c_str(), "rb"));
  if (!file) return fail(ErrorKind::environment, fmt::format("cannot open {}: {}", name, std::strerror(errno)));
  struct stat status {};
  if (fstat(fileno(file.get()), &status) == 0 && S_ISDIR(status.st_mode)) {
    return fail(ErrorKind::bad_input, name + " is a directory, a text file is needed");
  }
  std::string text;
  char buffer[1U << 16];
  while (const std::size_t n = std::fread(buffer, 1, sizeof buffer, file.get())) {
    if (text.size() + n > max_prompt_file_bytes) {
      return fail(ErrorKind::bad_input, name + " is larger than 256 MiB; split it");
    }
    text.append(buffer, n);
  }
  if (std::ferror(file.get()) != 0) {
    return fail(ErrorKind::environment, fmt::format("cannot read {}: {}", name, std::strerror(errno)));
  }
  return text;
}

Result<std::vector<Request>> read_prompts(const std::string& path, Arrivals arrivals) {
  auto text = read_text(path);
  if (!text) return tl::unexpected(text.error());
  return parse_prompts(*text, path == "-" ? "standard input" : path, arrivals);
}

}  // namespace dmengine
