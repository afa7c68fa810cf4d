"""Frames of the reading pages: every expected number is worked out in the test."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import own_methods
import pandas as pd
import pytest
from builders import make_result, make_spec_row
from facts import tells
from scipy import stats

from dashboard import frames
from dashboard.charts import results_table
from dashboard.frames import glossary as glossary_frames
from dashboard.frames import start as start_frames
from dashboard.frames.rows import rows_by_setting
from dashboard.text import labels
from mucore import catalog
from mucore.runs import Recipe
from mucore.store import open_store
from mucore.store.records import Measured
from mucore.verdicts import Judged, Verdict, Word, judge

VALUES = ["key", "metric", "value", "gap", "error"]


def run(
    method: str,
    *,
    seed: int = 0,
    unlearning: int = 0,
    parameters: str = "{}",
    preset: str = "authors",
    status: str = "ok",
    **more,
) -> dict:
    """One line of `summaries`, as far as the frames read it."""
    return {
        "key": f"{method}-{seed}-{unlearning}-{parameters}",
        "dataset": "digits",
        "model": "mlp",
        "recipe": "{}",
        "hashes": "",
        "scenario": "one_class",
        "scenario_parameters": "{}",
        "method": method,
        "method_preset": preset,
        "parameters": parameters,
        "training_seed": seed,
        "unlearning_seed": unlearning,
        "evaluation_seed": 0,
        "status": status,
    } | more


def table_of(
    lines: Sequence[tuple[dict, Mapping[str, tuple[float | None, float | None]]]],
    *,
    view: frames.View = "value",
    sort: str | None = None,
    descending: bool = False,
    judged: Mapping[str, Judged] | None = None,
) -> frames.ResultsTable:
    """A results table from (run, {metric: (value, gap)}) pairs."""
    values = [
        (line["key"], metric, value, gap, None if value is not None else f"{metric} failed.")
        for line, metrics in lines
        for metric, (value, gap) in metrics.items()
    ]
    summaries = pd.DataFrame([line for line, _ in lines])
    return frames.results_table(
        summaries,
        pd.DataFrame(values, columns=VALUES),
        view=view,
        sort=sort,
        descending=descending,
        judged=judged,
    )


@pytest.mark.parametrize(
    ("value", "unit", "signed", "text"),
    [
        (0.9342, "percent", False, "93.4"),
        (-0.709, "percent", True, "−70.9"),
        (8.198, "ratio", False, "8.2"),
        (0.0361, "ratio", False, "0.036"),
        (0.00000801, "ratio", False, "8.0e−6"),
        (427.99e9, "MB", False, "427,990"),
        (None, "percent", False, "–"),
        (math.nan, "ratio", False, "–"),
    ],
)
def test_numbers_are_written_as_the_screen_wants_them(value, unit, signed, text):
    assert labels.number(value, unit, signed=signed) == text


def test_half_width_is_the_t_interval():
    """Values 0.90, 0.92, 0.97: mean 0.93, s = sqrt((0.0009 + 0.0001 + 0.0016) / 2) = 0.036056;
    t(0.975, 2) = 4.302653, so 0.089567.
    """
    assert frames.half_width(math.sqrt(0.0026 / 2), 3) == pytest.approx(
        4.302653 * math.sqrt(0.0013) / math.sqrt(3), rel=1e-6
    )
    low, high = stats.t.interval(0.95, 2, loc=0.93, scale=math.sqrt(0.0013 / 3))
    assert frames.half_width(math.sqrt(0.0013), 3) == pytest.approx((high - low) / 2)
    assert frames.half_width(math.nan, 1) is None


def test_repeats_inside_a_training_are_averaged_before_the_interval():
    """Training 0 has unlearning seeds with TA 0.8 and 0.9 (mean 0.85), training 1 has TA 0.95: mean
    0.90, s = 0.0707107, n = 2 (not 3).
    """
    table = table_of(
        [
            (run("finetune", seed=0, unlearning=0), {"ta": (0.8, -0.1)}),
            (run("finetune", seed=0, unlearning=1), {"ta": (0.9, 0.0)}),
            (run("finetune", seed=1), {"ta": (0.95, 0.05)}),
        ]
    )
    cell = table.rows[0].cells["ta"]
    assert cell.value is not None and cell.gap is not None
    assert cell.value.mean == pytest.approx(0.90)
    assert cell.value.seeds == 2
    assert cell.value.half == pytest.approx(12.7062047 * 0.0707106781 / math.sqrt(2), rel=1e-6)
    assert cell.gap.mean == pytest.approx(0.0)  # (-0.05 + 0.05) / 2
    assert tells(table.interval, "half", "95 %", "2 training seeds")


def test_methods_of_ones_own_with_one_title_are_told_apart(home, tmp_path, monkeypatch):
    monkeypatch.setenv("MUCORE_PLUGINS", str(tmp_path))
    for name, title in (("one", "Mine"), ("two", "Mine"), ("three", "SSD"), ("four", "Retrain")):
        path = own_methods.write(tmp_path, name, "return model.eval()")
        path.write_text(path.read_text().replace("Mine", title))
    methods = ("retrain", "ssd", "one", "two", "three", "four")
    titles = {row.method: row.title for row in table_of([(run(each), {}) for each in methods]).rows}
    assert len(set(titles.values())) == len(methods)
    assert (titles["retrain"], titles["ssd"]) == ("Retrain", "SSD")
    assert all(titles[name].endswith(f" ({name})") for name in methods[2:])
    (tmp_path / "two.py").unlink()
    assert labels.method_names("one") == ("Mine", "own")


def test_missing_cells_carry_their_reason():
    table = table_of([(run("finetune"), {"ta": (0.9, None), "mia_entropy": (None, None)})])
    cells = table.rows[0].cells
    assert cells["mia_entropy"].reason == "mia_entropy failed."
    assert cells["fa"].reason == "Not measured in these runs."
    assert cells["ta"].reason.startswith("No gap")
    assert frames.cell_text(cells["fa"], table.columns[2], "value", reference=False) == ("–", "")


def test_the_first_line_is_how_far_retrains_lie_apart():
    """Retrains at 90, 92 and 94 %: ordered differences -4, -2, -2, 2, 2, 4, whose 97.5th percentile
    is 4 - 0.125 * 2 = 3.75 by linear interpolation at place 4.875 of 0 to 5.
    """
    retrains = [(run("retrain", seed=seed), {"ta": (0.9 + 0.02 * seed, 0.0)}) for seed in range(3)]
    method = (run("ssd"), {"ta": (0.5, -0.4)})
    table = table_of([*retrains, method])
    assert table.noise == pytest.approx({"ta": 0.0375})
    assert table.frame["Method"].tolist()[0] == "Retrain, 95 % band"
    assert table.frame["TA (%)"].tolist()[0] in ("± 3.8", "± 3.7")
    assert len(table.frame) == len(table.rows) + 1
    html = results_table.html(table, dark=False)
    assert html.index("Retrain, 95 % band") < html.index('data-row="')
    # one Retrain tells nothing of others, and other settings of it are no other seeds
    other = (run("retrain", seed=1, parameters='{"epochs": 2}'), {"ta": (0.7, 0.0)})
    for lines in ([retrains[0], method], [retrains[0], other, method]):
        alone = table_of(lines)
        assert alone.noise == {} and len(alone.frame) == len(alone.rows)
        assert "95 % band" not in results_table.html(alone, dark=False)


def test_sorting_keeps_references_on_top_and_missing_last():
    lines = [
        (run("retrain"), {"fa": (0.5, None)}),
        (run("finetune"), {"fa": (0.9, 0.4)}),
        (run("ssd"), {"fa": (0.3, -0.2)}),
        (run("salun"), {"ta": (0.3, -0.2)}),
        (run("scrub"), {"fa": (0.6, 0.1)}),
    ]
    # gaps 0.1, 0.2, 0.4: what is nearest to Retrain, not nearest to 0
    ideal_first = ["retrain", "scrub", "ssd", "finetune", "salun"]
    for view in ("value", "gap"):
        assert [row.method for row in table_of(lines, view=view, sort="fa").rows] == ideal_first
    falling = [row.method for row in table_of(lines, sort="fa", descending=True).rows]
    assert falling == ["retrain", "finetune", "ssd", "scrub", "salun"]
    assert [row.method for row in table_of(lines, sort="no_such").rows] == [
        row.method for row in table_of(lines).rows
    ]


def test_variants_of_a_method_are_rows_of_their_own_and_say_how_they_differ():
    one, two, noisy = (
        json.dumps(each) for each in ({"lr": 0.1}, {"lr": 0.01}, {"lr": 0.1, "gradient_noise": 0.5})
    )

    def titles(second: str, **more: Any) -> list[str]:
        lines = [run("ssd", parameters=one), run("ssd", parameters=second, **more)]
        table = table_of([(line, {"ta": (0.9, 0.0)}) for line in lines])
        assert len({row.id for row in table.rows}) == 2
        return sorted(row.title for row in table.rows)

    assert titles(two, preset="tuned") == ["SSD (authors)", "SSD (tuned)"]
    assert titles(two) == ["SSD (lr 0.01)", "SSD (lr 0.1)"]
    assert titles(noisy) == ["SSD (gradient noise 0)", "SSD (gradient noise 0.5)"]


def full(ta: float, fa: float, rte: float) -> dict:
    """Metrics of a method that is off Retrain's TA 0.9 and FA 0.5 by `ta` and `fa`."""
    return {"ra": (0.5, 0.0), "ta": (0.9 + ta, ta), "fa": (0.5 + fa, fa), "rte": (rte, None)}


