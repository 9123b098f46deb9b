// The flags of one command, read strictly. Whatever is wrong with them is a usage error of one line that names the
// flag, or the environment variable the value came from. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "dmprof/base/error.h"

namespace CLI {
class App;
}

namespace dmengine {

// As std::getenv: nullptr when unset.
using Environment = std::function<const char*(const char*)>;

class Flags {
 public:
  // `command`: what the user typed to get here, "dm-engine synth".
  Flags(std::string command, const std::string& description, Environment environment = nullptr);
  ~Flags();

  // `names`: "--seed" or "-o,--output". `type` is what the help shows for the value. `group` is a heading of the help.
  void value(const std::string& names, const std::string& type, const std::string& help,
             const std::string& group = "Options");
  void toggle(const std::string& name, const std::string& help, const std::string& group = "Options");
  void footer(const std::string& text);

  // Returns what to print instead of running (--help, --version), or nothing. A flag is given once at most, as
  // "--flag VALUE" or "--flag=VALUE".
  dmprof::Result<std::string> parse(std::span<const std::string> args);

  bool given(const std::string& flag) const { return values_.contains(flag); }
  std::set<std::string, std::less<>> all_given() const;
  dmprof::Status need(const std::string& flag) const;

  // Each gives the text that counts: the flag's where it was given, else its variable's (nullptr: it has none) unless
  // that is empty. Without either nothing happens.
  using Take = std::function<dmprof::Status(const std::string& what, const std::string& text)>;
  dmprof::Status read(const std::string& flag, const char* variable, const Take& take) const;
  dmprof::Status real(const std::string& flag, float& out, double low, double high) const;
  dmprof::Status text(const std::string& flag, std::string& out) const;
  template <class T>
  dmprof::Status whole(const std::string& flag, const char* variable, T& out, std::uint64_t low,
                       std::uint64_t high) const {
    std::uint64_t number = out;
    DMPROF_TRY(read_whole(flag, variable, number, low, high));
    out = static_cast<T>(number);
    return {};
  }
  // The flag or variable whose text counts; empty when there is none.
  std::string source(const std::string& flag, const char* variable) const;

 private:
  dmprof::Status read_whole(const std::string& flag, const char* variable, std::uint64_t& out, std::uint64_t low,
                            std::uint64_t high) const;
  dmprof::Status take_flag(std::span<const std::string> args, std::size_t& at, std::string& name);
  dmprof::Error unknown(const std::string& word) const;
  std::string known(const std::string& word) const;  // the first name of the flag that `word` is; empty: it is none

  std::string command_;
  Environment environment_;
  std::unique_ptr<CLI::App> app_;             // the names and the help
  std::map<std::string, std::string> types_;  // of the flags that take a value
  std::map<std::string, std::string> values_;
};

}  // namespace dmengine
