// Verification: the target's pass over the proposed tokens of a batch, layer by layer. The modules work in lockstep on
// one block after the other; a block that is there is worked on at once, one under way when it has come.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "samples/simcard/card/observer.h"
#include "samples/simcard/card/parameters.h"
#include "samples/simcard/memory/module_cache.h"

namespace dmprof::simcard {

struct VerifyToken {
  Context context = 0;
  std::uint64_t occasion = 0;
  std::uint64_t sequence = 0, length = 0;  // whose KV it reads, of that many tokens
};

struct VerifyTotals {
  std::uint64_t parameter_bytes = 0, kv_bytes = 0, l1_bytes = 0, flops = 0;
  std::uint64_t block_bytes = 0;  // read by the modules as blocks, from whichever tier
  std::uint64_t accesses = 0;
  SimTime stall = 0;
  SimTime load = 0;  // from asking to having, summed over the blocks
};

class VerifyPass : public Actor {
 public:
  // `owner` is told on_event(kind, 0) when the last layer has ended.
  VerifyPass(Simulation& simulation, const CardParameters& parameters, const Selection& selection,
             const Attention& attention, Store& store, Channels& channels, CardObserver* observer, Actor& owner,
             std::uint32_t kind);

  // A block was predicted for a layer of the coming or running pass.
  void predicted(BlockNumber block, std::uint32_t layer);
  // `tokens` are swapped for those of the pass before, whose memory the caller may use again.
  void begin(std::uint64_t step, std::vector<VerifyToken>& tokens, std::uint64_t kv_tokens);
  // What the pass's token `index` needed, layer after layer; until the next pass begins.
  std::span<const BlockNumber> chosen(std::size_t index) const;
  // The blocks of KV that it read, likewise; none where attention is dense.
  std::span<const BlockNumber> chosen_kv(std::size_t index) const {
    return index < chosen_kv_.size() ? std::span<const BlockNumber>(chosen_kv_[index]) : std::span<const BlockNumber>();
  }
  const VerifyTotals& totals() const { return totals_; }
  const ModuleCacheStatistics& l0_statistics() const { return l0_.statistics(); }
  // Accesses that a layer makes to L1, lately, for foreseeing uses.
  double accesses_per_layer() const { return accesses_per_layer_; }
  // The first layer that has not asked for its blocks yet; 0 while no pass runs.
  std::uint32_t next_layer() const { return running_ ? layer_ + 1 : 0; }
  static constexpr std::uint64_t kOrdersPerLayer = 1 << 20;

  void on_event(std::uint32_t kind, std::uint64_t argument) override;

 private:
  enum class Source : std::uint8_t { l0, l1, l2 };
  struct Need {
    BlockNumber block = 0;
    std::uint64_t bytes = 0;
    Asked asked;
    Source from = Source::l0;
    std::uint32_t tokens = 0;  // that need it
  };

  void stream(std::uint32_t layer);
  void gather(std::uint32_t layer);
  void ask(Need& need);
  void report_access(const Need& need, SimTime at, SimTime wait);
  void start_layer();
  SimTime work_through(SimTime start, LayerReport& report);
  void end_layer();

  Simulation& simulation_;
  const CardParameters& parameters_;
  const Selection& selection_;
  const Attention& attention_;
  ModuleCache l0_;
  Store& store_;
  Channels& channels_;
  CardObserver* observer_;
  Actor& owner_;
  std::uint32_t owner_kind_;

  std::uint64_t step_ = 0;
  std::vector<VerifyToken> tokens_;
  std::uint64_t kv_tokens_ = 0;
  std::uint32_t layer_ = 0;
  bool running_ = false;
  SimTime streamed_ = 0;     // when this layer's dense weights and KV are there
  double l1_bandwidth_ = 0;  // for the layer's reads
  std::vector<Need> needs_;
  std::size_t per_token_;                            // choices of a token in a layer
  std::vector<BlockNumber> chosen_;                  // by token, layer, choice
  std::vector<std::vector<BlockNumber>> chosen_kv_;  // by token: layer after layer, as many in each
  std::vector<BlockNumber> scratch_;                 // the layer's
  std::vector<std::vector<BlockNumber>> predicted_;  // by layer; kept for an observer only
  VerifyTotals totals_;
  double accesses_per_layer_;
};

}  // namespace dmprof::simcard
