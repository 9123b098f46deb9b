// The private run directories in which engines publish their control pages: $XDG_RUNTIME_DIR/dmprof,
// /run/user/UID/dmprof and /tmp/dmprof-UID. A directory that is a link, belongs to somebody else, or lets others in is
// not looked into.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dmprof/base/error.h"
#include "dmprof/ring/page.h"

namespace dmprof::ring {

struct PageName {
  std::string directory;
  std::int64_t pid = 0;
  std::uint64_t inode = 0;  // tells a page from its successor
};

// Where an engine with this process's environment publishes itself: the first of these that is private or can be made.
std::vector<std::string> engine_directories();

// Every control page, living or stale, in the order above; at most one a process and directory. Cheap: names only.
std::vector<PageName> list_pages();

// Opens the page of one process. Errors as ControlPage::open; environment when its directory is not private.
Result<ControlPage> open_page(const PageName& name);

// Removes a page whose process has ended. A page that was replaced meanwhile is left alone.
void remove_stale(const ControlPage& page);

// Removes the unfinished pages of engines that were killed while they made them.
void remove_left_over();

}  // namespace dmprof::ring
