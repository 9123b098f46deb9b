#include "samples/simcard/fit/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "samples/simcard/fit/habits.h"
#include "samples/simcard/fit/predict.h"
#include "samples/simcard/fit/program.h"

namespace dmprof::twin {
namespace {

// What is taken from one recording before all are put together.
struct Part {
  const NamedRecording* source = nullptr;
  Settings settings;
  std::string backing;
  std::uint32_t threads = 0;
  bool greedy = true;
  std::vector<RecordedPass> passes;
  RecordedTexts texts;
};

template <class T>
Result<T> in_file(const NamedRecording& source, Result<T> result) {
  if (!result) return fail(result.error().kind, source.file + ": " + result.error().message);
  return result;
}

Result<std::uint64_t> whole_knob(const Recording& recording, const char* name) {
  const auto knob = recording.knob(name);
  std::uint64_t value = 0;
  if (knob) {
    const char* end = knob->value.data() + knob->value.size();
    if (std::from_chars(knob->value.data(), end, value).ptr == end && !knob->value.empty() && value < (1ULL << 52)) return value;
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
                  fmt::format("{} events were lost ({}): the order of blocks is not known; record again", loss.events, loss.cause));
    }
  }
  const bool speculates = std::any_of(recording.speculation.begin(), recording.speculation.end(),
                                      [](const SpeculationStep& row) { return row.verified > 0; });
  if (!speculates) {
    return fail(ErrorKind::cannot_answer,
                "no step carries a draft: record with --draft FILE and a lookahead above 0, so that acceptance can be fitted");
  }
  return {};
}

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

