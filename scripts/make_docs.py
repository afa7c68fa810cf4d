"""Write the pages of docs/generated: methods, metrics, scenarios and models from the catalogue's
cards, results, tuning and findings from the demo results.

    python scripts/make_docs.py

A test holds the committed files against what this makes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from docs_text import filled, listed, paragraphs, sentence, table, value
from findings import findings_page
from results_page import results_page
from tuning_page import tuning_page

from mucore import catalog
from mucore.catalog import MethodCard, MetricCard, Parameter, tuning

DOCS = Path(__file__).resolve().parents[1] / "docs" / "generated"
BLIND = (
    "It does not see a [hidden class](../records/hidden-class.md): Head distillation passes for "
    "Retrain here."
)
IDEALS = {
    "retrain": "as near to Retrain's as possible",
    "high": "high",
    "low": "low",
    "none": "none in itself",
}
SETS = {
    "retain": "retain set",
    "forget": "forget set",
    "validation": "validation set",
    "training_record": "record of training",
}

NEEDS = {
    "losses": "the original's loss on every training sample",
    "identities": "a data set with identities",
    "downstream": "a downstream data set and the original's features",
}


def methods_page() -> str:
    rows = [
        [f"[{card.title}](#{card.id})", f"`{card.id}`", catalog.FAMILIES[card.family]]
        + [str(card.year or ""), reads(card), card.storage]
        for card in catalog.METHODS
    ]
    parts = []
    for family, title in catalog.FAMILIES.items():
        cards = [card for card in catalog.METHODS if card.family == family]
        parts += [f"## {title}"] * bool(cards)
        for card in cards:
            parts += [
                f'### <a id="{card.id}"></a>{card.title}',
                card.summary,
                card.how,
                method_paragraph(card),
                settings(card.parameters, card.paper_epochs),
            ]
    return filled(
        "methods.md",
        methods=sum(not card.cheats for card in catalog.METHODS),
        cheats=sum(card.cheats for card in catalog.METHODS),
        table=table(("Method", "Id", "Family", "Year", "Reads", "Published storage"), rows),
        cards=paragraphs(parts),
    )


def method_paragraph(card: MethodCard) -> str:
    """What is on the card beside how it works, in the order in which a reader asks."""
    chosen = [found for found in tuning.shipped() if found.method == card.id]
    return said(
        card.aliases and f"Also called {listed(card.aliases)}.",
        f"Source: {sentence(card.source)}",
        card.code and f"Official code: {sentence(card.code)}",
        f"Reads the {reads(card)}." if card.reads else "Reads no samples.",
        *(f"Tuned for `{each.scenario}`: {values(each.values)}." for each in chosen),
        *(
            f"The authors' values under `{name}`: {values(each)}."
            for name, each in card.scenario_values.items()
        ),
        f"Published storage: {sentence(card.storage)}",
        card.scenarios is not None
        and f"Runs under {names(card.scenarios)} only: {sentence(card.scenarios_reason)}",
        "attributes" not in card.tasks
        and f"Not for images with attributes: {sentence(card.tasks_reason)}",
        card.differs and f"Differs from the source: {sentence(card.differs)}",
    )


def said(*parts: object) -> str:
    """Those sentences that there are."""
    return " ".join(str(part) for part in parts if part)


def values(settings: Mapping[str, Any]) -> str:
    return ", ".join(f"`{name}` {value(it)}" for name, it in settings.items())


def names(ids: Iterable[str]) -> str:
    return listed(f"`{name}`" for name in sorted(ids))


def settings(parameters: Iterable[Parameter], paper_epochs: int | None = None) -> str:
    """A list, one line a parameter: its default, what else it can be, and what it does."""
    lines = []
    for each in parameters:
        scaled = (
            f", scaled from a training of {paper_epochs} epochs" if each.scales_with_epochs else ""
        )
        unit = f" {each.unit}" if each.unit and each.default is not None else ""
        others = [choice for choice in each.choices if choice != each.default]
        instead = f" (or {listed(others, 'or')})" if others else ""
        lines.append(
            f"- `{each.name}` = {value(each.default) or 'none'}{unit}{scaled}{instead}: {each.help}"
        )
    return "\n".join(lines)


def metrics_page() -> str:
    rows = [
        [f"`{card.id}`", card.title, card.group, IDEALS[card.ideal], span(card), card.unit]
        for card in catalog.metrics()
    ]
    parts = []
    for group in dict.fromkeys(card.group for card in catalog.metrics()):
        parts.append(f"## {group[0].upper()}{group[1:]}")
        parts += [metric_paragraph(card) for card in catalog.metrics() if card.group == group]
    verdicts = [
        f"**{card.title}** (`{card.id.replace('_', ' ')}`). {card.meaning}"
        for card in catalog.verdicts()
    ]
    return filled(
        "metrics.md",
        table=table(("Id", "Metric", "Group", "Good is", "Range", "Unit"), rows),
        cards=paragraphs(parts),
        verdicts=paragraphs(verdicts),
    )


def metric_paragraph(card: MetricCard) -> str:
    return said(
        f"**{card.title}** (`{card.id}`).",
        card.meaning,
        card.scenarios is not None and f"Only under {names(card.scenarios)}.",
        f"Source: {sentence(card.source)}",
        card.caveat,
        card.id in catalog.blind_to_a_hidden_class() and BLIND,
    )


def span(card: MetricCard) -> str:
    """Which values are possible."""
    if card.low is None:
        return "any number" if card.high is None else f"up to {card.high:g}"
    return f"from {card.low:g}" if card.high is None else f"{card.low:g} to {card.high:g}"


def scenarios_page() -> str:
    rows = [[f"`{card.id}`", card.title, card.question] for card in catalog.scenarios()]
    parts = []
    for card in catalog.scenarios():
        parts += [
            f"## {card.title} (`{card.id}`)",
            said(
                card.meaning,
                card.class_wise and "The test set splits into forgotten and remaining classes.",
                "attributes" not in card.tasks
                and "Not for images with attributes, which fall into no classes.",
                card.needs
                and f"Needs {listed(NEEDS.get(name, name) for name in sorted(card.needs))}.",
                f"Source: {sentence(card.source)}",
            ),
            settings(card.parameters),
        ]
    heads = ("Id", "Scenario", "Question")
    return filled("scenarios.md", table=table(heads, rows), cards=paragraphs(parts))


def models_page() -> str:
    rows = []
    for card in catalog.models():
        size = f"{card.min_image_size} pixel{'s' * (card.min_image_size > 1)}"
        rows.append([f"`{card.id}`", card.title, card.parameters_note, size, card.source])
    return filled("models.md", table=table(("Id", "Model", "Size", "Images from", "Source"), rows))


def reads(card: MethodCard) -> str:
    return listed(text for name, text in SETS.items() if name in card.reads) or "nothing"


PAGES = {
    "methods.md": methods_page,
    "metrics.md": metrics_page,
    "scenarios.md": scenarios_page,
    "models.md": models_page,
    "results.md": results_page,
    "tuning.md": tuning_page,
    "findings.md": findings_page,
}


def main() -> None:
    for name, make in PAGES.items():
        (DOCS / name).write_text(make(), encoding="utf-8", newline="\n")
        print(f"docs/generated/{name} written")


if __name__ == "__main__":
    main()
