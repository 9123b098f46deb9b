#include "samples/simcard/card/card.h"

#include <algorithm>

#include "samples/simcard/card/energy.h"

namespace dmprof::simcard {
Card::Card(Simulation& simulation, const CardParameters& parameters, const Language& language,
           const Selection& selection, const Attention& attention, std::uint64_t seed, std::uint32_t index,
           CardObserver* observer)
    : simulation_(simulation),
      parameters_(parameters),
      seed_(mix(seed, index)),
      observer_(observer),
      language_(language),
      attention_(attention),
      predictor_(parameters.predictor, parameters.model.selection),
      kv_predictor_(parameters.predictor, {.layers = parameters.model.selection.layers, .blocks = kMostKvBlocks}),
      channels_(parameters.memory),
      store_(simulation, parameters.memory, parameters.model.block_bytes,
             static_cast<cachemodel::PolicyKind>(parameters.settings.cache_policy), channels_,
             observer != nullptr ? this : nullptr),
      engines_(simulation, parameters.engine.engines, 0, SIZE_MAX, this),
      pass_(simulation, parameters, selection, attention, store_, channels_, observer, *this, verified),
      token_time_(draft_token_time(parameters, parameters.settings.draft_billions)),
      next_request_((std::uint64_t{index} << 40) + 1) {
  set_interleave(parameters.settings.interleave);
  if (observer_ != nullptr) tell_energy();
}

void Card::settle() {
  store_.settle();
  if (observer_ != nullptr) tell_energy();
}

void Card::tell_energy() {
  const SimTime now = simulation_.now();
  observer_->on_energy(
      now, energy_of(parameters_, statistics_, pass_.l0_statistics(), store_.statistics(), l2_moved(), seconds(now))
               .total());
}

void Card::set_interleave(bool on) { engines_.set_turn(on ? std::max<SimTime>(token_time_, 1) : 0); }

void Card::account() {
  statistics_.present += seconds(simulation_.now() - accounted_) * static_cast<double>(in_flight());
  accounted_ = simulation_.now();
}

CardStatistics Card::statistics() {
  account();
  CardStatistics now = statistics_;
  for (const auto& each : waiting_) now.unfinished += seconds(simulation_.now() - each->arrived);
  for (const auto& each : batch_) now.unfinished += seconds(simulation_.now() - each->arrived);
  return now;
}

bool Card::submit(std::uint32_t prompt, std::uint32_t output, Actor* ended, std::uint32_t kind) {
  account();
  ++statistics_.arrived;
  if (waiting_.size() >= parameters_.most_waiting) {
    ++statistics_.refused;
    return false;
  }
  const std::uint64_t request = next_request_++;
  waiting_.push_back(std::make_unique<Sequence>(Sequence{
      request, prompt, output, 0, simulation_.now(), ended, kind, Path(language_, seed_, request), 0, 0, 0, {}}));
  if (observer_ != nullptr) {
    observer_->on_request(RequestMoment::arrive, request, simulation_.now(), prompt);
    observer_->on_queue(simulation_.now(), batch_.size(), waiting_.size());
  }
  wake();
  return true;
}

void Card::wake() {
  if (awake_) return;
  awake_ = true;
  simulation_.after(0, *this, start_step);
}

std::uint32_t Card::room() const {
  const std::uint32_t most = parameters_.settings.max_concurrent;
  return most == 0 ? parameters_.most_batch : std::min(most, parameters_.most_batch);
}

bool Card::admit() {
  while (!waiting_.empty() && batch_.size() < room()) {
    batch_.push_back(std::move(waiting_.front()));
    waiting_.pop_front();
    ++fresh_;
    if (observer_ != nullptr)
      observer_->on_request(RequestMoment::schedule, batch_.back()->request, simulation_.now(), 0);
  }
  if (observer_ != nullptr) observer_->on_queue(simulation_.now(), batch_.size(), waiting_.size());
  return fresh_ > 0;
}

void Card::begin_step() {
  const bool prefill = admit();
  if (batch_.empty()) {
    awake_ = false;
    return;
  }
  ++step_;
  step_start_ = simulation_.now();
  moved_before_ = l2_moved();
  report_ = {};
  report_.step = step_;
  report_.start = step_start_;
  report_.waiting = static_cast<std::uint32_t>(waiting_.size());
  if (prefill) return begin_prefill();
  simulation_.after(parameters_.compute.step_host, *this, launched);
}

// A prompt touches nearly every block: the slice is streamed once, past the cache.
void Card::begin_prefill() {
  const ModelShape& model = parameters_.model;
  std::uint64_t tokens = 0;
  for (std::size_t i = batch_.size() - fresh_; i < batch_.size(); ++i) tokens += batch_[i]->prompt;
  const std::uint64_t bytes = model.parameter_bytes();
  const double active = static_cast<double>(
      model.selection.layers * (model.dense_bytes + std::uint64_t{model.selection.per_token} * model.block_bytes));
  const auto flops = static_cast<std::uint64_t>(2 * static_cast<double>(tokens) * active / model.bytes_per_parameter);
  const SimTime start = simulation_.now() + parameters_.compute.step_host;
  const SimTime streamed = channels_.stream(start, bytes);
  const SimTime done =
      std::max(streamed, start + time_for(static_cast<double>(flops), parameters_.compute.peak_flops)) +
      model.selection.layers * parameters_.compute.layer_sync;
  report_.prefill = true;
  report_.batch = static_cast<std::uint32_t>(fresh_);
  report_.target_tokens = tokens;
  report_.verify_time = done - start;
  report_.parameter_bytes = bytes;
  report_.flops = flops;
  if (observer_ != nullptr) {
    observer_->on_stage(Stage::host, step_start_, start, step_);
    observer_->on_stage(Stage::prefill, start, done, step_);
    observer_->on_stream(StreamKind::weights, bytes, start, streamed);
  }
  simulation_.at(done, *this, prefilled);
}

void Card::end_prefill() {
  report_.end = simulation_.now();
  ++statistics_.prefill_steps;
  statistics_.flops += report_.flops;
  if (observer_ != nullptr) {
    observer_->on_step(report_);
    tell_energy();
    for (std::size_t i = batch_.size() - fresh_; i < batch_.size(); ++i)
      observer_->on_request(RequestMoment::first_token, batch_[i]->request, simulation_.now(), 0);
  }
  for (std::size_t i = batch_.size() - fresh_; i < batch_.size(); ++i) {
    batch_[i]->emitted = 1;
    batch_[i]->path.emit(1);
  }
  statistics_.emitted += fresh_;
  fresh_ = 0;
  std::erase_if(batch_, [this](const std::unique_ptr<Sequence>& each) {
    if (each->emitted < each->output) return false;
    finish(*each);
    return true;
  });
  begin_step();
}

void Card::begin_draft() {
  drafting_ = 0;
  predicting_ = parameters_.prefetch;
  for (const std::unique_ptr<Sequence>& each : batch_) {
    Sequence& sequence = *each;
    const std::uint32_t left = sequence.output - sequence.emitted;
    const bool drafts = parameters_.settings.draft_billions > 0;
    sequence.drafts = drafts ? std::min(parameters_.settings.lookahead, left - 1) : 0;
    sequence.path.draft(parameters_.acceptance, parameters_.settings.draft_billions, sequence.drafts, sequence.length(),
                        sequence.proposals);
    sequence.announced = 0;
    if (parameters_.prefetch) predict(sequence, sequence.path.head(), 0);
    if (sequence.drafts > 0) ++drafting_;
  }
  if (drafting_ == 0) {
    simulation_.after(0, *this, drafted);
    return;
  }
  for (std::size_t i = 0; i < batch_.size(); ++i) {
    if (batch_[i]->drafts > 0) engines_.submit({batch_[i]->drafts * token_time_, this, drafted, i});
  }
}

// A stretch of drafting starts: its tokens come one after the other.
void Card::on_start(const Job& job, std::uint32_t, SimTime length) {
  const SimTime tokens = token_time_ > 0 ? length / token_time_ : batch_[job.argument]->drafts;
  for (SimTime k = 0; k < tokens; ++k) {
    const SimTime start = simulation_.now() + k * token_time_;
    simulation_.at(start, *this, draft_reads);
    simulation_.at(start + token_time_, *this, draft_token, job.argument);
  }
}

void Card::on_service(const Job& job, std::uint32_t unit, SimTime start) {
  if (observer_ != nullptr) observer_->on_engine(unit, start, simulation_.now(), batch_[job.argument]->request);
}

void Card::read_draft() {
  const std::uint64_t bytes = draft_token_bytes(parameters_, parameters_.settings.draft_billions);
  if (bytes == 0) return;
  const SimTime streamed = channels_.stream(simulation_.now(), bytes);
  if (observer_ != nullptr) observer_->on_stream(StreamKind::draft, bytes, simulation_.now(), streamed);
}

void Card::begin_verification() {
  verify_start_ = simulation_.now();
  std::uint64_t kv_tokens = 0;
  tokens_.clear();
  for (const std::unique_ptr<Sequence>& each : batch_) {
    each->first_token = tokens_.size();
    tokens_.push_back({each->path.head(), occasion(*each, 0), each->request, each->length()});
    for (std::size_t k = 0; k < each->proposals.size(); ++k)
      tokens_.push_back({each->proposals[k], occasion(*each, k + 1), each->request, each->length() + k + 1});
    if (!attention_.sparse()) kv_tokens += each->length();
  }
  report_.target_tokens = tokens_.size();
  pass_.begin(step_, tokens_, kv_tokens);
}

std::uint64_t Card::occasion(const Sequence& sequence, std::uint64_t ahead) const {
  return mix(seed_ ^ sequence.request, sequence.length() + ahead);
}

void Card::end_verification() {
  verify_end_ = simulation_.now();
  predicting_ = false;
  store_.cancel_before(UINT64_MAX);
  simulation_.after(static_cast<SimTime>(report_.target_tokens) * parameters_.compute.accept_token, *this, accepted);
}

SpeculationReport Card::judge(Sequence& sequence) {
  SpeculationReport report;
  report.step = step_;
  report.request = sequence.request;
  report.end = simulation_.now();
  report.position = sequence.length();
  report.drafted = sequence.drafts;
  report.accepted = sequence.path.accepted(sequence.drafts);
  report.emitted = report.accepted + 1;
  report.draft_time = report_.draft_time;
  report.verify_time = report_.verify_time;
  report.accept_time = report_.accept_time;
  return report;
}

void Card::finish(Sequence& sequence) {
  account();
  ++statistics_.completed;
  const double sojourn = seconds(simulation_.now() - sequence.arrived);
  statistics_.sojourn += sojourn;
  statistics_.longest = std::max(statistics_.longest, sojourn);
  if (observer_ != nullptr)
    observer_->on_request(RequestMoment::end, sequence.request, simulation_.now(), sequence.emitted);
  if (sequence.ended != nullptr) simulation_.after(0, *sequence.ended, sequence.kind);
}

void Card::end_step() {
  const SimTime now = simulation_.now();
  const VerifyTotals& totals = pass_.totals();
  report_.end = now;
  report_.batch = static_cast<std::uint32_t>(batch_.size());
  report_.draft_time = verify_start_ - step_start_ - parameters_.compute.step_host;
  report_.verify_time = verify_end_ - verify_start_;
  report_.accept_time = now - verify_end_;
  report_.parameter_bytes = totals.parameter_bytes;
  report_.kv_bytes = totals.kv_bytes;
  report_.flops = totals.flops;
  ++statistics_.steps;
  statistics_.accesses += totals.accesses;
  statistics_.flops += totals.flops;
  statistics_.l1_bytes += totals.l1_bytes;
  statistics_.block_bytes += totals.block_bytes;
  statistics_.decode_l2_bytes += std::max(l2_moved(), moved_before_) - moved_before_;
  statistics_.decode_time += seconds(now - step_start_);
  statistics_.draft_time += seconds(report_.draft_time);
  statistics_.verify_time += seconds(report_.verify_time);
  statistics_.stall_time += seconds(totals.stall);
  statistics_.load_time += seconds(totals.load);
  if (observer_ != nullptr) {
    const SimTime launch = step_start_ + parameters_.compute.step_host;
    observer_->on_stage(Stage::host, step_start_, launch, step_);
    observer_->on_stage(Stage::candidate_generation, launch, verify_start_, step_);
    observer_->on_stage(Stage::verification, verify_start_, verify_end_, step_);
    observer_->on_stage(Stage::acceptance, verify_end_, now, step_);
    observer_->on_step(report_);
    tell_energy();
  }
  account();
  std::erase_if(batch_, [this](const std::unique_ptr<Sequence>& each) {
    Sequence& sequence = *each;
    const SpeculationReport report = judge(sequence);
    if (parameters_.prefetch) learn(sequence, report.accepted);
    sequence.path.emit(report.emitted);
    sequence.emitted += report.emitted;
    statistics_.drafted += report.drafted;
    statistics_.accepted += report.accepted;
    statistics_.emitted += report.emitted;
    statistics_.decoded += report.emitted;
    if (observer_ != nullptr) observer_->on_speculation(report);
    if (sequence.emitted < sequence.output) return false;
    finish(sequence);
    return true;
  });
  begin_step();
}

void Card::on_event(std::uint32_t kind, std::uint64_t argument) {
  switch (kind) {
    case start_step:
      return begin_step();
    case prefilled:
      return end_prefill();
    case launched:
      return begin_draft();
    case draft_reads:
      return read_draft();
    case draft_token:
      return announce(*batch_[argument]);
    case blocks_known:
      return expect_blocks(argument);
    case drafted:
      if (drafting_ > 0 && --drafting_ > 0) return;
      return begin_verification();
    case verified:
      return end_verification();
    case accepted:
      return end_step();
    default:
      return;
  }
}

void Card::on_prefetch(const PrefetchNotice& notice) { observer_->on_prefetch(notice, simulation_.now(), step_); }

void Card::on_block_transfer(const BlockTransfer& transfer) { observer_->on_block_transfer(transfer); }

}  // namespace dmprof::simcard
