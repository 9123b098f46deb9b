// Notices collected while the streamer's lock is held, delivered after it was released.
#pragma once

#include <cstdint>
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
  void add(const StreamPrefetch& prefetch) {
    if (observer_) std::get<StreamPrefetch>(notices_.emplace_back(prefetch)).mark = observer_->mark();
  }
  void add_stage(StreamStage stage, std::int64_t start, std::int64_t end) {
    if (observer_) notices_.emplace_back(Stage{stage, start, end - start, observer_->mark()});
  }
  // No lock may be held.
  void deliver();

 private:
  struct Stage {
    StreamStage stage;
    std::int64_t start;
    std::int64_t duration;
    std::uint64_t mark;
  };

  StreamObserver* observer_;
  std::vector<std::variant<StreamAccess, StreamTransfer, StreamPrefetch, Stage>> notices_;
};

}  // namespace dmengine
