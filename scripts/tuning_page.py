"""docs/tuning.md: what searches found, from the studies in data/studies, and how it does on seeds
that no search saw, from the demo results.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import count
from statistics import fmean, mean, median
from typing import Any, NamedTuple

import demo_results
from docs_text import listed, page, table, value
from make_tuned import STUDIES

from mucore import catalog
from mucore.spec import complete
from mucore.store.rows import Result
from mucore.suite.scores import scores_of
from mucore.tuning import objective, report
from mucore.tuning.report import edges, visible
from mucore.tuning.study import BEST, Facts, Study, facts_in, studies_in
from mucore.tuning.wish import CAP, SEED, SLACK, SPREAD_SEEDS, TRIALS

MADE = (
    "<!-- Made by scripts/make_docs.py from data/studies, mucore/catalog/tuned.json and the demo "
    "results; change those and run it again. -->"
)
SETTING = {"dataset": "fashion-mnist-10k", "model": "resnet9-small", "preset": "standard"}
SCENARIOS = tuple(card.id for card in catalog.SCENARIOS)
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
STOPS = (8, 16, TRIALS)  # after how many trials the table says how the best had fallen
TUNABLE = tuple(card.id for card in catalog.METHODS if card.search)


def tuning_page() -> str:
    facts, studies = facts_in(STUDIES), studies_in(STUDIES)
    results = demo_results.runs(**SETTING, scenarios=SCENARIOS)
    parts = [
        "# Authors' settings against tuned ones",
        MADE,
        (
            "Every unlearning method has settings, such as a learning rate, and its authors chose "
            "them for networks and data of their own. Here each method may look for better ones. A "
            "run with the preset `authors` takes the published settings, one with `tuned` those "
            "that were found."
        ),
        (
            "`python -m mucore tune` searches for each method under each task: a scenario on a "
            f"data set, model and recipe. The first stage is {TRIALS} trials{_longer(studies)} on "
            f"training seed {SEED}: the authors' settings, then settings from the card's `search`, "
            "drawn by a tree-structured Parzen estimator, which learns from those before. The cap "
            f"is {CAP:.2g} of the gradient samples that a Retrain takes (a sample without a "
            f"gradient counts a third), and up to {100 * (SLACK - 1):.0f} % above it counts as "
            "within; a "
            "method whose cheapest setting takes more may go up to a whole Retrain and is marked "
            f"*open*. In the second stage the best {BEST} run "
            f"on seeds {SEED + 1} and {SEED + 2} as well, and the one with the best mean of all "
            "three seeds is chosen. The search never looks at test data."
            f"{_why_longer(studies)}"
        ),
        (
            "**The score J** says how far from Retrain a setting ends; Retrain is the model that "
            "was trained anew without the forgotten data. J is |gap to Retrain| / u, for each "
            f"number at most {objective.CAP:g}, averaged over the numbers that a task names. The "
            "unit u is how far two Retrains lie apart by chance: √2 times the standard deviation "
            f"over Retrains of the seeds {SPREAD_SEEDS[0]} to {SPREAD_SEEDS[-1]}, at least "
            f"{objective.FLOOR:g}. 0 is Retrain itself; a Retrain of another seed has about 0.8 on "
            f"average, if they differ as normal noise does; {report.OFF:g} is visibly off."
        ),
        (
            "**Chosen is** only what did something, with no more work than allowed, on all three "
            "seeds. A setting that goes less than a tenth of the way from the original to Retrain "
            "in forget accuracy counts as *still*, whatever its other numbers, and gets the J of "
            f"doing nothing, or its own if that is higher, plus {objective.STILL:g}; one that "
            f"takes too much, diverges or collapses has J = {objective.WORST:g}."
        ),
        (
            "The columns: trials of both stages, and how many of the first were still, took too "
            "much or failed; J of the authors' settings; the best J of the first stage after "
            f"{listed(map(str, STOPS))} trials, and after all where there were more; J of the "
            "chosen setting on each seed of the search, and on seeds of the demo that no search "
            "saw (how many), where test data stand in the place of validation data; its work as a "
            "share of a Retrain's; and where it lies at an end of what was searched, so that a "
            "better one may lie beyond."
        ),
        *(
            part
            for fact in facts
            for part in _task(fact, [s for s in studies if s.task == fact.task], results)
        ),
        *_demo(results, studies),
    ]
    return page(parts)


def _longer(studies: Sequence[Study]) -> str:
    """Which searches had more trials than all have, by their number and method."""
    more: dict[tuple[int, str], list[str]] = {}
    for study in studies:
        if study.finished(TRIALS) and len(study.first) > TRIALS:
            place = (len(study.first), study.method)
            more.setdefault(place, []).append(_code(study.task["scenario"]))
    texts = [
        f"{trials} for {_code(method)} under {listed(scenarios)}"
        for (trials, method), scenarios in sorted(more.items())
    ]
    return f" ({'; '.join(texts)})" if texts else ""


def _why_longer(studies: Sequence[Study]) -> str:
    """How the longer searches stood after the trials that all have, and how many others did."""
    off, other = [], 0
    for study in (each for each in studies if each.finished(TRIALS)):
        best = study.falling()[TRIALS - 1]
        stood = best is None or best > report.OFF
        if len(study.first) > TRIALS:
            off.append(stood)
        else:
            other += stood
    if not off:
        return ""
    return (
        f" Which searches went on longer was not by a rule: after {TRIALS} trials {sum(off)} of "
        f"these {len(off)} had no setting or a visibly off one (J above {report.OFF:g} on seed "
        f"{SEED}), and so had {other} that did not go on."
    )


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
    units = listed(
        f"{objective.NUMBERS[name]} (`{name}`) {facts.units[name]:.3g}" for name in names
    )
    title = f"## `{scenario}` on `{task['dataset']}`, `{task['model']}`, `{task['preset']}`"
    doing_nothing = facts.seeds[str(SEED)]["score"] if str(SEED) in facts.seeds else None
    parts = [
        title,
        (
            f"Numbers of the score and their units: {units}. "
            + (f"Doing nothing has J = {doing_nothing:.3g}. " if doing_nothing is not None else "")
            + _gone(facts, scenario)
            + _unasked(scenario)
            + (
                f"Not searched to the end yet: {listed(f'`{name}`' for name in missing)}."
                * bool(missing)
            )
        ).rstrip(),
        table(
            (
                "Method",
                "Trials",
                "Authors'",
                f"Best of {', '.join(map(str, STOPS))}",
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
        *_none([done[name] for name in TUNABLE if name in done]),
    ]
    return parts


def _gone(facts: Facts, scenario: str) -> str:
    if str(SEED) not in facts.seeds or visible(facts, scenario, SEED):
        return ""
    return (
        "Original and Retrain are too near to each other in forget accuracy to tell whether a "
        "setting moved, so a setting that does nothing may be chosen here. "
    )


def _unasked(scenario: str) -> str:
    """Which number of the score no metric of a result under the scenario asks for."""
    there = {card.id for card in catalog.METRICS if catalog.serves(card, scenario)}
    lost = [_code(name) for name in objective.terms(scenario) if ON_TEST.get(name) not in there]
    if not lost:
        return ""
    return f"No metric says {listed(lost)} on test data, so no J is given on fresh seeds. "


def _row(study: Study, facts: Facts, results: Sequence[Result]) -> list[str]:
    choice, authors, falling = study.choice(), study.authors, study.falling()
    assert authors is not None
    fell = ", ".join(_score(falling[count - 1]) for count in STOPS)
    if len(falling) > TRIALS:
        fell += f"; of {len(falling)}: {_score(falling[-1])}"
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
        fell,
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
    names = objective.terms(study.task["scenario"])
    if not {*names} <= ON_TEST.keys():
        return None
    scores = []
    for result in results:
        spec = result.spec
        if (spec["method"], spec["scenario"]) != (study.method, study.task["scenario"]):
            continue
        if not _has(spec, values):
            continue
        found = {name: result.metrics.get(ON_TEST[name]) for name in names}
        known = {
            name: it.gap for name, it in found.items() if it is not None and it.gap is not None
        }
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
        study.authors is not None and choice.scores[0] < study.authors.score
        for study, choice in chosen
    )
    worse = [fmean(choice.scores[1:]) - choice.scores[0] for _, choice in chosen]
    up, by = sum(each > 0 for each in worse), median(worse)
    edged = [study.method for study, _ in chosen if edges(study, facts)]
    unsteady = [
        f"{_code(study.method)} ({', '.join(map(_score, choice.scores))})"
        for study, choice in chosen
        if report.off(study)
    ]
    return " ".join(
        [
            f"{len(chosen)} of {len(studies)} finished searches came to a setting; in {better} its "
            f"J on seed {SEED} is below that of the authors' settings there. {late} came in the "
            "last third of the trials; where many do, more trials might find better ones. On seeds "
            f"{SEED + 1} and {SEED + 2} the mean J is higher than on seed {SEED}, by which the "
            f"best were picked, in {up} of {len(worse)}; in the median it is {abs(by):.2g} "
            f"{'lower' if by < 0 else 'higher'}.",
            f"At an end of what was searched: {listed(map(_code, edged))}." if edged else "",
            f"Chosen, and yet visibly off (J above {report.OFF:g}) on one of the three seeds at "
            f"least: {listed(unsteady)}."
            if unsteady
            else "",
        ]
    ).strip()


def _none(studies: Sequence[Study]) -> list[str]:
    """Searches that ended without a setting, and settings that held on some seeds alone: told one
    by one, for a table of scores says nothing of them.
    """
    said = []
    for study in studies:
        if study.choice() is None:
            said.append(
                f"- {_code(study.method)}: none of {len(study.first)} settings may be chosen. Of "
                f"these, {report.why_none(study)}."
            )
        if gone := report.fallen(study):
            clauses = [each.said(study.seed) for each in gone]
            said.append(
                f"- {_code(study.method)}: "
                f"{report.of_the_best(len(gone), len(study.best()), study.seed)}: "
                f"{'; '.join(clauses)}."
            )
    if not said:
        return []
    return ["### What no score in the table tells", "\n".join(said)]


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


class _Run(NamedTuple):
    """Of a run its distance to Retrain, the gap of its forget accuracy, and its RTE where timed."""

    distance: float
    forget: float
    rte: float | None


Runs = Mapping[tuple[str, str, str], Mapping[int, _Run]]  # scenario, method, preset; seed


def _demo(results: list[Result], studies: Sequence[Study]) -> list[str]:
    tuned = [result for result in results if result.spec["method_preset"] == "tuned"]
    seeds, stays = sorted({result.spec["training_seed"] for result in tuned}), _stays(studies)
    searched = {result.spec["scenario"] for result in tuned} | {name for _, name in stays}
    scenarios, runs = [name for name in SCENARIOS if name in searched], _runs(results)
    return [
        "## In the demo, on fresh seeds",
        (
            "Distance, as in [findings.md](findings.md): over the numbers that a verdict rests on, "
            "the mean gap to the Retrain of the same seed, each in units of how far two Retrains "
            f"lie apart (at least {100 * objective.FLOOR:g} points, at most {objective.CAP:g} "
            "units); the mean of the training seeds "
            f"{listed(map(str, seeds))}, on which the search ran no method. It adds up harm and "
            "lack of forgetting, so a method may go further and yet from “did nothing” to "
            "“forgot”. In brackets the gap of forget accuracy, in points. RTE is the run time "
            "relative to Retrain, of those seeds that were timed."
        ),
        table(
            ("Method", *(f"{s}: {p}" for s in scenarios for p in ("authors'", "tuned"))),
            _rows(runs, seeds, stays, scenarios),
        ),
        _summary(runs, seeds, stays, scenarios),
    ]


def _runs(results: Sequence[Result]) -> Runs:
    groups: dict[tuple[str, str, str], dict[int, Result]] = {}
    for result in results:
        spec = result.spec
        preset = "" if spec["method"] == "retrain" else spec["method_preset"]
        mine = groups.setdefault((spec["scenario"], spec["method"], preset), {})
        mine[spec["training_seed"]] = result
    found = {}
    for (scenario, method, preset), mine in groups.items():
        retrains = groups.get((scenario, "retrain", ""), {})
        found[scenario, method, preset] = {
            seed: _Run(distance, gap, rte.value if (rte := metrics.get("rte")) else None)
            for seed, distance in scores_of(mine, retrains, scenario).items()
            if (gap := (metrics := mine[seed].metrics)["fa"].gap) is not None
        }
    return found


def _has(spec: Mapping[str, Any], values: Mapping[str, Any]) -> bool:
    """Whether a run has these settings."""
    given = complete(catalog.method(spec["method"]), spec["parameters"])
    return json.loads(json.dumps(values)).items() <= json.loads(json.dumps(given)).items()


def _rows(
    runs: Runs, seeds: Sequence[int], stays: set[tuple[str, str]], scenarios: Sequence[str]
) -> list[list[str]]:
    rows = []
    for method in TUNABLE:
        card = catalog.method(method)
        cells = []
        for scenario in scenarios:
            for preset in ("authors", "tuned"):
                if card.scenarios is not None and scenario not in card.scenarios:
                    cells.append("refused")
                    continue
                if preset == "tuned" and (method, scenario) in stays:
                    cells.append("the same")
                    continue
                mine = runs.get((scenario, method, preset), {})
                cells.append(_text([mine[seed] for seed in seeds if seed in mine], of=len(seeds)))
        rows.append([f"`{method}`", *cells])
    return rows


def _stays(studies: Sequence[Study]) -> set[tuple[str, str]]:
    """(method, scenario) where nothing that was tried was nearer than the authors' settings, so
    that a run with tuned ones is the authors'.
    """
    return {
        (study.method, study.task["scenario"])
        for study in studies
        if (choice := study.choice()) is not None
        and study.authors is not None
        and choice.values == study.authors.values
    }


def _text(runs: Sequence[_Run], *, of: int) -> str:
    if not runs:
        return "–"
    times = [run.rte for run in runs if run.rte is not None]
    fewer = "" if len(runs) == of else f", {len(runs)} of {of} seeds"
    timed = f", RTE {mean(times):.2g}" if times else ""
    forget = round(100 * mean(run.forget for run in runs), 1) + 0.0
    signed = f"{forget:+.1f}".replace("-", "−")
    return f"{_score(mean(run.distance for run in runs))} ({signed}){timed}{fewer}"


def _summary(
    runs: Runs, seeds: Sequence[int], stays: set[tuple[str, str]], scenarios: Sequence[str]
) -> str:
    """Counted, not judged: how many methods came nearer, and which went away."""
    lines = []
    for scenario in scenarios:
        both = {
            method: pair
            for method in TUNABLE
            if (method, scenario) not in stays
            and (pair := _pair(runs, method, scenario, seeds)) is not None
        }
        nearer = [method for method, (before, after) in both.items() if after < before]
        further = [f"`{method}` ({_from_to(b, a)})" for method, (b, a) in both.items() if a > b]
        best = sorted(both, key=lambda method: both[method][1])[:5]
        if both:
            lines.append(
                f"- `{scenario}`: {len(nearer)} of {len(both)} methods came nearer to Retrain. "
                f"Further away: {listed(further) or 'none'}. Nearest with tuned settings: "
                f"{listed(f'`{method}` ({_score(both[method][1])})' for method in best)}."
            )
    return "\n".join(lines)


def _from_to(before: float, after: float) -> str:
    """With as many digits as it takes to tell the two apart."""
    digits = next(n for n in count(1) if f"{before:.{n}f}" != f"{after:.{n}f}")
    return f"{before:.{digits}f} to {after:.{digits}f}"


def _pair(
    runs: Runs, method: str, scenario: str, seeds: Sequence[int]
) -> tuple[float, float] | None:
    """Distances with the authors' and with the tuned settings, over the seeds that both have."""
    before, after = (runs.get((scenario, method, preset), {}) for preset in ("authors", "tuned"))
    common = [seed for seed in seeds if seed in before and seed in after]
    if not common:
        return None
    return mean(before[seed].distance for seed in common), mean(
        after[seed].distance for seed in common
    )
