#include "analyzers/plan/techniques.h"

#include <algorithm>
#include <cmath>

namespace dmprof::plan {
namespace {

constexpr double bitmap = 1.0 / 8;            // bytes: one bit an element says whether it is zero
constexpr double operations_of_rotation = 3;  // an element: 4 products and 2 sums for a pair

// Of the cache without any technique.
struct Plain {
  double element_bytes, elements;  // elements: of a token, all layers
  double context, sequence;        // tokens, bytes of a sequence
  bool by_head;                    // heads have keys and values of their own
};

double sparse(double bytes, double zero_share) { return (1 - zero_share) * bytes + bitmap; }
double mixed(double bytes, double share) { return share * std::min(1.0, bytes) + (1 - share) * bytes; }
double delta(double bytes, double every, double bits) {
  return bytes / every + (1 - 1 / every) * std::min(bits / 8, bytes);
}

// n sequences take n own + ceil(n / sharing) shared.
double fitting(double own, double shared, double sharing, double memory) {
  if (own + shared <= 0) return 0;
  const double group = sharing * own + shared, groups = std::floor(memory / group);
  const double left = memory - groups * group - shared;
  double more = 0;
  if (left > 0) more = own > 0 ? std::min(std::floor(left / own), sharing) : sharing;
  return groups * sharing + more;
}

// A technique that changes the bytes of an element and nothing else.
Footprint by_element(std::string_view name, const Plain& plain, double bytes, double operations_an_element) {
  Footprint result;
  result.technique = name;
  result.own = plain.sequence * bytes / plain.element_bytes;
  result.read = result.own;
  result.operations = operations_an_element * plain.elements * plain.context;
  return result;
}

Footprint recent(const Plain& plain, const Techniques& t) {
  Footprint result;
  result.technique = "recent-blocks";
  const double here = plain.context > 0 ? std::min(1.0, t.recent_blocks * t.block_tokens / plain.context) : 1;
  result.own = plain.sequence * here;
  result.elsewhere = plain.sequence - result.own;
  result.read = result.own;
  result.fetched = result.elsewhere * t.old_read_share;
  return result;
}

Footprint prefixes(const Plain& plain, const Techniques& t) {
  Footprint result;
  result.technique = "shared-prefixes";
  result.own = plain.sequence * (1 - t.shared_prefix);
  result.shared = plain.sequence * t.shared_prefix;
  result.read = plain.sequence;
  return result;
}

// Queries onto the kept width, and what attention returns from it: 2 products of head size x kept width a query head.
double projection(const KvShape& shape, const Techniques& t) {
  const double size = static_cast<double>(shape.head_size);
  return t.projected_heads * static_cast<double>(shape.heads) * static_cast<double>(shape.layers) * 2 * 2 * size *
         size * t.projected_width;
}

Footprint combined(const KvShape& shape, const Plain& plain, const Techniques& t) {
  const double whole = plain.element_bytes, low = std::min(1.0, whole);
  const double b = mixed(whole, t.fp8_share);
  const double projected = plain.by_head ? t.projected_heads : 0;
  const double differences = t.fp8_share * delta(low, t.delta_every, t.delta_bits) +
                             (1 - t.fp8_share) * delta(whole, t.delta_every, t.delta_bits);
  const double zeros_out = sparse(b, t.zero_share);
  const bool sparsely = plain.by_head && zeros_out < differences;
  const double width = 1 - projected * (1 - t.projected_width);  // elements kept of a whole one
  const double sparse_width = sparsely ? 1 - projected : 0, delta_width = width - sparse_width;
  const double bytes = sparse_width * zeros_out + delta_width * differences;
  const double elements = plain.elements * plain.context;

  Footprint result;
  result.technique = "combined";
  const double token = plain.elements * bytes, window = std::min(plain.context, t.recent_blocks * t.block_tokens);
  const double unshared = plain.context * (1 - t.shared_prefix);
  result.own = token * std::min(window, unshared);
  result.shared = token * std::max(0.0, window - unshared);
  result.elsewhere = token * (plain.context - window);
  result.read = token * window;
  result.fetched = result.elsewhere * t.old_read_share;
  result.operations = elements * (sparse_width + t.fp8_share * width + delta_width * (1 - 1 / t.delta_every));
  if (plain.by_head)
    result.operations += projection(shape, t) - operations_of_rotation * elements / 2;  // keys: half of the elements
  return result;
}

}  // namespace

std::vector<Footprint> kv_techniques(const KvShape& shape, double context, double memory, const Techniques& t) {
  const double token = kv_bytes_per_token(shape);
  const Plain plain{shape.element_bytes, token / shape.element_bytes, context, token * context,
                    shape.attention != Attention::mla};
  const double b = plain.element_bytes;
  std::vector<Footprint> all = {
      by_element("as it is", plain, b, 0),
      by_element("sparse-heads", plain, sparse(b, t.zero_share), 1),
      by_element("score-precision", plain, mixed(b, t.fp8_share), t.fp8_share),
      recent(plain, t),
      prefixes(plain, t),
      by_element("precomputed-positions", plain, b, -operations_of_rotation / 2),
      by_element("neighbour-deltas", plain, delta(b, t.delta_every, t.delta_bits), 1 - 1 / t.delta_every),
      by_element("projected-heads", plain, b * (1 - t.projected_heads * (1 - t.projected_width)), 0),
      combined(shape, plain, t)};
  for (Footprint& one : all) {
    if (one.technique == "projected-heads") one.operations = projection(shape, t);
    if (!plain.by_head && (one.technique == "sparse-heads" || one.technique == "projected-heads"))
      one.reason = "MLA caches one latent for all heads: there are no heads to choose among";
    if (!plain.by_head && one.technique == "precomputed-positions")
      one.reason = "MLA keeps the positions in a key of their own, already applied";
    one.sequences = fitting(one.own, one.shared, t.sharing, memory);
  }
  return all;
}

}  // namespace dmprof::plan
