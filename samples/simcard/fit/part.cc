#include "samples/simcard/fit/part.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <type_traits>

#include "dmprof/base/counted.h"

namespace dmprof::twin {
namespace {

Result<std::uint64_t> whole_knob(const Recording& recording, const char* name) {
  const auto knob = recording.knob(name);
  std::uint64_t value = 0;
  if (knob) {
    const char* end = knob->value.data() + knob->value.size();
    const auto [rest, error] = std::from_chars(knob->value.data(), end, value);
    if (error == std::errc() && rest == end && value < (1ULL << 52)) return value;
  }
  return fail(ErrorKind::cannot_answer,
              fmt::format("the knob {} is missing or no whole number: this is no recording of dm-engine", name));
}

Status read_settings(const Recording& recording, Part& part) {
  Settings& s = part.settings;
  const auto read = [&](const char* name, auto& out) -> Status {
    const auto value = whole_knob(recording, name);
    if (!value) return tl::unexpected(value.error());
    out = static_cast<std::remove_reference_t<decltype(out)>>(*value);
    return {};
  };
  DMPROF_TRY(read("lookahead", s.lookahead));
  DMPROF_TRY(read("resident", s.resident));
  DMPROF_TRY(read("cache_policy", s.cache_policy));
  DMPROF_TRY(read("prefetch_distance", s.prefetch_distance));
  DMPROF_TRY(read("batch", s.batch));
  DMPROF_TRY(read("max_concurrent", s.max_concurrent));
  DMPROF_TRY(read("prefill_chunk", s.prefill_chunk));
  DMPROF_TRY(read("baseline_every", s.baseline_every));
  DMPROF_TRY(read("threads", part.threads));
  const auto draft = recording.knob("draft");
  if (!draft) return fail(ErrorKind::cannot_answer, "the knob draft is missing: this is no recording of dm-engine");
  if (draft->value == "ngram") {
    return fail(ErrorKind::cannot_answer, "drafts looked up in the text are not modelled; record with --draft FILE");
  }
  if (draft->value != "none") s.draft = draft->value.substr(draft->value.find_last_of('/') + 1);
  const auto backing = recording.knob("backing");
  part.backing = backing ? backing->value : "";
  const auto temperature = recording.knob("temperature");
  part.greedy = !temperature || temperature->value == "0";
  return {};
}

Status check(const Recording& recording) {
  if (recording.steps.empty()) {
    return fail(ErrorKind::cannot_answer, "the recording holds no steps: nothing was decoded while it ran");
  }
  for (const Loss& loss : recording.losses) {
    if (loss.events > 0) {
      return fail(ErrorKind::cannot_answer,
                  fmt::format("{} {} lost ({}): the order of blocks is not known; record again",
                              dmprof::counted(loss.events, "event"), loss.events == 1 ? "was" : "were", loss.cause));
    }
  }
  const bool speculates = std::any_of(recording.speculation.begin(), recording.speculation.end(),
                                      [](const SpeculationStep& row) { return row.verified > 0; });
  if (!speculates) {
    return fail(
        ErrorKind::cannot_answer,
        "no step carries a draft: record with --draft FILE and a lookahead above 0, so that acceptance can be fitted");
  }
  return {};
}

}  // namespace

Result<Part> read_part(const NamedRecording& source) {
  Part part;
  part.source = &source;
  const Recording& recording = source.recording;
  DMPROF_TRY(in_file(source, check(recording)));
  DMPROF_TRY(in_file(source, read_settings(recording, part)));
  auto passes = in_file(source, cut_passes(recording));
  if (!passes) return tl::unexpected(passes.error());
  part.passes = std::move(*passes);
  auto texts = in_file(source, read_texts(recording, part.passes));
  if (!texts) return tl::unexpected(texts.error());
  part.texts = std::move(*texts);
  return part;
}

Status belong_together(const Part& base, const Part& part) {
  const auto differ = [&](const std::string& what) {
    return fail(ErrorKind::usage,
                fmt::format("{} and {} differ in {}; fit them apart", base.source->file, part.source->file, what));
  };
  if (base.threads != part.threads) return differ("threads");
  if (base.greedy != part.greedy) return differ("temperature");
  if (base.texts.requests.size() != part.texts.requests.size()) return differ("the number of requests");
  for (std::size_t i = 0; i < base.texts.requests.size(); ++i) {
    const RequestText &a = base.texts.requests[i], &b = part.texts.requests[i];
    if (a.prompt_tokens != b.prompt_tokens || (base.greedy && a.output_tokens != b.output_tokens)) {
      return differ(fmt::format("the length of request {}", i + 1));
    }
  }
  return {};
}

}  // namespace dmprof::twin
