#include "dmprof/ring/process.h"

#include <gtest/gtest.h>

namespace dmprof::ring {
namespace {

TEST(Process, replaces_control_bytes_and_broken_utf8_in_foreign_text) {
  const auto clean = [](const std::string& text) { return clean_text(text.data(), text.size()); };
  EXPECT_EQ(clean("plain"), "plain");
  EXPECT_EQ(clean("\xe7\xa7\x91 caf\xc3\xa9"), "\xe7\xa7\x91 caf\xc3\xa9");
  EXPECT_EQ(clean("a\x1b[2Jb\n"), "a?[2Jb?");
  EXPECT_EQ(clean("\xc0\xaf \xff \xe7\xa7"), "?? ? ??");
  EXPECT_EQ(clean("\xed\xa0\x80"), "???");
}

}  // namespace
}  // namespace dmprof::ring
