#include "dmprof/capture/environment.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace dmprof::capture {
namespace {

namespace fs = std::filesystem;

// A machine made of files.
class Machine : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "machine-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    root_ = pattern + "/";
  }
  void TearDown() override { fs::remove_all(root_); }
  void file(const std::string& path, const std::string& text) const {
    fs::create_directories(fs::path(root_ + path).parent_path());
    std::ofstream(root_ + path, std::ios::binary) << text;
  }

  std::string root_;
};

TEST_F(Machine, says_what_its_files_say) {
  file("proc/cpuinfo",
       "processor\t: 0\nmodel name\t: Test CPU 9000\nflags\t\t: fpu avx2 fma constant_tsc nonstop_tsc hypervisor\n");
  file("proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n");
  file("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  const Environment environment = machine_environment(root_);
  EXPECT_EQ(environment.at("cpu.model"), "Test CPU 9000");
  EXPECT_EQ(environment.at("cpu.flags"), "avx2 fma");
  EXPECT_EQ(environment.at("clock.tsc"), "invariant");
  EXPECT_EQ(environment.at("host.virtual"), "yes");
  EXPECT_EQ(environment.at("memory.total_bytes"), "16777216");
  EXPECT_EQ(environment.at("clock.source"), "tsc");
}

TEST_F(Machine, leaves_out_what_is_not_there) {
  const Environment environment = machine_environment(root_);
  for (const char* key :
       {"cpu.model", "cpu.llc_bytes", "memory.total_bytes", "clock.tsc", "container.kind", "container.cpu_limit"})
    EXPECT_FALSE(environment.contains(key)) << key;
  EXPECT_TRUE(environment.contains("dmprof.version"));
}

TEST_F(Machine, counts_the_last_level_caches) {
  const std::string cpus = "sys/devices/system/cpu/";
  for (const int cpu : {0, 1, 2, 3}) {
    const std::string folder = cpus + "cpu" + std::to_string(cpu) + "/cache/";
    file(folder + "index0/level", "1\n");
    file(folder + "index0/type", "Data\n");
    file(folder + "index0/size", "32K\n");
    file(folder + "index3/level", "3\n");
    file(folder + "index3/type", "Unified\n");
    file(folder + "index3/size", "8192K\n");
    file(folder + "index3/shared_cpu_list", cpu < 2 ? "0-1\n" : "2-3\n");
  }
  const LastLevelCache cache = last_level_cache(root_);
  EXPECT_EQ(cache.bytes, 8u << 20);
  EXPECT_EQ(cache.instances, 2u);
}

TEST_F(Machine, knows_the_limits_of_a_version_2_container) {
  file("proc/self/cgroup", "0::/app\n");
  file("sys/fs/cgroup/app/cpu.max", "150000 100000\n");
  file("sys/fs/cgroup/app/memory.max", "1073741824\n");
  file(".dockerenv", "");
  const Environment environment = machine_environment(root_);
  EXPECT_EQ(environment.at("container.kind"), "docker");
  EXPECT_EQ(environment.at("container.cpu_limit"), "1.50");
  EXPECT_EQ(environment.at("container.memory_limit_bytes"), "1073741824");
}

TEST_F(Machine, an_unlimited_container_has_no_limits) {
  file("sys/fs/cgroup/cpu.max", "max 100000\n");
  file("sys/fs/cgroup/memory.max", "max\n");
  const Environment environment = machine_environment(root_);
  EXPECT_FALSE(environment.contains("container.cpu_limit"));
  EXPECT_FALSE(environment.contains("container.memory_limit_bytes"));
}

TEST_F(Machine, takes_only_DM_variables_of_a_process) {
  file("proc/77/environ", std::string("DM_LOOKAHEAD=5\0SECRET=x\0DM_EMPTY=\0DMX=1\0", 41));
  file("proc/77/cmdline", std::string("engine\0--model\0my model\0", 24));
  const Environment environment = process_environment({77}, root_);
  EXPECT_EQ(environment.at("env.DM_LOOKAHEAD"), "5");
  EXPECT_EQ(environment.at("env.DM_EMPTY"), "");
  EXPECT_EQ(environment.at("command"), "engine --model 'my model'");
  EXPECT_EQ(environment.size(), 3u);
}

}  // namespace
}  // namespace dmprof::capture
