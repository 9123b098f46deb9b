#include "dmprof/capture/environment.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string_view>

#include "dmprof/base/version.h"

#include "dmprof/base/shell.h"

extern char** environ;

namespace dmprof::capture {

namespace fs = std::filesystem;

namespace {

// A small file of /proc or /sys; "" when it cannot be read. Bounded, since these files have no size.
std::string read_all(const std::string& path) {
  constexpr std::size_t limit = 256 << 10;
  std::ifstream file(path, std::ios::binary);
  std::string text(limit, '\0');
  file.read(text.data(), static_cast<std::streamsize>(limit));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return text;
}

std::string first_line(const std::string& path) {
  std::string text = read_all(path);
  text.resize(std::min(text.size(), text.find('\n')));
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.pop_back();
  return text;
}

std::string word(std::string_view text, std::size_t index) {
  std::istringstream in{std::string(text)};
  std::string found;
  for (std::size_t i = 0; i <= index; ++i) {
    if (!(in >> found)) return "";
  }
  return found;
}

// The value after "key : " in a /proc file such as cpuinfo or meminfo.
std::string value_of(const std::string& text, std::string_view key) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos || line.find_first_not_of(" \t", key.size()) != colon) continue;
    const std::size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return "";
}

bool to_number(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// "8192K", "32M" as /sys writes cache sizes.
std::uint64_t size_in_bytes(std::string text) {
  std::uint64_t unit = 1;
  if (!text.empty() && (text.back() == 'K' || text.back() == 'M' || text.back() == 'G')) {
    unit = text.back() == 'K' ? 1ull << 10 : text.back() == 'M' ? 1ull << 20 : 1ull << 30;
    text.pop_back();
  }
  std::uint64_t value = 0;
  return to_number(text, value) && value < (1ull << 32) ? value * unit : 0;
}

void put(Environment& environment, const std::string& key, std::string value) {
  if (!value.empty()) environment[key] = std::move(value);
}

void add_cpu(Environment& environment, const std::string& root) {
  const std::string info = read_all(root + "proc/cpuinfo");
  put(environment, "cpu.model", value_of(info, "model name"));
  const std::string flags = fmt::format(" {} ", value_of(info, "flags"));
  if (flags.size() > 2) {
    std::string kept;
    for (const std::string_view flag :
         {"sse4_2", "avx2", "fma", "f16c", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8", "amx_bf16"}) {
      if (flags.find(fmt::format(" {} ", flag)) != std::string::npos)
        kept += fmt::format("{}{}", kept.empty() ? "" : " ", flag);
    }
    put(environment, "cpu.flags", kept);
    const bool invariant =
        flags.find(" constant_tsc ") != std::string::npos && flags.find(" nonstop_tsc ") != std::string::npos;
    environment["clock.tsc"] = invariant ? "invariant" : "not invariant";
    environment["host.virtual"] = flags.find(" hypervisor ") != std::string::npos ? "yes" : "no";
  }
  put(environment, "cpu.online", first_line(root + "sys/devices/system/cpu/online"));
  put(environment, "cpu.governor", first_line(root + "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  put(environment, "cpu.max_khz", first_line(root + "sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"));
  if (const LastLevelCache llc = last_level_cache(root); llc.bytes > 0) {
    environment["cpu.llc_bytes"] = std::to_string(llc.bytes);
    environment["cpu.llc_instances"] = std::to_string(llc.instances);
  }
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    environment["cpu.allowed"] = std::to_string(CPU_COUNT(&allowed));
}

void add_container(Environment& environment, const std::string& root) {
  std::error_code error;
  if (fs::exists(root + ".dockerenv", error)) environment["container.kind"] = "docker";
  if (fs::exists(root + "run/.containerenv", error)) environment["container.kind"] = "podman";
  // Version 2 has one tree; inside a container its own limits sit at the mount's top, else below the path of
  // /proc/self/cgroup.
  std::string group;
  std::istringstream lines(read_all(root + "proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("0::")) group = line.substr(3);
  }
  for (const std::string& folder : {root + "sys/fs/cgroup" + group + "/", root + "sys/fs/cgroup/"}) {
    const std::string cpu = first_line(folder + "cpu.max");
    std::uint64_t quota = 0, period = 0;
    if (!environment.contains("container.cpu_limit") && to_number(word(cpu, 0), quota) &&
        to_number(word(cpu, 1), period) && period > 0) {
      environment["container.cpu_limit"] =
          fmt::format("{:.2f}", static_cast<double>(quota) / static_cast<double>(period));
    }
    const std::string memory = first_line(folder + "memory.max");
    std::uint64_t bytes = 0;
    if (!environment.contains("container.memory_limit_bytes") && to_number(memory, bytes))
      environment["container.memory_limit_bytes"] = memory;
    if (!environment.contains("container.cpuset"))
      put(environment, "container.cpuset", first_line(folder + "cpuset.cpus"));
  }
  const std::string v1 = root + "sys/fs/cgroup/";
  std::uint64_t quota = 0, period = 0, bytes = 0;
  if (to_number(first_line(v1 + "cpu/cpu.cfs_quota_us"), quota) &&
      to_number(first_line(v1 + "cpu/cpu.cfs_period_us"), period) && period > 0) {
    environment["container.cpu_limit"] =
        fmt::format("{:.2f}", static_cast<double>(quota) / static_cast<double>(period));
  }
  constexpr std::uint64_t unlimited = 1ull << 60;  // version 1 writes a huge number when there is no limit
  const std::string memory = first_line(v1 + "memory/memory.limit_in_bytes");
  if (to_number(memory, bytes) && bytes < unlimited) environment["container.memory_limit_bytes"] = memory;
}

// DM_* entries of a NUL-separated environment block.
void add_variables(Environment& environment, const std::string& prefix, std::string_view block) {
  while (!block.empty()) {
    const std::size_t end = std::min(block.find('\0'), block.size());
    const std::string_view entry = block.substr(0, end);
    const std::size_t equals = entry.find('=');
    if (entry.starts_with("DM_") && equals != std::string_view::npos) {
      environment[prefix + std::string(entry.substr(0, equals))] = std::string(entry.substr(equals + 1));
    }
    block.remove_prefix(std::min(end + 1, block.size()));
  }
}

}  // namespace

LastLevelCache last_level_cache(const std::string& root) {
  constexpr int most_cpus = 4096;
  constexpr int most_levels = 8;
  const std::string cpus = root + "sys/devices/system/cpu/";
  LastLevelCache found;
  std::uint64_t deepest = 0;
  int deepest_index = 0;
  for (int index = 0; index < most_levels; ++index) {
    const std::string folder = fmt::format("{}cpu0/cache/index{}/", cpus, index);
    std::uint64_t level = 0;
    if (!to_number(first_line(folder + "level"), level) || first_line(folder + "type") == "Instruction") continue;
    const std::uint64_t size = size_in_bytes(first_line(folder + "size"));
    if (level <= deepest || size == 0) continue;
    deepest = level;
    deepest_index = index;
    found.bytes = size;
  }
  std::set<std::string> sharers;
  for (int cpu = 0; found.bytes > 0 && cpu < most_cpus; ++cpu) {
    const std::string shared =
        first_line(fmt::format("{}cpu{}/cache/index{}/shared_cpu_list", cpus, cpu, deepest_index));
    if (shared.empty()) break;
    sharers.insert(shared);
  }
  found.instances = static_cast<std::uint32_t>(std::max<std::size_t>(sharers.size(), found.bytes > 0 ? 1 : 0));
  if (found.bytes == 0 && root == "/") {
    const long size = ::sysconf(_SC_LEVEL3_CACHE_SIZE);
    if (size > 0) found = {static_cast<std::uint64_t>(size), 1};
  }
  return found;
}

Environment machine_environment(const std::string& root) {
  Environment environment;
  environment["dmprof.version"] = std::string(version);
  environment["recorded_at"] = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
  utsname name{};
  if (::uname(&name) == 0)
    environment["host.kernel"] = fmt::format("{} {} {}", name.sysname, name.release, name.machine);
  add_cpu(environment, root);
  std::uint64_t kib = 0;
  if (to_number(word(value_of(read_all(root + "proc/meminfo"), "MemTotal"), 0), kib) && kib < (1ull << 50)) {
    environment["memory.total_bytes"] = std::to_string(kib * 1024);
  }
  put(environment, "memory.transparent_hugepage", first_line(root + "sys/kernel/mm/transparent_hugepage/enabled"));
  put(environment, "clock.source",
      first_line(root + "sys/devices/system/clocksource/clocksource0/current_clocksource"));
  put(environment, "load.1m", word(first_line(root + "proc/loadavg"), 0));
  put(environment, "nvidia.driver", first_line(root + "proc/driver/nvidia/version"));
  add_container(environment, root);
  return environment;
}

Environment command_environment(const std::vector<std::string>& command) {
  Environment environment;
  put(environment, "command", shell_quoted(command));
  std::error_code error;
  put(environment, "command.directory", fs::current_path(error).string());
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry)
    add_variables(environment, "env.", *entry);
  return environment;
}

Environment process_environment(const std::vector<pid_t>& pids, const std::string& root) {
  Environment environment;
  for (const pid_t pid : pids) {
    const std::string folder = fmt::format("{}proc/{}/", root, pid);
    const bool only_one = pids.size() == 1;
    add_variables(environment, only_one ? "env." : fmt::format("env.{}.", pid), read_all(folder + "environ"));
    std::vector<std::string> words;
    std::istringstream line(read_all(folder + "cmdline"));
    for (std::string one; std::getline(line, one, '\0');) words.push_back(one);
    put(environment, only_one ? "command" : fmt::format("command.{}", pid), shell_quoted(words));
  }
  return environment;
}

Status store_environment(EventSink& sink, const Environment& environment) {
  for (const auto& [key, value] : environment) DMPROF_TRY(sink.set_environment(key, value));
  return {};
}

}  // namespace dmprof::capture
