// The flags and arguments of one command, declared without the parser's own header: only syntax.cc and arguments.cc
// know it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace dmprof::cli {

// A handle; the parser owns what it names. Variables must live as long as the parser.
class Syntax {
 public:
  explicit Syntax(CLI::App& app) : app_(&app) {}

  Syntax command(const std::string& name, const std::string& help) const;
  void footer(const std::string& text) const;

  // `names`: "-o,--output" for a flag, "FILE" for a positional argument. `type` is what the help shows for the value.
  void flag(const std::string& names, bool& value, const std::string& help) const;
  void text(const std::string& names, std::string& value, const std::string& type, const std::string& help) const;
  void number(const std::string& names, double& value, const std::string& type, const std::string& help) const;
  void count(const std::string& names, std::uint32_t& value, std::uint32_t most, const std::string& type,
             const std::string& help) const;
  // May be given several times, one value each.
  void texts(const std::string& names, std::vector<std::string>& values, const std::string& type,
             const std::string& help) const;
  // Several positional arguments.
  void words(const std::string& name, std::vector<std::string>& values, const std::string& help) const;
  // Several numbers after one flag, or the flag several times.
  void integers(const std::string& names, std::vector<std::int64_t>& values, const std::string& type,
                const std::string& help) const;

  bool typed() const;  // after parsing: was this command on the command line
  CLI::App& app() const { return *app_; }

 private:
  CLI::App* app_;
};

}  // namespace dmprof::cli
