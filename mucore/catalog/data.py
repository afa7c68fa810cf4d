"""Data sets, models, presets and the words of the glossary: the tables beside this file."""

from __future__ import annotations

import tomllib
from pathlib import Path

from mucore.catalog.cards import DatasetCard, ModelCard, PresetCard, TermCard, read

HERE = Path(__file__).parent

DATASETS: tuple[DatasetCard, ...] = tuple(
    each for card in read(DatasetCard, HERE / "datasets.toml") for each in (card, *card.alone())
)
MODELS = read(ModelCard, HERE / "models.toml")
PRESETS = read(PresetCard, HERE / "presets.toml")
IDEAS = read(TermCard, HERE / "ideas.toml")
TERMS = read(TermCard, HERE / "terms.toml")
VERDICTS = read(TermCard, HERE / "verdicts.toml")


def synonyms() -> dict[str, dict[str, list[str]]]:
    """What people call a metric, scenario, method or verdict, too: by kind and id."""
    return tomllib.loads((HERE / "synonyms.toml").read_text(encoding="utf-8"))
