// dmprof rules: look at the playbook, check it, run its own test vectors.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "dmprof/base/suggest.h"
#include "dmprof/cli/commands.h"
#include "dmprof/cli/evaluation.h"
#include "dmprof/cli/output.h"
#include "dmprof/cli/playbook.h"
#include "dmprof/report/metric_json.h"
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
  Json fixes = Json::array();
  for (const rules::Fix& fix : rule.fixes)
    fixes.push_back({{"knob", fix.knob}, {"to", fix.to}, {"note", fix.note}, {"command", fix.command}});
  return {{"rule", rule.id},
          {"title", rule.title.en},
          {"severity", rules::to_text(rule.severity)},
          {"confidence", rule.confidence},
          {"source", rule.source},
          {"conditions", rule.all},
          {"thresholds", thresholds},
          {"because", rule.because.en},
          {"clears", rule.clears.en},
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
    for (const std::string& check : rule.checks) text += fmt::format("check: {}\n", check);
    for (const rules::Fix& fix : rule.fixes) text += fmt::format("fix: {} -> {}\n", fix.knob, fix.to);
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
    text += fmt::format("{}: {}: {}\n", complaint.file, complaint.rule, complaint.message);
  }
  if (complaints.empty()) text = fmt::format("{} rules: {}\n", rules, fine);
  DMPROF_TRY(write_out(json ? report::dump(Json{{"rules", rules}, {"complaints", all}}) + "\n" : text));
  return complaints.empty() ? ExitStatus::done : ExitStatus::bad_input;
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
  const Syntax show_app = add("show", "Everything about one rule");
  show_app.text("RULE", flags->id, "", "Its name");
  const Syntax test_app = add("test", "Run the test vectors of every rule");
  const Syntax lint_app = add("lint", "Check every rule against the metric catalogue");
  return {app, [=]() -> Result<ExitStatus> {
            auto playbook = load_playbook(flags->folders);
            if (!playbook) return tl::unexpected(playbook.error());
            if (list_app.typed()) return list(*playbook, shared->json);
            if (show_app.typed()) return show(*playbook, flags->id, shared->json);
            if (test_app.typed())
              return complain(rules::run_vectors(*playbook, catalogue()), playbook->size(), shared->json,
                              "every vector does what it says");
            if (lint_app.typed())
              return complain(rules::lint(*playbook, catalogue()), playbook->size(), shared->json,
                              "nothing to complain about");
            return fail(ErrorKind::usage, "dmprof rules needs one of list, show, test, lint; see dmprof rules --help");
          }};
}

}  // namespace dmprof::cli
