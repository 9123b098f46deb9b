// `eval`, `acceptance` and `prompts`: everything that reads finished models.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "samples/models/train/acceptance.h"
#include "samples/models/train/commands.h"
#include "samples/models/train/corpus.h"
#include "samples/models/train/decoder.h"
#include "samples/models/train/evaluate.h"

namespace dmprof::train {
namespace {

constexpr int prompt_tokens = 64;

// Prompts from the held-out chapters, evenly spread; each begins with a verse.
std::vector<std::string> held_out_prompts(Tokenizer& tokenizer, const Corpus& corpus, int count) {
  std::string text;
  for (const std::string& chapter : corpus.held_out) text += chapter;
  std::vector<std::string> prompts;
  for (int i = 0; i < count; ++i) {
    const std::size_t start =
        text.find('\n', text.size() / static_cast<std::size_t>(count + 1) * static_cast<std::size_t>(i));
    const std::size_t verse = text.find_first_not_of('\n', start);
    if (verse == std::string::npos) break;
    std::vector<Token> tokens = tokenizer.encode(std::string_view(text).substr(verse, 64 * prompt_tokens));
    tokens.resize(std::min<std::size_t>(tokens.size(), prompt_tokens));
    prompts.push_back(tokenizer.decode(tokens));
  }
  return prompts;
}

std::vector<Token> with_boundary(Tokenizer& tokenizer, const std::string& text) {
  std::vector<Token> tokens = tokenizer.encode(text);
  tokens.insert(tokens.begin(), Tokenizer::boundary);
  return tokens;
}

struct MeasureFlags {
  std::string corpus, model, output;
  std::vector<std::string> drafts;
  int prompts = 160, tokens = 128, threads = 1, windows = 1 << 20;
  double temperature = 0;
  unsigned seed = 1;
};

Status evaluate_model(const MeasureFlags& flags) {
  auto corpus = read_corpus(flags.corpus);
  if (!corpus) return tl::unexpected(corpus.error());
  auto model = read_gguf(flags.model);
  if (!model) return tl::unexpected(model.error());
  Tokenizer tokenizer(model->merges);
  const std::vector<Token> stream = token_stream(tokenizer, corpus->held_out);
  std::size_t bytes = 0;
  for (const std::string& chapter : corpus->held_out) bytes += chapter.size();
  const double loss = evaluate(model->shape, model->parameters, stream, flags.windows, flags.threads);
  fmt::print("held out, windows of {} tokens: {:.4f} nats/token, {:.4f} bits/byte\n", model->shape.context, loss,
             loss / std::log(2.0) * static_cast<double>(stream.size()) / static_cast<double>(bytes));
  for (const auto& [first, mean] : loss_by_position(model->shape, model->parameters, stream, 1024, 128)) {
    fmt::print("  positions {}..{} of windows of 1024: {:.4f} nats/token\n", first, first + 127, mean);
  }
  return {};
}

struct Sequence {
  std::vector<Token> prompt;
  Generated text;
  std::vector<AcceptanceTrace> traces;  // one a draft
};

// The acceptance of a draft along the target's text.
AcceptanceTrace trace_draft(const Sequence& sequence, Decoder& draft, double temperature) {
  AcceptanceTrace trace;
  draft.reset();
  std::span<const Token> next = sequence.prompt;
  for (std::size_t i = 0; i < sequence.text.tokens.size(); ++i) {
    const std::span<const float> logits = draft.append(next);
    const Token token = sequence.text.tokens[i];
    if (temperature > 0) {
      trace.push_back(std::min(1.0, probability(logits, token, temperature) / sequence.text.probabilities[i]));
    } else {
      trace.push_back(std::max_element(logits.begin(), logits.end()) - logits.begin() == token ? 1.0 : 0.0);
    }
    next = std::span(sequence.text.tokens).subspan(i, 1);
  }
  return trace;
}

void report(const std::vector<Sequence>& sequences, std::size_t draft, std::size_t length) {
  std::vector<AcceptanceTrace> traces;
  std::vector<double> by_sequence;
  int loops = 0;
  for (const Sequence& sequence : sequences) {
    traces.push_back(sequence.traces[draft]);
    by_sequence.push_back(speculate({traces.back()}, 8, length).mean());
    loops += ends_in_loop(sequence.text.tokens, length) ? 1 : 0;
  }
  std::sort(by_sequence.begin(), by_sequence.end());
  auto quantile = [&](double share) {
    return by_sequence[static_cast<std::size_t>(share * static_cast<double>(by_sequence.size() - 1))];
  };
  const AcceptanceTotals eight = speculate(traces, 8, length);
  fmt::print("{} tokens: mean {:.3f}, by position", length, eight.mean());
  for (std::size_t i = 0; i < 8; ++i) fmt::print(" {:.3f}", eight.conditional(i));
  fmt::print(", tokens a step for N = 1..8");
  for (int n = 1; n <= 8; ++n) fmt::print(" {:.2f}", speculate(traces, n, length).tokens_per_step());
  fmt::print(", by sequence P10 {:.2f} P50 {:.2f} P90 {:.2f}, {} of {} end in a loop\n", quantile(0.1), quantile(0.5),
             quantile(0.9), loops, sequences.size());
}

Status measure_acceptance(const MeasureFlags& flags) {
  auto corpus = read_corpus(flags.corpus);
  if (!corpus) return tl::unexpected(corpus.error());
  auto target = read_gguf(flags.model);
  if (!target) return tl::unexpected(target.error());
  std::vector<Model> drafts;
  for (const std::string& path : flags.drafts) {
    auto draft = read_gguf(path);
    if (!draft) return tl::unexpected(draft.error());
    if (target->merges != draft->merges)
      return fail(ErrorKind::usage, path + " has another tokenizer than the target: give a pair trained together");
    drafts.push_back(std::move(*draft));
  }
  if (flags.prompts < 1 || flags.tokens < 1 || flags.threads < 1)
    return fail(ErrorKind::usage, "--prompts, --tokens and --threads must be positive");
  Tokenizer tokenizer(target->merges);
  std::vector<Sequence> sequences;
  for (const std::string& prompt : held_out_prompts(tokenizer, *corpus, flags.prompts)) {
    sequences.push_back(Sequence{with_boundary(tokenizer, prompt), {}, {}});
  }
  std::vector<std::thread> pool;
  for (int t = 0; t < flags.threads; ++t) {
    pool.emplace_back([&, t] {
      const int positions = 4 * prompt_tokens + flags.tokens;
      Decoder from_target(*target, positions);
      std::vector<Decoder> from_drafts;
      for (const Model& draft : drafts) from_drafts.emplace_back(draft, positions);
      for (std::size_t i = static_cast<std::size_t>(t); i < sequences.size();
           i += static_cast<std::size_t>(flags.threads)) {
        std::mt19937_64 random(flags.seed * 1000003ull + i);
        Sequence& sequence = sequences[i];
        sequence.text = generate(from_target, sequence.prompt, flags.tokens, flags.temperature, random);
        for (Decoder& draft : from_drafts) sequence.traces.push_back(trace_draft(sequence, draft, flags.temperature));
      }
    });
  }
  for (std::thread& thread : pool) thread.join();
  for (std::size_t d = 0; d < drafts.size(); ++d) {
    fmt::print("{}\n", flags.drafts[d]);
    if (flags.tokens > 40) report(sequences, d, 40);
    report(sequences, d, static_cast<std::size_t>(flags.tokens));
  }
  return {};
}

Status write_prompts(const MeasureFlags& flags) {
  auto corpus = read_corpus(flags.corpus);
  if (!corpus) return tl::unexpected(corpus.error());
  auto model = read_gguf(flags.model);
  if (!model) return tl::unexpected(model.error());
  Tokenizer tokenizer(model->merges);
  std::ofstream out(flags.output, std::ios::trunc);
  int id = 0;
  for (const std::string& prompt : held_out_prompts(tokenizer, *corpus, flags.prompts)) {
    const nlohmann::ordered_json line = {
        {"id", fmt::format("held-out-{:02}", ++id)}, {"prompt", prompt}, {"max_tokens", flags.tokens}};
    out << line.dump() << '\n';
  }
  out.close();
  if (!out)
    return fail(ErrorKind::environment,
                "cannot write " + flags.output + ": check that its folder exists and has space");
  return {};
}

std::shared_ptr<MeasureFlags> add_flags(CLI::App& command) {
  auto flags = std::make_shared<MeasureFlags>();
  command.add_option("--corpus", flags->corpus, "Output of `bible -f`")->required();
  command.add_option("--model", flags->model, "GGUF of dm-train: the target, or for eval any model")->required();
  command.add_option("--threads", flags->threads, "Threads")->capture_default_str();
  return flags;
}

}  // namespace

void add_eval_command(CLI::App& app, Status& status) {
  auto* command = app.add_subcommand("eval", "Loss on the held-out chapters, also beyond the trained context");
  auto flags = add_flags(*command);
  command->add_option("--windows", flags->windows, "At most this many windows");
  command->callback([flags, &status] { status = evaluate_model(*flags); });
}

void add_acceptance_command(CLI::App& app, Status& status) {
  auto* command = app.add_subcommand("acceptance", "How often the target accepts the draft's proposals, by position");
  auto flags = add_flags(*command);
  command->add_option("--draft", flags->drafts, "GGUF of a draft; may be given several times")->required();
  command->add_option("--prompts", flags->prompts, "Held-out prompts of 64 tokens")->capture_default_str();
  command->add_option("--tokens", flags->tokens, "Tokens generated for each")->capture_default_str();
  command->add_option("--temperature", flags->temperature, "0 is greedy")->capture_default_str();
  command->add_option("--seed", flags->seed, "Seed of the sampling")->capture_default_str();
  command->callback([flags, &status] { status = measure_acceptance(*flags); });
}

void add_prompts_command(CLI::App& app, Status& status) {
  auto* command = app.add_subcommand("prompts", "Write held-out prompts as JSON lines");
  auto flags = add_flags(*command);
  flags->prompts = 32;
  command->add_option("--count", flags->prompts, "Prompts")->capture_default_str();
  command->add_option("--max-tokens", flags->tokens, "max_tokens of each")->capture_default_str();
  command->add_option("-o,--output", flags->output, "File to write")->required();
  command->callback([flags, &status] { status = write_prompts(*flags); });
}

}  // namespace dmprof::train
