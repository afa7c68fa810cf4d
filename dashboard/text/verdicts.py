"""Verdicts in words and icons, for every page. No Streamlit here; `verdict_line` draws one.

An icon never stands without its word, and no colour tells a verdict. A question mark after the word
says that it is provisional: more seeds may change it. Which word a line gets is decided in
`mucore/verdicts/rule.py`, what it means stands in `mucore/catalog/terms.py`; about poison, the
sentence on top of Depoisoning has words of its own (`frames/depoisoning.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final, Protocol, TypeVar

import pandas as pd

from dashboard.text.labels import MISSING, number
from dashboard.text.units import count
from mucore.verdicts import NAMES, Check, Verdict, Word
from mucore.verdicts.rule import FEWEST_RETRAINS
from mucore.verdicts.text import doubt

# Names of Material Symbols, which Streamlit brings along.
ICONS: Final[Mapping[Word, str]] = {
    "forgot": "check_circle",
    "too little": "remove_circle",
    "too much": "add_circle",
    "damaged": "cancel",
    "did nothing": "pause_circle",
    "nothing to forget": "block",
    "cannot tell": "help",
}


class Line(Protocol):
    """What sentences about verdicts ask of a line of a table (`frames.Row`)."""

    @property
    def id(self) -> str: ...
    @property
    def method(self) -> str: ...
    @property
    def reference(self) -> bool: ...
    @property
    def unsound(self) -> Mapping[str, int]: ...
    @property
    def verdict(self) -> Verdict | None: ...


L = TypeVar("L", bound=Line)

# What became of a method, as one says it: "damaged the model".
VERBS: Final[Mapping[Word, str]] = {
    "forgot": "forgot",
    "did nothing": "did nothing",
    "too little": "forgot too little",
    "too much": "forgot too much",
    "damaged": "damaged the model",
    "nothing to forget": "had nothing to forget",
    "cannot tell": "cannot be judged yet",
}
# the two ways not to forget
SHORT: Final[tuple[Word, ...]] = ("did nothing", "too little")


def verb(verdict: Verdict) -> str:
    """What became of a method, with what its word must not be read without."""
    return VERBS[verdict.word] + verdict.said.removeprefix(verdict.word)


def text(verdict: Verdict) -> str:
    """The word, with a question mark where it is provisional; "cannot tell" says so itself. Of a
    baseline that cheats it says that, too.
    """
    doubt = "?" if verdict.provisional and verdict.word != "cannot tell" else ""
    return f"{verdict.said}{doubt}{' (cheats)' if verdict.cheats else ''}"


def label(verdict: Verdict) -> str:
    """Icon and word as Streamlit's Markdown."""
    return f":material/{ICONS[verdict.word]}: {text(verdict)}"


def qualified(rows: Sequence[L]) -> list[L]:
    """The rows that may be called nearest, best or cheapest: methods that forgot, and whose runs
    all ended well.
    """
    return [
        row
        for row in rows
        if not row.reference
        and not row.unsound
        and row.verdict is not None
        and row.verdict.qualified
    ]


def count_sentence(rows: Sequence[Line], ran: int = 0) -> str:
    """What happened to how many of the methods among `rows`, to be read aloud; "" where none has a
    verdict. A baseline that cheats is not counted. `ran` says how many ran, if some are not shown.

    A method with several settings has a row for each, and then settings are counted.
    """
    judged = {
        row.id: row.verdict
        for row in rows
        if not row.reference and row.verdict is not None and not row.verdict.cheats
    }
    if not judged:
        return ""
    unclean = {row.id for row in rows if row.unsound}
    words = Counter(
        "unsound" if name in unclean and each.word == "forgot" else each.word
        for name, each in judged.items()
    )
    forgot = [e for name, e in judged.items() if e.word == "forgot" and name not in unclean]
    unsure = sum(each.provisional for each in forgot)
    known = sum(each.on_outputs for each in forgot)
    stayed = [(words[word], VERBS[word]) for word in SHORT if words[word]]
    how = ", ".join(f"{many} {said}" for many, said in stayed)
    methods, total = len({row.method for row in rows if row.id in judged}), len(judged)
    here = " here" if methods == total else ""
    claims = [
        (len(forgot), f"forgot{doubt(unsure, len(forgot), known=known)}"),
        (words["unsound"], "got there in runs that did not all finish cleanly"),
        (
            sum(many for many, _ in stayed),
            f"did not forget{here}: {how}" if len(stayed) > 1 else f"{how.partition(' ')[2]}{here}",
        ),
        (words["damaged"], VERBS["damaged"]),
        (words["too much"], VERBS["too much"]),
        (words["nothing to forget"], f"{VERBS['nothing to forget']}{here}"),
        (words["cannot tell"], VERBS["cannot tell"]),
    ]
    said = [f"{many} {claim}" for many, claim in claims if many]
    some = f"{methods} of {count(ran, 'method')} that ran here are shown" if ran > methods else ""
    if methods == total:
        first, _, rest = said[0].partition(" ")
        said[0] = f"{first} of {count(total, 'method')} {rest}"
        if some:
            said.insert(0, some)
    else:
        head = f"{some}," if some else f"{count(methods, 'method')} ran here"
        said[0] = f"{head} in {total} settings. Of these settings, {said[0]}"
    if not words.keys() & {"forgot", "nothing to forget", "cannot tell"}:
        said.append("None forgot")
    return ". ".join(said) + "."


