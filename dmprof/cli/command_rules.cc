// dmprof rules: look at the playbook, check it, run its own test vectors.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dmprof/base/suggest.h"
#include "dmprof/cli/commands.h"
#include "dmprof/cli/evaluation.h"
#include "dmprof/cli/output.h"
#include "dmprof/cli/playbook.h"
#include "dmprof/report/metric_json.h"
#include "dmprof/report/playbook_markdown.h"
#include "rules/engine/lint.h"

namespace dmprof::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Flags {
  std::vector<std::string> folders;
  std::string id;
};

Json rule_json(const rules::Rule& rule) {
  Json thresholds = Json::object();
  for (const auto& [name, value] : rule.thresholds) thresholds[name] = value;
  Json details = Json::array();
  for (const rules::Detail& detail : rule.details)
    details.push_back({{"on", detail.on == rules::Detail::On::fires ? "fires" : "quiet"},
                       {"when", detail.when},
                       {"text", detail.text.en}});
  Json fixes = Json::array();
  for (const rules::Fix& fix : rule.fixes)
    fixes.push_back({{"knob", fix.knob},
                     {"to", fix.to},
                     {"note", fix.note.en},
                     {"note_zh", fix.note.zh},
                     {"command", fix.command}});
  return {{"rule", rule.id},
          {"title", rule.title.en},
          {"severity", rules::to_text(rule.severity)},
          {"confidence", rule.confidence},
          {"source", rule.source},
          {"conditions", rule.all},
          {"thresholds", thresholds},
          {"because", rule.because.en},
          {"clears", rule.clears.en},
          {"details", details},
          {"instrument", rule.distrusts.has_value()},
          {"checks", rule.checks},
          {"fixes", fixes},
          {"vectors", rule.vectors.size()},
          {"file", rule.file}};
}

Result<ExitStatus> list(const std::vector<rules::Rule>& playbook, bool json) {
  std::string text;
  Json all = Json::array();
  for (const rules::Rule& rule : playbook) {
    all.push_back(rule_json(rule));
    text += fmt::format("{:<32} {:<8} {}\n", rule.id, rules::to_text(rule.severity), rule.title.en);
  }
  DMPROF_TRY(write_out(json ? report::dump(Json{{"rules", all}}) + "\n" : text));
  return ExitStatus::done;
}

Result<ExitStatus> show(const std::vector<rules::Rule>& playbook, const std::string& id, bool json) {
  std::vector<std::string> ids;
  for (const rules::Rule& rule : playbook) {
    ids.push_back(rule.id);
    if (rule.id != id) continue;
    if (json) {
      DMPROF_TRY(write_out(report::dump(rule_json(rule)) + "\n"));
      return ExitStatus::done;
    }
    std::string text = fmt::format("{}  {}\nseverity {}, confidence {}, source {}\n\nfires when all of\n", rule.id,
                                   rule.title.en, rules::to_text(rule.severity), rule.confidence, rule.source);
    for (const std::string& condition : rule.all) text += fmt::format("  {}\n", condition);
    for (const auto& [name, value] : rule.thresholds) text += fmt::format("  :{} = {}\n", name, value);
    text += fmt::format("because {}\n", rule.because.en);
    for (const rules::Detail& detail : rule.details)
      text += fmt::format("{} {}: {}\n", detail.on == rules::Detail::On::fires ? "adds, when" : "cleared, when",
                          detail.when, detail.text.en);
    if (rule.distrusts && !rule.distrusts->empty())
      text += fmt::format("distrusts {}\n", fmt::join(*rule.distrusts, ", "));
    for (const std::string& check : rule.checks) text += fmt::format("check: {}\n", check);
    for (const rules::Fix& fix : rule.fixes) {
      text += fmt::format("fix: {} -> {}{}{}\n", fix.knob, fix.to, fix.when.empty() ? "" : ", when ", fix.when);
      for (const auto& [engine, command] : fix.command) text += fmt::format("  {}: {}\n", engine, command);
    }
    DMPROF_TRY(write_out(text));
    return ExitStatus::done;
  }
  if (id.empty()) return fail(ErrorKind::usage, "dmprof rules show needs a rule's name; dmprof rules list shows them");
  return fail(ErrorKind::usage,
              fmt::format("there is no rule {}{}; dmprof rules list shows them", id, did_you_mean(id, ids)));
}

