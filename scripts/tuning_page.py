"""docs/generated/tuning.md: what searches found, from the studies in data/studies."""

from __future__ import annotations

from docs_text import filled, paragraphs, table, value
from make_tuned import STUDIES

from mucore import catalog
from mucore.tuning import objective, report
from mucore.tuning.study import BEST, Facts, Study, facts_in, studies_in
from mucore.tuning.wish import CAP, SEED, TRIALS

TUNABLE = tuple(card.id for card in catalog.METHODS if card.search)


def tuning_page() -> str:
    studies = studies_in(STUDIES)
    parts = []
    for facts in facts_in(STUDIES):
        done = {
            study.method: study
            for study in studies
            if study.task == facts.task and study.finished(TRIALS)
        }
        task = facts.task
        units = [f"`{name}` {facts.units[name]:.3g}" for name in objective.terms(task["scenario"])]
        parts += [
            f"## `{task['scenario']}` on `{task['dataset']}`, `{task['model']}`, "
            f"`{task['preset']}`",
            f"Units: {', '.join(units)}."
            + (
                f" Doing nothing: {facts.seeds[str(SEED)]['score']:.3g}."
                if str(SEED) in facts.seeds
                else ""
            ),
            table(
                ("Method", "Trials", "Authors'", f"Seeds {SEED} to {SEED + 2}")
                + ("Work", "Edges", "Setting"),
                [row(done[name], facts) for name in TUNABLE if name in done],
            ),
        ]
    limits = {"cap": CAP, "best": BEST, "most": objective.CAP, "least": objective.FLOOR}
    return filled("tuning.md", trials=TRIALS, seed=SEED, **limits, tables=paragraphs(parts))


def row(study: Study, facts: Facts) -> list[str]:
    choice, authors = study.choice(), study.authors
    assert authors is not None
    beside = ["none", "–", "–", ""]
    if choice is not None:
        beside = [
            ", ".join(map(_score, choice.scores)),
            f"{choice.work:.2f}",
            "; ".join(report.edges(study, facts)) or "–",
            ", ".join(f"{name} {value(it)}" for name, it in choice.values.items()),
        ]
    return [
        f"`{study.method}`" + " *open*" * study.open,
        f"{len(study.first)} + {len(study.trials) - len(study.first)}",
        _score(authors.score) + " (over)" * authors.over,
        *beside,
    ]


def _score(score: float | None) -> str:
    if score is None:
        return "–"
    return f"{score:.2f}" if score < 10 else f"{score:.0f}"
