"""Verdicts in words and icons, by hand-made rows."""

from __future__ import annotations

from dataclasses import replace

from dashboard import frames
from dashboard.text import verdicts
from mucore.verdicts import WORDS, Check, Verdict, Word
from mucore.verdicts.rules import Chance

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


def test_every_word_has_an_icon_that_streamlit_knows_and_no_two_share_one():
    from streamlit.material_icon_names import ALL_MATERIAL_ICONS

    assert set(verdicts.FATES) == {*WORDS, "outputs only"}
    assert len(set(verdicts.FATES.values())) == len(verdicts.FATES)
    assert set(verdicts.FATES.values()) <= set(ALL_MATERIAL_ICONS)


def test_only_what_forgot_and_ended_well_qualifies():
    every = [row(word) for word in WORDS]
    reference = replace(row("forgot", 1), family="reference")
    assert [
        each.id for each in verdicts.qualified([*every, reference, row("forgot", 2, unsound=1)])
    ] == ["forgot-0"]


def test_those_shown_lead_and_indications_where_none_is():
    some = [row("forgot", 0), row("forgot", 1, shown=False), row("damaged", 2)]
    assert [each.id for each in verdicts.leading(some)] == ["forgot-0"]
    assert [each.id for each in verdicts.leading(some[1:])] == ["forgot-1"]


def shown(judged):
    from dashboard.widgets.verdict_line import verdict_line

    verdict_line(judged)


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
