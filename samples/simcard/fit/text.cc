#include "samples/simcard/fit/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "analyzers/specdec/acceptance.h"

namespace dmprof::twin {
namespace {

constexpr std::uint32_t kMostTokens = 1U << 21;  // of a sequence; the engine's limits lie below
constexpr std::size_t kMostRequests = 1U << 20;
constexpr std::uint32_t kBucket = 64;  // tokens of sequence length that share acceptance figures

struct Life {
  std::optional<TimeNs> arrival;
  std::uint64_t prompt = 0, output = 0;
  bool ended = false;
};

Result<std::map<std::uint64_t, Life>> lives_of(const Recording& recording) {
  std::map<std::uint64_t, Life> lives;
  for (const RequestEvent& event : recording.requests) {
    Life& life = lives[event.request];
    if (event.point == RequestPoint::arrive) {
      life.arrival = event.time;
      life.prompt = event.tokens;
    } else if (event.point == RequestPoint::end) {
      life.output = event.tokens;
      life.ended = true;
    }
  }
  if (lives.empty() || lives.size() > kMostRequests || lives.begin()->first == 0 ||
      lives.rbegin()->first != lives.size()) {
    return fail(ErrorKind::cannot_answer,
                "the recording does not hold every request from its arrival on: record dm-engine from its start with "
                "dmprof run");
  }
  for (const auto& [id, life] : lives) {
    if (!life.arrival || !life.ended || life.prompt == 0 || life.output == 0 || life.prompt > kMostTokens ||
        life.output > kMostTokens) {
      return fail(
          ErrorKind::cannot_answer,
          fmt::format("request {} is not in the recording from its arrival to its end: let the engine finish", id));
    }
  }
  return lives;
}

struct StepPasses {
  std::vector<std::uint64_t> target;                  // embedding blocks, all passes of the step
  std::vector<std::span<const std::uint64_t>> draft;  // by pass
};

void note(std::vector<std::int64_t>& path, std::size_t position, std::uint64_t block) {
  if (position < path.size()) path[position] = static_cast<std::int64_t>(block);
}

// A decode step: each sequence's last token and its drafts, in the order of the rows.
void read_decode(std::span<const SpeculationStep> rows, const StepPasses& passes, RecordedTexts& texts) {
  std::size_t expected = 0;
  for (const SpeculationStep& row : rows) expected += row.verified + 1;
  if (expected != passes.target.size()) return;
  auto block = passes.target.begin();
  for (const SpeculationStep& row : rows) {
    auto& path = texts.requests[row.request - 1].embedding;
    for (std::uint32_t i = 0; i <= row.verified; ++i) {
      // What was refused is not part of the text.
      if (i <= row.accepted) note(path, row.position - 1 + i, *block);
      ++block;
    }
  }
  if (rows.size() != 1 || passes.draft.empty()) return;
  // The draft's passes of one sequence: what it had not read of the text, then its own proposals but the last.
  const SpeculationStep& row = rows[0];
  auto& path = texts.draft_embedding[row.request - 1];
  const auto first = passes.draft[0];
  for (std::size_t i = 0; i < first.size() && i < row.position; ++i) {
    note(path, row.position - first.size() + i, first[i]);
  }
  for (std::size_t k = 1; k < passes.draft.size() && k <= row.accepted; ++k) {
    if (passes.draft[k].size() == 1) note(path, row.position + k - 1, passes.draft[k][0]);
  }
}

// Prompts of steps with a single sequence: pieces pile up until the step that completes the prompt names the request.
class PromptReader {
 public:
  explicit PromptReader(RecordedTexts& texts) : texts_(texts) {}

  void read(const Step& step, std::span<const SpeculationStep> rows, const StepPasses& passes) {
    if (step.phase != Phase::prefill || step.batch != 1) return forget();
    target_.insert(target_.end(), passes.target.begin(), passes.target.end());
    for (const auto& pass : passes.draft) draft_.insert(draft_.end(), pass.begin(), pass.end());
    if (rows.empty()) return;
    const std::size_t request = rows[0].request - 1;
    keep(target_, texts_.requests[request].prompt_tokens, texts_.requests[request].embedding);
    keep(draft_, texts_.requests[request].prompt_tokens, texts_.draft_embedding[request]);
    forget();
  }

 private:
  void forget() {
    target_.clear();
    draft_.clear();
  }
  static void keep(const std::vector<std::uint64_t>& seen, std::size_t prompt, std::vector<std::int64_t>& path) {
    if (seen.size() != prompt) return;
    for (std::size_t i = 0; i < prompt; ++i) note(path, i, seen[i]);
  }

