"""docs/results.md: every method with the authors' settings, from the demo results."""

from __future__ import annotations

from statistics import mean, stdev

import demo_results
from docs_text import listed, page, sentence, table

from mucore import catalog
from mucore.spec import make_recipe
from mucore.statistics.significance import apart
from mucore.store.rows import Result

MADE = (
    "<!-- Made by scripts/make_docs.py from the demo results; make those anew and run it again. -->"
)
MODEL, PRESET = "resnet9-small", "standard"
SHOWN = ("ta", "ra", "fa", "mia_confidence")
ATTACKED = ("ta", "ra", "fa")
# of each data set the scenarios; what has no runs yet is left out
METRICS = {
    "fashion-mnist-10k": {
        "one_class": SHOWN,
        "all_classes": SHOWN,
        "class_wise": SHOWN,
        "worst_case": SHOWN,
        "best_case": SHOWN,
        "label_flip": (*ATTACKED, "fa_true"),
        "backdoor": (*ATTACKED, "asr"),
    },
    "faces": {"identities": ("ta", "ra", "fa", "forgetting_score")},
}
HEADS = {"mia_confidence": "MIA", "fa_true": "FA, true labels"}


def results_page() -> str:
    epochs = make_recipe(PRESET).epochs
    results = {dataset: found for dataset in METRICS if (found := _authors(dataset))}
    parts = [
        "# Every method, scenario by scenario",
        MADE,
        (
            f"The runs that come with the program: {listed(f'`{name}`' for name in results)}, "
            f"`{MODEL}`, preset `{PRESET}` of {epochs} epochs, authors' settings with epochs "
            "scaled to the recipe. What they say is in [fidelity.md](fidelity.md) and "
            "[findings.md](findings.md), tuned settings in [tuning.md](tuning.md)."
        ),
        (
            "Percent, and in brackets the gap to the Retrain of the same seed in points. MIA: "
            "efficacy of the confidence attack, the share of the forget set that it takes for "
            "unseen. FA after an attack is on the attacker's labels; ASR is the attack success "
            "rate. RTE: run time relative to Retrain, of two workers side by side on two cores; "
            "timings taken while the machine was doing other work were discarded (–). "
            "Several seeds: the mean, ± one standard deviation. The first line of each table "
            "is how far Retrains of two seeds lie apart: 95 % of the differences between "
            "those that ran. Chance can do more than so few show: were they normal, three would on "
            "average show 59 % of it, five 78 % and ten 91 %; verdicts allow for the rest."
        ),
    ]
    for dataset, scenario in [(name, each) for name in results for each in METRICS[name]]:
        metrics = METRICS[dataset][scenario]
        mine = [each for each in results[dataset] if each.spec["scenario"] == scenario]
        heads = [HEADS.get(name, catalog.metric(name).short) for name in metrics]
        parts += [
            f"## {catalog.scenario(scenario).title} (`{scenario}`{_on(dataset)})",
            table(("Method", *heads, "RTE", "Seeds"), _rows(mine, metrics)),
        ]
        if refused := [
            card
            for card in catalog.METHODS
            if card.scenarios is not None and scenario not in card.scenarios and not card.cheats
        ]:
            parts.append(
                " ".join(
                    sentence(f"`{card.id}` refuses it: {card.scenarios_reason}") for card in refused
                )
            )
    return page(parts)


def _authors(dataset: str) -> list[Result]:
    found = demo_results.runs(
        dataset=dataset, model=MODEL, preset=PRESET, scenarios=tuple(METRICS[dataset])
    )
    return [result for result in found if result.spec["method_preset"] == "authors"]


def _on(dataset: str) -> str:
    """What a title names of a data set other than the first."""
    return "" if dataset == next(iter(METRICS)) else f" on `{dataset}`"


def _rows(results: list[Result], metrics: tuple[str, ...]) -> list[list[str]]:
    retrains = [result for result in results if result.spec["method"] == "retrain"]
    rows = [["Retrain, other seeds", *(_band(retrains, name) for name in metrics), "–", "–"]]
    for method in ("original", *(card.id for card in catalog.METHODS)):
        mine = [result for result in results if result.spec["method"] == method]
        if mine:
            seeds = sorted({result.spec["training_seed"] for result in mine})
            rows.append(
                [
                    f"`{method}`",
                    *(_cell(mine, name) for name in metrics),
                    _ratio(mine),
                    ", ".join(map(str, seeds)),
                ]
            )
    return rows


def _band(retrains: list[Result], metric: str) -> str:
    """Half of the band of Retrain against Retrain of other seeds, in points."""
    found = [each.metrics[metric].value for each in retrains if metric in each.metrics]
    half = apart([value for value in found if value is not None])
    return "–" if half is None else f"± {100 * half:.1f}"


def _cell(results: list[Result], metric: str) -> str:
    found = [result.metrics[metric] for result in results if metric in result.metrics]
    values = [each.value for each in found if each.value is not None]
    gaps = [each.gap for each in found if each.gap is not None]
    if not values:
        return "–"
    spread = f" ± {100 * stdev(values):.1f}" if len(values) > 1 else ""
    # + 0.0: what rounds to nothing is no "−0.0"
    gap = round(100 * mean(gaps), 1) + 0.0 if gaps else None
    return f"{100 * mean(values):.1f}{spread}" + (
        "" if gap is None else f" ({gap:+.1f})".replace("-", "−")
    )


def _ratio(results: list[Result]) -> str:
    values = [
        value
        for result in results
        if (found := result.metrics.get("rte")) is not None and (value := found.value) is not None
    ]
    return f"{mean(values):.2g}" if values else "–"
