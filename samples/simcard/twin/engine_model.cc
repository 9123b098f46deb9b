#include "samples/simcard/twin/engine_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "samples/simcard/twin/pass_model.h"
#include "samples/simcard/twin/sequence_model.h"

namespace dmprof::twin {
namespace {

constexpr std::uint32_t kBaselineWindow = 4;  // the engine's: plain steps in a row

Time whole(double ns) { return static_cast<Time>(ns + 0.5); }

std::vector<Block> all_blocks(const Description& description, const DraftProfile* draft) {
  std::vector<Block> blocks = description.target.blocks;
  if (draft != nullptr) blocks.insert(blocks.end(), draft->program.blocks.begin(), draft->program.blocks.end());
  return blocks;
}

class Run {
 public:
  Run(const Description& description, const Settings& settings, const DraftProfile* draft, std::uint64_t seed)
      : description_(description),
        settings_(settings),
        draft_(draft),
        random_(seed, "twin"),
        verdicts_(description, draft_, random_),
        stream_(all_blocks(description, draft), description.link, description.habits, settings, random_, trace_),
        target_pass_(description.target, stream_, random_),
        draft_pass_(draft_ == nullptr ? nullptr : std::make_unique<PassModel>(draft_->program, stream_, random_)) {}

  Trace take();

 private:
  void admit();
  void plan_chunks();
  void step();
  void draft();
  void draft_first();
  void draft_next();
  void verify();
  void accept();
  void settle(SequenceModel& s);
  void retire();
  PassToken token(const SequenceModel& s, std::uint32_t position, bool logits, bool of_draft) const;

  const Description& description_;
  const Settings& settings_;
  const DraftProfile* draft_;
  simcard::Random random_;
  Trace trace_;
  Verdicts verdicts_;
  StreamModel stream_;
  PassModel target_pass_;
  std::unique_ptr<PassModel> draft_pass_;

