#include "tests/unit/engine_core/naive_decoder.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "samples/engine/gguf/gguf.h"
#include "samples/engine/kernels/half.h"
#include "tests/unit/engine_core/temporary_folder.h"

namespace dmengine {

namespace {

std::vector<double> decode(const TensorInfo& info, const std::string& bytes) {
  std::vector<double> out;
  const char* from = bytes.data() + info.file_offset;
  for (uint64_t i = 0; i < info.rows * info.columns; ++i) {
    float value = 0;
    uint16_t half = 0;
    if (info.type == TensorType::f32) {
      std::memcpy(&value, from + 4 * i, 4);
    } else if (info.type == TensorType::f16) {
      std::memcpy(&half, from + 2 * i, 2);
      value = half_to_float(half);
    } else {
      std::memcpy(&half, from + i / 32 * 34, 2);
      value = half_to_float(half) * static_cast<float>(static_cast<int8_t>(from[i / 32 * 34 + 2 + i % 32]));
    }
    out.push_back(static_cast<double>(value));
  }
  return out;
}

}  // namespace

NaiveDecoder::NaiveDecoder(const std::string& path) {
  const auto file = GgufFile::open(path);
  if (!file) throw std::runtime_error(file.error().message);
  config_ = read_config(*file).value();
  const std::string bytes = read_file(path);
  for (const TensorInfo& info : file->tensors()) tensors_[info.name] = decode(info, bytes);
}

NaiveDecoder::Vector NaiveDecoder::times(const std::string& tensor, const Vector& in) const {
  const Vector& matrix = tensors_.at(tensor);
  Vector out(matrix.size() / in.size(), 0.0);
  for (size_t r = 0; r < out.size(); ++r) {
    for (size_t i = 0; i < in.size(); ++i) out[r] += matrix[r * in.size() + i] * in[i];
  }
  return out;
}

NaiveDecoder::Vector NaiveDecoder::norm(const std::string& tensor, const Vector& in) const {
  double squares = 0;
  for (const double value : in) squares += value * value;
  const double factor =
      1 / std::sqrt(squares / static_cast<double>(in.size()) + static_cast<double>(config_.norm_epsilon));
  Vector out(in.size());
  for (size_t i = 0; i < in.size(); ++i) out[i] = in[i] * factor * tensors_.at(tensor)[i];
  return out;
}

void NaiveDecoder::rotate(Vector& heads, uint32_t position) const {
  for (size_t head = 0; head < heads.size() / config_.head_dim; ++head) {
    for (uint32_t i = 0; i < config_.rope_dims; i += 2) {
      const double angle =
          position * std::pow(static_cast<double>(config_.rope_base), -static_cast<double>(i) / config_.rope_dims);
      double& even = heads[head * config_.head_dim + i];
      double& odd = heads[head * config_.head_dim + i + 1];
      const double turned = even * std::cos(angle) - odd * std::sin(angle);
      odd = even * std::sin(angle) + odd * std::cos(angle);
      even = turned;
    }
  }
}

NaiveDecoder::Vector NaiveDecoder::attend(const Vector& query, const std::vector<Vector>& keys,
                                          const std::vector<Vector>& values) const {
  const uint32_t dim = config_.head_dim, group = config_.heads / config_.kv_heads;
  Vector out(query.size(), 0.0);
  for (uint32_t head = 0; head < config_.heads; ++head) {
    const size_t shared = size_t{head / group} * dim, own = size_t{head} * dim;
    Vector weights;
    double total = 0;
    for (const Vector& key : keys) {
      double score = 0;
      for (uint32_t i = 0; i < dim; ++i) score += query[own + i] * key[shared + i];
      weights.push_back(std::exp(score / std::sqrt(static_cast<double>(dim))));
      total += weights.back();
    }
    for (size_t p = 0; p < values.size(); ++p) {
      for (uint32_t i = 0; i < dim; ++i) out[own + i] += weights[p] / total * values[p][shared + i];
    }
  }
  return out;
}

std::vector<double> NaiveDecoder::logits(const std::vector<int32_t>& tokens) const {
  const auto add = [](Vector& to, const Vector& what) {
    for (size_t i = 0; i < to.size(); ++i) to[i] += what[i];
  };
  std::vector<Vector> residuals;
  for (const int32_t token : tokens) {
    const auto* row = tensors_.at("token_embd.weight").data() + static_cast<size_t>(token) * config_.dim;
    residuals.emplace_back(row, row + config_.dim);
  }
  for (uint32_t layer = 0; layer < config_.layers; ++layer) {
    const std::string prefix = "blk." + std::to_string(layer) + ".";
    const auto name = [&prefix](const char* part) { return prefix + part + ".weight"; };
    std::vector<Vector> keys, values;
    for (uint32_t p = 0; p < residuals.size(); ++p) {
      const Vector in = norm(name("attn_norm"), residuals[p]);
      Vector query = times(name("attn_q"), in);
      keys.push_back(times(name("attn_k"), in));
      values.push_back(times(name("attn_v"), in));
      rotate(query, p);
      rotate(keys.back(), p);
      add(residuals[p], times(name("attn_output"), attend(query, keys, values)));
      const Vector wide = norm(name("ffn_norm"), residuals[p]);
      Vector gate = times(name("ffn_gate"), wide);
      const Vector up = times(name("ffn_up"), wide);
      for (size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1 + std::exp(-gate[i])) * up[i];
      add(residuals[p], times(name("ffn_down"), gate));
    }
  }
  const std::string output = tensors_.contains("output.weight") ? "output.weight" : "token_embd.weight";
  return times(output, norm("output_norm.weight", residuals.back()));
}

}  // namespace dmengine
