#include "dmprof/cli/syntax.h"

#include <CLI/CLI.hpp>

namespace dmprof::cli {

Syntax Syntax::command(const std::string& name, const std::string& help) const {
  return Syntax(*app_->add_subcommand(name, help));
}

void Syntax::footer(const std::string& text) const { app_->footer(text); }

void Syntax::flag(const std::string& names, bool& value, const std::string& help) const {
  app_->add_flag(names, value, help);
}

void Syntax::text(const std::string& names, std::string& value, const std::string& type,
                  const std::string& help) const {
  app_->add_option(names, value, help)->type_name(type);
}

void Syntax::number(const std::string& names, double& value, const std::string& type, const std::string& help) const {
  app_->add_option(names, value, help)->type_name(type);
}

void Syntax::count(const std::string& names, std::uint32_t& value, std::uint32_t most, const std::string& type,
                   const std::string& help) const {
  app_->add_option(names, value, help)->type_name(type)->check(CLI::Range(std::uint32_t{1}, most));
}

void Syntax::texts(const std::string& names, std::vector<std::string>& values, const std::string& type,
                   const std::string& help) const {
  app_->add_option(names, values, help)->type_name(type)->allow_extra_args(false);
}

void Syntax::words(const std::string& name, std::vector<std::string>& values, const std::string& help) const {
  app_->add_option(name, values, help)->type_name("");
}

void Syntax::integers(const std::string& names, std::vector<std::int64_t>& values, const std::string& type,
                      const std::string& help) const {
  app_->add_option(names, values, help)->type_name(type)->delimiter(',');
}

bool Syntax::typed() const { return app_->parsed(); }

}  // namespace dmprof::cli
