// The requests that cards get: how a scenario names a workload of dmprof/workload, and what of it a card can serve.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dmprof/base/description/section.h"
#include "dmprof/base/error.h"
#include "dmprof/workload/arrivals.h"

namespace dmprof::simcard {

struct WorkloadParameters {
  workload::Arrivals arrivals{.kind = workload::Arrivals::Kind::closed_loop, .rate = 0};
  workload::Lengths prompts{.typical = 256}, outputs{.typical = 128};  // tokens
  std::shared_ptr<const std::vector<workload::Request>> trace;         // for Kind::trace
  double trace_speed = 1;                                              // above 1 compresses time
};

// Refuses what no source of requests can send, and requests that are too long for a card.
Status check(const WorkloadParameters& workload);

// Reads a `workload` mapping over what `workload` holds; an error also stays with the section's root. Keys:
//   arrivals   closed (users, think) | poisson (rate) | bursty (rate, burst_factor, burst_share, burst_length) |
//              bursts (burst, period) | trace (trace, speed)
//   trace      a file in the Azure (.csv) or Mooncake (.jsonl) format; the lengths are the trace's
//   prompt, output                      typical lengths in tokens, and for each of them, here for the prompt:
//   prompt_lengths                      fixed | uniform | geometric | lognormal
//   prompt_spread, prompt_least, prompt_most
Status read_workload(Section section, WorkloadParameters& workload);

// Takes the requests of a trace file. environment where it cannot be read; bad_input names file, line and column.
Status use_trace(const std::string& path, WorkloadParameters& workload);

// The requests of card `index` of `cards`: generated ones of its own, or every `cards`-th one of the trace.
workload::Source source_of(const WorkloadParameters& workload, std::uint64_t seed, std::uint32_t index,
                           std::uint32_t cards);

}  // namespace dmprof::simcard