// Recordings of one machine, engine and list of requests?
Status belong_together(const Part& base, const Part& part) {
  const auto differ = [&](const std::string& what) {
    return fail(ErrorKind::usage, fmt::format("{} and {} differ in {}; fit them apart", base.source->file, part.source->file, what));
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

// A position or verdict that this recording shows and earlier ones did not.
template <class T>
void fill(std::vector<T>& known, const std::vector<T>& more, T unknown) {
  for (std::size_t i = 0; i < known.size() && i < more.size(); ++i) {
    if (known[i] == unknown) known[i] = more[i];
  }
}

template <class T>
void fill_all(std::vector<std::vector<T>>& known, const std::vector<std::vector<T>>& more, T unknown) {
  if (known.empty()) known = more;
  for (std::size_t i = 0; i < known.size() && i < more.size(); ++i) fill(known[i], more[i], unknown);
}

BlockSizes sizes_of(const Recording& recording) {
  BlockSizes sizes;
  for (const BlockAccess& access : recording.accesses) {
    if (access.block < (1U << 20)) sizes[access.block] = access.bytes;  // no engine has more; a hostile id must not count
  }
  return sizes;
}

class Assembly {
 public:
  explicit Assembly(std::vector<Part> parts) : parts_(std::move(parts)) {}

  Result<Fit> build() {
    for (const Part& part : parts_) {
      DMPROF_TRY(belong_together(parts_.front(), part));
      DMPROF_TRY(in_file(*part.source, timing_.add(part.source->recording, part.backing, part.settings.prefetch_distance, part.passes)));
    }
    DMPROF_TRY(add_target());
    for (const Part& part : parts_) {
      if (curve_of(part.settings.draft) == nullptr) DMPROF_TRY(add_draft(part.settings.draft));
    }
    add_texts();
    fit_.description.link = timing_.link();
    fit_.description.habits = timing_.habits();
    fit_.description.greedy = parts_.front().greedy;
    fit_.backing = parts_.front().backing;
    fit_.threads = parts_.front().threads;
    const auto& environment = parts_.front().source->recording.environment;
    const auto fact = [&](const char* key) {
      const auto found = environment.find(key);
      return found == environment.end() ? std::string("unknown") : found->second;
    };
    fit_.engine = "dm-engine " + fact("engine_version");
    fit_.machine = fact("cpu.model");
    for (const Part& part : parts_) {
      FittedRecording fitted{part.source->file, part.settings, figures_of(part.source->recording), {}};
      auto simulated = simulate_figures(fit_.description, part.settings);
      if (!simulated) return tl::unexpected(simulated.error());
      fitted.simulated = std::move(*simulated);
      fit_.recordings.push_back(std::move(fitted));
    }
    return std::move(fit_);
  }

 private:
  DraftCurve* curve_of(const std::string& draft) {
    const auto found = std::find_if(fit_.curves.begin(), fit_.curves.end(), [&](auto& c) { return c.draft == draft; });
    return found == fit_.curves.end() ? nullptr : &*found;
  }

  // The first block that only a draft asks for.
  static std::uint64_t first_of_draft(const Part& part) {
    std::uint64_t first = UINT64_MAX;
    for (const RecordedPass& pass : part.passes) {
      if (!pass.draft) continue;
      for (const std::uint64_t block : pass.embedding) first = std::min(first, block);
      for (const auto& operation : pass.operations) {
        for (const std::uint64_t block : operation.blocks) first = std::min(first, block);
      }
    }
    return first;
  }

  Status add_target() {
    std::vector<const RecordedPass*> passes;
    BlockSizes sizes;
    for (const Part& part : parts_) {
      for (const RecordedPass& pass : part.passes) {
        if (!pass.draft) passes.push_back(&pass);
      }
      const BlockSizes all = sizes_of(part.source->recording);
      sizes.insert(all.begin(), all.lower_bound(first_of_draft(part)));
    }
    auto program = in_file(*parts_.front().source, fit_program("target", passes, sizes, 0, timing_.target_pass_other()));
    if (!program) return tl::unexpected(program.error());
    fit_.description.target = std::move(*program);
    return {};
  }

  Status add_draft(const std::string& draft) {
    std::vector<const RecordedPass*> passes;
    DraftProfile profile;
    DraftCurve curve;
    BlockSizes sizes;
    const NamedRecording* source = nullptr;
    for (const Part& part : parts_) {
      if (part.settings.draft != draft) continue;
      if (first_of_draft(part) != fit_.description.target.blocks.size()) {
        return fail(ErrorKind::cannot_answer,
                    fmt::format("{}: the draft's blocks do not follow the target's: this is no recording of dm-engine with streamed weights",
                                part.source->file));
      }
      source = part.source;
      for (const RecordedPass& pass : part.passes) {
        if (pass.draft) passes.push_back(&pass);
      }
      const BlockSizes all = sizes_of(part.source->recording);
      sizes.insert(all.lower_bound(first_of_draft(part)), all.end());
      fill_all(profile.matches, part.texts.matches, Match::unknown);
      fill_all(profile.embedding, part.texts.draft_embedding, std::int64_t{-1});
      add_counts(curve.counts, count_acceptance(part.source->recording));
    }
    auto program = in_file(*source, fit_program(draft, passes, sizes, fit_.description.target.blocks.size(), timing_.draft_pass_other()));
    if (!program) return tl::unexpected(program.error());
    profile.program = std::move(*program);
    for (const AcceptanceCell& cell : curve.counts.by_position) {
      if (cell.reached == 0) break;
      profile.acceptance.push_back(static_cast<double>(cell.accepted) / static_cast<double>(cell.reached));
    }
    curve.draft = draft;
    for (const Block& block : profile.program.blocks) curve.parameter_bytes += block.bytes;
    fit_.description.drafts.push_back(std::move(profile));
    fit_.curves.push_back(std::move(curve));
    return {};
  }

  static void add_cells(std::vector<AcceptanceCell>& to, const std::vector<AcceptanceCell>& from) {
    to.resize(std::max(to.size(), from.size()));
    for (std::size_t i = 0; i < from.size(); ++i) {
      to[i].reached += from[i].reached;
      to[i].accepted += from[i].accepted;
    }
  }

  static void add_counts(AcceptanceCounts& to, const AcceptanceCounts& from) {
    add_cells(to.by_position, from.by_position);
    for (std::size_t i = 0; i < from.length_from.size(); ++i) {
      const auto at = std::lower_bound(to.length_from.begin(), to.length_from.end(), from.length_from[i]);
      const auto index = at - to.length_from.begin();
      if (at == to.length_from.end() || *at != from.length_from[i]) {
        to.length_from.insert(at, from.length_from[i]);
        to.by_length.insert(to.by_length.begin() + index, std::vector<AcceptanceCell>());
      }
      add_cells(to.by_length[static_cast<std::size_t>(index)], from.by_length[i]);
    }
  }

  void add_texts() {
    fit_.description.requests = parts_.front().texts.requests;
    for (const Part& part : parts_) {
      for (std::size_t i = 0; i < fit_.description.requests.size(); ++i) {
        RequestText& text = fit_.description.requests[i];
        fill(text.embedding, part.texts.requests[i].embedding, std::int64_t{-1});
        text.ended_by_limit = text.ended_by_limit || part.texts.requests[i].ended_by_limit;
      }
    }
  }

  std::vector<Part> parts_;
  TimingSamples timing_;
  Fit fit_;
};

}  // namespace

Result<Fit> fit(std::span<const NamedRecording> recordings) {
  if (recordings.empty()) return fail(ErrorKind::usage, "name at least one recording to fit to");
  std::vector<Part> parts;
  for (const NamedRecording& each : recordings) {
    auto part = read_part(each);
    if (!part) return tl::unexpected(part.error());
    parts.push_back(std::move(*part));
  }
  return Assembly(std::move(parts)).build();
}

}  // namespace dmprof::twin
