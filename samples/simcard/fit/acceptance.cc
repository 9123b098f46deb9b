#include "samples/simcard/fit/acceptance.h"

#include "samples/simcard/fit/checked_node.h"

namespace dmprof::twin {
namespace {

constexpr std::size_t kMostTokens = 1U << 21;
constexpr std::uint64_t kMostBytes = 1ULL << 50;

std::vector<AcceptanceCell> read_cells(const CheckedNode& node) {
  std::vector<AcceptanceCell> cells;
  for (const CheckedNode& each : node.items(kMostLookahead)) {
    const auto parts = each.items(3);
    if (parts.size() < 2) {
      each.wrong("must be [reached, accepted, share]");
      break;
    }
    cells.push_back({parts[0].whole(0, 1ULL << 60), parts[1].whole(0, 1ULL << 60)});
    if (cells.back().accepted > cells.back().reached) each.wrong("more was accepted than reached");
  }
  return cells;
}

}  // namespace

DraftCurve read_curve(const CheckedNode& node) {
  DraftCurve curve;
  curve.draft = node.at("draft").text();
  curve.parameter_bytes = node.at("parameter_bytes").whole(0, kMostBytes);
  curve.counts.by_position = read_cells(node.at("by_position"));
  for (const CheckedNode& each : node.at("by_length").items(kMostTokens)) {
    const auto from = static_cast<std::uint32_t>(each.at("from_tokens").whole(0, kMostTokens));
    if (!curve.counts.length_from.empty() && curve.counts.length_from.back() >= from)
      each.at("from_tokens").wrong("must rise from entry to entry");
    curve.counts.length_from.push_back(from);
    curve.counts.by_length.push_back(read_cells(each.at("by_position")));
  }
  return curve;
}

Result<std::vector<DraftCurve>> read_acceptance(const std::string& path) {
  const Result<std::string> text = text_of_file(path);
  if (!text) return tl::unexpected(text.error());
  return read_checked(*text, path, [](const CheckedNode& root) -> Result<std::vector<DraftCurve>> {
    check_format(root);
    std::vector<DraftCurve> curves;
    for (const CheckedNode& each : root.at("acceptance").items(kMostDrafts)) {
      curves.push_back(read_curve(each));
      const auto& first = curves.back().counts.by_position;
      if (first.empty() || first.front().reached == 0) each.at("by_position").wrong("has no verdict on a first token");
      if (curves.back().parameter_bytes == 0) each.at("parameter_bytes").wrong("must be above 0");
    }
    if (curves.empty()) root.at("acceptance").wrong("is empty: the recording has no draft");
    if (auto status = root.verdict(); !status) return tl::unexpected(status.error());
    return curves;
  });
}

}  // namespace dmprof::twin
