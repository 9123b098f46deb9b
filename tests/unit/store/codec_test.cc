#include "dmprof/store/codec.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>

namespace dmprof::store {
namespace {

std::vector<std::uint64_t> encode_and_decode(Coding coding, const std::vector<std::uint64_t>& values,
                                             std::size_t* bytes = nullptr) {
  ColumnEncoder encoder(coding);
  encoder.append(values);
  if (bytes != nullptr) *bytes = encoder.bytes().size();
  std::vector<std::uint64_t> decoded(values.size());
  const Status done = decode_column<std::uint64_t>(
      encoder.codec(), encoder.constant(),
      encoder.codec() == Codec::constant ? std::span<const std::uint8_t>() : encoder.bytes().bytes(), ~0ULL, decoded);
  EXPECT_TRUE(done) << (done ? "" : done.error().message);
  return decoded;
}

TEST(Varint, keeps_every_length_and_its_neighbours) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (const std::uint64_t value : {(1ULL << bit) - 1, 1ULL << bit, (1ULL << bit) + 1}) {
      std::uint8_t bytes[max_varint_bytes + 8] = {};
      std::uint8_t* end = put_varint(bytes, value);
      std::uint64_t read = 0;
      EXPECT_EQ(get_varint(bytes, end, read), end) << value;
      EXPECT_EQ(read, value);
      // The same bytes with more behind them take the fast way.
      read = 0;
      EXPECT_EQ(get_varint(bytes, bytes + sizeof bytes, read), end) << value;
      EXPECT_EQ(read, value);
      // And one byte short is noticed.
      EXPECT_EQ(get_varint(bytes, end - 1, read), nullptr) << value;
    }
  }
}

TEST(Varint, refuses_what_does_not_fit_64_bits) {
  const std::uint8_t too_long[12] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01};
  const std::uint8_t too_large[10] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x02};
  std::uint64_t read = 0;
  EXPECT_EQ(get_varint(too_long, too_long + 12, read), nullptr);
  EXPECT_EQ(get_varint(too_large, too_large + 10, read), nullptr);
}

TEST(Column, returns_every_bit_for_every_coding) {
  std::mt19937_64 random(7);
  for (const Coding coding : {Coding::plain, Coding::delta, Coding::real}) {
    std::vector<std::uint64_t> values = {0, ~0ULL, 1ULL << 63, 1, 0};
    for (int i = 0; i < 5000; ++i) values.push_back(random() >> (random() % 64));
    EXPECT_EQ(encode_and_decode(coding, values), values);
  }
}

