#include "dmprof/report/catalogue_markdown.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>

#include "analyzers/all/register_all.h"

namespace dmprof::report {
namespace {

TEST(CatalogueMarkdown, the_page_in_docs_is_the_one_the_catalogue_makes) {
  const char* source = std::getenv("DMPROF_SOURCE_DIR");
  std::ifstream in(std::string(source == nullptr ? "." : source) + "/docs/metrics.md");
  std::ostringstream page;
  page << in.rdbuf();
  EXPECT_TRUE(page.str() == catalogue_markdown(full_catalogue().metrics()))
      << "write it again: build/bin/dmprof metrics --markdown > docs/metrics.md";
}

TEST(CatalogueMarkdown, a_row_has_every_part_and_pipes_do_not_break_it) {
  Metric metric;
  metric.name = "some_metric";
  metric.unit = "ratio";
  metric.definition = "|this| / that";
  metric.needs = "steps";
  metric.direction = Direction::lower_is_better;
  metric.by = {By::request, By::window};
  const std::string page = catalogue_markdown(std::span(&metric, 1));
  EXPECT_NE(
      page.find("| `some_metric` | ratio | scalar | lower is better | \\|this\\| / that | steps | request, window |"),
      std::string::npos)
      << page;
}

}  // namespace
}  // namespace dmprof::report
