// The same decoder written the slow, obvious way in double precision, straight from the file: what the engine is
// checked against. It keeps no cache: every call computes all positions again.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "samples/engine/model/config.h"

namespace dmengine {

class NaiveDecoder {
 public:
  explicit NaiveDecoder(const std::string& path);

  // Logits after the last token.
  std::vector<double> logits(const std::vector<int32_t>& tokens) const;

 private:
  using Vector = std::vector<double>;
  // Matrix (rows x in) times vector.
  Vector times(const std::string& tensor, const Vector& in) const;
  Vector norm(const std::string& tensor, const Vector& in) const;
  void rotate(Vector& heads, uint32_t position) const;
  Vector attend(const Vector& query, const std::vector<Vector>& keys, const std::vector<Vector>& values) const;

  ModelConfig config_;
  std::map<std::string, Vector> tensors_;
};

}  // namespace dmengine
