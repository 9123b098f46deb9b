#include "dmprof/export/chrome.h"

#include <fmt/format.h>

#include <cmath>
#include <map>
#include <string>

#include "dmprof/export/timeline.h"
#include "dmprof/export/utf8.h"

namespace dmprof::exporting {

namespace {

// The format's times are microseconds; three decimals keep every nanosecond.
std::string microseconds(TimeNs time) { return fmt::format("{}.{:03}", time / 1000, time % 1000); }

std::string arguments_json(std::span<const Argument> arguments) {
  std::string json = "{";
  for (const Argument& argument : arguments) {
    if (json.size() > 1) json += ',';
    json += json_string(argument.name) + ':';
    json += argument.text.empty() ? std::to_string(argument.value) : json_string(argument.text);
  }
  return json + "}";
}

constexpr std::string_view beginning = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[";

class ChromeWriter : public TimelineWriter {
 public:
  explicit ChromeWriter(Output& output) : output_(output) {}

  void process(std::uint32_t id, const Process& process) override {
    pids_[id] = process.pid > 0 ? process.pid : id;
    send(fmt::format(R"("ph":"M","pid":{},"tid":0,"name":"process_name","args":{{"name":{}}})", pids_[id],
                     json_string(process.name)));
  }

  void lane(std::uint32_t id, std::uint32_t process, std::int64_t thread, std::string_view name) override {
    // Lanes without a thread of their own get ids that no thread has.
    constexpr std::int64_t above_every_thread = 1 << 30;
    Place& place = lanes_[id];
    place.pid = pids_.contains(process) ? pids_[process] : 0;
    place.tid = thread > 0 ? thread : above_every_thread + id;
    send(fmt::format(R"("ph":"M","pid":{},"tid":{},"name":"thread_name","args":{{"name":{}}})", place.pid, place.tid,
                     json_string(name)));
    send(fmt::format(R"("ph":"M","pid":{},"tid":{},"name":"thread_sort_index","args":{{"sort_index":{}}})", place.pid,
                     place.tid, id));
  }

  void counter_lane(std::uint32_t id, std::uint32_t process, std::string_view name) override {
    lanes_[id] = {pids_.contains(process) ? pids_[process] : 0, 0, std::string(name)};
  }

  void span(std::uint32_t lane, TimeNs start, TimeNs duration, std::string_view name, std::string_view category,
            std::span<const Argument> arguments) override {
    const Place& place = lanes_[lane];
    send(fmt::format(R"("ph":"X","pid":{},"tid":{},"ts":{},"dur":{},"name":{},"cat":{},"args":{})", place.pid,
                     place.tid, microseconds(start), microseconds(duration), json_string(name), json_string(category),
                     arguments_json(arguments)));
  }

  void instant(std::uint32_t lane, TimeNs time, std::string_view name, std::string_view category,
               std::span<const Argument> arguments) override {
    const Place& place = lanes_[lane];
    send(fmt::format(R"("ph":"i","s":"t","pid":{},"tid":{},"ts":{},"name":{},"cat":{},"args":{})", place.pid, place.tid,
                     microseconds(time), json_string(name), json_string(category), arguments_json(arguments)));
  }

  void counter(std::uint32_t lane, TimeNs time, double value) override {
    if (!std::isfinite(value)) return;  // JSON has no word for it
    const Place& place = lanes_[lane];
    send(fmt::format(R"("ph":"C","pid":{},"tid":0,"ts":{},"name":{},"args":{{"value":{}}})", place.pid,
                     microseconds(time), json_string(place.counter), value));
  }

  void lane_done(std::uint32_t) override {}

  void begin() { output_.write(beginning); }
  void end() { output_.write("\n]}\n"); }

 private:
  struct Place {
    std::int64_t pid = 0;
    std::int64_t tid = 0;
    std::string counter;
  };

  void send(std::string_view members) {
    output_.write(first_ ? "\n{" : ",\n{");
    output_.write(members);
    output_.write("}");
    first_ = false;
  }

  Output& output_;
  std::map<std::uint32_t, std::int64_t> pids_;
  std::map<std::uint32_t, Place> lanes_;
  bool first_ = true;
};

}  // namespace

Status write_chrome(const Reader& reader, Output& output) {
  DMPROF_TRY(output.claim("a Chrome trace that dmprof wrote",
                          [](std::string_view start) { return start.starts_with(beginning); }));
  ChromeWriter writer(output);
  writer.begin();
  DMPROF_TRY(walk_timeline(reader, writer));
  writer.end();
  return {};
}

}  // namespace dmprof::exporting
