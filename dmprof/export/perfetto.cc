#include "dmprof/export/perfetto.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "dmprof/export/proto.h"
#include "dmprof/export/timeline.h"
#include "dmprof/export/utf8.h"

namespace dmprof::exporting {

namespace {

namespace trace {
constexpr std::uint32_t packet = 1;
}
namespace packet {
constexpr std::uint32_t timestamp = 8, sequence_id = 10, track_event = 11, interned_data = 12, sequence_flags = 13,
                        track_descriptor = 60;
constexpr std::uint64_t state_cleared = 1, needs_state = 2;
}  // namespace packet
namespace descriptor {
constexpr std::uint32_t uuid = 1, name = 2, process = 3, thread = 4, parent = 5, counter = 8;
constexpr std::uint32_t process_pid = 1, process_name = 6, command = 2;
constexpr std::uint32_t thread_pid = 1, thread_tid = 2, thread_name = 5;
}  // namespace descriptor
namespace event {
constexpr std::uint32_t category_iid = 3, annotation = 4, type = 9, name_iid = 10, track = 11, real_value = 44;
constexpr std::uint64_t slice_begin = 1, slice_end = 2, instant = 3, counter = 4;
constexpr std::uint32_t annotation_name_iid = 1, annotation_int = 4, annotation_text = 6;
}  // namespace event
namespace interned {
constexpr std::uint32_t categories = 1, event_names = 2, annotation_names = 3;
constexpr std::uint32_t iid = 1, name = 2;
}  // namespace interned

constexpr std::uint64_t only_sequence = 1;
// Ids of processes and of lanes come from different counters; the processes get the upper half.
constexpr std::uint64_t process_uuids = 1ull << 32;

std::int64_t as_int32(std::int64_t value) {
  return value > 0 && value <= std::numeric_limits<std::int32_t>::max() ? value : 0;
}

// One table of interned strings; ids count from 1.
struct Interned {
  std::uint32_t field;
  std::map<std::string, std::uint64_t, std::less<>> ids;

  std::uint64_t id(std::string_view text, ProtoMessage& fresh) {
    const auto known = ids.find(text);
    if (known != ids.end()) return known->second;
    const std::uint64_t id = ids.size() + 1;
    ids.emplace(std::string(text), id);
    ProtoMessage entry;
    entry.varint(interned::iid, id);
    entry.text(interned::name, valid_utf8(text));
    fresh.message(field, entry);
    return id;
  }
};

class PerfettoWriter : public TimelineWriter {
 public:
  explicit PerfettoWriter(Output& output) : output_(output) {}

  void process(std::uint32_t id, const Process& process) override {
    pids_[id] = process.pid;
    ProtoMessage inner;
    inner.signed_varint(descriptor::process_pid, as_int32(process.pid));
    inner.text(descriptor::process_name, valid_utf8(process.name));
    if (!process.command.empty()) inner.text(descriptor::command, valid_utf8(process.command));
    ProtoMessage track;
    track.varint(descriptor::uuid, process_uuids + id);
    track.message(descriptor::process, inner);
    send_descriptor(track);
  }

  void lane(std::uint32_t id, std::uint32_t process, std::int64_t thread, std::string_view name) override {
    ProtoMessage track;
    track.varint(descriptor::uuid, id);
    if (pids_.contains(process)) track.varint(descriptor::parent, process_uuids + process);
    if (as_int32(thread) != 0 && pids_.contains(process)) {
      ProtoMessage inner;
      inner.signed_varint(descriptor::thread_pid, as_int32(pids_[process]));
      inner.signed_varint(descriptor::thread_tid, as_int32(thread));
      inner.text(descriptor::thread_name, valid_utf8(name));
      track.message(descriptor::thread, inner);
    } else {
      track.text(descriptor::name, valid_utf8(name));
    }
    send_descriptor(track);
  }

  void counter_lane(std::uint32_t id, std::uint32_t process, std::string_view name) override {
    ProtoMessage track;
    track.varint(descriptor::uuid, id);
    if (pids_.contains(process)) track.varint(descriptor::parent, process_uuids + process);
    track.text(descriptor::name, valid_utf8(name));
    track.message(descriptor::counter, ProtoMessage());
    send_descriptor(track);
  }

  void span(std::uint32_t lane, TimeNs start, TimeNs duration, std::string_view name, std::string_view category,
            std::span<const Argument> arguments) override {
    close_until(lane, start);
    send_event(lane, start, event::slice_begin, name, category, arguments);
    open_[lane].push_back(start + duration);
  }

