#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "dmprof/calibrate/calibrate.h"

namespace dmprof::calibrate {

namespace {

using nlohmann::json;

constexpr int file_version = 1;

// A rate read from a file: finite and positive, or the file is refused.
bool read_rate(const json& object, const char* key, double& rate) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return false;
  rate = found->get<double>();
  return std::isfinite(rate) && rate > 0;
}

template <class T>
bool read_value(const json& object, const char* key, T& value) {
  const auto found = object.find(key);
  if constexpr (std::is_same_v<T, std::string>) {
    if (found == object.end() || !found->is_string()) return false;
  } else {
    if (found == object.end() || !found->is_number_unsigned()) return false;
  }
  value = found->get<T>();
  return true;
}

bool read_calibration(const json& object, Calibration& into) {
  std::uint32_t stated_version = 0;
  if (!object.is_object() || !read_value(object, "version", stated_version) || stated_version != file_version)
    return false;
  if (!read_value(object, "cpu_model", into.cpu_model) ||
      !read_value(object, "instruction_set", into.instruction_set) ||
      !read_value(object, "measured_at", into.measured_at) || !read_value(object, "cache_bytes", into.cache_bytes) ||
      !read_value(object, "buffer_bytes", into.buffer_bytes)) {
    return false;
  }
  const auto points = object.find("points");
  if (points == object.end() || !points->is_array() || points->empty()) return false;
  for (const json& one : *points) {
    Point point;
    if (!one.is_object() || !read_value(one, "threads", point.threads) ||
        !read_rate(one, "read_bandwidth", point.read_bandwidth) || !read_rate(one, "flops", point.flops)) {
      return false;
    }
    into.points.push_back(point);
  }
  return true;
}

}  // namespace

double Calibration::best_read_bandwidth() const {
  double best = 0;
  for (const Point& point : points) best = std::max(best, point.read_bandwidth);
  return best;
}

double Calibration::best_flops() const {
  double best = 0;
  for (const Point& point : points) best = std::max(best, point.flops);
  return best;
}

std::string to_json(const Calibration& calibration) {
  json points = json::array();
  for (const Point& point : calibration.points) {
    points.push_back({{"threads", point.threads}, {"read_bandwidth", point.read_bandwidth}, {"flops", point.flops}});
  }
  const json object = {{"version", file_version},
                       {"cpu_model", calibration.cpu_model},
                       {"instruction_set", calibration.instruction_set},
                       {"measured_at", calibration.measured_at},
                       {"cache_bytes", calibration.cache_bytes},
                       {"buffer_bytes", calibration.buffer_bytes},
                       {"points", points}};
  return object.dump(2, ' ', false, json::error_handler_t::replace);
}

Status save(const Calibration& calibration, const std::filesystem::path& file) {
  // Written beside it and renamed, so that a reader never sees half a file.
  const std::filesystem::path fresh = file.string() + fmt::format(".{}", ::getpid());
  {
    std::ofstream out(fresh, std::ios::binary | std::ios::trunc);
    out << to_json(calibration) << '\n';
    out.close();
    if (!out) {
      const int reason = errno;
      std::error_code ignored;
      std::filesystem::remove(fresh, ignored);
      return fail(ErrorKind::environment, fmt::format("cannot write {}: {}; check the folder and the free space",
                                                      file.string(), std::strerror(reason)));
    }
  }
  std::error_code error;
  std::filesystem::rename(fresh, file, error);
  if (!error) return {};
  std::error_code ignored;
  std::filesystem::remove(fresh, ignored);
  return fail(ErrorKind::environment, fmt::format("cannot write {}: {}", file.string(), error.message()));
}

Result<Calibration> load(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in)
    return fail(ErrorKind::cannot_answer,
                fmt::format("no calibration at {}; measure one with dmprof calibrate", file.string()));
  std::string text(1 << 20, '\0');  // a real file has a few hundred bytes
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
  Calibration calibration;
  const json object = json::parse(text, nullptr, false);
  if (object.is_discarded() || !read_calibration(object, calibration)) {
    return fail(
        ErrorKind::bad_input,
        fmt::format("{} is not a calibration of this version; measure again with dmprof calibrate", file.string()));
  }
  return calibration;
}

}  // namespace dmprof::calibrate
