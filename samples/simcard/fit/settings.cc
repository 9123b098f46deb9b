#include "samples/simcard/fit/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <set>
#include <span>
#include <system_error>
#include <vector>

#include "dmprof/base/quantity.h"
#include "dmprof/base/suggest.h"
#include "samples/simcard/fit/units.h"

namespace dmprof::twin {
namespace {

struct Knob {
  std::string_view name;
  std::function<Status(const Fit&, std::string_view, Question&)> set;
};

std::function<Status(const Fit&, std::string_view, Question&)> whole(std::uint32_t Settings::*member, std::uint32_t low,
                                                                     std::uint32_t high) {
  return [=](const Fit&, std::string_view text, Question& question) -> Status {
    std::uint32_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value < low || value > high) {
      return fail(ErrorKind::usage, fmt::format("must be a whole number from {} to {}", low, high));
    }
    question.settings.*member = value;
    return {};
  };
}

Status set_resident(const Fit&, std::string_view text, Question& question) {
  const auto bytes = parse_size("it", text);
  if (!bytes) return tl::unexpected(bytes.error());
  question.settings.resident = *bytes;
  return {};
}

Status set_draft(const Fit& fit, std::string_view text, Question& question) {
  if (text == "none") {
    question.settings.draft.clear();
    return {};
  }
  const std::string_view file = text.substr(text.find_last_of('/') + 1);
  std::string known;
  for (const DraftProfile& profile : fit.description.drafts) {
    if (profile.program.name == file) {
      question.settings.draft = file;
      return {};
    }
    known += (known.empty() ? "" : ", ") + profile.program.name;
  }
  return fail(
      ErrorKind::cannot_answer,
      fmt::format("no recording with it was fitted (there are: {}); record one and give it to fit as well", known));
}

Status set_backing(const Fit& fit, std::string_view text, Question& question) {
  if (!fit.description.link.imitated) {
    return fail(ErrorKind::cannot_answer, "the recording's blocks came from a file, whose speed is the machine's own");
  }
  const auto throttle = parse_throttle(text);
  if (!throttle) return tl::unexpected(throttle.error());
  question.link.bytes_per_second = throttle->bytes_per_second;
  question.link.latency = throttle->latency;
  question.other_link = text != fit.backing;
  return {};
}

// Looking ahead was timed at one distance. Far beyond it the engine spends its time on that, and not in proportion.
Status set_prefetch_distance(const Fit& fit, std::string_view text, Question& question) {
  constexpr std::uint32_t times = 4, always = 16;
  DMPROF_TRY(whole(&Settings::prefetch_distance, 0, 4096)(fit, text, question));
  const std::uint32_t most = std::max(always, times * fit.base().prefetch_distance);
  if (question.settings.prefetch_distance <= most) return {};
  return fail(
      ErrorKind::cannot_answer,
      fmt::format("the base was recorded at {}, which tells nothing of distances above {}; record with a longer "
                  "one and fit that",
                  fit.base().prefetch_distance, most));
}

std::span<const Knob> knobs() {
  static const std::vector<Knob> list = {
      {"lookahead", whole(&Settings::lookahead, 0, 32)},
      {"draft", set_draft},
      {"resident", set_resident},
      {"cache_policy", whole(&Settings::cache_policy, 0, 2)},
      {"prefetch_distance", set_prefetch_distance},
      {"batch", whole(&Settings::batch, 1, 256)},
      {"max_concurrent", whole(&Settings::max_concurrent, 0, 256)},
      {"prefill_chunk", whole(&Settings::prefill_chunk, 1, 4096)},
      {"baseline_every", whole(&Settings::baseline_every, 0, 1000000)},
      {"backing", set_backing},
  };
  return list;
}

// Knobs of the engine that change what a recording measured.
constexpr std::string_view kUnanswerable[] = {"threads", "kv_type",     "temperature", "top_p",
                                              "seed",    "draft_ngram", "model"};

tl::unexpected<Error> unknown(std::string_view name) {
  name = name.substr(0, 40);
  if (std::find(std::begin(kUnanswerable), std::end(kUnanswerable), name) != std::end(kUnanswerable)) {
    return fail(
        ErrorKind::cannot_answer,
        fmt::format("--set {}: a recording does not tell what another {} would change; record with it and fit that",
                    name, name));
  }
  std::vector<std::string> names;
  for (const Knob& knob : knobs()) names.emplace_back(knob.name);
  const std::string near = nearest(name, names);
  if (!near.empty())
    return fail(ErrorKind::usage, fmt::format("--set: unknown knob \"{}\" (did you mean {}?)", name, near));
  return fail(ErrorKind::usage, fmt::format("--set: unknown knob \"{}\"; known are {}", name, fmt::join(names, ", ")));
}

}  // namespace

Result<Question> parse_settings(const Fit& fit, std::string_view text) {
  Question question{fit.base(), fit.description.link, false};
  std::set<std::string_view> given;
  while (!text.empty()) {
    // A comma inside a link's description belongs to it.
    std::size_t end = text.find(',');
    while (end != std::string_view::npos &&
           text.substr(end + 1, text.find(',', end + 1) - end - 1).find('=') == std::string_view::npos &&
           text.starts_with("backing=")) {
      end = text.find(',', end + 1);
    }
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const std::size_t equals = pair.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == pair.size()) {
      return fail(ErrorKind::usage, fmt::format("--set \"{}\": write KNOB=VALUE, for example lookahead=8,resident=4MiB",
                                                pair.substr(0, 40)));
    }
    const std::string_view name = pair.substr(0, equals);
    const auto known = std::find_if(knobs().begin(), knobs().end(), [&](const Knob& k) { return k.name == name; });
    if (known == knobs().end()) return unknown(name);
    if (!given.insert(known->name).second) return fail(ErrorKind::usage, fmt::format("--set: {} is given twice", name));
    if (auto status = known->set(fit, pair.substr(equals + 1), question); !status) {
      return fail(status.error().kind, fmt::format("--set {}: {}", name, status.error().message));
    }
  }
  return question;
}

std::string describe(const Settings& s) {
  return fmt::format(
      "lookahead={} draft={} resident={} cache_policy={} prefetch_distance={} batch={} max_concurrent={} "
      "prefill_chunk={} baseline_every={}",
      s.lookahead, s.draft.empty() ? "none" : s.draft, s.resident, s.cache_policy, s.prefetch_distance, s.batch,
      s.max_concurrent, s.prefill_chunk, s.baseline_every);
}

}  // namespace dmprof::twin
