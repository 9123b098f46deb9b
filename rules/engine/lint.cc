#include "rules/engine/lint.h"

#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "rules/engine/row.h"

namespace dmprof::rules {
namespace {

using Kind = Vector::Kind;

std::string_view to_text(Kind kind) {
  switch (kind) {
    case Kind::fires:
      return "fires";
    case Kind::boundary:
      return "boundary";
    case Kind::must_not_fire:
      return "must-not-fire";
    case Kind::metric_missing:
      break;
  }
  return "metric-missing";
}

std::string_view to_text(Verdict::Kind kind) {
  switch (kind) {
    case Verdict::Kind::fires:
      return "fires";
    case Verdict::Kind::quiet:
      return "quiet";
    case Verdict::Kind::not_evaluated:
      break;
  }
  return "not-evaluated";
}

// A number typed into a text that reads like a promise: "20 % faster", "1.4x", "2 times".
bool promises_a_gain(const std::string& text) {
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    if (std::isdigit(static_cast<unsigned char>(text[i])) == 0) continue;
    std::size_t next = i + 1;
    while (next < text.size() && text[next] == ' ') ++next;
    const std::string_view rest = std::string_view(text).substr(next);
    const bool x =
        rest.starts_with("x") && (rest.size() == 1 || std::isalnum(static_cast<unsigned char>(rest[1])) == 0);
    if (rest.starts_with("%") || rest.starts_with("percent") || rest.starts_with("times") || x) return true;
  }
  return false;
}

// {name} of the rule's texts that nothing will be put in for.
std::vector<std::string> foreign_placeholders(const Rule& rule, const Catalogue& catalogue) {
  std::vector<const Text*> texts = {&rule.title, &rule.because, &rule.clears};
  for (const Detail& detail : rule.details) texts.push_back(&detail.text);
  std::vector<std::string> foreign;
  const auto look = [&](const std::string& text) {
    for (std::size_t open = text.find('{'); open != std::string::npos; open = text.find('{', open + 1)) {
      const std::size_t close = text.find('}', open);
      if (close == std::string::npos) break;
      const std::string name = text.substr(open + 1, close - open - 1);
      const bool known = name.starts_with(":") ? rule.thresholds.contains(name.substr(1))
                                               : !metric_of(name.substr(0, name.find('.')), catalogue).empty();
      if (!known) foreign.push_back(name);
    }
  };
  for (const Text* text : texts) look(text->en), look(text->zh);
  for (const Fix& fix : rule.fixes) look(fix.to);
  return foreign;
}

// Where a rule comes from says how far it may be trusted: one site's report or a rule of thumb alone is low confidence.
std::string wrong_source(const Rule& rule) {
  bool any = false, solid = false;
  for (const char* name : {"[D]", "[P]", "[C]", "[I]", "[H]"}) {
    if (rule.source.find(name) == std::string::npos) continue;
    any = true;
    solid = solid || std::string_view("[D][P][C]").find(name) != std::string_view::npos;
  }
  if (!any) return "'source' names no class; begin it with [D], [P], [C], [I] or [H]";
  if (!solid && rule.confidence != "low")
    return "a rule whose source is one site's report [I] or a heuristic [H] alone has low confidence";
  return "";
}

}  // namespace

std::vector<Complaint> lint(std::span<const Rule> rules, const Catalogue& catalogue) {
  std::vector<Complaint> complaints;
  auto sandbox = Sandbox::open(columns_of(catalogue));
  if (!sandbox) return {{"", "", sandbox.error().message}};
  std::set<std::string> ids;
  for (const Rule& rule : rules) {
    const auto complain = [&](std::string message) { complaints.push_back({rule.id, rule.file, std::move(message)}); };
    if (!ids.insert(rule.id).second) complain("another rule has the same id; rename one");
    std::set<std::string> used, columns;
    for (const std::string& condition : expressions_of(rule)) {
      auto outcome = sandbox->evaluate(condition, rule.thresholds);
      if (!outcome) {
        complain(fmt::format("{}: {}; conditions read catalogued metrics only (`dmprof metrics`)",
                             rule.where(condition), outcome.error().message));
        continue;
      }
      if (outcome->columns.empty()) complain(fmt::format("the condition '{}' reads no metric; drop it", condition));
      used.insert(outcome->parameters.begin(), outcome->parameters.end());
      columns.insert(outcome->columns.begin(), outcome->columns.end());
    }
    for (const auto& [name, value] : rule.thresholds) {
      if (!used.contains(name)) complain(fmt::format("the threshold '{}' is used in no condition; drop it", name));
    }
    for (const Kind kind : {Kind::fires, Kind::boundary, Kind::must_not_fire, Kind::metric_missing}) {
      if (std::none_of(rule.vectors.begin(), rule.vectors.end(),
                       [kind](const Vector& vector) { return vector.kind == kind; })) {
        complain(fmt::format("there is no test vector of kind {}; add one", to_text(kind)));
      }
    }
    for (const Vector& vector : rule.vectors) {
      for (const auto& [name, value] : vector.metrics) {
        if (!columns.contains(name))
          complain(fmt::format("the vector '{}' sets {}, which no condition reads", vector.title, name));
      }
    }
    for (const Fix& fix : rule.fixes) {
      if (fix.knob.empty() || fix.to.empty()) complain("a fix must name a knob and the value to set it to");
      if (promises_a_gain(fix.note.en) || promises_a_gain(fix.note.zh))
        complain(fmt::format(
            "the note of the fix '{}' promises a gain in numbers; gains are predicted or measured, never typed",
            fix.knob));
    }
    if (promises_a_gain(rule.because.en))
      complain("'because' holds a typed figure; write {metric} or {:threshold} for it");
    for (const std::string& name : foreign_placeholders(rule, catalogue))
      complain(fmt::format("the text names {{{}}}, which is neither a metric nor a threshold of the rule", name));
    for (const std::string& metric : rule.distrusts.value_or(std::vector<std::string>())) {
      if (catalogue.find(metric) == nullptr)
        complain(fmt::format("'distrusts' names {}, which is no catalogued metric", metric));
    }
    if (const std::string wrong = wrong_source(rule); !wrong.empty()) complain(wrong);
  }
  return complaints;
}

std::vector<Complaint> run_vectors(std::span<const Rule> rules, const Catalogue& catalogue) {
  std::vector<Complaint> complaints;
  auto sandbox = Sandbox::open(columns_of(catalogue));
  if (!sandbox) return {{"", "", sandbox.error().message}};
  for (const Rule& rule : rules) {
    for (const Vector& vector : rule.vectors) {
      const auto complain = [&](std::string message) {
        complaints.push_back({rule.id, rule.file, fmt::format("vector '{}': {}", vector.title, message)});
      };
      auto verdict = judge(rule, *sandbox, vector.metrics, rule.thresholds);
      if (!verdict) {
        complain(verdict.error().message);
        continue;
      }
      const auto expected = vector.expect == Vector::Expect::fires   ? Verdict::Kind::fires
                            : vector.expect == Vector::Expect::quiet ? Verdict::Kind::quiet
                                                                     : Verdict::Kind::not_evaluated;
      if (verdict->kind != expected) {
        complain(fmt::format("expected {}, got {}{}", to_text(expected), to_text(verdict->kind),
                             verdict->deciding.empty() ? "" : fmt::format(" because of '{}'", verdict->deciding)));
      }
    }
  }
  return complaints;
}

}  // namespace dmprof::rules
