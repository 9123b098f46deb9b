// dm-train: makes the small target and its drafts. Run by hand; see samples/models/README.md for the commands.
#include <cblas.h>

#include <CLI/CLI.hpp>

#include "dmprof/base/exit_status.h"
#include "samples/models/train/commands.h"

int main(int argc, char** argv) {
  openblas_set_num_threads(1);  // threads work on windows of their own; a threaded product would only fight them
  CLI::App app("Trains the sample models of dmprof.", "dm-train");
  app.require_subcommand(1);
  dmprof::Status status;
  dmprof::train::add_tokenizer_command(app, status);
  dmprof::train::add_target_command(app, status);
  dmprof::train::add_teacher_command(app, status);
  dmprof::train::add_draft_command(app, status);
  dmprof::train::add_export_command(app, status);
  dmprof::train::add_eval_command(app, status);
  dmprof::train::add_acceptance_command(app, status);
  dmprof::train::add_prompts_command(app, status);
  CLI11_PARSE(app, argc, argv);
  return status ? 0 : dmprof::report_error("dm-train", status.error());
}
