// The rules that ship: each is read, linted and run against its own vectors.
#include <cstdlib>

#include <gtest/gtest.h>

#include "analyzers/all/register_all.h"
#include "rules/engine/lint.h"

namespace dmprof::rules {
namespace {

std::vector<Rule> playbook() {
  const char* source = std::getenv("DMPROF_SOURCE_DIR");
  auto rules = load_rules(std::string(source == nullptr ? "." : source) + "/rules/playbook");
  EXPECT_TRUE(rules) << rules.error().message;
  return rules ? *rules : std::vector<Rule>();
}

TEST(Playbook, has_nothing_to_complain_about) {
  const Catalogue catalogue = full_catalogue();
  for (const Complaint& complaint : lint(playbook(), catalogue))
    ADD_FAILURE() << complaint.rule << ": " << complaint.message;
}

TEST(Playbook, every_vector_does_what_it_says) {
  const Catalogue catalogue = full_catalogue();
  for (const Complaint& complaint : run_vectors(playbook(), catalogue))
    ADD_FAILURE() << complaint.rule << ": " << complaint.message;
}

TEST(Playbook, holds_the_rules_of_the_manual_under_their_file_names) {
  std::vector<std::string> ids;
  for (const Rule& rule : playbook()) {
    ids.push_back(rule.id);
    EXPECT_TRUE(rule.file.ends_with("/" + rule.id + ".yaml")) << rule.file;
  }
  for (const char* id : {"bandwidth-underused", "speculation-engine-contention"})
    EXPECT_NE(std::find(ids.begin(), ids.end(), id), ids.end()) << id;
}

}  // namespace
}  // namespace dmprof::rules