  Time now_ = 0;
  std::vector<std::size_t> order_;      // requests by arrival
  std::size_t next_ = 0;                // of order_, not admitted
  std::vector<SequenceModel> running_;  // in order of admission
  std::vector<SequenceModel*> batch_;   // of the step in progress, into running_
  std::vector<SequenceModel*> drafting_;
  std::vector<PassToken> tokens_;
  std::uint32_t baseline_at_ = 0;
  bool plain_ = false;
  bool prefill_ = false;
  std::uint64_t step_ = 0;
};

Trace Run::take() {
  for (const RequestText& text : description_.requests) {
    order_.push_back(order_.size());
    trace_.requests.push_back({text.arrival, -1, -1, -1, text.prompt_tokens, 0});
  }
  std::stable_sort(order_.begin(), order_.end(), [&](std::size_t a, std::size_t b) {
    return description_.requests[a].arrival < description_.requests[b].arrival;
  });
  while (next_ < order_.size() || !running_.empty()) {
    admit();
    if (running_.empty()) {
      now_ = std::max(now_, description_.requests[order_[next_]].arrival);
      continue;
    }
    plan_chunks();
    step();
    retire();
    now_ += whole(description_.habits.between_steps);
  }
  trace_.end = now_;
  return std::move(trace_);
}

void Run::admit() {
  const std::uint32_t slots = std::max(settings_.batch, 1U);
  const std::uint32_t limit = settings_.max_concurrent == 0 ? slots : std::min(slots, settings_.max_concurrent);
  while (next_ < order_.size() && running_.size() < limit && description_.requests[order_[next_]].arrival <= now_) {
    const std::size_t request = order_[next_++];
    const RequestText& text = description_.requests[request];
    SequenceModel s;
    s.request = request;
    s.tokens = s.prompt = text.prompt_tokens;
    s.end = text.prompt_tokens + text.output_tokens;
    s.by_limit = text.ended_by_limit;
    running_.push_back(s);
    trace_.requests[request].scheduled = now_;
  }
}

// The oldest prompt first; a sequence whose prompt gets nothing sits the step out.
void Run::plan_chunks() {
  batch_.clear();
  std::uint32_t budget = settings_.prefill_chunk;
  for (SequenceModel& s : running_) {
    s.chunk = std::min(s.prompt_left(), budget);
    budget -= s.chunk;
    if (s.chunk > 0 || s.prompt_left() == 0) batch_.push_back(&s);
  }
}

void Run::step() {
  StepRecord record;
  record.step = ++step_;
  record.start = now_;
  record.batch = static_cast<std::uint32_t>(batch_.size());
  for (std::size_t i = next_; i < order_.size(); ++i)
    record.waiting += description_.requests[order_[i]].arrival <= now_;
  prefill_ = record.prefill = std::any_of(batch_.begin(), batch_.end(), [](auto* s) { return s->chunk > 0; });
  plain_ = false;
  if (!prefill_ && settings_.baseline_every > 0 && draft_ != nullptr) {
    plain_ = baseline_at_ >= settings_.baseline_every;
    baseline_at_ = (baseline_at_ + 1) % (settings_.baseline_every + kBaselineWindow);
  }
  draft();
  record.draft_time = now_ - record.start;
  const Time drafted = now_;
  verify();
  record.target_tokens = static_cast<std::uint32_t>(tokens_.size());
  record.verify_time = now_ - drafted;
  const Time verified = now_;
  now_ += whole(description_.habits.accept_step);
  record.accept_time = now_ - verified;
  record.duration = now_ - record.start;
  trace_.steps.push_back(record);
  accept();
}

PassToken Run::token(const SequenceModel& s, std::uint32_t position, bool logits, bool of_draft) const {
  const std::vector<std::int64_t>* known = &description_.requests[s.request].embedding;
  if (of_draft) known = s.request < draft_->embedding.size() ? &draft_->embedding[s.request] : nullptr;
  return {known != nullptr && position < known->size() ? (*known)[position] : -1, logits};
}

void Run::draft() {
  for (SequenceModel* s : batch_) {
    s->chain = 0;
    s->wanted = draft_ != nullptr && !plain_ && s->chunk == 0 ? std::min(settings_.lookahead, s->room() - 1) : 0;
  }
  const bool needed = draft_ != nullptr &&
                      std::any_of(batch_.begin(), batch_.end(), [](auto* s) { return s->wanted > 0 || s->chunk > 0; });
  if (!needed) return;
  draft_first();
  while (true) {
    std::erase_if(drafting_, [](const SequenceModel* s) { return s->chain >= s->wanted; });
    if (drafting_.empty()) return;
    draft_next();
  }
}

void Run::draft_first() {
  tokens_.clear();
  drafting_.clear();
  for (SequenceModel* s : batch_) {
    const bool proposes = s->wanted > 0;
    const std::uint32_t end = proposes ? s->tokens : s->computed + s->chunk;
    if (end <= s->draft_known || (!proposes && s->chunk == 0)) continue;
    for (std::uint32_t at = s->draft_known; at < end; ++at)
      tokens_.push_back(token(*s, at, proposes && at + 1 == end, true));
    s->draft_known = end;
    if (proposes) drafting_.push_back(s);
  }
  now_ = draft_pass_->run(tokens_, now_, step_, prefill_);
  for (SequenceModel* s : drafting_) ++s->chain;
}

void Run::draft_next() {
  tokens_.clear();
  for (SequenceModel* s : drafting_) {
    tokens_.push_back(token(*s, s->draft_known, true, true));
    ++s->draft_known;
  }
  now_ = draft_pass_->run(tokens_, now_, step_, prefill_);
  for (SequenceModel* s : drafting_) ++s->chain;
}

void Run::verify() {
  tokens_.clear();
  for (SequenceModel* s : batch_) {
    if (s->chunk > 0) {
      const bool last = s->chunk == s->prompt_left();
      for (std::uint32_t i = 0; i < s->chunk; ++i) {
        tokens_.push_back(token(*s, s->computed + i, last && i + 1 == s->chunk, false));
      }
    } else {
      for (std::uint32_t i = 0; i <= s->chain; ++i) tokens_.push_back(token(*s, s->tokens - 1 + i, true, false));
    }
  }
  now_ = target_pass_.run(tokens_, now_, step_, prefill_);
}

void Run::accept() {
  for (SequenceModel* s : batch_) {
    if (s->chunk > 0) {
      s->computed += s->chunk;
      if (s->prompt_left() > 0) continue;
    }
    settle(*s);
  }
}

void Run::settle(SequenceModel& s) {
  const std::uint32_t accepted = verdicts_.accepted(s.request, s.tokens, s.chain);
  RowRecord row;
  row.time = now_;
  row.step = step_;
  row.request = s.request + 1;
  row.position = s.tokens;
  row.drafted = s.chain;
  row.accepted = accepted;
  // Where the text's last token was an accepted draft there is none after it.
  row.emitted = std::min(accepted + 1, s.end - s.tokens);
  if (plain_) {
    row.cut = Cut::baseline;
  } else if (row.emitted < accepted + 1) {
    row.cut = Cut::end_of_text;
  } else if (draft_ != nullptr && s.chunk == 0 && s.wanted < settings_.lookahead) {
    row.cut = Cut::max_tokens;
  }
  trace_.rows.push_back(row);
  s.computed = s.tokens + accepted;
  s.draft_known = std::min(s.draft_known, s.tokens + accepted);
  s.tokens += row.emitted;
  RequestRecord& request = trace_.requests[s.request];
  if (request.first_token < 0) request.first_token = now_;
  request.output_tokens += row.emitted;
  if (s.tokens >= s.end) request.end = now_;
}

void Run::retire() {
  std::erase_if(running_, [](const SequenceModel& s) { return s.tokens >= s.end && s.prompt_left() == 0; });
}

}  // namespace

Result<Trace> simulate(const Description& description, const Settings& settings, std::uint64_t seed) {
  const DraftProfile* draft = nullptr;
  if (!settings.draft.empty() && settings.lookahead > 0) {
    for (const DraftProfile& profile : description.drafts) {
      if (profile.program.name == settings.draft) draft = &profile;
    }
    if (draft == nullptr) {
      return fail(ErrorKind::cannot_answer,
                  fmt::format("no recording with the draft {} was fitted; record one and give it to fit as well",
                              settings.draft));
    }
  }
  if (settings.batch == 0 || settings.prefill_chunk == 0) {
    return fail(ErrorKind::usage, "batch and prefill_chunk must be at least 1");
  }
  std::uint64_t largest = 0;
  for (const Block& block : all_blocks(description, draft)) {
    largest = std::max(largest, block.memory);
  }
  if (settings.resident < largest || largest == 0) {
    return fail(ErrorKind::usage, fmt::format("resident={}: the largest block takes {} bytes; give at least that",
                                              settings.resident, largest));
  }
  if (description.requests.empty() || description.target.empty()) {
    return fail(ErrorKind::bad_input, "the fitted file holds no requests or no target model; fit again");
  }
  for (const RequestText& text : description.requests) {
    if (text.prompt_tokens == 0 || text.output_tokens == 0) {
      return fail(ErrorKind::bad_input, "the fitted file holds a request without prompt or output; fit again");
    }
  }
  return Run(description, settings, draft, seed).take();
}

}  // namespace dmprof::twin
