#include "analyzers/whatif/serve.h"

#include <algorithm>
#include <deque>

namespace dmprof::whatif {
namespace {

// In [0, 1), the same for the same arguments on every machine.
double luck(std::uint64_t seed, std::uint64_t request, std::uint64_t token) {
  std::uint64_t z = seed * 0x9E3779B97F4A7C15ull + request * 0xD1B54A32D192ED03ull + token * 0x8CB92BA72F3D8DD7ull;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

struct Sequence {
  std::size_t request = 0;
  double arrive = 0, last_token = 0;
  std::uint32_t left = 0, emitted = 0;
};

class Server {
 public:
  Server(const Load& load, const StepCosts& costs, const Serving& serving, std::uint64_t seed)
      : load_(load), costs_(costs), serving_(serving), seed_(seed) {}

  Served run() {
    next_user_ = std::min<std::size_t>(load_.users, load_.requests.size());
    for (std::size_t i = 0; i < next_user_; ++i) waiting_.push_back({i, 0, 0, load_.requests[i].decoded, 0});
    while (arrive() || !batch_.empty() || !waiting_.empty()) {
      if (admit()) continue;
      if (batch_.empty()) {
        const double next = load_.requests[next_open_].arrive;
        if (begun_) result_.idle += next - now_;
        now_ = next;
        continue;
      }
      step();
    }
    result_.wall = std::max(0.0, last_end_ - first_start_ - prefill_between_);
    return std::move(result_);
  }

 private:
  // Open load: whoever has come by now. False when nobody is to come any more.
  bool arrive() {
    if (load_.users > 0) return false;
    for (; next_open_ < load_.requests.size() && load_.requests[next_open_].arrive <= now_; ++next_open_) {
      const ServedRequest& request = load_.requests[next_open_];
      waiting_.push_back({next_open_, request.arrive, 0, request.decoded, 0});
    }
    return next_open_ < load_.requests.size();
  }

  bool admit() {
    double prompt = 0;
    std::size_t fresh = 0;
    while (!waiting_.empty() && (serving_.limit == 0 || batch_.size() < serving_.limit)) {
      prompt += load_.requests[waiting_.front().request].prompt;
      batch_.push_back(waiting_.front());
      waiting_.pop_front();
      ++fresh;
    }
    if (fresh == 0) return false;
    const double time = costs_.prefill.at(prompt);
    now_ += time;
    if (begun_) prefill_ += time;
    for (std::size_t i = batch_.size() - fresh; i < batch_.size(); ++i) batch_[i].last_token = now_;
    return true;
  }

  void step() {
    if (!begun_) first_start_ = now_, begun_ = true;
    lengths_.clear();
    double tokens = 0;
    for (const Sequence& each : batch_) {
      const auto drafts = static_cast<std::uint32_t>(
          std::min<std::size_t>(serving_.acceptance.size(), each.left > 0 ? each.left - 1 : 0));
      if (drafts > 0) lengths_.push_back(drafts);
      tokens += drafts + 1;
    }
    const double size = static_cast<double>(batch_.size());
    double duration = costs_.other + serving_.verify_scale * costs_.verify.at(tokens, serving_.beyond) +
                      serving_.draft_scale * draft_rounds(lengths_, serving_.schedule) * costs_.draft.at(size);
    if (!costs_.residuals.empty()) {
      const double drawn = luck(seed_ ^ 0x5EED, 0, steps_) * static_cast<double>(costs_.residuals.size());
      duration *= costs_.residuals[static_cast<std::size_t>(drawn)];
    }
    ++steps_;
    now_ += duration;
    last_end_ = now_, prefill_between_ = prefill_;
    result_.steps.push_back(duration);
    result_.busy += duration;
    for (Sequence& each : batch_) emit(each);
    const std::size_t ended = std::erase_if(batch_, [this](const Sequence& each) {
      if (each.left > 0) return false;
      result_.latencies.push_back(now_ - each.arrive);
      return true;
    });
    for (std::size_t i = 0; load_.users > 0 && i < ended && next_user_ < load_.requests.size(); ++i, ++next_user_)
      waiting_.push_back({next_user_, now_, 0, load_.requests[next_user_].decoded, 0});
  }

  void emit(Sequence& each) {
    const std::size_t drafts = std::min<std::size_t>(serving_.acceptance.size(), each.left - 1);
    std::uint32_t accepted = 0;
    while (accepted < drafts && luck(seed_, each.request + 1, each.emitted + accepted) < serving_.acceptance[accepted])
      ++accepted;
    const std::uint32_t emitted = accepted + 1;
    ++result_.rows;
    if (drafts > 0) ++result_.drafting_rows, result_.accepted += accepted;
    result_.tokens += emitted;
    result_.gaps.push_back(now_ - each.last_token);
    result_.gaps.insert(result_.gaps.end(), accepted, 0.0);
    each.last_token = now_;
    each.emitted += emitted;
    each.left -= emitted;
  }

  const Load& load_;
  const StepCosts& costs_;
  const Serving& serving_;
  const std::uint64_t seed_;
  double now_ = 0, first_start_ = 0, last_end_ = 0, prefill_ = 0, prefill_between_ = 0;
  bool begun_ = false;
  std::size_t next_open_ = 0, next_user_ = 0;
  std::uint64_t steps_ = 0;
  std::deque<Sequence> waiting_;
  std::vector<Sequence> batch_;
  std::vector<std::uint32_t> lengths_;
  Served result_;
};

}  // namespace

Served serve(const Load& load, const StepCosts& costs, const Serving& serving, std::uint64_t seed) {
  return Server(load, costs, serving, seed).run();
}

}  // namespace dmprof::whatif
