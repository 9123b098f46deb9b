// Recordings that a twin cannot be fitted to: each is refused with what it lacks, none crashes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "samples/simcard/fit/fit.h"
#include "tests/unit/simcard_fit/engine_recording.h"

namespace dmprof::twin {
namespace {

using test::EngineRecording;
using test::sound_recording;
using testing::HasSubstr;

Error refused(const std::vector<NamedRecording>& recordings) {
  const auto result = fit(recordings);
  EXPECT_FALSE(result.has_value());
  return result ? Error() : result.error();
}

struct Case {
  const char* name;
  std::function<void(EngineRecording&)> spoil;
  const char* message;
};

class Refusal : public testing::TestWithParam<Case> {};

TEST_P(Refusal, SaysWhichFileAndWhatItLacks) {
  EngineRecording recording = sound_recording();
  GetParam().spoil(recording);
  const Error error = refused({recording.take("bad.dmprof")});
  EXPECT_EQ(error.kind, ErrorKind::cannot_answer);
  EXPECT_THAT(error.message, HasSubstr("bad.dmprof"));
  EXPECT_THAT(error.message, HasSubstr(GetParam().message));
  EXPECT_EQ(error.message.find('\n'), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    All, Refusal,
    testing::Values(
        Case{"Empty", [](EngineRecording& r) { r.raw() = Recording(); }, "no steps"},
        Case{"WithoutSpeculation", [](EngineRecording& r) { r.raw().speculation.clear(); }, "no step carries a draft"},
        Case{"SpeculationOff",
             [](EngineRecording& r) {
               for (auto& row : r.raw().speculation) row.drafted = row.verified = row.accepted = 0;
             },
             "no step carries a draft"},
        Case{"WithoutAccesses", [](EngineRecording& r) { r.raw().accesses.clear(); }, "no block accesses"},
        Case{"WithoutKernels", [](EngineRecording& r) { r.raw().kernels.clear(); }, "no kernels"},
        Case{"WithoutTransfers", [](EngineRecording& r) { r.raw().transfers.clear(); }, "no transfers"},
        Case{"WithLosses",
             [](EngineRecording& r) {
               r.raw().losses.push_back({1, "ring_full", 3});
             },
             "3 events were lost"},
        Case{"OfAnotherEngine", [](EngineRecording& r) { r.raw().knobs.clear(); }, "no recording of dm-engine"},
        Case{"WithoutADraftKnob", [](EngineRecording& r) { r.without_knob("draft"); }, "no recording of dm-engine"},
        Case{"WithAKnobOfNonsense", [](EngineRecording& r) { r.knob("batch", "-1"); }, "batch"},
        Case{"WithAKnobTooLarge", [](EngineRecording& r) { r.knob("resident", "99999999999999999999"); }, "resident"},
        Case{"OfLookedUpDrafts", [](EngineRecording& r) { r.knob("draft", "ngram"); }, "not modelled"},
        Case{"OfForeignKernels",
             [](EngineRecording& r) {
               for (auto& [id, name] : r.raw().names) name = "gemm";
             },
             "no kernel is named embed"},
        Case{"WithoutRequests", [](EngineRecording& r) { r.raw().requests.clear(); }, "every request"},
        Case{"WithoutARequestsEnd", [](EngineRecording& r) { r.raw().requests.pop_back(); }, "request 2"},
        Case{"WithARequestOfEndlessTokens", [](EngineRecording& r) { r.raw().requests.back().tokens = 1ULL << 60; },
             "request 2"},
        Case{"WithASparseRequestId", [](EngineRecording& r) { r.raw().requests.back().request = 1ULL << 60; },
             "every request"},
        Case{"OfAModelThatIsNotDense", [](EngineRecording& r) { r.raw().accesses.back().block = 1; }, "dense models"}),
    [](const auto& each) { return each.param.name; });

TEST(Refusal, NothingToFit) { EXPECT_EQ(refused({}).kind, ErrorKind::usage); }

TEST(Refusal, ADamagedLinkKnob) {
  EngineRecording recording = sound_recording();
  recording.knob("backing", "throttle:fast");
  EXPECT_EQ(refused({recording.take()}).kind, ErrorKind::bad_input);
}

TEST(Refusal, RecordingsThatDoNotBelongTogether) {
  const auto differing = [](const std::function<void(EngineRecording&)>& change) {
    EngineRecording other = sound_recording();
    change(other);
    return refused({sound_recording().take("a"), other.take("b")});
  };
  const Error threads = differing([](auto& r) { r.knob("threads", "3"); });
  EXPECT_EQ(threads.kind, ErrorKind::usage);
  EXPECT_THAT(threads.message, HasSubstr("threads"));
  EXPECT_THAT(differing([](auto& r) { r.knob("temperature", "1"); }).message, HasSubstr("temperature"));
  EXPECT_THAT(differing([](auto& r) { r.knob("backing", "throttle:2GB/s"); }).message, HasSubstr("different links"));
  EXPECT_THAT(differing([](auto& r) { r.run_request(5, "?1"); }).message, HasSubstr("number of requests"));
  EngineRecording shorter;
  shorter.run_request(10, "?1101110111011");
  shorter.run_request(69, "?0011111110");
  EXPECT_THAT(refused({sound_recording().take("a"), shorter.take("b")}).message, HasSubstr("request 2"));
}

TEST(Refusal, HostileRowsAreLeftOutAndDoNoHarm) {
  EngineRecording recording = sound_recording();
  auto& rows = recording.raw().speculation;
  for (const std::uint32_t huge : {0U, 1U << 31, UINT32_MAX}) {
    SpeculationStep row = rows[1];
    row.position = row.verified = row.accepted = row.emitted = huge;
    row.request = huge;
    rows.push_back(row);
    row.request = 1;
    rows.push_back(row);
  }
  recording.raw().accesses.back().bytes = UINT32_MAX;
  const auto result = fit(std::vector<NamedRecording>{recording.take()});
  if (!result) {
    EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace dmprof::twin
