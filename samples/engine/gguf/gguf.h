// Reads the header of a GGUF file (versions 2 and 3, little endian): metadata and the table of tensors.
// The file is treated as hostile: every count, length, type and offset is checked against the file's real size before
// it is used. Tensor data is not loaded here; callers read it by offset. Errors are bad_input (damaged or foreign) or
// environment (cannot be read), one line each. Immutable after open(), so safe to share between threads.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "dmprof/base/error.h"
#include "samples/engine/gguf/tensor_type.h"

namespace dmengine {

using dmprof::Error;
using dmprof::ErrorKind;
using dmprof::fail;
using dmprof::Result;
using dmprof::Status;

std::string_view to_string(TensorType type);

// Bytes of a row of `columns` values; 0 when the format cannot hold that many (Q8_0 needs a multiple of 32).
uint64_t row_bytes(TensorType type, uint64_t columns);

struct TensorInfo {
  std::string name;
  TensorType type = TensorType::f32;
  uint64_t columns = 0;      // the dimension that is contiguous in the file
  uint64_t rows = 0;         // product of the other dimensions
  uint64_t file_offset = 0;  // bytes from the start of the file
  uint64_t bytes = 0;
};

// Arrays of arrays are checked and skipped: nothing the engine needs is stored that way.
using MetaArray = std::variant<std::vector<int64_t>, std::vector<double>, std::vector<bool>, std::vector<std::string>>;
using MetaValue = std::variant<int64_t, uint64_t, double, bool, std::string, MetaArray>;

class GgufFile {
 public:
  static Result<GgufFile> open(const std::string& path);

  const std::string& path() const { return path_; }
  uint64_t file_bytes() const { return file_bytes_; }
  const std::vector<TensorInfo>& tensors() const { return tensors_; }
  const TensorInfo* find_tensor(std::string_view name) const;  // nullptr when absent
  const MetaValue* find(std::string_view key) const;           // nullptr when absent

  // A missing key or another type is an error that names the key, unless a fallback is given for a missing key.
  Result<uint64_t> unsigned_value(std::string_view key) const;
  Result<uint64_t> unsigned_value(std::string_view key, uint64_t fallback) const;
  Result<double> real_value(std::string_view key, double fallback) const;
  Result<bool> bool_value(std::string_view key, bool fallback) const;
  Result<std::string> string_value(std::string_view key) const;
  Result<std::string> string_value(std::string_view key, std::string fallback) const;
  // nullptr when the key is missing.
  Result<const std::vector<std::string>*> string_array(std::string_view key) const;
  Result<const std::vector<double>*> real_array(std::string_view key) const;
  Result<const std::vector<int64_t>*> int_array(std::string_view key) const;

 private:
  friend class GgufParser;
  std::string path_;
  uint64_t file_bytes_ = 0;
  std::map<std::string, MetaValue, std::less<>> metadata_;
  std::vector<TensorInfo> tensors_;
  std::map<std::string, size_t, std::less<>> by_name_;
};

}  // namespace dmengine
