#!/usr/bin/env python3
"""Fits a twin to the profiled recordings that validate.sh left in FOLDER, predicts every setting, prints the table.

usage: validate.py FOLDER RUNS DM_SIMCARD
"""
import json
import statistics
import subprocess
import sys

FIGURES = ["throughput", "acceptance_length", "prefetch_hit_rate", "step_time_p50", "step_time_p95", "step_time_p99"]
WITHOUT_TARGET = {"step_time_p99"}


def measured(folder, setting, run):
    with open(f"{folder}/{setting}.{run}.metrics.json") as file:
        metrics = {m["name"]: m for m in json.load(file)["metrics"]}
    values = {name: metrics[name].get("value") for name in FIGURES if name in metrics}
    for part in ("p50", "p95", "p99"):
        values[f"step_time_{part}"] = metrics["step_time"].get(part)
    return values


def main():
    folder, runs, program = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    with open(f"{folder}/settings") as file:
        settings = [line.split() for line in file]
    figures = [[measured(folder, i, run) for run in range(1, runs + 1)] for i in range(len(settings))]

    profiled, drafts = [], set()
    for i, setting in enumerate(settings):
        if setting[0] not in drafts:
            drafts.add(setting[0])
            profiled.append(i)
    recordings = []
    for i in profiled:
        by_speed = sorted(range(runs), key=lambda run: figures[i][run]["throughput"])
        recordings.append(f"{folder}/{i}.{by_speed[runs // 2] + 1}.dmprof")
    subprocess.run([program, "fit", *recordings, "-o", f"{folder}/twin.yaml"], check=True, stdout=subprocess.DEVNULL)

    errors = {}
    print(f"{'setting':<46} {'figure':<18} {'measured':>10} {'spread':>7} {'predicted':>10} {'interval':>21} {'error':>7}")
    for i, (draft, lookahead, resident, policy, distance, batch) in enumerate(settings):
        question = (f"draft={draft},lookahead={lookahead},resident={resident},cache_policy={policy},prefetch_distance={distance},batch={batch}")
        answer = json.loads(subprocess.run([program, "predict", f"{folder}/twin.yaml", "--set", question, "--json"],
                                           check=True, stdout=subprocess.PIPE).stdout)
        predicted = {figure["name"]: figure for figure in answer["figures"]}
        kind = "profiled" if i in profiled else "held out"
        name = f"{draft.split('-')[2]} N={lookahead} {resident} policy {policy} dist {distance} batch {batch}"
        for figure in FIGURES:
            values = [run[figure] for run in figures[i] if run.get(figure) is not None]
            if not values or figure not in predicted:
                continue
            middle, guess = statistics.median(values), predicted[figure]
            if not middle:
                continue
            spread = (max(values) - min(values)) / middle
            error = guess["value"] / middle - 1
            errors.setdefault((kind, figure), []).append((abs(error), spread, guess["low"] <= middle <= guess["high"]))
            scale = 1e-6 if figure.startswith("step_time") else 1
            print(f"{(name + ', ' + kind) if figure == FIGURES[0] else '':<46} {figure:<18} {middle * scale:>10.3f} {100 * spread:>6.1f}% "
                  f"{guess['value'] * scale:>10.3f} {guess['low'] * scale:>10.3f}-{guess['high'] * scale:<10.3f} {100 * error:>+6.1f}%")
    print(f"\n{'median errors':<46} {'figure':<18} {'error':>10} {'spread':>7} {'settings':>10} {'in interval':>12}")
    for kind in ("profiled", "held out"):
        pooled = []
        for figure in FIGURES:
            found = errors.get((kind, figure), [])
            if not found:
                continue
            pooled += [] if figure in WITHOUT_TARGET else found
            print(f"{kind:<46} {figure:<18} {100 * statistics.median(e for e, _, _ in found):>9.1f}% "
                  f"{100 * statistics.median(s for _, s, _ in found):>6.1f}% {len(found):>10} {sum(c for _, _, c in found):>12}")
        print(f"{kind:<46} {'all but P99':<18} {100 * statistics.median(e for e, _, _ in pooled):>9.1f}% "
              f"{100 * statistics.median(s for _, s, _ in pooled):>6.1f}% {len(pooled):>10} {sum(c for _, _, c in pooled):>12}")


if __name__ == "__main__":
    main()
