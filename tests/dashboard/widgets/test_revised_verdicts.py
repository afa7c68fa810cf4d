"""The notice on Results after the rule of verdicts has changed."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from builders import full_store
from facts import numbers
from pages import as_retrain, judged, lines_with, open_page

from mucore.store import open_store
from mucore.verdicts import VERDICT_SINCE

SAID = ("“forgot” here", "indications")


def test_it_counts_once_for_a_home_of_before_and_never_for_a_new_one(home):
    with full_store(home) as store:
        as_retrain(store, "salun", "finetune")
        lines = {line.keys: line.verdict for line in judged(store).values() if line.verdict}
        every = store.results()
    forgot = [said.shown for said in lines.values() if said.word == "forgot"]
    at = open_page("results")
    (said,) = lines_with(at, *SAID)
    counts = [len(forgot), sum(forgot), len(forgot) - sum(forgot)]
    assert numbers(said) == [str(each) for each in counts] and counts[0]
    at.button(key="seen_verdicts").click().run()
    assert not lines_with(at, *SAID) and not lines_with(open_page("results"), *SAID)
    (mark,) = (home / "notices").iterdir()
    mark.unlink()
    with open_store(home) as store:
        for result in every:
            store.put_result(replace(result, finished=VERDICT_SINCE + timedelta(hours=1)))
    assert not lines_with(open_page("results"), *SAID)
