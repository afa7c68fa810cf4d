"""The runs that would decide an indication, from the drawer of a run into the queue."""

from __future__ import annotations

from collections import Counter

from builders import full_store
from pages import judged, open_page

from mucore.store import open_store


def offered(key: str) -> list:
    at = open_page("start", run=key)
    return [one for one in at.button if one.key == "missing_seeds"]


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
