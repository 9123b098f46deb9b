#include "analyzers/specdec/acceptance.h"

#include <algorithm>

#include <fmt/format.h>

#include "analyzers/registry/reasons.h"
#include "analyzers/registry/statistics.h"
#include "analyzers/specdec/specdec.h"

namespace dmprof {
namespace specdec {

std::vector<double> Acceptance::conditional() const {
  std::vector<double> a;
  for (const Position& position : positions) {
    if (position.reached == 0) break;
    a.push_back(static_cast<double>(position.accepted) / static_cast<double>(position.reached));
  }
  return a;
}

Acceptance measure_acceptance(std::span<const SpeculationStep> rows) {
  constexpr std::uint32_t deepest = 1024;  // a hostile row must not decide how much memory is taken
  Acceptance result;
  for (const SpeculationStep& row : rows) {
    if (!drafting(row)) continue;
    if (cut_short(row)) {
      ++result.cut_short;
      continue;
    }
    ++result.steps;
    result.accepted += row.accepted;
    const std::uint32_t depth =
        std::min(row.draft_type == DraftType::tree && row.tree_depth > 0 ? row.tree_depth : row.verified, deepest);
    if (result.positions.size() < depth) result.positions.resize(depth);
    for (std::uint32_t k = 0; k < depth; ++k) ++result.positions[k].verified;
    for (std::uint32_t k = 0; k < depth && k <= row.accepted; ++k) {
      ++result.positions[k].reached;
      if (k < row.accepted) ++result.positions[k].accepted;
    }
  }
  return result;
}

}  // namespace specdec

namespace {

using specdec::drafting;

MetricValue ratio_or(const RatioEstimate& estimate, std::string reason) {
  return estimate.denominator() > 0 ? ratio_value(estimate) : unavailable(std::move(reason));
}

MetricValue accuracy(const View& view, const Scope& scope) {
  RatioEstimate estimate;
  double drafted = 0;
  for (const SpeculationStep& row : view.speculation(scope)) {
    if (!drafting(row)) continue;
    estimate.add(row.accepted, row.verified, row.verified);
    drafted += row.drafted;
  }
  MetricValue value = ratio_or(estimate, reasons::no_draft(view));
  value.beside = {{"accepted", "tokens", estimate.numerator()},
                  {"verified", "tokens", estimate.denominator()},
                  {"drafted", "tokens", drafted}};
  return value;
}

MetricValue discard_rate(const View& view, const Scope& scope) {
  RatioEstimate estimate;
  for (const SpeculationStep& row : view.speculation(scope)) {
    if (row.drafted > 0) estimate.add(static_cast<double>(row.drafted) - row.verified, row.drafted, row.drafted);
  }
  return ratio_or(estimate, reasons::no_draft(view));
}

MetricValue acceptance_length(const View& view, const Scope& scope) {
  RatioEstimate estimate;
  double cut_short = 0;
  for (const SpeculationStep& row : view.speculation(scope)) {
    if (!drafting(row)) continue;
    if (specdec::cut_short(row)) {
      ++cut_short;
    } else {
      estimate.add(1.0 + row.accepted, 1);
    }
  }
  MetricValue value =
      ratio_or(estimate, cut_short > 0 ? "every step with a draft was cut short" : reasons::no_draft(view));
  value.beside = {{"steps cut short", "steps", cut_short}};
  return value;
}

MetricValue tokens_per_step(const View& view, const Scope& scope) {
  RatioEstimate estimate;
  for (const SpeculationStep& row : view.speculation(scope)) estimate.add(row.emitted, 1);
  return ratio_or(estimate, reasons::no_speculation(view));
}

MetricValue draft_coverage(const View& view, const Scope& scope) {
  RatioEstimate estimate;
  for (const SpeculationStep& row : view.speculation(scope)) estimate.add(drafting(row) ? 1 : 0, 1);
  return ratio_or(estimate, reasons::no_speculation(view));
}

MetricValue draft_length(const View& view, const Scope& scope) {
  std::vector<double> lengths;
  for (const SpeculationStep& row : view.speculation(scope)) {
    if (row.drafted > 0) lengths.push_back(row.drafted);
  }
  return lengths.empty() ? unavailable(reasons::no_draft(view)) : distribution(std::move(lengths));
}

MetricValue by_position(const View& view, const Scope& scope) {
  const std::vector<SpeculationStep> rows = view.speculation(scope);
  const specdec::Acceptance acceptance = specdec::measure_acceptance(rows);
  if (acceptance.steps == 0) return unavailable(reasons::no_draft(view));
  MetricValue value;
  value.status = ValueStatus::ok;
  value.samples = acceptance.steps;
  const std::vector<double> conditional = acceptance.conditional();
  for (std::size_t k = 0; k < acceptance.positions.size(); ++k) {
    const auto accepted = static_cast<double>(acceptance.positions[k].accepted);
    value.parts.push_back(
        {std::to_string(k + 1), accepted / static_cast<double>(acceptance.steps), acceptance.steps, false});
    if (k < conditional.size())
      value.beside.push_back({fmt::format("conditional a_{}", k + 1), "ratio", conditional[k]});
  }
  value.beside.push_back({"steps cut short", "steps", static_cast<double>(acceptance.cut_short)});
  return value;
}

}  // namespace

void register_acceptance(Catalogue& catalogue) {
  const Events rows = Events::speculation | Events::steps;
  const std::string needs = "speculation steps with a draft";
  const std::vector<By> by = {By::request, By::window, By::phase};
  catalogue.add(
      {.name = "speculation_accuracy",
       .unit = "ratio",
       .definition =
           "accepted draft tokens / draft tokens verified by the target; drafted but discarded tokens are not in the "
           "denominator (draft_discard_rate), steps cut short are included",
       .needs = needs,
       .events = rows,
       .direction = Direction::higher_is_better,
       .by = by,
       .keeps_warm_up = true,
       .compute = accuracy});
  catalogue.add({.name = "draft_discard_rate",
                 .unit = "ratio",
                 .definition = "draft tokens generated but never verified / draft tokens generated",
                 .needs = needs,
                 .events = rows,
                 .direction = Direction::lower_is_better,
                 .by = by,
                 .keeps_warm_up = true,
                 .compute = discard_rate});
  catalogue.add(
      {.name = "acceptance_length",
       .unit = "tokens/step",
       .definition =
           "1 + accepted draft tokens / steps that carry a draft, bonus token included; steps cut short by the end of "
           "a text or by max-tokens are counted apart; a step is one sequence's share of a target pass",
       .needs = needs,
       .events = rows,
       .direction = Direction::higher_is_better,
       .by = by,
       .keeps_warm_up = true,
       .compute = acceptance_length});
  catalogue.add(
      {.name = "tokens_per_step",
       .unit = "tokens/step",
       .definition =
           "emitted tokens / target steps, with or without a draft; a step is one sequence's share of a target pass; "
           "baseline steps are left out",
       .needs = "speculation steps",
       .events = rows,
       .direction = Direction::higher_is_better,
       .by = by,
       .keeps_warm_up = true,
       .compute = tokens_per_step});
  catalogue.add({.name = "draft_coverage",
                 .unit = "ratio",
                 .definition = "steps that carry a draft / steps; baseline steps are left out",
                 .needs = "speculation steps",
                 .events = rows,
                 .direction = Direction::higher_is_better,
                 .by = by,
                 .keeps_warm_up = true,
                 .compute = draft_coverage});
  catalogue.add({.name = "draft_length",
                 .unit = "tokens",
                 .definition = "draft tokens generated per drafting step",
                 .needs = needs,
                 .events = rows,
                 .kind = MetricKind::distribution,
                 .by = by,
                 .keeps_warm_up = true,
                 .compute = draft_length});
  catalogue.add({.name = "acceptance_by_position",
                 .unit = "ratio",
                 .definition = "unconditional probability that draft position k is accepted: steps that accept "
                               "position k / steps that carry "
                               "a draft, cut-short steps left out, so that acceptance_length = 1 + their sum; beside "
                               "it a_k, given that all "
                               "before it were accepted; trees: position = depth",
                 .needs = needs,
                 .events = rows,
                 .kind = MetricKind::array,
                 .direction = Direction::higher_is_better,
                 .by = {By::position, By::request, By::window},
                 .keeps_warm_up = true,
                 .compute = by_position});
}

void register_specdec(Catalogue& catalogue) {
  register_acceptance(catalogue);
  register_acceptance_breakdowns(catalogue);
  register_draft_positions(catalogue);
  register_speculation_costs(catalogue);
}

}  // namespace dmprof
