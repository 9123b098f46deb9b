#include "dmprof/cli/values.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

#include "dmprof/base/suggest.h"

namespace dmprof::cli {

namespace {

constexpr std::array all_breakdowns = {By::request, By::layer, By::tier, By::position, By::phase, By::window};

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Calls take(part) for each part between commas until it fails.
template <class Take>
Status for_each_part(std::string_view text, const Take& take) {
  while (true) {
    const std::size_t comma = text.find(',');
    DMPROF_TRY(take(trimmed(text.substr(0, comma))));
    if (comma == std::string_view::npos) return {};
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<TimeNs> parse_duration(std::string_view text) {
  struct Unit {
    std::string_view name;
    double nanoseconds;
  };
  constexpr std::array units = {Unit{"ns", 1}, Unit{"us", 1e3}, Unit{"ms", 1e6}, Unit{"s", 1e9}};
  constexpr double longest = 1e9 * 3600 * 24 * 365;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = trimmed(text.substr(static_cast<std::size_t>(end - text.data())));
  for (const Unit& one : units) {
    const double value = number * one.nanoseconds;
    if (error == std::errc() && unit == one.name && std::isfinite(value) && value >= 1 && value <= longest)
      return static_cast<TimeNs>(value);
  }
  return fail(ErrorKind::usage, fmt::format("\"{}\" is no duration; write one as 200ms, 1.5s or 800us", text));
}

Result<Objectives> parse_objectives(std::string_view text) {
  Objectives objectives;
  const std::vector<std::string> names = {"ttft", "itl", "tpot", "e2e"};
  const std::array targets = {&objectives.ttft, &objectives.itl, &objectives.tpot, &objectives.e2e};
  Status parsed = for_each_part(text, [&](std::string_view part) -> Status {
    const std::size_t equals = part.find('=');
    const std::string name(trimmed(part.substr(0, equals)));
    if (equals == std::string_view::npos) {
      return fail(ErrorKind::usage,
                  fmt::format("--slo: \"{}\" is no objective; write it as --slo ttft=200ms,itl=50ms", part));
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (name != names[i]) continue;
      if (*targets[i])
        return fail(ErrorKind::usage, fmt::format("--slo: {} is given twice; give each objective once", name));
      auto value = parse_duration(trimmed(part.substr(equals + 1)));
      if (!value) return fail(ErrorKind::usage, "--slo: " + value.error().message);
      *targets[i] = *value;
      return {};
    }
    return fail(ErrorKind::usage, fmt::format("--slo: no objective {}{}; there are ttft, itl, tpot and e2e", name,
                                              did_you_mean(name, names)));
  });
  if (!parsed) return tl::unexpected(parsed.error());
  return objectives;
}

Result<std::optional<By>> parse_breakdown(const std::string& text) {
  if (text.empty()) return std::optional<By>{};
  if (const auto by = parse_by(text)) return by;
  std::vector<std::string> names;
  for (const By by : all_breakdowns) names.emplace_back(to_text(by));
  return fail(ErrorKind::usage, fmt::format("--by: there is no breakdown {}{}; there are {}", text,
                                            did_you_mean(text, names), fmt::join(names, ", ")));
}

Result<std::vector<std::string>> split_names(const std::vector<std::string>& texts) {
  std::vector<std::string> names;
  for (const std::string& text : texts) {
    DMPROF_TRY(for_each_part(text, [&](std::string_view part) -> Status {
      if (part.empty())
        return fail(ErrorKind::usage,
                    fmt::format("--metric: an empty name in \"{}\"; dmprof metrics lists the names", text));
      names.emplace_back(part);
      return {};
    }));
  }
  return names;
}

}  // namespace dmprof::cli
