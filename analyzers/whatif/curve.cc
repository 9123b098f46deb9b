#include "analyzers/whatif/curve.h"

#include <algorithm>

namespace dmprof::whatif {

void Curve::add(double at, double value, double samples) {
  Sum& sum = sums_[at];
  sum.total += value * samples;
  sum.samples += samples;
  points_.clear();
}

void Curve::extend_with(const Curve& other) {
  const double last = widest();
  for (const auto& [x, sum] : other.sums_) {
    if (x > last) sums_[x] = sum;
  }
  points_.clear();
}

Curve Curve::stretched(double factor) const {
  Curve result;
  for (const auto& [x, sum] : sums_) result.sums_[x * factor] = sum;
  return result;
}

double Curve::samples_up_to(double x) const {
  double samples = 0;
  for (const auto& [at, sum] : sums_) samples += at <= x ? sum.samples : 0;
  return samples;
}

void Curve::prepare() const {
  if (!points_.empty()) return;
  struct Block {
    double x = 0, y = 0, weight = 0;  // sums of x and y weighted, weight
    std::vector<double> members;
    double mean() const { return y / weight; }
  };
  std::vector<Block> blocks;
  double w = 0, wx = 0, wy = 0, wxx = 0, wxy = 0;
  for (const auto& [x, sum] : sums_) {
    blocks.push_back({x * sum.samples, sum.total, sum.samples, {x}});
    w += sum.samples, wx += sum.samples * x, wy += sum.total, wxx += sum.samples * x * x, wxy += x * sum.total;
    while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
      Block last = std::move(blocks.back());
      blocks.pop_back();
      Block& into = blocks.back();
      into.x += last.x, into.y += last.y, into.weight += last.weight;
      into.members.insert(into.members.end(), last.members.begin(), last.members.end());
    }
  }
  for (const Block& block : blocks) {
    for (const double x : block.members) points_.push_back({x, block.mean()});
  }
  const double spread = w * wxx - wx * wx;
  slope_ = spread > 1e-9 * w * wxx ? std::max(0.0, (w * wxy - wx * wy) / spread) : 0;
}

double Curve::at(double x, double beyond) const {
  if (sums_.empty()) return 0;
  prepare();
  const auto right =
      std::lower_bound(points_.begin(), points_.end(), x, [](const Point& point, double v) { return point.x < v; });
  if (right == points_.begin()) {
    // Less work costs no more, and at least its share: halving it cannot do better than halve the time.
    const Point& first = points_.front();
    if (first.x <= 0 || x >= first.x) return first.y;
    return std::max(first.y * std::max(0.0, x) / first.x, first.y - slope_ * beyond * (first.x - x));
  }
  const Point& left = *std::prev(right);
  if (right == points_.end()) return left.y + slope_ * beyond * (x - left.x);
  return left.y + (right->y - left.y) * (x - left.x) / (right->x - left.x);
}

}  // namespace dmprof::whatif
