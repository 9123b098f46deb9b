#include "samples/engine/synth/synth.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "samples/engine/cli/flags.h"
#include "samples/engine/gguf/writer.h"
#include "samples/engine/synth/vocabulary.h"
#include "samples/engine/synth/weights.h"

namespace dmengine {

namespace {

struct SynthTensor {
  std::string name;
  uint64_t columns, rows;
  float deviation;  // 0: a norm, all ones
  uint64_t number;  // seeds the rows; the same in a draft that shares the tensor
};

std::vector<SynthTensor> tensors_of(const SynthShape& shape, uint32_t layers) {
  const auto unit = [](uint64_t inputs) { return 1.0F / std::sqrt(static_cast<float>(inputs)); };
  const uint64_t kv_dim = uint64_t{shape.dim} / shape.heads * shape.kv_heads;
  // .1: large enough for distinct logits, small beside the layers' output, or every token would predict itself.
  std::vector<SynthTensor> out = {{"token_embd.weight", shape.dim, shape.vocab, 0.1F, 1}};
  for (uint32_t layer = 0; layer < layers; ++layer) {
    const auto name = [layer](const char* part) { return fmt::format("blk.{}.{}.weight", layer, part); };
    const float damping = layer >= shape.damped_from ? shape.damping : 1.0F;
    const uint64_t number = 16 * (uint64_t{layer} + 1);
    out.push_back({name("attn_norm"), shape.dim, 1, 0, 0});
    out.push_back({name("attn_q"), shape.dim, shape.dim, unit(shape.dim), number});
    out.push_back({name("attn_k"), shape.dim, kv_dim, unit(shape.dim), number + 1});
    out.push_back({name("attn_v"), shape.dim, kv_dim, unit(shape.dim), number + 2});
    out.push_back({name("attn_output"), shape.dim, shape.dim, unit(shape.dim) * damping, number + 3});
    out.push_back({name("ffn_norm"), shape.dim, 1, 0, 0});
    out.push_back({name("ffn_gate"), shape.dim, shape.ffn, unit(shape.dim), number + 4});
    out.push_back({name("ffn_up"), shape.dim, shape.ffn, unit(shape.dim), number + 5});
    out.push_back({name("ffn_down"), shape.ffn, shape.dim, unit(shape.ffn) * damping, number + 6});
  }
  out.push_back({"output_norm.weight", shape.dim, 1, 0, 0});
  return out;
}

void add_metadata(GgufWriter& writer, const SynthShape& shape, TensorType type, uint32_t layers) {
  const uint32_t head_dim = shape.dim / shape.heads;
  writer.add("general.architecture", std::string_view("llama"));
  writer.add("general.name", std::string_view(fmt::format("synthetic {} ({} layers)", shape.name, layers)));
  writer.add("general.file_type", type == TensorType::f32   ? uint32_t{0}
                                  : type == TensorType::f16 ? uint32_t{1}
                                                            : uint32_t{7});
  writer.add("llama.block_count", layers);
  writer.add("llama.context_length", uint32_t{2048});
  writer.add("llama.embedding_length", shape.dim);
  writer.add("llama.feed_forward_length", shape.ffn);
  writer.add("llama.attention.head_count", shape.heads);
  writer.add("llama.attention.head_count_kv", shape.kv_heads);
  writer.add("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  writer.add("llama.rope.dimension_count", head_dim);
  writer.add("llama.rope.freq_base", 10000.0F);
  writer.add("llama.vocab_size", shape.vocab);
  const SynthVocabulary vocabulary = make_synth_vocabulary(shape.vocab);
  writer.add("tokenizer.ggml.model", std::string_view("gpt2"));
  writer.add("tokenizer.ggml.pre", std::string_view("gpt-2"));
  writer.add("tokenizer.ggml.tokens", std::span<const std::string>(vocabulary.tokens));
  writer.add("tokenizer.ggml.token_type", std::span<const int32_t>(vocabulary.kinds));
  writer.add("tokenizer.ggml.merges", std::span<const std::string>(vocabulary.merges));
  writer.add("tokenizer.ggml.bos_token_id", uint32_t{0});
  writer.add("tokenizer.ggml.eos_token_id", uint32_t{0});
  writer.add("tokenizer.ggml.add_bos_token", true);
}

Status write_rows(GgufWriter& writer, const SynthTensor& tensor, TensorType type, uint64_t seed) {
  std::vector<float> row(tensor.columns, 1.0F);
  std::vector<std::byte> encoded;
  for (uint64_t r = 0; r < tensor.rows; ++r) {
    if (tensor.deviation > 0) random_row(seed, tensor.number, r, tensor.deviation, row);
    encode_row(tensor.deviation > 0 ? type : TensorType::f32, row, encoded);
    DMPROF_TRY(writer.write(encoded));
  }
  return {};
}

Result<TensorType> parse_type(const std::string& name) {
  if (name == "f32") return TensorType::f32;
  if (name == "f16") return TensorType::f16;
  if (name == "q8_0") return TensorType::q8_0;
  return fail(ErrorKind::usage, fmt::format("--type '{}' is unknown; use f32, f16 or q8_0", name));
}

int report(const Error& error) {
  fmt::print(stderr, "dm-engine synth: {}\n", error.message);
  return error.kind == ErrorKind::usage ? 2 : 6;
}

}  // namespace

Status write_synthetic_model(const std::string& path, const SynthShape& shape, TensorType type, uint64_t seed,
                             uint32_t layers) {
  GgufWriter writer(path);
  add_metadata(writer, shape, type, layers);
  const std::vector<SynthTensor> tensors = tensors_of(shape, layers);
  for (const SynthTensor& tensor : tensors) {
    const uint64_t dims[] = {tensor.columns, tensor.rows};
    const bool norm = tensor.deviation == 0;
    writer.declare(tensor.name, norm ? TensorType::f32 : type, std::span(dims).first(norm ? 1 : 2));
  }
  DMPROF_TRY(writer.begin());
  for (const SynthTensor& tensor : tensors) DMPROF_TRY(write_rows(writer, tensor, type, seed));
  return writer.finish();
}

int synth_main(std::span<const std::string> args) {
  std::string shape_name, type_name = "q8_0", output, draft_output;
  uint64_t seed = 1;
  Flags flags("dm-engine synth",
              "Writes a model with random weights from a seed: real byte traffic without a real text model.");
  flags.value("--shape", "NAME", "tiny, m110, m400, or m400s (whose first two layers predict most of its tokens)");
  flags.value("--type", "TYPE", "f32, f16 or q8_0 (default q8_0)");
  flags.value("--seed", "N", "seed of the weights (default 1)");
  flags.value("-o,--output", "FILE", "file to write");
  flags.value("--draft-out", "FILE", "also write its first two layers, as a draft model");
  const auto answer = flags.parse(args);
  if (!answer) return report(answer.error());
  if (!answer->empty()) {
    fmt::print("{}", *answer);
    return 0;
  }
  const auto read = [&]() -> Status {
    DMPROF_TRY(flags.need("--shape"));
    DMPROF_TRY(flags.need("--output"));
    DMPROF_TRY(flags.text("--shape", shape_name));
    DMPROF_TRY(flags.text("--type", type_name));
    DMPROF_TRY(flags.whole("--seed", nullptr, seed, 0, UINT64_MAX));
    DMPROF_TRY(flags.text("--output", output));
    return flags.text("--draft-out", draft_output);
  };
  if (const Status settings = read(); !settings) return report(settings.error());
  const SynthShape* shape = find_synth_shape(shape_name);
  if (shape == nullptr) {
    std::string known;
    for (const SynthShape& each : synth_shapes()) known += fmt::format("{}{}", known.empty() ? "" : ", ", each.name);
    return report({ErrorKind::usage, fmt::format("--shape '{}' is unknown; use one of {}", shape_name, known)});
  }
  const auto type = parse_type(type_name);
  if (!type) return report(type.error());
  if (auto done = write_synthetic_model(output, *shape, *type, seed, shape->layers); !done) return report(done.error());
  if (draft_output.empty()) return 0;
  const uint32_t draft_layers = std::min(2U, shape->layers);
  if (auto done = write_synthetic_model(draft_output, *shape, *type, seed, draft_layers); !done)
    return report(done.error());
  return 0;
}

}  // namespace dmengine
