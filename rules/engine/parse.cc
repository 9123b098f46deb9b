// YAML to Rule. yaml-cpp throws; nothing of that leaves this file.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <sstream>

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "rules/engine/rule.h"

namespace dmprof::rules {
namespace {

constexpr std::size_t largest_file = 256 * 1024;

// A complaint about the rule's text; caught in parse_rule.
struct Wrong {
  Place place;
  std::string what;
};

Place place_of(const YAML::Node& node) {
  const YAML::Mark mark = node.Mark();
  return {std::max(0, mark.line) + 1, std::max(0, mark.column) + 1};
}

[[noreturn]] void complain(const YAML::Node& node, std::string what) { throw Wrong{place_of(node), std::move(what)}; }

void only(const YAML::Node& node, std::initializer_list<std::string_view> keys, std::string_view where) {
  if (!node.IsMap()) complain(node, fmt::format("{} must be a mapping", where));
  for (const auto& entry : node) {
    const std::string key = entry.first.as<std::string>();
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) {
      complain(entry.first, fmt::format("{} has no key '{}'; it knows {}", where, key, fmt::join(keys, ", ")));
    }
  }
}

std::string text(const YAML::Node& parent, const char* key, bool needed = true) {
  const YAML::Node node = parent[key];
  if (!node || node.IsNull()) {
    if (needed) complain(parent, fmt::format("'{}' is missing", key));
    return "";
  }
  if (!node.IsScalar()) complain(node, fmt::format("'{}' must be text", key));
  return node.Scalar();
}

std::vector<std::string> texts(const YAML::Node& parent, const char* key) {
  std::vector<std::string> all;
  const YAML::Node node = parent[key];
  if (!node || !node.IsSequence() || node.size() == 0)
    complain(parent, fmt::format("'{}' must be a list that is not empty", key));
  for (const YAML::Node& entry : node) {
    if (!entry.IsScalar() || entry.Scalar().empty())
      complain(entry, fmt::format("every entry of '{}' must be text", key));
    all.push_back(entry.Scalar());
  }
  return all;
}

Text languages(const YAML::Node& parent, const char* key) {
  const YAML::Node node = parent[key];
  if (!node) complain(parent, fmt::format("'{}' is missing", key));
  only(node, {"en", "zh"}, key);
  return {text(node, "en"), text(node, "zh")};
}

std::map<std::string, double> numbers(const YAML::Node& parent, const char* key) {
  std::map<std::string, double> all;
  const YAML::Node node = parent[key];
  if (!node) return all;
  if (!node.IsMap()) complain(node, fmt::format("'{}' must map names to numbers", key));
  for (const auto& entry : node) {
    double number = 0;
    if (!YAML::convert<double>::decode(entry.second, number))
      complain(entry.second, fmt::format("'{}' must be a number", entry.first.as<std::string>()));
    all[entry.first.as<std::string>()] = number;
  }
  return all;
}

template <class T>
T choice(const YAML::Node& parent, const char* key, std::initializer_list<std::pair<std::string_view, T>> choices,
         std::optional<T> otherwise = {}) {
  if (!parent[key] && otherwise) return *otherwise;
  const std::string word = text(parent, key);
  std::vector<std::string_view> known;
  for (const auto& [name, value] : choices) {
    if (word == name) return value;
    known.push_back(name);
  }
  complain(parent[key], fmt::format("'{}' is '{}'; it must be one of {}", key, word, fmt::join(known, ", ")));
}

Fix fix(const YAML::Node& node) {
  only(node, {"knob", "change", "to", "path_to", "when", "note", "command"}, "a fix");
  Fix result;
  result.knob = text(node, "knob");
  result.to = text(node, "to");
  result.path_to = text(node, "path_to", false);
  result.when = text(node, "when", false);
  if (const YAML::Node note = node["note"]; note && note.IsMap())
    result.note = languages(node, "note");
  else
    result.note.en = text(node, "note", false);
  using Change = Fix::Change;
  result.change = choice<Change>(
      node, "change", {{"set", Change::set}, {"raise", Change::raise}, {"lower", Change::lower}}, Change::set);
  if (const YAML::Node commands = node["command"]) {
    only(commands, {"c8", "dm-engine", "vllm", "sglang", "llama.cpp", "tensorrt-llm"}, "command");
    for (const auto& entry : commands) result.command[entry.first.as<std::string>()] = entry.second.as<std::string>();
  }
  return result;
}

Detail detail(const YAML::Node& node) {
  only(node, {"on", "when", "en", "zh"}, "a detail");
  Detail result;
  using On = Detail::On;
  result.on = choice<On>(node, "on", {{"fires", On::fires}, {"quiet", On::quiet}});
  result.when = text(node, "when");
  result.text = {text(node, "en"), text(node, "zh")};
  return result;
}

// Where every expression of the rule stands.
void note_places(const YAML::Node& node, Rule& rule) {
  for (const YAML::Node& condition : node["all"]) rule.places[condition.Scalar()] = place_of(condition);
  for (const char* list : {"fixes", "details"}) {
    if (!node[list]) continue;
    for (const YAML::Node& entry : node[list]) {
      if (const YAML::Node when = entry["when"]) rule.places[when.Scalar()] = place_of(when);
    }
  }
}

Vector vector(const YAML::Node& node) {
  only(node, {"kind", "title", "metrics", "expect"}, "a vector");
  Vector result;
  using Kind = Vector::Kind;
  using Expect = Vector::Expect;
  result.kind = choice<Kind>(node, "kind",
                             {{"fires", Kind::fires},
                              {"boundary", Kind::boundary},
                              {"must-not-fire", Kind::must_not_fire},
                              {"metric-missing", Kind::metric_missing}});
  result.expect = choice<Expect>(
      node, "expect", {{"fires", Expect::fires}, {"quiet", Expect::quiet}, {"not-evaluated", Expect::not_evaluated}});
  result.title = text(node, "title");
  result.metrics = numbers(node, "metrics");
  return result;
}

Rule rule(const YAML::Node& node) {
  only(node,
       {"id", "title", "severity", "confidence", "source", "objective", "thresholds", "all", "because", "clears",
        "details", "distrusts", "checks", "fixes", "vectors"},
       "a rule");
  Rule result;
  result.id = text(node, "id");
  if (result.id.empty() || result.id.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") != std::string::npos) {
    complain(node["id"], "'id' must be lower-case words joined by hyphens");
  }
  result.title = languages(node, "title");
  result.severity = choice<Severity>(
      node, "severity", {{"info", Severity::info}, {"warning", Severity::warning}, {"error", Severity::error}});
  result.confidence = choice<std::string>(node, "confidence", {{"high", "high"}, {"medium", "medium"}, {"low", "low"}});
  result.source = text(node, "source");
  result.objective =
      choice<std::string>(node, "objective", {{"throughput", "throughput"}, {"latency", "latency"}}, "throughput");
  result.thresholds = numbers(node, "thresholds");
  result.all = texts(node, "all");
  result.because = languages(node, "because");
  result.clears = languages(node, "clears");
  result.checks = texts(node, "checks");
  if (const YAML::Node fixes = node["fixes"]) {
    if (!fixes.IsSequence()) complain(fixes, "'fixes' must be a list");
    for (const YAML::Node& entry : fixes) result.fixes.push_back(fix(entry));
  }
  if (const YAML::Node details = node["details"]) {
    if (!details.IsSequence()) complain(details, "'details' must be a list");
    for (const YAML::Node& entry : details) result.details.push_back(detail(entry));
  }
  if (const YAML::Node distrusts = node["distrusts"]) {
    if (!distrusts.IsSequence()) complain(distrusts, "'distrusts' must be a list, which may be empty");
    result.distrusts.emplace();
    for (const YAML::Node& entry : distrusts) {
      if (!entry.IsScalar()) complain(entry, "every entry of 'distrusts' must be a metric's name");
      result.distrusts->push_back(entry.Scalar());
    }
  }
  note_places(node, result);
  const YAML::Node vectors = node["vectors"];
  if (!vectors || !vectors.IsSequence()) complain(node, "'vectors' must be a list");
  for (const YAML::Node& entry : vectors) result.vectors.push_back(vector(entry));
  return result;
}

}  // namespace

