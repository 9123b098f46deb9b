#include <gtest/gtest.h>

#include "samples/simcard/node/parameter_servers.h"
#include "samples/simcard/node/pool.h"

namespace dmprof::simcard {
namespace {

constexpr ErasureCode rs{6, 3, 0};
constexpr ErasureCode lrc{6, 2, 2};

ServerReads reads(std::int64_t down) {
  ServerReads r;
  r.rate = 200;
  r.down = down;
  r.link = {5e9, 2e-6, 0};
  return r;
}

TEST(ParameterServers, HealthyReadsCostOneFragment) {
  const ReadResult result = simulate_reads(rs, reads(0), 1);
  EXPECT_DOUBLE_EQ(result.amplification, 1);
  EXPECT_DOUBLE_EQ(result.bytes, 20000 * 4e6);
  EXPECT_NEAR(result.mean, 4e6 / 5e9 + 2e-6, 4e-5);
}

TEST(ParameterServers, ALostServerCostsKReadsOrKOverL) {
  // A sixth of the reads goes to the lost server: 5/6 + k/6 for RS, 5/6 + (k/l)/6 for LRC.
  EXPECT_NEAR(simulate_reads(rs, reads(1), 1).amplification, 5.0 / 6 + 6.0 / 6, 0.03);
  EXPECT_NEAR(simulate_reads(lrc, reads(1), 1).amplification, 5.0 / 6 + 3.0 / 6, 0.03);
  EXPECT_GT(simulate_reads(rs, reads(1), 1).p99, simulate_reads(lrc, reads(1), 1).p99);
  EXPECT_EQ(rs.repair_reads(), 6);
  EXPECT_EQ(lrc.repair_reads(), 3);
}

TEST(ParameterServers, MoreThanTheirLinksCarryIsAnOverload) {
  ServerReads r = reads(0);
  r.rate = 20000;
  EXPECT_TRUE(simulate_reads(rs, r, 1).overloaded);
  EXPECT_FALSE(simulate_reads(rs, reads(0), 1).overloaded);
}

TEST(Pool, BandwidthIsBoundedByLinkTimesCompressionAndByUnpacking) {
  Pool pool{4, {10e9, 0, 0}, 2, 0};
  EXPECT_DOUBLE_EQ(pool_bandwidth(pool), 80e9);
  pool.decompression = 15e9;
  EXPECT_DOUBLE_EQ(pool_bandwidth(pool), 60e9);
}

TEST(Pool, CorrectPredictionsHideTheReadAndWrongOnesCostBandwidth) {
  const Pool pool{8, {25e9, 1e-6, 0}, 1, 0};
  PoolLoad load;
  load.rate = 20000;
  const PoolResult plain = simulate_pool(pool, load, 1);
  EXPECT_EQ(plain.on_time, 0);
  EXPECT_DOUBLE_EQ(plain.moved_bytes, plain.asked_bytes);
  EXPECT_GT(plain.mean_wait, load.block_bytes / 25e9);
  load.accuracy = 0.9;
  load.lead = 1e-3;
  const PoolResult predicted = simulate_pool(pool, load, 1);
  EXPECT_NEAR(predicted.on_time, 0.9, 0.01);
  EXPECT_LT(predicted.mean_wait, plain.mean_wait / 5);
  EXPECT_NEAR(predicted.moved_bytes / predicted.asked_bytes, 1.1, 0.01);
  load.lead = 1e-6;  // too late to help much
  EXPECT_LT(simulate_pool(pool, load, 1).on_time, 0.1);
}

}  // namespace
}  // namespace dmprof::simcard
