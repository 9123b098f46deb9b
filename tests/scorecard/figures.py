"""The scorecard's figures: predicted beside measured gain of every fix, and what that says about the predictions.

A gain is a ratio, better by this factor, of the metric the prediction is of. Error: |predicted / measured - 1|. Covered: the
measured ratio (the median of the pairs of runs) lies in the predicted interval.
"""
import statistics

LESS_IS_BETTER = ("step_time", "itl", "tpot", "ttft", "e2e_latency", "energy_per_token")
TARGETS = {"pairs": 60, "median_error": 0.10, "coverage": 0.90}


def measured_ratio(measured, metric):
    """{"low", "mid", "high"}, better by this factor; None where the runs did not have the metric."""
    ratio = measured["ratios"].get(metric)
    if ratio is None or ratio["low"] <= 0:
        return None
    if metric in LESS_IS_BETTER:
        return {"low": 1 / ratio["high"], "mid": 1 / ratio["mid"], "high": 1 / ratio["low"]}
    return ratio


def verdict_of(predicted):
    if predicted["low"] > 1:
        return "gain"
    return "loss" if predicted["high"] < 1 else "unsure"


def judge(line, fix, rules):
    """One (scenario, fix) pair. `status`: predicted, unavailable (no prediction) or untried (nothing measured)."""
    pair = {"line": line, "rules": rules, "fix": f"{fix['knob']} {fix['from']} -> {fix['to']}", "knob": fix["knob"]}
    predicted, measured = fix["predicted_gain"], fix["measured_gain"]
    metric = predicted["metric"] if predicted else "throughput"
    ratio = measured_ratio(measured, metric) if measured else None
    pair.update(metric=metric, predicted=predicted, measured=ratio,
                verdict=measured["verdict"] if measured else None, objective=measured["objective"] if measured else None,
                exact=measured["exact"] if measured else None, runs=2 * measured["pairs"] if measured else 0)
    if not predicted:
        pair.update(status="unavailable", reason=fix["gain_reason"] or "no reason given")
    elif not ratio:
        pair.update(status="untried", reason=f"{metric} was not measured" if measured else "cannot be typed for the recorded engine")
    else:
        pair.update(status="predicted", error=abs(predicted["mid"] / ratio["mid"] - 1), said=verdict_of(predicted),
                    covered=predicted["low"] <= ratio["mid"] <= predicted["high"])
    return pair


def pairs_of(results):
    """A fix that several rules print for one run is one pair with all their names."""
    pairs = []
    for result in results:
        fixes = {}
        for fix in result["fixes"]:
            fixes.setdefault((fix["knob"], fix["to"]), []).append(fix)
        for same in fixes.values():
            pairs.append(judge(result["line"], same[0], [fix["rule"] for fix in same]))
    return pairs


def summary(pairs):
    judged = [pair for pair in pairs if pair["status"] == "predicted"]
    errors = sorted(pair["error"] for pair in judged)
    quartiles = statistics.quantiles(errors, n=4, method="inclusive") if len(errors) > 1 else errors * 3
    count = len(judged)
    widths = [pair["predicted"]["high"] / pair["predicted"]["low"] for pair in judged if pair["predicted"]["low"] > 0]
    return {
        "pairs": len(pairs), "predicted": count,
        "unavailable": sum(pair["status"] == "unavailable" for pair in pairs),
        "untried": sum(pair["status"] == "untried" for pair in pairs),
        "error": dict(zip(("q1", "median", "q3"), quartiles)) | {"max": errors[-1]} if errors else None,
        "covered": sum(pair["covered"] for pair in judged),
        "coverage": sum(pair["covered"] for pair in judged) / count if count else None,
        "median_width": statistics.median(widths) if widths else None,
        "same_direction": sum((pair["predicted"]["mid"] > 1) == (pair["measured"]["mid"] > 1) for pair in judged),
    }


def scorecard(results):
    pairs = pairs_of(results)
    verdicts = {}
    for pair in pairs:
        said = pair.get("said", pair["status"])
        row = verdicts.setdefault(said, {})
        row[pair["verdict"] or "not tried"] = row.get(pair["verdict"] or "not tried", 0) + 1

    def groups(keys):
        names = sorted({name for pair in pairs for name in keys(pair)})
        return {name: summary([pair for pair in pairs if name in keys(pair)]) for name in names}

    return {"runs": len(results), "without_fix": [result["line"] for result in results if not result["fixes"]],
            "all": summary(pairs), "by_rule": groups(lambda pair: pair["rules"]), "by_knob": groups(lambda pair: [pair["knob"]]),
            "verdicts": verdicts, "pairs": pairs, "targets": TARGETS}