TEST(Column, keeps_the_payload_of_a_nan_and_the_sign_of_zero) {
  const std::vector<double> reals = {0.0, -0.0,   std::numeric_limits<double>::infinity(),
                                     1.5, 1e-310, std::bit_cast<double>(0x7FF8'0000'DEAD'BEEFULL)};
  std::vector<std::uint64_t> bits;
  for (const double real : reals) bits.push_back(to_bits(real));
  EXPECT_EQ(encode_and_decode(Coding::real, bits), bits);
}

TEST(Column, takes_no_bytes_for_a_constant) {
  ColumnEncoder encoder(Coding::plain);
  const std::vector<std::uint64_t> values(1000, 77);
  encoder.append(values);
  encoder.append(values);
  EXPECT_EQ(encoder.codec(), Codec::constant);
  EXPECT_EQ(encoder.constant(), 77U);
  const std::uint64_t other[] = {78};
  encoder.append(other);
  EXPECT_EQ(encoder.codec(), Codec::plain);
}

TEST(Column, that_varies_late_keeps_the_rows_that_were_equal) {
  for (const Coding coding : {Coding::plain, Coding::delta, Coding::real}) {
    ColumnEncoder encoder(coding);
    std::vector<std::uint64_t> values(900, 12345);
    encoder.append(std::span(values).first(500));
    values[899] = 7;
    encoder.append(std::span(values).subspan(500));
    ASSERT_NE(encoder.codec(), Codec::constant);
    std::vector<std::uint64_t> decoded(values.size());
    ASSERT_TRUE(decode_column<std::uint64_t>(encoder.codec(), 0, encoder.bytes().bytes(), ~0ULL, decoded));
    EXPECT_EQ(decoded, values);
    // The next chunk of the same column starts from nothing.
    encoder.restart(encoder.take_bytes());
    encoder.append(std::span(values).last(1));
    EXPECT_EQ(encoder.codec(), Codec::constant);
    EXPECT_EQ(encoder.constant(), 7U);
  }
}

TEST(Column, takes_one_byte_for_a_small_step_in_time) {
  std::vector<std::uint64_t> times;
  for (std::uint64_t i = 0; i < 1000; ++i) times.push_back(1'700'000'000'000'000'000 + i * 50 + i % 3);
  std::size_t bytes = 0;
  EXPECT_EQ(encode_and_decode(Coding::delta, times, &bytes), times);
  EXPECT_LE(bytes, 1010U);
}

TEST(Column, refuses_too_few_too_many_and_too_large_values) {
  ColumnEncoder encoder(Coding::plain);
  const std::uint64_t values[] = {1, 2, 300};
  encoder.append(values);
  const auto bytes = encoder.bytes().bytes();
  std::uint64_t out[4];
  EXPECT_TRUE(decode_column<std::uint64_t>(Codec::plain, 0, bytes, 300, std::span(out, 3)));
  EXPECT_FALSE(decode_column<std::uint64_t>(Codec::plain, 0, bytes, 300, std::span(out, 4)));
  EXPECT_FALSE(decode_column<std::uint64_t>(Codec::plain, 0, bytes, 300, std::span(out, 2)));
  EXPECT_FALSE(decode_column<std::uint64_t>(Codec::plain, 0, bytes, 299, std::span(out, 3)));
  EXPECT_FALSE(decode_column<std::uint64_t>(Codec::constant, 9, {}, 8, std::span(out, 3)));
}

TEST(Directory, reads_back_and_fills_columns_it_does_not_have) {
  const std::vector<ColumnEntry> written = {{Codec::constant, ~0ULL, 0}, {Codec::delta, 0, 12}, {Codec::real, 0, 90}};
  std::vector<std::uint8_t> bytes;
  put_directory(written, bytes);
  const auto read = get_directory(bytes, 10, 5);
  ASSERT_TRUE(read);
  EXPECT_EQ((*read)[0].constant, ~0ULL);
  EXPECT_EQ((*read)[1].raw_bytes, 12U);
  EXPECT_EQ((*read)[2].codec, Codec::real);
  EXPECT_EQ((*read)[4].codec, Codec::constant);
  EXPECT_EQ((*read)[4].constant, 0U);
}

TEST(Directory, refuses_lengths_and_counts_that_cannot_be) {
  std::vector<std::uint8_t> bytes;
  put_directory({{Codec::plain, 0, 12}}, bytes);
  EXPECT_TRUE(get_directory(bytes, 10, 1));
  EXPECT_FALSE(get_directory(bytes, 13, 1)) << "fewer bytes than rows";
  EXPECT_FALSE(get_directory(bytes, 1, 1)) << "more bytes than rows can take";
  EXPECT_FALSE(get_directory(bytes, 0, 1));
  EXPECT_FALSE(get_directory(bytes, max_chunk_rows + 1, 1));
  EXPECT_FALSE(get_directory(bytes, 10, 0)) << "more columns than known";
  const std::uint8_t unknown[] = {9, 12};
  EXPECT_FALSE(get_directory(unknown, 10, 1));
  const std::uint8_t cut[] = {1};
  EXPECT_FALSE(get_directory(cut, 10, 1));
}

}  // namespace
}  // namespace dmprof::store
