#include <algorithm>

#include "samples/simcard/fit/checked_node.h"
#include "samples/simcard/fit/fit_file.h"

namespace dmprof::twin {
namespace {

constexpr std::size_t kMostBlocks = 1U << 20, kMostOperations = 1U << 16, kMostRequests = 1U << 20,
                      kMostTokens = 1U << 21;
constexpr std::size_t kMostBins = 10'000, kMostRecordings = 1024;
constexpr double kMostTime = 1e12;  // ns
constexpr std::uint64_t kMostBytes = 1ULL << 50;

Bins read_bins(const CheckedNode& node, double low = 0) { return {node.numbers(low, kMostTime, kMostBins)}; }

std::vector<std::int64_t> read_path(const CheckedNode& node, std::uint64_t first, std::uint64_t end) {
  std::vector<std::int64_t> path;
  for (const CheckedNode& each : node.items(kMostTokens)) {
    const double block = each.number(-1, static_cast<double>(end));
    if (block >= 0 && (block < static_cast<double>(first) || block >= static_cast<double>(end)))
      each.wrong("names no block of this model");
    path.push_back(static_cast<std::int64_t>(block));
  }
  return path;
}

ModelProgram read_program(const CheckedNode& node, std::uint64_t first) {
  ModelProgram program;
  program.name = node.at("name").text();
  for (const CheckedNode& each : node.at("block_bytes").items(kMostBlocks))
    program.blocks.push_back({each.whole(0, UINT32_MAX), 0});
  const auto memory = node.at("block_resident_bytes").items(kMostBlocks);
  if (memory.size() != program.blocks.size() || memory.empty())
    node.wrong("block_bytes and block_resident_bytes must be equally long lists");
  for (std::size_t i = 0; i < memory.size() && i < program.blocks.size(); ++i)
    program.blocks[i].memory = memory[i].whole(0, kMostBytes);
  const std::uint64_t end = first + program.blocks.size();
  const auto block_of = [&](const CheckedNode& each) { return each.whole(first, std::max(end, first + 1) - 1); };
  for (const CheckedNode& each : node.at("embedding_blocks").items(kMostBlocks))
    program.embedding_blocks.push_back(block_of(each));
  program.embedding_share = node.at("embedding_share").numbers(0, 1, kMostBlocks);
  if (program.embedding_blocks.empty() || program.embedding_share.size() != program.embedding_blocks.size()) {
    node.wrong("embedding_blocks and embedding_share must be equally long lists");
  }
  program.pass_other = node.at("pass_other_ns").number(0, kMostTime);
  program.noise = read_bins(node.at("noise_x"));
  for (const CheckedNode& cost : node.at("costs").values(kMostOperations)) {
    NamedCost named{cost.key(), {}};
    for (const CheckedNode& point : cost.items(kMostLookahead)) {
      const auto parts = point.items(3);
      if (parts.size() != 3) {
        point.wrong("must be [tokens, ns, samples]");
        break;
      }
      const auto tokens = static_cast<std::uint32_t>(parts[0].whole(1, UINT32_MAX));
      if (!named.curve.points.empty() && named.curve.points.back().tokens >= tokens) point.wrong("tokens must rise");
      named.curve.points.push_back({tokens, parts[1].number(0, kMostTime), parts[2].whole(0, UINT64_MAX)});
    }
    program.costs.push_back(std::move(named));
  }
  for (const CheckedNode& each : node.at("operations").items(kMostOperations)) {
    const auto parts = each.items(kMostBlocks);
    const std::string name = parts.empty() ? "" : parts[0].text();
    Operation operation;
    operation.kind = name == "embed"    ? Operation::Kind::embed
                     : name == "output" ? Operation::Kind::output
                                        : Operation::Kind::plain;
    const auto cost =
        std::find_if(program.costs.begin(), program.costs.end(), [&](const NamedCost& c) { return c.name == name; });
    if (cost == program.costs.end()) {
      each.wrong("begins with no name that costs has");
      break;
    }
    operation.cost = static_cast<std::uint32_t>(cost - program.costs.begin());
    for (std::size_t i = 1; i < parts.size(); ++i) operation.blocks.push_back(block_of(parts[i]));
    program.operations.push_back(std::move(operation));
  }
  if (program.operations.empty()) node.wrong("has no operations");
  return program;
}

DraftProfile read_draft(const CheckedNode& node, std::uint64_t first) {
  DraftProfile profile;
  profile.program = read_program(node, first);
  profile.acceptance = node.at("acceptance").numbers(0, 1, kMostLookahead);
  profile.after_right = node.at("after_right").number(0, 1);
  profile.after_wrong = node.at("after_wrong").number(0, 1);
  for (const CheckedNode& each : node.at("verdicts").items(kMostRequests)) {
    auto& matches = profile.matches.emplace_back();
    const std::string text = each.text();
    if (text.find_first_not_of("01?") != std::string::npos || text.size() > kMostTokens)
      each.wrong("must consist of 0, 1 and ?");
    for (const char c : text) matches.push_back(c == '1' ? Match::right : c == '0' ? Match::wrong : Match::unknown);
  }
  for (const CheckedNode& each : node.at("embedding").items(kMostRequests)) {
    profile.embedding.push_back(read_path(each, first, first + profile.program.blocks.size()));
  }
  return profile;
}

Settings read_settings(const CheckedNode& node) {
  Settings s;
  const auto small = [&](const char* key, std::uint64_t low, std::uint64_t high) {
    return static_cast<std::uint32_t>(node.at(key).whole(low, high));
  };
  s.draft = node.at("draft").text();
  s.lookahead = small("lookahead", 0, kMostLookahead);
  s.resident = node.at("resident").whole(0, kMostBytes);
  s.cache_policy = small("cache_policy", 0, 2);
  s.prefetch_distance = small("prefetch_distance", 0, 4096);
  s.batch = small("batch", 1, 4096);
  s.max_concurrent = small("max_concurrent", 0, 4096);
  s.prefill_chunk = small("prefill_chunk", 1, 1U << 20);
  s.baseline_every = small("baseline_every", 0, 1U << 30);
  return s;
}

Figures read_figures(const CheckedNode& node) {
  Figures figures;
  for (const CheckedNode& each : node.values(1000)) figures[each.key()] = each.number(0, 1e18);
  return figures;
}

Link read_link(const CheckedNode& node) {
  Link link;
  link.imitated = node.at("imitated").yes();
  link.bytes_per_second = node.at("bytes_per_second").number(1, 1e15);
  link.latency = static_cast<std::int64_t>(node.at("latency_ns").whole(0, 10'000'000'000));
  link.move_base = node.at("move_base_ns").number(0, kMostTime);
  link.move_bytes_per_second = node.at("move_bytes_per_second").number(1, 1e15);
  link.excess = read_bins(node.at("excess_ns"), -kMostTime);
  return link;
}

Habits read_habits(const CheckedNode& node) {
  Habits habits;
  habits.plan = node.at("plan_ns").number(0, kMostTime);
  habits.plan_distance = static_cast<std::uint32_t>(node.at("plan_distance").whole(1, 4096));
  habits.miss_overshoot = read_bins(node.at("miss_overshoot_ns"));
  habits.late_overshoot = read_bins(node.at("late_overshoot_ns"));
  habits.prefetch_oversleep = read_bins(node.at("prefetch_oversleep_ns"));
  habits.accept_step = node.at("accept_step_ns").number(0, kMostTime);
  habits.between_steps = node.at("between_steps_ns").number(0, kMostTime);
  return habits;
}

Result<Fit> read_document(const CheckedNode& root) {
  check_format(root);
  Fit fit;
  fit.engine = root.at("engine").text();
  fit.machine = root.at("machine").text();
  fit.threads = static_cast<std::uint32_t>(root.at("threads").whole(0, 1U << 20));
  fit.backing = root.at("backing").text();
  Description& d = fit.description;
  d.greedy = root.at("greedy").yes();
  for (const CheckedNode& each : root.at("recordings").items(kMostRecordings)) {
    fit.recordings.push_back({each.at("file").text(), read_settings(each.at("settings")),
                              read_figures(each.at("recorded")), read_figures(each.at("simulated"))});
  }
  if (fit.recordings.empty()) root.at("recordings").wrong("is empty");
  for (const CheckedNode& each : root.at("acceptance").items(kMostDrafts)) fit.curves.push_back(read_curve(each));
  d.link = read_link(root.at("link"));
  d.habits = read_habits(root.at("habits"));
  d.target = read_program(root.at("target"), 0);
  for (const CheckedNode& each : root.at("drafts").items(kMostDrafts))
    d.drafts.push_back(read_draft(each, d.target.blocks.size()));
  for (const CheckedNode& each : root.at("requests").items(kMostRequests)) {
    RequestText text;
    text.arrival = static_cast<std::int64_t>(each.at("arrival_ns").whole(0, 1ULL << 60));
    text.prompt_tokens = static_cast<std::uint32_t>(each.at("prompt_tokens").whole(1, kMostTokens));
    text.output_tokens = static_cast<std::uint32_t>(each.at("output_tokens").whole(1, kMostTokens));
    text.ended_by_limit = each.at("ended_by_limit").yes();
    text.embedding = read_path(each.at("embedding"), 0, d.target.blocks.size());
    d.requests.push_back(std::move(text));
  }
  if (d.requests.empty()) root.at("requests").wrong("is empty");
  if (auto status = root.verdict(); !status) return tl::unexpected(status.error());
  return fit;
}

}  // namespace

Result<Fit> parse_fit(const std::string& text, const std::string& name) {
  return read_checked(text, name, read_document);
}

Result<Fit> read_fit(const std::string& path) {
  const Result<std::string> text = text_of_file(path);
  return text ? parse_fit(*text, path) : tl::unexpected(text.error());
}

}  // namespace dmprof::twin