  void instant(std::uint32_t lane, TimeNs time, std::string_view name, std::string_view category,
               std::span<const Argument> arguments) override {
    send_event(lane, time, event::instant, name, category, arguments);
  }

  void counter(std::uint32_t lane, TimeNs time, double value) override {
    ProtoMessage inner;
    inner.varint(event::type, event::counter);
    inner.varint(event::track, lane);
    inner.real(event::real_value, value);
    send(time, inner, {});
  }

  void lane_done(std::uint32_t lane) override {
    close_until(lane, std::numeric_limits<TimeNs>::max());
    open_.erase(lane);
  }

 private:
  void close_until(std::uint32_t lane, TimeNs time) {
    std::vector<TimeNs>& ends = open_[lane];
    while (!ends.empty() && ends.back() <= time) {
      ProtoMessage inner;
      inner.varint(event::type, event::slice_end);
      inner.varint(event::track, lane);
      send(ends.back(), inner, {});
      ends.pop_back();
    }
  }

  void send_event(std::uint32_t lane, TimeNs time, std::uint64_t type, std::string_view name, std::string_view category,
                  std::span<const Argument> arguments) {
    ProtoMessage fresh;
    ProtoMessage inner;
    inner.varint(event::category_iid, categories_.id(category, fresh));
    for (const Argument& argument : arguments) {
      ProtoMessage annotation;
      annotation.varint(event::annotation_name_iid, annotation_names_.id(argument.name, fresh));
      if (argument.text.empty()) {
        annotation.signed_varint(event::annotation_int, argument.value);
      } else {
        annotation.text(event::annotation_text, valid_utf8(argument.text));
      }
      inner.message(event::annotation, annotation);
    }
    inner.varint(event::type, type);
    inner.varint(event::name_iid, event_names_.id(name, fresh));
    inner.varint(event::track, lane);
    send(time, inner, fresh);
  }

  void send(TimeNs time, const ProtoMessage& event, const ProtoMessage& fresh) {
    ProtoMessage message;
    message.varint(packet::timestamp, static_cast<std::uint64_t>(time));
    message.varint(packet::sequence_id, only_sequence);
    message.message(packet::track_event, event);
    if (!fresh.bytes().empty()) message.message(packet::interned_data, fresh);
    message.varint(packet::sequence_flags, flags());
    send_packet(message);
  }

  void send_descriptor(const ProtoMessage& track) {
    ProtoMessage message;
    message.varint(packet::sequence_id, only_sequence);
    message.varint(packet::sequence_flags, flags());
    message.message(packet::track_descriptor, track);
    send_packet(message);
  }

  // The first packet says that interned names start from nothing; every later one relies on them.
  std::uint64_t flags() { return std::exchange(first_, false) ? packet::state_cleared : packet::needs_state; }

  void send_packet(const ProtoMessage& message) {
    ProtoMessage outer;
    outer.message(trace::packet, message);
    output_.write(outer.bytes());
  }

  Output& output_;
  std::map<std::uint32_t, std::int64_t> pids_;
  std::map<std::uint32_t, std::vector<TimeNs>> open_;  // per lane: ends of the open slices, outermost first
  Interned categories_{interned::categories, {}};
  Interned event_names_{interned::event_names, {}};
  Interned annotation_names_{interned::annotation_names, {}};
  bool first_ = true;
};

// What send_descriptor() begins every file with: a packet of any length whose first fields say that it is the first.
bool is_ours(std::string_view start) {
  constexpr char packet_tag = trace::packet << 3 | 2;
  constexpr std::size_t longest_varint = 10;
  if (start.empty() || start.front() != packet_tag) return false;
  std::size_t at = 1;
  while (at < start.size() && at < longest_varint && (static_cast<unsigned char>(start[at]) & 0x80) != 0) ++at;
  ProtoMessage first;
  first.varint(packet::sequence_id, only_sequence);
  first.varint(packet::sequence_flags, packet::state_cleared);
  return start.substr(std::min(at + 1, start.size())).starts_with(first.bytes());
}

}  // namespace

Status write_perfetto(const Reader& reader, Output& output) {
  DMPROF_TRY(output.claim("a Perfetto trace that dmprof wrote", is_ours));
  PerfettoWriter writer(output);
  return walk_timeline(reader, writer);
}

}  // namespace dmprof::exporting
