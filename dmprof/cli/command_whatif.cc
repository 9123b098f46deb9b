// dmprof whatif: what the recording predicts for other knobs.
#include <fmt/format.h>

#include "dmprof/cli/commands.h"
#include "dmprof/cli/coverage.h"
#include "dmprof/cli/output.h"
#include "dmprof/cli/recordings.h"
#include "dmprof/cli/terminal.h"
#include "dmprof/cli/whatif_source.h"
#include "dmprof/report/prediction.h"
#include "dmprof/store/reader.h"

namespace dmprof::cli {

namespace {

struct Flags {
  std::string file;
  std::vector<std::string> settings;
  std::vector<std::string> profiles;
};

Result<std::vector<whatif::Setting>> settings_of(const std::vector<std::string>& lists) {
  if (lists.empty()) return fail(ErrorKind::usage, "whatif needs --set KNOB=VALUE,…, such as --set lookahead=8");
  std::string joined;
  for (const std::string& list : lists) joined += (joined.empty() ? "" : ",") + list;
  return whatif::parse_settings(joined);
}

Result<ExitStatus> whatif_command(const Flags& flags, bool json) {
  auto settings = settings_of(flags.settings);
  if (!settings) return tl::unexpected(settings.error());
  auto recording = recording_or_newest(flags.file);
  if (!recording) return tl::unexpected(recording.error());
  auto source = WhatIfSource::open(*recording, flags.profiles);
  if (!source) return tl::unexpected(source.error());
  auto prediction = (*source)->model().predict(*settings);
  if (!prediction) return tl::unexpected(prediction.error());
  auto reader = Reader::open(recording->string());
  if (!reader) return tl::unexpected(reader.error());
  auto note = coverage_note(*reader);
  if (!note) return tl::unexpected(note.error());
  if (json) {
    DMPROF_TRY(write_out(report::prediction_json(recording->string(), *prediction, *note)));
  } else {
    DMPROF_TRY(write_out(fmt::format("{}\n{}{}", recording->string(), *note, note->empty() ? "" : "\n") +
                         report::prediction_text(*prediction, report::Style(wants_colour(stdout)))));
  }
  return prediction->reason.empty() ? ExitStatus::done : ExitStatus::cannot_answer;
}

}  // namespace

DeclaredCommand declare_whatif(const Syntax& root, const std::shared_ptr<Shared>& shared) {
  const Syntax app = root.command("whatif", "Predict the metrics under other knobs, from this recording");
  auto flags = std::make_shared<Flags>();
  app.text("FILE", flags->file, "", "Recording; the newest one when left out");
  app.texts("--set", flags->settings, "KNOB=VALUE[,…]", "Knobs to change, by the names the engine registers");
  app.texts("--profile", flags->profiles, "FILE", "Another recording, for what this one cannot know, such as a draft");
  app.flag("--json", shared->json, "Print JSON");
  return {app, [flags, shared] { return whatif_command(*flags, shared->json); }};
}

}  // namespace dmprof::cli
