// A cost that does not fall as its argument grows, from measured points: verify time by tokens, draft time by batch.
#pragma once

#include <map>
#include <vector>

namespace dmprof::whatif {

// Points are made non-decreasing (pool adjacent violators, weighted by samples: more work never costs less, so a dip is
// noise), joined by straight lines. Beyond the last point and below the first the weighted least-squares slope goes on;
// `beyond` scales that slope: 0 = the cost has levelled off, 1 = as fitted, 2 = twice as steep. Below the first point
// the cost never falls faster than in proportion.
class Curve {
 public:
  void add(double at, double value, double samples = 1);
  // Takes over the other's points beyond this one's last.
  void extend_with(const Curve& other);
  // The curve that costs at x * factor what this one costs at x.
  Curve stretched(double factor) const;
  bool empty() const { return sums_.empty(); }
  double narrowest() const { return sums_.empty() ? 0 : sums_.begin()->first; }
  double widest() const { return sums_.empty() ? 0 : sums_.rbegin()->first; }
  double samples_up_to(double x) const;
  std::size_t points() const { return sums_.size(); }

  double at(double x, double beyond = 1) const;  // 0 without points

 private:
  struct Sum {
    double total = 0, samples = 0;
  };
  struct Point {
    double x = 0, y = 0;
  };
  void prepare() const;

  std::map<double, Sum> sums_;
  mutable std::vector<Point> points_;  // made on first use, dropped by add()
  mutable double slope_ = 0;
};

}  // namespace dmprof::whatif
