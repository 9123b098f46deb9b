#include "samples/simcard/cli/run_command.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include "dmprof/base/exit_status.h"
#include "dmprof/base/quantity.h"
#include "dmprof/base/suggest.h"
#include "samples/simcard/card/read.h"
#include "samples/simcard/cli/progress.h"
#include "samples/simcard/cli/summary.h"
#include "samples/simcard/cli/words.h"
#include "samples/simcard/config/embedded.h"
#include "samples/simcard/knobs/knobs.h"
#include "samples/simcard/record/recorder.h"
#include "samples/simcard/record/row_recorder.h"
#include "samples/simcard/scenario/table.h"

namespace dmprof::simcard {
namespace {

constexpr std::uint32_t kMostCards = 4096;

struct Arguments {
  std::string scenario, duration, workload, acceptance_fit;
  std::string seed;  // empty: the scenario's own, 1
  std::string cards = "1";
  bool json = false;
};

Result<SimTime> duration(const std::string& text) {
  const Result<double> value = parse_quantity(text, Quantity::duration);
  if (!value)
    return fail(ErrorKind::usage, fmt::format("--duration {}: {}", text.substr(0, 40), value.error().message));
  const SimTime time = from_seconds(*value);
  if (time <= 0 || *value > seconds(kLongestRun))
    return fail(ErrorKind::usage, fmt::format("--duration {}: virtual time must be above 0 and at most a day; write 2s",
                                              text.substr(0, 40)));
  return time;
}

// Rows of the table go by their ids in either case: A4, a4.
Result<Document> open_scenario(const std::string& name) {
  std::string lower = name;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  const bool file = name.find('/') != std::string::npos || name.ends_with(".yaml");
  return open_description("scenarios", file ? name : lower);
}

// A row is an experiment of several runs: its figures are computed, and the run that stands for it is recorded.
Status run_row(const Document& document, const Arguments& arguments, std::span<const Experiment> experiments) {
  const Result<std::uint64_t> seed = parse_whole("--seed", arguments.seed.empty() ? "1" : arguments.seed, 0, INT64_MAX);
  if (!seed) return tl::unexpected(seed.error());
  if (!arguments.duration.empty() || arguments.cards != "1" || !arguments.workload.empty() ||
      !arguments.acceptance_fit.empty())
    return fail(ErrorKind::usage, arguments.scenario +
                                      " is a row of the table and sets duration, cards, workload and acceptance "
                                      "itself; leave --duration, --cards, --workload and --acceptance-fit out");
  if (const std::string unused = unused_variables([](const char* name) -> const char* { return std::getenv(name); },
                                                  arguments.scenario + " has its own");
      !unused.empty())
    fmt::print(stderr, "dm-simcard: warning: {}\n", unused);
  Result<Scenario> scenario = read_scenario(document);
  if (!scenario) return tl::unexpected(scenario.error());
  if (!arguments.seed.empty()) scenario->seed = static_cast<std::int64_t>(*seed);
  RowRecorder recorder;
  Result<Outcome> outcome = run_scenario(*scenario, experiments, &recorder);
  if (!outcome) return tl::unexpected(outcome.error());
  if (const std::string remark = recorder.remark(scenario->id); !remark.empty())
    fmt::print(stderr, "dm-simcard: {}\n", remark);
  const std::vector<Outcome> rows{std::move(*outcome)};
  return write_all(stdout, arguments.json ? table_json(rows) : table_text(rows));
}

// `--workload`: a trace, a file with the keys of a scenario's workload, or those keys themselves.
Status override_workload(const std::string& text, WorkloadParameters& workload) {
  if (text.empty()) return {};
  const bool keys = text.find(": ") != std::string::npos;
  if (!keys && !text.ends_with(".yaml")) return use_trace(text, workload);
  const Result<Document> document =
      keys ? Document::parse(text.starts_with('{') ? text : "{" + text + "}", "--workload") : Document::load(text);
  if (!document) return tl::unexpected(document.error());
  return read_workload(document->root(), workload);
}

Result<RunDescription> describe(const Document& document, const Arguments& arguments) {
  RunDescription description;
  description.scenario = arguments.scenario;
  const Result<std::uint64_t> seed =
      parse_whole("--seed", arguments.seed.empty() ? "1" : arguments.seed, 0, UINT64_MAX);
  if (!seed) return tl::unexpected(seed.error());
  const Result<std::uint64_t> cards = parse_whole("--cards", arguments.cards, 1, kMostCards);
  if (!cards) return tl::unexpected(cards.error());
  description.options.seed = *seed;
  description.options.cards = static_cast<std::uint32_t>(*cards);
  Result<CardScenario> scenario = read_card_scenario(document.root());
  if (!scenario) return tl::unexpected(scenario.error());
  description.title = scenario->title;
  description.parameters = scenario->parameters;
  description.options.duration = scenario->duration;
  if (!arguments.duration.empty()) {
    const Result<SimTime> time = duration(arguments.duration);
    if (!time) return tl::unexpected(time.error());
    description.options.duration = *time;
  }
  DMPROF_TRY(override_workload(arguments.workload, description.parameters.workload));
  if (!arguments.acceptance_fit.empty()) {
    if (const Status read = use_fit(arguments.acceptance_fit, description.parameters.acceptance); !read)
      return fail(read.error().kind, "--acceptance-fit: " + read.error().message);
  }
  DMPROF_TRY(read_environment([](const char* name) -> const char* { return std::getenv(name); },
                              description.parameters.settings));
  DMPROF_TRY(check(description.parameters));
  return description;
}

// A variable that only looks like one of the card's does nothing; said, since nobody would notice.
void tell_misspelt_variables() {
  std::vector<std::string> known(variables.begin(), variables.end());
  known.emplace_back("DM_SYSFS_ROOT");
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string name = std::string(*entry).substr(0, std::string_view(*entry).find('='));
    if (!name.starts_with("DM_") || std::find(known.begin(), known.end(), name) != known.end()) continue;
    if (const std::string near = did_you_mean(name, known); !near.empty())
      fmt::print(stderr, "dm-simcard: warning: nothing reads {}{}\n", name.substr(0, 60), near);
  }
}

Status run(const Arguments& arguments, std::span<const Experiment> experiments) {
  tell_misspelt_variables();
  const Result<Document> document = open_scenario(arguments.scenario);
  if (!document) return tl::unexpected(document.error());
  if (document->root().has("experiment")) return run_row(*document, arguments, experiments);
  Result<RunDescription> description = describe(*document, arguments);
  if (!description) return tl::unexpected(description.error());
  Settings& settings = description->parameters.settings;
  Result<Sysfs> sysfs =
      Sysfs::open([](const char* name) -> const char* { return std::getenv(name); }, settings.interleave);
  if (!sysfs) return tl::unexpected(sysfs.error());
  const Result<bool> interleave = sysfs->interleave();
  if (!interleave) return tl::unexpected(interleave.error());
  settings.interleave = *interleave;
  fmt::print(stderr, "dm-simcard: {}, seed {}, {:g} s of virtual time; interleave_sched is {} in {}\n",
             description->scenario, description->options.seed, seconds(description->options.duration),
             settings.interleave ? 1 : 0, sysfs->interleave_path());
  Recorder recorder(description->parameters, description->options.cards);
  if (recorder.attached() && description->options.cards > kMostRecordedCards)
    return fail(ErrorKind::usage, fmt::format("--cards {}: at most {} cards can be recorded; name fewer, or run it "
                                              "without a recorder",
                                              description->options.cards, kMostRecordedCards));
  const std::uint32_t knob = register_knobs(settings, sysfs->interleave_path());
  std::optional<Progress> progress;  // beside a recorder two lines would redraw each other
  if (!recorder.attached()) progress.emplace(description->options.duration);
  const Poll poll = [&](SimTime time, const std::vector<std::unique_ptr<Card>>& cards) {
    if (progress) progress->show(time);
    const std::optional<bool> now = sysfs->watch();
    if (!now || *now == settings.interleave) return;
    settings.interleave = *now;
    dmprof_knob_set(knob, *now ? "1" : "0");
    for (const std::unique_ptr<Card>& card : cards) card->set_interleave(*now);
  };
  // Without a recorder nobody looks, and the cards need not say what they do.
  const Observers observers = [&recorder](std::uint32_t card) { return recorder.card(card); };
  const RunResult result = run_cards(description->parameters, description->options, observers, poll);
  progress.reset();
  recorder.bench(description->parameters, description->options.seed, result.ended);
  DMPROF_TRY(
      write_all(stdout, arguments.json ? summary_json(*description, result) : summary_text(*description, result)));
  if (result.verdict.empty() &&
      result.in_flight > result.card.completed + description->parameters.most_batch * description->options.cards)
    fmt::print(
        stderr,
        "dm-simcard: warning: more requests are unfinished at the end ({}) than have ended ({}): the load is above "
        "what is served\n",
        result.in_flight, result.card.completed);
  if (!result.verdict.empty()) return fail(ErrorKind::bad_input, result.verdict);
  return {};
}

// A word that nothing knows, with the nearest that is known; "" when there is none.
std::string unknown_word(const CLI::App& app, int argc, const char* const* argv) {
  if (argc > 1 && argv[1][0] != '-' && argv[1][0] != '\0') {
    const std::vector<std::string> commands = {"scenarios", "fit", "predict", "fit-table"};
    return fmt::format("there is no command {}{}", std::string(argv[1]).substr(0, 60), did_you_mean(argv[1], commands));
  }
  return unknown_flag(app, std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}

}  // namespace

int run_command(int argc, const char* const* argv, std::span<const Experiment> experiments) {
  CLI::App app{"Simulates the card: see samples/simcard/README.md", "dm-simcard"};
  Arguments arguments;
  app.add_option("--scenario", arguments.scenario, "a scenario by name, or a .yaml file")->required();
  app.add_option("--seed", arguments.seed, "of all random choices (default 1)");
  app.add_option("--duration", arguments.duration, "virtual time to simulate: 2s, 500ms");
  app.add_option("--cards", arguments.cards, "cards side by side, each with requests of its own")
      ->capture_default_str();
  app.add_option("--workload", arguments.workload,
                 "other requests than the scenario's: a trace file (.csv, .jsonl), or keys as a scenario's workload "
                 "has them, such as 'arrivals: poisson, rate: 20/s', or a .yaml file of such keys");
  app.add_option("--acceptance-fit", arguments.acceptance_fit,
                 "acceptance of drafts as dm-simcard fit measured it: the file it wrote");
  app.add_flag("--json", arguments.json, "one JSON object, for scripts");
  app.footer(
      "dm-simcard scenarios prints the table of claims; fit and predict are the twin of dm-engine (see fit --help).\n"
      "DM_DRAFT, DM_LOOKAHEAD, DM_CACHE_POLICY and DM_MAX_CONCURRENT override the scenario's settings.");
  refuse_empty_values(app);
  if (const std::string wrong = unknown_word(app, argc, argv); !wrong.empty())
    return report_error("dm-simcard", {ErrorKind::usage, wrong + "; see dm-simcard --help"});
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    return report_error("dm-simcard", {ErrorKind::usage, std::string(error.what()) + "; see dm-simcard --help"});
  }
  const Status status = run(arguments, experiments);
  return status ? 0 : report_error("dm-simcard", status.error());
}

}  // namespace dmprof::simcard
