// What the streaming mode tells whoever records it. The fields mirror the block events of a recording
// (dmprof/event/event.h), enumerators have the same numbers; block ids are those of the streamer (target and draft in
// one space).
//
// on_access comes from the thread that acquires the block. Everything else comes from that thread or from the prefetch
// thread, and cancelled prefetches also from a thread that shrinks the budget or destroys the streamer. Callbacks of
// different threads overlap and may come in another order than things happened (sort by time), so an observer must be
// thread-safe. No lock is held during a callback,
// but for mark(). An observer must not call the streamer. Times are nanoseconds of the
// streamer's clock and are taken when the thing happened, not when it is told.
#pragma once

#include <cstdint>
#include <optional>

#include "dmprof/cachemodel/block.h"

namespace dmengine {

using dmprof::cachemodel::BlockId;

enum class StreamOutcome : std::uint8_t {
  hit = 0,
  late = 1,
  miss = 2
};  // late: a prefetch of it was queued or in flight
enum class StreamOrigin : std::uint8_t {
  resident = 0,
  prefetched = 1,
  demand = 2
};  // prefetched: first use after a prefetch
enum class StreamPrediction : std::uint8_t {
  none = 0,
  right = 1,
  wrong = 2
};  // was it the matrix's most likely next block
enum class StreamPrefetchPoint : std::uint8_t {
  issued = 0,
  completed = 1,
  evicted_unused = 2,
  cancelled = 3,
  displaced = 4
};

struct StreamAccess {
  BlockId block = 0;
  StreamOutcome outcome = StreamOutcome::hit;
  StreamOrigin origin = StreamOrigin::resident;
  StreamPrediction prediction = StreamPrediction::none;
  std::uint64_t bytes = 0;
  std::uint64_t memory = 0;  // what it takes of the resident budget: the bytes and their padding
  std::int64_t time = 0;     // when it was asked for
  std::int64_t wait = 0;     // 0 for a hit
  bool polluted = false;     // a miss on a block that a prefetch threw out
};

struct StreamPrefetch {
  BlockId block = 0;
  StreamPrefetchPoint point = StreamPrefetchPoint::issued;
  std::uint64_t bytes = 0;
  std::int64_t time = 0;
  std::optional<BlockId> victim = {};  // of `displaced`: thrown out to make room for `block`; one notice a victim
  std::uint64_t mark = 0;              // StreamObserver::mark() when it happened
};

struct StreamTransfer {
  BlockId block = 0;
  std::int64_t start = 0;
  std::int64_t duration = 0;
  std::uint64_t bytes = 0;         // moved, with the alignment that O_DIRECT asks for
  std::uint64_t useful_bytes = 0;  // the block's
  std::uint32_t queue_depth = 0;   // requests on the link when it started, itself included
  bool prefetch = false;           // asked for by the prefetcher (and by nobody else before it started)
};

// The two stages of speculation that belong to the streaming mode; the others are the engine's.
enum class StreamStage : std::uint8_t { path_prediction, prefetch_scheduling };

class StreamObserver {
 public:
  virtual ~StreamObserver() = default;
  virtual void on_access(const StreamAccess& access) = 0;
  virtual void on_prefetch(const StreamPrefetch& prefetch) = 0;
  virtual void on_transfer(const StreamTransfer& transfer) = 0;
  // The two stages follow one another without a gap. They run inside acquire and, when a slot for a prefetch has become
  // free, in the prefetch thread.
  // `mark` as of mark() at its end.
  virtual void on_stage(StreamStage stage, std::int64_t start, std::int64_t duration, std::uint64_t mark) = 0;
  // What the observer wants to know again of the moment a prefetch notice or a stage is about, such as the step that
  // runs then: by the time it is told another may run. Any thread, while the streamer's lock is held: it must be quick
  // and take no lock.
  virtual std::uint64_t mark() const = 0;
};

}  // namespace dmengine
