#!/usr/bin/env bash
# The counts also match with several requests in a batch, n-gram drafts, weights that are streamed, and requests that fail.
. "$(dirname "$0")/common.sh" || exit 1
. "$source_dir/tests/e2e/counts.sh" || exit 1

for i in 1 2 3 4 5; do
  echo "{\"id\":\"$i\",\"prompt\":\"And the sons of Gomer; Ashkenaz, and the sons of Gomer; $i\",\"max_tokens\":$((6 + 3 * i))}"
done >prompts.jsonl

# recorded_run WHAT ARGUMENT…: the engine under the recorder, everything compared.
recorded_run() {
  local what=$1
  shift
  dmprof run -o "$what.dmprof" -- dm-engine --model "$target" --threads 1 --json "$@" >engine.json 2>"$what.err" || die "$what: the recording failed"
  grep -q '"finish"' engine.json || die "$what: the engine said nothing"
  counts_match "$what.dmprof"
}

recorded_run batch --draft "$draft" --lookahead 3 --prompts prompts.jsonl --batch 3 --max-concurrent 2 --baseline-every 5
[ "$(value batch.dmprof 'SELECT max(batch) FROM step')" -gt 1 ] || die "no step held more than one request"
recorded_run ngram --draft-ngram --lookahead 4 --prompts prompts.jsonl --batch 5
[ "$(counted drafted)" -gt 0 ] || die "the n-gram drafter proposed nothing"
recorded_run streamed --draft-ngram --prompts prompts.jsonl --batch 2 --resident 3MiB --backing throttle:2GB/s,20us
[ "$(counted block_misses)" -gt 0 ] && [ "$(counted prefetches_issued)" -gt 0 ] || die "nothing was streamed"
peak=$(value streamed.dmprof "SELECT max(value) FROM counter WHERE name = 'resident_bytes'")
awk -v peak="$peak" 'BEGIN { exit !(peak > 0 && peak <= 3 * 1048576) }' || die "resident_bytes rose to '$peak', the budget is 3 MiB"
recorded_run sampled --draft "$draft" --temperature 0.8 --seed 7 --prompts prompts.jsonl --batch 2

# The model file is cut short while it is streamed: what runs fails, and the recording says so too.
sed -i 's/,"max_tokens":[0-9]*//' prompts.jsonl
cp "$target" cut.gguf
chmod u+w cut.gguf
dmprof run -o failed.dmprof -- dm-engine --model cut.gguf --threads 1 --json --prompts prompts.jsonl --batch 2 --max-tokens 400 \
  --resident 2MiB --backing file >engine.json 2>failed.err &
recorder=$!
started="$started $recorder"
decoding() { [ "$(value failed.dmprof "SELECT count(*) FROM step WHERE phase = 'decode'")" -gt 0 ] 2>/dev/null; }
wait_for "the engine to decode" decoding
truncate -s 100K cut.gguf
finish "$recorder" "the recorder of a failing engine" || die "a failing engine made the recording fail"
grep -q 'exit status' failed.err || die "the engine did not fail"
counts_match failed.dmprof
[ "$(counted failed)" -gt 0 ] || die "no request failed"
