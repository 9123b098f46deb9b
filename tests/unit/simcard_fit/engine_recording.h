// A recording as dm-engine leaves it, written pass by pass with costs and texts that a fit must find again. The target
// has blocks 0..3 (an embedding in 2 and 3, which are the output as well), the draft 4 and 5. A pass over n tokens
// costs
//   target: embed 10 n, qkv 100 + 50 n, output 30 a row       draft: embed 5 n, qkv 20 n, output 7 a row
// and nothing else; the engine looks ahead once in each qkv, in 9 + 4 ns.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "samples/simcard/fit/fit.h"

namespace dmprof::twin::test {

class EngineRecording {
 public:
  static constexpr TimeNs kPlan = 9 + 4;
  static constexpr TimeNs kMissOvershoot = 60;
  static constexpr TimeNs kPassOther = 17;
  static constexpr TimeNs kAccept = 23;
  static constexpr TimeNs kBetween = 31;

  EngineRecording() {
    knob("lookahead", "3");
    knob("draft", "folder/small.gguf");
    knob("resident", "65536");
    knob("cache_policy", "0");
    knob("prefetch_distance", "4");
    knob("batch", "1");
    knob("max_concurrent", "0");
    knob("prefill_chunk", "64");
    knob("baseline_every", "0");
    knob("threads", "2");
    knob("temperature", "0");
    knob("backing", "throttle:1GB/s,2us");
    recording_.environment["engine_version"] = "1.2";
    recording_.environment["cpu.model"] = "CPU";
    recording_.processes[1] = {};
    Track track;
    track.process = 1;
    recording_.tracks[1] = track;
    Capacity tier;
    tier.process = 1;
    tier.name = "resident";
    tier.kind = "tier";
    tier.managed = true;
    recording_.capacities[1] = tier;
  }

  void knob(const std::string& name, const std::string& value) {
    std::erase_if(recording_.knobs, [&](const Knob& k) { return k.name == name; });
    Knob knob;
    knob.process = 1;
    knob.name = name;
    knob.value = value;
    recording_.knobs.push_back(knob);
  }
  void without_knob(const std::string& name) {
    std::erase_if(recording_.knobs, [&](const Knob& k) { return k.name == name; });
  }

  // A request of `prompt` tokens whose verdicts are known: '1' right, '0' wrong, at each output position but the first.
  // It is run to its end at a lookahead of `lookahead`, all token embeddings in block 2.
  void run_request(std::uint32_t prompt, const std::string& text, std::uint32_t lookahead = 3) {
    ++request_;
    point(RequestPoint::arrive, prompt);
    begin_step(Phase::prefill);
    pass(true, std::vector<std::uint64_t>(prompt, 5), 0);
    drafted_at_ = now_;
    pass(false, std::vector<std::uint64_t>(prompt, 2), 1);
    end_step(prompt, 0, 0, 1, StepCut::whole);
    std::uint32_t tokens = prompt + 1, known = prompt;
    const std::uint32_t limit = prompt + static_cast<std::uint32_t>(text.size());
    while (tokens < limit) {
      const std::uint32_t room = limit - tokens, wanted = std::min(lookahead, room - 1);
      begin_step(Phase::decode);
      if (wanted > 0) {
        pass(true, std::vector<std::uint64_t>(tokens - known, 5), 1);
        for (std::uint32_t i = 1; i < wanted; ++i) pass(true, {5}, 1);
        known = tokens + wanted - 1;
      }
      drafted_at_ = now_;
      std::uint32_t accepted = 0;
      while (accepted < wanted && text[tokens - prompt + accepted] == '1') ++accepted;
      pass(false, std::vector<std::uint64_t>(wanted + 1, 2), wanted + 1);
      end_step(tokens, wanted, accepted, accepted + 1, wanted < lookahead ? StepCut::max_tokens : StepCut::whole);
      known = std::min(known, tokens + accepted);
      tokens += accepted + 1;
    }
    point(RequestPoint::end, text.size());
  }

  NamedRecording take(const std::string& file = "test.dmprof") {
    recording_.make_sound();
    return {file, recording_};
  }
  Recording& raw() { return recording_; }
  // The next block asked for is a miss; everything else hits.
  void miss_next() { miss_ = true; }

 private:
  void point(RequestPoint what, std::uint64_t tokens) {
    RequestEvent event;
    event.track = 1;
    event.time = now_;
    event.request = request_;
    event.point = what;
    event.tokens = tokens;
    recording_.requests.push_back(event);
  }

