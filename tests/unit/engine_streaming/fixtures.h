// A model of random blocks in a file, a clock that only moves when told, and an observer that adds everything up.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "samples/engine/streaming/streamer.h"

namespace dmengine {

inline std::string temporary_path(const std::string& name) {
  return (std::filesystem::path(testing::TempDir()) / ("dmstream_" + std::to_string(::getpid()) + "_" + name)).string();
}

// Time stands still except where a consumer waits for a block, or a test moves it. The prefetch thread's sleeps do not
// move it.
class StillClock final : public StreamClock {
 public:
  std::int64_t now() override { return now_; }
  void wait_until(std::int64_t time) override {
    std::int64_t before = now_;
    while (before < time && !now_.compare_exchange_weak(before, time)) {
    }
  }
  void sleep_until(std::int64_t) override { std::this_thread::sleep_for(std::chrono::microseconds(20)); }
  void advance(std::int64_t time) { now_ += time; }

 private:
  std::atomic<std::int64_t> now_{1'000'000};
};

struct Model {
  std::string path;
  std::vector<std::byte> bytes;
  std::shared_ptr<ModelLayout> layout = std::make_shared<ModelLayout>();

  // Blocks of the given sizes, one after another behind a header of odd length.
  Model(const std::string& name, const std::vector<std::uint64_t>& sizes, std::uint64_t header = 1234)
      : path(temporary_path(name)) {
    std::uint64_t offset = header;
    for (const std::uint64_t size : sizes) {
      BlockInfo block;
      block.id = static_cast<std::uint32_t>(layout->blocks.size());
      block.file_offset = offset;
      block.bytes = size;
      layout->blocks.push_back(block);
      offset += size;
    }
    bytes.resize(offset);
    std::mt19937 random(static_cast<std::uint32_t>(sizes.size()));
    for (std::byte& each : bytes) each = static_cast<std::byte>(random());
    layout->path = path;
    layout->file_bytes = offset;
    write();
  }
  ~Model() { std::filesystem::remove(path); }
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  void write() const {
    std::ofstream out(path, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  bool is_block(std::uint32_t block, std::span<const std::byte> got) const {
    const BlockInfo& info = layout->blocks[block];
    return got.size() == info.bytes &&
           std::equal(got.begin(), got.end(), bytes.begin() + static_cast<std::ptrdiff_t>(info.file_offset));
  }
};

class Tally final : public StreamObserver {
 public:
  void on_access(const StreamAccess& access) override {
    const std::lock_guard lock(mutex_);
    accesses.push_back(access);
    total.hits += access.outcome == StreamOutcome::hit;
    total.late += access.outcome == StreamOutcome::late;
    total.misses += access.outcome == StreamOutcome::miss;
    total.first_uses_of_prefetched += access.origin == StreamOrigin::prefetched;
    total.predicted_right += access.prediction == StreamPrediction::right;
    total.predicted_wrong += access.prediction == StreamPrediction::wrong;
    total.predicted_none += access.prediction == StreamPrediction::none;
    total.pollution_misses += access.polluted;
    total.wait_ns += access.wait;
  }
  void on_prefetch(const StreamPrefetch& prefetch) override {
    const std::lock_guard lock(mutex_);
    switch (prefetch.point) {
      case StreamPrefetchPoint::issued:
        ++total.prefetches_issued;
        break;
      case StreamPrefetchPoint::completed:
        ++total.prefetches_completed;
        break;
      case StreamPrefetchPoint::evicted_unused:
        ++total.prefetches_evicted_unused;
        break;
      case StreamPrefetchPoint::cancelled:
        ++total.prefetches_cancelled;
        break;
      case StreamPrefetchPoint::displaced:
        ++total.prefetches_displaced;
        break;
    }
    prefetches.push_back(prefetch);
  }
  void on_transfer(const StreamTransfer& transfer) override {
    const std::lock_guard lock(mutex_);
    transfers.push_back(transfer);
    ++total.transfers;
    total.transfer_bytes += transfer.bytes;
    total.transfer_ns += transfer.duration;
  }
  void on_stage(StreamStage stage, std::int64_t, std::int64_t, std::uint64_t mark) override {
    const std::lock_guard lock(mutex_);
    ++(stage == StreamStage::path_prediction ? predictions : schedulings);
    stage_marks.push_back(mark);
  }
  std::uint64_t mark() const override { return now.load(); }

  std::atomic<std::uint64_t> now{0};  // the caller's step
  std::vector<std::uint64_t> stage_marks;

  std::vector<StreamAccess> accesses;
  std::vector<StreamPrefetch> prefetches;
  std::vector<StreamTransfer> transfers;
  StreamingStats total;
  std::uint64_t predictions = 0;
  std::uint64_t schedulings = 0;

 private:
  std::mutex mutex_;
};

inline constexpr std::uint64_t kBlock = 8192;

inline StreamingOptions throttled(std::uint64_t resident, double bytes_per_second = 1e9,
                                  std::int64_t latency = 10'000) {
  StreamingOptions options;
  options.resident_bytes = resident;
  options.backing = {true, {bytes_per_second, latency}};
  return options;
}

inline std::unique_ptr<BlockStreamer> open_or_die(std::vector<std::shared_ptr<const ModelLayout>> models,
                                                  const StreamingOptions& options, StreamObserver* observer,
                                                  StreamClock& clock) {
  auto streamer = BlockStreamer::open(std::move(models), options, observer, clock);
  if (!streamer) throw std::runtime_error(streamer.error().message);
  return std::move(*streamer);
}

// One forward pass: every block in order, as many at once as the source allows or `group`; checks every byte.
inline void pass(WeightSource& weights, const Model& model, std::uint32_t group = 0) {
  const auto blocks = static_cast<std::uint32_t>(model.layout->blocks.size());
  if (group == 0) group = weights.max_held();
  for (std::uint32_t first = 0; first < blocks; first += group) {
    const std::uint32_t end = std::min(blocks, first + group);
    for (std::uint32_t block = first; block < end; ++block) {
      const auto got = weights.acquire(block);
      ASSERT_TRUE(got) << got.error().message;
      ASSERT_TRUE(model.is_block(block, *got)) << block;
    }
    for (std::uint32_t block = first; block < end; ++block) weights.release(block);
  }
}

}  // namespace dmengine
