"""Which claims of the papers survive here: each is a sentence of a paper and a rule by which the
runs decide it, so that new runs may decide otherwise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import findings_rules as rules
from docs_text import listed, table
from findings_data import Task
from findings_rules import FAILS, HOLDS, OPEN, PARTLY, Answer

from dashboard.papers.mubox import MUBOX
from dashboard.papers.truly_forgetting import TRULY

DEEP_UNLEARN = "Masked small gradients (MSG) and CT do best of 18 methods."


@dataclass(frozen=True)
class Claim:
    paper: str
    sentence: str
    check: Callable[[Sequence[Task]], Answer | None]  # None where the runs cannot say


def section(tasks: Sequence[Task]) -> list[str]:
    rows, open_ = [], []
    for claim in CLAIMS:
        found = claim.check(tasks)
        if found is None:
            open_.append(claim)
        else:
            rows.append([claim.paper, claim.sentence, *found])
    answers = [row[2] for row in rows]
    return [
        "## Which claims of the papers survive here?",
        (
            "Claims of papers on unlearning, each with a rule by which these runs decide it. The "
            "papers' data and networks are larger, so a claim that fails here may hold there. On "
            "the dashboard the page Papers says what each paper measured, and Results has their "
            "tables beside ours."
        ),
        table(("Paper", "Claim", "Here", "What the runs say"), rows),
        (
            f"**Answer.** Of {len(rows)} claims {_hold(answers.count(HOLDS))} here, "
            f"{_hold(answers.count(PARTLY))} in part, {answers.count(FAILS)} "
            f"{'does' if answers.count(FAILS) == 1 else 'do'} not, and {answers.count(OPEN)} "
            f"{'is' if answers.count(OPEN) == 1 else 'are'} open: these runs do not decide "
            f"{'it' if answers.count(OPEN) == 1 else 'them'}."
        ),
        (
            "Not decided here: claims on persons, on efficacy and on other data sets, which are "
            "looked at in [fidelity.md](fidelity.md) and on their pages of the dashboard"
            + (
                f"; for want of runs: {listed([claim.sentence.rstrip('.') for claim in open_])}."
                if open_
                else "."
            )
        ),
    ]


def _hold(count: int) -> str:
    return f"{count} {'holds' if count == 1 else 'hold'}"


CLAIMS = (
    *(
        Claim("MUBox", MUBOX.findings[name], check)
        for name, check in (
            ("F3", rules.weights_say_nothing),
            ("F4", rules.all_classes_is_harder),
            ("F5", rules.whole_class_is_easy),
            ("F6", rules.retrain_orders),
            ("F8", rules.flips),
            ("F9", rules.backdoors),
            ("F10", rules.sisa),
            ("F11", rules.gradients_vanish),
        )
    ),
    Claim("Are We Truly Forgetting?", TRULY.findings["R1"], rules.original_side),
    Claim("DeepUnlearn", DEEP_UNLEARN, rules.msg_and_ct),
)
