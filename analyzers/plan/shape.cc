#include "analyzers/plan/shape.h"

namespace dmprof::plan {
namespace {

constexpr std::int64_t widest = 1 << 20;

// Weights of one matrix in whole tiles.
class Tiles {
 public:
  explicit Tiles(std::uint64_t tile) : tile_(tile > 0 ? tile : 1) {}
  double matrix(std::uint64_t rows, std::uint64_t columns) const { return whole(rows) * whole(columns); }

 private:
  double whole(std::uint64_t side) const { return static_cast<double>((side + tile_ - 1) / tile_ * tile_); }
  std::uint64_t tile_;
};

// A whole number of the mapping, where it is one.
void whole(Section& section, std::string_view key, std::uint64_t& out, std::int64_t least, std::int64_t most,
           std::optional<std::int64_t> otherwise = std::nullopt) {
  std::int64_t value = 0;
  section.integer(key, value, least, most, otherwise);
  out = static_cast<std::uint64_t>(value);
}

void read_attention(Section s, ModelShape& shape) {
  KvShape& attention = shape.attention;
  attention.attention = static_cast<Attention>(s.choice("kind", {"mha", "gqa", "mla"}));
  whole(s, "heads", attention.heads, 1, widest);
  const std::uint64_t share = attention.heads > 0 ? shape.hidden / attention.heads : 0;
  whole(s, "head_size", attention.head_size, 1, widest, share > 0 ? static_cast<std::int64_t>(share) : 1);
  attention.kv_heads = attention.heads;
  if (attention.attention == Attention::gqa) {
    whole(s, "kv_heads", attention.kv_heads, 1, widest);
    if (s.ok() && attention.heads % attention.kv_heads != 0)
      s.complain("kv_heads", "must divide heads; change one of them");
  }
  if (attention.attention == Attention::mla) {
    whole(s, "latent", attention.latent, 1, widest);
    whole(s, "rotary", attention.rope, 0, widest, 0);
  }
  (void)s.finish();
}

}  // namespace

double multiplied_weights(const ModelShape& shape, std::uint64_t tile) {
  const KvShape& a = shape.attention;
  const Tiles tiles(tile);
  const std::uint64_t queries = a.heads * a.head_size;
  double layer = 2 * tiles.matrix(shape.hidden, queries);
  if (a.attention == Attention::mla) {
    layer += tiles.matrix(shape.hidden, a.latent + a.rope) + 2 * tiles.matrix(a.latent, queries);
  } else {
    const std::uint64_t kv_heads = a.attention == Attention::mha ? a.heads : a.kv_heads;
    layer += 2 * tiles.matrix(shape.hidden, kv_heads * a.head_size);
  }
  layer += static_cast<double>(shape.matrices) * tiles.matrix(shape.hidden, shape.feed_forward);
  return static_cast<double>(a.layers) * layer + tiles.matrix(shape.hidden, shape.vocabulary);
}

double kept_weights(const ModelShape& shape) {
  const double embedding = static_cast<double>(shape.hidden) * static_cast<double>(shape.vocabulary);
  return multiplied_weights(shape) + (shape.tied ? 0 : embedding);
}

Result<ModelShape> read_shape(const Document& document) {
  Section s = document.root();
  ModelShape shape;
  std::string about;
  if (s.has("experts"))
    s.complain("experts", "advice is for dense models: what of its experts a step reads is not in a shape");
  s.text("name", shape.name);
  s.text("about", about, "");
  whole(s, "layers", shape.attention.layers, 1, 100'000);
  whole(s, "hidden", shape.hidden, 1, widest);
  whole(s, "vocabulary", shape.vocabulary, 0, 100'000'000, 0);
  whole(s, "matrices", shape.matrices, 2, 3, 3);
  s.quantity("weight_bytes", Quantity::number, shape.weight_bytes, 2.0);
  s.quantity("kv_bytes", Quantity::number, shape.attention.element_bytes, 2.0);
  s.flag("tied", shape.tied, false);
  read_attention(s.section("attention"), shape);
  whole(s, "feed_forward", shape.feed_forward, 1, widest);
  for (const auto& [key, value] :
       {std::pair("weight_bytes", shape.weight_bytes), {"kv_bytes", shape.attention.element_bytes}}) {
    if (s.ok() && !(value > 0 && value <= 16)) s.complain(key, "must be above 0 and at most 16 bytes");
  }
  DMPROF_TRY(s.finish());
  return shape;
}

}  // namespace dmprof::plan
