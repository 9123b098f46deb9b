#include "dmprof/cli/recordings.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>

namespace dmprof::cli {
namespace {

namespace fs = std::filesystem;

class Recordings : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "recordings-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    fs::permissions(folder_, fs::perms::owner_all);
    fs::remove_all(folder_);
  }
  fs::path make(const std::string& name, const std::string& text, int age_s = 0) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    fs::last_write_time(folder_ / name, fs::file_time_type::clock::now() - std::chrono::seconds(age_s));
    return folder_ / name;
  }

  fs::path folder_;
};

TEST_F(Recordings, the_newest_is_the_one_written_last) {
  make("old.dmprof", "x", 100);
  const fs::path newest = make("a.dmprof", "x", 5);
  make("notes.txt", "x", 0);
  fs::create_directory(folder_ / "folder.dmprof");
  EXPECT_EQ(newest_recording(folder_).value(), newest);
}

TEST_F(Recordings, without_any_the_answer_says_how_to_make_one) {
  const auto newest = newest_recording(folder_);
  ASSERT_FALSE(newest);
  EXPECT_EQ(newest.error().kind, ErrorKind::cannot_answer);
  EXPECT_FALSE(newest_recording(folder_ / "missing"));
}

TEST_F(Recordings, a_relative_data_directory_of_the_environment_is_ignored) {
  ::setenv("XDG_DATA_HOME", "relative", 1);
  ::setenv("HOME", "/home/someone", 1);
  EXPECT_EQ(data_directory().value(), "/home/someone/.local/share/dmprof");
  ::setenv("XDG_DATA_HOME", folder_.c_str(), 1);
  EXPECT_EQ(data_directory().value(), folder_ / "dmprof");
}

TEST_F(Recordings, a_new_name_is_free_and_its_folder_private) {
  ::setenv("XDG_DATA_HOME", folder_.c_str(), 1);
  const auto path = new_recording_path("/usr/bin/my engine;rm");
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_FALSE(fs::exists(*path));
  EXPECT_EQ(path->extension(), ".dmprof");
  EXPECT_NE(path->filename().string().find("my_engine_rm"), std::string::npos);
  struct stat status {};
  ASSERT_EQ(::stat(path->parent_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777u, 0700u);
}

TEST_F(Recordings, output_may_be_new_or_replace_a_recording) {
  EXPECT_TRUE(check_output(folder_ / "new.dmprof"));
  EXPECT_TRUE(check_output(make("empty.dmprof", "")));
  EXPECT_TRUE(check_output(make("old.dmprof", std::string("SQLite format 3\0more", 20))));
}

TEST_F(Recordings, output_never_replaces_something_else) {
  for (const fs::path& path : {make("notes.txt", "precious"), folder_, folder_ / "missing" / "x.dmprof"}) {
    const auto checked = check_output(path);
    ASSERT_FALSE(checked) << path;
    EXPECT_EQ(checked.error().kind, ErrorKind::environment);
    EXPECT_NE(checked.error().message.find(path.string()), std::string::npos);
  }
}

TEST_F(Recordings, output_replaces_a_file_of_any_kind_by_force_and_still_no_folder) {
  EXPECT_TRUE(check_output(make("notes.txt", "precious"), true));
  EXPECT_FALSE(check_output(folder_, true));
}

TEST_F(Recordings, output_into_a_folder_without_permission_is_refused) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may write everywhere";
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_FALSE(check_output(folder_ / "new.dmprof"));
}

}  // namespace
}  // namespace dmprof::cli
