#include "samples/simcard/card/verify_pass.h"

#include <algorithm>

namespace dmprof::simcard {

VerifyPass::VerifyPass(Simulation& simulation, const CardParameters& parameters, const Selection& selection,
                       Store& store, Channels& channels, CardObserver* observer, Actor& owner, std::uint32_t kind)
    : simulation_(simulation),
      parameters_(parameters),
      selection_(selection),
      store_(store),
      channels_(channels),
      observer_(observer),
      owner_(owner),
      owner_kind_(kind),
      predicted_(parameters.model.selection.layers),
      accesses_per_layer_(parameters.model.selection.per_token) {}

void VerifyPass::predicted(BlockNumber block, std::uint32_t layer) { predicted_[layer].push_back(block); }

void VerifyPass::begin(std::uint64_t step, std::vector<VerifyToken> tokens, std::uint64_t kv_tokens) {
  step_ = step;
  tokens_ = std::move(tokens);
  kv_tokens_ = kv_tokens;
  layer_ = 0;
  totals_ = {};
  running_ = true;
  stream(0);
  start_layer();
}

// Dense weights and KV of a layer are known beforehand, so they are fetched one layer ahead, past the cache.
void VerifyPass::stream(std::uint32_t layer) {
  if (layer >= parameters_.model.selection.layers) return;
  const SimTime start = simulation_.now();
  const std::uint64_t kv = kv_tokens_ * parameters_.model.kv_bytes;
  const std::uint64_t bytes = parameters_.model.dense_bytes + kv;
  streamed_ = channels_.stream(start, bytes);
  totals_.parameter_bytes += parameters_.model.dense_bytes;
  totals_.kv_bytes += kv;
  if (observer_ != nullptr) observer_->on_stream(StreamKind::weights, bytes, start, streamed_);
}

// The blocks of the layer, each once, in order of the first token that needs it; how many tokens need it.
void VerifyPass::gather(std::uint32_t layer) {
  scratch_.clear();
  needs_.clear();
  for (const VerifyToken& token : tokens_) selection_.append(token.context, token.occasion, layer, scratch_);
  std::sort(scratch_.begin(), scratch_.end());
  for (const BlockNumber block : scratch_) {
    if (needs_.empty() || needs_.back().block != block) needs_.push_back({block, {}, 0});
    ++needs_.back().tokens;
  }
}

void VerifyPass::start_layer() {
  const SimTime start = simulation_.now();
  const ModelShape& model = parameters_.model;
  gather(layer_);
  for (Need& need : needs_) need.asked = store_.ask(need.block);
  const SimTime begun = std::max(start, streamed_);
  stream(layer_ + 1);
  LayerReport report;
  report.start = start;
  report.step = step_;
  const double tokens = static_cast<double>(tokens_.size());
  const auto dense_flops =
      static_cast<std::uint64_t>(2 * tokens * static_cast<double>(model.dense_bytes) / model.bytes_per_parameter);
  report.flops = dense_flops;
  const SimTime done =
      work_through(begun + time_for(static_cast<double>(dense_flops), parameters_.compute.peak_flops), report);
  report.end = done;
  report.bytes = model.dense_bytes + kv_tokens_ * model.kv_bytes + needs_.size() * model.block_bytes;
  totals_.parameter_bytes += needs_.size() * model.block_bytes;
  totals_.flops += report.flops;
  totals_.stall += report.stall;
  totals_.l1_bytes += report.l1_bytes;
  totals_.accesses += needs_.size();
  accesses_per_layer_ += (static_cast<double>(needs_.size()) - accesses_per_layer_) / 64;
  if (observer_ != nullptr) observer_->on_layer(report);
  simulation_.at(done + parameters_.compute.layer_sync, *this, 0);
}

SimTime VerifyPass::work_through(SimTime at, LayerReport& report) {
  const ModelShape& model = parameters_.model;
  std::stable_sort(needs_.begin(), needs_.end(),
                   [](const Need& a, const Need& b) { return a.asked.ready < b.asked.ready; });
  const double parameters_of_block = static_cast<double>(model.block_bytes) / model.bytes_per_parameter;
  const SimTime read = time_for(static_cast<double>(model.block_bytes), parameters_.memory.l1_bandwidth);
  std::vector<BlockNumber>& expected = predicted_[layer_];
  std::sort(expected.begin(), expected.end());
  bool first = true;
  for (const Need& need : needs_) {
    const SimTime wait = std::max<SimTime>(0, need.asked.ready - at);
    if (observer_ != nullptr) {
      observer_->on_access({.time = at,
                            .wait = wait,
                            .block = need.block,
                            .bytes = model.block_bytes,
                            .step = step_,
                            .outcome = need.asked.outcome,
                            .origin = need.asked.origin,
                            .predicted = !expected.empty(),
                            .predicted_right = std::binary_search(expected.begin(), expected.end(), need.block)});
    }
    report.stall += wait;
    at += wait;
    // From L1 a block is read at L1's bandwidth, the first one's latency shows; a demand fetch goes on to L0 as it
    // comes.
    const bool from_l1 = need.asked.outcome != Found::miss;
    const auto flops = static_cast<std::uint64_t>(2 * parameters_of_block * need.tokens);
    const SimTime arithmetic = time_for(static_cast<double>(flops), parameters_.compute.peak_flops);
    const SimTime memory = from_l1 ? read + (first ? parameters_.memory.l1_latency : 0) : parameters_.memory.l0_latency;
    at += std::max(arithmetic, memory);
    first = first && !from_l1;
    report.flops += flops;
    if (from_l1) {
      report.l1_bytes += model.block_bytes;
      report.l1_time += read;
    }
  }
  return at;
}

void VerifyPass::end_layer() {
  for (const Need& need : needs_) {
    if (need.asked.held) store_.release(need.block);
  }
  ++layer_;
  store_.cancel_before(layer_ * kOrdersPerLayer);
}

void VerifyPass::on_event(std::uint32_t, std::uint64_t) {
  end_layer();
  if (layer_ < parameters_.model.selection.layers) return start_layer();
  for (std::vector<BlockNumber>& each : predicted_) each.clear();
  running_ = false;
  owner_.on_event(owner_kind_, 0);
}

}  // namespace dmprof::simcard
