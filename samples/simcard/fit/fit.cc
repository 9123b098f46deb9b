#include "samples/simcard/fit/fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "samples/simcard/fit/habits.h"
#include "samples/simcard/fit/part.h"
#include "samples/simcard/fit/predict.h"
#include "samples/simcard/fit/program.h"

namespace dmprof::twin {
namespace {

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
    if (access.block < (1U << 20))
      sizes[access.block] = access.bytes;  // no engine has more; a hostile id must not count
  }
  return sizes;
}

class Assembly {
 public:
  explicit Assembly(std::vector<Part> parts) : parts_(std::move(parts)) {}

  Result<Fit> build() {
    for (const Part& part : parts_) {
      DMPROF_TRY(belong_together(parts_.front(), part));
      DMPROF_TRY(in_file(*part.source, timing_.add(part.source->recording, part.backing,
                                                   part.settings.prefetch_distance, part.passes)));
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
    if (fit_.description.link.imitated) DMPROF_TRY(fit_excess());
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
  // Mean step time of the twin over the recorded one, all recordings together, with this part of the recorded excess
  // drawn.
  Result<double> slowness(const Bins& recorded, double part_of_it) {
    fit_.description.link.excess = recorded;
    for (double& each : fit_.description.link.excess.means) each *= part_of_it;
    double twin = 0, real = 0;
    for (const Part& part : parts_) {
      const auto simulated = simulate_figures(fit_.description, part.settings);
      if (!simulated) return tl::unexpected(simulated.error());
      const Figures figures = figures_of(part.source->recording);
      const auto a = simulated->find("step_time_mean"), b = figures.find("step_time_mean");
      if (a == simulated->end() || b == figures.end()) continue;
      twin += a->second;
      real += b->second;
    }
    return real > 0 ? twin / real : 1;
  }

  // An imitated link is exact: its transfers end late because a thread came late. The twin's late threads explain a
  // part by themselves; of the rest, much was hidden behind computation, which the recording does not tell apart. So
  // the part that is drawn is the one free parameter of the fit: the one with which the mean step takes as long as it
  // was recorded.
  Status fit_excess() {
    const Bins recorded = bins_of(timing_.excess(), 100);
    double low = 0, high = 1;
    for (int round = 0; round < 8; ++round) {
      const double middle = round == 0 ? 0 : (low + high) / 2;
      const auto slow = slowness(recorded, middle);
      if (!slow) return tl::unexpected(slow.error());
      if (round == 0 && *slow >= 1) break;  // explained already
      (*slow < 1 ? low : high) = middle;
    }
    const auto done = slowness(recorded, low);
    if (!done) return tl::unexpected(done.error());
    if (low == 0) fit_.description.link.excess.means.clear();
    return {};
  }

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
    auto program =
        in_file(*parts_.front().source, fit_program("target", passes, sizes, 0, timing_.target_pass_other()));
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
        return fail(ErrorKind::cannot_answer, fmt::format("{}: the draft's blocks do not follow the target's: this is "
                                                          "no recording of dm-engine with streamed weights",
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
    auto program = in_file(
        *source, fit_program(draft, passes, sizes, fit_.description.target.blocks.size(), timing_.draft_pass_other()));
    if (!program) return tl::unexpected(program.error());
    profile.program = std::move(*program);
    for (const AcceptanceCell& cell : curve.counts.by_position) {
      if (cell.reached == 0) break;
      profile.acceptance.push_back(static_cast<double>(cell.accepted) / static_cast<double>(cell.reached));
    }
    const Persistence persistence = persistence_of(profile.matches);
    profile.after_right = persistence.after_right;
    profile.after_wrong = persistence.after_wrong;
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
