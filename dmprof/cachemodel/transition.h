// The transition-probability matrix over blocks: which block follows which, learned online from the demand accesses.
//
// A row is a context (the last block, or the last two with order 2) and holds a bounded list of successors with integer
// counts. Probability = count / row total. Old behaviour fades: when a row's total reaches `decay_at` every count of
// the row is halved. Memory is bounded by `max_rows` x `max_successors`: the row updated longest ago makes room for a
// new one, and in a full row the rarest successor does. With order 2 a context that was never seen falls back to its
// last block alone.
//
// On dense weights the forward pass touches the blocks in the same order every time, so the matrix is nearly exact:
// uncertain are only the end of a pass (another draft pass or verification?) and the embedding block of the next token.
// No randomness is added to make that look harder than it is. Equal counts are resolved by the smaller block id: same
// input, same output.
//
// Cost: observe O(max_successors); predict(k) O(k) where one block follows another for certain, never above
// O(k s log s) with s = kMaxStates x max_successors. Not thread-safe; the owner locks.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/cachemodel/block.h"

namespace dmprof::cachemodel {

struct TransitionOptions {
  unsigned order = 1;               // 1 or 2 blocks of context; other values are taken as the nearer of the two
  std::size_t max_rows = 1 << 16;   // both orders together; at least 2
  std::size_t max_successors = 32;  // per row; at least 1
  std::uint32_t decay_at = 4096;    // row total that halves the row's counts; at least 2
};

// Where the access stream stands.
struct Position {
  std::optional<BlockId> before;  // nothing: unknown, or order 1
  BlockId current = 0;
  auto operator<=>(const Position&) const = default;
};

// A position that may be reached, and how probably. A Distribution is ordered by position and holds each once.
struct State {
  Position position;
  double probability = 0;
};
using Distribution = std::vector<State>;

struct Predicted {
  BlockId block = 0;
  double probability = 0;      // of being accessed within the asked distance (sum over distances, at most 1)
  std::uint32_t distance = 0;  // most probable number of accesses until then, 1 = the next one
};

class TransitionMatrix {
 public:
  static constexpr std::size_t kMaxStates = 64;  // most probable states that are followed further

  explicit TransitionMatrix(TransitionOptions options = {});
  TransitionMatrix(TransitionMatrix&&) = default;
  TransitionMatrix& operator=(TransitionMatrix&&) = default;

  // Learns that `block` was accessed next and makes it the current position.
  void observe(BlockId block);
  // Forgets the position, not what was learned: the next access follows nothing (a new stream, a reset engine).
  void forget_position() { position_.reset(); }
  const std::optional<Position>& position() const { return position_; }

  // The block most likely to be accessed next; nothing where the position is unknown or has never been left.
  std::optional<BlockId> most_likely_next() const;
  // Up to `most` distinct blocks that are accessed within the next `distance` accesses with at least `min_probability`:
  // nearest first (equal: more probable first, then smaller id). The current block itself may be among them.
  std::vector<Predicted> predict(std::uint32_t distance, std::size_t most, double min_probability = 0.0) const;
  // The distribution over positions one access after `from`. Loses the mass of positions that were never left, and of
  // the improbable ones: below `negligible`, or beyond the `max_states` most probable.
  Distribution advance(const Distribution& from, std::size_t max_states = kMaxStates, double negligible = 1e-4) const;
  // First-order probability of `to` after `from`; 0 where it was never seen.
  double probability(BlockId from, BlockId to) const;

  std::size_t rows() const { return rows_.size(); }
  std::uint64_t observed() const { return observed_; }
  const TransitionOptions& options() const { return options_; }

  // Text form, see FORMAT.md. Loading refuses what does not parse, what exceeds the options' bounds or was learned with
  // another order (bad_input), and what cannot be opened (environment). The position starts unknown.
  Status save(const std::string& path) const;
  // What save does with the text of write(): for an owner that must not hold its lock while a disk works.
  static Status save_text(const std::string& path, const std::string& text);
  static Result<TransitionMatrix> load(const std::string& path, TransitionOptions options = {});
  void write(std::ostream& out) const;
  // `name` stands for the input in error messages.
  static Result<TransitionMatrix> parse(std::istream& in, const std::string& name, TransitionOptions options = {});

 private:
  struct PositionHash {
    std::size_t operator()(const Position& position) const;
  };
  struct Successor {
    BlockId block = 0;
    std::uint32_t count = 0;
  };
  struct Row {
    std::vector<Successor> successors;  // most frequent first, then smaller id
    std::uint32_t total = 0;
    std::list<Position>::iterator age;
  };

  void learn(const Position& context, BlockId next);
  Row& touch_row(const Position& context);
  const Row* find(const Position& context) const;
  const Row* best_row(const Position& position) const;
  Status add_parsed(const std::string& line);

  TransitionOptions options_;
  std::unordered_map<Position, Row, PositionHash> rows_;  // order-1 rows have no `before`
  std::list<Position> by_age_;                            // oldest update first; iterators survive a move
  std::optional<Position> position_;
  std::uint64_t observed_ = 0;
};

}  // namespace dmprof::cachemodel
