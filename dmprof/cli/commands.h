// One declare function per command, each in a file of its own. Declaring adds the command's flags and help to the
// parser and returns what to do when that command was the one typed; nothing runs before every argument was checked.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/base/exit_status.h"
#include "dmprof/cli/syntax.h"

namespace dmprof::cli {

using Action = std::function<Result<ExitStatus>()>;

// `dmprof --metric NAME[,NAME…]` and the flags that go with it. It stands alone, or beside `run` and `attach`, which
// then answer from what they have just recorded.
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
  Syntax syntax;
  Action action;
};

DeclaredCommand declare_run(const Syntax& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_attach(const Syntax& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_metrics(const Syntax& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_diagnose(const Syntax& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_tune(const Syntax& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_plan(const Syntax& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_advise(const Syntax& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_query(const Syntax& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_export(const Syntax& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_rules(const Syntax& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_doctor(const Syntax& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_whatif(const Syntax& root, const std::shared_ptr<Shared>& shared);
DeclaredCommand declare_calibrate(const Syntax& root, const std::shared_ptr<Shared>& shared);

// The flags of `--metric` at the top level.
void declare_metric_question(const Syntax& root, const std::shared_ptr<Shared>& shared);

}  // namespace dmprof::cli
