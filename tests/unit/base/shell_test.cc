#include "dmprof/base/shell.h"

#include <gtest/gtest.h>

namespace dmprof {
namespace {

using Words = std::vector<std::string>;

TEST(ShellQuoting, a_shell_would_take_the_words_apart_again) {
  EXPECT_EQ(shell_quoted(Words{"echo", "a b", "", "it's", "x=1"}), "echo 'a b' '' 'it'\\''s' x=1");
}

TEST(ShellQuoting, what_a_shell_would_expand_is_kept_as_it_is) {
  EXPECT_EQ(shell_quoted(Words{"$HOME", "*.gguf", "a;b", "~"}), "'$HOME' '*.gguf' 'a;b' '~'");
}

}  // namespace
}  // namespace dmprof
