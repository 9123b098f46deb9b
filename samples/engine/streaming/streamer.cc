#include "samples/engine/streaming/streamer.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "samples/engine/streaming/core.h"

namespace dmengine {

using dmprof::ErrorKind;
using dmprof::fail;
using dmprof::Result;
using dmprof::Status;
using dmprof::cachemodel::PolicyKind;
using dmprof::cachemodel::Predicted;
using dmprof::cachemodel::TransitionMatrix;
using dmprof::cachemodel::TransitionOptions;

class BlockStreamer::Source final : public WeightSource {
 public:
  Source(Core& core, BlockId first, std::uint32_t count) : core_(core), first_(first), count_(count) {}

  Result<std::span<const std::byte>> acquire(std::uint32_t block) override {
    if (block >= count_)
      return fail(ErrorKind::usage, fmt::format("block {} asked of a model that has {}", block, count_));
    return core_.acquire(first_ + block);
  }
  void release(std::uint32_t block) override {
    if (block < count_) core_.release(first_ + block);
  }
  std::uint32_t max_held() const override { return core_.max_held(); }
  BlockId first() const { return first_; }

 private:
  Core& core_;
  BlockId first_;
  std::uint32_t count_;
};

namespace {

Result<std::shared_ptr<TransitionMatrix>> make_matrix(const StreamingOptions& options, std::size_t blocks) {
  TransitionOptions bounds;
  bounds.order = options.matrix_order;
  bounds.max_rows = std::max(bounds.max_rows, 4 * blocks);
  if (options.load_transitions.empty()) return std::make_shared<TransitionMatrix>(bounds);
  auto loaded = TransitionMatrix::load(options.load_transitions, bounds);
  if (!loaded) return tl::unexpected(loaded.error());
  return std::make_shared<TransitionMatrix>(std::move(*loaded));
}

}  // namespace

BlockStreamer::BlockStreamer(std::unique_ptr<Core> core) : core_(std::move(core)) {}
BlockStreamer::~BlockStreamer() = default;

Result<std::unique_ptr<BlockStreamer>> BlockStreamer::open(std::vector<std::shared_ptr<const ModelLayout>> models,
                                                           const StreamingOptions& options, StreamObserver* observer,
                                                           StreamClock& clock) {
  std::vector<std::unique_ptr<BackingStore>> stores;
  std::vector<StreamedBlock> blocks;
  std::uint64_t largest = 0;
  for (const auto& layout : models) {
    auto store = options.backing.throttled ? open_memory_backing(layout->path, layout->file_bytes)
                                           : open_file_backing(layout->path, layout->file_bytes);
    if (!store) return tl::unexpected(store.error());
    for (const BlockInfo& info : layout->blocks) {
      const Extent extent{info.file_offset, info.bytes};
      blocks.push_back({static_cast<std::uint32_t>(stores.size()), extent, (*store)->buffer_bytes(extent)});
      largest = std::max(largest, blocks.back().memory);
    }
    stores.push_back(std::move(*store));
  }
  if (blocks.empty()) return fail(ErrorKind::usage, "streaming needs a model with at least one block of weights");
  if (options.resident_bytes < largest) {
    return fail(
        ErrorKind::usage,
        fmt::format(
            "--resident {}: the largest block takes {} bytes; give at least {} (twice that leaves room to prefetch)",
            options.resident_bytes, largest, largest));
  }
  auto matrix = make_matrix(options, blocks.size());
  if (!matrix) return tl::unexpected(matrix.error());
  std::unique_ptr<Core> core;
  try {
    core = std::make_unique<Core>(std::move(blocks), std::move(stores), std::move(*matrix), options, observer, clock);
  } catch (const std::system_error& error) {
    return fail(ErrorKind::environment,
                fmt::format("cannot start the thread that prefetches: {}; allow more processes (ulimit -u) and memory "
                            "(ulimit -v)",
                            error.code().message()));
  }
  std::unique_ptr<BlockStreamer> streamer(new BlockStreamer(std::move(core)));
  BlockId first = 0;
  for (const auto& layout : models) {
    const auto count = static_cast<std::uint32_t>(layout->blocks.size());
    streamer->sources_.push_back(std::make_unique<Source>(*streamer->core_, first, count));
    first += count;
  }
  return streamer;
}

WeightSource& BlockStreamer::weights(std::size_t model) { return *sources_.at(model); }
BlockId BlockStreamer::block_id(std::size_t model, std::uint32_t block) const {
  return sources_.at(model)->first() + block;
}
std::uint64_t BlockStreamer::block_bytes(BlockId block) const { return core_->blocks().at(block).extent.bytes; }
std::uint64_t BlockStreamer::blocks() const { return core_->blocks().size(); }
StreamingStats BlockStreamer::stats() const { return core_->stats(); }
std::string BlockStreamer::describe_backing() const { return core_->describe_backing(); }
std::uint64_t BlockStreamer::resident_bytes() const { return core_->resident_bytes(); }
std::uint64_t BlockStreamer::used_bytes() const { return core_->used_bytes(); }
double BlockStreamer::link_bandwidth() const {
  return core_->backing().throttled ? core_->backing().throttle.bytes_per_second : 0;
}
Status BlockStreamer::set_resident_bytes(std::uint64_t bytes) { return core_->set_resident_bytes(bytes); }
void BlockStreamer::set_policy(PolicyKind policy) { core_->set_policy(policy); }
void BlockStreamer::set_prefetch_distance(std::uint32_t accesses) { core_->set_prefetch_distance(accesses); }
void BlockStreamer::set_max_outstanding(std::uint32_t requests) { core_->set_max_outstanding(requests); }
Status BlockStreamer::save_transitions(const std::string& path) const { return core_->save_transitions(path); }
std::vector<Predicted> BlockStreamer::predict_path() const { return core_->predict_path(); }
std::uint32_t BlockStreamer::schedule(const std::vector<Predicted>& path) { return core_->schedule(path); }

}  // namespace dmengine
