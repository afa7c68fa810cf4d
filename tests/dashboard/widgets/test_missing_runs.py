"""The runs that would decide an indication, from the drawer of a run into the queue."""

from __future__ import annotations

from collections import Counter
from urllib.parse import parse_qs

from builders import full_store
from pages import button, judged, links, open_page

from mucore import catalog
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


def test_every_other_method_is_launched_in_the_setting_of_a_run(home, become):
    with full_store(home, methods=("finetune",)) as store:
        line = next(one for one in judged(store).values() if one.method == "finetune")
        (mine,) = [one.spec for one in store.results(keys=line.keys[:1])]
    become("guest")
    assert "Launch all other methods" not in links(open_page("start", run=line.keys[0]))
    become("presenter")
    at = open_page("start", run=line.keys[0])
    (link,) = [
        one.proto for one in at.get("page_link") if one.proto.label == "Launch all other methods"
    ]
    query = {
        name: one if len(one) > 1 else one[0] for name, one in parse_qs(link.query_string).items()
    }
    launched = open_page("launch", **query)
    button(launched, "Start").click().run()
    with open_store(home) as store:
        queued = [job.spec for job in store.jobs(limit=1000)]
    assert {one["training_seed"] for one in queued} == {0, 1}
    for name in ("dataset", "model", "recipe", "scenario_parameters"):
        assert all(one[name] == mine[name] for one in queued if one["scenario"])
    left = {card.id for card in catalog.METHODS} - {one["method"] for one in queued}
    # stored already, a file cannot be guessed, cards refuse the scenario, or a cheat
    assert left >= {"retrain", "uploaded", "head_distillation"} and len(left) < 8
