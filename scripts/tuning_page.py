"""docs/tuning.md: what searches found, from the studies in data/studies, and how it does on seeds
that no search saw, from the demo results.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from statistics import fmean, mean
from typing import Any

import demo_results
from docs_text import listed, page, table, value
from make_tuned import STUDIES

from mucore import catalog
from mucore.catalog import tuning
from mucore.catalog.tuning import Tuned
from mucore.store.rows import Result
from mucore.tuning import objective
from mucore.tuning.report import edges, visible
from mucore.tuning.study import BEST, Facts, Study, facts_in, studies_in
from mucore.tuning.wish import CAP, SEED, SPREAD_SEEDS, TRIALS

MADE = (
    "<!-- Made by scripts/make_docs.py from data/studies, mucore/catalog/tuned.json and the demo "
    "results; change those and run it again. -->"
)
SETTING = {"dataset": "fashion-mnist-10k", "model": "resnet9-small", "preset": "standard"}
SCENARIOS = ("one_class", "class_wise")
MEASURES = ("ra", "fa", "ta", "mia_confidence")
# of each term of a score the metric of a result that says the same on test data
ON_TEST = {
    "ra": "ra",
    "fa": "fa",
    "fa_true": "fa_true",
    "va": "ta",
    "va_forgotten": "tfa",
    "va_remaining": "tra",
    "mia": "mia_confidence",
}
TUNABLE = tuple(card.id for card in catalog.METHODS if card.search)


def tuning_page() -> str:
    facts, studies = facts_in(STUDIES), studies_in(STUDIES)
    results = demo_results.runs(**SETTING, scenarios=SCENARIOS)
    parts = [
        "# Authors' settings against tuned ones",
        MADE,
        (
            "`python -m mucore tune` searches a setting for each method and each task, a scenario "
            f"on a data set, model and recipe. Every method has {TRIALS} trials on training seed "
            f"{SEED}: the authors' settings first, then settings from its card's `search` drawn by "
            "a tree-structured Parzen estimator, none of which may take more than "
            f"{CAP:.2g} of Retrain's gradient samples (a sample without a gradient counts a "
            f"third). The best {BEST} then run on seeds {SEED + 1} and {SEED + 2}, and the best "
            "mean of three is taken. Test data are never looked at."
        ),
        (
            "**The score J** is the mean over the terms of |gap to Retrain| / u, at most "
            f"{objective.CAP:g} each, where u is √2 times the standard deviation of that number "
            f"over Retrains of the seeds {SPREAD_SEEDS[0]} to {SPREAD_SEEDS[-1]}, at least "
            f"{objective.FLOOR:g}. About 0.8 is what another seed's Retrain has, 5 is visibly off. "
            "A setting that goes less than a tenth of the way from the original to Retrain in "
            "forget accuracy is no candidate, and neither is one that takes too much, diverges or "
            f"collapses (J = {objective.WORST:g})."
        ),
        (
            "A method whose cheapest setting takes more than the cap is searched all the same, up "
            "to a whole Retrain, and is marked *open*."
        ),
        *(
            part
            for fact in facts
            for part in _task(fact, [s for s in studies if s.task == fact.task], results)
        ),
        *_demo(results),
    ]
    return page(parts)


def _task(facts: Facts, studies: Sequence[Study], results: Sequence[Result]) -> list[str]:
    """The section of one task."""
    task, scenario = facts.task, facts.task["scenario"]
    done = {study.method: study for study in studies if study.finished(TRIALS)}
    missing = [
        name
        for name in TUNABLE
        if name not in done and catalog.serves(catalog.method(name), scenario)
    ]
    names = objective.terms(scenario)
    units = listed(f"{name} {facts.units[name]:.3g}" for name in names)
    title = f"## `{scenario}` on `{task['dataset']}`, `{task['model']}`, `{task['preset']}`"
    doing_nothing = facts.seeds[str(SEED)]["score"] if str(SEED) in facts.seeds else None
    parts = [
        title,
        (
            f"Noise units: {units}. "
            + (f"Doing nothing has J = {doing_nothing:.3g}. " if doing_nothing is not None else "")
            + _gone(facts, scenario)
            + (
                f"Not searched to the end yet: {listed(f'`{name}`' for name in missing)}."
                * bool(missing)
            )
        ),
        table(
            (
                "Method",
                "Trials",
                "Authors'",
                "Best of 8, 16, all",
                f"Seeds {SEED}, {SEED + 1}, {SEED + 2}",
                "On fresh seeds",
                "Work",
                "Edges",
            ),
            [_row(done[name], facts, results) for name in TUNABLE if name in done],
        )
        if done
        else "",
        "### What was chosen" if done else "",
        table(
            ("Method", "Setting"),
            [
                [f"`{name}`", ", ".join(f"{n} {value(it)}" for n, it in choice.values.items())]
                for name in TUNABLE
                if name in done and (choice := done[name].choice()) is not None
            ],
        )
        if done
        else "",
        _counted(list(done.values()), facts),
    ]
    return parts


def _gone(facts: Facts, scenario: str) -> str:
    if str(SEED) not in facts.seeds or visible(facts, scenario, SEED):
        return ""
    return (
        "Original and Retrain are too near to each other in forget accuracy to tell whether a "
        "setting moved, so a setting that does nothing may be chosen here. "
    )


def _row(study: Study, facts: Facts, results: Sequence[Result]) -> list[str]:
    choice, authors, falling = study.choice(), study.authors, study.falling()
    assert authors is not None
    at = [falling[min(count, len(falling)) - 1] for count in (8, 16, len(falling))]
    ended = [
        f"{count} {word}"
        for word, count in (
            ("still", sum(trial.still for trial in study.first)),
            ("too dear", sum(trial.over for trial in study.first)),
            ("failed", sum(bool(t.ended) and not t.over for t in study.first)),
        )
        if count
    ]
    tried = f"{len(study.first)} + {len(study.trials) - len(study.first)}"
    fresh = None if choice is None else _fresh(study, choice.values, facts, results)
    return [
        f"`{study.method}`" + (" *open*" if study.open else ""),
        tried + (f" ({', '.join(ended)})" if ended else ""),
        _score(authors.score) + (" (over)" if authors.over else ""),
        ", ".join(map(_score, at)),
        "none" if choice is None else ", ".join(map(_score, choice.scores)),
        "–" if fresh is None else f"{_score(fresh[0])} ({fresh[1]})",
        "–" if choice is None else f"{choice.work:.2f}",
        "; ".join(edges(study, facts)) or ("" if choice is None else "–"),
    ]


def _fresh(
    study: Study, values: Mapping[str, Any], facts: Facts, results: Sequence[Result]
) -> tuple[float, int] | None:
    """J of the chosen setting on the demo's seeds, test data in the place of validation data, and
    of how many; None where the demo has no such run.
    """
    wanted = json.loads(json.dumps(values))
    names = objective.terms(study.task["scenario"])
    if not {*names} <= ON_TEST.keys():
        return None
    scores = []
    for result in results:
        spec = result.spec
        if (spec["method"], spec["scenario"]) != (study.method, study.task["scenario"]):
            continue
        if not wanted.items() <= json.loads(json.dumps(spec["parameters"])).items():
            continue
        gaps = {name: result.metrics[ON_TEST[name]].gap for name in names}
        known = {name: gap for name, gap in gaps.items() if gap is not None}
        if len(known) == len(names):
            scores.append(objective.score(known, facts.units, names))
    return (fmean(scores), len(scores)) if scores else None


def _counted(studies: Sequence[Study], facts: Facts) -> str:
    """Counted, not judged: late winners, optimism, edges, none."""
    chosen = [(study, choice) for study in studies if (choice := study.choice()) is not None]
    if not chosen:
        return ""
    late = sum(_place(study) > 2 * len(study.first) / 3 for study, _ in chosen)
    better = sum(
        study.authors is not None and choice.score < study.authors.score for study, choice in chosen
    )
    worse = [fmean(choice.scores[1:]) - choice.scores[0] for _, choice in chosen]
    edged = [study.method for study, _ in chosen if edges(study, facts)]
    none = [study.method for study in studies if study.choice() is None]
    return " ".join(
        [
            f"Of {len(studies)} methods, {len(chosen)} have a setting; in {better} of them its "
            f"mean is below the authors' score. {late} were found in the last third of the trials. "
            f"On seeds {SEED + 1} and {SEED + 2} J is {fmean(worse):.2g} higher on average than on "
            f"seed {SEED}.",
            f"At an edge: {listed(map(_code, edged))}." if edged else "",
            f"Without a candidate: {listed(map(_code, none))}." if none else "",
        ]
    ).strip()


def _place(study: Study) -> int:
    """Which trial of the first stage the chosen setting was, from 1."""
    choice = study.choice()
    assert choice is not None
    return next(number for number, trial in enumerate(study.first, 1) if trial.same(choice.values))


def _code(name: str) -> str:
    return f"`{name}`"


def _score(score: float | None) -> str:
    if score is None:
        return "–"
    return f"{score:.2f}" if score < 10 else f"{score:.0f}"


# -- the demo's tuned runs beside its authors' runs


def _demo(results: list[Result]) -> list[str]:
    tuned = [result for result in results if result.spec["method_preset"] == "tuned"]
    seeds = sorted({result.spec["training_seed"] for result in tuned})
    return [
        "## In the demo, on fresh seeds",
        (
            "The demo's tuned runs have settings of an earlier search: eight trials a method, one "
            "setting for both scenarios, no second stage. Preset `tuned` still takes them where a "
            "method has no study above. Distance: mean absolute gap to the Retrain of the same "
            "seed, in points, over retain, forget and test accuracy and the efficacy of the "
            "confidence attack; the mean of the training seeds "
            f"{listed(map(str, seeds))}, which the search never saw. RTE is the run time relative "
            "to Retrain, of those seeds that were timed. In brackets the gap of forget accuracy, "
            "in points."
        ),
        table(
            ("Method", *(f"{s}: {p}" for s in SCENARIOS for p in ("authors'", "tuned"))),
            _rows(results, seeds),
        ),
        _summary(results, seeds),
    ]


def _cell(
    results: list[Result], method: str, scenario: str, preset: str, seeds: list[int]
) -> tuple[float, float, float | None, int] | None:
    """(distance, gap of forget accuracy, RTE, seeds), averaged; fractions. RTE is that of the seeds
    that have one: on a busy machine nothing is timed.
    """
    found = [
        result.metrics
        for result in results
        if (result.spec["method"], result.spec["scenario"], result.spec["method_preset"])
        == (method, scenario, preset)
        and result.spec["training_seed"] in seeds
    ]
    rows, times = [], []
    for metrics in found:
        gaps = [abs(gap) for name in MEASURES if (gap := metrics[name].gap) is not None]
        forget, rte = metrics["fa"].gap, metrics["rte"].value
        if len(gaps) == len(MEASURES) and forget is not None:
            rows.append((mean(gaps), forget))
            times += [] if rte is None else [rte]
    if not rows:
        return None
    distance, forget = (mean(column) for column in zip(*rows, strict=True))
    return distance, forget, mean(times) if times else None, len(rows)


def _rows(results: list[Result], seeds: list[int]) -> list[list[str]]:
    rows = []
    for method in TUNABLE:
        card, same = catalog.method(method), _same(results, method)
        cells = []
        for scenario in SCENARIOS:
            for preset in ("authors", "tuned"):
                if card.scenarios is not None and scenario not in card.scenarios:
                    cells.append("refused")
                    continue
                if preset == "tuned" and same:
                    cells.append("the same")
                    continue
                cell = _cell(results, method, scenario, preset, seeds)
                cells.append("–" if cell is None else _text(*cell, of=len(seeds)))
        rows.append([f"`{method}`", *cells])
    return rows


def _same(results: list[Result], method: str) -> bool:
    """Whether nothing that was tried was better than the authors' settings, so that runs with tuned
    ones are those runs.
    """
    joint: list[Tuned] = [
        each for each in tuning.shipped() if each.method == method and len(each.scenarios) > 1
    ]
    runs = [result.spec for result in results if result.spec["method"] == method]
    return any(
        spec["method_preset"] == "authors" and each.values.items() <= spec["parameters"].items()
        for each in joint
        for spec in runs
    ) and not any(spec["method_preset"] == "tuned" for spec in runs)


def _text(distance: float, forget: float, rte: float | None, count: int, *, of: int) -> str:
    fewer = "" if count == of else f", {count} of {of} seeds"
    timed = "" if rte is None else f", RTE {rte:.2g}"
    return f"{100 * distance:.1f} ({100 * forget:+.1f}){timed}{fewer}"


def _summary(results: list[Result], seeds: list[int]) -> str:
    """Counted, not judged: how many methods came nearer, and which went away."""
    lines = []
    for scenario in SCENARIOS:
        both = {
            method: pair
            for method in TUNABLE
            if (pair := _pair(results, method, scenario, seeds)) is not None
        }
        nearer = [method for method, (before, after) in both.items() if after < before]
        further = [
            f"`{method}` ({100 * b:.1f} to {100 * a:.1f})"
            for method, (b, a) in both.items()
            if a > b
        ]
        best = sorted(both, key=lambda method: both[method][1])[:5]
        if both:
            lines.append(
                f"- `{scenario}`: {len(nearer)} of {len(both)} methods came nearer to Retrain. "
                f"Further away: {listed(further) or 'none'}. Nearest with tuned settings: "
                f"{listed(f'`{method}` ({100 * both[method][1]:.1f})' for method in best)}."
            )
    return "\n".join(lines)


def _pair(
    results: list[Result], method: str, scenario: str, seeds: list[int]
) -> tuple[float, float] | None:
    """Distances with the authors' and with the tuned settings, over the seeds that both have."""
    tuned = "authors" if _same(results, method) else "tuned"
    common = [
        seed
        for seed in seeds
        if all(_cell(results, method, scenario, preset, [seed]) for preset in ("authors", tuned))
    ]
    before, after = (
        _cell(results, method, scenario, preset, common) for preset in ("authors", tuned)
    )
    return (before[0], after[0]) if before and after else None
