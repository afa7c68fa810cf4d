"""The benchmark runs through and writes down what it measured."""

from __future__ import annotations

import bench_lessons
import pytest

from dashboard.lessons import LESSONS
from mucore import cli
from mucore.runner import estimate
from mucore.testing import bench
from mucore.testing.synthetic import synthetic_store


@pytest.mark.slow
def test_the_quick_benchmark_measures_every_line(capsys):
    assert cli.main(["bench", "--quick", "--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0].partition(" (")[0] for line in lines] == [
        "Training of the original",
        "Its accuracy on the training set",
        "Its accuracy on the test set",
        "Training throughput against a bare loop",
        "Gradients of every training sample, for efficacy, against an epoch of training",
        "Retrain",
        "Evaluation of one model",
        "The same comparison a second time",
        "CKA of 500 x 64 features",
        "Forgetting quality of 32 x 32 models, 50 samples",
        "Start of the command line",
        "Frames of 500 results",
    ]
    assert "0 runs computed, 4 read" in next(
        line for line in lines if line.startswith("The same comparison")
    )


@pytest.mark.slow
def test_estimates_are_looked_at_three_times_in_two_comparisons(capsys):
    assert cli.main(["bench", "--estimates", "--quick", "--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0].rpartition(", ")[2] for line in lines] == [
        "at the start",
        "at a third",
        "at two thirds",
    ] * 2


def test_the_estimates_section_gives_ratios_and_says_that_the_machine_was_busy():
    looks = [("from own runs", bench.Look("at the start", estimate.Span(20, 30, 45), 40.0))]
    names = {"CPU cores": "2", "Device": "CPU", "Measured": "2026-01-02"}
    section = bench.estimates_page(looks, 7.2, names)
    assert "| from own runs | at the start | about 20 to 45 s | 30.0 s | 40.0 s | 0.75 |" in section
    assert "a load of 7 on 2 cores" in section and "load" not in bench.estimates_page(
        looks, 1.0, names
    )


def test_the_page_names_the_machine_and_marks_broken_promises():
    lines = [
        bench.Line("Training", "30 s", "at most 45 s", True),
        bench.Line("Start", "2 s", "under 1 s", False),
        bench.Line("Retrain", "9 s"),
    ]
    page = bench.page(lines, {"CPU cores": "2"})
    assert "| Training | 30 s | at most 45 s | kept |" in page
    assert "| Start | 2 s | under 1 s | **not kept** |" in page
    assert "| Retrain | 9 s |  |  |" in page
    assert "| CPU cores | 2 |" in page


def test_a_section_takes_the_place_of_its_like(tmp_path, monkeypatch):
    page = tmp_path / "benchmarks.md"
    page.write_text("# Benchmarks\n\nold\n\n## Pages\n\nkept\n")
    monkeypatch.setattr(bench, "PAGE", page)
    bench.put_section("# Benchmarks\n\nnew\n")
    bench.put_section("## Size\n\nlast\n")
    assert page.read_text() == "# Benchmarks\n\nnew\n\n## Pages\n\nkept\n\n## Size\n\nlast\n"


def test_the_synthetic_store_holds_every_method_with_gaps_to_retrain(tmp_path):
    with synthetic_store(tmp_path, 100) as store:
        runs, values = store.summaries(), store.metric_values()
        assert len(runs) == 100 and len(set(runs["key"])) == 100
        assert {"original", "retrain", "finetune", "scrub"} <= set(runs["method"])
        retrain = runs.loc[runs["method"] == "retrain", "key"].iloc[0]
        method = runs.loc[runs["method"] == "finetune", "key"].iloc[0]
        ta = values[values["metric"] == "ta"].set_index("key")
        assert ta.loc[method, "gap"] == pytest.approx(
            ta.loc[method, "value"] - ta.loc[retrain, "value"]
        )
        assert store.comparisons()[0].keys == tuple(runs["key"])


def test_the_lessons_section_marks_what_takes_too_long():
    section = bench_lessons.section(
        [bench_lessons.Measured("Short", 6, 20.4), bench_lessons.Measured("Long", 9, 130.0)]
    )
    assert "| Short | 6 | 20 |  |" in section and "| Long | 9 | 130 | **not kept** |" in section
    assert "within two minutes on two cores (**not kept**)" in section


@pytest.mark.slow
def test_a_lesson_is_measured_in_a_store_of_its_own(monkeypatch, tmp_path):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "untouched"))
    measured = bench_lessons.measure(LESSONS["forget-one-class"])
    methods = LESSONS["forget-one-class"].grid["methods"]
    # training, original and Retrain
    assert measured.title == "Forget one class" and measured.runs == len(methods) + 3
    assert measured.seconds > 0 and not (tmp_path / "untouched").exists()
