#include "dmprof/cli/arguments.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "dmprof/base/shell.h"
#include "dmprof/base/suggest.h"
#include "dmprof/base/version.h"
#include "dmprof/cli/metric_answer.h"
#include "dmprof/cli/output.h"

namespace dmprof::cli {

namespace {

// Commands of the product's contract that this version does not have yet.
constexpr std::array<std::string_view, 6> planned_commands = {"import", "compare", "gate", "report", "view", "top"};

// Flags of the contract that this version does not have yet, and the command they belong to.
struct PlannedFlag {
  std::string_view command, flag;
};
constexpr std::array<PlannedFlag, 1> planned_flags = {{{"attach", "--url"}}};

constexpr auto declare_all = {declare_run,    declare_attach, declare_metrics, declare_diagnose,  declare_query,
                              declare_export, declare_rules,  declare_doctor,  declare_calibrate, declare_tune,
                              declare_plan,   declare_whatif, declare_advise};

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(sub->get_name());
  return names;
}

void add_flag_names(const CLI::App& app, std::vector<std::string>& names) {
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
}

// The deepest command that was typed: `rules` or `rules lint`, or the root.
const CLI::App& innermost(const CLI::App& app) {
  const auto typed = app.get_subcommands();
  return typed.empty() ? app : innermost(*typed.front());
}

std::string path_of(const CLI::App& app) {
  return app.get_parent() == nullptr ? "dmprof" : path_of(*app.get_parent()) + " " + app.get_name();
}

Error unknown_command(const CLI::App& app, const std::string& word) {
  if (app.get_parent() == nullptr &&
      std::find(planned_commands.begin(), planned_commands.end(), word) != planned_commands.end()) {
    return {ErrorKind::usage,
            fmt::format("{} is planned but not in this version ({}); dmprof --help lists what is", word, version)};
  }
  if (word.empty())
    return {ErrorKind::usage, fmt::format("an empty word instead of a command; {} --help lists them", path_of(app))};
  return {ErrorKind::usage, fmt::format("{} has no command {}{}; {} --help lists them", path_of(app), word,
                                        did_you_mean(word, command_names(app)), path_of(app))};
}

Error unexpected_word(const CLI::App& root, const CLI::App& typed, const std::string& word) {
  if (word.size() > 1 && word.front() == '-') {
    std::vector<std::string> flags;
    add_flag_names(typed, flags);
    if (&typed != &root) add_flag_names(root, flags);
    const std::string flag = word.substr(0, word.find('='));
    for (const PlannedFlag& planned : planned_flags) {
      if (planned.command == typed.get_name() && planned.flag == flag) {
        return {ErrorKind::usage, fmt::format("{} is planned but not in this version ({}); {} --help shows what is",
                                              flag, version, path_of(typed))};
      }
    }
    return {ErrorKind::usage, fmt::format("{} has no flag {}{}; {} --help lists them", path_of(typed), flag,
                                          did_you_mean(flag, flags), path_of(typed))};
  }
  if (!command_names(typed).empty()) return unknown_command(typed, word);
  if (typed.get_name() == "run") {
    return {ErrorKind::usage, fmt::format("put -- before the command to record: dmprof run -- {} …", word)};
  }
  return {ErrorKind::usage,
          fmt::format("{} takes no argument {}; {} --help shows what it takes", path_of(typed), word, path_of(typed))};
}

// The flags of `--metric` are understood beside every command, so that run and attach can take them. The others would
// ignore them, which is worse than refusing.
Status check_root_flags(const CLI::App& root, const CLI::App& command) {
  constexpr std::array<std::string_view, 4> recording = {"--metric", "--by", "--slo", "--json"};
  const bool records = command.get_name() == "run" || command.get_name() == "attach";
  for (const CLI::Option* option : root.get_options()) {
    if (option->count() == 0) continue;
    const std::string name = option->get_name();
    const bool shared_flag = name == "--json" && command.get_option_no_throw("--json") != nullptr;
    const bool taken = records && std::find(recording.begin(), recording.end(), name) != recording.end();
    if (shared_flag || taken) continue;
    if (const bool query = command.get_name() == "query";
        name == "--run" && (query || command.get_option_no_throw("FILE") != nullptr)) {
      return fail(
          ErrorKind::usage,
          fmt::format("--run goes with --metric; {0} takes the recording as its argument: dmprof {0} {1}{2}",
                      command.get_name(), shell_quoted(option->as<std::string>()), query ? " \"SELECT …\"" : ""));
    }
    return fail(ErrorKind::usage,
                fmt::format("{} does not go with {}; {}", name, command.get_name(),
                            name == "--metric" ? "type it alone, or with run or attach" : "leave it out"));
  }
  return {};
}

// CLI11's own messages (a value that is no number, a flag without its value), made one line that names the command.
Error parser_error(const CLI::App& typed, std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  while (!message.empty() && message.back() == ' ') message.pop_back();
  if (const std::size_t repeated = message.find(": At Most 1 required"); repeated != std::string::npos)
    message = message.substr(0, repeated) + " is given more than once; give it once";
  return {ErrorKind::usage, fmt::format("{}; see {} --help", message, path_of(typed))};
}

// Splits the words at the first "--" that belongs to `run`; what follows is the command to record, whatever it looks
// like.
void take_command_line(std::vector<std::string>& words, Shared& shared) {
  const auto dashes = std::find(words.begin(), words.end(), "--");
  if (dashes == words.end() || std::find(words.begin(), dashes, "run") == dashes) return;
  shared.command_line.assign(std::next(dashes), words.end());
  words.erase(dashes, words.end());
}

Action print(std::string text) {
  return [text = std::move(text)]() -> Result<ExitStatus> {
    DMPROF_TRY(write_out(text));
    return ExitStatus::done;
  };
}

}  // namespace

