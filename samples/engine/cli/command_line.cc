#include "samples/engine/cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <thread>

#include "dmprof/base/version.h"
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

// The text that counts for a setting: the flag's where it was given, else its variable's.
class Values {
 public:
  Values(const CLI::App& app, const Environment& environment) : app_(app), environment_(environment) {}

  bool by_flag(const std::string& flag) const { return app_.get_option(flag)->count() > 0; }

  // Calls take(what, text) for the text that counts, if any.
  Status read(const std::string& flag, const char* variable,
              const std::function<Status(const std::string&, const std::string&)>& take) const {
    if (by_flag(flag)) return take(flag, app_.get_option(flag)->as<std::string>());
    const char* value = variable == nullptr ? nullptr : environment_(variable);
    if (value == nullptr || *value == '\0') return {};
    return take(variable, value);
  }

  template <class T>
  Status whole(const std::string& flag, const char* variable, T& out, std::uint64_t low, std::uint64_t high) const {
    return read(flag, variable, [&](const std::string& what, const std::string& text) -> Status {
      auto value = parse_whole(what, text, low, high);
      if (!value) return tl::unexpected(value.error());
      out = static_cast<T>(*value);
      return {};
    });
  }

  Status real(const std::string& flag, float& out, double low, double high) const {
    return read(flag, nullptr, [&](const std::string& what, const std::string& text) -> Status {
      auto value = parse_real(what, text, low, high);
      if (!value) return tl::unexpected(value.error());
      out = static_cast<float>(*value);
      return {};
    });
  }

  Status text(const std::string& flag, std::string& out) const {
    return read(flag, nullptr, [&](const std::string& what, const std::string& value) -> Status {
      if (value.empty()) return fail(ErrorKind::usage, what + " needs a value");
      out = value;
      return {};
    });
  }

 private:
  const CLI::App& app_;
  const Environment& environment_;
};

void declare(CLI::App& app) {
  const auto value = [&app](const char* name, const char* type, const std::string& help, const char* group) {
    app.add_option(name)->description(help)->type_name(type)->expected(1)->group(group);
  };
  value("--model", "FILE", "target model (GGUF: F32, F16 or Q8_0)", "Models");
  value("--draft", "FILE", "draft model with the same vocabulary; \"none\" switches DM_DRAFT off", "Models");
  app.add_flag("--draft-ngram")->description("look drafts up in the text so far instead")->group("Models");
  value("--lookahead", "N", "draft tokens a step, 0 to 32; 0 = no speculation (default 5)", "Models");

  value("--prompt", "TEXT", "one prompt", "Prompts (exactly one)");
  value("--prompt-file", "FILE", "one prompt; - reads standard input", "Prompts (exactly one)");
  value("--prompts", "FILE", "JSONL: {\"id\",\"prompt\",\"max_tokens\",\"class\"}, all handed in at once",
        "Prompts (exactly one)");
  value("--trace", "FILE", "the same, with \"arrival_ms\" respected", "Prompts (exactly one)");

  value("--max-tokens", "N", "output tokens a request (default 128)", "Sampling");
  value("--temperature", "T", "0 = greedy (default)", "Sampling");
  value("--top-p", "P", "keep the most probable tokens up to this sum (default 1)", "Sampling");
  value("--seed", "S", "seed of the draws (default 0)", "Sampling");

  value("--batch", "B", "sequences held at once (default 1)", "Running");
  value("--max-concurrent", "N", "sequences that run at once; 0 = the batch (default)", "Running");
  value("--prefill-chunk", "N", "prompt tokens a step (default 64)", "Running");
  value("--context", "N", "positions a sequence may have (default: what the model was trained for)", "Running");
  value("--threads", "N", "compute threads (default: the CPUs this process may use)", "Running");
  value("--kv-type", "TYPE", "f16 (default) or f32", "Running");
  value("--baseline-every", "N",
        "every N steps run 4 without speculation, to measure what it gains; 0 = never (default)", "Running");
  value("--kernel-events", "on|off", "record one slice a kernel class and layer (default on)", "Running");
  app.add_flag("--json")->description("print one JSON object: text, counts, times, knobs")->group("Running");

  value("--resident", "SIZE", "memory for weights, e.g. 8MiB; the rest is streamed (default: all resident)",
        "Streaming");
  value("--backing", "HOW",
        "where streamed weights come from: file (default) or throttle:BW,LATENCY, e.g. throttle:2GB/s,50us",
        "Streaming");
  value("--cache-policy", "N", "0 LRU, 1 LFU with ageing, 2 prediction-aware (default)", "Streaming");
  value("--prefetch-distance", "N", "blocks fetched ahead; 0 = none (default 8)", "Streaming");
  value("--save-transitions", "FILE", "write the learned transition matrix at the end", "Streaming");
  value("--load-transitions", "FILE", "start from a saved transition matrix", "Streaming");
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) names.push_back(option->get_name());
  return names;
}

