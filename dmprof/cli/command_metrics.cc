// dmprof metrics: the catalogue.
#include "dmprof/cli/commands.h"
#include "dmprof/cli/evaluation.h"
#include "dmprof/cli/output.h"
#include "dmprof/cli/terminal.h"
#include "dmprof/report/metric_json.h"
#include "dmprof/report/metric_text.h"

namespace dmprof::cli {

DeclaredCommand declare_metrics(const Syntax& root, const std::shared_ptr<Shared>& shared) {
  const Syntax app = root.command("metrics", "List every metric: name, unit, definition, what it needs");
  app.flag("--json", shared->json, "Print JSON");
  return {app, [shared]() -> Result<ExitStatus> {
            const auto& metrics = catalogue().metrics();
            DMPROF_TRY(write_out(shared->json ? report::catalogue_json(metrics)
                                              : report::catalogue_text(metrics, report::Style(wants_colour(stdout)))));
            return ExitStatus::done;
          }};
}

}  // namespace dmprof::cli
