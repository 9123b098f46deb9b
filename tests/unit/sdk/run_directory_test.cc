#include <dirent.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <cerrno>

#include "tests/unit/sdk/in_child.h"

namespace dmprof {
namespace {

using RunDirectory = SdkTest;

mode_t mode_of(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

std::string page_name() { return "/" + std::to_string(::getpid()) + ".ctl"; }

TEST_F(RunDirectory, keeps_others_out_whatever_the_umask) {
  in_child([this] {
    ::umask(0);
    EXPECT_EQ(dmprof_init(nullptr), 0);
    EXPECT_EQ(mode_of(runtime + "/dmprof"), 0700u);
    EXPECT_EQ(mode_of(runtime + "/dmprof" + page_name()), 0600u);
  });
}

TEST_F(RunDirectory, is_left_clean_after_a_shutdown_and_after_an_ordinary_end) {
  in_child([this] {
    EXPECT_EQ(dmprof_init(nullptr), 0);
    dmprof_shutdown();
    EXPECT_FALSE(std::filesystem::exists(runtime + "/dmprof" + page_name()));
  });
  const pid_t pid = ::fork();
  if (pid == 0) ::exit(dmprof_init(nullptr));
  ::waitpid(pid, nullptr, 0);
  EXPECT_TRUE(std::filesystem::is_empty(runtime + "/dmprof"));
}

// /tmp of its own, so that the fallback directory of this user is not touched. Needs the right to make one.
bool private_tmp() {
  if (::unshare(CLONE_NEWNS) != 0) return false;
  if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  return ::mount("none", "/tmp", "tmpfs", 0, nullptr) == 0;
}

TEST_F(RunDirectory, falls_back_to_tmp_without_a_runtime_directory) {
  in_child([] {
    if (!private_tmp()) return;
    ::unsetenv("XDG_RUNTIME_DIR");
    EXPECT_EQ(dmprof_init(nullptr), 0);
    EXPECT_EQ(mode_of("/tmp/dmprof-" + std::to_string(::geteuid()) + page_name()), 0600u);
  });
}

TEST_F(RunDirectory, refuses_a_fallback_that_is_a_link_belongs_to_another_or_lets_others_in) {
  const auto refused = [](const std::function<void(const std::string&)>& prepare) {
    in_child([&] {
      if (!private_tmp()) return;
      ::unsetenv("XDG_RUNTIME_DIR");
      const std::string fallback = "/tmp/dmprof-" + std::to_string(::geteuid());
      ASSERT_EQ(::mkdir("/tmp/trap", 0700), 0);
      prepare(fallback);
      EXPECT_NE(dmprof_init(nullptr), 0);
      EXPECT_TRUE(std::filesystem::is_empty("/tmp/trap"));
      dmprof_instant(dmprof_thread_track(), 0, 1);  // the engine goes on
    });
  };
  refused([](const std::string& fallback) { std::filesystem::create_symlink("/tmp/trap", fallback); });
  refused([](const std::string& fallback) {
    ASSERT_EQ(::mkdir(fallback.c_str(), 0700), 0);
    ASSERT_EQ(::chmod(fallback.c_str(), 0770), 0);
  });
  refused([](const std::string& fallback) {
    ASSERT_EQ(::mkdir(fallback.c_str(), 0700), 0);
    if (::chown(fallback.c_str(), 65534, 65534) != 0)
      std::filesystem::permissions(fallback, std::filesystem::perms::all);
  });
}

TEST_F(RunDirectory, gives_an_error_and_goes_on_when_the_page_finds_no_room) {
  in_child([] {
    if (!private_tmp()) return;
    // A file system with room for the directory but not for the page.
    ASSERT_EQ(::mkdir("/tmp/small", 0700), 0);
    ASSERT_EQ(::mount("none", "/tmp/small", "tmpfs", 0, "size=64k"), 0);
    ::setenv("XDG_RUNTIME_DIR", "/tmp/small", 1);
    EXPECT_EQ(dmprof_init(nullptr), ENOSPC);
    EXPECT_TRUE(std::filesystem::is_empty("/tmp/small/dmprof"));
    dmprof_begin(dmprof_thread_track(), 1);
    dmprof_end(dmprof_thread_track());
  });
}

}  // namespace
}  // namespace dmprof