Status no_extras(const CLI::App& app) {
  const auto extras = app.remaining();
  if (extras.empty()) return {};
  const std::string name = extras.front().substr(0, extras.front().find('='));
  if (name.empty() || name[0] != '-')
    return fail(ErrorKind::usage, fmt::format("unexpected argument \"{}\"; see dm-engine --help", name));
  const std::string near = nearest(name, option_names(app));
  return fail(ErrorKind::usage, fmt::format("unknown flag {}{}", name,
                                            near.empty() ? "; see dm-engine --help" : "; did you mean " + near + "?"));
}

Status read_prompt_source(const Values& values, CommandLine& out) {
  struct Source {
    const char* flag;
    PromptSource source;
  };
  int given = 0;
  for (const auto& [flag, source] :
       {Source{"--prompt", PromptSource::text}, Source{"--prompt-file", PromptSource::file},
        Source{"--prompts", PromptSource::requests}, Source{"--trace", PromptSource::trace}}) {
    if (!values.by_flag(flag)) continue;
    ++given;
    out.source = source;
    DMPROF_TRY(values.read(flag, nullptr, [&out](const std::string&, const std::string& text) -> Status {
      out.prompt = text;
      return {};
    }));
  }
  if (given == 1) return {};
  return fail(ErrorKind::usage,
              given == 0 ? "a prompt is needed: --prompt TEXT, --prompt-file FILE, --prompts FILE or --trace FILE"
                         : "--prompt, --prompt-file, --prompts and --trace exclude each other");
}

Status read_draft(const Values& values, Settings& s) {
  if (values.by_flag("--draft") && values.by_flag("--draft-ngram")) {
    return fail(ErrorKind::usage, "--draft and --draft-ngram exclude each other");
  }
  s.draft_ngram = values.by_flag("--draft-ngram");
  if (s.draft_ngram) return {};
  return values.read("--draft", "DM_DRAFT", [&s](const std::string& what, const std::string& text) -> Status {
    if (text.empty()) return fail(ErrorKind::usage, what + " needs a file, or \"none\"");
    s.draft_ngram = text == "ngram";
    if (!s.draft_ngram && text != "none") s.draft = text;
    return {};
  });
}

Status read_choices(const Values& values, Settings& s) {
  DMPROF_TRY(values.read("--kv-type", nullptr, [&s](const std::string& what, const std::string& text) -> Status {
    if (text != "f16" && text != "f32") return fail(ErrorKind::usage, what + " must be f16 or f32");
    s.kv_f32 = text == "f32";
    return {};
  }));
  DMPROF_TRY(values.read("--kernel-events", nullptr, [&s](const std::string& what, const std::string& text) -> Status {
    if (text != "on" && text != "off") return fail(ErrorKind::usage, what + " must be on or off");
    s.kernel_events = text == "on";
    return {};
  }));
  return values.read("--resident", nullptr, [&s](const std::string& what, const std::string& text) -> Status {
    auto bytes = parse_size(what, text);
    if (!bytes) return tl::unexpected(bytes.error());
    s.resident = *bytes;
    return {};
  });
}

