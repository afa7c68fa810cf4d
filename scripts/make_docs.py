"""Write docs/methods.md, docs/metrics.md, docs/scenarios.md, docs/models.md from the catalogue's
cards, docs/results.md, docs/tuning.md and docs/findings.md from the demo results.

    python scripts/make_docs.py

A test holds the committed files against what this makes.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from docs_text import listed, page, sentence, table, value
from findings import findings_page
from results_page import results_page
from tuning_page import tuning_page

from mucore.catalog import (
    FAMILIES,
    METHODS,
    MethodCard,
    MetricCard,
    Parameter,
    blind_to_a_hidden_class,
    metrics,
    models,
    scenarios,
    tuning,
    verdicts,
)

DOCS = Path(__file__).resolve().parents[1] / "docs"
BLIND = (
    "It does not see a [hidden class](hidden-class.md): Head distillation passes for Retrain here."
)
MADE = (
    "<!-- Made by scripts/make_docs.py from the cards in mucore/catalog; change those and run "
    "it again. -->"
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
        [
            f"[{card.title}](#{card.id})",
            f"`{card.id}`",
            FAMILIES[card.family],
            str(card.year or ""),
            reads(card),
            card.storage,
        ]
        for card in METHODS
    ]
    parts = [
        "# Methods",
        MADE,
        (
            f"{sum(not card.cheats for card in METHODS)} methods, by family and year, and "
            f"{sum(card.cheats for card in METHODS)} baseline that cheats, which is none: it "
            "shows [which metrics do not see a hidden class](hidden-class.md). Values are the "
            "authors', as far as their paper or code states them; epochs marked as scaled were "
            "chosen for a longer training and shrink with the recipe, to one at least. Storage is "
            "what the published method "
            "keeps between training and request; what ours keeps is measured in every run. What a "
            "method holds for itself is a formula of `weights` and `state` (bytes of a network's "
            "weights, and with its statistics), of the sizes of data and network, and of its own "
            "parameters; plans compute from it what a run will take "
            "(mucore/catalog/formulas.py). A "
            "method of your own: [add-a-method.md](add-a-method.md)."
        ),
        table(("Method", "Id", "Family", "Year", "Reads", "Published storage"), rows),
    ]
    for family, title in FAMILIES.items():
        cards = [card for card in METHODS if card.family == family]
        parts += [f"## {title}"] * bool(cards)
        for card in cards:
            parts += [
                f'### <a id="{card.id}"></a>{card.title}',
                card.summary,
                card.how,
                method_paragraph(card),
                settings(card.parameters, card.paper_epochs),
            ]
    return page(parts)


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
        card.footprint.scratch != "0"
        and f"Holds for itself, in bytes: `{card.footprint.scratch}`.",
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
        for card in metrics()
    ]
    parts = [
        "# Metrics",
        MADE,
        (
            "Values are fractions, seconds, bytes or plain numbers; percent exists only on screen. "
            "The gap of a metric is its value minus that of the Retrain of the same training seed."
        ),
        table(("Id", "Metric", "Group", "Good is", "Range", "Unit"), rows),
    ]
    for group in dict.fromkeys(card.group for card in metrics()):
        parts.append(f"## {group[0].upper()}{group[1:]}")
        for card in metrics():
            if card.group == group:
                parts.append(
                    said(
                        f"**{card.title}** (`{card.id}`).",
                        card.meaning,
                        card.scenarios is not None and f"Only under {names(card.scenarios)}.",
                        f"Source: {sentence(card.source)}",
                        card.caveat,
                        card.id in blind_to_a_hidden_class() and BLIND,
                    )
                )
    parts += [
        "## Verdicts",
        (
            "Each line of a comparison except Retrain has a verdict, computed from the metrics "
            "above whenever it is shown. The rule is ours; it stands with its limits and their "
            "reasons in mucore/verdicts/rule.py. JSON has the words as they are in brackets."
        ),
        *(
            f"**{card.title}** (`{card.id.replace('_', ' ')}`). {card.meaning}"
            for card in verdicts()
        ),
    ]
    return page(parts)


def span(card: MetricCard) -> str:
    """Which values are possible."""
    if card.low is None:
        return "any number" if card.high is None else f"up to {card.high:g}"
    return f"from {card.low:g}" if card.high is None else f"{card.low:g} to {card.high:g}"


def scenarios_page() -> str:
    parts = [
        "# Scenarios",
        MADE,
        (
            "A scenario is the rule that turns a training set into a forget set. On the command "
            "line its settings are written `--set scenario.NAME=VALUE`."
        ),
        table(
            ("Id", "Scenario", "Question"),
            [[f"`{card.id}`", card.title, card.question] for card in scenarios()],
        ),
    ]
    for card in scenarios():
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
    return page(parts)


def models_page() -> str:
    rows = [
        [
            f"`{card.id}`",
            card.title,
            card.parameters_note,
            f"{card.min_image_size} pixel{'s' * (card.min_image_size > 1)}",
            card.source,
        ]
        for card in models()
    ]
    return page(
        [
            "# Models",
            MADE,
            (
                "Each takes square images with one or three channels from the size given on and "
                "is initialised from a seed alone. Dropout and drop-path are off: they would draw "
                "from a generator that belongs to nobody. Parameters are counted for ten classes "
                "on colour images of 32 pixels."
            ),
            table(("Id", "Model", "Size", "Images from", "Source"), rows),
            "## Pretrained weights",
            (
                "`--set recipe.pretrained=true` starts the original and Retrain from pretrained "
                "weights: from `weights/MODEL.safetensors` (or .pt, .pth) in the data folder "
                "(`MUCORE_DATA`, or `~/.mucore/data`), else from those that timm publishes, "
                "fetched on first use. Where there is no network, the error says which file to "
                "put where. A head for other classes is replaced and what does not fit in shape "
                "starts anew; a note of the result says so. Students and incompetent teachers of "
                "methods start from scratch all the same."
            ),
            "## Weights of your own",
            (
                "`--original FILE` takes the weights in a file as the original, which is then not "
                "trained; Retrain is. Methods that need something of the original's training (its "
                "initial weights, a record) say so and stay out. The method `uploaded` measures "
                "weights as the result of a method: `--methods uploaded --set "
                "uploaded.file=FILE`; what it cost is left blank. Files are safetensors, or what "
                "`torch.save` makes of `model.state_dict()`; nothing is ever unpickled. A file of "
                "more than 4 GiB, or whose header is another one, is neither hashed nor copied. "
                "They are "
                "copied into the store under the hash of their content, so that their place does "
                "not matter afterwards, and stay there whatever `gc` removes."
            ),
        ]
    )


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
        print(f"docs/{name} written")


if __name__ == "__main__":
    main()
