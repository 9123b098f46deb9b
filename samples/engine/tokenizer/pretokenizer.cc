#include "samples/engine/tokenizer/pretokenizer.h"

#include "samples/engine/tokenizer/unicode.h"
#include "samples/engine/tokenizer/utf8.h"

namespace dmengine {

namespace {

enum class CharacterClass { letter, number, space, other };

struct Classified {
  CharacterClass kind;
  size_t bytes;
};

Classified classify(std::string_view text) {
  const Utf8Character c = next_character(text);
  if (!c.valid) return {CharacterClass::other, 1};
  if (is_letter(c.code)) return {CharacterClass::letter, c.bytes};
  if (is_number(c.code)) return {CharacterClass::number, c.bytes};
  return {is_space(c.code) ? CharacterClass::space : CharacterClass::other, c.bytes};
}

size_t run_length(std::string_view text, CharacterClass kind) {
  size_t length = 0;
  while (length < text.size()) {
    const Classified c = classify(text.substr(length));
    if (c.kind != kind) break;
    length += c.bytes;
  }
  return length;
}

size_t contraction_length(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(ending)) return ending.size();
  }
  return 0;
}

// A run of white space before a word leaves its last character to the word (which takes it only if it is a blank).
size_t space_length(std::string_view text) {
  const size_t run = run_length(text, CharacterClass::space);
  if (run == text.size()) return run;
  size_t last = 0;
  for (size_t at = 0; at < run; at += classify(text.substr(at)).bytes) last = at;
  return last == 0 ? run : last;
}

size_t word_length(std::string_view text) {
  if (const size_t length = contraction_length(text); length > 0) return length;
  const size_t blank = text.front() == ' ' && text.size() > 1 ? 1 : 0;
  const CharacterClass kind = classify(text.substr(blank)).kind;
  if (kind == CharacterClass::space) return space_length(text);
  return blank + run_length(text.substr(blank), kind);
}

}  // namespace

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t length = word_length(text);
    words.push_back(text.substr(0, length));
    text.remove_prefix(length);
  }
  return words;
}

}  // namespace dmengine
