#include "dmprof/ring/arena.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstring>

namespace dmprof::ring {
namespace {

template <class T>
T load(const T& word, int order = __ATOMIC_ACQUIRE) {
  return __atomic_load_n(&word, order);
}

template <class T>
void store(T& word, T value, int order = __ATOMIC_RELEASE) {
  __atomic_store_n(&word, value, order);
}

std::string mebibytes(std::uint64_t bytes) { return std::to_string((bytes + (1u << 20) - 1) >> 20) + " MiB"; }

// What to change where the system refused memory that is shared.
const char* remedy(int error) {
  switch (error) {
    case EFBIG:
      return "; raise the limit on file size (ulimit -f)";
    case EMFILE:
      return "; raise the limit on open files (ulimit -n)";
    case ENFILE:
      return "; the system has too many open files: end other programs";
    case ENOSPC:
    case ENOMEM:
      return "; free memory, or raise its limit (ulimit -v, the container's memory)";
    case EPERM:
    case ENOSYS:
      return "; allow memfd_create (a sandbox or seccomp profile forbids it)";
    default:
      return "";
  }
}

}  // namespace

Result<std::unique_ptr<Arena>> Arena::make(std::uint64_t ring_slots, std::uint32_t rings, std::uint32_t generation,
                                           MemoryBudget& budget) {
  std::unique_ptr<Arena> arena(new Arena(budget));
  arena->slots_ = std::bit_ceil(std::clamp<std::uint64_t>(ring_slots, 64, 1u << 26));
  const std::uint64_t ring_bytes = arena->slots_ * sizeof(dmprof_slot);
  arena->count_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(budget.left() / ring_bytes, DMPROF_MAX_RINGS));
  if (arena->count_ == 0) {
    return fail(ErrorKind::environment, "no memory left for another ring of " + mebibytes(ring_bytes) +
                                            ": raise the total cap or make rings smaller");
  }
  arena->first_slot_ = (sizeof(dmprof_arena_header) + arena->count_ * sizeof(dmprof_ring_header) + 4095) & ~4095ull;
  arena->bytes_ = arena->first_slot_ + arena->count_ * ring_bytes;
  arena->state_.resize(arena->count_);
  arena->fd_ = ::memfd_create("dmprof-rings", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  int error = arena->fd_ < 0 || ::ftruncate(arena->fd_, static_cast<off_t>(arena->bytes_)) != 0 ? errno : 0;
  if (error == 0)
    error = ::posix_fallocate(arena->fd_, 0, static_cast<off_t>(arena->first_slot_));  // leaves errno alone
  if (error == 0 && ::fcntl(arena->fd_, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) error = errno;
  if (error != 0)
    return fail(ErrorKind::environment, "cannot make shared memory for the rings, " + mebibytes(arena->bytes_) +
                                            " at most: " + std::strerror(error) + remedy(error));
  void* memory = ::mmap(nullptr, arena->bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, arena->fd_, 0);
  if (memory == MAP_FAILED)
    return fail(ErrorKind::environment,
                "cannot map " + mebibytes(arena->bytes_) + " for the rings: " + std::strerror(errno) + remedy(errno));
  arena->memory_ = static_cast<char*>(memory);
  auto* header = reinterpret_cast<dmprof_arena_header*>(arena->memory_);
  header->magic = DMPROF_ARENA_MAGIC;
  header->version = DMPROF_WIRE_VERSION;
  header->generation = generation;
  header->ring_count = arena->count_;
  header->ring_slots = static_cast<std::uint32_t>(arena->slots_);
  arena->grow(std::max<std::uint32_t>(rings, 1));
  if (arena->ready_ == 0) {
    return fail(ErrorKind::environment,
                "this machine has no " + mebibytes(ring_bytes) + " of shared memory for a ring: make rings smaller");
  }
  return arena;
}

Arena::~Arena() {
  if (memory_ != nullptr) ::munmap(memory_, bytes_);
  if (fd_ >= 0) ::close(fd_);
  budget_.give(taken_);
}

std::string Arena::path() const { return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd_); }

dmprof_ring_header& Arena::header(std::uint32_t ring) const {
  return reinterpret_cast<dmprof_ring_header*>(memory_ + sizeof(dmprof_arena_header))[ring];
}

std::uint32_t Arena::free_rings() const {
  std::uint32_t count = 0;
  for (std::uint32_t ring = 0; ring < ready_; ++ring) count += load(header(ring).state) == DMPROF_RING_FREE;
  return count;
}

void Arena::grow(std::uint32_t count) {
  auto* arena = reinterpret_cast<dmprof_arena_header*>(memory_);
  const std::uint64_t ring_bytes = slots_ * sizeof(dmprof_slot);
  bool refused = false;
  for (; count != 0 && ready_ < count_ && !refused; --count) {
    refused = !budget_.take(ring_bytes);
    if (refused) break;
    // Memory first, announcement second: the engine never touches a page that might not come.
    const auto offset = static_cast<off_t>(first_slot_ + ready_ * ring_bytes);
    refused = ::posix_fallocate(fd_, offset, static_cast<off_t>(ring_bytes)) != 0;
    if (refused) {
      budget_.give(ring_bytes);
      break;
    }
    taken_ += ring_bytes;
    ++ready_;
    store(arena->rings_ready, ready_);
    __atomic_fetch_add(&arena->offers, 1, __ATOMIC_RELEASE);
  }
  if (refused || ready_ == count_) store(arena->exhausted, 1u);
}

std::uint64_t Arena::waiting(std::uint32_t ring) const {
  const State& state = state_[ring];
  if (state.damaged) return 0;
  const std::uint64_t count = load(header(ring).head) - state.tail;
  if (count > slots_) {
    state.damaged = true;
    return 0;
  }
  return count;
}

void Arena::copy(std::uint32_t ring, std::uint64_t limit, std::vector<dmprof_slot>& out) const {
  const auto* slots = reinterpret_cast<const dmprof_slot*>(memory_ + first_slot_) + ring * slots_;
  const std::uint64_t from = state_[ring].tail & (slots_ - 1);
  const std::uint64_t first = std::min(limit, slots_ - from);
  out.resize(limit);
  std::memcpy(out.data(), slots + from, first * sizeof(dmprof_slot));
  std::memcpy(out.data() + first, slots, (limit - first) * sizeof(dmprof_slot));
}

void Arena::consume(std::uint32_t ring, std::uint64_t slots) {
  dmprof_ring_header& shared = header(ring);
  state_[ring].tail += slots;
  __atomic_store_n(&shared.tail, state_[ring].tail, __ATOMIC_SEQ_CST);
  if (__atomic_exchange_n(&shared.waiting, 0, __ATOMIC_SEQ_CST) == 0) return;
  __atomic_fetch_add(&shared.wake, 1, __ATOMIC_SEQ_CST);
  ::syscall(SYS_futex, &shared.wake, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool Arena::ended(std::uint32_t ring) const { return load(header(ring).state) == DMPROF_RING_ENDED; }

void Arena::recycle(std::uint32_t ring) {
  if (state_[ring].damaged) return;
  store<std::uint32_t>(header(ring).state, DMPROF_RING_FREE);
  __atomic_fetch_add(&reinterpret_cast<dmprof_arena_header*>(memory_)->offers, 1, __ATOMIC_RELEASE);
}

}  // namespace dmprof::ring
