#include "samples/engine/speculation/ngram.h"

#include <algorithm>

namespace dmengine {

std::uint64_t NgramIndex::key(std::size_t end, std::size_t order) const {
  std::uint64_t hash = 1469598103934665603ULL;  // FNV-1a over whole tokens; a collision is caught by same()
  for (std::size_t i = end - order; i < end; ++i) {
    hash = (hash ^ static_cast<std::uint32_t>(text_[i])) * 1099511628211ULL;
  }
  return hash;
}

bool NgramIndex::same(std::size_t a, std::size_t b, std::size_t order) const {
  const auto at = [this](std::size_t end, std::size_t n) {
    return text_.begin() + static_cast<std::ptrdiff_t>(end - n);
  };
  return std::equal(at(a, order), at(a, 0), at(b, order));
}

void NgramIndex::append(Token token) {
  const std::size_t end = text_.size();
  text_.push_back(token);
  for (std::size_t order = shortest; order <= longest && order <= end; ++order) {
    followers_[order - shortest][key(end, order)] = static_cast<std::uint32_t>(end);
  }
}

void NgramIndex::append(std::span<const Token> tokens) {
  for (const Token token : tokens) append(token);
}

void NgramIndex::propose(std::size_t count, std::vector<Token>& out) const {
  out.clear();
  const std::size_t end = text_.size();
  for (std::size_t order = std::min(longest, end); order >= shortest; --order) {
    const auto& followers = followers_[order - shortest];
    const auto found = followers.find(key(end, order));
    if (found == followers.end() || !same(found->second, end, order)) continue;
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t from = found->second + i;
      out.push_back(from < end ? text_[from] : out[from - end]);
    }
    return;
  }
}

}  // namespace dmengine
