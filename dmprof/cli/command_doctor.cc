// dmprof doctor: what this machine gives a recording, and how to mend what is missing.
#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>

#include "collectors/attach/engines.h"
#include "dmprof/base/version.h"
#include "dmprof/capture/environment.h"
#include "dmprof/cli/calibration.h"
#include "dmprof/cli/commands.h"
#include "dmprof/cli/output.h"
#include "dmprof/cli/recordings.h"
#include "dmprof/cli/terminal.h"
#include "dmprof/report/format.h"
#include "dmprof/report/metric_json.h"
#include "dmprof/report/style.h"
#include "dmprof/ring/directory.h"

namespace dmprof::cli {

namespace {

enum class Health { ok, note, missing };

struct Check {
  std::string name;
  Health health = Health::ok;
  std::string detail;
  std::string mend;  // what to do about it, "" = nothing
};

std::string text_at(const capture::Environment& environment, const std::string& key,
                    const std::string& otherwise = "") {
  const auto found = environment.find(key);
  return found == environment.end() ? otherwise : found->second;
}

Check check_clock(const capture::Environment& environment) {
  const bool invariant = text_at(environment, "clock.tsc") == "invariant";
  const std::string source = text_at(environment, "clock.source", "unknown");
  if (invariant) return {"clock", Health::ok, fmt::format("invariant TSC; kernel clock source {}", source), ""};
  return {"clock", Health::note,
          fmt::format(
              "no invariant TSC, so events are stamped with CLOCK_MONOTONIC (kernel clock source {}), which costs more",
              source),
          ""};
}

Check check_processor(const capture::Environment& environment) {
  const std::string cache = text_at(environment, "cpu.llc_bytes");
  std::string detail =
      fmt::format("{}; {} usable; last-level cache {}", text_at(environment, "cpu.model", "unknown"),
                  text_at(environment, "cpu.allowed", "?"),
                  cache.empty() ? "of unknown size" : report::bytes(std::strtoull(cache.c_str(), nullptr, 10)));
  const std::string governor = text_at(environment, "cpu.governor");
  if (!governor.empty() && governor != "performance") {
    return {"processor", Health::note, detail + "; governor " + governor,
            "for steady figures: cpupower frequency-set -g performance"};
  }
  return {"processor", Health::ok, detail, ""};
}

Check check_counters() {
  perf_event_attr attributes{};
  attributes.type = PERF_TYPE_HARDWARE;
  attributes.size = sizeof attributes;
  attributes.config = PERF_COUNT_HW_INSTRUCTIONS;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  errno = 0;
  const long descriptor = ::syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0);
  if (descriptor >= 0) {
    ::close(static_cast<int>(descriptor));
    return {"hardware counters", Health::note, "there are some, but this build has no collector for them", ""};
  }
  if (errno == EACCES || errno == EPERM) {
    return {"hardware counters", Health::note, "not permitted; this build has no collector for them either",
            "sysctl kernel.perf_event_paranoid=1"};
  }
  return {"hardware counters", Health::note,
          fmt::format("none here ({}); this build has no collector for them either", std::strerror(errno)), ""};
}

Check check_shared_memory() {
  struct statvfs status {};
  if (::statvfs("/dev/shm", &status) != 0)
    return {"shared memory", Health::note, "/dev/shm is not there; rings are anonymous memory and do not need it", ""};
  const std::uint64_t free = std::uint64_t{status.f_bavail} * status.f_frsize;
  return {"shared memory", Health::ok,
          fmt::format("/dev/shm has {} free; rings are anonymous memory and count against the memory limit",
                      report::bytes(free)),
          ""};
}

// The directory engines of this user publish themselves in; the SDK looks for the same ones in this order.
Check check_run_directory() {
  const std::vector<std::string> candidates = ring::engine_directories();
  for (const std::string& path : candidates) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) continue;
    if (!S_ISDIR(status.st_mode)) return {"run directory", Health::missing, path + " is no directory", "remove it"};
    if (status.st_uid != ::geteuid())
      return {"run directory", Health::missing, path + " belongs to somebody else, so it is not used",
              "remove it, or set XDG_RUNTIME_DIR"};
    if ((status.st_mode & 077) != 0)
      return {"run directory", Health::missing,
              fmt::format("{} lets others in (mode {:o}), so it is not used", path, status.st_mode & 0777u),
              "chmod 700 " + path};
    return {"run directory", Health::ok, path + ", private", ""};
  }
  return {"run directory", Health::ok, candidates.front() + " will be made by the first engine", ""};
}

