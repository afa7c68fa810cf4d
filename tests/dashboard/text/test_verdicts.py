"""Verdicts in words and icons, by hand-made rows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from facts import numbers, tells
from streamlit.testing.v1 import AppTest

from dashboard import frames
from dashboard.text import verdicts
from mucore.verdicts import WORDS, Check, Judged, Verdict, Word
from mucore.verdicts.rule import Chance

CHECK = Check(
    metric="fa",
    value=0.92,
    original=1.0,
    retrain=0.9,
    margin=0.02,
    gap=Chance(0.04, 0.05),
    way=Chance(0.01, 0.01),
    moved=Chance(0.01, 0.01),
)


def verdict(word: Word, *, shown: bool = True, **more) -> Verdict:
    return Verdict(
        word=word,
        metric="fa",
        sentence=f"It is {word}.",
        shown=shown,
        checks=(CHECK,),
        retrains=3,
        seeds=3,
        **more,
    )


def row(
    word: Word, number: int = 0, *, method: str = "", shown: bool = True, unsound: int = 0
) -> frames.Row:
    return frames.Row(
        id=f"{word}-{number}",
        method=method or f"{word}-{number}",
        title=word,
        family="teacher",
        preset="authors",
        parameters={},
        keys=("k",),
        training_seeds=(0,),
        unsound={"diverged": unsound} if unsound else {},
        cells={},
        verdict=verdict(word, shown=shown),
    )


def rows(**counts: int) -> list[frames.Row]:
    found = {word: word.replace(" ", "_") for word in WORDS}
    return [
        row(word, number) for word, name in found.items() for number in range(counts.get(name, 0))
    ]


def test_every_word_has_an_icon_that_streamlit_knows_and_no_two_share_one():
    from streamlit.material_icon_names import ALL_MATERIAL_ICONS

    assert set(verdicts.ICONS) == set(WORDS)
    assert len(set(verdicts.ICONS.values())) == len(WORDS)
    assert set(verdicts.ICONS.values()) <= set(ALL_MATERIAL_ICONS)


@pytest.mark.parametrize(
    ("counts", "said"),
    [
        (
            {"did_nothing": 12, "too_little": 6, "damaged": 9, "forgot": 12},
            (
                "12 of 39 methods forgot. 18 did not forget here: 12 did nothing, 6 forgot too "
                "little. 9 damaged the model."
            ),
        ),
        (
            {"did_nothing": 3, "damaged": 1},
            "3 of 4 methods did nothing here. 1 damaged the model. None forgot.",
        ),
        (
            {"cannot_tell": 25, "damaged": 15},
            "15 of 40 methods damaged the model. 25 cannot be judged yet.",
        ),
        ({}, ""),
    ],
)
def test_the_count_can_be_read_aloud(counts, said):
    assert verdicts.count_sentence(rows(**counts)) == said


def test_settings_are_counted_where_a_method_has_several():
    both = [
        row("forgot", 0, method="salun"),
        row("did nothing", 1, method="salun"),
        row("damaged", 2, method="ssd"),
    ]
    said = verdicts.count_sentence(both)
    assert tells(said, "2 methods", "3 settings", "1 forgot", "1 did nothing", "1 damaged")
    assert numbers(said) == ["2", "3", "1", "1", "1"]


def test_runs_that_did_not_end_as_planned_and_features_that_still_know_it_are_said():
    known = row("forgot", 1)
    assert known.verdict is not None
    known = replace(known, verdict=replace(known.verdict, features="still know it"))
    said = verdicts.count_sentence(
        [row("forgot", 0), known, row("forgot", 2, shown=False, unsound=1)]
    )
    # of three: two forgot, one's features know it, and one got there in unsound runs
    assert numbers(said) == ["2", "3", "1", "1"] and tells(said, "the features of 1")
    assert not tells(said, "indication")  # the unsound one is counted apart


def test_only_what_forgot_and_ended_well_qualifies():
    every = [row(word) for word in WORDS]
    reference = replace(row("forgot", 1), family="reference")
    assert [
        each.id for each in verdicts.qualified([*every, reference, row("forgot", 2, unsound=1)])
    ] == ["forgot-0"]


def test_why_none_qualifies_takes_the_reason_of_most():
    assert verdicts.why_none(rows(damaged=2, too_little=1)).startswith("No method")
    for word in ("nothing to forget", "cannot tell"):
        some = rows(**{word.replace(" ", "_"): 2}, damaged=1)
        assert verdicts.why_none(some) == verdict(word).sentence


def test_those_shown_lead_and_indications_where_none_is():
    some = [row("forgot", 0), row("forgot", 1, shown=False), row("damaged", 2)]
    assert [each.id for each in verdicts.leading(some)] == ["forgot-0"]
    assert [each.id for each in verdicts.leading(some[1:])] == ["forgot-1"]
    assert tells(verdicts.count_sentence(some), "2 of 3", "1 shown", "1 by indication")


def test_checks_as_a_table_and_a_tooltip():
    line = verdicts.checks_frame(verdict("forgot")).iloc[0]
    assert (line["Progress"], line["From Retrain"], line["Margin"]) == ("0.80", "+2.0 ± 4.0", "2.0")
    text = verdicts.checks_text(verdict("forgot"))
    assert tells(text, "0.80", "+2.0", "4.0", "2.0") and tells(text, "3 seeds")
    few = replace(verdict("forgot"), seeds=1)
    assert tells(verdicts.checks_text(few), "3 Retrains")
    assert "Retrains" not in verdicts.checks_text(replace(few, retrains=1)).splitlines()[-1]
    assert verdicts.checks_text(replace(verdict("cannot tell"), checks=())) == ""


def shown(judged):
    from dashboard.widgets.verdict_line import verdict_line

    verdict_line(judged)


def test_the_headline_of_a_run():
    judged = Judged(
        setting=("digits", "mlp", "{}", "one_class", "{}"),
        method="salun",
        parameters="{}",
        keys=("k",),
        verdict=verdict("too little"),
        distances={0: 0.05},
    )
    at = AppTest.from_function(shown, args=(judged,), default_timeout=60).run()
    assert not at.exception
    assert [each.value for each in at.markdown] == [
        "#### :material/remove_circle: too little",
        "It is too little.",
    ]
    assert at.dataframe[0].value["Here"].tolist() == ["92.0 %"]
    assert "5.0 points" in at.caption[0].value
    retrain = AppTest.from_function(shown, args=(replace(judged, verdict=None),)).run()
    assert not retrain.exception and not retrain.markdown


def test_the_bar_counts_every_fate_and_its_indications_apart():
    outputs = replace(row("forgot", 9), verdict=verdict("forgot", features="still know it"))
    cheat = replace(row("forgot", 8), verdict=verdict("forgot", cheats=True))
    lines = [row("forgot"), row("forgot", 1, shown=False), outputs, cheat, row("too much", 1)]
    found = {part.fate: (part.count, part.indicated) for part in verdicts.parts(lines)}
    assert found == {
        "forgot": (2, 1),
        "outputs only": (1, 0),
        "too little": (0, 0),
        "too much": (1, 0),
        "did nothing": (0, 0),
        "damaged": (0, 0),
    }
    assert verdicts.parts([]) == []
