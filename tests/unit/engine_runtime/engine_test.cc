// The whole engine on a tiny random model: speculation, batching and streaming change the speed, never the text.
#include "samples/engine/runtime/engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/engine_runtime/tiny_models.h"

namespace dmengine {
namespace {

using testing::HasSubstr;
using testing_models::tiny;

class Collect : public Listener {
 public:
  explicit Collect(std::size_t requests) : texts(requests) {}
  void text(std::size_t request, std::string_view piece) override { texts[request] += piece; }
  void ended(std::size_t request) override { order.push_back(request); }

  std::vector<std::string> texts;
  std::vector<std::size_t> order;
};

struct RunOutcome {
  RunReport report;
  Counts counts;
  std::vector<std::string> texts;
  std::vector<std::size_t> ended;
};

Settings plain() {
  Settings s;
  s.model = tiny().target;
  s.lookahead = 0;
  s.max_tokens = 40;
  s.context = 200;
  return s;
}

Settings with_draft(std::uint32_t lookahead) {
  Settings s = plain();
  s.draft = tiny().draft;
  s.lookahead = lookahead;
  return s;
}

Settings with_ngram(std::uint32_t lookahead) {
  Settings s = plain();
  s.draft_ngram = true;
  s.lookahead = lookahead;
  return s;
}

std::vector<Request> prompts() {
  std::vector<Request> out;
  for (const char* text :
       {"abab abab abab", "In the beginning", "x", "one two one two one", "zzzz", "the end of the text, the end"}) {
    Request& r = out.emplace_back();
    r.id = std::to_string(out.size());
    r.prompt = text;
  }
  return out;
}

dmprof::Result<RunOutcome> try_run(const Settings& settings, const std::vector<Request>& requests,
                                   std::sig_atomic_t stop_now = 0) {
  Recorder recorder;
  auto engine = Engine::load(settings, recorder);
  if (!engine) return tl::unexpected(engine.error());
  const volatile std::sig_atomic_t stop = stop_now;
  RunOutcome run;
  Collect collect(requests.size());
  const Status status = (*engine)->run(requests, collect, stop, run.report);
  if (!status) return tl::unexpected(status.error());
  run.counts = recorder.counts();
  run.texts = collect.texts;
  run.ended = collect.order;
  return run;
}

RunOutcome must_run(const Settings& settings, const std::vector<Request>& requests = prompts()) {
  auto run = try_run(settings, requests);
  EXPECT_TRUE(run) << run.error().message;
  return run ? *run : RunOutcome{};
}

void expect_consistent(const RunOutcome& run) {
  const SpeculationCounts& s = run.counts.speculation;
  EXPECT_GE(s.drafted, s.verified);
  EXPECT_GE(s.verified, s.accepted);
  EXPECT_GE(s.sequence_steps, s.drafting_steps);
  std::uint64_t output = 0;
  for (std::size_t i = 0; i < run.report.requests.size(); ++i) {
    const RequestResult& r = run.report.requests[i];
    output += r.output_tokens;
    EXPECT_EQ(r.text, run.texts[i]);
    EXPECT_TRUE(r.finish == Finish::max_tokens || r.finish == Finish::end_of_text);
    EXPECT_LE(r.arrival, r.scheduled);
    EXPECT_LE(r.scheduled, r.first_token);
    EXPECT_LE(r.first_token, r.end);
  }
  EXPECT_EQ(s.emitted, output);
  EXPECT_EQ(run.counts.requests.arrived, run.report.requests.size());
  EXPECT_EQ(run.counts.requests.ended, run.report.requests.size());
  EXPECT_EQ(run.counts.requests.first_tokens, run.report.requests.size());
}

TEST(Engine, greedy_text_is_the_same_with_and_without_speculation) {
  const RunOutcome reference = must_run(plain());
  expect_consistent(reference);
  EXPECT_EQ(reference.counts.speculation.drafted, 0U);
  for (const std::uint32_t lookahead : {1U, 2U, 3U, 5U, 8U}) {
    for (const std::uint32_t batch : {1U, 4U}) {
      for (Settings settings : {with_draft(lookahead), with_ngram(lookahead)}) {
        settings.batch = batch;
        const RunOutcome run = must_run(settings);
        EXPECT_EQ(run.texts, reference.texts) << "lookahead " << lookahead << ", batch " << batch;
        expect_consistent(run);
        EXPECT_GT(run.counts.speculation.drafted, 0U);
        EXPECT_GT(run.counts.speculation.accepted, 0U);
        EXPECT_EQ(run.counts.speculation.emitted, reference.counts.speculation.emitted);
        // Every verified sequence step emits its accepted drafts and one token more, unless a text ended inside a
        // chain.
        EXPECT_LE(run.counts.speculation.emitted,
                  run.counts.speculation.accepted + run.counts.speculation.sequence_steps);
      }
    }
  }
}

TEST(Engine, a_draft_equal_to_the_target_is_always_accepted) {
  Settings settings = with_draft(4);
  settings.draft = settings.model;
  const RunOutcome run = must_run(settings);
  EXPECT_EQ(run.counts.speculation.accepted, run.counts.speculation.verified);
  EXPECT_EQ(run.texts, must_run(plain()).texts);
  settings.sampling = {.temperature = 0.9F, .top_p = 0.9F, .seed = 5};
  const RunOutcome sampled = must_run(settings);
  EXPECT_EQ(sampled.counts.speculation.accepted, sampled.counts.speculation.verified);
}

TEST(Engine, sampled_text_does_not_depend_on_the_batch_or_the_prompt_chunk) {
  for (Settings settings : {plain(), with_draft(3), with_ngram(3)}) {
    settings.sampling = {.temperature = 0.8F, .top_p = 0.95F, .seed = 11};
    const RunOutcome alone = must_run(settings);
    expect_consistent(alone);
    settings.batch = 4;
    settings.prefill_chunk = 3;
    EXPECT_EQ(must_run(settings).texts, alone.texts);
    settings.sampling.seed = 12;
    EXPECT_NE(must_run(settings).texts, alone.texts);
  }
}

TEST(Engine, windows_without_speculation_are_counted_and_change_nothing) {
  Settings settings = with_draft(3);
  settings.baseline_every = 3;
  const RunOutcome run = must_run(settings);
  EXPECT_EQ(run.texts, must_run(plain()).texts);
  expect_consistent(run);
  EXPECT_GT(run.counts.speculation.baseline_steps, 0U);
  EXPECT_GT(run.counts.speculation.drafting_steps, 0U);
}

TEST(Engine, output_is_cut_at_max_tokens_exactly) {
  for (const std::uint32_t max_tokens : {1U, 2U, 7U}) {
    Settings settings = with_draft(5);
    settings.max_tokens = max_tokens;
    const RunOutcome run = must_run(settings);
    expect_consistent(run);
    for (const RequestResult& r : run.report.requests) {
      EXPECT_LE(r.output_tokens, max_tokens);
      if (r.finish == Finish::max_tokens) {
        EXPECT_EQ(r.output_tokens, max_tokens);
      }
    }
  }
}

TEST(Engine, the_concurrency_limit_keeps_requests_waiting) {
  Settings settings = with_draft(2);
  settings.batch = 4;
  settings.max_concurrent = 1;
  const RunOutcome run = must_run(settings);
  EXPECT_EQ(run.ended, (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));
  for (std::size_t i = 1; i < run.report.requests.size(); ++i) {
    EXPECT_GE(run.report.requests[i].scheduled, run.report.requests[i - 1].end);
  }
}

TEST(Engine, streamed_weights_give_the_same_text_under_every_policy) {
  const RunOutcome reference = must_run(plain());
  for (const std::uint32_t policy : {0U, 1U, 2U}) {
    Settings settings = with_draft(3);
    settings.max_tokens = 12;
    settings.resident = 512 * 1024;
    settings.backing = policy == 0 ? "file" : "throttle:2GB/s,10us";
    settings.cache_policy = policy;
    settings.prefetch_distance = policy == 1 ? 0 : 8;
    settings.batch = 2;
    const RunOutcome run = must_run(settings);
    for (std::size_t i = 0; i < run.texts.size(); ++i) {
      EXPECT_EQ(run.texts[i], reference.texts[i].substr(0, run.texts[i].size())) << "policy " << policy;
    }
    const BlockCounts& blocks = run.counts.blocks;
    EXPECT_GT(blocks.misses, 0U);
    EXPECT_GT(blocks.transfer_bytes, 0U);
    EXPECT_EQ(blocks.prefetches_issued > 0, settings.prefetch_distance > 0);
    EXPECT_EQ(blocks.prefetches_issued, blocks.prefetches_completed + blocks.prefetches_cancelled);
    EXPECT_GE(blocks.transfers, blocks.misses);
    EXPECT_NE(run.report.backing, "memory");
    expect_consistent(run);
  }
}

TEST(Engine, a_budget_below_what_one_block_needs_is_refused) {
  Settings settings = plain();
  settings.resident = 1024;
  const auto run = try_run(settings, prompts());
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::usage);
}

TEST(Engine, transitions_are_saved_and_can_be_loaded_again) {
  Settings settings = with_draft(2);
  settings.max_tokens = 5;
  settings.resident = 512 * 1024;
  settings.save_transitions = (tiny().folder / "transitions").string();
  must_run(settings);
  settings.load_transitions = settings.save_transitions;
  settings.save_transitions = "/nonexistent/folder/transitions";
  const auto unwritable = try_run(settings, prompts());
  ASSERT_FALSE(unwritable);
  EXPECT_EQ(unwritable.error().kind, ErrorKind::environment);
  settings.save_transitions.clear();
  expect_consistent(must_run(settings));
}

TEST(Engine, a_trace_is_waited_for) {
  auto requests = prompts();
  requests.resize(2);
  requests[1].arrival_ns = 150'000'000;
  const RunOutcome run = must_run(with_draft(2), requests);
  EXPECT_EQ(run.report.requests[1].arrival, 150'000'000);
  EXPECT_GE(run.report.requests[1].scheduled, 150'000'000);
}

TEST(Engine, a_signal_before_the_first_step_ends_the_run_with_nothing_started) {
  const auto run = try_run(plain(), prompts(), 2);
  ASSERT_TRUE(run);
  EXPECT_EQ(run->counts.steps.steps, 0U);
  for (const RequestResult& r : run->report.requests) EXPECT_EQ(r.finish, Finish::running);
}

TEST(Engine, a_prompt_longer_than_the_context_names_its_request) {
  Settings settings = plain();
  settings.context = 4;
  auto requests = prompts();
  const auto run = try_run(settings, requests);
  ASSERT_FALSE(run);
  EXPECT_EQ(run.error().kind, ErrorKind::bad_input);
  EXPECT_THAT(run.error().message, HasSubstr("request 1: the prompt has"));
}

TEST(Engine, missing_and_foreign_model_files_are_refused) {
  Settings settings = plain();
  settings.model = (tiny().folder / "missing.gguf").string();
  EXPECT_FALSE(try_run(settings, prompts()));
  settings.model = tiny().folder.string();
  EXPECT_FALSE(try_run(settings, prompts()));
  settings = with_draft(3);
  settings.draft = "/dev/null";
  EXPECT_FALSE(try_run(settings, prompts()));
}

}  // namespace
}  // namespace dmengine
