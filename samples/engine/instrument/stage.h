// The stretches that the engine thread's time is divided into. They follow one another without a gap.
// Path prediction and prefetch scheduling happen inside them, whenever a block is asked for (see block_recorder.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace dmengine {

enum class Stage : std::uint8_t {
  load,                  // models are read, before the run starts
  idle,                  // no request is there
  host,                  // arrivals, admission, planning, output
  candidate_generation,  // the draft proposes
  prefill,               // the target's pass where part of a prompt is in it
  verification,          // the target's pass over tokens and their drafts
  acceptance,            // judging drafts, sampling, rolling back
};
inline constexpr std::size_t stage_count = 7;
inline constexpr std::array<const char*, stage_count> stage_names{
    "load", "idle", "host", "candidate_generation", "prefill", "verification", "acceptance"};

using StageTicks = std::array<std::uint64_t, stage_count>;  // differences of SDK clock readings

}  // namespace dmengine
