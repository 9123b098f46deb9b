// What a recording lacks, in the same words wherever it matters.
#pragma once

#include <string>

#include "analyzers/registry/view.h"

namespace dmprof::reasons {

// A recording that broke off, or was short, cannot tell an engine that emits none from one that did not come to it.
inline constexpr char emits_none[] =
    "the engine emits none through the SDK, or none was committed before the recording ended";

inline std::string no_steps(const View& view, const Scope& scope) {
  if (view.recording().steps.empty()) return std::string("the recording holds no steps: ") + emits_none;
  return scope.phase == Phase::prefill ? "the recording holds no prefill steps"
                                       : "the recording holds no decode steps here";
}

inline std::string no_speculation(const View& view) {
  if (view.recording().speculation.empty())
    return std::string("the recording holds no speculation steps: ") + emits_none;
  return "no speculation steps here";
}

inline std::string no_draft(const View& view) {
  if (view.recording().speculation.empty()) return no_speculation(view);
  return "no step carries a draft: speculation was off";
}

inline std::string no_requests(const View& view) {
  if (view.recording().speculation.empty()) return std::string("the recording holds no request events: ") + emits_none;
  return "the recording holds no request events, though steps serve requests: none arrived or ended while it was "
         "taken, or the engine emits none";
}

inline std::string no_accesses(const View& view) {
  if (view.recording().accesses.empty())
    return "the recording holds no block accesses: the engine streams no blocks, does not report them, or had asked "
           "for "
           "none before the recording ended";
  return "no demand accesses here";
}

inline std::string no_transfers() {
  return "the recording holds no transfers: nothing moved between tiers, or the engine does not report it";
}

}  // namespace dmprof::reasons
