#include "samples/simcard/cli/words.h"

#include <vector>

#include <fmt/format.h>

#include "dmprof/base/suggest.h"

namespace dmprof::simcard {

void refuse_empty_values(CLI::App& app) {
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() > 0)
      option->check(CLI::Validator(
          [](const std::string& value) { return value.empty() ? std::string("the value is empty; name one") : ""; },
          ""));
  }
}

std::string unknown_flag(const CLI::App& app, std::span<const std::string> words) {
  std::vector<std::string> flags;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) flags.push_back("--" + name);
  }
  for (const std::string& word : words) {
    if (word == "--") break;
    const std::string flag = word.substr(0, word.find('='));
    if (flag.size() > 2 && flag.starts_with("--") && app.get_option_no_throw(flag) == nullptr)
      return fmt::format("there is no flag {}{}", flag.substr(0, 60), did_you_mean(flag, flags));
  }
  return "";
}

}  // namespace dmprof::simcard
