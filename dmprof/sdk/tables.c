/* Names, clocks, knobs and capacities: tables of the control page that every new collector reads from the start. */
#define _GNU_SOURCE
#include <string.h>

#include "dmprof/sdk/state.h"

/* Open addressing over name ids; twice as many places as names, so a probe always ends. */
enum { BUCKETS = 2 * DMPROF_MAX_NAMES };
static uint16_t buckets[BUCKETS];

static uint32_t hash_of(const char* text, size_t length) {
  uint32_t hash = 2166136261u;
  for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)text[i]) * 16777619u;
  return hash;
}

uint32_t dmprof_name(const char* text) {
  dmprof_state* state = dmprof_state_get_();
  const size_t length = text == NULL ? 0 : strnlen(text, DMPROF_MAX_NAME_LENGTH);
  if (state == NULL || length == 0) return 0;
  pthread_mutex_lock(&state->lock);
  dmprof_page* page = state->page;
  uint32_t bucket = hash_of(text, length) % BUCKETS, id = 0;
  for (; buckets[bucket] != 0; bucket = (bucket + 1) % BUCKETS) {
    const dmprof_name_entry* entry = &page->names[buckets[bucket]];
    if (entry->length == length && memcmp(page->heap + entry->offset, text, length) == 0) {
      id = buckets[bucket];
      break;
    }
  }
  if (id == 0) {
    const uint32_t count = page->header.name_count; /* entry 0 is the empty name */
    const dmprof_name_entry last = page->names[count - 1];
    const uint32_t offset = last.offset + last.length;
    if (count < DMPROF_MAX_NAMES && length <= DMPROF_NAME_HEAP - offset) {
      memcpy(page->heap + offset, text, length);
      page->names[count].offset = offset;
      page->names[count].length = (uint32_t)length;
      buckets[bucket] = (uint16_t)count;
      __atomic_store_n(&page->header.name_count, count + 1, __ATOMIC_RELEASE);
      id = count;
    }
  }
  pthread_mutex_unlock(&state->lock);
  return id;
}

uint32_t dmprof_clock_register(const char* name, dmprof_clock_kind kind) {
  dmprof_state* state = dmprof_state_get_();
  if (state == NULL || kind == DMPROF_CLOCK_HOST) return 0;
  pthread_mutex_lock(&state->lock);
  const uint32_t id = state->page->header.clock_count;
  if (id < DMPROF_MAX_CLOCKS) {
    state->page->clocks[id].kind = (uint32_t)kind;
    dmprof_copy_text_(state->page->clocks[id].name, sizeof state->page->clocks[id].name, name);
    __atomic_store_n(&state->page->header.clock_count, id + 1, __ATOMIC_RELEASE);
  }
  pthread_mutex_unlock(&state->lock);
  return id < DMPROF_MAX_CLOCKS ? id : 0;
}

void dmprof_clock_set(uint32_t clock, uint64_t nanoseconds) {
  dmprof_state* state = dmprof_state_get_();
  if (state == NULL || clock == 0 || clock >= DMPROF_MAX_CLOCKS) return;
  __atomic_store_n(&state->clock_now[clock], nanoseconds, __ATOMIC_RELAXED);
}

/* An odd sequence tells the collector to come back: the entry is being written. */
static void open_entry(uint32_t* sequence) {
  __atomic_store_n(sequence, *sequence + 1, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static void close_entry(dmprof_state* state, uint32_t* sequence) {
  __atomic_store_n(sequence, *sequence + 1, __ATOMIC_RELEASE);
  __atomic_fetch_add(&state->page->header.table_version, 1, __ATOMIC_RELEASE);
}

static uint64_t host_now(const dmprof_state* state) {
  const dmprof_track probe = {.monotonic = state->monotonic};
  return dmprof_now(&probe);
}

uint32_t dmprof_knob_register(const dmprof_knob* knob) {
  dmprof_state* state = dmprof_state_get_();
  if (state == NULL || knob == NULL || knob->name == NULL || knob->name[0] == 0) return 0;
  pthread_mutex_lock(&state->lock);
  dmprof_page* page = state->page;
  char name[sizeof page->knobs[0].name];
  dmprof_copy_text_(name, sizeof name, knob->name);
  const uint32_t count = page->header.knob_count;
  uint32_t index = 0;
  while (index < count && strcmp(page->knobs[index].name, name) != 0) index++;
  if (index < DMPROF_MAX_KNOBS) {
    dmprof_knob_entry* entry = &page->knobs[index];
    open_entry(&entry->sequence);
    memcpy(entry->name, name, sizeof name);
    char value[sizeof entry->value];
    dmprof_copy_text_(value, sizeof value, knob->value);
    if (index < count && memcmp(value, entry->value, sizeof value) != 0) entry->since = host_now(state);
    memcpy(entry->value, value, sizeof value);
    dmprof_copy_text_(entry->type, sizeof entry->type, knob->type);
    dmprof_copy_text_(entry->range, sizeof entry->range, knob->range);
    dmprof_copy_text_(entry->how, sizeof entry->how, knob->how);
    dmprof_copy_text_(entry->handle, sizeof entry->handle, knob->handle);
    dmprof_copy_text_(entry->unit, sizeof entry->unit, knob->unit);
    if (index == count) __atomic_store_n(&page->header.knob_count, count + 1, __ATOMIC_RELEASE);
    close_entry(state, &entry->sequence);
  }
  pthread_mutex_unlock(&state->lock);
  return index < DMPROF_MAX_KNOBS ? index + 1 : 0;
}

void dmprof_knob_set(uint32_t knob, const char* value) {
  dmprof_state* state = dmprof_state_get_();
  if (state == NULL) return;
  pthread_mutex_lock(&state->lock);
  if (knob != 0 && knob <= state->page->header.knob_count) {
    dmprof_knob_entry* entry = &state->page->knobs[knob - 1];
    open_entry(&entry->sequence);
    entry->since = host_now(state);
    dmprof_copy_text_(entry->value, sizeof entry->value, value);
    close_entry(state, &entry->sequence);
  }
  pthread_mutex_unlock(&state->lock);
}

uint32_t dmprof_capacity(const dmprof_capacity_info* capacity) {
  dmprof_state* state = dmprof_state_get_();
  if (state == NULL || capacity == NULL || capacity->name == NULL || capacity->name[0] == 0) return 0;
  pthread_mutex_lock(&state->lock);
  dmprof_page* page = state->page;
  char name[sizeof page->capacities[0].name];
  dmprof_copy_text_(name, sizeof name, capacity->name);
  const uint32_t count = page->header.capacity_count;
  uint32_t index = 0;
  while (index < count && strcmp(page->capacities[index].name, name) != 0) index++;
  if (index < DMPROF_MAX_CAPACITIES) {
    dmprof_capacity_entry* entry = &page->capacities[index];
    open_entry(&entry->sequence);
    memcpy(entry->name, name, sizeof name);
    dmprof_copy_text_(entry->kind, sizeof entry->kind, capacity->kind);
    entry->rank = capacity->rank;
    entry->managed = capacity->managed;
    entry->units = capacity->units;
    entry->size_bytes = capacity->size_bytes;
    entry->datasheet_bandwidth = capacity->datasheet_bandwidth;
    entry->measured_bandwidth = capacity->measured_bandwidth;
    entry->peak_flops = capacity->peak_flops;
    if (index == count) __atomic_store_n(&page->header.capacity_count, count + 1, __ATOMIC_RELEASE);
    close_entry(state, &entry->sequence);
  }
  pthread_mutex_unlock(&state->lock);
  return index < DMPROF_MAX_CAPACITIES ? index + 1 : 0;
}
