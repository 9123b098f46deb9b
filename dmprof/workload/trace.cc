#include "dmprof/workload/trace.h"

#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace dmprof::workload {

Result<Trace> read_trace(const std::string& path, std::int64_t longest) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error))
    return fail(ErrorKind::bad_input,
                fmt::format("{}: is a directory; name a request trace (.csv or .jsonl) in it", path));
  if (!std::filesystem::is_regular_file(path, error))
    return fail(ErrorKind::environment, fmt::format("{}: no such file; name a request trace (.csv or .jsonl)", path));
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(ErrorKind::environment, fmt::format("{}: cannot be read; check its permissions", path));
  const int first = (in >> std::ws).peek();  // the readers pass over blank lines too
  in.clear();
  in.seekg(0);
  if (first == '[')
    return fail(ErrorKind::bad_input,
                fmt::format("{}:1: a JSON array; write one request, an object, on each line (.jsonl)", path));
  return first == '{' ? read_mooncake(in, path, longest) : read_azure(in, path, longest);
}

}  // namespace dmprof::workload
