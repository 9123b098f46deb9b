#include "samples/engine/cli/flags.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "dmprof/base/suggest.h"
#include "dmprof/base/utf8.h"
#include "dmprof/base/version.h"
#include "samples/engine/cli/units.h"

namespace dmengine {
namespace {

using dmprof::Error;
using dmprof::ErrorKind;
using dmprof::fail;
using dmprof::Result;
using dmprof::Status;

constexpr const char* help_flag = "--help";
constexpr const char* version_flag = "--version";

std::string shown(const std::string& text) { return dmprof::clean_utf8(text, {.control = false, .limit = 60}); }

}  // namespace

Flags::Flags(std::string command, const std::string& description, Environment environment)
    : command_(std::move(command)),
      environment_(std::move(environment)),
      app_(std::make_unique<CLI::App>(description, command_)) {
  app_->set_help_flag("-h,--help", "print this help");
  toggle(version_flag, "print the version");
}

Flags::~Flags() = default;

void Flags::value(const std::string& names, const std::string& type, const std::string& help,
                  const std::string& group) {
  const CLI::Option* option = app_->add_option(names)->description(help)->type_name(type)->expected(1)->group(group);
  types_[option->get_name()] = type;
}

void Flags::toggle(const std::string& name, const std::string& help, const std::string& group) {
  app_->add_flag(name)->description(help)->group(group);
}

void Flags::footer(const std::string& text) { app_->footer(text); }

std::string Flags::known(const std::string& word) const {
  const CLI::Option* option = word.starts_with('-') ? app_->get_option_no_throw(word) : nullptr;
  return option == nullptr ? "" : option->get_name();
}

Error Flags::unknown(const std::string& word) const {
  const std::string help = fmt::format("; see {} --help", command_);
  const std::string name = word.substr(0, word.find('='));
  if (name.size() < 2 || name[0] != '-' || name == "--")
    return {ErrorKind::usage, fmt::format("unexpected argument \"{}\"{}", shown(word), help)};
  std::vector<std::string> names;
  for (const CLI::Option* option : app_->get_options()) names.push_back(option->get_name());
  const std::string near = dmprof::did_you_mean(name, names);
  return {ErrorKind::usage, fmt::format("unknown flag {}{}", shown(name), near.empty() ? help : near)};
}

// Takes the flag at args[at], and its value; `at` is left on the last word of it.
Status Flags::take_flag(std::span<const std::string> args, std::size_t& at, std::string& name) {
  const std::string& word = args[at];
  const std::size_t equals = word.find('=');
  name = known(word.substr(0, equals));
  if (name.empty()) return tl::unexpected(unknown(word));
  const auto refuse = [](std::string message) { return fail(ErrorKind::usage, std::move(message)); };
  if (values_.contains(name)) return refuse(name + " is given more than once; give it once");
  std::string& value = values_[name];
  const auto type = types_.find(name);
  if (type == types_.end()) {
    if (equals == std::string::npos) return {};
    return refuse(fmt::format("{} takes no value; leave \"{}\" out", name, shown(word.substr(equals))));
  }
  if (equals != std::string::npos) {
    value = word.substr(equals + 1);
    return {};
  }
  if (++at == args.size()) return refuse(fmt::format("{0} needs a value: {0} {1}", name, type->second));
  value = args[at];
  const std::string flag = value.substr(0, value.find('='));
  if (known(flag).empty()) return {};
  return refuse(
      fmt::format("{0} needs a value, and {1} is a flag; write {0}={1} if that is the value", name, shown(flag)));
}

Result<std::string> Flags::parse(std::span<const std::string> args) {
  values_.clear();
  for (std::size_t at = 0; at < args.size(); ++at) {
    std::string name;
    DMPROF_TRY(take_flag(args, at, name));
    if (name == help_flag) return app_->help();
    if (name == version_flag) return fmt::format("dm-engine {}\n", dmprof::version);
  }
  return std::string();
}

std::set<std::string, std::less<>> Flags::all_given() const {
  std::set<std::string, std::less<>> flags;
  for (const auto& [flag, value] : values_) flags.insert(flag);
  return flags;
}

Status Flags::need(const std::string& flag) const {
  if (given(flag)) return {};
  return fail(ErrorKind::usage, fmt::format("{} {} is needed; see {} --help", flag, types_.at(flag), command_));
}

std::string Flags::source(const std::string& flag, const char* variable) const {
  if (given(flag)) return flag;
  const char* value = variable == nullptr || !environment_ ? nullptr : environment_(variable);
  return value == nullptr || *value == '\0' ? "" : variable;
}

Status Flags::read(const std::string& flag, const char* variable, const Take& take) const {
  const std::string what = source(flag, variable);
  if (what.empty()) return {};
  return take(what, what == flag ? values_.at(flag) : std::string(environment_(variable)));
}

Status Flags::read_whole(const std::string& flag, const char* variable, std::uint64_t& out, std::uint64_t low,
                         std::uint64_t high) const {
  return read(flag, variable, [&](const std::string& what, const std::string& text) -> Status {
    auto number = parse_whole(what, text, low, high);
    if (!number) return tl::unexpected(number.error());
    out = *number;
    return {};
  });
}

Status Flags::real(const std::string& flag, float& out, double low, double high) const {
  return read(flag, nullptr, [&](const std::string& what, const std::string& text) -> Status {
    auto number = parse_real(what, text, low, high);
    if (!number) return tl::unexpected(number.error());
    out = static_cast<float>(*number);
    return {};
  });
}

Status Flags::text(const std::string& flag, std::string& out) const {
  return read(flag, nullptr, [&](const std::string& what, const std::string& text) -> Status {
    if (text.empty()) return fail(ErrorKind::usage, fmt::format("{0} needs a value: {0} {1}", what, types_.at(flag)));
    out = text;
    return {};
  });
}

}  // namespace dmengine
