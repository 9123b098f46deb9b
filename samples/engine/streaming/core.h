// The streamer's shared state and its two actors; private to this folder.
//
// One mutex guards everything below it. It is not held while bytes move, while anybody waits, or while an observer is
// called. The link is a token (link_busy_): whoever moves bytes holds it, the acquiring thread itself for a demand, the
// prefetch thread for prefetches, which steps back while a demand waits. With an imitated link the bytes are copied at
// once and the block counts as arrived at the virtual end of its transfer (ready_at): a consumer waits until then by
// the clock, so no thread has to wake another in time.
//
// A prefetch keeps one pin on its block (loading_pin) from its issue until it is complete.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dmprof/cachemodel/cache.h"
#include "samples/engine/streaming/buffer_pool.h"
#include "samples/engine/streaming/outbox.h"
#include "samples/engine/streaming/streamer.h"
#include "samples/engine/streaming/virtual_link.h"

namespace dmengine {

// One block of one model and the memory it takes when resident.
struct StreamedBlock {
  std::uint32_t model = 0;
  Extent extent;
  std::uint64_t memory = 0;
};

class BlockStreamer::Core {
 public:
  // Throws std::system_error when the prefetching thread cannot start.
  Core(std::vector<StreamedBlock> blocks, std::vector<std::unique_ptr<BackingStore>> stores,
       std::shared_ptr<dmprof::cachemodel::TransitionMatrix> matrix, const StreamingOptions& options,
       StreamObserver* observer, StreamClock& clock);
  ~Core();

  // The public interface behind the streamer's, see there.
  dmprof::Result<std::span<const std::byte>> acquire(BlockId block);
  void release(BlockId block);
  std::vector<dmprof::cachemodel::Predicted> predict_path() const;
  std::uint32_t schedule(const std::vector<dmprof::cachemodel::Predicted>& path);
  StreamingStats stats() const;
  dmprof::Status set_resident_bytes(std::uint64_t bytes);
  void set_policy(dmprof::cachemodel::PolicyKind policy);
  void set_prefetch_distance(std::uint32_t accesses);
  void set_max_outstanding(std::uint32_t requests);
  dmprof::Status save_transitions(const std::string& path) const;
  std::uint64_t resident_bytes() const;
  std::uint64_t used_bytes() const;
  std::string describe_backing() const;
  const std::vector<StreamedBlock>& blocks() const { return blocks_; }
  std::uint32_t max_held() const { return max_held_; }
  const BackingSpec& backing() const { return options_.backing; }

 private:
  using Lock = std::unique_lock<std::mutex>;
  enum class SlotState : std::uint8_t { queued, moving, arrived, failed };
  enum class Asker : std::uint8_t { demand, prefetch };
  struct Slot {
    Buffer buffer;
    std::size_t offset = 0;  // of the block in the buffer
    SlotState state = SlotState::queued;
    bool loading_pin = false;  // a prefetch that is not complete yet
    std::int64_t issue = 0;
    std::int64_t ready_at = 0;
    Asker moved_by = Asker::demand;  // the last attempt
    std::string error;
  };

  // core_acquire.cc
  StreamPrediction learn(BlockId block);
  dmprof::Status fetch(Lock& lock, StreamAccess& access, Outbox& out);
  dmprof::Status await(Lock& lock, BlockId block, Outbox& out);
  void transfer(Lock& lock, BlockId block, Asker asker, Outbox& out);
  void wait_until_arrived(Lock& lock, BlockId block);
  void drop(BlockId block);
  // `prefetched`: the block they make room for, nothing where a demand or a smaller budget throws them out.
  void put_away(const std::vector<dmprof::cachemodel::Evicted>& evicted, std::optional<BlockId> prefetched,
                std::int64_t now, Outbox& out);

  // core_prefetch.cc
  void plan(Outbox& out);
  std::uint32_t issue_prefetches(const std::vector<dmprof::cachemodel::Predicted>& path, Outbox& out);
  bool issue_prefetch(BlockId block, std::int64_t now, Outbox& out);
  void complete_prefetch(BlockId block, Outbox& out);
  void cancel_prefetch(BlockId block, Outbox& out);
  void cancel_queued(Outbox& out);
  void prefetch_loop();
  void sleep_unless_stopped(std::int64_t until);
  std::uint64_t room_for_demand() const { return max_held_ * largest_memory_; }

  const std::vector<StreamedBlock> blocks_;
  const StreamingOptions options_;
  StreamObserver* const observer_;
  StreamClock& clock_;
  std::uint64_t largest_memory_ = 0;
  std::uint32_t max_held_ = 1;

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // the link became free, a block arrived or failed
  std::condition_variable wake_;     // work for the prefetch thread
  std::vector<std::unique_ptr<BackingStore>> stores_;
  std::shared_ptr<dmprof::cachemodel::TransitionMatrix> matrix_;
  dmprof::cachemodel::BlockCache cache_;
  BufferPool pool_;
  std::optional<VirtualLink> link_;
  std::unordered_map<BlockId, Slot> slots_;  // one for each resident block
  std::deque<BlockId> queue_;                // prefetches that have not begun
  std::unordered_set<BlockId> evicted_by_prefetch_;
  StreamingStats stats_;
  std::uint32_t prefetch_distance_;
  std::uint32_t max_outstanding_;
  std::uint32_t outstanding_ = 0;  // prefetches issued and neither complete nor cancelled
  std::uint64_t outstanding_memory_ = 0;
  std::uint32_t demands_waiting_ = 0;   // for the link
  std::uint32_t accesses_to_plan_ = 0;  // until the next plan when everything goes as predicted
  bool plan_was_cut_ = false;           // by max_outstanding or room: worth another try when a prefetch is complete
  bool link_busy_ = false;
  bool stop_ = false;
  std::thread prefetcher_;  // last: starts when all else exists
};

}  // namespace dmengine
