#include "samples/engine/runtime/stepper.h"

#include <algorithm>

namespace dmengine {

Stepper::Stepper(Model& target, KvCache cache, Drafter* drafter, const Settings& settings,
                 std::optional<Token> end_of_text, Recorder& recorder)
    : target_(target),
      cache_(std::move(cache)),
      drafter_(drafter),
      settings_(settings),
      end_of_text_(end_of_text),
      recorder_(recorder),
      baseline_(drafter == nullptr ? 0 : settings.baseline_every, baseline_window) {}

void Stepper::open(std::uint32_t slot) {
  cache_.truncate(slot, 0);
  if (drafter_ != nullptr) drafter_->open(slot);
}

std::uint64_t Stepper::kv_bytes() const {
  std::uint64_t positions = 0;
  for (std::uint32_t slot = 0; slot < cache_.slots(); ++slot) positions += cache_.length(slot);
  return positions * cache_.bytes_per_position();
}

Status Stepper::run(std::span<Sequence* const> batch, std::uint32_t waiting) {
  const bool prefill = std::any_of(batch.begin(), batch.end(), [](const Sequence* s) { return s->chunk > 0; });
  recorder_.begin_step(++step_, prefill ? DMPROF_PREFILL : DMPROF_DECODE);
  plain_ = !prefill && baseline_.next();
  plan_drafts(batch);
  const Stage pass = prefill ? Stage::prefill : Stage::verification;
  if (needs_draft(batch)) {
    times_.start = recorder_.enter(Stage::candidate_generation);
    DMPROF_TRY(drafter_->propose(batch));
    times_.drafted = recorder_.enter(pass);
  } else {
    times_.start = times_.drafted = recorder_.enter(pass);
  }
  const ForwardStats before = stats_;
  DMPROF_TRY(verify(batch));
  times_.verified = recorder_.enter(Stage::acceptance);
  accept(batch);
  times_.end = recorder_.enter(Stage::host);
  report(batch, waiting, prefill, before);
  return {};
}

// One lookahead for the whole batch; a sequence near its end gets what still fits: the step itself gives one token
// more.
void Stepper::plan_drafts(std::span<Sequence* const> batch) {
  for (Sequence* s : batch) {
    const bool drafts = drafter_ != nullptr && !plain_ && s->chunk == 0;
    s->wanted = drafts ? std::min(settings_.lookahead, s->room() - 1) : 0;
    s->chain.clear();
  }
}

bool Stepper::needs_draft(std::span<Sequence* const> batch) const {
  return drafter_ != nullptr && std::any_of(batch.begin(), batch.end(), [this](const Sequence* s) {
           return s->wanted > 0 || (s->chunk > 0 && drafter_->reads_prompts());
         });
}

Status Stepper::verify(std::span<Sequence* const> batch) {
  pass_.sequences.clear();
  for (Sequence* s : batch) {
    if (s->chunk > 0) {
      const bool last = s->chunk == s->prompt_left();
      const std::span<const Token> prompt = std::span<const Token>(s->tokens).subspan(s->computed, s->chunk);
      pass_.sequences.push_back({s->slot, s->computed, prompt, last ? LogitRows::last : LogitRows::none});
    } else {
      s->to_verify.assign(1, s->tokens.back());
      s->to_verify.insert(s->to_verify.end(), s->chain.tokens.begin(), s->chain.tokens.end());
      pass_.sequences.push_back({s->slot, s->computed, s->to_verify, LogitRows::all});
    }
  }
  logits_.resize(static_cast<std::size_t>(pass_.logit_rows()) * target_.config().vocab);
  return target_.forward(cache_, pass_, logits_, &stats_);
}

void Stepper::accept(std::span<Sequence* const> batch) {
  const std::size_t vocabulary = target_.config().vocab;
  std::span<const float> rows = logits_;
  outcomes_.clear();
  for (Sequence* s : batch) {
    const bool judged = s->chunk == 0 || s->chunk == s->prompt_left();
    s->computed += s->chunk > 0 ? s->chunk : static_cast<std::uint32_t>(s->to_verify.size());
    if (!judged) {
      outcomes_.push_back({});
      continue;
    }
    const std::size_t used = (s->chain.tokens.size() + 1) * vocabulary;
    outcomes_.push_back(settle(*s, rows.first(used)));
    rows = rows.subspan(used);
  }
}

// Judges one sequence's chain, forgets what was refused and appends what was emitted.
Stepper::Outcome Stepper::settle(Sequence& s, std::span<const float> rows) {
  const DrawKey key{settings_.sampling.seed, s.number, s.tokens.size()};
  const Verdict verdict = verifier_.judge(rows, target_.config().vocab, s.chain, settings_.sampling, key);
  const auto before = static_cast<std::uint32_t>(s.tokens.size());
  if (drafter_ != nullptr) drafter_->settle(s, verdict.accepted);
  s.tokens.insert(s.tokens.end(), s.chain.tokens.begin(), s.chain.tokens.begin() + verdict.accepted);
  // A chain ends at an end of text: where that was accepted there is no token after it.
  if (verdict.accepted == 0 || s.tokens.back() != end_of_text_) s.tokens.push_back(verdict.next);
  s.computed = std::min(s.computed, before + verdict.accepted);
  cache_.truncate(s.slot, s.computed);
  if (s.tokens.back() == end_of_text_) {
    s.finish = Finish::end_of_text;
  } else if (s.room() == 0) {
    s.finish = Finish::max_tokens;
  }
  return {verdict.accepted, static_cast<std::uint32_t>(s.tokens.size()) - before, true};
}

void Stepper::report(std::span<Sequence* const> batch, std::uint32_t waiting, bool prefill,
                     const ForwardStats& before) {
  dmprof_step_event event{};
  event.start = times_.start;
  event.duration = times_.end - times_.start;
  event.step = step_;
  event.phase = prefill ? DMPROF_PREFILL : DMPROF_DECODE;
  event.batch = static_cast<std::uint32_t>(batch.size());
  event.waiting = waiting;
  event.target_tokens = pass_.tokens();
  event.draft_time = times_.drafted - times_.start;
  event.verify_time = times_.verified - times_.drafted;
  event.accept_time = times_.end - times_.verified;
  event.parameter_bytes = stats_.parameter_bytes - before.parameter_bytes;
  event.kv_bytes = stats_.kv_bytes_read - before.kv_bytes_read;
  event.flops = stats_.flops - before.flops;
  recorder_.step_done(event);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (outcomes_[i].judged) report_sequence(*batch[i], outcomes_[i]);
  }
}