Check check_data_directory() {
  auto directory = data_directory();
  if (!directory) return {"recordings", Health::missing, directory.error().message, ""};
  std::filesystem::path there = *directory;
  std::error_code error;
  while (!std::filesystem::exists(there, error) && there.has_parent_path() && there != there.parent_path())
    there = there.parent_path();
  if (::access(there.c_str(), W_OK) != 0)
    return {"recordings", Health::missing, fmt::format("{} cannot be written", there.string()),
            "set XDG_DATA_HOME, or name files with -o"};
  const auto space = std::filesystem::space(there, error);
  return {"recordings", Health::ok,
          fmt::format("{}, {} free", directory->string(), error ? "?" : report::bytes(space.available)), ""};
}

Check check_calibration() {
  std::string reason;
  const auto calibration = usable_calibration(reason);
  if (!calibration) return {"calibration", Health::missing, reason, "dmprof calibrate"};
  return {"calibration", Health::ok,
          fmt::format("measured {}: {} read, {}", calibration->measured_at,
                      report::quantity(calibration->best_read_bandwidth(), "B/s"),
                      report::quantity(calibration->best_flops(), "FLOP/s")),
          ""};
}

Check check_container(const capture::Environment& environment) {
  std::string detail = text_at(environment, "container.kind", "no container known");
  if (const std::string cpus = text_at(environment, "container.cpu_limit"); !cpus.empty())
    detail += fmt::format("; at most {} processors", cpus);
  if (const std::string memory = text_at(environment, "container.memory_limit_bytes"); !memory.empty()) {
    detail += fmt::format("; at most {} of memory", report::bytes(std::strtoull(memory.c_str(), nullptr, 10)));
  }
  const bool limited = environment.contains("container.cpu_limit");
  return {"container", limited ? Health::note : Health::ok, detail,
          limited ? "a processor limit stalls threads at random: raise it for steady figures" : ""};
}

std::vector<Check> all_checks() {
  const capture::Environment environment = capture::machine_environment();
  return {check_clock(environment),
          check_processor(environment),
          check_container(environment),
          check_counters(),
          {"CUDA", Health::note, "this build has no CUPTI collector; --cupti is refused", ""},
          check_shared_memory(),
          check_run_directory(),
          check_data_directory(),
          check_calibration()};
}

std::string_view word(Health health) {
  return health == Health::ok ? "ok" : health == Health::note ? "note" : "missing";
}

Result<ExitStatus> doctor_command(bool json) {
  const std::vector<Check> checks = all_checks();
  const auto engines = attach::list_engines();
  if (json) {
    nlohmann::ordered_json object = {{"version", version},
                                     {"checks", nlohmann::ordered_json::array()},
                                     {"engines", nlohmann::ordered_json::array()}};
    for (const Check& check : checks)
      object["checks"].push_back(
          {{"name", check.name}, {"status", word(check.health)}, {"detail", check.detail}, {"mend", check.mend}});
    if (engines) {
      for (const attach::EngineInfo& engine : *engines)
        object["engines"].push_back(
            {{"pid", engine.pid}, {"name", engine.name}, {"version", engine.version}, {"command", engine.command}});
    }
    DMPROF_TRY(write_out(report::dump(object) + "\n"));
    return ExitStatus::done;
  }
  const report::Style style(wants_colour(stdout));
  std::string text = fmt::format("dmprof {}\n", version);
  for (const Check& check : checks) {
    const std::string mark = report::padded(word(check.health), 7);
    const std::string coloured = check.health == Health::ok     ? style.good(mark)
                                 : check.health == Health::note ? style.dim(mark)
                                                                : style.warn(mark);
    text += fmt::format("  {} {} {}\n", coloured, report::padded(check.name, 18), report::printable(check.detail));
    if (!check.mend.empty()) text += fmt::format("          mend: {}\n", check.mend);
  }
  if (engines && engines->empty()) text += "  no engine with the dmprof SDK runs now\n";
  if (engines) {
    for (const attach::EngineInfo& engine : *engines)
      text += fmt::format("  engine  {} {} {}\n", engine.pid, report::printable(engine.name),
                          report::printable(engine.command));
  }
  DMPROF_TRY(write_out(text));
  return ExitStatus::done;
}

}  // namespace

DeclaredCommand declare_doctor(const Syntax& root, const std::shared_ptr<Shared>& shared) {
  const Syntax app = root.command("doctor", "Say what this machine gives a recording, and how to mend what is missing");
  app.flag("--json", shared->json, "Print JSON");
  return {app, [shared] { return doctor_command(shared->json); }};
}

}  // namespace dmprof::cli