def judged_of(
    lines: Sequence[dict], words: Mapping[str, Word], distances: Mapping[str, tuple[float, ...]]
) -> dict[str, Judged]:
    """By key of `lines`, the judged line of its method, with a word (none: Retrain) and distances
    by method.
    """
    found = {}
    for line in lines:
        name = line["method"]
        verdict = (
            Verdict(word=words[name], metric="fa", sentence=f"It is {words[name]}.", shown=True)
            if name in words
            else None
        )
        found[line["key"]] = Judged(
            setting=("digits", "mlp", "{}", "one_class", "{}"),
            method=name,
            parameters="{}",
            keys=(line["key"],),
            verdict=verdict,
            distances=dict(enumerate(distances.get(name, ()), line["training_seed"])),
        )
    return found


def judged_table(
    words: Mapping[str, Word], distances: Mapping[str, tuple[float, ...]], **more
) -> frames.ResultsTable:
    """Four methods of one seed, the more useful and the cheaper the less they forget."""
    numbers = {
        "original": full(0.02, 0.5, 0.0),
        "finetune": full(0.01, 0.4, 0.001),
        "scrub": full(-0.04, 0.04, 0.2),
    }
    numbers |= {"ssd": full(-0.30, 0.0, 0.01), "salun": full(-0.01, 0.1, 0.3)}
    lines = [run(name) for name in numbers]
    pairs = [(line, numbers[line["method"]]) for line in lines]
    return table_of(pairs, judged=judged_of(lines, words, distances), **more)


