"""Statistics of a comparison: small frames worked out by hand, scipy as a second opinion, and the
demo results from end to end.
"""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from builders import full_store
from scipy import stats

from dashboard.frames import results_table
from mucore import catalog, cli
from mucore import statistics as ranking
from mucore.errors import BadValue, UnknownName
from mucore.statistics import significance
from mucore.store import open_pack, write_pack

ROOT = Path(__file__).resolve().parents[2]
DEMO = ROOT / "data" / "demo"
COMPARISON = "Ten methods, five scenarios"
T3 = 4.302652729696142  # t(0.975; 2), as printed in any table

Numbers = Mapping[str, tuple[float | None, float | None]]


def run(
    method: str,
    numbers: Numbers,
    *,
    seed: int = 0,
    unlearning: int = 0,
    scenario: str = "one_class",
    **more,
) -> tuple[dict, Numbers]:
    line = {
        "dataset": "digits",
        "model": "mlp",
        "recipe": "{}",
        "hashes": "",
        "scenario": scenario,
        "scenario_parameters": "{}",
        "method": method,
        "method_preset": "authors",
        "parameters": "{}",
        "training_seed": seed,
        "unlearning_seed": unlearning,
        "status": "ok",
        "device": "CPU",
        "precision": "fp32",
    } | more
    return line, numbers


def statistics(runs: list[tuple[dict, Numbers]], **more) -> ranking.Statistics:
    summaries, values = frames(runs)
    return ranking.statistics_of(ranking.label_runs(summaries), values, **more)


