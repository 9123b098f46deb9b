#include "dmprof/experiment/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

namespace dmprof::experiment {

namespace {

constexpr double noticeable = 0.02;  // a step must gain this much, or noise would lead the way
constexpr std::int64_t greatest_power = std::int64_t{1} << 61;
constexpr std::size_t confirmations = 3;  // pairs a step must have before it is taken

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

void add_choices(const std::string& range, std::vector<std::string>& values) {
  for (std::size_t begin = 0; begin <= range.size();) {
    const std::size_t end = std::min(range.find('|', begin), range.size());
    values.push_back(range.substr(begin, end - begin));
    begin = end + 1;
  }
}

void add_steps(std::int64_t low, std::optional<std::int64_t> high, std::int64_t recorded,
               std::vector<std::string>& values) {
  std::set<std::int64_t> chosen = {recorded};
  const auto add = [&](std::int64_t value) {
    if (value >= low && (!high || value <= *high)) chosen.insert(value);
  };
  if (high && *high < 1024) add(*high);
  add(low);
  // The recorded value comes out of a file and may be any: no power here leaves 64 bits.
  const std::int64_t most = std::clamp<std::int64_t>(recorded, 2, greatest_power / 4) * 4;
  for (std::int64_t power = 1; power <= most; power *= 2) {
    if (power >= recorded / 4 + (recorded % 4 > 0 ? 1 : 0)) add(power);
  }
  for (const std::int64_t value : chosen) values.push_back(std::to_string(value));
}

// Everything measured about one setting beside the recorded one.
struct Record {
  Settings settings;
  std::map<std::string, std::vector<double>> ratios;
  std::size_t pairs = 0;

  std::map<std::string, double> medians() const {
    std::map<std::string, double> result;
    for (const auto& [name, values] : ratios) {
      if (values.size() == pairs && pairs > 0) result[name] = median_interval(values, 0).mid;
    }
    return result;
  }
};

class Search {
 public:
  Search(const std::vector<Dimension>& dimensions, const Runner& run, const SearchOptions& options)
      : dimensions_(dimensions), run_(run), options_(options) {}

  Result<SearchResult> climb() {
    std::vector<std::size_t> at;
    for (const Dimension& dimension : dimensions_) at.push_back(dimension.recorded);
    records_.push_back({});
    std::size_t best = 0;
    while (true) {
      const auto step = best_neighbour(at, best);
      if (!step) return tl::unexpected(step.error());
      if (!*step) break;
      at = (*step)->first;
      best = (*step)->second;
    }
    return conclude(best);
  }

 private:
  using Step = std::optional<std::pair<std::vector<std::size_t>, std::size_t>>;

  Settings settings_at(const std::vector<std::size_t>& at) const {
    Settings settings;
    for (std::size_t i = 0; i < at.size(); ++i) {
      if (at[i] != dimensions_[i].recorded) settings[dimensions_[i].knob] = dimensions_[i].values[at[i]];
    }
    return settings;
  }

  // Gain by the objective: above 1 is better.
  double score(std::size_t record) const {
    if (record == 0) return 1;
    const auto medians = records_[record].medians();
    const auto found = medians.find(options_.objective.metric);
    if (found == medians.end() || found->second <= 0) return 0;
    return options_.objective.more_is_better ? found->second : 1 / found->second;
  }

  bool affordable() const { return runs_ + (recorded_repeats_ ? 1 : 2) <= options_.runs; }

  Result<Measurement> measure(const Settings& settings) {
    ++runs_;
    if (options_.progress) options_.progress(runs_, options_.runs, settings);
    return run_(options_.variant(settings));
  }

  // One more pair for a record. False: this setting does not run. Errors: the recorded one does not.
  Result<bool> pair(Record& record) {
    if (!recorded_repeats_) {
      auto control = measure({});
      if (!control) return tl::unexpected(control.error());
      if (!control->values.contains(options_.objective.metric)) {
        return fail(ErrorKind::cannot_answer,
                    fmt::format("the recorded command, run again, did not measure {}", options_.objective.metric));
      }
      // In virtual time the same run gives the same figures: once two were equal, one is enough.
      recorded_repeats_ = control->virtual_time && control_ && control_->values == control->values;
      control_ = std::move(*control);
    }
    auto candidate = measure(record.settings);
    if (!candidate) {
      failures_.push_back(candidate.error().message);
      return false;
    }
    for (const auto& [name, value] : candidate->values) {
      const auto before = control_->values.find(name);
      if (before != control_->values.end() && before->second > 0 && std::isfinite(value))
        record.ratios[name].push_back(value / before->second);
    }
    ++record.pairs;
    return true;
  }

