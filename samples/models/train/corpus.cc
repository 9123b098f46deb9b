#include "samples/models/train/corpus.h"

#include <cctype>
#include <fstream>
#include <sstream>

namespace dmprof::train {
namespace {

// The chapter of a reference such as "Ge1:1", or an empty string when the line has none.
std::string_view chapter_of(std::string_view line) {
  const std::size_t colon = line.find(':');
  const std::size_t blank = line.find(' ');
  if (colon == std::string_view::npos || blank == std::string_view::npos || colon > blank || colon == 0) return {};
  if (std::isdigit(static_cast<unsigned char>(line[colon - 1])) == 0) return {};
  return line.substr(0, colon);
}

}  // namespace

std::string Corpus::train_text() const {
  std::string text;
  for (const std::string& chapter : train) text += chapter;
  return text;
}

Result<Corpus> parse_corpus(std::string_view bible_output) {
  Corpus corpus;
  std::string_view current;
  std::string* chapter = nullptr;
  int chapters = 0;
  int line_number = 0;
  while (!bible_output.empty()) {
    const std::string_view line = bible_output.substr(0, bible_output.find('\n'));
    bible_output.remove_prefix(std::min(line.size() + 1, bible_output.size()));
    ++line_number;
    const std::string_view name = chapter_of(line);
    if (name.empty()) {
      return fail(ErrorKind::bad_input, "corpus line " + std::to_string(line_number) +
                                            " has no reference such as \"Ge1:1 \": make the file with `bible -f`");
    }
    if (name != current) {
      if (chapter != nullptr) *chapter += '\n';
      current = name;
      ++chapters;
      chapter = &(chapters % 20 == 10 ? corpus.held_out : corpus.train).emplace_back();
    }
    *chapter += line.substr(line.find(' ') + 1);
    *chapter += '\n';
  }
  if (chapter == nullptr) return fail(ErrorKind::bad_input, "the corpus is empty: make the file with `bible -f`");
  *chapter += '\n';
  return corpus;
}

Result<std::string> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (!in || !(text << in.rdbuf()))
    return fail(ErrorKind::environment, "cannot read " + path + ": give a readable, non-empty file");
  return std::move(text).str();
}

Result<Corpus> read_corpus(const std::string& path) {
  auto text = read_file(path);
  if (!text) return tl::unexpected(text.error());
  return parse_corpus(*text);
}

std::vector<Token> token_stream(Tokenizer& tokenizer, const std::vector<std::string>& chapters) {
  std::vector<Token> stream;
  for (const std::string& chapter : chapters) {
    stream.push_back(Tokenizer::boundary);
    const std::vector<Token> tokens = tokenizer.encode(chapter);
    stream.insert(stream.end(), tokens.begin(), tokens.end());
  }
  return stream;
}

}  // namespace dmprof::train
