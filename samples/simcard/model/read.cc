// A model's description (samples/simcard/models/*.yaml).
#include <algorithm>
#include <optional>

#include "samples/simcard/config/embedded.h"
#include "samples/simcard/model/model.h"

namespace dmprof::simcard {
namespace {

constexpr std::int64_t widest = 1 << 20;

void read_attention(Section s, Model& m) {
  m.attention = static_cast<AttentionKind>(s.choice("kind", {"mha", "gqa", "mla"}));
  s.integer("heads", m.heads, 1, widest);
  s.integer("head_size", m.head_size, 1, widest, m.heads > 0 ? std::max<std::int64_t>(1, m.hidden / m.heads) : 1);
  m.kv_heads = m.heads;
  if (m.attention == AttentionKind::gqa) {
    s.integer("kv_heads", m.kv_heads, 1, widest);
    if (s.ok() && m.heads % m.kv_heads != 0) s.complain("kv_heads", "must divide heads; change one of them");
  }
  if (m.attention == AttentionKind::mla) {
    s.integer("latent", m.latent, 1, widest);
    s.integer("rotary", m.rotary, 0, widest, 0);
  }
  (void)s.finish();
}

void read_experts(Section s, Model& m) {
  s.integer("count", m.experts, 1, 65536);
  s.integer("active", m.active, 1, 65536);
  s.integer("shared", m.shared, 0, 65536, 0);
  s.integer("feed_forward", m.expert_feed_forward, 1, widest);
  s.integer("layers", m.expert_layers, 1, m.layers, m.layers);
  if (s.ok() && m.active > m.experts) s.complain("active", "is more than there are experts; lower it");
  (void)s.finish();
}

}  // namespace

Result<Model> open_model(const std::string& name) {
  Result<Document> document = open_description("models", name);
  if (!document) return tl::unexpected(document.error());
  Section s = document->root();
  Model m;
  std::string about;
  s.text("name", m.name);
  s.text("about", about, "");
  s.integer("layers", m.layers, 1, 100'000);
  s.integer("hidden", m.hidden, 1, widest);
  s.integer("vocabulary", m.vocabulary, 0, 100'000'000, 0);
  s.integer("matrices", m.matrices, 2, 3, 3);
  s.quantity("weight_bytes", Quantity::number, m.weight_bytes, 2.0);
  s.quantity("kv_bytes", Quantity::number, m.kv_bytes, 2.0);
  read_attention(s.section("attention"), m);
  const bool experts = s.has("experts");
  if (experts) read_experts(s.section("experts"), m);
  s.integer("feed_forward", m.feed_forward, 1, widest,
            experts && m.expert_layers == m.layers ? std::optional<std::int64_t>(1) : std::nullopt);
  if (s.ok() && (m.weight_bytes <= 0 || m.kv_bytes <= 0)) s.complain("weight_bytes", "must be above 0, as kv_bytes");
  DMPROF_TRY(s.finish());
  return m;
}

}  // namespace dmprof::simcard
