#include "rules/engine/fixes.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "dmprof/base/quantity.h"
#include "dmprof/base/shell.h"

namespace dmprof::rules {
namespace {

// The newest registration of the name.
const Knob* find(std::span<const Knob> knobs, const std::string& name) {
  const Knob* newest = nullptr;
  for (const Knob& knob : knobs) {
    if (knob.name == name && (newest == nullptr || knob.since >= newest->since)) newest = &knob;
  }
  return newest;
}

// Ranges are "0|1|2" or "1..16"; an unknown form admits everything.
bool admits(const Knob& knob, const std::string& value) {
  if (const std::size_t dots = knob.range.find(".."); dots != std::string::npos) {
    const std::optional<double> wanted = plain_number(value), low = plain_number(knob.range.substr(0, dots)),
                                high = plain_number(knob.range.substr(dots + 2));
    return wanted && (!low || *wanted >= *low) && (!high || *wanted <= *high);
  }
  if (knob.range.find('|') == std::string::npos) return true;
  return ("|" + knob.range + "|").find("|" + value + "|") != std::string::npos;
}

// A number, or a size such as "3b" and "350m".
std::optional<double> magnitude(const std::string& text) {
  if (const std::optional<double> plain = plain_number(text)) return plain;
  if (text.size() < 2) return std::nullopt;
  const std::optional<double> digits = plain_number(text.substr(0, text.size() - 1));
  if (!digits) return std::nullopt;
  switch (std::tolower(static_cast<unsigned char>(text.back()))) {
    case 'k':
      return *digits * 1e3;
    case 'm':
      return *digits * 1e6;
    case 'b':
      return *digits * 1e9;
    default:
      return std::nullopt;
  }
}

// A file of its own can be named in words only, and only where there is one to compare with.
bool changes_path(const Fix& fix, const Knob& knob) {
  return !fix.path_to.empty() && !knob.value.empty() &&
         ("|" + knob.range + "|").find("|" + knob.value + "|") == std::string::npos;
}

bool changes(const Fix& fix, const Knob& knob) {
  if (knob.type == "path") return changes_path(fix, knob);
  if (knob.value == fix.to || !admits(knob, fix.to)) return false;
  const std::optional<double> from = magnitude(knob.value), to = magnitude(fix.to);
  if (fix.change == Fix::Change::set || !from || !to) return true;
  return fix.change == Fix::Change::raise ? *from < *to : *from > *to;
}

// Words of a shell command with their quotes left on; good enough to find a flag and its value.
std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  std::string word;
  char quote = 0;
  for (std::size_t i = 0; i < command.size(); ++i) {
    const char c = command[i];
    if (quote == 0 && c == ' ') {
      if (!word.empty()) words.push_back(std::exchange(word, ""));
      continue;
    }
    if (c == '\\' && quote != '\'' && i + 1 < command.size()) {
      word += c, word += command[++i];
      continue;
    }
    if (quote == 0 && (c == '\'' || c == '"')) {
      quote = c;
    } else if (c == quote) {
      quote = 0;
    }
    word += c;
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

std::string with_flag(const std::string& command, const std::string& flag, const std::string& value) {
  std::vector<std::string> words = words_of(command);
  bool found = false;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == flag && i + 1 < words.size()) words[i + 1] = shell_quoted(value), found = true;
    if (words[i].starts_with(flag + "=")) words[i] = flag + "=" + shell_quoted(value), found = true;
  }
  if (!found) words.push_back(flag), words.push_back(shell_quoted(value));
  return fmt::format("{}", fmt::join(words, " "));
}

Text for_trial(const Fix& fix, Support shown) {
  const bool unknown = shown == Support::unknown;
  return with_note(
      {fmt::format(
           "for trial only, {} ({})",
           unknown ? "the recording cannot tell whether it helps" : "nothing in the recording says that it helps",
           fix.when),
       fmt::format("仅供试验，{}（{}）", unknown ? "记录无法判断它是否有效" : "记录中没有表明它有效的证据", fix.when)},
      fix.note);
}

}  // namespace

std::string command_with(const Knob& knob, const std::string& value, const Context& context) {
  if (knob.handle.empty() || knob.type == "path") return "";
  std::string prefix;
  for (const auto& [name, setting] : context.variables) {
    if (name != knob.handle) prefix += fmt::format("{}={} ", name, shell_quoted(setting));
  }
  if (knob.how == "environment") {
    const std::string assignment = fmt::format("{}={}", knob.handle, shell_quoted(value));
    return context.command.empty() ? "export " + assignment
                                   : fmt::format("{}{} {}", prefix, assignment, context.command);
  }
  if (knob.how == "flag")
    return context.command.empty() ? fmt::format("{} {}", knob.handle, shell_quoted(value))
                                   : prefix + with_flag(context.command, knob.handle, value);
  if (knob.how == "file") return fmt::format("echo {} > {}", shell_quoted(value), shell_quoted(knob.handle));
  return "";
}

std::optional<Context> with_setting(const Knob& knob, const std::string& value, const Context& context) {
  if (knob.handle.empty() || context.command.empty()) return std::nullopt;
  Context changed = context;
  if (knob.how == "environment") {
    changed.variables[knob.handle] = value;
  } else if (knob.how == "flag") {
    changed.command = with_flag(context.command, knob.handle, value);
  } else {
    return std::nullopt;
  }
  return changed;
}

std::string line_of(const Context& context) {
  std::string line;
  for (const auto& [name, setting] : context.variables) line += fmt::format("{}={} ", name, shell_quoted(setting));
  return line + context.command;
}

std::vector<SuggestedFix> suggest(const std::vector<Fix>& fixes, const Context& context,
                                  std::span<const Support> support) {
  std::vector<SuggestedFix> suggestions;
  for (std::size_t i = 0; i < fixes.size(); ++i) {
    const Fix& fix = fixes[i];
    const Support shown = i < support.size() ? support[i] : Support::shown;
    const Knob* knob = find(context.knobs, fix.knob);
    SuggestedFix suggested;
    suggested.knob = fix.knob;
    suggested.to = fix.to;
    suggested.note = suggested.plain_note = fix.note;
    suggested.command = fix.command;
    suggested.trial = shown != Support::shown;
    if (suggested.trial) suggested.note = for_trial(fix, shown);
    if (knob == nullptr) {
      // An engine that says which knobs it has says as much of those it has not; one that names none may have any.
      if (context.knobs.empty()) suggestions.push_back(std::move(suggested));
      continue;
    }
    if (!changes(fix, *knob)) continue;
    if (knob->type == "path") {
      suggested.to = fix.path_to;
      suggested.typed = false;
      suggested.command.erase("c8");  // takes sizes, as no engine does that takes a path
    }
    suggested.from = knob->value;
    if (std::string command = command_with(*knob, fix.to, context); !command.empty()) {
      suggested.recorded_engine = context.engine.empty() ? "recorded engine" : context.engine;
      suggested.command[suggested.recorded_engine] = std::move(command);
    }
    suggestions.push_back(std::move(suggested));
  }
  // Supported before trial, then what can be typed.
  const auto rank = [](const SuggestedFix& fix) { return std::tuple(fix.trial, fix.recorded_engine.empty()); };
  std::stable_sort(suggestions.begin(), suggestions.end(),
                   [&](const SuggestedFix& a, const SuggestedFix& b) { return rank(a) < rank(b); });
  return suggestions;
}

}  // namespace dmprof::rules
