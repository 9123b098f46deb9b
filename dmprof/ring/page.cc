#include "dmprof/ring/page.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "dmprof/ring/process.h"

namespace dmprof::ring {
namespace {

template <std::size_t N>
std::string text_of(const char (&field)[N]) {
  return clean_text(field, ::strnlen(field, N));
}

std::string reason() { return std::strerror(errno); }

template <class Entry>
std::size_t offset_of_entry(std::size_t table, std::size_t index) {
  return table + index * sizeof(Entry);
}

}  // namespace

Result<ControlPage> ControlPage::open(int directory, const std::string& name, const std::string& path) {
  ControlPage page;
  page.path_ = path;
  // Now, while a shortage of descriptors still passes for one: a lossless engine would take a recorder that announced
  // itself without its start time for dead, and go on alone.
  page.own_start_ = process_start(::getpid());
  if (page.own_start_ == 0)
    return fail(ErrorKind::environment, "cannot read this process's own entry in /proc: raise `ulimit -n`");
  page.fd_ = ::openat(directory, name.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (page.fd_ < 0) return fail(ErrorKind::environment, "cannot open the control page " + path + ": " + reason());
  struct stat info {};
  if (::fstat(page.fd_, &info) != 0 || !S_ISREG(info.st_mode) || info.st_uid != ::geteuid() ||
      (info.st_mode & 077) != 0 || info.st_nlink > 1) {
    return fail(ErrorKind::environment, "the control page " + path + " is not a private file of this user: remove it");
  }
  page.device_ = info.st_dev;
  page.inode_ = info.st_ino;
  dmprof_page_header header{};
  const Status got = page.read(&header, sizeof header, 0);
  if (!got || header.magic != DMPROF_WIRE_MAGIC) {
    return fail(ErrorKind::bad_input, path + " is not a control page of dmprof: remove it");
  }
  if (header.version != DMPROF_WIRE_VERSION || header.page_bytes != sizeof(dmprof_page)) {
    return fail(ErrorKind::bad_input, "the engine of " + path + " speaks wire version " +
                                          std::to_string(header.version) + ", this dmprof " +
                                          std::to_string(DMPROF_WIRE_VERSION) + ": rebuild the older of the two");
  }
  PageIdentity& identity = page.identity_;
  identity.pid = header.pid;
  identity.parent_pid = header.parent_pid;
  identity.start_time = header.start_time;
  identity.tsc = header.clock_source == DMPROF_SOURCE_TSC;
  identity.lossless = (header.flags & DMPROF_PAGE_LOSSLESS) != 0;
  identity.engine = text_of(header.engine);
  identity.engine_version = text_of(header.engine_version);
  identity.session = text_of(header.session);
  if (std::to_string(identity.pid) + ".ctl" != name) {
    return fail(ErrorKind::bad_input, path + " names another process than its file name: remove it");
  }
  return page;
}

ControlPage::ControlPage(ControlPage&& other) noexcept { *this = std::move(other); }

ControlPage& ControlPage::operator=(ControlPage&& other) noexcept {
  std::swap(fd_, other.fd_);
  std::swap(path_, other.path_);
  std::swap(device_, other.device_);
  std::swap(inode_, other.inode_);
  std::swap(identity_, other.identity_);
  std::swap(own_start_, other.own_start_);
  return *this;
}

ControlPage::~ControlPage() {
  if (fd_ >= 0) ::close(fd_);
}

Life ControlPage::life() const {
  const Life life = life_of(identity_.pid, identity_.start_time);
  if (life != Life::runs) return life;
  const bool mapped = has_mapped(identity_.pid, std::to_string(identity_.pid) + ".ctl").value_or(true);
  return mapped ? Life::runs : Life::ended;
}

bool ControlPage::in_place() const {
  struct stat info {};
  return ::lstat(path_.c_str(), &info) == 0 && info.st_dev == device_ && info.st_ino == inode_;
}

bool ControlPage::replaced() const {
  struct stat info {};
  return ::lstat(path_.c_str(), &info) == 0 && (info.st_dev != device_ || info.st_ino != inode_);
}

Status ControlPage::read(void* to, std::size_t bytes, std::size_t offset) const {
  ssize_t got = 0;
  do {
    got = ::pread(fd_, to, bytes, static_cast<off_t>(offset));
  } while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(bytes)) return {};
  return fail(ErrorKind::bad_input, "the control page " + path_ + " is cut short: the engine damaged it");
}

Status ControlPage::write(const void* from, std::size_t bytes, std::size_t offset) const {
  if (::pwrite(fd_, from, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes)) return {};
  return fail(ErrorKind::bad_input, "cannot write to the control page " + path_ + ": " + reason());
}

Result<PageCounts> ControlPage::counts() const {
  dmprof_page_header header{};
  DMPROF_TRY(read(&header, sizeof header, 0));
  PageCounts counts;
  counts.names = std::min<std::uint32_t>(header.name_count, DMPROF_MAX_NAMES);
  counts.knobs = std::min<std::uint32_t>(header.knob_count, DMPROF_MAX_KNOBS);
  counts.capacities = std::min<std::uint32_t>(header.capacity_count, DMPROF_MAX_CAPACITIES);
  counts.clocks = std::min<std::uint32_t>(header.clock_count, DMPROF_MAX_CLOCKS);
  counts.tracks = std::min<std::uint32_t>(header.track_count, DMPROF_MAX_TRACKS);
  counts.table_version = header.table_version;
  counts.untracked = header.untracked;
  return counts;
}

Result<std::vector<std::string>> ControlPage::names(std::uint32_t from, std::uint32_t to) const {
  to = std::min<std::uint32_t>(to, DMPROF_MAX_NAMES);
  std::vector<std::string> result;
  if (from >= to) return result;
  std::vector<dmprof_name_entry> entries(to - from);
  std::vector<char> heap(DMPROF_NAME_HEAP);
  DMPROF_TRY(read(entries.data(), entries.size() * sizeof entries[0],
                  offset_of_entry<dmprof_name_entry>(offsetof(dmprof_page, names), from)));
  DMPROF_TRY(read(heap.data(), heap.size(), offsetof(dmprof_page, heap)));
  result.reserve(entries.size());
  for (const dmprof_name_entry& entry : entries) {
    const bool inside = entry.length <= DMPROF_MAX_NAME_LENGTH && entry.offset <= DMPROF_NAME_HEAP &&
                        entry.length <= DMPROF_NAME_HEAP - entry.offset;
    result.push_back(inside ? clean_text(heap.data() + entry.offset, entry.length) : "?");
  }
  return result;
}

Result<std::vector<PageClock>> ControlPage::clocks(std::uint32_t count) const {
  std::vector<dmprof_clock_entry> entries(std::min<std::uint32_t>(count, DMPROF_MAX_CLOCKS));
  DMPROF_TRY(read(entries.data(), entries.size() * sizeof(dmprof_clock_entry), offsetof(dmprof_page, clocks)));
  std::vector<PageClock> result;
  for (const dmprof_clock_entry& entry : entries) result.push_back({entry.kind, text_of(entry.name)});
  return result;
}

Result<std::optional<PageKnob>> ControlPage::knob(std::uint32_t index) const {
  if (index >= DMPROF_MAX_KNOBS) return std::optional<PageKnob>();
  const std::size_t offset = offset_of_entry<dmprof_knob_entry>(offsetof(dmprof_page, knobs), index);
  dmprof_knob_entry entry{};
  std::uint32_t after = 0;
  DMPROF_TRY(read(&entry, sizeof entry, offset));
  DMPROF_TRY(read(&after, sizeof after, offset + offsetof(dmprof_knob_entry, sequence)));
  if (entry.sequence % 2 != 0 || entry.sequence != after) return std::optional<PageKnob>();
  return PageKnob{entry.since,          text_of(entry.name), text_of(entry.value),  text_of(entry.type),
                  text_of(entry.range), text_of(entry.how),  text_of(entry.handle), text_of(entry.unit)};
}

Result<std::optional<PageCapacity>> ControlPage::capacity(std::uint32_t index) const {
  if (index >= DMPROF_MAX_CAPACITIES) return std::optional<PageCapacity>();
  const std::size_t offset = offset_of_entry<dmprof_capacity_entry>(offsetof(dmprof_page, capacities), index);
  dmprof_capacity_entry entry{};
  std::uint32_t after = 0;
  DMPROF_TRY(read(&entry, sizeof entry, offset));
  DMPROF_TRY(read(&after, sizeof after, offset + offsetof(dmprof_capacity_entry, sequence)));
  if (entry.sequence % 2 != 0 || entry.sequence != after) return std::optional<PageCapacity>();
  // Not a number, negative or infinite: unknown.
  const auto figure = [](double value) { return value > 0 && value < 1e30 ? value : 0.0; };
  return PageCapacity{entry.rank,
                      entry.managed,
                      entry.units,
                      entry.size_bytes,
                      figure(entry.datasheet_bandwidth),
                      figure(entry.measured_bandwidth),
                      figure(entry.peak_flops),
                      text_of(entry.name),
                      text_of(entry.kind)};
}

Status ControlPage::tracks(std::uint32_t count, std::vector<dmprof_track_entry>& out) const {
  out.resize(std::min<std::uint32_t>(count, DMPROF_MAX_TRACKS));
  if (out.empty()) return {};
  return read(out.data(), out.size() * sizeof(dmprof_track_entry), offsetof(dmprof_page, tracks));
}

Status ControlPage::free_track(std::uint32_t index) const {
  if (index >= DMPROF_MAX_TRACKS) return {};
  const std::uint32_t state = DMPROF_TRACK_FREE;
  const std::size_t entry = offset_of_entry<dmprof_track_entry>(offsetof(dmprof_page, tracks), index);
  return write(&state, sizeof state, entry + offsetof(dmprof_track_entry, state));
}

Status ControlPage::lock() {
  if (::flock(fd_, LOCK_EX | LOCK_NB) == 0) return {};
  std::int64_t holder = 0;
  DMPROF_TRY(read(&holder, sizeof holder, offsetof(dmprof_page_header, collector_pid)));
  // A recorder that has just begun holds the lock before it has written its number.
  const std::string recorder = holder > 0 ? "process " + std::to_string(holder) : "another recorder that just began";
  return fail(ErrorKind::environment, "process " + std::to_string(identity_.pid) + " is already being recorded by " +
                                          recorder + ": stop that recording first");
}

std::uint32_t ControlPage::next_generation() const {
  std::uint32_t last = 0;
  (void)read(&last, sizeof last, offsetof(dmprof_page_header, last_generation));
  // 0 and all ones have meanings of their own.
  return last >= 0xfffffffeu ? 1u : last + 1;
}

Status ControlPage::announce(std::uint32_t generation, const std::string& arena_path, std::uint64_t arena_bytes) const {
  dmprof_page_header header{};
  if (arena_path.size() >= sizeof header.arena_path)
    return fail(ErrorKind::environment, "the arena's path is too long");
  header.last_generation = generation;
  header.collector_pid = ::getpid();
  header.collector_start_time = own_start_;
  header.arena_bytes = arena_bytes;
  std::memcpy(header.arena_path, arena_path.c_str(), arena_path.size() + 1);
  const std::size_t from = offsetof(dmprof_page_header, last_generation);
  const std::size_t to = offsetof(dmprof_page_header, arena_path) + sizeof header.arena_path;
  DMPROF_TRY(withdraw());
  DMPROF_TRY(write(reinterpret_cast<const char*>(&header) + from, to - from, from));
  return write(&generation, sizeof generation, offsetof(dmprof_page_header, active));
}

Status ControlPage::withdraw() const {
  const std::uint32_t nobody = 0;
  return write(&nobody, sizeof nobody, offsetof(dmprof_page_header, active));
}

}  // namespace dmprof::ring
