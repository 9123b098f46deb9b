#!/usr/bin/env bash
# Several cards in one recording: what dm-simcard counts itself is what the recording holds, every card on tracks of its
# own, and the metrics agree with its own summary.
. "$(dirname "$0")/common.sh"
command -v dm-simcard >/dev/null || die "dm-simcard is not built"

workload='arrivals: closed, users: 6, prompt: 64, output: 40'
card() { # NAME SCENARIO CARDS
  dmprof run -o "$1.dmprof" -- dm-simcard --scenario "$2" --cards "$3" --duration 60ms --workload "$workload" --json >"$1.json" 2>"$1.err" ||
    die "recording $1"
  balanced "$1.dmprof"
  same "$1: losses" 0 "$(value "$1.dmprof" 'SELECT coalesce(sum(events), 0) FROM loss')"
}
counted() { python3 -c 'import json,sys; print(eval(sys.argv[2], json.load(open(sys.argv[1]))))' "$1.json" "$2"; }
metric() {
  dmprof --metric "$2" --run "$1.dmprof" --json | python3 -c 'import json,sys; print(json.load(sys.stdin)["metrics"][0]["value"])'
}
near() { # WHAT A B SHARE
  python3 -c 'import sys; a, b, s = map(float, sys.argv[1:]); sys.exit(not abs(a - b) <= s * abs(b))' "$2" "$3" "$4" || die "$1: $2 is not $3"
}

card four bandwidth-underused 4
recorded() { value four.dmprof "SELECT $1"; }
same arrived "$(counted four 'requests["arrived"]')" "$(recorded "count(*) FROM request_event WHERE point = 'arrive'")"
same completed "$(counted four 'requests["completed"]')" "$(recorded "count(*) FROM request_event WHERE point = 'end'")"
same steps "$(counted four steps)" "$(recorded "count(*) FROM step WHERE phase = 'decode'")"
same accesses "$(counted four 'accesses')" "$(recorded "count(*) FROM block_access WHERE tier = 'l1'")"
same hits "$(counted four hits)" "$(recorded "count(*) FROM block_access WHERE tier = 'l1' AND outcome = 'hit'")"
same prefetches "$(counted four 'prefetches["issued"]')" "$(recorded "count(*) FROM prefetch WHERE point = 'issued'")"
same drafted "$(counted four drafted)" "$(recorded 'sum(drafted) FROM speculation_step')"
same accepted "$(counted four accepted)" "$(recorded 'sum(accepted) FROM speculation_step')"
for i in 0 1 2 3; do
  same "card $i" 1 "$(recorded "count(*) > 0 FROM step s JOIN track t ON t.id = s.track WHERE t.name = 'card $i/compute'")"
done
same "one virtual clock" 1 "$(recorded "count(*) FROM clock WHERE kind = 'virtual'")"
near "hit rate" "$(metric four prefetch_hit_rate)" "$(counted four prefetch_hit_rate)" 0.02
near "joules a token" "$(metric four energy_per_token)" "$(counted four energy_per_token_j)" 0.0001
near "throughput" "$(metric four throughput)" "$(counted four 'decode_tokens_per_s * 4')" 0.1
# The summary averages over the whole run, the metrics over decoding only.
over_decoding='* virtual_seconds / (step_time_s * steps / cards)'
near "engine queue" "$(metric four speculation_engine_queue)" "$(counted four "engine_queue * 4 $over_decoding")" 0.1
near "engine occupancy" "$(metric four speculation_engine_occupancy)" "$(counted four "engine_occupancy $over_decoding")" 0.1
dmprof diagnose four.dmprof >four.txt 2>four.err || die "no diagnosis of four cards"

# Whatever runs beside it: a card's own stream, and the same recording every time.
card again bandwidth-underused 4
diff four.json again.json || die "two runs of one seed differ"
for table in slice step speculation_step block_access prefetch request_event transfer kernel; do
  [ "$(rows_of four.dmprof "$table")" = "$(rows_of again.dmprof "$table")" ] ||
    die "$table of two runs of one seed differ"
done

# One card alone keeps its plain names, and the engines' queue is the card's own figure.
card one contention 1
same "plain names" 1 "$(value one.dmprof "SELECT count(*) FROM track WHERE name = 'compute'")"
near "a card's engine queue" "$(metric one speculation_engine_queue)" "$(counted one "engine_queue $over_decoding")" 0.1

# More cards than tracks for each of their parts.
dmprof run -o many.dmprof -- dm-simcard --scenario contention --cards 600 --duration 2ms --json >many.json 2>many.err || die "600 cards"
balanced many.dmprof
same "600 cards" 600 "$(value many.dmprof "SELECT count(*) FROM track WHERE name LIKE 'card %/compute'")"
same "600 cards' requests" "$(counted many 'requests["arrived"]')" "$(value many.dmprof "SELECT count(*) FROM request_event WHERE point = 'arrive'")"
echo "ok"