def why_none(rows: Sequence[Line]) -> str:
    """Why no row of `rows` qualifies, in a sentence: the reason that most of the undecided ones
    share, or what went wrong instead.
    """
    judged = [row.verdict for row in rows if not row.reference and row.verdict is not None]
    if not judged:
        return "There is no method to judge here."
    open_ends = [each for each in judged if each.word in ("nothing to forget", "cannot tell")]
    if 2 * len(open_ends) < len(judged):
        return "No method both forgot without damaging the model and finished cleanly."
    checks = [each.checks for each in open_ends if each.checks]
    if not checks:
        return Counter(each.sentence for each in open_ends).most_common(1)[0][0]
    first = checks[0]
    if any(each.word == "nothing to forget" for each in open_ends):
        before, after = number(first[0].original, "percent"), number(first[0].retrain, "percent")
        return (
            f"Nothing to forget here: {NAMES[first[0].metric]} is {before} % for the original and "
            f"{after} % for Retrain."
        )
    apart = max(first, key=lambda each: abs(each.original - each.retrain) / each.band)
    return (
        "More Retrain seeds are needed: original and Retrain are "
        f"{number(abs(apart.original - apart.retrain), 'percent')} points apart in "
        f"{NAMES[apart.metric]}, and two Retrains may differ by {number(apart.band, 'percent')}."
    )


def told(named: Sequence[tuple[str, Verdict]]) -> str:
    """What each of some methods did, by title: "SalUn forgot, SSD did nothing"."""
    return ", ".join(
        f"{title} {verb(each)}{' (not yet for certain)' if text(each)[-1] == '?' else ''}"
        for title, each in named
    )


def summary(named: Sequence[tuple[str, Verdict]]) -> str:
    """The same as sentences for who sees the methods side by side: what is certain, what is not
    yet, and where there is no verdict.
    """
    judged = [(title, each) for title, each in named if each.word != "cannot tell"]
    groups = (
        (
            "The verdict on all runs of these methods together: ",
            [f"{t} {verb(v)}" for t, v in judged if not v.provisional],
        ),
        ("Not yet for certain: ", [f"{t} {verb(v)}" for t, v in judged if v.provisional]),
        (
            "These runs are not enough for a verdict on ",
            [t for t, v in named if v.word == "cannot tell"],
        ),
    )
    return " ".join(f"{opening}{', '.join(each)}." for opening, each in groups if each)


def checks_frame(verdict: Verdict) -> pd.DataFrame:
    """The forgetting metrics that the rule looked at, a line each, as text."""
    return pd.DataFrame([_check_line(each) for each in verdict.checks])


def checks_text(verdict: Verdict) -> str:
    """The same for a tooltip: a line a metric, and over how many Retrain seeds the bands go."""
    lines = []
    for each in verdict.checks:
        line = _check_line(each)
        figures = (
            f"progress ρ {line['Progress ρ']}, excess {line['Excess']}, tolerance τ "
            f"{line['Tolerance τ']}, band b {line['Band b']}"
        )
        lines.append(
            f"{line['Metric']}: {figures}" + ("" if each.resolvable else " (too near to decide)")
        )
    return "\n".join([*lines, seeds_text(verdict)] if lines else [])


def seeds_text(verdict: Verdict) -> str:
    """What the band rests on."""
    retrains = count(verdict.retrains, "Retrain seed")
    enough = verdict.retrains >= FEWEST_RETRAINS
    bands = f"come from {retrains}" if enough else f"come from sample counts ({retrains})"
    return (
        "Excess, tolerance and band are in percentage points. "
        f"Bands {bands}; this method has {count(verdict.seeds, 'seed')}."
    )


def _check_line(check: Check) -> dict[str, str]:
    name = NAMES[check.metric]
    return {
        "Metric": name[0].upper() + name[1:],
        "Original": f"{number(check.original, 'percent')} %",
        "Here": f"{number(check.value, 'percent')} %",
        "Retrain": f"{number(check.retrain, 'percent')} %",
        "Progress ρ": MISSING if check.progress is None else number(check.progress, "ratio"),
        "Excess": number(check.excess, "percent", signed=True),
        "Tolerance τ": number(check.tolerance, "percent"),
        "Band b": number(check.band, "percent"),
    }
