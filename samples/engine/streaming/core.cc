#include "samples/engine/streaming/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace dmengine {

using dmprof::ErrorKind;
using dmprof::fail;
using dmprof::Status;
using dmprof::cachemodel::Evicted;
using dmprof::cachemodel::PolicyKind;
using dmprof::cachemodel::TransitionMatrix;

BlockStreamer::Core::Core(std::vector<StreamedBlock> blocks, std::vector<std::unique_ptr<BackingStore>> stores,
                          std::shared_ptr<TransitionMatrix> matrix, const StreamingOptions& options,
                          StreamObserver* observer, StreamClock& clock)
    : blocks_(std::move(blocks)),
      options_(options),
      observer_(observer),
      clock_(clock),
      stores_(std::move(stores)),
      matrix_(std::move(matrix)),
      cache_(options.resident_bytes, make_policy(options.policy, matrix_)),
      pool_(options.resident_bytes),
      prefetch_distance_(options.prefetch_distance),
      max_outstanding_(options.max_outstanding) {
  for (const StreamedBlock& block : blocks_) largest_memory_ = std::max(largest_memory_, block.memory);
  const std::uint64_t half = options.resident_bytes / largest_memory_ / 2;
  max_held_ = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(half, 1, std::max(options.max_held, 1u)));
  if (options.backing.throttled) link_.emplace(options.backing.throttle);
  prefetcher_ = std::thread([this] { prefetch_loop(); });
}

BlockStreamer::Core::~Core() {
  Outbox out(observer_);
  {
    const Lock lock(mutex_);
    stop_ = true;
    cancel_queued(out);
  }
  wake_.notify_all();
  changed_.notify_all();
  prefetcher_.join();
  out.deliver();
}

StreamingStats BlockStreamer::Core::stats() const {
  const Lock lock(mutex_);
  return stats_;
}

std::uint64_t BlockStreamer::Core::resident_bytes() const {
  const Lock lock(mutex_);
  return cache_.budget();
}

std::uint64_t BlockStreamer::Core::used_bytes() const {
  const Lock lock(mutex_);
  return cache_.resident_bytes();
}

std::string BlockStreamer::Core::describe_backing() const {
  const Lock lock(mutex_);
  if (!options_.backing.throttled) return stores_.front()->describe();
  const ThrottleSpec& spec = options_.backing.throttle;
  return fmt::format("memory behind an imitated link of {:g} GB/s and {:g} us", spec.bytes_per_second / 1e9,
                     static_cast<double>(spec.latency_ns) / 1e3);
}

Status BlockStreamer::Core::set_resident_bytes(std::uint64_t bytes) {
  Outbox out(observer_);
  Status status;
  {
    const Lock lock(mutex_);
    if (bytes < room_for_demand()) {
      status = fail(ErrorKind::usage,
                    fmt::format("a resident budget of {} bytes is too small for {} blocks in use; the least is {}",
                                bytes, max_held_, room_for_demand()));
    } else {
      if (bytes < cache_.budget()) cancel_queued(out);
      std::vector<Evicted> evicted;
      if (cache_.set_budget(bytes, evicted)) {
        put_away(evicted, std::nullopt, clock_.now(), out);
        pool_.set_limit(bytes);
      } else {
        status = fail(
            ErrorKind::environment,
            fmt::format("blocks in use or in flight do not fit a resident budget of {} bytes now; try again", bytes));
      }
    }
  }
  out.deliver();
  return status;
}

void BlockStreamer::Core::set_policy(PolicyKind policy) {
  const Lock lock(mutex_);
  cache_.set_policy(make_policy(policy, matrix_));
}

void BlockStreamer::Core::set_prefetch_distance(std::uint32_t accesses) {
  const Lock lock(mutex_);
  prefetch_distance_ = accesses;
  accesses_to_plan_ = 0;
}

void BlockStreamer::Core::set_max_outstanding(std::uint32_t requests) {
  const Lock lock(mutex_);
  max_outstanding_ = requests;
}

Status BlockStreamer::Core::save_transitions(const std::string& path) const {
  // Only the text is made under the lock: a slow disk must not hold up the engine.
  std::ostringstream text;
  {
    const Lock lock(mutex_);
    matrix_->write(text);
  }
  return TransitionMatrix::save_text(path, text.str());
}

}  // namespace dmengine
