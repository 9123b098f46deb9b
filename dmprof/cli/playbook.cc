#include "dmprof/cli/playbook.h"

#include <algorithm>

namespace dmprof::cli {

Result<std::vector<rules::Rule>> load_playbook(const std::vector<std::string>& folders) {
  std::vector<rules::Rule> playbook;
  for (const EmbeddedRule& embedded : embedded_playbook()) {
    auto rule = rules::parse_rule(embedded.yaml, embedded.file);
    if (!rule) return tl::unexpected(rule.error());
    playbook.push_back(std::move(*rule));
  }
  for (const std::string& folder : folders) {
    auto added = rules::load_rules(folder);
    if (!added) return tl::unexpected(added.error());
    for (rules::Rule& rule : *added) {
      const auto same =
          std::find_if(playbook.begin(), playbook.end(), [&](const rules::Rule& known) { return known.id == rule.id; });
      if (same != playbook.end()) {
        *same = std::move(rule);
      } else {
        playbook.push_back(std::move(rule));
      }
    }
  }
  return playbook;
}

}  // namespace dmprof::cli
