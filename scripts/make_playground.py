"""Write mucore/playground/settings.json: what methods are played with in the playground.

    python scripts/make_playground.py [--methods finetune,scrub] [--measure]

The authors chose their values for networks of millions of weights; most of them move a network of
4,482 weights hardly at all, or destroy it. So each method gets a few settings from the ranges of
its card (those in which `mucore tune` searches), rates up to `HIGHER` times as high, the authors'
values among them, on the presets of seed `SEED`. Chosen is what ends nearest to Retrain; what
stands in the file is measured on the seeds `CHECKS`, which have no part in the choice: several,
since some methods end elsewhere on a processor that rounds otherwise. A method that is in the file
already is left as it is, unless it is named; `--measure` keeps the values and measures them anew.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import torch

from mucore import catalog
from mucore.catalog.cards import Among, Between
from mucore.catalog.networks import network
from mucore.errors import Cancelled, MucoreError
from mucore.playground.scene import FILE, METHODS, MODEL, PRESETS, Pick
from mucore.playground.stage import Playing, Stage
from mucore.runner.estimate.memory import weights_of
from mucore.store import Store
from mucore.tuning.space import Space, draw

SEED, CHECKS = 0, (1, 2, 3, 4, 5)
KINDS = {"few": ("outlier", "twin"), "many": ("cluster", "class")}
MOST = 4.0  # seconds of the processor for one run; what takes longer is no play
WORST = 9.0
TRIALS = 10  # settings a method and kind
HIGHER = 20.0


class Wide(Space):
    """The space of a card, rates up to `HIGHER` times as high: the recipe's own is 0.1."""

    @property
    def search(self) -> Mapping[str, Between | Among]:
        cards = {p.name: p for p in catalog.method(self.method).parameters}
        found = dict(super().search)
        for name, each in found.items():
            if name.endswith("lr") and isinstance(each, Between) and isinstance(each.high, float):
                most = cards[name].high or math.inf
                found[name] = replace(each, high=min(HIGHER * each.high, most))
        return found


class Trials:
    """The presets of one seed, ready for any number of methods and settings."""

    def __init__(self, stage: Stage, store: Store, seed: int):
        self.played = {
            each.id: Playing(stage, store, each.at(seed), self._late) for each in PRESETS
        }
        self.until = math.inf
        for each in self.played.values():
            for _ in [*each.original(), *each.retrain()]:
                pass

    def _late(self) -> bool:
        return time.process_time() > self.until

    def space(self, method: str, preset: str) -> Space:
        played = self.played[preset]
        data, recipe = played.data, played.spec.recipe
        assert data is not None
        splits = played.splits
        facts = {
            "batch_size": recipe.batch_size,
            "weights": weights_of(network(MODEL, splits.shape), splits.classes),
            "classes": splits.classes,
            "leaving": len(data.forgotten_classes),
            "train": len(data.forget) + len(data.retain),
            **{name: len(getattr(data, name)) for name in ("forget", "retain", "validation")},
            "recipe_epochs": recipe.epochs,
        }
        return Wide(method, facts, played.spec_of(method, {}).parameters)

    def left(
        self, method: str, values: Mapping[str, Any], preset: str, seconds: float = math.inf
    ) -> float | None:
        """The share of the way to Retrain that is left: of the mean difference over the plane, and
        at the forgotten points, the mean of the two. For the twin there is no way to go, so it is
        what the plane moved away from Retrain, by the way that the outlier takes. None where the
        method refuses the request, `WORST` where it takes more than `seconds` of the processor.
        """
        played = self.played[preset]
        self.until = time.process_time() + seconds
        try:
            pick = Pick(id=method, parameters=dict(values))
            found = played.look(played.unlearned(pick, settings={}).network)
        except Cancelled:
            return WORST
        except MucoreError as problem:
            print(f"  {method}, {preset}: {problem}", flush=True)
            return None
        finally:
            self.until = math.inf
        original, retrain = played.references["original"], played.references["retrain"]
        way, now = original.difference(retrain), found.difference(retrain)
        if preset == "twin":
            far = self.played["outlier"]
            whole = far.references["original"].difference(far.references["retrain"])["mean"]
            return max(0.0, now["mean"] - way["mean"]) / whole
        return (now["mean"] / way["mean"] + now["at_forget"] / way["at_forget"]) / 2


def chosen(trials: Trials, method: str, kind: str, count: int) -> dict[str, Any] | None:
    """The setting that left least; None where the method refuses all presets of the kind."""
    tried: list[tuple[dict[str, Any], float]] = []
    space = None
    for preset in KINDS[kind]:
        with suppress(MucoreError):
            space = space or trials.space(method, preset)
    while space is not None and len(tried) < count:
        values = space.authors() if not tried else draw(space, tried, seed=SEED, most=math.inf)
        if values is None:
            break
        # the authors' epochs are scaled already; a setting is what differs from their values
        found = {each: trials.left(method, values, each, MOST) for each in KINDS[kind]}
        known = [each for each in found.values() if each is not None]
        tried.append((values, sum(known) / len(known) if known else WORST))
        print(f"  {method}, {kind}: {values} left {found}", flush=True)
        if not known or not space.search:
            break
    values, score = min(tried, key=lambda each: each[1], default=(None, WORST))
    return values if score < WORST else None


def measured(checks: list[Trials], method: str, kind: str, values: dict[str, Any]) -> Any:
    """A setting, and what it leaves in the kind's presets on each seed that did not choose it."""
    left = {
        preset: [each.left(method, values, preset) for each in checks] for preset in KINDS[kind]
    }
    known = {
        preset: [round(each, 3) for each in found if each is not None]
        for preset, found in left.items()
    }
    return {"parameters": values, "left": {name: each for name, each in known.items() if each}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--methods", default="", help="those to choose anew, separated by commas")
    parser.add_argument("--measure", action="store_true", help="keep the values, measure them")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    named = [catalog.method(each).id for each in asked.methods.split(",") if each]
    content = json.loads(FILE.read_text(encoding="utf-8"))
    wanted = named or [each for each in METHODS if asked.measure or each not in content]
    stage = Stage(Path(tempfile.gettempdir()))
    with stage.records() as store:
        trials = None if asked.measure else Trials(stage, store, SEED)
        checks = [Trials(stage, store, seed) for seed in CHECKS]
        for method in wanted:
            known = content.get(method, {})
            content[method] = {
                kind: measured(checks, method, kind, values)
                for kind in KINDS
                if (
                    values := chosen(trials, method, kind, TRIALS)
                    if trials is not None
                    else known.get(kind, {}).get("parameters")
                )
                is not None
            }
            print(method, content[method], flush=True)
            FILE.write_text(json.dumps(dict(sorted(content.items())), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