  // The record of a setting, measured at least once; nothing when it does not run or the budget is used up.
  Result<std::optional<std::size_t>> record_of(const Settings& settings) {
    for (std::size_t i = 0; i < records_.size(); ++i) {
      if (records_[i].settings == settings) return std::optional(i);
    }
    if (!affordable() || refused_.contains(settings)) return std::optional<std::size_t>{};
    Record record{settings, {}, 0};
    auto ran = pair(record);
    if (!ran) return tl::unexpected(ran.error());
    if (!*ran) {
      refused_.insert(settings);
      return std::optional<std::size_t>{};
    }
    records_.push_back(std::move(record));
    return std::optional(records_.size() - 1);
  }

  // The best setting that differs in one knob from `at`, when it beats `best` noticeably even after more pairs.
  Result<Step> best_neighbour(const std::vector<std::size_t>& at, std::size_t best) {
    std::vector<std::pair<std::size_t, std::vector<std::size_t>>> found;
    for (std::size_t i = 0; i < dimensions_.size(); ++i) {
      for (std::size_t value = 0; value < dimensions_[i].values.size(); ++value) {
        if (value == at[i]) continue;
        std::vector<std::size_t> there = at;
        there[i] = value;
        auto record = record_of(settings_at(there));
        if (!record) return tl::unexpected(record.error());
        if (*record) found.emplace_back(**record, std::move(there));
      }
    }
    while (!found.empty()) {
      const auto leader = std::max_element(
          found.begin(), found.end(), [&](const auto& a, const auto& b) { return score(a.first) < score(b.first); });
      const std::size_t index = leader->first;
      if (score(index) < score(best) * (1 + noticeable)) return Step{};
      if (index == 0 || recorded_repeats_ || records_[index].pairs >= confirmations)
        return Step({leader->second, index});
      if (!affordable()) return Step{};
      auto ran = pair(records_[index]);
      if (!ran) return tl::unexpected(ran.error());
      if (!*ran) found.erase(leader);
    }
    return Step{};
  }

  SearchResult conclude(std::size_t best) {
    SearchResult result;
    result.best = best;
    result.runs = runs_;
    result.failures = std::move(failures_);
    for (const Record& record : records_) {
      Trial trial{record.settings, record.medians(), record.pairs, false};
      if (record.settings.empty()) trial.ratios = {{"throughput", 1}, {"itl.p99", 1}};
      result.trials.push_back(std::move(trial));
    }
    const auto figures = [](const Trial& trial) -> std::optional<std::pair<double, double>> {
      const auto throughput = trial.ratios.find("throughput"), tail = trial.ratios.find("itl.p99");
      if (throughput == trial.ratios.end() || tail == trial.ratios.end()) return std::nullopt;
      return std::pair(throughput->second, tail->second);
    };
    for (Trial& trial : result.trials) {
      const auto own = figures(trial);
      trial.on_frontier =
          own && std::none_of(result.trials.begin(), result.trials.end(), [&](const Trial& other) {
            const auto theirs = figures(other);
            return theirs && theirs->first >= own->first && theirs->second <= own->second && *theirs != *own;
          });
    }
    return result;
  }

  const std::vector<Dimension>& dimensions_;
  const Runner& run_;
  const SearchOptions& options_;
  std::vector<Record> records_;  // the first is the recorded setting
  std::set<Settings> refused_;
  std::optional<Measurement> control_;
  bool recorded_repeats_ = false;
  std::size_t runs_ = 0;
  std::vector<std::string> failures_;
};

}  // namespace

Dimension dimension(const std::string& knob, const std::string& range, const std::string& recorded) {
  Dimension result{knob, {}, 0};
  const std::size_t dots = range.find("..");
  if (dots != std::string::npos) {
    const auto low = whole(std::string_view(range).substr(0, dots)), now = whole(recorded);
    if (low && now) add_steps(*low, whole(std::string_view(range).substr(dots + 2)), *now, result.values);
  } else if (range.find('|') != std::string::npos) {
    add_choices(range, result.values);
  }
  const auto found = std::find(result.values.begin(), result.values.end(), recorded);
  if (found == result.values.end()) return {knob, {}, 0};
  result.recorded = static_cast<std::size_t>(found - result.values.begin());
  return result;
}

Result<SearchResult> search(const std::vector<Dimension>& dimensions, const Runner& run, const SearchOptions& options) {
  return Search(dimensions, run, options).climb();
}

}  // namespace dmprof::experiment
