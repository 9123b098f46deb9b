// dmprof diagnose: where the time goes, what is wrong, what helps, and what is not the problem.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

#include "dmprof/base/suggest.h"
#include "dmprof/cli/commands.h"
#include "dmprof/cli/coverage.h"
#include "dmprof/cli/diagnosis.h"
#include "dmprof/cli/output.h"
#include "dmprof/cli/playbook.h"
#include "dmprof/cli/recordings.h"
#include "dmprof/cli/terminal.h"
#include "dmprof/cli/values.h"
#include "dmprof/cli/verify.h"
#include "dmprof/report/diagnosis_json.h"
#include "dmprof/report/diagnosis_text.h"

namespace dmprof::cli {

namespace {

struct Flags {
  std::string file;
  std::string fail_on;
  std::string slo;
  std::string language;
  std::vector<std::string> rule_folders;
  bool verify = false;
  bool all = false;
  bool yes = false;
  bool full = false;
};

Result<std::optional<rules::Severity>> parse_fail_on(const std::string& word) {
  if (word.empty()) return std::optional<rules::Severity>{};
  if (const auto severity = rules::parse_severity(word)) return severity;
  const std::vector<std::string> severities = {"error", "warning", "info"};
  return fail(ErrorKind::usage, fmt::format("--fail-on: there is no severity {}{}; there are error, warning and info",
                                            word, did_you_mean(word, severities)));
}

// The flag, else the first of the variables that is set, as setlocale(3) reads them.
Result<rules::Language> language_of(const std::string& word) {
  if (!word.empty()) {
    if (const auto language = rules::parse_language(word)) return *language;
    const std::vector<std::string> languages = {"en", "zh"};
    return fail(ErrorKind::usage, fmt::format("--lang: there is no language {}{}; there are en and zh", word,
                                              did_you_mean(word, languages)));
  }
  for (const char* name : {"LC_ALL", "LC_MESSAGES", "LANG"}) {
    const char* locale = std::getenv(name);
    if (locale == nullptr || *locale == '\0') continue;
    return std::string_view(locale).starts_with("zh") ? rules::Language::zh : rules::Language::en;
  }
  return rules::Language::en;
}

Result<ExitStatus> diagnose_command(const Flags& flags, bool json) {
  if ((flags.all || flags.yes) && !flags.verify)
    return fail(ErrorKind::usage, fmt::format("{} goes with --verify; leave it out", flags.all ? "--all" : "--yes"));
  auto fail_on = parse_fail_on(flags.fail_on);
  if (!fail_on) return tl::unexpected(fail_on.error());
  auto language = language_of(flags.language);
  if (!language) return tl::unexpected(language.error());
  Objectives slo;
  if (!flags.slo.empty()) {
    auto parsed = parse_objectives(flags.slo);
    if (!parsed) return tl::unexpected(parsed.error());
    slo = *parsed;
  }
  auto playbook = load_playbook(flags.rule_folders);
  if (!playbook) return tl::unexpected(playbook.error());
  auto recording = recording_or_newest(flags.file);
  if (!recording) return tl::unexpected(recording.error());
  auto diagnosis = diagnose_recording(*recording, playbook->rules, slo);
  if (!diagnosis) return tl::unexpected(diagnosis.error());
  DMPROF_TRY(recall_measured(*recording, *diagnosis));
  if (flags.verify) DMPROF_TRY(verify_fixes(*recording, *diagnosis, {flags.all, flags.yes}));

  for (const Error& refused : playbook->refused) diagnosis->refused.push_back({"", refused.message});

  auto reader = Reader::open(recording->string());
  if (!reader) return tl::unexpected(reader.error());
  auto note = coverage_note(*reader);
  if (!note) return tl::unexpected(note.error());

  const auto detail = flags.full ? report::Detail::full : report::Detail::brief;
  if (json) {
    if (!note->empty()) fmt::print(stderr, "note: {}\n", *note);
    DMPROF_TRY(write_out(report::diagnosis_json(recording->string(), *diagnosis)));
  } else {
    DMPROF_TRY(write_out(fmt::format("{}\n{}{}", recording->string(), *note, note->empty() ? "" : "\n") +
                         report::diagnosis_text(*diagnosis, report::Style(wants_colour(stdout)), *language, detail)));
  }
  const bool met =
      *fail_on && std::any_of(diagnosis->findings.begin(), diagnosis->findings.end(),
                              [&](const rules::Finding& finding) { return finding.severity >= **fail_on; });
  if (met) return ExitStatus::regression;
  if (diagnosis->budget.empty() && diagnosis->findings.empty() && diagnosis->cleared.empty()) {
    return fail(ErrorKind::cannot_answer,
                fmt::format("{} holds nothing a rule could judge: {}", recording->string(), diagnosis->budget_reason));
  }
  return ExitStatus::done;
}

}  // namespace

DeclaredCommand declare_diagnose(const Syntax& root, const std::shared_ptr<Shared>& shared) {
  const Syntax app = root.command("diagnose", "Say where the time goes, what is wrong and what would help");
  auto flags = std::make_shared<Flags>();
  app.text("FILE", flags->file, "", "Recording; the newest one when left out");
  app.flag("--json", shared->json, "Print JSON");
  app.text("--fail-on", flags->fail_on, "SEVERITY",
           "Exit with 1 when a finding is at least this severe: error, warning, info");
  app.flag("--verify", flags->verify,
           "Run the recorded command with the first fix and without it, in turns, and say whether the fix helps");
  app.flag("--all", flags->all, "With --verify: try every fix that can be typed for the recorded engine");
  app.flag("--yes", flags->yes, "With --verify: run without asking");
  app.flag("--full", flags->full, "Say of every rule which number cleared it or what it lacks (--json always does)");
  app.text("--slo", flags->slo, "LIST", "Objectives, such as ttft=200ms,itl=50ms (also tpot, e2e)");
  app.text("--lang", flags->language, "LANGUAGE", "en or zh (else as LC_ALL, LC_MESSAGES or LANG say)");
  app.texts("--rules", flags->rule_folders, "DIR", "Folder with rules of your own, beside the built-in ones");
  return {app, [flags, shared] { return diagnose_command(*flags, shared->json); }};
}

}  // namespace dmprof::cli
