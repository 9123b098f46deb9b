#include "samples/simcard/fit/commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <vector>

#include "analyzers/registry/load.h"
#include "dmprof/base/exit_status.h"
#include "samples/simcard/cli/words.h"
#include "samples/simcard/fit/answer.h"
#include "samples/simcard/fit/fit_file.h"
#include "samples/simcard/fit/predict.h"
#include "samples/simcard/fit/settings.h"

namespace dmprof::twin {
namespace {

constexpr const char* kFit =
    "Fits a twin of dm-engine to recordings of it. The first recording is the base that predictions start from; more "
    "recordings of the\n"
    "same requests add other drafts and settings that are then profiled instead of predicted.";
constexpr const char* kPredict =
    "Predicts dm-engine's figures under other settings from a fitted twin. Knobs: lookahead, draft, resident, "
    "cache_policy,\n"
    "prefetch_distance, batch, max_concurrent, prefill_chunk, baseline_every, backing. Every figure has an interval; "
    "what had to be assumed\n"
    "is listed.";

int failed(const Error& error) { return report_error("dm-simcard", error); }

int answered(const std::string& text) {
  const Status written = write_all(stdout, text);
  return written ? 0 : failed(written.error());
}

Result<NamedRecording> load(const std::string& path) {
  const auto reader = Reader::open(path);
  if (!reader) return tl::unexpected(reader.error());
  auto recording = load_recording(*reader, Events::slices | Events::requests | Events::steps | Events::speculation |
                                               Events::accesses | Events::transfers | Events::kernels);
  if (!recording) return tl::unexpected(recording.error());
  return NamedRecording{path, std::move(*recording)};
}

int run_fit(const std::vector<std::string>& paths, const std::string& output, bool json) {
  std::vector<NamedRecording> recordings;
  for (std::size_t i = 0; i < paths.size(); ++i) {
    std::error_code unknown;
    for (std::size_t before = 0; before < i; ++before) {
      if (std::filesystem::equivalent(paths[before], paths[i], unknown))
        return failed({ErrorKind::usage, fmt::format("{} is named twice; name each recording once", paths[i])});
    }
  }
  for (const std::string& path : paths) {
    auto recording = load(path);
    if (!recording) return failed(recording.error());
    recordings.push_back(std::move(*recording));
  }
  const auto fitted = fit(recordings);
  if (!fitted) return failed(fitted.error());
  if (auto written = write_fit(*fitted, output); !written) return failed(written.error());
  return answered(json ? fit_json(*fitted, output) : fit_answer(*fitted, output));
}

int run_predict(const std::string& path, const std::vector<std::string>& sets, bool json) {
  const auto fitted = read_fit(path);
  if (!fitted) return failed(fitted.error());
  std::string all;
  for (const std::string& set : sets) all += (all.empty() ? "" : ",") + set;
  const auto question = parse_settings(*fitted, all);
  if (!question) return failed(question.error());
  const auto prediction = predict(*fitted, *question);
  if (!prediction) return failed(prediction.error());
  return answered(json ? prediction_json(*fitted, *prediction) : prediction_answer(*fitted, *prediction));
}

}  // namespace

bool is_twin_command(std::string_view word) { return word == "fit" || word == "predict"; }

int run_twin_command(std::span<const std::string> args) {
  const bool fits = !args.empty() && args[0] == "fit";
  CLI::App app(fits ? kFit : kPredict, fits ? "dm-simcard fit" : "dm-simcard predict");
  std::vector<std::string> inputs, sets;
  std::string output, file;
  bool json = false;
  app.add_flag("--json", json, "Print one JSON object");
  if (fits) {
    app.add_option("RECORDING", inputs, "Recordings of dm-engine, the base first")->required();
    app.add_option("-o,--output", output, "File to write: YAML, or JSON where it ends in .json")
        ->required()
        ->type_name("FILE");
  } else {
    app.add_option("FILE", file, "What dm-simcard fit wrote")->required();
    app.add_option("--set", sets, "KNOB=VALUE,…: what differs from the base recording")
        ->type_name("KNOB=VALUE")
        ->take_all()
        ->expected(1);
  }
  simcard::refuse_empty_values(app);
  if (const std::string wrong = simcard::unknown_flag(app, args.subspan(1)); !wrong.empty())
    return failed({ErrorKind::usage, fmt::format("{}; see dm-simcard {} --help", wrong, args[0])});
  try {
    std::vector<std::string> reversed(args.begin() + 1, args.end());
    std::reverse(reversed.begin(), reversed.end());
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    return answered(app.help());
  } catch (const CLI::Error& error) {
    const std::string text = error.what();
    return failed(
        {ErrorKind::usage, fmt::format("{}; see dm-simcard {} --help", text.substr(0, text.find('\n')), args[0])});
  }
  return fits ? run_fit(inputs, output, json) : run_predict(file, sets, json);
}

}  // namespace dmprof::twin
