// Notices collected while the streamer's lock is held, delivered after it was released.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include "samples/engine/streaming/observer.h"

namespace dmengine {

class Outbox {
 public:
  // `observer` may be null: nothing is collected then.
  explicit Outbox(StreamObserver* observer) : observer_(observer) {}

  void add(const StreamAccess& access) {
    if (observer_) notices_.emplace_back(access);
  }
  void add(const StreamTransfer& transfer) {
    if (observer_) notices_.emplace_back(transfer);
  }
  void add(const StreamPrefetch& prefetch, std::vector<BlockId> victims = {}) {
    if (observer_) notices_.emplace_back(Prefetch{prefetch, std::move(victims)});
  }
  void add_stage(StreamStage stage, std::int64_t start, std::int64_t end) {
    if (observer_) notices_.emplace_back(Stage{stage, start, end - start});
  }
  // No lock may be held.
  void deliver();

 private:
  struct Prefetch {
    StreamPrefetch notice;
    std::vector<BlockId> victims;
  };
  struct Stage {
    StreamStage stage;
    std::int64_t start;
    std::int64_t duration;
  };

  StreamObserver* observer_;
  std::vector<std::variant<StreamAccess, StreamTransfer, Prefetch, Stage>> notices_;
};

}  // namespace dmengine
