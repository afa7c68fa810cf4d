"""docs/generated/tuning.md: what searches found, from the studies in data/studies."""

from __future__ import annotations

from docs_text import filled, paragraphs, table, value
from make_tuned import STUDIES

from mucore import catalog
from mucore.catalog import tuning
from mucore.tuning import report
from mucore.tuning.plan import CAP, SEED, TRIALS
from mucore.tuning.study import PATIENCE, Facts, Study, facts_in, is_of, studies_in

TUNABLE = tuple(card.id for card in catalog.METHODS if card.search)


def tuning_page() -> str:
    studies = studies_in(STUDIES)
    parts = []
    for facts in facts_in(STUDIES):
        done = {study.method: study for study in studies if study.task == facts.task}
        task = facts.task
        margins = [f"`{name}` {each.margin:.3g}" for name, each in facts.limits(SEED).items()]
        parts += [
            f"## `{task['scenario']}` on `{task['dataset']}`, `{task['model']}`, "
            f"`{task['preset']}`",
            f"Margins: {', '.join(margins)}. Doing nothing: {_score(facts.nothing(SEED))}.",
            table(
                ("Method", "Settings", "Authors'", "Best", "Work", "Edges", "Setting"),
                [row(done[name], facts) for name in TUNABLE if name in done],
            ),
        ]
    limits = {"cap": CAP, "patience": PATIENCE, "last": SEED + 2}
    return filled("tuning.md", trials=TRIALS, seed=SEED, **limits, tables=paragraphs(parts))


def row(study: Study, facts: Facts) -> list[str]:
    choice, authors = study.choice(), study.authors
    assert authors is not None
    beside = ["none", "–", "–", ""]
    if choice is not None:
        ships = any(
            is_of(each, study) and each.values == choice.values for each in tuning.shipped()
        )
        beside = [
            _score(choice.score),
            f"{choice.work:.2f}",
            "; ".join(report.edges(study, facts)) or "–",
            ", ".join(f"{name} {value(it)}" for name, it in choice.values.items())
            + " *not in use yet*" * (not ships),
        ]
    return [
        f"`{study.method}`" + " *open*" * study.open,
        f"{len(study.settings)}" + "+" * bool(study.pending()),
        _score(authors.score) if authors.candidate else "out",
        *beside,
    ]


def _score(score: float | None) -> str:
    if score is None:
        return "–"
    return f"{score:.2f}" if score < 10 else f"{score:.0f}"
