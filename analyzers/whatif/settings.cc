#include "analyzers/whatif/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "dmprof/base/quantity.h"
#include "dmprof/base/suggest.h"

namespace dmprof::whatif {
namespace {

// What playbooks and engines call the knobs that a model exists for.
const std::vector<std::string>& modelled_knobs() {
  static const std::vector<std::string> names = {"lookahead",         "draft",           "cache_policy",
                                                 "resident",          "batch",           "max_concurrent",
                                                 "prefetch_distance", "interleave_sched"};
  return names;
}

const Knob* newest(const Recording& recording, const std::string& name) {
  const Knob* found = nullptr;
  for (const Knob& knob : recording.knobs) {
    if ((knob.name == name || (!knob.handle.empty() && knob.handle == name)) &&
        (found == nullptr || knob.since >= found->since))
      found = &knob;
  }
  return found;
}

Error unknown(const Recording& recording, const std::string& name) {
  std::set<std::string> registered;
  for (const Knob& knob : recording.knobs) registered.insert(knob.name);
  const auto& modelled = modelled_knobs();
  if (std::find(modelled.begin(), modelled.end(), name) != modelled.end())
    return {ErrorKind::cannot_answer,
            fmt::format("--set {}: the engine of this recording registers no such knob; it has {}", name,
                        registered.empty() ? "none" : fmt::format("{}", fmt::join(registered, ", ")))};
  std::vector<std::string> candidates(registered.begin(), registered.end());
  candidates.insert(candidates.end(), modelled.begin(), modelled.end());
  return {ErrorKind::usage, fmt::format("--set {}: no knob is called that{}; the recording has {}", name.substr(0, 40),
                                        did_you_mean(name, candidates),
                                        registered.empty() ? "none" : fmt::format("{}", fmt::join(registered, ", ")))};
}

// "8" and "8.0" and, for sizes, "4MiB": one spelling, so that equal settings compare equal.
std::string canonical(const Knob& knob, const std::string& value) {
  if (knob.unit == "bytes") {
    if (const auto bytes = whole(value)) return std::to_string(*bytes);
  }
  return value;
}

}  // namespace

bool Asked::changed(const std::string& knob) const {
  return std::any_of(changes.begin(), changes.end(), [&](const Change& change) { return change.knob == knob; });
}

std::optional<std::uint64_t> whole(const std::string& text) {
  std::uint64_t value = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (error != std::errc()) return std::nullopt;
  const std::string suffix(end, last);
  constexpr std::array<std::pair<const char*, std::uint64_t>, 10> units = {{{"", 1},
                                                                            {"B", 1},
                                                                            {"K", 1ull << 10},
                                                                            {"KiB", 1ull << 10},
                                                                            {"MiB", 1ull << 20},
                                                                            {"GiB", 1ull << 30},
                                                                            {"TiB", 1ull << 40},
                                                                            {"kB", 1000},
                                                                            {"MB", 1000000},
                                                                            {"GB", 1000000000}}};
  for (const auto& [name, factor] : units) {
    if (suffix != name) continue;
    if (value > std::numeric_limits<std::uint64_t>::max() / factor) return std::nullopt;
    return value * factor;
  }
  return std::nullopt;
}

bool admits(const std::string& range, const std::string& value) {
  if (const std::size_t dots = range.find(".."); dots != std::string::npos) {
    const auto wanted = plain_number(value), low = plain_number(range.substr(0, dots)),
               high = plain_number(range.substr(dots + 2));
    return wanted && (!low || *wanted >= *low) && (!high || *wanted <= *high);
  }
  if (range.find('|') == std::string::npos) return true;
  // Alternatives in capitals stand for something: FILE, throttle:BW,LATENCY.
  const bool open = std::any_of(range.begin(), range.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
  return open || ("|" + range + "|").find("|" + value + "|") != std::string::npos;
}

Result<std::vector<Setting>> parse_settings(std::string_view text) {
  std::vector<Setting> settings;
  std::set<std::string> seen;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view item = text.substr(at, comma - at);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == item.size())
      return fail(ErrorKind::usage,
                  fmt::format("--set: \"{}\" is not KNOB=VALUE; write lookahead=8,cache_policy=2", item.substr(0, 60)));
    Setting setting{std::string(item.substr(0, equals)), std::string(item.substr(equals + 1))};
    if (!seen.insert(setting.knob).second)
      return fail(ErrorKind::usage, fmt::format("--set: {} is given twice; name it once", setting.knob));
    settings.push_back(std::move(setting));
    at = comma + 1;
  }
  return settings;
}

std::map<std::string, std::string> recorded_values(const Recording& recording) {
  std::map<std::string, std::string> values;
  for (const Knob& knob : recording.knobs) {
    const Knob* last = newest(recording, knob.name);
    if (last != nullptr) values[knob.name] = last->value;
  }
  return values;
}

Result<Asked> ask(const Recording& recording, std::span<const Setting> settings) {
  Asked asked;
  asked.values = recorded_values(recording);
  for (const Setting& setting : settings) {
    const Knob* knob = newest(recording, setting.knob);
    if (knob == nullptr) return tl::unexpected(unknown(recording, setting.knob));
    const std::string value = canonical(*knob, setting.value);
    const bool number_wanted = knob->type == "integer";
    if (!admits(knob->range, value) || (number_wanted && !whole(value)))
      return fail(ErrorKind::usage,
                  fmt::format("--set {}={}: outside what the knob takes; give one of {}{}", setting.knob,
                              setting.value.substr(0, 60), knob->range, knob->unit == "bytes" ? " (4MiB)" : ""));
    if (value == canonical(*knob, knob->value)) continue;
    if (asked.changed(knob->name))  // its name and its handle
      return fail(ErrorKind::usage, fmt::format("--set: {} is given twice; name it once", knob->name));
    asked.changes.push_back({knob->name, knob->value, value});
    asked.values[knob->name] = value;
  }
  return asked;
}

}  // namespace dmprof::whatif
