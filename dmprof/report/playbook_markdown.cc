#include "dmprof/report/playbook_markdown.h"

#include <fmt/format.h>

#include "dmprof/report/markdown.h"

namespace dmprof::report {
namespace {

std::string fix_lines(const rules::Fix& fix) {
  using Change = rules::Fix::Change;
  const char* verb = fix.change == Change::raise ? "raise" : fix.change == Change::lower ? "lower" : "set";
  std::string text = fmt::format("- {} {} to {}", verb, markdown_code(fix.knob), markdown_code(fix.to));
  if (!fix.note.en.empty()) text += ": " + markdown_cell(fix.note.en);
  if (!fix.when.empty()) text += fmt::format(" (shown by the recording when {})", markdown_code(fix.when));
  text += '\n';
  for (const auto& [engine, command] : fix.command) text += fmt::format("  - {}: {}\n", engine, markdown_code(command));
  return text;
}

std::string section(const rules::Rule& rule) {
  std::string text =
      fmt::format("## {}\n\n{}. Severity {}, confidence {}, source: {}.\n\n", rule.id, markdown_cell(rule.title.en),
                  rules::to_text(rule.severity), rule.confidence, markdown_cell(rule.source));
  text += rule.distrusts ? "Distrusts the recording when all of\n" : "Symptom: all of\n";
  for (const std::string& condition : rule.all) text += fmt::format("- {}\n", markdown_code(condition));
  if (!rule.thresholds.empty()) {
    text += "\nThresholds: ";
    for (const auto& [name, value] : rule.thresholds)
      text += fmt::format("{}{} = {:g}", name == rule.thresholds.begin()->first ? "" : ", ", name, value);
    text += ".\n";
  }
  text += fmt::format("\nCause: {}\n\nNot when: {}.\n", markdown_cell(rule.because.en), markdown_cell(rule.clears.en));
  for (const rules::Detail& detail : rule.details)
    text += fmt::format("\n{} when {}: {}\n", detail.on == rules::Detail::On::fires ? "Adds" : "Cleared, and says",
                        markdown_code(detail.when), markdown_cell(detail.text.en));
  if (rule.distrusts && !rule.distrusts->empty())
    text += fmt::format("\nWithholds findings that rest on {}.\n", fmt::join(*rule.distrusts, ", "));
  text += "\nCheck:\n";
  for (const std::string& check : rule.checks) text += fmt::format("- {}\n", markdown_code(check));
  if (!rule.fixes.empty()) text += "\nFix:\n";
  for (const rules::Fix& fix : rule.fixes) text += fix_lines(fix);
  return text + '\n';
}

}  // namespace

std::string playbook_markdown(std::span<const rules::Rule> rules) {
  std::string text =
      "# The playbook\n\nMade from the rules themselves (`dmprof rules list --markdown > docs/playbook.md`); change "
      "`rules/playbook/*.yaml`, not this page.\n`{metric}` stands for the value that was measured, `:name` for a "
      "threshold, which a machine profile may override. Gains are never part of a rule: they are predicted or "
      "measured.\nSources: [D] documentation of a vendor or engine, [P] paper, [C] computed, [I] one site's report, "
      "[H] heuristic; I and H alone are low confidence.\n\n| rule | what it finds | severity | confidence |\n"
      "|---|---|---|---|\n";
  for (const rules::Rule& rule : rules)
    text += fmt::format("| [{}](#{}) | {} | {} | {} |\n", rule.id, rule.id, markdown_cell(rule.title.en),
                        rules::to_text(rule.severity), rule.confidence);
  text += '\n';
  for (const rules::Rule& rule : rules) text += section(rule);
  text.pop_back();  // one line end at the end of the page
  return text;
}

}  // namespace dmprof::report
