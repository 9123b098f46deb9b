// The subcommands of dm-train. Each registers its flags; its failure is left in `status`.
#pragma once

#include <CLI/CLI.hpp>

#include "dmprof/base/error.h"

namespace dmprof::train {

void add_tokenizer_command(CLI::App& app, Status& status);
void add_target_command(CLI::App& app, Status& status);
void add_teacher_command(CLI::App& app, Status& status);
void add_draft_command(CLI::App& app, Status& status);
void add_export_command(CLI::App& app, Status& status);
void add_eval_command(CLI::App& app, Status& status);
void add_acceptance_command(CLI::App& app, Status& status);
void add_prompts_command(CLI::App& app, Status& status);

}  // namespace dmprof::train
