#include "dmprof/cli/syntax.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace dmprof::cli {

namespace {

// The parser's own words for a wrong value name neither the value's type nor what would do; an empty value (mostly an
// unset variable of a script) would mean "not given" or 0.
std::string refuse_empty(const std::string& text) {
  return text.empty() ? "the value is empty; leave it out or name something" : "";
}

template <class Number>
bool is_whole(const std::string& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

std::string refuse_no_number(const std::string& text) {
  char* end = nullptr;
  const double number = std::strtod(text.c_str(), &end);
  const bool whole = !text.empty() && end == text.c_str() + text.size() && std::isfinite(number);
  return whole ? "" : fmt::format("\"{}\" is no number, such as 2 or 0.5", text);
}

std::string refuse_no_integer(const std::string& text) {
  std::int64_t number = 0;
  return is_whole(text, number) ? "" : fmt::format("\"{}\" is no whole number", text);
}

}  // namespace

Syntax Syntax::command(const std::string& name, const std::string& help) const {
  return Syntax(*app_->add_subcommand(name, help));
}

void Syntax::footer(const std::string& text) const { app_->footer(text); }

void Syntax::flag(const std::string& names, bool& value, const std::string& help) const {
  app_->add_flag(names, value, help);
}

void Syntax::text(const std::string& names, std::string& value, const std::string& type,
                  const std::string& help) const {
  app_->add_option(names, value, help)->type_name(type)->check(CLI::Validator(refuse_empty, ""));
}

void Syntax::number(const std::string& names, double& value, const std::string& type, const std::string& help) const {
  app_->add_option(names, value, help)->type_name(type)->check(CLI::Validator(refuse_no_number, ""));
}

void Syntax::count(const std::string& names, std::uint32_t& value, std::uint32_t most, const std::string& type,
                   const std::string& help) const {
  const auto refuse = [most](const std::string& text) {
    std::uint32_t number = 0;
    const bool fits = is_whole(text, number) && number >= 1 && number <= most;
    return fits ? std::string() : fmt::format("\"{}\" is no whole number from 1 to {}", text, most);
  };
  app_->add_option(names, value, help)->type_name(type)->check(CLI::Validator(refuse, ""));
}

void Syntax::texts(const std::string& names, std::vector<std::string>& values, const std::string& type,
                   const std::string& help) const {
  app_->add_option(names, values, help)
      ->type_name(type)
      ->allow_extra_args(false)
      ->check(CLI::Validator(refuse_empty, ""));
}

void Syntax::words(const std::string& name, std::vector<std::string>& values, const std::string& help) const {
  app_->add_option(name, values, help)->type_name("");
}

void Syntax::integers(const std::string& names, std::vector<std::int64_t>& values, const std::string& type,
                      const std::string& help) const {
  app_->add_option(names, values, help)->type_name(type)->delimiter(',')->check(CLI::Validator(refuse_no_integer, ""));
}

bool Syntax::typed() const { return app_->parsed(); }

}  // namespace dmprof::cli
