#include "samples/models/train/tokenizer.h"

#include <cctype>

namespace dmprof::train {
namespace {

enum class Kind { space, letter, digit, other };

Kind kind_of(char c) {
  const auto u = static_cast<unsigned char>(c);
  if (u >= 128 || std::isalpha(u) != 0) return Kind::letter;
  if (std::isdigit(u) != 0) return Kind::digit;
  if (u == ' ' || (u >= 9 && u <= 13)) return Kind::space;
  return Kind::other;
}

// Length of a contraction such as 's or 'll at the start of the text, or 0.
std::size_t contraction(std::string_view text) {
  for (const std::string_view candidate : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"}) {
    if (text.starts_with(candidate)) return candidate.size();
  }
  return 0;
}

std::size_t word_length(std::string_view text) {
  if (const std::size_t n = contraction(text); n != 0) return n;
  const std::size_t start = text[0] == ' ' && text.size() > 1 ? 1 : 0;
  const Kind kind = kind_of(text[start]);
  std::size_t end = start;
  while (end < text.size() && kind_of(text[end]) == kind) ++end;
  if (kind != Kind::space) return end;
  end = 0;
  while (end < text.size() && kind_of(text[end]) == Kind::space) ++end;
  // A run of blanks leaves its last one to the word that follows.
  return end < text.size() && end > 1 ? end - 1 : end;
}

void apply_merge(std::vector<Token>& word, Tokenizer::Pair pair, Token merged) {
  std::size_t out = 0;
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (i + 1 < word.size() && word[i] == pair.first && word[i + 1] == pair.second) {
      word[out++] = merged;
      ++i;
    } else {
      word[out++] = word[i];
    }
  }
  word.resize(out);
}

std::vector<Token> as_bytes(std::string_view word) {
  std::vector<Token> tokens;
  for (const char c : word) tokens.push_back(static_cast<Token>(1 + static_cast<unsigned char>(c)));
  return tokens;
}

}  // namespace

std::vector<std::string_view> split_words(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    words.push_back(text.substr(0, word_length(text)));
    text.remove_prefix(words.back().size());
  }
  return words;
}

Tokenizer::Tokenizer(std::vector<Pair> merges) : merges_(std::move(merges)) {
  bytes_.emplace_back();
  for (int b = 0; b < 256; ++b) bytes_.emplace_back(1, static_cast<char>(b));
  for (const Pair& merge : merges_) {
    rank_.emplace(merge, static_cast<Token>(bytes_.size()));
    bytes_.push_back(bytes_.at(merge.first) + bytes_.at(merge.second));
  }
}

Tokenizer Tokenizer::learn(std::string_view text, int vocab) {
  std::map<std::string_view, long> counts;
  for (const std::string_view word : split_words(text)) ++counts[word];
  std::vector<std::pair<std::vector<Token>, long>> words;
  for (const auto& [word, count] : counts) words.emplace_back(as_bytes(word), count);
  std::vector<Pair> merges;
  while (257 + static_cast<int>(merges.size()) < vocab) {
    std::map<Pair, long> pairs;
    for (const auto& [word, count] : words) {
      for (std::size_t i = 0; i + 1 < word.size(); ++i) pairs[{word[i], word[i + 1]}] += count;
    }
    if (pairs.empty()) break;
    auto best = pairs.begin();
    for (auto it = pairs.begin(); it != pairs.end(); ++it) {
      if (it->second > best->second) best = it;
    }
    const auto merged = static_cast<Token>(257 + merges.size());
    merges.push_back(best->first);
    for (auto& [word, count] : words) apply_merge(word, merges.back(), merged);
  }
  return Tokenizer(std::move(merges));
}

std::vector<Token> Tokenizer::encode_word(std::string_view word) const {
  std::vector<Token> tokens = as_bytes(word);
  while (true) {
    auto best = rank_.end();
    for (std::size_t i = 0; i + 1 < tokens.size(); ++i) {
      const auto it = rank_.find({tokens[i], tokens[i + 1]});
      if (it != rank_.end() && (best == rank_.end() || it->second < best->second)) best = it;
    }
    if (best == rank_.end()) return tokens;
    apply_merge(tokens, best->first, best->second);
  }
}

std::vector<Token> Tokenizer::encode(std::string_view text) {
  std::vector<Token> out;
  for (const std::string_view word : split_words(text)) {
    auto [it, is_new] = known_words_.try_emplace(std::string(word));
    if (is_new) it->second = encode_word(word);
    out.insert(out.end(), it->second.begin(), it->second.end());
  }
  return out;
}

std::string Tokenizer::decode(const std::vector<Token>& tokens) const {
  std::string text;
  for (const Token token : tokens) text += bytes_.at(token);
  return text;
}

std::string printable(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto b = static_cast<unsigned char>(c);
    unsigned code = b;
    // Printable Latin-1 stands for itself; the 68 others are numbered from 256 on.
    if (b <= 32) code = 256u + b;
    if (b >= 127 && b <= 160) code = 256u + 33u + (b - 127u);
    if (b == 173) code = 256u + 33u + 34u;
    if (code < 128) {
      out += static_cast<char>(code);
    } else {
      out += static_cast<char>(0xc0u | code >> 6);
      out += static_cast<char>(0x80u | (code & 0x3fu));
    }
  }
  return out;
}

}  // namespace dmprof::train
