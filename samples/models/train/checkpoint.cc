#include "samples/models/train/checkpoint.h"

#include <cstdint>
#include <filesystem>
#include <fstream>

namespace dmprof::train {
namespace {

struct Header {
  std::uint64_t magic = 0x31544b50434d44ull;
  std::uint64_t parameters = 0;
  std::int64_t step = 0;
};

void put(std::ofstream& out, const std::vector<float>& values) {
  out.write(reinterpret_cast<const char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
}
void get(std::ifstream& in, std::vector<float>& values) {
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(values.size() * sizeof(float)));
}

}  // namespace

Status save_checkpoint(const std::string& path, int step, const std::vector<float>& parameters, const AdamW& adam) {
  const std::string part = path + ".part";
  std::ofstream out(part, std::ios::binary | std::ios::trunc);
  const Header header{.parameters = parameters.size(), .step = step};
  out.write(reinterpret_cast<const char*>(&header), sizeof header);
  put(out, parameters);
  put(out, adam.mean);
  put(out, adam.square);
  out.close();
  std::error_code error;
  if (out) std::filesystem::rename(part, path, error);
  if (!out || error)
    return fail(ErrorKind::environment, "cannot write the checkpoint " + path + ": check space and permission");
  return {};
}

Result<int> load_checkpoint(const std::string& path, std::vector<float>& parameters, AdamW& adam) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return 0;
  Header header{};
  const Header expected{};
  in.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!in || header.magic != expected.magic || header.parameters != parameters.size()) {
    return fail(ErrorKind::bad_input, path + " is no checkpoint of this model: delete it or name another file");
  }
  get(in, parameters);
  get(in, adam.mean);
  get(in, adam.square);
  if (!in) return fail(ErrorKind::bad_input, path + " is cut short: delete it and start again");
  return static_cast<int>(header.step);
}

}  // namespace dmprof::train
