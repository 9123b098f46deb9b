#include "samples/simcard/knobs/knobs.h"

#include <vector>

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <string_view>

#include "dmprof/sdk/dmprof.h"

namespace dmprof::simcard {
namespace {

constexpr double kLargestDraft = 1000;  // billions of parameters

std::string_view variable(const Environment& environment, const char* name) {
  const char* value = environment(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

Status whole(const Environment& environment, const char* name, std::uint32_t most, std::uint32_t& out) {
  const std::string_view text = variable(environment, name);
  if (text.empty()) return {};
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most)
    return fail(ErrorKind::usage,
                fmt::format("{}={}: not a whole number from 0 to {}; set one", name, text.substr(0, 40), most));
  out = value;
  return {};
}

// "1b", "3B", "0.5b", "350m", "none".
Status draft(const Environment& environment, double& billions) {
  const std::string_view text = variable(environment, "DM_DRAFT");
  if (text.empty()) return {};
  if (text == "none") {
    billions = 0;
    return {};
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
  const char unit = end + 1 == text.data() + text.size() ? static_cast<char>(std::tolower(*end)) : ' ';
  if (unit == 'm') value /= 1000;
  if (error != std::errc() || (unit != 'b' && unit != 'm') || !std::isfinite(value) || value <= 0 ||
      value > kLargestDraft)
    return fail(ErrorKind::usage,
                fmt::format("DM_DRAFT={}: not the size of a draft model; write 1b, 3b, 350m, up to 1000b, or none",
                            text.substr(0, 40)));
  billions = value;
  return {};
}

void knob(const char* name, const std::string& value, const char* type, const char* range, const char* how,
          const char* handle, const char* unit, std::uint32_t* id = nullptr) {
  const dmprof_knob info{
      .name = name, .value = value.c_str(), .type = type, .range = range, .how = how, .handle = handle, .unit = unit};
  const std::uint32_t given = dmprof_knob_register(&info);
  if (id != nullptr) *id = given;
}

}  // namespace

std::string draft_name(double billions) { return billions > 0 ? fmt::format("{:g}b", billions) : "none"; }

Status read_environment(const Environment& environment, Settings& settings) {
  DMPROF_TRY(draft(environment, settings.draft_billions));
  DMPROF_TRY(whole(environment, "DM_LOOKAHEAD", 64, settings.lookahead));
  DMPROF_TRY(whole(environment, "DM_CACHE_POLICY", 2, settings.cache_policy));
  return whole(environment, "DM_MAX_CONCURRENT", 65536, settings.max_concurrent);
}

std::string unused_variables(const Environment& environment, const std::string& who_has_its_own) {
  std::vector<const char*> set;
  for (const char* name : variables) {
    if (!variable(environment, name).empty()) set.push_back(name);
  }
  if (set.empty()) return "";
  return fmt::format("{} settings; {} {} not used", who_has_its_own, fmt::join(set, ", "),
                     set.size() == 1 ? "is" : "are");
}

std::uint32_t register_knobs(const Settings& s, const std::string& interleave_path) {
  knob("draft", draft_name(s.draft_billions), "choice", "none|350m|1b|3b|7b|12b", "environment", "DM_DRAFT",
       "parameters");
  knob("lookahead", std::to_string(s.lookahead), "integer", "0..64", "environment", "DM_LOOKAHEAD", "tokens");
  knob("cache_policy", std::to_string(s.cache_policy), "choice", "0|1|2", "environment", "DM_CACHE_POLICY", "");
  knob("max_concurrent", std::to_string(s.max_concurrent), "integer", "0..65536", "environment", "DM_MAX_CONCURRENT",
       "requests");
  std::uint32_t interleave = 0;
  if (!interleave_path.empty())
    knob("interleave_sched", s.interleave ? "1" : "0", "choice", "0|1", "file", interleave_path.c_str(), "",
         &interleave);
  return interleave;
}

}  // namespace dmprof::simcard
