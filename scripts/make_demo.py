"""Make the demo pack: a real run of preset `standard`, ten methods, five scenarios, three training seeds, on fashion-mnist-10k.

    python scripts/make_demo.py [--home DIR] [--seeds 0,1,2] [--out data/demo]

Runs go through the ordinary job table, so the script can be stopped and started again: what is stored is not computed twice. The pack holds
numbers and provenance only (no weights, no predictions).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mucore import catalog
from mucore.runner.plan import Grid, MethodChoice, ScenarioChoice, launch, make_plan
from mucore.runner.worker import work
from mucore.store import open_store, write_pack

SCENARIOS = ("one_class", "all_classes", "class_wise", "worst_case", "best_case")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", default="demo-home", help="where store and artifacts of the run live")
    parser.add_argument("--seeds", default="0,1,2", help="training seeds")
    parser.add_argument("--out", default=str(Path(__file__).resolve().parents[1] / "data" / "demo"))
    arguments = parser.parse_args()
    store = open_store(arguments.home)
    grid = Grid(
        dataset="fashion-mnist-10k",
        model="resnet9-small",
        preset="standard",
        scenarios=[ScenarioChoice(id=scenario) for scenario in SCENARIOS],
        methods=[MethodChoice(id=card.id) for card in catalog.methods()],
        training_seeds=[int(seed) for seed in arguments.seeds.split(",")],
    )
    plan = make_plan(grid, store)
    print(f"{len(plan.specs)} runs, {len(plan.to_run)} to compute", flush=True)
    launch(plan, store, name="Five scenarios, authors' settings", note="fashion-mnist-10k, resnet9-small, preset standard")
    work(store, only=set(plan.keys), until_done=True, on_event=_tell)
    missing = set(plan.keys) - store.known(plan.keys)
    if missing:
        sys.exit(f"{len(missing)} runs have no result; see the jobs of {arguments.home}. The pack was not written.")
    write_pack(store, Path(arguments.out), keys=plan.keys)
    store.close()


def _tell(event: str, job) -> None:
    if event != "progress":
        print(event, job.label, job.error or "", flush=True)


if __name__ == "__main__":
    main()