void Stepper::report_sequence(const Sequence& s, const Outcome& outcome) {
  const auto drafted = static_cast<std::uint32_t>(s.chain.tokens.size());
  dmprof_speculation_event event{};
  event.time = times_.end;
  event.step = step_;
  event.request = s.number;
  event.position = static_cast<std::uint32_t>(s.tokens.size()) - outcome.emitted;
  event.drafted = drafted;
  event.verified = drafted;
  event.accepted = outcome.accepted;
  event.emitted = outcome.emitted;
  if (drafted > 0) event.draft_type = settings_.draft_ngram ? DMPROF_DRAFT_NGRAM : DMPROF_DRAFT_MODEL;
  const bool shortened = drafter_ != nullptr && s.chunk == 0 && s.wanted < settings_.lookahead;
  if (plain_) {
    event.cut = DMPROF_CUT_BASELINE;
  } else if (outcome.emitted < outcome.accepted + 1) {
    event.cut = DMPROF_CUT_END_OF_TEXT;
  } else if (shortened) {
    event.cut = DMPROF_CUT_MAX_TOKENS;
  }
  event.tree_depth = drafted;
  event.tree_nodes = drafted;
  event.draft_time = times_.drafted - times_.start;
  event.verify_time = times_.verified - times_.drafted;
  event.accept_time = times_.end - times_.verified;
  recorder_.speculation(event);
}

}  // namespace dmengine
