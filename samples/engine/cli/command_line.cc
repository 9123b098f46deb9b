#include "samples/engine/cli/command_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "samples/engine/cli/flags.h"
#include "samples/engine/cli/units.h"
#include "samples/engine/streaming/backing.h"

namespace dmengine {
namespace {

using dmprof::ErrorKind;
using dmprof::fail;
using dmprof::Result;
using dmprof::Status;

constexpr const char* description =
    "dm-engine: decodes text with a Llama-architecture model, with or without speculation.\n"
    "Also: dm-engine synth --help, dm-engine bench --help";
constexpr const char* footer =
    "Variables: DM_LOOKAHEAD, DM_DRAFT (a file, \"ngram\" or \"none\"), DM_CACHE_POLICY, DM_MAX_CONCURRENT; a flag "
    "beats its variable.\n"
    "Exit status: 0 done, 2 usage, 4 bad input, 6 environment, 130 or 143 stopped by a signal (what was generated is "
    "printed).";

void declare(Flags& flags) {
  flags.value("--model", "FILE", "target model (GGUF: F32, F16 or Q8_0)", "Models");
  flags.value("--draft", "FILE", "draft model with the same vocabulary; \"none\" switches DM_DRAFT off", "Models");
  flags.toggle("--draft-ngram", "look drafts up in the text so far instead", "Models");
  flags.value("--lookahead", "N", "draft tokens a step, 0 to 32; 0 = no speculation (default 5)", "Models");

  flags.value("--prompt", "TEXT", "one prompt", "Prompts (exactly one)");
  flags.value("--prompt-file", "FILE", "one prompt; - reads standard input", "Prompts (exactly one)");
  flags.value("--prompts", "FILE", "JSONL: {\"id\",\"prompt\",\"max_tokens\",\"class\"}, all handed in at once",
              "Prompts (exactly one)");
  flags.value("--trace", "FILE", "the same, with \"arrival_ms\" respected", "Prompts (exactly one)");

  flags.value("--max-tokens", "N", "output tokens a request (default 128)", "Sampling");
  flags.value("--temperature", "T", "0 = greedy (default)", "Sampling");
  flags.value("--top-p", "P", "keep the most probable tokens up to this sum (default 1)", "Sampling");
  flags.value("--seed", "S", "seed of the draws (default 0)", "Sampling");

  flags.value("--batch", "B", "sequences held at once (default 1)", "Running");
  flags.value("--max-concurrent", "N", "sequences that run at once; 0 = the batch (default)", "Running");
  flags.value("--prefill-chunk", "N", "prompt tokens a step (default 64)", "Running");
  flags.value("--context", "N", "positions a sequence may have (default: what the model was trained for)", "Running");
  flags.value("--threads", "N", "compute threads (default: the CPUs this process may use)", "Running");
  flags.value("--kv-type", "TYPE", "f16 (default) or f32", "Running");
  flags.value("--baseline-every", "N",
              "every N steps run 4 without speculation, to measure what it gains; 0 = never (default)", "Running");
  flags.value("--kernel-events", "on|off", "record one slice a kernel class and layer (default on)", "Running");
  flags.toggle("--json", "print one JSON object: text, counts, times, knobs", "Running");

  flags.value("--resident", "SIZE", "memory for weights, e.g. 8MiB; the rest is streamed (default: all resident)",
              "Streaming");
  flags.value("--backing", "HOW",
              "where streamed weights come from: file (default) or throttle:BW,LATENCY, e.g. throttle:2GB/s,50us",
              "Streaming");
  flags.value("--cache-policy", "N", "0 LRU, 1 LFU with ageing, 2 prediction-aware (default)", "Streaming");
  flags.value("--prefetch-distance", "N", "blocks fetched ahead; 0 = none (default 8)", "Streaming");
  flags.value("--save-transitions", "FILE", "write the learned transition matrix at the end", "Streaming");
  flags.value("--load-transitions", "FILE", "start from a saved transition matrix", "Streaming");
}

Status read_prompt_source(const Flags& flags, CommandLine& out) {
  std::vector<std::string> given;
  for (const auto& [flag, source] :
       std::initializer_list<std::pair<const char*, PromptSource>>{{"--prompt", PromptSource::text},
                                                                   {"--prompt-file", PromptSource::file},
                                                                   {"--prompts", PromptSource::requests},
                                                                   {"--trace", PromptSource::trace}}) {
    if (!flags.given(flag)) continue;
    given.push_back(flag);
    out.source = source;
    DMPROF_TRY(flags.read(flag, nullptr, [&out](const std::string&, const std::string& text) -> Status {
      out.prompt = text;
      return {};
    }));
  }
  if (given.size() == 1) return {};
  if (given.empty()) {
    return fail(ErrorKind::usage,
                "a prompt is needed: --prompt TEXT, --prompt-file FILE (- reads standard input), --prompts FILE or "
                "--trace FILE");
  }
  return fail(ErrorKind::usage, fmt::format("{} exclude each other; give one of them", fmt::join(given, " and ")));
}

Status read_draft(const Flags& flags, Settings& s) {
  if (flags.given("--draft") && flags.given("--draft-ngram")) {
    return fail(ErrorKind::usage, "--draft and --draft-ngram exclude each other; give one of them");
  }
  s.draft_ngram = flags.given("--draft-ngram");
  if (s.draft_ngram) return {};
  return flags.read("--draft", "DM_DRAFT", [&s](const std::string& what, const std::string& text) -> Status {
    if (text.empty()) return fail(ErrorKind::usage, what + " needs a file, or \"none\"");
    s.draft_ngram = text == "ngram";
    if (s.draft_ngram || text == "none") return {};
    s.draft = text;
    if (what != "--draft") s.draft_variable = what;
    return {};
  });
}

Status read_choices(const Flags& flags, Settings& s) {
  DMPROF_TRY(flags.read("--kv-type", nullptr, [&s](const std::string& what, const std::string& text) -> Status {
    if (text != "f16" && text != "f32") return fail(ErrorKind::usage, what + " must be f16 or f32");
    s.kv_f32 = text == "f32";
    return {};
  }));
  DMPROF_TRY(flags.read("--kernel-events", nullptr, [&s](const std::string& what, const std::string& text) -> Status {
    if (text != "on" && text != "off") return fail(ErrorKind::usage, what + " must be on or off");
    s.kernel_events = text == "on";
    return {};
  }));
  return flags.read("--resident", nullptr, [&s](const std::string& what, const std::string& text) -> Status {
    auto bytes = parse_size(what, text);
    if (!bytes) return tl::unexpected(bytes.error());
    s.resident = *bytes;
    return {};
  });
}

Status read_settings(const Flags& flags, Settings& s) {
  DMPROF_TRY(flags.need("--model"));
  DMPROF_TRY(flags.text("--model", s.model));
  DMPROF_TRY(read_draft(flags, s));
  DMPROF_TRY(flags.whole("--lookahead", "DM_LOOKAHEAD", s.lookahead, 0, max_lookahead));
  DMPROF_TRY(flags.whole("--max-tokens", nullptr, s.max_tokens, 1, 1U << 20));
  DMPROF_TRY(flags.real("--temperature", s.sampling.temperature, 0, 100));
  DMPROF_TRY(flags.real("--top-p", s.sampling.top_p, 1e-6, 1));
  DMPROF_TRY(flags.whole("--seed", nullptr, s.sampling.seed, 0, UINT64_MAX));
  DMPROF_TRY(flags.whole("--batch", nullptr, s.batch, 1, max_batch));
  DMPROF_TRY(flags.whole("--max-concurrent", "DM_MAX_CONCURRENT", s.max_concurrent, 0, max_batch));
  DMPROF_TRY(flags.whole("--prefill-chunk", nullptr, s.prefill_chunk, 1, 4096));
  DMPROF_TRY(flags.whole("--context", nullptr, s.context, 2, 1U << 20));
  DMPROF_TRY(flags.whole("--threads", nullptr, s.threads, 1, max_threads));
  DMPROF_TRY(flags.whole("--baseline-every", nullptr, s.baseline_every, 0, 1000000));
  DMPROF_TRY(flags.whole("--cache-policy", "DM_CACHE_POLICY", s.cache_policy, 0, 2));
  DMPROF_TRY(flags.whole("--prefetch-distance", nullptr, s.prefetch_distance, 0, 4096));
  DMPROF_TRY(flags.text("--backing", s.backing));
  DMPROF_TRY(flags.text("--save-transitions", s.save_transitions));
  DMPROF_TRY(flags.text("--load-transitions", s.load_transitions));
  DMPROF_TRY(read_choices(flags, s));
  if (auto backing = parse_backing(s.backing); !backing) return tl::unexpected(backing.error());
  return {};
}

// A setting that cannot act is a mistake where a flag sets it. Variables are often set for several programs: there it
// is a warning. What was switched off on purpose, as a knob is by whoever measures without it, is neither.
Status check_effects(const Flags& flags, CommandLine& out) {
  struct Setting {
    const char* flag;
    const char* variable;  // nullptr: it has none
    bool acts;
    const char* lacks;
    const char* without;
  };
  const Settings& s = out.settings;
  const bool draft_chosen = flags.given("--draft-ngram") || !flags.source("--draft", "DM_DRAFT").empty();
  const bool streams = s.resident > 0 || flags.given("--resident");
  const bool samples = s.sampling.temperature > 0 || flags.given("--temperature");
  constexpr const char *draft = "a draft (--draft FILE or --draft-ngram)", *alone = "nothing is speculated";
  constexpr const char *resident = "--resident SIZE", *whole = "all weights stay in memory and nothing is streamed";
  constexpr const char *temperature = "--temperature T", *greedy = "the most probable token is taken";
  const Setting settings[] = {
      {"--lookahead", "DM_LOOKAHEAD", draft_chosen || s.lookahead == 0, draft, alone},
      {"--baseline-every", nullptr, draft_chosen || s.baseline_every == 0, draft, alone},
      {"--backing", nullptr, streams, resident, whole},
      {"--cache-policy", "DM_CACHE_POLICY", streams, resident, whole},
      {"--prefetch-distance", nullptr, streams, resident, whole},
      {"--save-transitions", nullptr, streams, resident, whole},
      {"--load-transitions", nullptr, streams, resident, whole},
      {"--top-p", nullptr, samples, temperature, greedy},
      {"--seed", nullptr, samples, temperature, greedy},
      {"--max-concurrent", "DM_MAX_CONCURRENT", s.max_concurrent <= s.batch || flags.given("--batch"), "--batch B",
       "one sequence runs at a time"},
  };
  for (const Setting& setting : settings) {
    const std::string what = flags.source(setting.flag, setting.variable);
    if (what.empty() || setting.acts) continue;
    const std::string message = fmt::format("needs {}: without it {}", setting.lacks, setting.without);
    if (what == setting.flag) return fail(ErrorKind::usage, fmt::format("{} {}", what, message));
    out.warnings.push_back(fmt::format("{} has no effect here, it {}", what, message));
  }
  return {};
}

}  // namespace

Result<CommandLine> parse_command_line(std::span<const std::string> args, const Environment& environment) {
  Flags flags("dm-engine", description, environment);
  flags.footer(footer);
  declare(flags);
  CommandLine out;
  auto answer = flags.parse(args);
  if (!answer) return tl::unexpected(answer.error());
  out.answer = std::move(*answer);
  if (!out.answer.empty()) return out;
  out.settings.threads = std::clamp(std::thread::hardware_concurrency(), 1U, max_threads);
  DMPROF_TRY(read_settings(flags, out.settings));
  DMPROF_TRY(read_prompt_source(flags, out));
  DMPROF_TRY(check_effects(flags, out));
  out.json = flags.given("--json");
  out.settings.flags = flags.all_given();
  return out;
}

}  // namespace dmengine