  void begin_step(Phase phase) {
    phase_ = phase;
    ++step_;
    begin_ = drafted_at_ = now_;
  }

  void end_step(std::uint32_t position, std::uint32_t drafted, std::uint32_t accepted, std::uint32_t emitted,
                StepCut cut) {
    Step step;
    step.track = 1;
    step.step = step_;
    step.phase = phase_;
    step.batch = 1;
    step.start = begin_;
    step.draft_time = drafted_at_ - begin_;
    step.verify_time = now_ - drafted_at_;
    step.accept_time = kAccept;
    now_ += kAccept;
    step.duration = now_ - begin_;
    recording_.steps.push_back(step);
    SpeculationStep row;
    row.track = 1;
    row.time = now_;
    row.step = step_;
    row.request = request_;
    row.position = position;
    row.drafted = row.verified = row.tree_depth = row.tree_nodes = drafted;
    row.accepted = accepted;
    row.emitted = emitted;
    row.draft_type = drafted > 0 ? DraftType::model : DraftType::none;
    row.cut = cut;
    recording_.speculation.push_back(row);
    now_ += kBetween;
  }

  void pass(bool draft, const std::vector<std::uint64_t>& embedding, std::uint32_t rows) {
    const auto n = static_cast<TimeNs>(embedding.size());
    const std::string prefix = draft ? "draft." : "";
    kernel(prefix + "embed", embedding, draft ? 5 * n : 10 * n, 0, 0, false);
    kernel(prefix + "qkv", draft ? std::vector<std::uint64_t>{4} : std::vector<std::uint64_t>{0, 1},
           draft ? 20 * n : 100 + 50 * n, embedding.size() * 200, 100, true);
    if (rows > 0) {
      kernel(prefix + "output", draft ? std::vector<std::uint64_t>{5} : std::vector<std::uint64_t>{2, 3},
             draft ? 7 * rows : 30 * rows, rows * 200, 100, false);
    }
    now_ += kPassOther;
  }

  void kernel(const std::string& name, const std::vector<std::uint64_t>& blocks, TimeNs compute, std::uint64_t flops,
              std::uint64_t bytes, bool plans) {
    Kernel kernel;
    kernel.track = 1;
    kernel.start = now_;
    kernel.name = name_of(name);
    kernel.flops = flops;
    kernel.bytes = bytes;
    kernel.step = step_;
    for (const std::uint64_t block : blocks) {
      BlockAccess access;
      access.track = 1;
      access.tier = 1;
      access.time = now_;
      access.block = block;
      access.bytes = 1'000 + static_cast<std::uint32_t>(block);
      access.phase = phase_;
      access.step = step_;
      if (std::exchange(miss_, false)) {
        access.outcome = AccessOutcome::miss;
        access.origin = BlockOrigin::demand;
        Transfer transfer;
        transfer.track = 1;
        transfer.block = block;
        transfer.bytes = transfer.useful_bytes = access.bytes;
        transfer.start = now_ + 2'000;
        transfer.duration = access.bytes;  // 1 GB/s
        recording_.transfers.push_back(transfer);
        access.wait = 2'000 + transfer.duration + kMissOvershoot;
        kernel.stall += access.wait;
        now_ += access.wait;
      }
      recording_.accesses.push_back(access);
    }
    if (plans) {
      slice("path_prediction", 9);
      slice("prefetch_scheduling", 4);
    }
    now_ += compute;
    kernel.duration = now_ - kernel.start;
    recording_.kernels.push_back(kernel);
  }

  void slice(const std::string& name, TimeNs duration) {
    Slice slice;
    slice.track = 1;
    slice.start = now_;
    slice.duration = duration;
    slice.name = name_of(name);
    slice.depth = 1;
    recording_.slices.push_back(slice);
    now_ += duration;
  }

  NameId name_of(const std::string& text) {
    for (const auto& [id, name] : recording_.names) {
      if (name == text) return id;
    }
    const auto id = static_cast<NameId>(recording_.names.size() + 1);
    recording_.names[id] = text;
    return id;
  }

  Recording recording_;
  TimeNs now_ = 1'000'000, begin_ = 0, drafted_at_ = 0;
  std::uint64_t step_ = 0, request_ = 0;
  Phase phase_ = Phase::prefill;
  bool miss_ = true;  // the first access of all
};

// Two requests; enough of everything.
inline EngineRecording sound_recording() {
  EngineRecording recording;
  recording.run_request(10, "?1101110111011");
  recording.miss_next();
  recording.run_request(70, "?0011111110");
  return recording;
}

}  // namespace dmprof::twin::test
