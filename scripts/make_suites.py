"""Freeze the suites in mucore/catalog/suites: `mucore-bench-1` and its twins.

    python scripts/make_suites.py [NAME ...]

Data sets and forget sets are made to take their hashes; nothing is trained. CIFAR-10 does not come
with mucore: it is frozen by the checksum of the published archive. A suite
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
from mucore.runner.grid import Grid, ScenarioChoice, expand
from mucore.runner.session import Session
from mucore.runs import RunSpec
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
SPLITS = ("train", "validation", "test")
PUBLISHED = {"cifar10": "md5:c58f30108f718f92721af3b95e74349a"}  # cifar-10-python.tar.gz
CIFAR10 = ("cifar10", "resnet18", "standard")
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
    "mucore-bench-1-cifar10": {
        "title": "mucore bench 1, CIFAR-10",
        "meaning": "Twelve methods on ResNet-18: a whole class, and a tenth of all classes. For "
        "those with a GPU.",
        "tasks": [(*CIFAR10, "class_wise"), (*CIFAR10, "all_classes", ("budget", 0.1))],
        "methods": "finetune random_labels salun gradient_ascent scrub boundary_shrink "
        "neggrad_plus l1_sparse fisher bad_teacher ssd delete".split(),
        "divisions": {"authors": DIVISIONS["authors"]},  # no search was made on it
    },
}


def spec_of(dataset: str, model: str, preset: str, scenario: str, amounts: dict) -> RunSpec:
    """Of a task's Retrain, with the amounts that the preset sets, or those given."""
    amounts = {**catalog.preset(preset).scenarios.get(scenario, {}), **amounts}
    scenarios = [ScenarioChoice(id=scenario, parameters=amounts)]
    grid = Grid(dataset=dataset, model=model, preset=preset, scenarios=scenarios, methods=[])
    (spec,) = [each for each in expand(grid)[0] if each.method == "retrain"]
    return spec


def task_of(
    dataset: str, model: str, preset: str, scenario: str, session: Session, **amounts: Any
) -> Task:
    spec = spec_of(dataset, model, preset, scenario, amounts)
    return Task(
        dataset=spec.dataset,
        model=spec.model,
        preset=preset,
        recipe=spec.recipe.model_dump(mode="json"),
        scenario=scenario,
        scenario_parameters=spec.scenario_parameters,
        revisions=revisions(dataset, model, scenario),
        **content_of(spec, session),
    )


def content_of(spec: RunSpec, session: Session) -> dict[str, Any]:
    """Hashes and sizes of data and forget set; of those that are not here what was published."""
    if digest := PUBLISHED.get(spec.dataset):
        sizes = catalog.dataset(spec.dataset).sizes or (0,)
        found = digest, sizes, "", sizes[0] // 10  # a class, or a tenth of all
    else:
        forget, splits = forget_set(spec, session), session.splits(spec)
        sizes = [len(getattr(splits, name).ids) for name in SPLITS]
        found = splits.data_hash, sizes, forget.hash, len(forget.ids)
    names = ("data_hash", "sizes", "forget_hash", "forget_count")
    return dict(zip(names, found, strict=True)) | {"sizes": dict(zip(SPLITS, sizes, strict=True))}


def forget_set(spec: RunSpec, session: Session) -> Any:
    assert spec.scenario is not None
    assert not catalog.scenario(spec.scenario).needs & {"losses", "downstream"}, (
        f"{spec.scenario} forgets other samples with every original: it has no one hash"
    )
    return session.forget_set(spec, None, session.run(spec, 0))


def suite_of(name: str, session: Session) -> Suite:
    about: dict[str, Any] = {"divisions": DIVISIONS, **SUITES[name]}
    about["tasks"] = tuple(task_of(*t[:4], session, **dict(t[4:])) for t in about["tasks"])
    return Suite(
        id=name,
        **about,
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


def main() -> None:
    with tempfile.TemporaryDirectory() as home, open_store(home) as store:
        session = Session(store, "cpu")
        for name in sys.argv[1:] or SUITES:
            suite = suite_of(name, session)
            text = json.dumps(
                suite.model_dump(mode="json", exclude_defaults=True), indent=1, ensure_ascii=False
            )
            (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
            print(name, suite.hash)


if __name__ == "__main__":
    main()