def percent(share):
    return "-" if share is None else f"{100 * share:.1f} %"


def interval(ratio):
    if not ratio:
        return "-"
    if ratio["low"] == ratio["high"]:
        return f"{ratio['mid']:.3f}"
    return f"{ratio['mid']:.3f} ({ratio['low']:.3f} to {ratio['high']:.3f})"


def table(head, rows, markdown):
    rows = [[str(cell) for cell in row] for row in rows]
    if markdown:
        return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head)] + rows) + "\n"
    widths = [max(len(row[column]) for row in [head] + rows) for column in range(len(head))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [head] + rows) + "\n"


def summary_row(name, figures):
    error = figures["error"] or {}
    return [name, figures["pairs"], figures["predicted"], percent(error.get("q1")), percent(error.get("median")),
            percent(error.get("q3")), percent(error.get("max")), percent(figures["coverage"]),
            f"{figures['median_width']:.2f}" if figures["median_width"] else "-"]


def part_text(name, card, markdown):
    def title(text):
        return f"\n{'## ' if markdown else ''}{text}\n\n"

    out = title(f"{name}: {card['all']['pairs']} pairs of a run and a fix, from {card['runs']} runs")
    head = ["", "pairs", "predicted", "error q1", "median", "q3", "most", "coverage", "high/low"]
    rows = [summary_row("all", card["all"])]
    rows += [summary_row(f"rule {rule}", figures) for rule, figures in card["by_rule"].items()]
    rows += [summary_row(f"knob {knob}", figures) for knob, figures in card["by_knob"].items()]
    out += table(head, rows, markdown)
    out += (f"\n{card['all']['unavailable']} without a prediction, {card['all']['untried']} not tried; "
            f"{card['all']['same_direction']} of {card['all']['predicted']} predicted in the direction that was measured.\n")
    measured = ["confirmed", "no effect", "worse", "not tried"]
    out += title(f"{name}: what was said beside what re-running the command said")
    out += table(["said"] + measured, [[said] + [row.get(word, 0) for word in measured] for said, row in sorted(card["verdicts"].items())],
                 markdown)
    out += title(f"{name}: every fix")
    rows, reasons = [], {}
    for pair in card["pairs"]:
        if pair["status"] == "predicted":
            says = f"{percent(pair['error'])}{'' if pair['covered'] else ', outside'}"
        else:
            says = f"{pair['status']} [{reasons.setdefault(pair['reason'], len(reasons) + 1)}]"
        rows.append([pair["line"], ", ".join(pair["rules"]), pair["fix"], pair["metric"], interval(pair["predicted"]),
                     interval(pair["measured"]), says, pair["verdict"] or "not tried"])
    out += table(["run", "rules", "fix", "ratio of", "predicted", "measured", "error", "verdict"], rows, markdown)
    if reasons:
        out += "\n" + "\n".join(f"{'- ' if markdown else ''}[{number}] {reason}" for reason, number in reasons.items()) + "\n"
    if card["without_fix"]:
        out += title(f"{name}: runs for which no fix was printed")
        out += "\n".join(("- " if markdown else "") + line for line in card["without_fix"]) + "\n"
    return out


INTRODUCTION = """# Scorecard of the predicted gains

Written by `make scorecard` from `tests/scorecard/grid.txt`. Every run of that list is recorded, and every fix that `dmprof diagnose` prints for it
is tried by `--verify`, in turns with the unchanged command: none is left out. A gain is a ratio, better by this factor, of the metric
named; error is |predicted / measured - 1|; coverage is the share of predictions whose interval holds the measured ratio (the median of
the pairs of runs); high/low is the median width of those intervals. A fix that several rules print for one run counts once, and under each of their
names. "Said" is a gain or a loss where the whole predicted interval lies on one side of 1, unsure otherwise. The verdict is of what the
rule wants to improve, which for complaints about latency is time per output token. Targets: at least 60 pairs, median error at most
10 %, coverage at least 90 %.

The card's runs repeat exactly. The engine's are timed: their figures hold for the machine and the load they were measured on, and move by some per cent
from one call to the next. A part of the list that is missing below was not run. Runs of `tests/scorecard/cards` were also what showed that narrow
passes were taken to cost too much; nothing in the models was fitted to them.
"""


def text(cards, failures, markdown):
    out = INTRODUCTION if markdown else ""
    for name, card in cards.items():
        out += part_text(name, card, markdown)
    if failures:
        out += "\nFailed:\n" + "\n".join(f"- {failure['line']}: {failure['because']}" for failure in failures) + "\n"
    return out
