"""docs/tuning.md: what searches found, from the studies in data/studies, and how it does on seeds
that no search saw, from the demo results.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import demo_results
from docs_text import page, table, value
from make_tuned import STUDIES

from mucore import catalog
from mucore.spec import complete
from mucore.store.rows import Result
from mucore.tuning import objective, report
from mucore.tuning.study import BEST, Facts, Study, facts_in, studies_in
from mucore.tuning.wish import CAP, SEED, TRIALS

MADE = (
    "<!-- Made by scripts/make_docs.py from data/studies, mucore/catalog/tuned.json and the demo "
    "results; change those and run it again. -->"
)
# of each term of a score the metric of a result that says the same on test data
ON_TEST = {
    "ra": "ra",
    "fa": "fa",
    "fa_true": "fa_true",
    "va": "ta",
    "va_forgotten": "tfa",
    "va_remaining": "tra",
    "va_poisoned": "ta_flipped",  # only where labels are flipped
    "mia": "mia_confidence",
}
TUNABLE = tuple(card.id for card in catalog.METHODS if card.search)


def tuning_page() -> str:
    studies = studies_in(STUDIES)
    parts = [
        "# Tuned settings",
        MADE,
        (
            "`python -m mucore tune` searches settings for each method under each task: "
            f"{TRIALS} trials or more on training seed {SEED}, the authors' settings first, within "
            f"{CAP:.2g} of the gradient samples of a Retrain (*open*: up to a whole one); the best "
            f"{BEST} run on seeds {SEED + 1} and {SEED + 2} as well, and the best mean is chosen. "
            "J is |gap to Retrain| / u, averaged over the numbers that a task names, each at most "
            f"{objective.CAP:g}; u is how far two Retrains lie apart by chance, at least "
            f"{objective.FLOOR:g}. A setting that moves next to nothing, takes too much or fails "
            "is not chosen. The search never looks at test data."
        ),
        (
            "Trials of both stages, J of the authors' settings and of the chosen ones on the seeds "
            "of the search, J on seeds of the demo that no search saw (how many) on test data, "
            "work as a share of a Retrain's, where the setting lies at an end of what was "
            "searched, and the setting."
        ),
    ]
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
                ("Method", "Trials", "Authors'", f"Seeds {SEED} to {SEED + 2}", "Fresh seeds")
                + ("Work", "Edges", "Setting"),
                [row(done[name], facts, _runs(task)) for name in TUNABLE if name in done],
            ),
        ]
    return page(parts)


def _runs(task: Mapping[str, Any]) -> list[Result]:
    setting = (demo_results.MODEL, demo_results.PRESET)
    if (task["model"], task["preset"]) != setting:
        return []
    return demo_results.runs(dataset=task["dataset"], scenarios=(task["scenario"],))


def row(study: Study, facts: Facts, results: Sequence[Result]) -> list[str]:
    choice, authors = study.choice(), study.authors
    assert authors is not None
    beside = ["none", "–", "–", "–", ""]
    if choice is not None:
        scores = fresh(study, choice.values, facts, results)
        beside = [
            ", ".join(map(_score, choice.scores)),
            f"{_score(fmean(scores))} ({len(scores)})" if scores else "–",
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


def fresh(
    study: Study, values: Mapping[str, Any], facts: Facts, results: Sequence[Result]
) -> list[float]:
    """J of a setting in each of the demo's runs that have it; none where no metric says a number of
    the score on test data.
    """
    names = objective.terms(study.task["scenario"])
    scores = []
    for result in results:
        if result.spec["method"] == study.method and has(result.spec, values):
            found = {name: result.metrics.get(ON_TEST.get(name, "")) for name in names}
            gaps = {name: it.gap for name, it in found.items() if it is not None}
            known = {name: gap for name, gap in gaps.items() if gap is not None}
            if len(known) == len(names):
                scores.append(objective.score(known, facts.units, names))
    return scores


def has(spec: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether a run has these settings."""
    given = complete(catalog.method(spec["method"]), spec["parameters"])
    return json.loads(json.dumps(values)).items() <= json.loads(json.dumps(given)).items()


def _score(score: float | None) -> str:
    if score is None:
        return "–"
    return f"{score:.2f}" if score < 10 else f"{score:.0f}"
