"""Make the demo pack: real runs of preset `standard` on fashion-mnist-10k with resnet9-small, authors' settings.

    python scripts/make_demo.py [--home DIR] [--out data/demo]

Two comparisons: ten methods under five scenarios with three training seeds, and every method under the two scenarios that MUBox opens
with, one training seed.

Runs go through the ordinary job table, so the script can be stopped and started again: what is stored is not computed twice. The pack holds
numbers and provenance only (no weights, no predictions).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mucore import catalog
from mucore.runner.plan import Grid, MethodChoice, ScenarioChoice, launch, make_plan
from mucore.runner.worker import work
from mucore.store import open_store, write_pack

SCENARIOS = ("one_class", "all_classes", "class_wise", "worst_case", "best_case")
TEN = ("retrain finetune gradient_ascent neggrad_plus random_labels pseudo_labels scrub salun ssd bad_teacher").split()


def grid(scenarios: Sequence[str], methods: Sequence[str], seeds: Sequence[int]) -> Grid:
    return Grid(
        dataset="fashion-mnist-10k",
        model="resnet9-small",
        preset="standard",
        scenarios=[ScenarioChoice(id=scenario) for scenario in scenarios],
        methods=[MethodChoice(id=method) for method in methods],
        training_seeds=list(seeds),
    )


COMPARISONS = {
    "Ten methods, five scenarios": grid(SCENARIOS, TEN, (0, 1, 2)),
    "Every method, two scenarios": grid(("one_class", "class_wise"), [card.id for card in catalog.METHODS], (0,)),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--home", default="demo-home", help="where store and artifacts of the run live")
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parents[1] / "data" / "demo")
    arguments = parser.parse_args()
    store = open_store(arguments.home)
    keys: dict[str, None] = {}
    for name, wanted in COMPARISONS.items():
        plan = make_plan(wanted, store)
        print(f"{name}: {len(plan.specs)} runs, {len(plan.to_run)} to compute", flush=True)
        if all(one.name != name for one in store.comparisons()):
            launch(plan, store, name=name, note="Authors' settings, epochs scaled to the recipe.")
        else:
            store.enqueue(plan.specs)
        work(store, only=set(plan.keys), until_done=True, on_event=_tell)
        missing = set(plan.keys) - store.known(plan.keys)
        if missing:
            sys.exit(f"{len(missing)} runs have no result; see the jobs of {arguments.home}. The pack was not written.")
        keys |= dict.fromkeys(plan.keys)
    write_pack(store, arguments.out, keys=list(keys))
    store.close()


def _tell(event: str, job) -> None:
    if event != "progress":
        print(event, job.label, job.error or "", flush=True)


if __name__ == "__main__":
    main()
