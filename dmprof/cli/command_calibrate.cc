// dmprof calibrate: measure what this machine can do and keep it as the denominator of later recordings.
#include <fmt/format.h>

#include "dmprof/calibrate/calibrate.h"
#include "dmprof/cli/calibration.h"
#include "dmprof/cli/commands.h"
#include "dmprof/cli/output.h"
#include "dmprof/cli/recordings.h"
#include "dmprof/cli/terminal.h"
#include "dmprof/report/format.h"

namespace dmprof::cli {

namespace {

struct Flags {
  std::uint32_t threads = 0;
  bool show = false;
};

std::string text_of(const calibrate::Calibration& calibration) {
  std::string text = fmt::format("{}, {}, measured {}\nread {} MB a pass (caches: {} MB)\n", calibration.cpu_model,
                                 calibration.instruction_set, calibration.measured_at,
                                 calibration.buffer_bytes / 1'000'000, calibration.cache_bytes / 1'000'000);
  text += "threads   memory read       arithmetic (f32)\n";
  for (const calibrate::Point& point : calibration.points) {
    text += fmt::format("{:>7}   {:<15}   {}\n", point.threads, report::quantity(point.read_bandwidth, "B/s"),
                        report::quantity(point.flops, "FLOP/s"));
  }
  return text;
}

Result<ExitStatus> calibrate_command(const Flags& flags, bool json) {
  auto path = calibration_path();
  if (!path) return tl::unexpected(path.error());
  Result<calibrate::Calibration> result = tl::unexpected(Error{});
  if (flags.show) {
    result = calibrate::load(*path);
  } else {
    DMPROF_TRY(make_data_directory());
    ProgressLine progress(stderr);
    progress.show("calibrating; leave the machine alone for a moment");
    result =
        calibrate::measure(calibration_options(flags.threads), [&](const std::string& line) { progress.show(line); });
  }
  if (!result) return tl::unexpected(result.error());
  if (!flags.show) DMPROF_TRY(calibrate::save(*result, *path));
  DMPROF_TRY(write_out(json ? calibrate::to_json(*result) + "\n" : text_of(*result)));
  if (!flags.show) fmt::print(stderr, "stored in {}; recordings made from now on carry it\n", path->string());
  return ExitStatus::done;
}

}  // namespace

DeclaredCommand declare_calibrate(const Syntax& root, const std::shared_ptr<Shared>& shared) {
  const Syntax app =
      root.command("calibrate", "Measure memory bandwidth and arithmetic rate, and keep them as denominators");
  auto flags = std::make_shared<Flags>();
  app.flag("--json", shared->json, "Print JSON");
  app.count("--threads", flags->threads, 1024, "N", "Highest number of threads; every usable processor when left out");
  app.flag("--show", flags->show, "Print the stored calibration and measure nothing");
  return {app, [flags, shared] { return calibrate_command(*flags, shared->json); }};
}

}  // namespace dmprof::cli
