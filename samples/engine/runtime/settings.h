// Everything a run is told, whoever told it. Plain data; the command line and the environment fill it, tests fill it by
// hand.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "samples/engine/speculation/distribution.h"

namespace dmengine {

inline constexpr std::uint32_t max_lookahead = 32;
inline constexpr std::uint32_t max_batch = 256;
inline constexpr std::uint32_t max_threads = 256;
inline constexpr std::uint32_t baseline_window = 4;  // steps without speculation in a row

struct Settings {
  std::string model;
  std::string draft;            // a file; empty = none
  std::string draft_variable;   // the environment variable that named it; empty: the command line did
  bool draft_ngram = false;     // look drafts up in the text instead
  std::uint32_t lookahead = 5;  // draft tokens a step; 0 = no speculation

  std::uint32_t max_tokens = 128;  // per request that does not say
  Sampling sampling;
  std::uint32_t batch = 1;           // sequences that can be held at once
  std::uint32_t max_concurrent = 0;  // sequences that may run at once; 0 = batch
  std::uint32_t prefill_chunk = 64;  // prompt tokens a step, over all sequences
  std::uint32_t context = 0;         // positions a sequence may have; 0 = what the model was trained for
  std::uint32_t threads = 1;
  bool kv_f32 = false;

  std::uint64_t resident = 0;           // bytes of weights kept in memory; 0 = all of them, no streaming
  std::string backing = "file";         // "file" or "throttle:BW,LATENCY"
  std::uint32_t cache_policy = 2;       // 0 LRU, 1 LFU with ageing, 2 prediction-aware
  std::uint32_t prefetch_distance = 8;  // blocks fetched ahead; 0 = no prefetching
  std::string save_transitions;
  std::string load_transitions;

  std::uint32_t baseline_every = 0;  // steps between windows without speculation; 0 = none
  bool kernel_events = true;

  // Flags that were given, such as "--lookahead": a flag beats its variable, so whoever turns a knob must turn the flag
  // then.
  std::set<std::string, std::less<>> flags;

  bool speculates() const { return lookahead > 0 && (draft_ngram || !draft.empty()); }
};

}  // namespace dmengine