Result<Rule> parse_rule(std::string_view yaml, std::string_view file) {
  const auto bad = [file](Place place, std::string_view what) {
    return fail(ErrorKind::bad_input, fmt::format("{}:{}:{}: {}", file, place.line, place.column, what));
  };
  if (yaml.size() > largest_file) return bad({}, fmt::format("a rule is at most {} KiB", largest_file / 1024));
  try {
    const YAML::Node node = YAML::Load(std::string(yaml));
    Rule result = rule(node);
    result.file = std::string(file);
    return result;
  } catch (const Wrong& wrong) {
    return bad(wrong.place, wrong.what);
  } catch (const YAML::Exception& error) {
    return bad({std::max(0, error.mark.line) + 1, std::max(0, error.mark.column) + 1}, error.msg);
  }
}

Result<Rule> load_rule(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    return fail(ErrorKind::bad_input, fmt::format("{}: is not a file; name a rule's YAML file", path));
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(ErrorKind::environment, fmt::format("{}: cannot be read; check its permissions", path));
  std::string yaml(largest_file + 1, '\0');
  in.read(yaml.data(), static_cast<std::streamsize>(yaml.size()));
  yaml.resize(static_cast<std::size_t>(in.gcount()));
  return parse_rule(yaml, path);
}

Result<RuleFolder> load_rules(const std::string& folder) {
  std::error_code error;
  std::vector<std::string> files;
  // A range-for would throw where reading the folder fails half way (a disk error, a mount that goes away).
  std::filesystem::directory_iterator entry(folder, error);
  for (const std::filesystem::directory_iterator end; !error && entry != end; entry.increment(error)) {
    if (entry->path().extension() == ".yaml") files.push_back(entry->path().string());
  }
  if (error)
    return fail(ErrorKind::environment, fmt::format("{}: {}; name a folder with rules", folder, error.message()));
  if (files.empty())
    return fail(ErrorKind::bad_input,
                fmt::format("{}: holds no *.yaml; a playbook without rules finds nothing wrong", folder));
  std::sort(files.begin(), files.end());
  RuleFolder found;
  for (const std::string& file : files) {
    auto loaded = load_rule(file);
    if (loaded) {
      found.rules.push_back(std::move(*loaded));
    } else {
      found.refused.push_back(loaded.error());
    }
  }
  return found;
}

}  // namespace dmprof::rules