  RecordedTexts& texts_;
  std::vector<std::uint64_t> target_, draft_;
};

void read_verdicts(const SpeculationStep& row, std::uint32_t prompt, std::vector<Match>& matches) {
  if (row.verified == 0 || row.position < prompt) return;
  const std::size_t first = row.position - prompt;
  for (std::uint32_t i = 0; i < row.accepted && first + i < matches.size(); ++i) matches[first + i] = Match::right;
  if (row.accepted < row.verified && first + row.accepted < matches.size())
    matches[first + row.accepted] = Match::wrong;
}

}  // namespace

Result<RecordedTexts> read_texts(const Recording& recording, std::span<const RecordedPass> passes) {
  const auto lives = lives_of(recording);
  if (!lives) return tl::unexpected(lives.error());
  RecordedTexts texts;
  const TimeNs begin = *lives->begin()->second.arrival;
  for (const auto& [id, life] : *lives) {
    RequestText text;
    text.arrival = std::max<TimeNs>(*life.arrival - begin, 0);
    text.prompt_tokens = static_cast<std::uint32_t>(life.prompt);
    text.output_tokens = static_cast<std::uint32_t>(life.output);
    text.embedding.assign(life.prompt + life.output, -1);
    texts.matches.emplace_back(life.output, Match::unknown);
    texts.draft_embedding.emplace_back(text.embedding);
    texts.requests.push_back(std::move(text));
  }
  // A request stopped by its limit has a shortened draft at its end, or as many tokens as the longest one.
  std::uint32_t longest = 0;
  for (const RequestText& text : texts.requests) longest = std::max(longest, text.output_tokens);
  for (RequestText& text : texts.requests) text.ended_by_limit = text.output_tokens == longest;

  std::map<std::uint64_t, StepPasses> by_step;
  for (const RecordedPass& pass : passes) {
    StepPasses& step = by_step[pass.step];
    if (pass.draft) {
      step.draft.emplace_back(pass.embedding);
    } else {
      step.target.insert(step.target.end(), pass.embedding.begin(), pass.embedding.end());
    }
  }
  std::map<std::uint64_t, std::vector<SpeculationStep>> rows;
  for (const SpeculationStep& row : recording.speculation) {
    if (row.request == 0 || row.request > texts.requests.size() || row.position == 0) continue;
    RequestText& text = texts.requests[row.request - 1];
    if (row.cut == StepCut::max_tokens) text.ended_by_limit = true;
    read_verdicts(row, text.prompt_tokens, texts.matches[row.request - 1]);
    rows[row.step].push_back(row);
  }
  PromptReader prompts(texts);
  for (const Step& step : recording.steps) {
    const auto& of_step = rows[step.step];
    const StepPasses& seen = by_step[step.step];
    prompts.read(step, of_step, seen);
    if (step.phase == Phase::decode) read_decode(of_step, seen, texts);
  }
  return texts;
}

AcceptanceCounts count_acceptance(const Recording& recording) {
  AcceptanceCounts counts;
  const auto count = [](std::vector<AcceptanceCell>& cells, const SpeculationStep& row) {
    if (cells.size() < row.verified) cells.resize(row.verified);
    for (std::uint32_t k = 0; k < row.verified && k <= row.accepted; ++k) {
      ++cells[k].reached;
      cells[k].accepted += k < row.accepted;
    }
  };
  std::map<std::uint32_t, std::vector<AcceptanceCell>> by_length;
  for (const SpeculationStep& row : recording.speculation) {
    if (!specdec::drafting(row) || row.verified > 1024 || row.cut == StepCut::baseline) continue;
    count(counts.by_position, row);
    count(by_length[row.position / kBucket * kBucket], row);
  }
  for (auto& [from, cells] : by_length) {
    counts.length_from.push_back(from);
    counts.by_length.push_back(std::move(cells));
  }
  return counts;
}

Persistence persistence_of(const std::vector<std::vector<Match>>& matches) {
  AcceptanceCell right, wrong;
  for (const auto& text : matches) {
    for (std::size_t i = 1; i < text.size(); ++i) {
      if (text[i - 1] == Match::unknown || text[i] == Match::unknown) continue;
      AcceptanceCell& cell = text[i - 1] == Match::right ? right : wrong;
      ++cell.reached;
      cell.accepted += text[i] == Match::right;
    }
  }
  const auto share = [](const AcceptanceCell& cell, const AcceptanceCell& other) {
    const AcceptanceCell& seen = cell.reached > 0 ? cell : other;
    return seen.reached > 0 ? static_cast<double>(seen.accepted) / static_cast<double>(seen.reached) : 0;
  };
  return {share(right, wrong), share(wrong, right)};
}

}  // namespace dmprof::twin
