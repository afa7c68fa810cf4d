"""The runs that would decide an indication, from the drawer of a run into the queue."""

from __future__ import annotations

from collections import Counter

import pytest
from builders import full_store, make_result
from pages import judged, open_page

from dashboard import queue_data
from mucore import catalog
from mucore.errors import BadValue
from mucore.spec import RunSpec
from mucore.store import open_store


def offered(key: str, name: str = "missing_seeds") -> list:
    at = open_page("start", run=key)
    return [one for one in at.button if one.key == name]


def test_a_click_queues_the_missing_seeds_with_their_references(home, started, become):
    methods = ("finetune", "gradient_ascent", "salun", "scrub", "ssd", "duck")
    with full_store(home, methods=methods) as store:  # two seeds each
        lines = {(one.method, one.setting[3]): one for one in judged(store).values()}
    shown, line = lines["finetune", "class_wise"], lines["gradient_ascent", "one_class"]
    become("presenter")
    assert shown.verdict and shown.verdict.shown and not offered(shown.keys[0])
    assert line.verdict and line.verdict.needed == 4
    become("guest")
    assert not offered(line.keys[0])
    become("presenter")
    (button,) = offered(line.keys[0])
    assert "2 seeds, 8 runs" in button.label
    button.click().run()
    with open_store(home) as store:
        queued = [job.spec for job in store.jobs(limit=1000)]
    kinds = Counter((one["method"], one["scenario"]) for one in queued)
    methods = ("original", "retrain", "gradient_ascent")
    assert kinds == {("original", None): 2} | {(name, "one_class"): 2 for name in methods}
    assert {one["training_seed"] for one in queued} == {2, 3}
    assert started == [home] and not offered(line.keys[0])


def test_a_click_queues_every_other_method_in_the_setting_of_a_run(home, started, become):
    with full_store(home, methods=("finetune",)) as store:
        line = next(one for one in judged(store).values() if one.setting[3] == "one_class")
    become("guest")
    assert not offered(line.keys[0], "rivals")
    become("presenter")
    (button,) = offered(line.keys[0], "rivals")
    button.click().run()
    with open_store(home) as store:
        queued = [job.spec for job in store.jobs(limit=1000)]
        (setting,) = [one.spec for one in store.results(keys=line.keys[:1])]
    assert {one["training_seed"] for one in queued} == {0, 1}
    for name in ("dataset", "model", "recipe", "scenario_parameters"):
        assert all(one[name] == setting[name] for one in queued if one["scenario"])
    left = {card.id for card in catalog.METHODS} - {one["method"] for one in queued}
    # Retrain is stored, a file cannot be guessed, the others' cards refuse the scenario
    assert left - {"gkt", "scrub_rewind"} == {"retrain", "uploaded", "head_distillation"}
    assert not offered(line.keys[0], "rivals")


def test_no_method_is_offered_beside_a_run_whose_data_have_changed(home):
    with full_store(home, methods=("finetune",)) as store:
        result = next(one for one in store.results() if one.spec["method"] == "finetune")
        spec = RunSpec.model_validate(dict(result.spec))
        store.put_result(make_result(spec.model_copy(update={"data_hash": 64 * "0"})))
        keys = [one.key for one in store.results() if one.spec.get("data_hash")]
    assert queue_data.plan_rivals([result.key]).to_run
    with pytest.raises(BadValue, match="against another Retrain"):
        queue_data.plan_rivals(keys)
