"""docs/tuning.md: what the search found, and how it does on seeds that it never saw. Numbers come
from tuned.json and the demo results.
"""

from __future__ import annotations

import json
from statistics import mean
from typing import Any

import demo_results
from docs_text import listed, page, table, value

from mucore import catalog
from mucore.catalog.tuning import FOUND
from mucore.store.rows import Result

SPACES = {card.id: card.search for card in catalog.METHODS if card.search}
MADE = (
    "<!-- Made by scripts/make_docs.py from mucore/catalog/tuned.json and the demo results; "
    "change those and run it again. -->"
)
MEASURES = ("ra", "fa", "ta", "mia_confidence")


def tuning_page() -> str:
    content = json.loads(FOUND.read_text())
    setting = {name: content[name] for name in ("dataset", "model", "preset")}
    results = demo_results.runs(**setting, scenarios=tuple(content["scenarios"]))
    seeds = sorted(
        {
            result.spec["training_seed"]
            for result in results
            if result.spec["method_preset"] == "tuned"
        }
    )
    parts = [
        "# Authors' settings against tuned ones",
        MADE,
        (
            f"Every method had {_trials(content)} trials on `{content['dataset']}` with "
            f"`{content['model']}`, preset `{content['preset']}`, seed {content['seed']}: the "
            "authors' settings first, then settings from the card's `search` chosen by a "
            "tree-structured Parzen estimator. The score of a trial is the mean over "
            f"{listed(content['scenarios'])} of the mean absolute gap to Retrain in retain, "
            "forget and validation accuracy and in the efficacy of the confidence attack, "
            "measured on validation data. A trial that was worse than the median after the first "
            "scenario ended there; one that took more than half of Retrain's processor time "
            "failed. The search can be repeated: `python scripts/tune.py`, then `--write`."
        ),
        (
            "**One setting serves both scenarios.** A fifth of a class and a whole class ask for "
            "different strengths, so a method whose authors have settings for each is held back "
            "here, and one score is a compromise of two."
        ),
        "## On fresh seeds",
        (
            "Distance: mean absolute gap to the Retrain of the same seed, in points, over "
            "retain, forget and test accuracy and the efficacy of the confidence attack; the "
            f"mean of the training seeds {listed(map(str, seeds))}, which the search never saw. "
            "Test data takes the place of validation data. RTE is the run time relative to "
            "Retrain, of those seeds that were timed. In brackets the gap of forget accuracy, in "
            "points."
        ),
        table(
            ("Method", *(f"{s}: {p}" for s in content["scenarios"] for p in ("authors'", "tuned"))),
            _rows(results, content, seeds),
        ),
        _summary(results, content, seeds),
        "## What was found",
        (
            "Score on the tuning seed with the authors' settings and with the best, smaller is "
            "better; trials: completed, ended early, failed."
        ),
        table(("Method", "Authors'", "Best", "Trials", "Settings"), _found(content)),
    ]
    return page(parts)


def _trials(content: dict[str, Any]) -> str:
    counts = sorted({evidence["trials"] for evidence in content["evidence"].values()})
    return " or ".join(map(str, counts))


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


def _rows(results: list[Result], content: dict[str, Any], seeds: list[int]) -> list[list[str]]:
    rows = []
    for method in SPACES:
        card, same = catalog.method(method), _same(content, method)
        cells = []
        for scenario in content["scenarios"]:
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


def _same(content: dict[str, Any], method: str) -> bool:
    """Whether nothing that was tried was better than the authors' settings, so that runs with tuned
    ones are those runs.
    """
    return method in content["evidence"] and content["evidence"][method]["trial"] == 0


def _text(distance: float, forget: float, rte: float | None, count: int, *, of: int) -> str:
    fewer = "" if count == of else f", {count} of {of} seeds"
    timed = "" if rte is None else f", RTE {rte:.2g}"
    return f"{100 * distance:.1f} ({100 * forget:+.1f}){timed}{fewer}"


def _summary(results: list[Result], content: dict[str, Any], seeds: list[int]) -> str:
    """Counted, not judged: how many methods came nearer, and which went away."""
    lines = []
    for scenario in content["scenarios"]:
        both = {
            method: pair
            for method in SPACES
            if (pair := _pair(results, content, method, scenario, seeds)) is not None
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
    results: list[Result], content: dict[str, Any], method: str, scenario: str, seeds: list[int]
) -> tuple[float, float] | None:
    """Distances with the authors' and with the tuned settings, over the seeds that both have."""
    tuned = "authors" if _same(content, method) else "tuned"
    common = [
        seed
        for seed in seeds
        if all(_cell(results, method, scenario, preset, [seed]) for preset in ("authors", tuned))
    ]
    before, after = (
        _cell(results, method, scenario, preset, common) for preset in ("authors", tuned)
    )
    return (before[0], after[0]) if before and after else None


def _found(content: dict[str, Any]) -> list[list[str]]:
    rows = []
    for method, values in content["methods"].items():
        evidence = content["evidence"][method]
        before = evidence["authors_score"]
        rows.append(
            [
                f"`{method}`",
                "over the cap" if before is None else f"{100 * before:.1f}",
                f"{100 * evidence['score']:.1f}",
                f"{evidence['completed']}, {evidence['behind']}, {evidence['failed']}",
                ", ".join(f"{name} {value(it)}" for name, it in values.items()),
            ]
        )
    return rows
