// A small valid rule to start from.
#pragma once

#include <string>

namespace dmprof::rules {

inline const std::string small_rule = R"(id: too-few-hits
title: {en: Too few hits, zh: 命中太少}
severity: warning
confidence: low
source: "[H] test"
thresholds: {hits: 0.5}
all: [prefetch_hit_rate < :hits, memory_stall_share > 0.1]
because: {en: "hit rate {prefetch_hit_rate} of {prefetch_hit_rate.subject}", zh: "命中率 {prefetch_hit_rate}"}
clears: {en: Hits suffice, zh: 足够}
checks: [dmprof --metric prefetch_hit_rate]
fixes:
  - {knob: cache_policy, to: "2", command: {c8: export DM_CACHE_POLICY=2}}
vectors:
  - {kind: fires, title: low, metrics: {prefetch_hit_rate: 0.2, memory_stall_share: 0.4}, expect: fires}
  - {kind: boundary, title: at, metrics: {prefetch_hit_rate: 0.5, memory_stall_share: 0.4}, expect: quiet}
  - {kind: must-not-fire, title: hidden, metrics: {prefetch_hit_rate: 0.2, memory_stall_share: 0.0}, expect: quiet}
  - {kind: metric-missing, title: unknown, metrics: {memory_stall_share: 0.4}, expect: not-evaluated}
)";

// The rule with one piece of its text replaced.
inline std::string with(const std::string& old_text, const std::string& new_text) {
  std::string text = small_rule;
  const std::size_t at = text.find(old_text);
  return at == std::string::npos ? "" : text.replace(at, old_text.size(), new_text);
}

}  // namespace dmprof::rules
