#include "dmprof/cli/playbook.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "dmprof/cli/embedded.h"

namespace dmprof::cli {

namespace {

// "" where neither variable holds an absolute path.
std::string own_rules() {
  for (const auto& [variable, below] :
       {std::pair("XDG_CONFIG_HOME", "dmprof/rules"), {"HOME", ".config/dmprof/rules"}}) {
    const char* base = std::getenv(variable);
    if (base == nullptr || *base != '/') continue;
    const std::filesystem::path folder = std::filesystem::path(base) / below;
    std::error_code error;
    // An empty folder of one's own is no mistake, unlike one that was named.
    if (std::filesystem::is_directory(folder, error) && !std::filesystem::is_empty(folder, error) && !error)
      return folder.string();
    if (std::string_view(variable) == "XDG_CONFIG_HOME") return "";
  }
  return "";
}

void add(rules::RuleFolder& playbook, rules::RuleFolder added) {
  for (rules::Rule& rule : added.rules) {
    const auto same = std::find_if(playbook.rules.begin(), playbook.rules.end(),
                                   [&](const rules::Rule& known) { return known.id == rule.id; });
    if (same != playbook.rules.end()) {
      *same = std::move(rule);
    } else {
      playbook.rules.push_back(std::move(rule));
    }
  }
  for (Error& error : added.refused) playbook.refused.push_back(std::move(error));
}

}  // namespace

Result<rules::RuleFolder> load_playbook(const std::vector<std::string>& folders) {
  rules::RuleFolder playbook;
  for (const EmbeddedFile& embedded : embedded_playbook()) {
    auto rule = rules::parse_rule(embedded.yaml, embedded.file);
    if (!rule) return tl::unexpected(rule.error());
    playbook.rules.push_back(std::move(*rule));
  }
  std::vector<std::string> all = folders;
  if (std::string own = own_rules(); !own.empty()) all.insert(all.begin(), std::move(own));
  for (const std::string& folder : all) {
    auto added = rules::load_rules(folder);
    if (!added) return tl::unexpected(added.error());
    add(playbook, std::move(*added));
  }
  return playbook;
}

}  // namespace dmprof::cli
