// One declare function per command, each in a file of its own. Declaring adds the command's flags and help to the parser and
// returns what to do when that command was the one typed; nothing runs before every argument was checked.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/cli/exit_status.h"

namespace dmprof::cli {

using Action = std::function<Result<ExitStatus>()>;

// `dmprof --metric NAME[,NAME…]` and the flags that go with it. It stands alone, or beside `run` and `attach`, which then
// answer from what they have just recorded.
struct MetricQuestion {
  std::vector<std::string> names;
  std::string run;
  std::string by;
  std::string slo;
  bool live = false;
  double duration_s = 5;
};

// What several commands need: the flags of the top level and the words after "--".
struct Shared {
  bool json = false;
  MetricQuestion question;
  std::vector<std::string> command_line;  // after "--"; only `run` takes one
};

struct DeclaredCommand {
  CLI::App* app = nullptr;
  Action action;
};

DeclaredCommand declare_run(CLI::App& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_attach(CLI::App& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_metrics(CLI::App& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_diagnose(CLI::App& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_query(CLI::App& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_export(CLI::App& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_rules(CLI::App& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_doctor(CLI::App& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_calibrate(CLI::App& root, const std::shared_ptr<Shared>& shared);

// The flags of `--metric` at the top level.
void declare_metric_question(CLI::App& root, const std::shared_ptr<Shared>& shared);

}  // namespace dmprof::cli