WORDS_OF: Mapping[str, Word] = {
    "original": "did nothing",
    "finetune": "did nothing",
    "scrub": "forgot",
    "ssd": "damaged",
    "salun": "forgot",
}
AWAY = {"original": (0.3,), "finetune": (0.2,), "scrub": (0.02,), "ssd": (0.01,), "salun": (0.05,)}


@pytest.mark.parametrize(
    ("bad", "facts"),
    [
        # SSD is nearer and cheaper and damaged, fine-tuning cheapest of all and did nothing
        ({}, ("SCRUB", "2.0", "20 %")),
        ({"scrub": {"shown": False}}, ("SalUn", "5.0", "30 %")),
        ({"scrub": {"features": "still know it"}}, ("SalUn", "5.0", "30 %")),
        ({"scrub": {"shown": False}, "salun": {"shown": False}}, ("SCRUB", "may", "2.0")),
        ({"scrub": {"word": "damaged"}, "salun": {"word": "damaged"}}, ("No method",)),
    ],
)
def test_only_methods_that_forgot_are_called_closest_those_that_did_for_certain_first(bad, facts):
    rows = [
        replace(row, verdict=replace(row.verdict, **bad.get(row.method, {})))
        if row.verdict
        else row
        for row in judged_table(WORDS_OF, AWAY).rows
    ]
    assert tells(frames.nearest_sentence(rows), *facts)


def test_an_order_that_two_retrains_would_have_is_said_to_be_none():
    rows = judged_table(WORDS_OF, AWAY).rows  # SCRUB 2 points away, SalUn 5, SSD 1 and damaged
    assert tells(frames.nearest_sentence(rows, 0.04), "SCRUB", "2.0")
    assert tells(frames.nearest_sentence(rows, 0.05), "SCRUB", "one other")


