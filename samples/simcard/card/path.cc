// The predicted path of a card: what its drafts announce, what is prefetched for them, and what verification teaches.
#include <algorithm>

#include "samples/simcard/card/card.h"

namespace dmprof::simcard {
namespace {

// What a blocks_known event carries: which token of the pass, its context, and the step.
constexpr unsigned kPlaceBits = 12, kContextBits = 24;
constexpr std::uint64_t kLastPlace = (1 << kPlaceBits) - 1;

std::uint64_t pack(std::uint64_t step, Context context, std::uint64_t place) {
  return (step << kContextBits | context) << kPlaceBits | std::min(place, kLastPlace);
}

// A context of one sequence. Two that meet in 32 bits predict for each other, as in a table of hashes.
Context own_context(std::uint64_t request, Context context) { return static_cast<Context>(mix(request, context)); }

}  // namespace

void Card::announce(Sequence& sequence) {
  const Context context = sequence.proposals[sequence.announced++];
  if (parameters_.prefetch) predict(sequence, context, sequence.announced);
}

// Looking up and queueing takes the engines' logic a moment; then the requests are in the queue.
void Card::predict(const Sequence& sequence, Context context, std::uint32_t place) {
  const SimTime now = simulation_.now();
  const SimTime scheduling = now + parameters_.engine.prediction;
  const SimTime done = scheduling + parameters_.engine.scheduling;
  if (observer_ != nullptr) observer_->on_prediction(now, scheduling, done, step_);
  if (attention_.sparse()) kv_lookups_.push_back({sequence.request, context});
  simulation_.at(done, *this, blocks_known, pack(step_, context, place));
}

// Layer first, then token: the order in which the pass will ask.
void Card::expect_blocks(std::uint64_t packed) {
  const std::uint64_t place = packed & kLastPlace;
  const auto context = static_cast<Context>(packed >> kPlaceBits & ((1u << kContextBits) - 1));
  KvLookup kv;
  if (attention_.sparse()) kv = kv_lookups_.front(), kv_lookups_.pop_front();
  if (!predicting_ || packed != pack(step_, context, place)) return;  // the step is over
  const std::uint32_t first = pass_.next_layer();
  const std::uint32_t blocks = parameters_.model.selection.blocks;
  predictions_.clear();
  predictor_.predict(context, first, predictions_);
  std::uint32_t layer = first;
  for (const BlockNumber block : predictions_) {
    while (block >= std::uint64_t{layer + 1} * blocks) ++layer;
    pass_.predicted(block, layer);
    const auto ahead = static_cast<std::uint64_t>(pass_.accesses_per_layer() * (layer - first));
    store_.expect(block, layer * VerifyPass::kOrdersPerLayer + place, ahead + 1);
  }
  if (attention_.sparse()) expect_kv(kv.request, context, place);
}

void Card::expect_kv(std::uint64_t request, Context context, std::uint64_t place) {
  const std::uint32_t first = pass_.next_layer();
  predictions_.clear();
  kv_predictor_.predict(own_context(request, context), first, predictions_);
  for (const BlockNumber local : predictions_) {
    const auto layer = static_cast<std::uint32_t>(local / kMostKvBlocks);
    const BlockNumber block = kv_block(request, layer, local % kMostKvBlocks);
    pass_.predicted(block, layer);
    const auto ahead = static_cast<std::uint64_t>(pass_.accesses_per_layer() * (layer - first));
    store_.expect(block, layer * VerifyPass::kOrdersPerLayer + place, ahead + 1, parameters_.model.kv_block_bytes());
  }
}

// The branches that verification took: the token it started from and the drafts it kept.
void Card::learn(const Sequence& sequence, std::uint32_t tokens) {
  for (std::uint32_t k = 0; k <= tokens; ++k) {
    const Context context = k == 0 ? sequence.path.head() : sequence.proposals[k - 1];
    predictor_.learn(context, pass_.chosen(sequence.first_token + k));
    if (!attention_.sparse()) continue;
    const std::span<const BlockNumber> read = pass_.chosen_kv(sequence.first_token + k);
    const std::size_t of_layer = read.size() / parameters_.model.selection.layers;
    kv_read_.clear();
    for (std::size_t i = 0; i < read.size(); ++i) kv_read_.push_back(i / of_layer * kMostKvBlocks + kv_index(read[i]));
    kv_predictor_.learn(own_context(sequence.request, context), kv_read_);
  }
}

}  // namespace dmprof::simcard
