// What a recording lacks, in the same words wherever it matters.
#pragma once

#include <string>

#include "analyzers/registry/view.h"

namespace dmprof::reasons {

inline std::string no_steps(const View& view, const Scope& scope) {
  if (view.recording().steps.empty()) return "the recording holds no steps: the engine emits none through the SDK";
  return scope.phase == Phase::prefill ? "the recording holds no prefill steps"
                                       : "the recording holds no decode steps here";
}

inline std::string no_speculation(const View& view) {
  if (view.recording().speculation.empty())
    return "the recording holds no speculation steps: the engine emits none through the SDK";
  return "no speculation steps here";
}

inline std::string no_draft(const View& view) {
  if (view.recording().speculation.empty()) return no_speculation(view);
  return "no step carries a draft: speculation was off";
}

inline std::string no_requests(const View& view) {
  if (view.recording().speculation.empty())
    return "the recording holds no request events: the engine emits none through the SDK";
  return "the recording holds no request events, though steps serve requests: none arrived or ended while it was "
         "taken, "
         "or the engine emits none";
}

inline std::string no_accesses(const View& view) {
  if (view.recording().accesses.empty())
    return "the recording holds no block accesses: the engine streams no blocks, or does not report them";
  return "no demand accesses here";
}

inline std::string no_transfers() {
  return "the recording holds no transfers: nothing moved between tiers, or the engine does not report it";
}

}  // namespace dmprof::reasons
