// One card at work: requests are admitted in batches, prefilled, and then decoded step by step: the speculation engines
// draft, every draft token's blocks are predicted and prefetched, the modules verify layer by layer, accepted tokens
// are emitted. Verification starts when the drafts of the whole batch are ready.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "samples/simcard/card/observer.h"
#include "samples/simcard/card/parameters.h"
#include "samples/simcard/card/statistics.h"
#include "samples/simcard/card/verify_pass.h"
#include "samples/simcard/core/server.h"

namespace dmprof::simcard {

class Card : public Actor, private ServerListener, private StoreListener {
 public:
  // `parameters` were checked; they, the text's language and the model's selections (which cards share) outlive the
  // card. `observer` may be null.
  Card(Simulation& simulation, const CardParameters& parameters, const Language& language, const Selection& selection,
       const Attention& attention, std::uint64_t seed, std::uint32_t index, CardObserver* observer);

  // A request arrives now. `ended` is told on_event(kind, 0) at its end. False: too many wait already.
  bool submit(std::uint32_t prompt, std::uint32_t output, Actor* ended, std::uint32_t kind);
  void set_interleave(bool on);
  // The run is over: tells the observer what is left to tell.
  void settle();

  CardStatistics statistics();  // as of now
  ServerStatistics engine_statistics() { return engines_.statistics(); }
  const ModuleCacheStatistics& l0_statistics() const { return pass_.l0_statistics(); }
  const StoreStatistics& store_statistics() const { return store_.statistics(); }
  const ChannelStatistics& channel_statistics() const { return channels_.statistics(); }
  std::uint64_t l2_moved() const { return channels_.moved(simulation_.now()); }
  std::size_t in_flight() const { return batch_.size() + waiting_.size(); }

  void on_event(std::uint32_t kind, std::uint64_t argument) override;

 private:
  enum Event : std::uint32_t {
    start_step,
    launched,
    prefilled,
    draft_reads,
    draft_token,
    blocks_known,
    drafted,
    verified,
    accepted
  };

  struct Sequence {
    std::uint64_t request = 0;
    std::uint32_t prompt = 0, output = 0, emitted = 0;
    SimTime arrived = 0;
    Actor* ended = nullptr;
    std::uint32_t kind = 0;
    Path path;
    std::uint32_t drafts = 0;  // tokens to draft in this step
    std::uint32_t announced = 0;
    std::size_t first_token = 0;  // of the pass's
    std::vector<Context> proposals;
    std::uint64_t length() const { return std::uint64_t{prompt} + emitted; }
  };

  void on_service(const Job& job, std::uint32_t unit, SimTime start) override;
  void on_start(const Job& job, std::uint32_t unit, SimTime length) override;
  void on_prefetch(const PrefetchNotice& notice) override;
  void on_block_transfer(const BlockTransfer& transfer) override;

  void wake();
  void begin_step();
  bool admit();
  void begin_prefill();
  void end_prefill();
  void begin_draft();
  void announce(Sequence& sequence);
  void read_draft();
  void predict(const Sequence& sequence, Context context, std::uint32_t place);
  void expect_blocks(std::uint64_t packed);
  void expect_kv(std::uint64_t request, Context context, std::uint64_t place);
  void begin_verification();
  void end_verification();
  void end_step();
  SpeculationReport judge(Sequence& sequence);
  void finish(Sequence& sequence);
  void learn(const Sequence& sequence, std::uint32_t tokens);
  void account();
  void tell_energy();
  std::uint64_t occasion(const Sequence& sequence, std::uint64_t ahead) const;
  std::uint32_t room() const;

  Simulation& simulation_;
  const CardParameters& parameters_;
  std::uint64_t seed_;
  CardObserver* observer_;
  const Language& language_;
  const Attention& attention_;
  Predictor predictor_;
  // Which of its own KV a sequence read at a context: a matrix beside the other one, whose contexts are those of one
  // sequence. What was looked up comes in order, so that a queue says for whom.
  Predictor kv_predictor_;
  struct KvLookup {
    std::uint64_t request = 0;
    Context context = 0;
  };
  std::deque<KvLookup> kv_lookups_;
  std::vector<BlockNumber> kv_read_;  // scratch of learn
  Channels channels_;
  Store store_;
  Server engines_;
  VerifyPass pass_;
  SimTime token_time_ = 0;

  std::deque<std::unique_ptr<Sequence>> waiting_;
  std::vector<std::unique_ptr<Sequence>> batch_;
  std::size_t fresh_ = 0;  // at the end of the batch, not prefilled yet
  bool awake_ = false;
  std::uint64_t next_request_;
  std::uint64_t step_ = 0;
  std::uint64_t moved_before_ = 0;  // bytes of L2, at the step's start
  SimTime step_start_ = 0, verify_start_ = 0, verify_end_ = 0;
  std::uint32_t drafting_ = 0;            // sequences whose draft is not ready
  bool predicting_ = false;               // from the start of drafting to the end of verification
  std::vector<VerifyToken> tokens_;       // scratch of begin_verification
  std::vector<BlockNumber> predictions_;  // scratch of expect_blocks
  StepReport report_;
  SimTime accounted_ = 0;
  CardStatistics statistics_;
};

}  // namespace dmprof::simcard
