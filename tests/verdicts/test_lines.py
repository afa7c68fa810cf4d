"""Verdicts from stored results: which runs make a line, which references count, and the distance to
Retrain.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from builders import make_result

from mucore.export import records, tables
from mucore.store import open_store
from mucore.store.records import Result
from mucore.verdicts import judge, judge_runs, judge_stored, looked_at, rules_of, run_of

SEEDS = (0, 1, 2)
COUNTS = {
    "test": [[450, 50], [50, 450]],
    "retain": [[450, 0], [0, 450]],
    "forget": [[90, 10], [0, 0]],
}
RETRAIN = {"fa": 0.80, "ra": 1.0, "ta": 0.90, "mia_confidence": 0.3}
ORIGINAL = {"fa": 1.0, "ra": 1.0, "ta": 0.90, "mia_confidence": 0.1}


def run(method: str, seed: int, values: dict[str, float], **changes) -> Result:
    return make_result(
        method=method, training_seed=seed, metrics=values, confusion=COUNTS, **changes
    )


def comparison(**method: float) -> list[Result]:
    """Three seeds of Original, Retrain and fine-tuning; Retrain's forget accuracy is 0.80 ± 0.01 (s
    = 0.01, b = 6.085 · 0.01).
    """
    made = []
    for seed in SEEDS:
        retrain = {**RETRAIN, "fa": 0.80 + 0.01 * (seed - 1)}
        made += [
            run("original", seed, ORIGINAL),
            run("retrain", seed, retrain),
            run("finetune", seed, {**retrain, **method}),
        ]
    return made


def words(results: list[Result]) -> dict[str, str | None]:
    return {line.method: line.verdict.word if line.verdict else None for line in judge(results)}


def test_retrain_has_no_verdict_and_the_original_did_nothing():
    assert words(comparison(fa=1.0, mia_confidence=0.1)) == {
        "original": "did nothing",
        "retrain": None,
        "finetune": "did nothing",
    }
    assert words(comparison(fa=0.80))["finetune"] == "forgot"
    assert words(comparison(fa=0.55))["finetune"] == "too much"


def test_a_line_is_all_seeds_of_one_setting_of_a_method():
    results = comparison(fa=0.80)
    (line,) = [line for line in judge(results) if line.method == "finetune"]
    assert line.verdict is not None and (
        line.verdict.seeds,
        line.verdict.retrains,
        len(line.keys),
    ) == (3, 3, 3)
    alone = judge_runs(results)
    assert set(alone) == {result.key for result in results}
    of_one = alone[line.keys[0]].verdict
    assert of_one is not None and (of_one.seeds, of_one.retrains, of_one.provisional) == (
        1,
        3,
        True,
    )


@pytest.mark.parametrize("status", ["diverged", "reverted", "unsolved"])
def test_a_line_with_a_run_that_ended_badly_keeps_its_verdict_and_does_not_compete(status: str):
    told = comparison(fa=0.80)
    (sound,) = [line for line in judge(told) if line.method == "finetune"]
    assert sound.qualified
    told[-1] = replace(told[-1], status=status)  # one seed of three
    (line,) = [line for line in judge(told) if line.method == "finetune"]
    assert line.verdict == sound.verdict
    assert line.verdict is not None
    assert line.verdict.qualified
    assert not line.qualified


def test_references_never_compete():
    assert not any(line.qualified for line in judge(comparison(fa=1.0, mia_confidence=0.1)))


def test_distance_is_the_mean_gap_over_the_metrics_that_decide():
    results = comparison(fa=1.0, ta=0.86)
    (line,) = [line for line in judge(results) if line.method == "finetune"]
    # seed 1: (|1.0 - 0.80| + 0 + |0.86 - 0.90| + 0) / 4 = 0.06; seeds 0 and 2 are 0.01 / 4 farther
    # and nearer
    assert line.distances == pytest.approx({0: 0.0625, 1: 0.06, 2: 0.0575})
    assert line.distance == pytest.approx(0.06)
    (retrain,) = [line for line in judge(results) if line.method == "retrain"]
    assert retrain.distance == 0.0


def test_a_missing_metric_leaves_no_distance_but_a_verdict():
    results = [
        replace(each, metrics={k: v for k, v in each.metrics.items() if k != "mia_confidence"})
        for each in comparison(fa=1.0)
    ]
    (line,) = [line for line in judge(results) if line.method == "finetune"]
    assert line.distance is None and line.verdict is not None and line.verdict.word == "did nothing"


def test_without_retrain_nothing_can_be_told():
    results = [each for each in comparison(fa=1.0) if each.spec["method"] != "retrain"]
    assert words(results) == {"original": "cannot tell", "finetune": "cannot tell"}
    assert judge([]) == ()


def test_a_seed_without_references_is_said_to_lack_them():
    alone, others = (
        [each for each in comparison(fa=0.80) if keep(each.spec)]
        for keep in (
            lambda spec: spec["method"] == "finetune" and spec["training_seed"] == 2,
            lambda spec: spec["method"] != "finetune" and spec["training_seed"] != 2,
        )
    )
    (line,) = [line for line in judge([*alone, *others]) if line.method == "finetune"]
    (bare,) = judge(alone)
    assert line.verdict is not None and bare.verdict is not None
    assert line.verdict.word == "cannot tell" and line.verdict.sentence == bare.verdict.sentence


def test_seeds_without_a_retrain_do_not_count():
    results = [
        each
        for each in comparison(fa=1.0)
        if not (each.spec["method"] == "retrain" and each.spec["training_seed"] == 2)
    ]
    (line,) = [line for line in judge(results) if line.method == "finetune"]
    assert line.verdict is not None
    assert line.verdict.seeds == 2
    assert len(line.distances) == 2


def test_a_blind_attack_and_a_collapse_are_read_from_what_runs_say():
    told = comparison(fa=0.80, mia_confidence=0.10)
    assert words(told)["finetune"] == "too little"
    note = (
        "These membership attacks cannot tell members from non-members here, so their efficacy "
        "is not evidence: confidence, prob."
    )
    assert words([replace(each, notes=(note,)) for each in told])["finetune"] == "forgot"
    flags = ("The model collapsed: 95 % of its test predictions are class 3.",)
    collapsed = [
        replace(each, flags=flags) if each.spec["method"] == "finetune" else each
        for each in comparison(fa=0.80)
    ]
    assert words(collapsed)["finetune"] == "damaged"
    # where one class is nearly all that stays, so does Retrain
    alike = [replace(each, flags=flags) for each in comparison(fa=0.80)]
    assert words(alike)["finetune"] == "forgot"


def test_one_retrain_takes_the_binomial_interval_of_its_forget_set():
    results = [each for each in comparison(fa=0.97) if each.spec["training_seed"] == 1]
    (line,) = [line for line in judge(results) if line.method == "finetune"]
    assert line.verdict is not None
    (check, *_) = line.verdict.checks
    assert check.gap.half == pytest.approx(
        1.6448536 * (2 * 0.8 * 0.2 / 100) ** 0.5
    )  # 100 forgotten samples


@pytest.mark.parametrize(
    ("scenario", "metrics"),
    [
        ("one_class", ("ra", "ta", "fa", "mia_confidence")),
        ("class_wise", ("ra", "tra", "tfa", "fa")),
        ("identities", ("ra", "ta", "fa", "forgetting_score")),
        ("backdoor", ("ta", "fa", "fa_true")),
    ],
)
def test_which_metrics_decide(scenario: str, metrics: tuple[str, ...]):
    assert rules_of(scenario).metrics == metrics


def test_stored_runs_are_judged_with_all_retrains_of_their_setting(tmp_path: Path):
    results = comparison(fa=1.0)
    with open_store(tmp_path) as store:
        store.put_results(results)
        found = judge_stored(store, method="finetune")
        assert {line.method for line in found.values()} == {"finetune"} and len(found) == 3
        assert all(
            line.verdict is not None and line.verdict.retrains == 3 for line in found.values()
        )
        assert judge_stored(store, method="scrub") == {}


@pytest.mark.slow
def test_the_demo_has_the_untouched_original_as_witness():
    """Wherever the original differs from Retrain beyond chance, the untouched original did nothing;
    nowhere has it forgotten.
    """
    from mucore.store import open_pack

    with open_pack(Path(__file__).parents[2] / "data" / "demo") as pack:
        lines = judge(pack.results(method=["original", "retrain"]))
    found = {line.setting[3:]: line.verdict for line in lines if line.method == "original"}
    assert {verdict.word for verdict in found.values() if verdict} <= {
        "did nothing",
        "nothing to forget",
        "cannot tell",
    }
    assert (
        sum(verdict is not None and verdict.word == "did nothing" for verdict in found.values())
        >= 10
    )


def test_json_tables_and_exports_carry_the_verdict(tmp_path: Path):
    results = comparison(fa=1.0, mia_confidence=0.1)
    with open_store(tmp_path) as store:
        store.put_results(results)
        frame = tables.comparison_frame(store)
        judged = judge_stored(store)
    by_method = frame.groupby("method")["verdict"].agg(lambda words: set(words.dropna()))
    assert by_method.to_dict() == {
        "finetune": {"did nothing"},
        "original": {"did nothing"},
        "retrain": set(),
    }
    assert frame.loc[frame["method"] == "finetune", "verdict_metric"].eq("fa").all()
    assert frame["distance"].notna().all()
    run_of = next(each for each in results if each.spec["method"] == "finetune")
    content = records.describe(run_of, judged=judged[run_of.key])
    assert content["verdict"]["word"] == "did nothing"
    assert [*content["verdict"]] == "word shown provisional sentence metric seeds_needed".split()
    assert content["distance"] == pytest.approx(judged[run_of.key].distance)
    retrain = next(each for each in results if each.spec["method"] == "retrain")
    assert records.describe(retrain, judged=judged[retrain.key])["verdict"] is None


def changed(result: Result, **spec) -> Result:
    """With other parts of its spec, and a key of its own."""
    key = "".join(f"{name}{value}" for name, value in spec.items())
    return replace(result, key=key, spec={**result.spec, **spec})


def test_what_is_looked_at_is_enough_for_every_verdict_and_its_word(tmp_path):
    collapsed = "The model collapsed: retain accuracy is 3.0 %, below 20.0 %."
    blind = (
        "These membership attacks cannot tell members from non-members here, so their efficacy is "
        "not evidence: confidence (51 % right)."
    )
    forgot = {**RETRAIN, "fa": 0.81}
    beside = [
        run("ssd", 0, forgot, flags=(collapsed,)),
        run("scrub", 0, {**RETRAIN, "fa": 0.99}, notes=(blind,), status="diverged"),
        changed(run("salun", 0, forgot), data_hash="a" * 16),
        changed(run("retrain", 0, forgot), parameters={"epochs": 2}),
        make_result(method="neggrad_plus", metrics={"ra": 1.0, "mia_confidence": None}),
        run("delete", 7, forgot),  # a seed without references
    ]
    with open_store(tmp_path) as store:
        store.put_results([*comparison(fa=0.80), *beside])
        runs = [found for one in store.results() if (found := run_of(one)) is not None]
        lines = judge(store.results(metrics=looked_at()))
    assert judge(runs) == lines and len(runs) == 15
    said = {line.verdict.word for line in lines if line.verdict}
    assert {"forgot", "damaged", "cannot tell"} <= said
