#include "dmprof/store/room.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <system_error>

namespace dmprof::store {
namespace {

// Columns of real recordings shrink by 10 to 100; one made by hand of nothing but equal values by 100,000 and more.
constexpr std::uint64_t most_shrinking = 1000;

std::string mebibytes(std::uint64_t bytes) {
  char text[48];
  std::snprintf(text, sizeof text, "%.1f MiB", static_cast<double>(bytes) / (1 << 20));
  return text;
}

}  // namespace

std::uint64_t memory_budget() {
  std::uint64_t usable = std::numeric_limits<std::uint64_t>::max();
  const long pages = ::sysconf(_SC_PHYS_PAGES), page = ::sysconf(_SC_PAGESIZE);
  if (pages > 0 && page > 0) usable = static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
  for (const auto resource : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit limit{};
    if (::getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
      usable = std::min<std::uint64_t>(usable, limit.rlim_cur);
  }
  return usable / 3;
}

std::uint64_t stored_bytes(const std::string& path) {
  std::uint64_t sum = 0;
  for (const char* suffix : {"", "-wal"}) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(path + suffix, error);
    if (!error) sum += size;
  }
  return sum;
}

Status check_room(const std::string& path, std::uint64_t needed, std::uint64_t stored, std::uint64_t budget) {
  if (needed <= budget) return {};
  if (needed / most_shrinking > stored) {
    return fail(ErrorKind::bad_input, path + ": claims " + mebibytes(needed) + " of events in a file of " +
                                          mebibytes(stored) + "; the file is damaged, record again or use a copy");
  }
  return fail(ErrorKind::environment, path + ": its events need " + mebibytes(needed) + " of memory and " +
                                          mebibytes(budget) +
                                          " may be used for them; use `dmprof query`, which reads piece by piece, a "
                                          "machine with more memory, or a shorter recording");
}

}  // namespace dmprof::store
