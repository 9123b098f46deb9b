// The cache model: what another policy, size or prefetch distance does to waits and hits, by replay, and how well the
// replay reproduces what was recorded.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzers/whatif/replay.h"

namespace dmprof::whatif {

struct WaitChange {  // ns over the whole recording, about 95 %
  double low = 0, mid = 0, high = 0;
};

struct CacheEffect {
  WaitChange draft, verify;                                  // what the stages take longer (or shorter, below 0)
  double recorded_draft_wait = 0, recorded_verify_wait = 0;  // ns
  double transfers_left = 1;                                 // blocks moved after / before, at most 1
  double rate_before = 0, rate_after = 0;                    // of the replay
  double hit_rate_error = 0;

  // The recorded rate, its misses (where hits get more) or hits (where they get fewer) scaled as the replay's are.
  double hit_rate(double recorded) const;
  std::vector<std::string> assumptions;
};

class CacheModel {
 public:
  explicit CacheModel(const View& view);

  // "" when the replay can answer, else why not.
  const std::string& lacking() const { return lacking_; }
  // Waits of the replay at the recorded settings / recorded waits - 1.
  double residual() const { return residual_; }

  // Do drafts announce blocks, so that another number of them changes what is asked for and what is known in time?
  bool follows_drafts() const { return lacking_.empty() && prefetcher_.kind == Prefetcher::Kind::announced; }

  struct Tokens {  // of a whole pass, per sequence: as recorded and as asked
    std::uint32_t from = 0, to = 0;
  };
  // `values`: every knob, by name, after the change.
  Result<CacheEffect> effect(const std::map<std::string, std::string>& values, Tokens tokens) const;

 private:
  Result<CacheSetup> setup(const std::map<std::string, std::string>& values) const;
  Prefetcher observed_prefetcher(const View& view) const;
  void calibrate(const std::map<std::string, std::string>& values);

  std::optional<AccessTrace> trace_;
  std::optional<Link> link_;
  Prefetcher prefetcher_;
  Replayed recorded_;  // replayed at the recorded settings
  std::uint32_t recorded_distance_ = 0;
  double plan_time_ = 0;  // ns of the consumer a plan, as recorded
  double plan_cost_ = 0;  // ns of the consumer a plan, for each access it looks ahead
  std::string lacking_;
  double residual_ = 0;
};

}  // namespace dmprof::whatif