def test_start_shows_who_fell_short_and_the_accuracy_that_hides_it():
    words: dict[str, Word] = {**WORDS_OF, "salun": "too little"}
    rows = judged_table(words, AWAY).rows
    shown = [(row.title, round(100 * (row.away or 0), 6)) for row in start_frames.distances(rows)]
    assert shown == [("Original", 30.0), ("SalUn", 5.0), ("SCRUB", 2.0)]
    # who did nothing stands in where nobody forgot too little
    idle = start_frames.distances(judged_table(WORDS_OF, AWAY).rows)
    assert idle[1].title == "Fine-tune"
    known = start_frames.distances(rows, ["ssd"])
    assert [row.title for row in known] == ["Original", "SCRUB"]
    assert start_frames.distances(judged_table({}, {}).rows) == []


def test_tables_sort_by_distance_by_verdict_and_by_family():
    def order(**more) -> str:
        return " ".join(row.method for row in judged_table(WORDS_OF, AWAY, **more).rows)

    assert order() == order(sort=frames.DISTANCE) == "original ssd scrub salun finetune"
    assert order(sort=frames.VERDICT) == "original scrub salun ssd finetune"
    assert order(sort=frames.VERDICT, descending=True) == "original finetune ssd scrub salun"
    assert order(sort=frames.FAMILY) == "original ssd scrub finetune salun"


def test_a_click_on_a_head_turns_the_order_round_and_then_back():
    orders = [("fa", "fa"), ("-fa", "fa"), (frames.USUAL, "fa"), ("fa", "distance")]
    assert [frames.next_order(*each) for each in orders] == ["-fa", None, "fa", "distance"]
    assert frames.next_order(frames.USUAL, frames.USUAL) == f"-{frames.USUAL}"
    assert frames.next_order("fa", frames.USUAL) is None


def test_rows_outside_original_and_retrain_are_found_by_their_id():
    """Over three seeds SSD is 0.5 below both ends, SalUn with one of two sets of parameters too,
    Fine-tune is between them.
    """
    level = {"original": 1.0, "retrain": 0.8, "finetune": 0.9, "ssd": 0.3}
    lines = [run(name, seed=seed) for name in level for seed in range(3)]
    lines += [
        run("salun", seed=seed, parameters=f'{{"lr": {lr}}}') for lr in (1, 2) for seed in range(3)
    ]
    fa = [
        level.get(line["method"], 0.3 if line["parameters"] == '{"lr": 2}' else 0.8)
        for line in lines
    ]
    values = [(line["key"], "fa", value, None, None) for line, value in zip(lines, fa, strict=True)]
    found = frames.suspicious(
        pd.DataFrame(lines), pd.DataFrame(values, columns=VALUES).astype({"gap": float})
    )
    assert set(found) == {frames.row_id("ssd", "{}"), frames.row_id("salun", '{"lr": 2}')}
    (sentence,) = found[frames.row_id("ssd", "{}")]
    assert "30.0 %, below the range" in sentence


def test_method_settings_keep_scenarios_apart():
    made = [
        ("class_wise", {"class_ids": [0]}, {"fa": (0.1, 0.1), "ta": (0.8, -0.02)}),
        ("one_class", {"budget": 0.2}, {"fa": (0.5, -0.3), "rte": (0.1, None)}),
        ("one_class", {"budget": 0.02}, {"fa": (0.5, -0.2)}),
        ("one_class", {"budget": 0.1}, {"fa": (0.5, -0.1)}),
    ]
    lines = [
        run("ssd", seed=seed, scenario=scenario, scenario_parameters=json.dumps(parameters))
        | {"forget_count": 100 * parameters.get("budget", 1)}
        for seed, (scenario, parameters, _) in enumerate(made)
    ]
    values = [
        (line["key"], name, value, gap, None)
        for line, (_, _, metrics) in zip(lines, made, strict=True)
        for name, (value, gap) in metrics.items()
    ]
    settings = frames.method_settings(
        pd.DataFrame(lines), pd.DataFrame(values, columns=VALUES), method="ssd"
    )
    assert [row.title for row in settings] == [
        *(f"Part of one class · budget {budget}\u202f%" for budget in (2, 10, 20)),
        "Whole classes",
    ]
    assert [row.id for row in settings] == [lines[place]["key"] for place in (2, 3, 1, 0)]
    frame = frames.settings_frame(settings)
    assert list(frame["FA gap"]) == ["−20.0", "−10.0", "−30.0", "+10.0"]
    assert list(frame["RTE"]) == ["–", "–", "0.10", "–"]
    assert set(frame["Verdict"]) == set(frame["Distance (points)"]) == {"–"}  # nobody judged