// Complaints are the answer, not an error of the program: they go to standard output, and the exit status is bad input.
Result<ExitStatus> complain(const std::vector<rules::Complaint>& complaints, std::size_t rules, bool json,
                            std::string_view fine) {
  Json all = Json::array();
  std::string text;
  for (const rules::Complaint& complaint : complaints) {
    all.push_back({{"rule", complaint.rule}, {"file", complaint.file}, {"message", complaint.message}});
    text += complaint.rule.empty() ? complaint.message + '\n'
                                   : fmt::format("{}: {}: {}\n", complaint.file, complaint.rule, complaint.message);
  }
  if (complaints.empty()) text = fmt::format("{} rules: {}\n", rules, fine);
  DMPROF_TRY(write_out(json ? report::dump(Json{{"rules", rules}, {"complaints", all}}) + "\n" : text));
  return complaints.empty() ? ExitStatus::done : ExitStatus::bad_input;
}

std::vector<rules::Complaint> refusals(const std::vector<Error>& refused) {
  std::vector<rules::Complaint> complaints;
  for (const Error& error : refused) complaints.push_back({"", "", error.message});
  return complaints;
}

Error all_refused(const std::vector<Error>& refused) {
  Error error = refused.front();
  if (refused.size() > 1) error.message += fmt::format(" (and {} more; see dmprof rules lint)", refused.size() - 1);
  return error;
}

}  // namespace

DeclaredCommand declare_rules(const Syntax& root, const std::shared_ptr<Shared>& shared) {
  const Syntax app = root.command("rules", "List, show, test or lint the rules of the playbook");
  auto flags = std::make_shared<Flags>();
  const auto add = [&](const char* name, const char* help) {
    const Syntax sub = app.command(name, help);
    sub.flag("--json", shared->json, "Print JSON");
    sub.texts("--rules", flags->folders, "DIR", "Folder with rules of your own, beside the built-in ones");
    return sub;
  };
  const Syntax list_app = add("list", "One line a rule");
  auto markdown = std::make_shared<bool>(false);
  list_app.flag("--markdown", *markdown, "Print the page docs/playbook.md");
  const Syntax show_app = add("show", "Everything about one rule");
  show_app.text("RULE", flags->id, "", "Its name");
  const Syntax test_app = add("test", "Run the test vectors of every rule");
  const Syntax lint_app = add("lint", "Check every rule against the metric catalogue");
  return {app, [=]() -> Result<ExitStatus> {
            auto playbook = load_playbook(flags->folders);
            if (!playbook) return tl::unexpected(playbook.error());
            const std::vector<rules::Rule>& known = playbook->rules;
            if (test_app.typed() || lint_app.typed()) {
              std::vector<rules::Complaint> complaints = refusals(playbook->refused);
              const auto found =
                  test_app.typed() ? rules::run_vectors(known, catalogue()) : rules::lint(known, catalogue());
              complaints.insert(complaints.end(), found.begin(), found.end());
              return complain(complaints, known.size(), shared->json,
                              test_app.typed() ? "every vector does what it says" : "nothing to complain about");
            }
            if (list_app.typed() && *markdown) {
              DMPROF_TRY(write_out(report::playbook_markdown(known)));
              return ExitStatus::done;
            }
            if (list_app.typed() || show_app.typed()) {
              auto shown = list_app.typed() ? list(known, shared->json) : show(known, flags->id, shared->json);
              // Its rules were shown; that a file holds none is still a mistake.
              if (shown && !playbook->refused.empty()) return tl::unexpected(all_refused(playbook->refused));
              return shown;
            }
            return fail(ErrorKind::usage, "dmprof rules needs one of list, show, test, lint; see dmprof rules --help");
          }};
}

}  // namespace dmprof::cli
