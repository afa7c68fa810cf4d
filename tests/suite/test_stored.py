"""A board from a store whose runs nobody has packed."""

from dataclasses import replace

import pytest
from boards import QUICK, fill, tune
from facts import tells

from mucore.errors import MucoreError
from mucore.store import open_store
from mucore.suite import description, lines
from mucore.suite.board import NO_REFERENCES, NO_SCORE, board_of, without
from mucore.suite.site import write_site

SUITE = description.load(QUICK)


def test_nothing_of_a_suite_makes_no_board(tmp_path):
    with open_store(tmp_path) as store:
        assert board_of(SUITE, store) is None
    fill(tmp_path, methods=())  # originals and Retrains alone
    with open_store(tmp_path) as store:
        assert board_of(SUITE, store) is None


def test_what_is_there_is_judged_and_the_rest_is_missing(tmp_path):
    fill(tmp_path, seeds=3)
    with open_store(tmp_path) as store:
        found = board_of(SUITE, store)
    assert found is not None
    (division,) = found.divisions
    assert division.name == "authors" and len(division.tables) == 2
    assert division.forgot() == {"scrub": 2, "finetune": 0, "ssd": 0}
    for table in division.tables:
        groups = {line.method: line.group for line in table.lines}
        assert (groups["scrub"], groups["finetune"], groups["ssd"]) == ("forgot", "nothing", "off")
        assert groups["fisher"] == "missing"
        (scrub,) = (line for line in table.lines if line.method == "scrub")
        assert list(scrub.runs) == [0, 1, 2] and scrub.reason == "Seeds 3, 4: It was not run."
        whole = "Seeds 0, 1, 2, 3, 4: It was not run."
        assert next(x for x in table.lines if x.method == "fisher").reason == whole
    (about,) = (about for _, about in found.packs)
    # two tasks of five originals and five Retrains, three methods of three seeds
    assert about["there"] == 2 * (5 + 5 + 9) < about["asked"]


def test_a_run_that_failed_is_missing_with_its_error(tmp_path):
    fill(tmp_path, seeds=3)
    runs = lines.runs_of(SUITE, "authors", ["fisher"])
    spec = next(s for s in runs[0].specs if s.method == "fisher")
    with open_store(tmp_path) as store:
        store.enqueue([spec])
        job = store.claim("w")
        while job is not None and job.key != spec.key:
            job = store.claim("w")
        assert job is not None
        store.finish_job(job.id, "failed", error="The disk is full.", worker_id="w")
        found = board_of(SUITE, store)
    assert found is not None
    (table,) = (t for t in found.divisions[0].tables if t.task.scenario == spec.scenario)
    (fisher,) = (line for line in table.lines if line.method == "fisher")
    assert f"Seeds {spec.training_seed}: The disk is full." in fisher.reason


def test_results_of_other_data_are_refused(tmp_path):
    fill(tmp_path)
    with open_store(tmp_path) as store:
        one = next(r for r in store.results() if r.spec["method"] == "scrub")
        store.put_result(replace(one, forget_hash="0" * 16))
        with pytest.raises(MucoreError, match="forget set"):
            board_of(SUITE, store)


@pytest.mark.slow
def test_what_no_table_is_of_is_said_with_its_reason(tmp_path):
    fill(tmp_path, lacking=[("backdoor", "retrain")])
    with open_store(tmp_path) as store:
        found = board_of(SUITE, store)
    assert found is not None
    (division,) = found.divisions
    assert [table.task.scenario for table in division.tables] == ["one_class"]
    assert [(task.scenario, why) for task, why in division.absent] == [("backdoor", NO_REFERENCES)]
    assert without(division, ["ssd"]).absent == division.absent
    assert found.absent == ("tuned",)
    # the last part of the page is of packs, which a store is none of
    out = write_site(replace(found, packs=()), tmp_path / "site").read_text(encoding="utf-8")
    assert NO_REFERENCES in out and 'id="tuned"' in out


@pytest.mark.slow
def test_a_tuned_line_says_where_its_search_or_its_work_was_another(tmp_path, monkeypatch):
    tune(
        monkeypatch,
        scrub={},
        finetune={"trials": 100},
        ssd={"cap": 1.0, "open": True},
        salun={"cap": 0.5, "trials": 20},
    )
    works = {"ssd": 0.6, "scrub": 0.348}
    methods = ("scrub", "finetune", "ssd", "salun")
    fill(tmp_path, methods=methods, division="tuned", works=works)
    with open_store(tmp_path) as store:
        found = board_of(SUITE, store)
    assert found is not None
    (division,) = (each for each in found.divisions if each.name == "tuned")
    for table in division.tables:
        mine = {line.method: line for line in table.lines}
        assert {name: len(mine[name].marks) for name in methods} == {
            "scrub": 0,
            "finetune": 1,
            "ssd": 2,
            "salun": 2,
        }
        assert tells(mine["finetune"].marks[0], 100, 24)


def test_one_retrain_makes_no_distance_and_says_so(tmp_path):
    fill(tmp_path)
    with open_store(tmp_path) as store:
        for one in store.results(method="retrain"):
            if one.spec["training_seed"]:
                few = {name: each for name, each in one.metrics.items() if name != "fa"}
                store.put_result(replace(one, metrics=few))
        found = board_of(SUITE, store)
    assert found is not None
    (division,) = found.divisions
    for table in division.tables:
        (scrub,) = (line for line in table.lines if line.method == "scrub")
        assert scrub.score is None and NO_SCORE in scrub.reason
    assert division.ranking is None