def test_rows_of_several_settings_at_once_are_those_of_each():
    """Of two Retrains 0.2 apart 97.5 % of the differences either way are below 0.19."""
    lines = [
        run(method, seed=seed, scenario=scenario) | {"key": f"{scenario} {method} {seed}"}
        for scenario in ("one_class", "class_wise")
        for method in ("retrain", "ssd")
        for seed in (0, 1)
    ]
    values = pd.DataFrame(
        [
            (line["key"], "fa", 0.5 + 0.2 * (place == 1), -0.1 * (place > 3), None)
            for place, line in enumerate(lines)
        ],
        columns=VALUES,
    )
    every = pd.DataFrame(lines)
    numbers = (every["scenario"] == "class_wise").astype(int)
    found = rows_by_setting(every, values, ["fa"], numbers.tolist())
    for number in (0, 1):
        group = every[numbers == number]
        mine = values[values["key"].isin(group["key"])]
        assert found[number] == frames.metric_rows(group, mine, ["fa"])
    assert [rows[0].cells["fa"].noise for rows in found.values()] == [pytest.approx(0.19), 0.0]


def test_other_data_or_weights_of_one_name_are_another_setting():
    shift = {"a": 0.0, "b": 0.4}
    lines, numbers = [], []
    for name, gap in shift.items():
        for method in ("retrain", "ssd"):
            for seed in (0, 1):
                key, hashes = f"{name} {method} {seed}", f"data={name * 64}"
                line = run(method, seed=seed, dataset="npz:mine.npz", hashes=hashes)
                lines.append(line | {"key": key, "forget_count": 10})
                numbers.append((key, "fa", 0.1 + 0.2 * seed, gap, None))
    every, values = pd.DataFrame(lines), pd.DataFrame(numbers, columns=VALUES)
    settings = frames.method_settings(every, values, method="ssd")
    found = {row.id[0]: row for row in settings}
    assert [len(row.keys) for row in settings] == [2, 2]
    assert len({row.title for row in settings}) == 2
    assert all(name * 6 in row.title for name, row in found.items())
    gaps = {name: row.cells["fa"].gap for name, row in found.items()}
    assert {name: gap and gap.mean for name, gap in gaps.items()} == shift


def test_versions_of_a_users_own_method_are_lines_of_their_own(home):
    with open_store(home) as store:
        spec = make_spec_row(scenario="one_class", method="retrain")
        spec = spec.model_copy(update={"method": "mine", "parameters": {"lr": 0.1}})
        for file, gap in (("a" * 16, -0.3), ("b" * 16, 0.3)):
            for seed in (0, 1):
                made = spec.model_copy(update={"method_hash": file, "training_seed": seed})
                store.put_result(make_result(made, metrics={"fa": Measured(value=0.5, gap=gap)}))
        runs, values = store.summaries(), store.metric_values()
        judged = judge(store.results())
    rows = frames.metric_rows(runs, values, ["fa"])
    gaps = {row.parameters["file_version"]: row.cells["fa"].gap for row in rows}
    assert {name: gap and (gap.mean, gap.seeds) for name, gap in gaps.items()} == {
        "a" * 8: (-0.3, 2),
        "b" * 8: (0.3, 2),
    }
    assert [("a" * 8 in row.title, "b" * 8 in row.title) for row in rows] == [
        (True, False),
        (False, True),
    ]
    assert {line.parameters for line in judged} == set(runs["parameters"])
    assert sorted(len(line.keys) for line in judged) == [2, 2]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("overfitting", ("idea", "overfitting")),
        ("epsilon", ("idea", "differential_privacy")),
        ("trojan", ("scenario", "backdoor")),
        ("shadow models", ("metric", "ulira_accuracy")),
    ],
)
def test_glossary_finds_what_people_type(query, first):
    found = glossary_frames.search(glossary_frames.glossary(), query)
    assert (found[0].kind, found[0].id) == first


def test_parameters_frame_scales_the_authors_epochs():
    """SCRUB's five epochs of a 200-epoch training become max(1, round(5 · 20 / 200)) = 1 on the
    20-epoch recipe.
    """
    frame = glossary_frames.parameters_frame(
        catalog.method("scrub"), Recipe(epochs=20, batch_size=64, lr=0.1)
    ).set_index("Setting")
    assert (frame.loc["epochs", "Authors"], frame.loc["epochs", "On this recipe"]) == ("5", "1")
    assert frame.loc["alpha", "On this recipe"] == "0.5"
