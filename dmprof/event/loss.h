// The causes of lost events that this program knows, as they are stored in Loss::cause. A cause is data: an importer
// may add its own word, and every word is counted and shown.
#pragma once

#include <string_view>

namespace dmprof::loss {

inline constexpr std::string_view ring_full = "ring_full";              // the recorder was too slow for the ring
inline constexpr std::string_view no_ring_memory = "no_ring_memory";    // the thread could not get a ring
inline constexpr std::string_view decode_error = "decode_error";        // records that made no sense
inline constexpr std::string_view recorder_killed = "recorder_killed";  // the recorder died before they were committed
inline constexpr std::string_view store_failed = "store_failed";        // the disk was full or the store refused them

}  // namespace dmprof::loss
