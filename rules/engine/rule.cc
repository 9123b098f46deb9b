#include "rules/engine/rule.h"

#include <fmt/format.h>

namespace dmprof::rules {

std::string_view to_text(Severity severity) {
  switch (severity) {
    case Severity::error:
      return "error";
    case Severity::warning:
      return "warning";
    case Severity::info:
      break;
  }
  return "info";
}

std::optional<Severity> parse_severity(std::string_view text) {
  for (const Severity severity : {Severity::info, Severity::warning, Severity::error}) {
    if (text == to_text(severity)) return severity;
  }
  return std::nullopt;
}

std::optional<Language> parse_language(std::string_view text) {
  if (text == "en") return Language::en;
  if (text == "zh") return Language::zh;
  return std::nullopt;
}

std::vector<std::string> expressions_of(const Rule& rule) {
  std::vector<std::string> all = rule.all;
  for (const Fix& fix : rule.fixes) {
    if (!fix.when.empty()) all.push_back(fix.when);
  }
  for (const Detail& detail : rule.details) all.push_back(detail.when);
  return all;
}

std::string Rule::where(const std::string& expression) const {
  const std::string& name = file.empty() ? id : file;
  const auto place = places.find(expression);
  return place == places.end() ? name : fmt::format("{}:{}:{}", name, place->second.line, place->second.column);
}

Text with_note(const Text& said, const Text& note) {
  if (note.en.empty()) return said;
  return {said.en + ": " + note.en, said.in(Language::zh) + "：" + note.in(Language::zh)};
}

}  // namespace dmprof::rules
