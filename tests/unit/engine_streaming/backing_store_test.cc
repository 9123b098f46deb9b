#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/vfs.h>

#include "tests/unit/engine_streaming/fixtures.h"

namespace dmengine {
namespace {

using testing::HasSubstr;

struct alignas(4096) Page {
  std::byte bytes[4096];
};

// Reads an extent and compares it with the file's bytes.
void expect_reads(BackingStore& store, const Model& model, Extent extent) {
  const std::uint64_t size = store.buffer_bytes(extent);
  ASSERT_EQ(size % kBufferAlignment, 0u);
  std::vector<Page> buffer(size / sizeof(Page));
  const auto read = store.read(extent, buffer[0].bytes);
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_LE(read->offset + extent.bytes, size);
  EXPECT_GE(read->moved, extent.bytes);
  EXPECT_TRUE(std::equal(buffer[0].bytes + read->offset, buffer[0].bytes + read->offset + extent.bytes,
                         model.bytes.begin() + static_cast<std::ptrdiff_t>(extent.offset)));
}

constexpr Extent kExtents[] = {{0, 1}, {0, 4096}, {1, 4096}, {4095, 2}, {100, 20000}, {8192, 8192}, {30000, 10001}};

TEST(FileBacking, reads_any_extent_the_tail_of_the_file_included) {
  const Model model("extents", {38767});  // 40,001 bytes: the last page holds 3,137
  ASSERT_EQ(model.bytes.size(), 40001u);
  auto store = open_file_backing(model.path, model.bytes.size());
  ASSERT_TRUE(store) << store.error().message;
  for (const Extent extent : kExtents) expect_reads(**store, model, extent);
}

TEST(FileBacking, reads_a_file_smaller_than_a_page) {
  const Model model("small", {50}, 50);
  auto store = open_file_backing(model.path, 100);
  ASSERT_TRUE(store);
  expect_reads(**store, model, {50, 50});
}

TEST(FileBacking, says_when_the_file_system_refuses_direct_reads) {
  struct statfs system {};
  constexpr long kTmpfs = 0x01021994;
  if (::statfs("/dev/shm", &system) != 0 || system.f_type != kTmpfs) GTEST_SKIP() << "no tmpfs at /dev/shm";
  const std::string path = "/dev/shm/dmstream_" + std::to_string(::getpid());
  const Model model("direct", {38767});
  std::filesystem::copy_file(model.path, path);
  auto store = open_file_backing(path, model.bytes.size());
  std::filesystem::remove(path);
  ASSERT_TRUE(store);
  for (const Extent extent : kExtents) expect_reads(**store, model, extent);
  // Newer kernels accept O_DIRECT on tmpfs; either answer must be one that describe() knows.
  EXPECT_THAT((*store)->describe(), testing::AnyOf(HasSubstr("refuses O_DIRECT"), "file, O_DIRECT"));
}

TEST(FileBacking, an_extent_beyond_the_end_is_an_error) {
  const Model model("beyond", {10000});
  auto store = open_file_backing(model.path, model.bytes.size());
  ASSERT_TRUE(store);
  for (const Extent extent : {Extent{11000, 1000}, Extent{20480, 10}}) {
    std::vector<Page> buffer((*store)->buffer_bytes(extent) / sizeof(Page));
    const auto read = (*store)->read(extent, buffer[0].bytes);
    ASSERT_FALSE(read);
    EXPECT_THAT(read.error().message, HasSubstr("shorter"));
  }
}

TEST(FileBacking, refuses_what_is_not_the_file_that_was_read) {
  const Model model("other", {10000});
  EXPECT_FALSE(open_file_backing(model.path, 77));
  EXPECT_FALSE(open_file_backing(testing::TempDir(), 77));
  const auto missing = open_file_backing("/nonexistent/model.gguf", 77);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, dmprof::ErrorKind::environment);
  EXPECT_THAT(missing.error().message, HasSubstr("/nonexistent/model.gguf"));
}

TEST(MemoryBacking, reads_any_extent) {
  const Model model("memory", {38767});
  auto store = open_memory_backing(model.path, model.bytes.size());
  ASSERT_TRUE(store);
  for (const Extent extent : kExtents) expect_reads(**store, model, extent);
  std::vector<Page> buffer(2);
  EXPECT_FALSE((*store)->read({40000, 2}, buffer[0].bytes));
  EXPECT_FALSE((*store)->read({UINT64_MAX, 1}, buffer[0].bytes));
}

TEST(MemoryBacking, refuses_a_file_of_another_size) {
  const Model model("memory_size", {10000});
  EXPECT_FALSE(open_memory_backing(model.path, model.bytes.size() + 1));
  EXPECT_FALSE(open_memory_backing(model.path, model.bytes.size() - 1));
  EXPECT_FALSE(open_memory_backing("/nonexistent/model.gguf", 10));
}

}  // namespace
}  // namespace dmengine
