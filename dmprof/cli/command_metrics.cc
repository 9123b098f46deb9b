// dmprof metrics: the catalogue.
#include "dmprof/cli/commands.h"
#include "dmprof/cli/evaluation.h"
#include "dmprof/cli/output.h"
#include "dmprof/cli/terminal.h"
#include "dmprof/report/catalogue_markdown.h"
#include "dmprof/report/metric_json.h"
#include "dmprof/report/metric_text.h"

namespace dmprof::cli {

DeclaredCommand declare_metrics(const Syntax& root, const std::shared_ptr<Shared>& shared) {
  const Syntax app = root.command("metrics", "List every metric: name, unit, definition, what it needs");
  app.flag("--json", shared->json, "Print JSON");
  auto markdown = std::make_shared<bool>(false);
  app.flag("--markdown", *markdown, "Print the page docs/metrics.md");
  return {
      app, [shared, markdown]() -> Result<ExitStatus> {
        const auto& metrics = catalogue().metrics();
        DMPROF_TRY(write_out(*markdown      ? report::catalogue_markdown(metrics)
                             : shared->json ? report::catalogue_json(metrics)
                                            : report::catalogue_text(metrics, report::Style(wants_colour(stdout)))));
        return ExitStatus::done;
      }};
}

}  // namespace dmprof::cli
