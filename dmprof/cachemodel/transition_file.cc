// The text form of a TransitionMatrix, see FORMAT.md.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <istream>
#include <iterator>
#include <ostream>
#include <sstream>
#include <string_view>

#include "dmprof/base/output.h"
#include "dmprof/cachemodel/transition.h"

namespace dmprof::cachemodel {
namespace {

constexpr std::string_view kMagic = "dmprof-transitions";
constexpr unsigned kVersion = 1;
constexpr std::size_t kLongestLine = 256;

// Takes the next space-separated word off `line`.
std::string_view take_word(std::string_view& line) {
  const std::size_t end = std::min(line.find(' '), line.size());
  const std::string_view word = line.substr(0, end);
  line.remove_prefix(std::min(end + 1, line.size()));
  return word;
}

template <class Number>
bool to_number(std::string_view word, Number& number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
  return error == std::errc() && end == word.data() + word.size() && !word.empty();
}

// Reads one line of bounded length, without its newline; false at the end of the input or where the line is too long.
bool read_line(std::istream& in, std::string& line) {
  line.clear();
  for (int c = in.get(); c != std::istream::traits_type::eof(); c = in.get()) {
    if (c == '\n') return true;
    if (line.size() >= kLongestLine) return false;
    line.push_back(static_cast<char>(c));
  }
  return !line.empty();
}

}  // namespace

void TransitionMatrix::write(std::ostream& out) const {
  out << fmt::format("{} {} {}\n", kMagic, kVersion, options_.order);
  // Oldest row first: a reader with fewer rows than the file would forget the same rows as this matrix.
  for (const Position& context : by_age_) {
    const std::string before = context.before ? fmt::format("{}", *context.before) : "-";
    for (const Successor& each : rows_.at(context).successors) {
      out << fmt::format("{} {} {} {}\n", before, context.current, each.block, each.count);
    }
  }
  out << "end\n";
}

Status TransitionMatrix::save(const std::string& path) const {
  std::ostringstream text;
  write(text);
  return save_text(path, text.str());
}

Status TransitionMatrix::save_text(const std::string& path, const std::string& text) {
  auto output = Output::open(path);
  if (!output) return tl::unexpected(output.error());
  DMPROF_TRY((*output)->claim(
      "a transition matrix", [](std::string_view start) { return start.starts_with(kMagic); }, "remove it"));
  (*output)->write(text);
  return (*output)->close();
}

Status TransitionMatrix::add_parsed(const std::string& text) {
  const auto damaged = [](std::string_view what) { return fail(ErrorKind::bad_input, std::string(what)); };
  std::string_view line = text;
  const std::string_view before_word = take_word(line);
  Position context;
  BlockId next = 0;
  std::uint32_t count = 0;
  if (before_word != "-") {
    BlockId before = 0;
    if (!to_number(before_word, before)) return damaged("the first word is neither a block nor '-'");
    if (options_.order != 2) return damaged("a row with two blocks of context in a matrix of order 1");
    context.before = before;
  }
  if (!to_number(take_word(line), context.current) || !to_number(take_word(line), next) ||
      !to_number(take_word(line), count) || !line.empty()) {
    return damaged("not of the form 'BEFORE CURRENT NEXT COUNT'");
  }
  if (count == 0 || count >= options_.decay_at)
    return damaged(fmt::format("a count must be 1 to {}", options_.decay_at - 1));
  if (!rows_.contains(context) && rows_.size() >= options_.max_rows)
    return damaged(fmt::format("more than {} rows", options_.max_rows));
  Row& row = touch_row(context);
  if (row.successors.size() >= options_.max_successors)
    return damaged(fmt::format("more than {} successors in a row", options_.max_successors));
  if (std::any_of(row.successors.begin(), row.successors.end(),
                  [&](const Successor& each) { return each.block == next; })) {
    return damaged("a successor stands twice in its row");
  }
  if (count >= options_.decay_at - row.total)
    return damaged(fmt::format("the counts of a row add up to {} or more", options_.decay_at));
  row.successors.push_back({next, count});
  row.total += count;
  std::sort(row.successors.begin(), row.successors.end(), [](const Successor& a, const Successor& b) {
    return a.count != b.count ? a.count > b.count : a.block < b.block;
  });
  return {};
}

Result<TransitionMatrix> TransitionMatrix::parse(std::istream& in, const std::string& name, TransitionOptions options) {
  TransitionMatrix matrix(options);
  const auto refuse = [&](std::size_t number, std::string_view what) {
    return fail(ErrorKind::bad_input,
                fmt::format("{}:{}: {}; delete the file and let the engine learn again", name, number, what));
  };
  std::string line;
  if (!read_line(in, line)) return refuse(1, "not a transition matrix");
  std::string_view header = line;
  unsigned version = 0;
  unsigned order = 0;
  if (take_word(header) != kMagic || !to_number(take_word(header), version))
    return refuse(1, "not a transition matrix");
  if (version != kVersion)
    return refuse(1, fmt::format("version {} is not known, this program reads {}", version, kVersion));
  if (!to_number(take_word(header), order) || !header.empty()) return refuse(1, "damaged header");
  if (order != matrix.options_.order) {
    return refuse(1, fmt::format("learned with order {}, this run uses {}", order, matrix.options_.order));
  }
  for (std::size_t number = 2;; ++number) {
    if (!read_line(in, line)) return refuse(number, "cut short or damaged: no 'end' line");
    if (line == "end") return matrix;
    const Status added = matrix.add_parsed(line);
    if (!added) return refuse(number, added.error().message);
  }
}

Result<TransitionMatrix> TransitionMatrix::load(const std::string& path, TransitionOptions options) {
  std::ifstream in(path, std::ios::binary);
  // A directory opens but cannot be read; peek tells.
  if (!in || (in.peek() == std::ifstream::traits_type::eof() && in.bad())) {
    return fail(ErrorKind::environment, fmt::format("{}: cannot be read; name a file saved by this engine", path));
  }
  return parse(in, path, options);
}

}  // namespace dmprof::cachemodel
