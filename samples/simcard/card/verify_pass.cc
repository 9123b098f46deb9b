#include "samples/simcard/card/verify_pass.h"

#include <algorithm>

namespace dmprof::simcard {

VerifyPass::VerifyPass(Simulation& simulation, const CardParameters& parameters, const Selection& selection,
                       const Attention& attention, Store& store, Channels& channels, CardObserver* observer,
                       Actor& owner, std::uint32_t kind)
    : simulation_(simulation),
      parameters_(parameters),
      selection_(selection),
      attention_(attention),
      l0_(l0_for_blocks(parameters)),
      store_(store),
      channels_(channels),
      observer_(observer),
      owner_(owner),
      owner_kind_(kind),
      per_token_(parameters.model.selection.blocks == 0 ? 0 : parameters.model.selection.per_token),
      predicted_(parameters.model.selection.layers),
      accesses_per_layer_(parameters.model.selection.per_token) {}

void VerifyPass::predicted(BlockNumber block, std::uint32_t layer) {
  if (observer_ != nullptr) predicted_[layer].push_back(block);
}

std::span<const BlockNumber> VerifyPass::chosen(std::size_t index) const {
  const std::size_t of_token = parameters_.model.selection.layers * per_token_;
  return {chosen_.data() + index * of_token, of_token};
}

void VerifyPass::begin(std::uint64_t step, std::vector<VerifyToken>& tokens, std::uint64_t kv_tokens) {
  step_ = step;
  tokens_.swap(tokens);
  chosen_.resize(tokens_.size() * parameters_.model.selection.layers * per_token_);
  if (attention_.sparse()) {
    if (chosen_kv_.size() < tokens_.size()) chosen_kv_.resize(tokens_.size());
    for (std::vector<BlockNumber>& each : chosen_kv_) each.clear();
  }
  kv_tokens_ = kv_tokens;
  layer_ = 0;
  totals_ = {};
  running_ = true;
  stream(0);
  start_layer();
}

// Dense weights, and the KV of dense attention, are known beforehand, so they are fetched one layer ahead, past the
// cache.
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

// The blocks of the layer, each once, in order of their numbers (so KV comes last); how many tokens need it.
void VerifyPass::gather(std::uint32_t layer) {
  const ModelShape& model = parameters_.model;
  scratch_.clear();
  needs_.clear();
  for (std::size_t i = 0; i < tokens_.size(); ++i) {
    const VerifyToken& token = tokens_[i];
    selection_.append(token.context, token.occasion, layer, scratch_);
    std::copy_n(scratch_.end() - static_cast<std::ptrdiff_t>(per_token_), per_token_,
                chosen_.begin() + static_cast<std::ptrdiff_t>((i * model.selection.layers + layer) * per_token_));
    if (!attention_.sparse()) continue;
    const auto before = static_cast<std::ptrdiff_t>(scratch_.size());
    attention_.append(token.sequence, token.length, token.context, token.occasion, layer, scratch_);
    chosen_kv_[i].insert(chosen_kv_[i].end(), scratch_.begin() + before, scratch_.end());
  }
  std::sort(scratch_.begin(), scratch_.end());
  for (const BlockNumber block : scratch_) {
    if (needs_.empty() || needs_.back().block != block)
      needs_.push_back({block, is_kv(block) ? model.kv_block_bytes() : model.block_bytes, {}, Source::l0, 0});
    ++needs_.back().tokens;
  }
}

void VerifyPass::ask(Need& need) {
  const SimTime now = simulation_.now();
  if (l0_.ask(need.block, need.bytes)) {
    need.asked = {Found::hit, Origin::resident, now, false};
    need.from = Source::l0;
  } else {
    need.asked = store_.ask(need.block, need.bytes);
    // What a demand fetch brings goes on to the modules as it comes.
    need.from = need.asked.outcome == Found::miss ? Source::l2 : Source::l1;
  }
  // To the modules: what comes from L2 goes on to them as it comes.
  const auto bytes = static_cast<double>(need.bytes);
  totals_.load += need.asked.ready - now +
                  (need.from == Source::l1 ? parameters_.memory.l1_latency + time_for(bytes, l1_bandwidth_)
                                           : parameters_.memory.l0_latency);
  (is_kv(need.block) ? totals_.kv_bytes : totals_.parameter_bytes) += need.bytes;
  totals_.block_bytes += need.bytes;
}

void VerifyPass::start_layer() {
  const SimTime start = simulation_.now();
  const ModelShape& model = parameters_.model;
  gather(layer_);
  l1_bandwidth_ = store_.bandwidth_for_reads();
  std::uint64_t bytes = 0, asked_of_l1 = 0;
  for (Need& need : needs_) {
    ask(need);
    bytes += need.bytes;
    asked_of_l1 += need.from == Source::l0 ? 0 : 1;
  }
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
  report.bytes = model.dense_bytes + kv_tokens_ * model.kv_bytes + bytes;
  totals_.flops += report.flops;
  totals_.stall += report.stall;
  totals_.l1_bytes += report.l1_bytes;
  totals_.accesses += needs_.size();
  accesses_per_layer_ += (static_cast<double>(asked_of_l1) - accesses_per_layer_) / 64;
  if (observer_ != nullptr) observer_->on_layer(report);
  simulation_.at(done + parameters_.compute.layer_sync, *this, 0);
}

void VerifyPass::report_access(const Need& need, SimTime at, SimTime wait) {
  AccessReport report;
  report.time = at;
  report.block = need.block;
  report.bytes = need.bytes;
  report.step = step_;
  report.tier = AskedTier::l0;
  report.outcome = need.from == Source::l0 ? Found::hit : Found::miss;
  report.origin = need.from == Source::l0 ? Origin::resident : Origin::demand;
  observer_->on_access(report);
  if (need.from == Source::l0) return;
  report.wait = wait;
  report.tier = AskedTier::l1;
  report.outcome = need.asked.outcome;
  report.origin = need.asked.origin;
  const std::vector<BlockNumber>& expected = predicted_[layer_];
  // Ids of KV are the largest: of either kind something was predicted where it stands at its end.
  report.predicted =
      !expected.empty() && is_kv(is_kv(need.block) ? expected.back() : expected.front()) == is_kv(need.block);
  report.predicted_right = std::binary_search(expected.begin(), expected.end(), need.block);
  observer_->on_access(report);
}

SimTime VerifyPass::work_through(SimTime at, LayerReport& report) {
  std::sort(needs_.begin(), needs_.end(), [](const Need& a, const Need& b) {
    return a.asked.ready != b.asked.ready ? a.asked.ready < b.asked.ready : a.block < b.block;
  });
  std::sort(predicted_[layer_].begin(), predicted_[layer_].end());
  bool first = true;
  for (const Need& need : needs_) {
    const SimTime wait = std::max<SimTime>(0, need.asked.ready - at);
    if (observer_ != nullptr) report_access(need, at, wait);
    report.stall += wait;
    at += wait;
    // From L1 a block is read at what fills leave of its bandwidth, the first one's latency shows; in L0 it is at hand.
    // Attention's arithmetic is small beside its reading and not counted.
    const bool from_l1 = need.from == Source::l1;
    const SimTime read = from_l1 ? time_for(static_cast<double>(need.bytes), l1_bandwidth_) : 0;
    const double parameters = static_cast<double>(need.bytes) / parameters_.model.bytes_per_parameter;
    const auto flops = is_kv(need.block) ? 0 : static_cast<std::uint64_t>(2 * parameters * need.tokens);
    const SimTime arithmetic = time_for(static_cast<double>(flops), parameters_.compute.peak_flops);
    const SimTime memory = from_l1 ? read + (first ? parameters_.memory.l1_latency : 0) : parameters_.memory.l0_latency;
    at += std::max(arithmetic, memory);
    first = first && !from_l1;
    report.flops += flops;
    report.l1_bytes += from_l1 ? need.bytes : 0;
    report.l1_time += read;
  }
  return at;
}

void VerifyPass::end_layer() {
  for (const Need& need : needs_) {
    if (need.from == Source::l0) continue;
    if (need.asked.held) store_.release(need.block);
    l0_.fill(need.block, need.bytes);
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
