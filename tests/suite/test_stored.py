"""A board from a store whose runs nobody has packed."""

from dataclasses import replace

import pytest
from boards import QUICK, fill

from mucore.errors import MucoreError
from mucore.store import open_store
from mucore.suite import description
from mucore.suite.stored import board_of

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
        assert list(scrub.runs) == [0, 1, 2] and scrub.reason == "It was not run."
    (about,) = (about for _, about in found.packs)
    # two tasks of five originals and five Retrains, three methods of three seeds
    assert about["there"] == 2 * (5 + 5 + 9) < about["asked"]


def test_results_of_other_data_are_refused(tmp_path):
    fill(tmp_path)
    with open_store(tmp_path) as store:
        one = next(r for r in store.results() if r.spec["method"] == "scrub")
        store.put_result(replace(one, forget_hash="0" * 16))
        with pytest.raises(MucoreError, match="forget set"):
            board_of(SUITE, store)