def frames(runs: list[tuple[dict, Numbers]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    summaries = pd.DataFrame([line | {"key": str(number)} for number, (line, _) in enumerate(runs)])
    rows = [
        (str(number), metric, value, gap, None if value is not None else "It broke.")
        for number, (_, numbers) in enumerate(runs)
        for metric, (value, gap) in numbers.items()
    ]
    values = pd.DataFrame(rows, columns=["key", "metric", "value", "gap", "error"]).astype(
        {"value": float, "gap": float}
    )
    return summaries, values


def gaps(
    method: str, by_block: Mapping[str, list[float]], metric: str = "ta", **more
) -> list[tuple[dict, Numbers]]:
    """Runs of one method: by scenario, the gap of each training seed."""
    return [
        run(method, {metric: (0.9 + gap, gap)}, seed=seed, scenario=scenario, **more)
        for scenario, each in by_block.items()
        for seed, gap in enumerate(each)
    ]


# -- intervals


def test_a_copy_of_the_original_has_its_numbers_wherever_they_stand_together():
    """Original and Retrain on five seeds, the copy on two: as in 0.2's demo, where an original with
    FA 100.0 had +16.3 and gradient ascent with FA 100.0 had +15.4.
    """
    apart = (0.11, 0.17, 0.13, 0.29, 0.05)
    lines = []
    for seed, gap in enumerate(apart):
        lines += [run("original", {"fa": (1.0, gap)}, seed=seed)]
        lines += [run("retrain", {"fa": (1 - gap, None)}, seed=seed)]
    lines += [run("ssd", {"fa": (1.0, apart[seed])}, seed=seed) for seed in (1, 2)]
    frame = statistics(lines, metric="fa").intervals.set_index("method")
    assert frame.loc["original"].equals(frame.loc["ssd"]) and frame.loc["ssd", "seeds"] == 2
    assert frame.loc["ssd", "gap_mean"] == pytest.approx(0.15)
    summaries, values = frames(lines)
    table = results_table(summaries.assign(evaluation_seed=0), values, view="gap")
    original, retrain, copy = table.rows
    assert original.cells["fa"] == copy.cells["fa"]
    assert retrain.cells["fa"].value and retrain.cells["fa"].value.mean == pytest.approx(0.85)
    # all five say how far Retrains lie from each other
    assert table.noise["fa"] == significance.half_band([1 - gap for gap in apart])


def test_an_interval_runs_over_training_seeds_alone():
    """Seed 0 ran with two unlearning seeds, 0.7 and 0.9, which make 0.8. 0.8, 0.9, 1.0: mean 0.9,
    deviation 0.1, t · 0.1 / √3.
    """
    found = statistics(
        [
            run("finetune", {"ta": (0.7, -0.3)}),
            run("finetune", {"ta": (0.9, 0.1)}, unlearning=1),
            run("finetune", {"ta": (0.9, 0.1)}, seed=1),
            run("finetune", {"ta": (1.0, 0.3)}, seed=2),
        ]
    )
    (row,) = found.intervals.to_dict("records")
    half = T3 * 0.1 / math.sqrt(3)
    assert (row["setting"], row["method"], row["seeds"]) == ("one_class", "finetune", 3)
    assert [row[name] for name in ("mean", "std", "low", "high")] == pytest.approx(
        [0.9, 0.1, 0.9 - half, 0.9 + half]
    )
    witness = stats.t.interval(0.95, 2, loc=0.1, scale=stats.sem([-0.1, 0.1, 0.3]))
    assert [row["gap_mean"], row["gap_std"]] == pytest.approx([0.1, 0.2])
    assert (row["gap_low"], row["gap_high"]) == pytest.approx(witness)
    assert "training seeds" in found.axis


def test_one_seed_has_no_interval_and_says_so():
    found = statistics([run("finetune", {"ta": (0.7, -0.3)})])
    (row,) = found.intervals.to_dict("records")
    assert row["mean"] == 0.7
    assert all(math.isnan(row[name]) for name in ("std", "low", "high", "gap_std", "gap_low"))
    assert found.notes[0].startswith("One training seed: neither spread nor interval")
    assert any(note.startswith("No paired test") for note in found.notes)


def test_what_is_missing_is_named():
    found = statistics(
        [
            run("finetune", {"ta": (None, None)}),
            run("finetune", {"ta": (0.9, 0.0)}, seed=1),
            run("scrub", {"ta": (0.9, 0.0)}, status="diverged"),
        ]
    )
    assert (
        "finetune has no ta in one_class, training seed 0, and is left out there: It broke."
        in found.notes
    )
    assert "1 run diverged; the values are included." in found.notes


def test_means_over_devices_or_precisions_are_told():
    names = ("CPU", "CPU (AMD EPYC)")  # of one class
    runs = [run("finetune", {"ta": (0.9, 0.0)}, seed=n, device=names[n]) for n in (0, 1)]
    other = run("finetune", {"ta": (0.8, 0.0)}, seed=2, device="H200", precision="bf16")
    told = [[n for n in statistics(each).notes if "mix" in n] for each in (runs, [*runs, other])]
    assert told == [
        [],
        ["one_class has runs on CPU in fp32 and on H200 in bf16, and its means mix them."],
    ]


def test_the_lines_of_a_sweep_are_named_by_what_differs_alone():
    numbers = {"ta": (0.9, 0.0)}
    usual = {"epochs": 5, "momentum": 0.9, "lr": 0.01}

    def swept(
        scenario: str = "one_class", preset: str = "authors", **changes
    ) -> tuple[dict, Numbers]:
        return run(
            "scrub",
            numbers,
            scenario=scenario,
            method_preset=preset,
            parameters=json.dumps(usual | changes),
        )

    lines = [swept(), swept(lr=0.1), swept(lr=0.1, gradient_noise=0.5), swept(scope="classifier")]
    # under the other scenario the authors have other epochs, which makes no other line
    lines += [swept("class_wise", epochs=2), swept("class_wise", epochs=2, lr=0.1)]
    names = ["lr 0.01, gradient noise 0, scope all", "lr 0.1, gradient noise 0, scope all"]
    more = ["lr 0.1, gradient noise 0.5, scope all", "lr 0.01, gradient noise 0, scope classifier"]
    found = {
        scenario: {f"scrub ({name})" for name in mine}
        for scenario, mine in (("one_class", names + more), ("class_wise", names))
    }
    intervals = statistics(lines).intervals
    assert {
        scenario: set(group["method"]) for scenario, group in intervals.groupby("setting")
    } == found
    tuned = statistics(
        [*lines[:2], swept(preset="tuned", epochs=9, momentum=0.5), run("ssd", numbers)]
    ).intervals
    assert set(tuned["method"]) == {
        "scrub (authors, lr 0.01)",
        "scrub (authors, lr 0.1)",
        "scrub (tuned)",
        "ssd",
    }


# -- tests


def test_paired_tests_by_hand():
    """Six seeds, gaps of either sign. scrub is nearer to Retrain than finetune in all: p = 2 / 2⁶,
    three pairs, so 6 / 64 after Holm for the smallest two. salun equals finetune.
    """
    near = {"one_class": [0.01, -0.02, 0.03, -0.01, 0.02, -0.03]}
    far = {"one_class": [-0.11, 0.13, 0.15, 0.17, -0.19, 0.22]}
    found = statistics([*gaps("scrub", near), *gaps("finetune", far), *gaps("salun", far)])
    pairs = {
        frozenset((pair["first"], pair["second"])): pair for pair in found.pairs.to_dict("records")
    }
    for other in ("finetune", "salun"):
        pair = pairs[frozenset(("scrub", other))]
        assert (pair["n"], pair["p"], pair["p_holm"]) == (
            6,
            pytest.approx(2 / 64),
            pytest.approx(6 / 64),
        )
        towards = 1 if pair["second"] == "scrub" else -1
        assert pair["difference"] == pytest.approx(
            towards * np.median([0.10, 0.11, 0.12, 0.16, 0.17, 0.19])
        )
    assert pairs[frozenset(("salun", "finetune"))]["p_holm"] == 1.0
    assert any("the corrected p is at least 0.094" in note for note in found.notes)


def test_paired_tests_against_scipy():
    rng = np.random.default_rng(0)
    methods = ("scrub", "finetune", "salun", "ssd")
    drawn = {
        name: {one: rng.normal(0, 0.1, 5).tolist() for one in ("one_class", "class_wise", "random")}
        for name in methods
    }
    found = statistics([each for name in methods for each in gaps(name, drawn[name])])
    assert set(found.pairs["n"]) == {3}  # five seeds of a scenario are no five scenarios
    columns = {name: [np.abs(each).mean() for each in drawn[name].values()] for name in methods}
    raw = {}
    for pair in found.pairs.to_dict("records"):
        assert pair["p"] == pytest.approx(
            stats.wilcoxon(columns[pair["first"]], columns[pair["second"]]).pvalue
        )
        raw[pair["first"], pair["second"]] = pair
    ordered = sorted(raw.values(), key=lambda pair: pair["p"])
    for place, pair in enumerate(ordered):  # Holm: the largest of all earlier p times what is left
        assert pair["p_holm"] == pytest.approx(
            min(1, max(earlier["p"] * (6 - k) for k, earlier in enumerate(ordered[: place + 1])))
        )


def test_the_largest_table_without_holes_is_compared():
    """gradient_ascent ran once: it would leave one block. ssd lacks one of six: 3 · 5 cells are
    more than 2 · 6.
    """
    full = {"one_class": [0.1, 0.2, 0.3], "class_wise": [0.1, 0.2, 0.3]}
    runs = [
        *gaps("scrub", full),
        *gaps("salun", full),
        *gaps("ssd", {**full, "class_wise": [0.1, 0.2]}),
    ]
    found = statistics([*runs, *gaps("gradient_ascent", {"one_class": [0.1]})])
    assert set(found.methods) == {"scrub", "salun", "ssd"}
    assert len(found.blocks) == 5
    assert ("class_wise", 2) not in found.blocks
    assert any("the others have are missing: gradient_ascent." in note for note in found.notes)
    assert any(
        note.startswith("1 block of 6 (a setting and a seed) omitted") for note in found.notes
    )
    assert len(found.intervals) == 7  # intervals leave nothing out


def test_references_are_shown_and_not_tested():
    each = {"one_class": [0.1, 0.2, 0.3]}
    references = [run("retrain", {"ta": (0.9, None)}, seed=seed) for seed in range(3)] + gaps(
        "original", each
    )
    found = statistics([*references, *gaps("scrub", each), *gaps("salun", each)])
    assert set(found.methods) == {"scrub", "salun"} and list(found.intervals["method"][:2]) == [
        "original",
        "retrain",
    ]
    other = [
        run("retrain", {"ta": (0.8, -0.1)}, seed=seed, parameters='{"init_policy": "fresh"}')
        for seed in range(3)
    ]
    # of other settings: like any method
    assert "retrain" in " ".join(statistics([*references, *other, *gaps("scrub", each)]).methods)
    retrain = found.intervals.set_index("method").loc["retrain"]
    assert retrain["mean"] == pytest.approx(0.9) and math.isnan(retrain["gap_mean"])


def test_runs_from_other_weights_or_data_are_no_repeats():
    """Seeds 0 and 1 without a file, and the same seeds from one: two settings of two seeds each."""
    digest = "9c1b5e" + 58 * "0"
    runs = [
        one
        for hashes, gap in (("", 0.0), (f"original={digest}", 0.1))
        for one in gaps("scrub", {"one_class": [gap, gap]}, hashes=hashes)
    ]
    rows = statistics(runs).intervals
    found = {row["setting"]: (row["seeds"], row["gap_mean"]) for row in rows.to_dict("records")}
    assert found == {
        "one_class": (2, pytest.approx(0.0)),
        "one_class · original 9c1b5e": (2, pytest.approx(0.1)),
    }


# -- ranks


def test_average_ranks_by_hand():
    """Seeds are averaged within a scenario. one_class: scrub 0.1, salun 0.2, ssd 0.3; class_wise:
    salun 0.1, scrub and ssd 0.2 each. Ranks (1 + 2.5) / 2, (2 + 1) / 2, (3 + 2.5) / 2; Nemenyi's q
    for three methods is 2.343: 2.343 · √(3 · 4 / (6 · 2)).
    """
    found = statistics(
        [
            *gaps("scrub", {"one_class": [-0.05, 0.15], "class_wise": [0.2, -0.2]}),
            *gaps("salun", {"one_class": [0.2, -0.2], "class_wise": [0.1, 0.1]}),
            *gaps("ssd", {"one_class": [0.3, 0.3], "class_wise": [0.2, 0.2]}),
        ]
    ).ranking
    assert found is not None and found.blocks == 2
    assert found.ranks == pytest.approx({"salun": 1.5, "scrub": 1.75, "ssd": 2.75})
    assert found.critical_difference == pytest.approx(2.343, abs=1e-3)
    assert found.groups == (("salun", "scrub", "ssd"),)
    assert found.p == pytest.approx(
        stats.friedmanchisquare([0.1, 0.2], [0.2, 0.1], [0.3, 0.2]).pvalue
    )


def test_what_better_means_follows_the_card():
    """Costs and distances: small; gaps: small in size; likeness: large."""
    assert "absolute gap" in ranking.score_of(catalog.metric("mia_entropy"))
    assert (
        ranking.score_of(catalog.metric("rte"))
        == ranking.score_of(catalog.metric("l2"))
        == "value; smaller is better"
    )
    runs = [
        run(name, {"rte": (value, None)}, scenario=scenario)
        for scenario in ("one_class", "class_wise")
        for name, value in {"scrub": 0.3, "salun": 0.1, "ssd": 0.2}.items()
    ]
    found = statistics(runs, metric="rte").ranking
    assert found is not None and list(found.ranks) == ["salun", "ssd", "scrub"]
    likeness = next(
        card for card in catalog.metrics() if card.ideal == "high" and card.scenarios is None
    )
    found = statistics(
        [
            run(line["method"], {likeness.id: numbers["rte"]}, scenario=line["scenario"])
            for line, numbers in runs
        ],
        metric=likeness.id,
    )
    found = found.ranking
    assert found is not None and list(found.ranks) == ["scrub", "ssd", "salun"]


# -- agreement


def test_agreement_of_metrics_by_hand():
    """The nearest to Retrain in TA is the slowest, so τ(TA, RTE) is −1; FA swaps one of three pairs
    of TA: τ = (2 − 1) / 3.
    """
    numbers = {
        "scrub": {"ta": (0.9, -0.1), "fa": (0.5, 0.2), "rte": (0.3, None)},
        "salun": {"ta": (0.8, 0.2), "fa": (0.4, -0.1), "rte": (0.2, None)},
        "ssd": {"ta": (0.7, -0.3), "fa": (0.8, 0.5), "rte": (0.1, None)},
    }
    found = statistics(
        [run(name, each) for name, each in numbers.items()], agreement=["ta", "fa", "rte"]
    )
    assert found.tau.loc["ta", "rte"] == pytest.approx(-1)
    assert found.tau.loc["rte", "ta"] == pytest.approx(-1)
    assert found.tau.loc["ta", "fa"] == pytest.approx(1 / 3) and found.tau.loc["ta", "ta"] == 1
    again = [
        run(name, {**each, "rte": (each["ta"][1], None)}, scenario="class_wise")
        for name, each in numbers.items()
    ]
    both = statistics(
        [run(name, each) for name, each in numbers.items()] + again, agreement=["ta", "fa", "rte"]
    )
    # class_wise: RTE −0.1, 0.2, −0.3 rises as ssd, scrub, salun; TA is near as scrub, salun, ssd:
    # one pair agrees, two do not
    assert both.tau.loc["ta", "rte"] == pytest.approx((-1 - 1 / 3) / 2)
    assert len(both.agreement) == 6 and set(both.agreement["methods"]) == {3}


# -- values outside the range of original and Retrain


def watched(
    fa: list[float], *, method: str = "ssd", metric: str = "fa", attack: list[float] | None = None
) -> list[ranking.Suspicion]:
    """Original at 1, Retrain at 0.8, the method at `fa` over its seeds."""
    lines = []
    for seed, value in enumerate(fa):
        own = {f"{metric}_attack_accuracy": (attack[seed], None)} if attack else {}
        lines.append(run(method, {metric: (value, value - 0.8), **own}, seed=seed))
        lines += [
            run(name, {metric: (each, None)}, seed=seed)
            for name, each in (("original", 1.0), ("retrain", 0.8))
        ]
    return list(ranking.suspicions(*frames(lines)))


def test_forgetting_more_than_retrain_is_flagged():
    """0.5, 0.52, 0.54 are 0.28 below 0.8 on average; ± 4.303 · 0.02 / √3 = 0.05."""
    (found,) = watched([0.5, 0.52, 0.54])
    assert (found.setting, found.method, found.parameters, found.metric) == (
        "one_class",
        "ssd",
        "{}",
        "fa",
    )
    assert found.sentence == (
        "Forget accuracy of ssd in one_class is 52.0 %, below the range from 100.0 % (original) "
        "to 80.0 % (retrain) by 28.0 points, more than 3 training seeds explain: it forgets more "
        "than a model that never saw the samples."
    )


@pytest.mark.parametrize(
    "fa",
    [
        [0.85, 0.9, 0.95],  # inside
        [0.5, 0.7, 0.9],  # outside on average, but the seeds scatter
        [0.795, 0.795, 0.795],  # outside by half a point
        [0.1],  # one seed tells nothing
    ],
)
def test_what_seeds_explain_is_not_flagged(fa):
    assert watched(fa) == []


def test_an_attack_counts_only_where_it_works():
    """Efficacies 0.3 under both ends; the attack's own accuracy is 0.6, or a guess."""
    assert [
        s.metric for s in watched([0.5, 0.5, 0.5], metric="mia_entropy", attack=[0.6, 0.61, 0.6])
    ] == ["mia_entropy"]
    assert watched([0.5, 0.5, 0.5], metric="mia_entropy", attack=[0.49, 0.52, 0.5]) == []
    assert watched([0.5, 0.5, 0.5], metric="mia_entropy") == []


def test_lost_utility_is_no_suspicion_and_too_much_of_it_is():
    assert watched([0.5, 0.5, 0.5], metric="ta") == []
    # above both: the numbers need no sense here
    (found,) = watched([1.03, 1.03, 1.031], metric="ta")
    assert "above the range" in found.sentence and "test set" in found.sentence


# -- errors


def test_wrong_requests_get_a_sentence(tmp_path):
    lines = [run("scrub", {"ta": (0.9, 0.0)})]
    with pytest.raises(UnknownName, match="ta"):
        statistics(lines, metric="tta")
    with pytest.raises(UnknownName):
        statistics(lines, agreement=["fas"])
    with pytest.raises(
        BadValue, match="None of these results has a value of tfa. It exists only under class_wise"
    ):
        statistics(lines, metric="tfa")
    with full_store(tmp_path) as store:
        with pytest.raises(BadValue, match="nothing to compare"):
            ranking.from_store(store, dataset="mnist")
        with pytest.raises(BadValue, match="No result matches of ssd"):
            ranking.from_store(store, methods=["ssd"])
        assert set(ranking.from_store(store, methods=["salun"]).intervals["method"]) >= {"salun"}


# -- the command line and the demo results


@pytest.fixture(scope="module")
def demo(tmp_path_factory) -> Path:
    """One comparison of the demo as a pack of its own, which opens in a moment."""
    with open_pack(DEMO) as store:
        keys = next(each.keys for each in store.comparisons() if each.name == COMPARISON)
        return write_pack(store, tmp_path_factory.mktemp("demo") / "pack", keys=keys)


@pytest.fixture
def stats_json(capsys, demo) -> Callable[..., dict]:
    def run(*arguments: str) -> dict:
        assert cli.main(["stats", "--pack", str(demo), *arguments, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    return run


@pytest.fixture
def home(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def there(number: float | None) -> float:
    assert number is not None
    return number


def signed_rank(differences: np.ndarray) -> float:
    """Wilcoxon's two-sided p by all choices of signs; SciPy goes over to the normal law."""
    d = differences[differences != 0]
    ranks = stats.rankdata(np.abs(d))
    sums = np.array([[*each] for each in itertools.product((0, 1), repeat=len(d))]) @ ranks
    reached = ranks[d > 0].sum()
    tails = (sums <= reached + 1e-9).mean(), (sums >= reached - 1e-9).mean()
    return min(1.0, 2 * min(tails))


@pytest.mark.slow
def test_the_demo_from_end_to_end(capsys, home, demo, stats_json):
    """The command's figures against numbers worked out straight from the stored records."""
    found = stats_json(
        "--comparison", COMPARISON, "--metric", "fa", "--agreement", "fa,mia_correctness"
    )
    with open_pack(demo) as store:
        comparison = next(each for each in store.comparisons() if each.name == COMPARISON)
        results = [
            each for each in store.results(comparison=comparison.id) if each.spec["scenario"]
        ]
    gap = {
        (r.spec["scenario"], r.spec["method"], r.spec["training_seed"]): r.metrics["fa"].gap
        for r in results
    }
    scenarios = sorted({scenario for scenario, _, _ in gap})
    methods = sorted({method for _, method, _ in gap} - {"original", "retrain"})
    assert set(found["methods"]) == set(methods) and len(found["blocks"]) == 3 * len(scenarios)
    seeds = {m: [[abs(there(gap[s, m, n])) for n in range(3)] for s in scenarios] for m in methods}
    columns = {m: np.mean(each, axis=1).round(12) for m, each in seeds.items()}
    for pair in found["pairs"]:
        apart = (columns[pair["first"]] - columns[pair["second"]]).round(12)
        assert pair["p"] == pytest.approx(signed_rank(apart)) and pair["n"] == len(scenarios)
        assert pair["difference"] == pytest.approx(np.median(apart))
    ranked = stats.rankdata([columns[m] for m in methods], axis=0).mean(axis=1)
    assert found["ranking"]["ranks"] == pytest.approx(dict(zip(methods, ranked, strict=True)))
    for row in found["intervals"]:
        values = [
            there(r.metrics["fa"].value)
            for r in results
            if (r.spec["scenario"], r.spec["method"]) == (row["setting"], row["method"])
        ]
        assert row["seeds"] == 3
        assert row["mean"] == pytest.approx(np.mean(values))
        assert row["std"] == pytest.approx(np.std(values, ddof=1))
    for row in found["agreement"]:
        scores = [
            [
                -np.mean(
                    [
                        abs(there(r.metrics[name].gap))
                        for r in results
                        if (r.spec["scenario"], r.spec["method"]) == (row["setting"], m)
                    ]
                )
                for m in methods
            ]
            for name in (row["first"], row["second"])
        ]
        assert row["tau"] == pytest.approx(stats.kendalltau(*np.round(scores, 9)).statistic)
    assert any("pseudo_labels in one_class" in each["sentence"] for each in found["suspicions"])


@pytest.mark.slow
def test_tables_for_a_reader_and_a_paper(capsys, home, demo):
    common = ["stats", "--pack", str(demo), "--comparison", COMPARISON]
    common += ["--methods", "scrub,salun,ssd"]
    assert cli.main(common) == 0
    screen = capsys.readouterr()
    assert all(
        text in screen.out
        for text in ("Test accuracy (ta)", "Average ranks over 5 settings", "Wilcoxon", "Kendall")
    )
    assert "No paired test can be significant: with 5 blocks" in screen.err
    assert cli.main([*common, "--format", "csv", "--table", "pairs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "first,second,n,difference,p,p_holm" and len(lines) == 1 + math.comb(3, 2)
    assert cli.main([*common, "--format", "latex", "--table", "ranks", "--caption", "Ranks."]) == 0
    assert r"\caption{Ranks.}" in (latex := capsys.readouterr().out) and "average rank" in latex
    for table, in_it in itertools.product(("intervals", "agreement", "tau"), ("markdown",)):
        assert cli.main([*common, "--format", in_it, "--table", table]) == 0
        assert capsys.readouterr().out.startswith("| ")