Status read_settings(const Values& values, Settings& s) {
  DMPROF_TRY(values.text("--model", s.model));
  DMPROF_TRY(read_draft(values, s));
  DMPROF_TRY(values.whole("--lookahead", "DM_LOOKAHEAD", s.lookahead, 0, max_lookahead));
  DMPROF_TRY(values.whole("--max-tokens", nullptr, s.max_tokens, 1, 1U << 20));
  DMPROF_TRY(values.real("--temperature", s.sampling.temperature, 0, 100));
  DMPROF_TRY(values.real("--top-p", s.sampling.top_p, 1e-6, 1));
  DMPROF_TRY(values.whole("--seed", nullptr, s.sampling.seed, 0, UINT64_MAX));
  DMPROF_TRY(values.whole("--batch", nullptr, s.batch, 1, max_batch));
  DMPROF_TRY(values.whole("--max-concurrent", "DM_MAX_CONCURRENT", s.max_concurrent, 0, max_batch));
  DMPROF_TRY(values.whole("--prefill-chunk", nullptr, s.prefill_chunk, 1, 4096));
  DMPROF_TRY(values.whole("--context", nullptr, s.context, 2, 1U << 20));
  DMPROF_TRY(values.whole("--threads", nullptr, s.threads, 1, max_threads));
  DMPROF_TRY(values.whole("--baseline-every", nullptr, s.baseline_every, 0, 1000000));
  DMPROF_TRY(values.whole("--cache-policy", "DM_CACHE_POLICY", s.cache_policy, 0, 2));
  DMPROF_TRY(values.whole("--prefetch-distance", nullptr, s.prefetch_distance, 0, 4096));
  DMPROF_TRY(values.text("--backing", s.backing));
  DMPROF_TRY(values.text("--save-transitions", s.save_transitions));
  DMPROF_TRY(values.text("--load-transitions", s.load_transitions));
  DMPROF_TRY(read_choices(values, s));
  if (s.model.empty()) return fail(ErrorKind::usage, "--model FILE is needed");
  if (values.by_flag("--backing") && s.resident == 0) {
    return fail(ErrorKind::usage,
                "--backing needs --resident SIZE: without it all weights stay in memory and nothing is streamed");
  }
  if (auto backing = parse_backing(s.backing); !backing) return tl::unexpected(backing.error());
  return {};
}

// CLI11's own messages may span lines; the first one says it.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

Result<CommandLine> parse_command_line(std::span<const std::string> args, const Environment& environment) {
  CLI::App app(description, "dm-engine");
  app.footer(footer);
  app.set_version_flag("--version", "dm-engine " + std::string(dmprof::version));
  app.allow_extras();
  declare(app);
  CommandLine out;
  try {
    std::vector<std::string> reversed(args.rbegin(), args.rend());  // as CLI11 wants them
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    out.answer = app.help();
    return out;
  } catch (const CLI::CallForVersion& version) {
    out.answer = std::string(version.what()) + "\n";
    return out;
  } catch (const CLI::Error& error) {
    return fail(ErrorKind::usage, first_line(error.what()));
  }
  DMPROF_TRY(no_extras(app));
  const Values values(app, environment);
  out.settings.threads = std::clamp(std::thread::hardware_concurrency(), 1U, max_threads);
  DMPROF_TRY(read_settings(values, out.settings));
  DMPROF_TRY(read_prompt_source(values, out));
  out.json = values.by_flag("--json");
  for (const auto& name : option_names(app)) {
    if (values.by_flag(name)) out.settings.flags.insert(name);
  }
  return out;
}

}  // namespace dmengine
