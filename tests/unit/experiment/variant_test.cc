#include "dmprof/experiment/variant.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <iterator>

namespace dmprof::experiment {
namespace {

namespace fs = std::filesystem;

class Folder : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "variant.XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder = pattern;
  }
  void TearDown() override { fs::remove_all(folder); }
  static std::string content(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }
  // What the command said, run as shell_words() says.
  std::string said(const Variant& variant) {
    const auto words = shell_words(variant, folder / "log");
    std::string quoted = words[2];
    for (std::size_t at = 0; (at = quoted.find('\'', at)) != std::string::npos; at += 4) quoted.replace(at, 1, "'\\''");
    EXPECT_EQ(::system((words[0] + " " + words[1] + " '" + quoted + "'").c_str()), 0);
    return content(folder / "log");
  }
  fs::path folder;
};
using ShellWords = Folder;
using HeldFileTest = Folder;

TEST_F(ShellWords, the_line_runs_with_its_variables_in_its_folder_and_prints_to_the_log) {
  fs::create_directory(folder / "a folder");
  const std::string output =
      said({"", "DM_X='two words' sh -c 'echo $DM_X; pwd; echo err >&2'", (folder / "a folder").string(), {}, {}});
  EXPECT_EQ(output, "two words\n" + fs::canonical(folder / "a folder").string() + "\nerr\n");
}

TEST_F(ShellWords, a_variable_of_today_that_the_recording_did_not_have_is_not_seen) {
  ::setenv("DM_TODAY", "1", 1);
  EXPECT_EQ(said({"", "echo [$DM_TODAY]", "", {"DM_TODAY"}, {}}), "[]\n");
  ::unsetenv("DM_TODAY");
}

TEST_F(HeldFileTest, the_value_stands_while_it_is_held_and_the_old_content_comes_back) {
  std::ofstream(folder / "knob") << "0\n";
  {
    auto held = HeldFile::set({folder / "knob", "1"});
    ASSERT_TRUE(held);
    EXPECT_EQ(content(folder / "knob"), "1\n");
  }
  EXPECT_EQ(content(folder / "knob"), "0\n");
}

TEST_F(HeldFileTest, a_file_that_was_not_there_is_made_with_its_folders_and_goes_again) {
  {
    auto held = HeldFile::set({folder / "module" / "parameters" / "knob", "1"});
    ASSERT_TRUE(held);
    EXPECT_EQ(content(folder / "module" / "parameters" / "knob"), "1\n");
  }
  EXPECT_FALSE(fs::exists(folder / "module" / "parameters" / "knob"));
}

TEST_F(HeldFileTest, what_cannot_be_written_is_an_error_that_names_the_file) {
  fs::create_directory(folder / "knob");
  const auto held = HeldFile::set({folder / "knob", "1"});
  ASSERT_FALSE(held);
  EXPECT_EQ(held.error().kind, ErrorKind::environment);
  EXPECT_NE(held.error().message.find((folder / "knob").string()), std::string::npos);
  EXPECT_TRUE(fs::is_directory(folder / "knob"));
}

}  // namespace
}  // namespace dmprof::experiment
