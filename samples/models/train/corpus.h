// The text models are trained on: the output of Debian's `bible -f`, one verse a line behind a reference such as "Ge1:1
// ".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dmprof/base/error.h"
#include "samples/models/train/tokenizer.h"

namespace dmprof::train {

struct Corpus {
  // One text a chapter: a verse a line, then an empty line.
  std::vector<std::string> train, held_out;
  std::string train_text() const;
};

// Every chapter whose 1-based index leaves 10 when divided by 20 is held out.
Result<Corpus> parse_corpus(std::string_view bible_output);
Result<Corpus> read_corpus(const std::string& path);

// Chapters one after the other, a boundary token before each.
std::vector<Token> token_stream(Tokenizer& tokenizer, const std::vector<std::string>& chapters);

Result<std::string> read_file(const std::string& path);

}  // namespace dmprof::train
