"""Freeze the suites in mucore/catalog/suites: `mucore-bench-1`, its quick and its paper twin.

    python scripts/make_suites.py [NAME ...]

Data sets and forget sets are made to take their hashes; nothing is trained. Without names, those
whose data come with mucore are made; the paper twin asks for CIFAR-10 in the data folder. A suite
that results exist for is never made again otherwise: what changes gets a name of its own here.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from mucore import catalog
from mucore.errors import MucoreError
from mucore.runner.plan import Grid, ScenarioChoice, expand
from mucore.runner.session import Session
from mucore.spec import RunSpec
from mucore.store import open_store
from mucore.suite.description import FOLDER, Suite, Task, revisions
from mucore.suite.scores import REVISION
from mucore.tuning.plan import CAP

DIVISIONS = {
    "authors": "Settings as the papers publish them; what the card scales, it says.",
    "tuned": "Settings found by `mucore tune` for each task: equal trials, equal work, validation "
    "data alone.",
}
# what only a later comparison of many models or another data set can give
ELSEWHERE = ("experiment", "downstream")
FIVE = ("one_class", "all_classes", "class_wise", "label_flip", "backdoor")
SUITES: dict[str, dict[str, Any]] = {
    "mucore-bench-1": {
        "title": "mucore bench 1",
        "meaning": "Whole classes, parts of one and of all, poison and persons, on a small ResNet.",
        "tasks": [
            *(("fashion-mnist-10k", "resnet9-small", "standard", name) for name in FIVE),
            ("faces", "resnet9-small", "standard", "identities"),
        ],
    },
    "mucore-bench-1-quick": {
        "title": "mucore bench 1, quick",
        "meaning": "The quick twin, digits and a perceptron: it checks installations and packs, "
        "and ranks nothing.",
        # no whole classes: GKT, which forgets nothing else, takes longer than all others together
        "tasks": [("digits", "mlp", "standard", name) for name in ("one_class", "backdoor")],
    },
    "mucore-bench-1-paper": {
        "title": "mucore bench 1, paper",
        "meaning": "The paper twin, as MUBox (2025) sets it: ResNet-18 on CIFAR-10 for 200 epochs, "
        "with its amounts to forget. For those with a GPU.",
        "tasks": [("cifar10", "resnet18", "mubox-cifar10", name) for name in FIVE],
    },
}


def spec_of(dataset: str, model: str, preset: str, scenario: str) -> RunSpec:
    """Of a task's Retrain, with the amounts that the preset sets."""
    amounts = dict(catalog.preset(preset).scenarios.get(scenario, {}))
    scenarios = [ScenarioChoice(id=scenario, parameters=amounts)]
    grid = Grid(dataset=dataset, model=model, preset=preset, scenarios=scenarios, methods=[])
    (spec,) = [each for each in expand(grid)[0] if each.method == "retrain"]
    return spec


def task_of(dataset: str, model: str, preset: str, scenario: str, session: Session) -> Task:
    spec = spec_of(dataset, model, preset, scenario)
    forget, splits = forget_set(spec, session), session.splits(spec)
    return Task(
        dataset=spec.dataset,
        data_hash=splits.data_hash,
        sizes={name: len(getattr(splits, name).ids) for name in ("train", "validation", "test")},
        model=spec.model,
        preset=preset,
        recipe=spec.recipe.model_dump(mode="json"),
        scenario=scenario,
        scenario_parameters=spec.scenario_parameters,
        forget_hash=forget.hash,
        forget_count=len(forget.ids),
        revisions=revisions(dataset, model, scenario),
    )


def forget_set(spec: RunSpec, session: Session) -> Any:
    assert spec.scenario is not None
    assert not catalog.scenario(spec.scenario).needs & {"losses", "downstream"}, (
        f"{spec.scenario} forgets other samples with every original: it has no one hash"
    )
    return session.forget_set(spec, None, session.run(spec, 0))


def suite_of(name: str, session: Session) -> Suite:
    about = dict(SUITES[name])
    about["tasks"] = tuple(task_of(*each, session) for each in about["tasks"])
    return Suite(
        id=name,
        **about,
        divisions=DIVISIONS,
        training_seeds=(0, 1, 2, 3, 4),
        unlearning_seed=0,
        evaluation_seed=0,
        mia_samples=2000,
        metrics={
            card.id: card.revision for card in catalog.metrics() if card.group not in ELSEWHERE
        },
        trials=24,  # of the searches whose settings these suites were frozen with
        cap=CAP,
        objective_revision=REVISION,
    )


def at_hand() -> list[str]:
    """The suites whose data come with mucore."""
    return [
        name
        for name, about in SUITES.items()
        if all(catalog.dataset(dataset).embedded for dataset, *_ in about["tasks"])
    ]


def main() -> None:
    with tempfile.TemporaryDirectory() as home, open_store(home) as store:
        session = Session(store, "cpu")
        for name in sys.argv[1:] or at_hand():
            try:
                suite = suite_of(name, session)
            except MucoreError as error:
                raise SystemExit(f"{name} cannot be frozen here: {error}") from None
            text = json.dumps(suite.model_dump(mode="json"), indent=1, ensure_ascii=False)
            (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
            print(name, suite.hash)


if __name__ == "__main__":
    main()
