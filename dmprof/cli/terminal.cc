#include "dmprof/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdlib>

namespace dmprof::cli {

bool is_terminal(std::FILE* stream) {
  const char* term = std::getenv("TERM");
  return ::isatty(::fileno(stream)) == 1 && term != nullptr && term[0] != '\0' && std::string_view(term) != "dumb";
}

bool wants_colour(std::FILE* stream) {
  const char* no_colour = std::getenv("NO_COLOR");
  return (no_colour == nullptr || no_colour[0] == '\0') && is_terminal(stream);
}

ProgressLine::ProgressLine(std::FILE* stream, bool wanted) : stream_(stream), active_(wanted && is_terminal(stream)) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::show(std::string_view text) {
  if (!active_) return;
  winsize size{};
  const bool known = ::ioctl(::fileno(stream_), TIOCGWINSZ, &size) == 0 && size.ws_col > 1;
  const std::size_t width = known ? size.ws_col - 1u : 79u;
  if (text.size() > width) {
    std::size_t end = width;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // not inside a character
    text = text.substr(0, end);
  }
  std::fprintf(stream_, "\r\033[K%.*s", static_cast<int>(text.size()), text.data());
  std::fflush(stream_);
  shown_ = true;
}

void ProgressLine::clear() {
  if (!active_ || !shown_) return;
  std::fputs("\r\033[K", stream_);
  std::fflush(stream_);
  shown_ = false;
}

}  // namespace dmprof::cli
