"""docs/hidden-class.md: which metrics the baseline that cheats fools, from real runs; and their
names for the catalog, mucore/catalog/hidden_class.json.

    python -m mucore --home HOME run --dataset digits --model mlp --scenario class_wise \\
        --methods original,head_distillation --seeds 0,1,2,3,4
    python scripts/hidden_class_page.py HOME [HOME ...]

A section a home, of its runs of `head_distillation` under `class_wise`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from docs_text import listed, page, table

from mucore import catalog
from mucore.metrics.registry import RELATIVE_TO_RETRAIN
from mucore.store import open_store
from mucore.store.rows import Result
from mucore.suite.scores import values_of
from mucore.verdicts import judge, seed_band
from mucore.verdicts.rule import RESOLVABLE, TOLERATED

CHEAT = "head_distillation"
ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "hidden-class.md"
FOOLED, SEES, SILENT = "fooled", "sees it", "cannot tell"
POINT = 0.01  # a few samples more or less, on which all Retrains may agree
GROUPS = ("accuracy", "membership inference", "representation")


def findings(results: Sequence[Result]) -> dict[str, tuple[float, float, float, float, str]]:
    """By metric, means over seeds of the original, Retrain and the cheat, the band of Retrain
    against Retrain of another seed, and what the metric makes of the cheat.

    Metrics that are a comparison with Retrain in themselves have no band and are left out.
    """
    lines: dict[str, dict[int, Result]] = {}
    for each in results:
        lines.setdefault(each.spec["method"], {})[each.spec["training_seed"]] = each
    seeds = sorted(set.intersection(*(set(lines[name]) for name in ("original", "retrain", CHEAT))))
    found = {}
    for card in catalog.metrics():
        if card.group not in GROUPS or card.id in RELATIVE_TO_RETRAIN:
            continue
        columns = [_values(lines[name], card.id, seeds) for name in ("original", "retrain", CHEAT)]
        if not all(columns):
            continue
        original, retrain, cheat = map(mean, columns)
        band = seed_band(columns[1], value=retrain, samples=1).half
        found[card.id] = (original, retrain, cheat, band, said(original, retrain, cheat, band))
    return found


def said(original: float, retrain: float, cheat: float, band: float) -> str:
    """What a metric makes of the cheat, as a verdict goes: it can tell where original and Retrain
    are more than two bands (and a point, for some are shares of few samples) apart, and the cheat
    passes where it is within a band, or a tenth of that way, of Retrain.
    """
    away = abs(original - retrain)
    if away <= max(RESOLVABLE * band, POINT):
        return SILENT
    return FOOLED if abs(cheat - retrain) <= max(band, TOLERATED * away) else SEES


def _values(runs: dict[int, Result], metric: str, seeds: Sequence[int]) -> list[float]:
    """One a seed, or none where one is missing."""
    there = values_of({seed: runs[seed] for seed in seeds}, metric)
    return [*there.values()] if len(there) == len(seeds) else []


def section(results: Sequence[Result]) -> list[str]:
    spec = next(each.spec for each in results if each.spec["method"] == CHEAT)
    cheats = [each for each in results if each.spec["method"] == CHEAT]
    (line,) = [line for line in judge(results) if line.method == CHEAT]
    assert line.verdict is not None
    found = findings(results)
    rows = [
        [catalog.metric(name).title, f"`{name}`", *(f"{each:.3f}" for each in numbers), word]
        for name, (*numbers, word) in found.items()
    ]
    by_word = {
        word: [name for name, each in found.items() if each[-1] == word]
        for word in (FOOLED, SEES, SILENT)
    }
    work = mean(_values({s: each for s, each in enumerate(cheats)}, "rte_work", range(len(cheats))))
    return [
        f"## {spec['dataset']}, {spec['model']}, {line.verdict.seeds} seeds",
        (
            f"Metrics that are fooled: {len(by_word[FOOLED])}; that see it: {len(by_word[SEES])}; "
            f"that cannot tell: {len(by_word[SILENT])}. The verdict is “{line.verdict.said}”: "
            f"{line.verdict.sentence} Its work is {work:.2g} of Retrain's."
        ),
        f"Those that see it: {listed(f'`{name}`' for name in by_word[SEES]) or 'none'}.",
        table(("Metric", "Id", "Original", "Retrain", "The cheat", "Band", "It is"), rows),
    ]


def fooled_in_all(sets: Sequence[Sequence[Result]]) -> list[str]:
    """The metrics that the cheat fools in every set in which they can tell anything."""
    found: dict[str, set[str]] = {}
    for results in sets:
        for name, (*_, word) in findings(results).items():
            found.setdefault(name, set()).add(word)
    return [name for name, words in found.items() if words - {SILENT} == {FOOLED}]


def hidden_class_page(sets: Sequence[Sequence[Result]]) -> str:
    return page(
        [
            "# Which metrics do not see a hidden class",
            (
                "<!-- Made by scripts/hidden_class_page.py from runs of its own; its head says "
                "how. -->"
            ),
            (
                "[Head distillation](methods.md#head_distillation) is a baseline that cheats: it "
                "teaches the last layer alone to say what the original says with class 0 struck "
                "out. The features are the original's, so whoever puts a fresh last layer on them "
                "has the class back. A metric that takes it for Retrain looks at outputs alone."
            ),
            (
                "Values are means over seeds, as fractions. Band: how far two Retrains of "
                "different seeds come apart by chance (t over seeds, 95 %). A metric cannot tell "
                "where original and Retrain are less than two bands or one point apart; it is "
                "fooled where the "
                "cheat is within a band, or a tenth of the way from the original, of Retrain. The "
                "linear probe belongs to the first kind here: a new last layer finds the class in "
                "Retrain's features about as well, for a network that has never seen a class "
                "still tells it from others. Metrics that are a comparison with Retrain in "
                "themselves have no band and are left out."
            ),
            *(part for results in sets for part in section(results)),
        ]
    )


def main() -> None:
    sets = []
    for home in sys.argv[1:]:
        with open_store(home) as store:
            sets.append(store.results(scenario="class_wise"))
    if not sets:
        raise SystemExit("Name the folders of the runs: python scripts/hidden_class_page.py HOME.")
    PAGE.write_text(hidden_class_page(sets), encoding="utf-8", newline="\n")
    names = json.dumps(fooled_in_all(sets), indent=1)
    catalog.HIDDEN_CLASS.write_text(names + "\n", encoding="utf-8", newline="\n")
    print(f"{PAGE} and {catalog.HIDDEN_CLASS} written")


if __name__ == "__main__":
    main()
