#include "dmprof/base/exit_status.h"

#include <gtest/gtest.h>

namespace dmprof {
namespace {

TEST(ExitStatus, EveryKindOfErrorHasTheStatusOfTheContract) {
  EXPECT_EQ(static_cast<int>(status_of(ErrorKind::usage)), 2);
  EXPECT_EQ(static_cast<int>(status_of(ErrorKind::cannot_answer)), 3);
  EXPECT_EQ(static_cast<int>(status_of(ErrorKind::bad_input)), 4);
  EXPECT_EQ(static_cast<int>(status_of(ErrorKind::environment)), 6);
}

TEST(ExitStatus, AReportIsOneLineWithTheProgramsName) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(report_error("dm-x", {ErrorKind::bad_input, "a.yaml:3: lost; find it"}), 4);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "dm-x: a.yaml:3: lost; find it\n");
}

TEST(WriteAll, AFullDeviceIsAnErrorOfTheEnvironment) {
  std::FILE* full = std::fopen("/dev/full", "w");
  if (full == nullptr) GTEST_SKIP() << "no /dev/full here";
  const Status written = write_all(full, std::string(1 << 20, 'x'));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::environment);
  std::fclose(full);
}

}  // namespace
}  // namespace dmprof
