// Writes a GGUF version 3 file front to back: metadata, tensor table, then the tensors' data in the order declared.
// The file appears under its name only when finish() succeeds, so that an aborted run leaves no half model behind, and
// replaces nothing but a model. Errors are environment (unwritable, disk full). Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dmprof/base/output.h"
#include "samples/engine/gguf/gguf.h"

namespace dmengine {

class GgufWriter {
 public:
  explicit GgufWriter(std::string path);
  ~GgufWriter();
  GgufWriter(const GgufWriter&) = delete;
  GgufWriter& operator=(const GgufWriter&) = delete;

  void add(std::string_view key, uint32_t value);
  void add(std::string_view key, float value);
  void add(std::string_view key, bool value);
  void add(std::string_view key, std::string_view value);
  void add(std::string_view key, std::span<const std::string> values);
  void add(std::string_view key, std::span<const float> values);
  void add(std::string_view key, std::span<const int32_t> values);

  // dims: the contiguous dimension first.
  void declare(std::string_view name, TensorType type, std::span<const uint64_t> dims);

  // After everything is declared: opens the file and writes the header.
  Status begin();
  // The next bytes of the tensors, in declaration order; padding between tensors is added here.
  Status write(std::span<const std::byte> bytes);
  // Every declared byte must have been written.
  Status finish();

 private:
  void key_of(std::string_view key, uint32_t type);

  std::string path_;
  std::unique_ptr<dmprof::Output> output_;
  std::string metadata_, table_;
  uint64_t metadata_count_ = 0;
  std::vector<uint64_t> sizes_;
  uint64_t offset_ = 0;   // in the data section, of the next declared tensor
  size_t current_ = 0;    // tensor being written
  uint64_t written_ = 0;  // bytes of it
};

}  // namespace dmengine