Result<Action> parse_arguments(const std::vector<std::string>& typed_words) {
  auto shared = std::make_shared<Shared>();
  std::vector<std::string> words = typed_words;
  take_command_line(words, *shared);

  // The parser lives until the action ran: flags are bound to variables that the actions hold.
  auto root =
      std::make_shared<CLI::App>("Records LLM inference with speculative decoding and says why it is slow.", "dmprof");
  root->footer("A FILE that is not named is the newest recording. Every command has --help.");
  root->set_version_flag("--version", fmt::format("dmprof {}", version), "Print the version");
  root->set_help_flag("-h,--help", "Print this help");
  root->require_subcommand(0, 1);
  declare_metric_question(Syntax(*root), shared);
  std::vector<DeclaredCommand> commands;
  for (const auto declare : declare_all) commands.push_back(declare(Syntax(*root), shared));
  // Words nobody takes are collected and explained below, with the nearest flag or command.
  const std::function<void(CLI::App&)> collect_extras = [&](CLI::App& app) {
    app.allow_extras();
    app.set_help_flag("-h,--help", "Print this help");
    if (app.get_parent() != nullptr) app.fallthrough();
    for (CLI::App* sub : app.get_subcommands([](CLI::App*) { return true; })) collect_extras(*sub);
  };
  collect_extras(*root);

  try {
    root->parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::CallForHelp&) {
    const CLI::App& asked = innermost(*root);
    return print(asked.help(asked.get_parent() == nullptr ? "" : path_of(*asked.get_parent())));
  } catch (const CLI::CallForVersion&) {
    return print(fmt::format("dmprof {}\n", version));
  } catch (const CLI::ParseError& error) {
    return tl::unexpected(parser_error(innermost(*root), error.what()));
  }

  const CLI::App& typed = innermost(*root);
  if (const auto extras = root->remaining(true); !extras.empty())
    return tl::unexpected(unexpected_word(*root, typed, extras.front()));
  const CLI::App* top = &typed;
  while (top->get_parent() != nullptr && top->get_parent() != root.get()) top = top->get_parent();
  if (top != root.get()) DMPROF_TRY(check_root_flags(*root, *top));
  const bool asks = !shared->question.names.empty();
  for (const DeclaredCommand& command : commands) {
    if (&command.syntax.app() == top) return Action([root, action = command.action] { return action(); });
  }
  if (asks) return Action([root, shared] { return answer_question(*shared); });
  if (words.empty()) return print(root->help());
  return fail(ErrorKind::usage, "no command and no --metric NAME; dmprof metrics lists the names, --help the commands");
}

}  // namespace dmprof::cli
