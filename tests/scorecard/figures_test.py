#!/usr/bin/env python3
"""The scorecard's arithmetic on constructed fixes, whose answers can be computed by hand."""
import sys
import unittest

sys.dont_write_bytecode = True  # leaves nothing in the source tree
import figures


def fix(knob="lookahead", to="8", predicted=(1.0, 1.2, 1.4), metric="throughput", ratios=None, reason="", verdict="confirmed"):
    measured = None
    if ratios is not None:
        measured = {"verdict": verdict, "objective": "throughput", "pairs": 7, "exact": False,
                    "ratios": {name: dict(zip(("low", "mid", "high"), ratio)) for name, ratio in ratios.items()}}
    gain = dict(zip(("low", "mid", "high"), predicted), metric=metric) if predicted else None
    return {"rule": "a-rule", "knob": knob, "from": "5", "to": to, "predicted_gain": gain, "gain_reason": reason,
            "measured_gain": measured}


def card_of(*fixes):
    return figures.scorecard([{"line": "engine", "fixes": list(fixes)}])


class Scorecard(unittest.TestCase):
    def test_error_is_of_the_ratios_and_the_interval_covers_the_median(self):
        pair = card_of(fix(ratios={"throughput": (1.4, 1.5, 1.6)}))["pairs"][0]
        self.assertAlmostEqual(pair["error"], 0.2)
        self.assertFalse(pair["covered"])
        pair = card_of(fix(ratios={"throughput": (1.3, 1.4, 1.6)}))["pairs"][0]
        self.assertTrue(pair["covered"])  # the bound itself is inside

    def test_a_time_that_halves_is_a_gain_of_two(self):
        pair = card_of(fix(predicted=(1.8, 2.0, 2.2), metric="e2e_latency", ratios={"e2e_latency": (0.4, 0.5, 0.8)}))["pairs"][0]
        self.assertEqual((pair["measured"]["low"], pair["measured"]["mid"], pair["measured"]["high"]), (1.25, 2.0, 2.5))
        self.assertEqual(pair["error"], 0)

    def test_every_metric_that_verify_measures_has_a_direction(self):
        for metric in ("step_time", "itl", "tpot", "ttft", "e2e_latency", "energy_per_token"):
            self.assertEqual(figures.measured_ratio({"ratios": {metric: {"low": 0.5, "mid": 0.5, "high": 0.5}}}, metric)["mid"], 2)

    def test_what_has_no_prediction_is_counted_and_named_and_spoils_no_median(self):
        card = card_of(fix(ratios={"throughput": (1.2, 1.2, 1.2)}),
                       fix(knob="draft", to="3b", predicted=None, reason="not recorded", ratios={"throughput": (1.1, 1.1, 1.1)}))
        self.assertEqual((card["all"]["pairs"], card["all"]["predicted"], card["all"]["unavailable"]), (2, 1, 1))
        self.assertEqual(card["all"]["error"]["median"], 0)
        self.assertIn("not recorded", figures.text({"card": card}, [], markdown=True))
        self.assertEqual(card["verdicts"]["unavailable"], {"confirmed": 1})

    def test_what_cannot_be_tried_is_counted_and_not_taken_for_an_error(self):
        card = card_of(fix(), fix(knob="draft", predicted=(1, 1.1, 1.2), metric="itl", ratios={"throughput": (1, 1, 1)}))
        self.assertEqual((card["all"]["untried"], card["all"]["predicted"]), (2, 0))
        self.assertIsNone(card["all"]["coverage"])

    def test_one_fix_of_two_rules_is_one_pair_with_both_names(self):
        same = fix(ratios={"throughput": (1.2, 1.2, 1.2)})
        card = card_of(same, dict(same, rule="b-rule"), fix(to="2", ratios={"throughput": (1, 1, 1)}))
        self.assertEqual(card["all"]["pairs"], 2)
        self.assertEqual((card["by_rule"]["a-rule"]["pairs"], card["by_rule"]["b-rule"]["pairs"]), (2, 1))

    def test_a_prediction_is_a_gain_only_where_its_whole_interval_is(self):
        said = [figures.verdict_of({"low": low, "high": high}) for low, high in ((1.1, 1.2), (0.8, 0.9), (0.9, 1.1), (1.0, 1.1))]
        self.assertEqual(said, ["gain", "loss", "unsure", "unsure"])

    def test_nothing_at_all_has_no_figures_and_prints(self):
        card = figures.scorecard([{"line": "engine", "fixes": []}])
        self.assertIsNone(card["all"]["error"])
        self.assertIn("engine", figures.text({"card": card}, [{"line": "x", "because": "y"}], markdown=False))


if __name__ == "__main__":
    unittest.main()
