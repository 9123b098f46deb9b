#include "samples/engine/streaming/buffer_pool.h"

#include <gtest/gtest.h>

namespace dmengine {
namespace {

TEST(BufferPool, gives_page_aligned_buffers) {
  BufferPool pool(1 << 20);
  const Buffer buffer = pool.take(8192);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.bytes.get()) % 4096, 0u);
  EXPECT_EQ(pool.in_use(), 8192u);
}

TEST(BufferPool, uses_a_buffer_of_the_same_size_again) {
  BufferPool pool(1 << 20);
  Buffer buffer = pool.take(8192);
  const std::byte* address = buffer.bytes.get();
  pool.give_back(std::move(buffer));
  EXPECT_EQ(pool.kept(), 8192u);
  EXPECT_EQ(pool.take(8192).bytes.get(), address);
}

TEST(BufferPool, never_takes_more_than_its_limit) {
  BufferPool pool(5 * 4096);
  for (const std::uint64_t size : {4096u, 8192u, 12288u, 4096u, 20480u}) {
    Buffer one = pool.take(size);
    ASSERT_TRUE(one.bytes);
    EXPECT_LE(pool.in_use() + pool.kept(), 5u * 4096);
    pool.give_back(std::move(one));
    EXPECT_LE(pool.in_use() + pool.kept(), 5u * 4096);
  }
}

TEST(BufferPool, a_smaller_limit_returns_kept_memory) {
  BufferPool pool(1 << 20);
  pool.give_back(pool.take(65536));
  pool.set_limit(4096);
  EXPECT_EQ(pool.kept(), 0u);
}

TEST(BufferPool, refuses_what_would_pass_its_limit) {
  BufferPool pool(3 * 4096);
  const Buffer held = pool.take(8192);
  EXPECT_FALSE(pool.take(8192).bytes);
  EXPECT_FALSE(pool.take(UINT64_MAX - 4095).bytes);
  EXPECT_TRUE(pool.take(4096).bytes);
}

}  // namespace
}  // namespace dmengine
