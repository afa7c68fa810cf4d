"""The mutants of scripts/mutants.py can still be made, and the tests that catch them are there."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import mutants

ROOT = Path(__file__).resolve().parents[1]
MUTANTS = mutants.mutants()


def test_twenty_mutants_of_four_groups():
    groups = Counter(each.group for each in MUTANTS)
    assert groups == dict.fromkeys(("doors", "verdicts", "engine", "store"), 5)
    assert len({each.id for each in MUTANTS}) == 20


def test_each_changes_one_place_and_names_tests_that_exist():
    for each in MUTANTS:
        text = (ROOT / each.file).read_text(encoding="utf-8")
        assert text.count(each.old) == 1 and each.old != each.new, each.id
        assert each.caught_by, each.id
        for tests in each.caught_by:
            assert (ROOT / tests.partition(" ")[0].partition("::")[0]).exists(), each.id
