"""Make the demo pack in data/demo: real runs, authors' settings, on the data sets that come with
the program.

    python scripts/make_demo.py [--home DIR] [--out data/demo] [--only NAME ...] [--anew | --fresh]
    [--busy]

Runs go through the ordinary job table, so the script can be stopped and started again, on another
machine with an empty home, too: what store or pack has is not computed twice, unless `--anew` or
`--fresh` asks for it. Where something is missing, its Retrain is trained again: one that agrees
with the pack's, loss by loss, leaves the pack as it is and only what is missing is computed; any
other replaces the pack's, and takes away what was compared with that. So does a Retrain of today's
revision of recipes with runs of an earlier one, which stay until then: parts can be made one by
one. The pack holds numbers and provenance of every run and, of those of seed 0 with the authors'
settings, predictions and features of some samples of each split. Where the machine did other work
meanwhile, `--busy` leaves out the times relative to Retrain, with that reason in their place. Maps
that a reader of the pack drew lie in `packs/ID/analyses` of that reader's home; copied to
`--out`/analyses, every reader finds them there.
"""

from __future__ import annotations

import argparse
import functools
import json
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from dashboard.lessons import LESSONS
from dashboard.lessons.records import of_features
from mucore import analysis, catalog
from mucore.catalog.tuning import shipped
from mucore.errors import MucoreError
from mucore.metrics.forgetting_quality import FEW_MODELS
from mucore.runner.plan import Grid, MethodChoice, ScenarioChoice, make_plan
from mucore.runner.quality import find, plan_experiment
from mucore.runner.worker import work
from mucore.spec import REVISION, RunSpec
from mucore.store import Store, open_pack, open_store, write_pack
from mucore.store.rows import Comparison, Job, Measured, Result
from mucore.suite.description import load

EXTREMES, POISONED = ("worst_case", "best_case"), ("label_flip", "backdoor")
SCENARIOS = ("one_class", "all_classes", "class_wise", "worst_case", "best_case")
TEN = tuple(
    "retrain finetune gradient_ascent neggrad_plus random_labels pseudo_labels scrub salun ssd "
    "bad_teacher".split()
)
VARYING = ("amnesiac", "fisher")  # which vary most with the budget in MUBox, beside SSD
EVERY = tuple(card.id for card in catalog.METHODS)
ELSEWHERE = ("sisa", "amun", "pgu")  # with the authors' settings near a Retrain
DEAR = (*ELSEWHERE, "second_order", "ntk")  # these two take one and more
FAR = ("gkt",)  # some 140 of them, so it is left out
SWIFT = tuple(name for name in EVERY if name not in (*DEAR, *FAR))
POISON = (*TEN, "first_order", "unrolling", "l1_sparse", "fcs", "niu", "boundary_shrink")
PERSONS = (
    "retrain",
    "finetune",
    "cf_k",
    "gradient_ascent",
    "neggrad_plus",
    "advanced_neggrad",
    "unsir",
    "scrub",
    "salun",
)
ENTRIES = ("fcs", "msg", "ct", "niu")  # of the competition
# Of "Are We Truly Forgetting?"; of the last three the numbers alone travel, for predictions of 120
# classes take a megabyte a run.
ENCODER = (
    "retrain",
    "finetune",
    "gradient_ascent",
    "random_labels",
    "pseudo_labels",
    "salun",
    "duck",
)
SLOW = ("contrastive", "scar", "scrub")
REPLAYED = ("neggrad_plus", "scrub", "delete", "pseudo_labels", "finetune", "salun")
EPOCHS: tuple[dict[str, Any], ...] = ({"epochs": 5}, {"epochs": 20})  # beside the authors' ten
KEY_LENGTH = 24
SEEDS = tuple(load("mucore-bench-1").training_seeds)  # of its tasks, so that Board has them
SAMPLES = 100  # of each split that travel with a run
BUSY = (
    "The machine was busy with other work while these runs were timed, so their times do not "
    "compare."
)


@dataclass(frozen=True)
class Part:
    """One comparison of the demo. `models` makes it a forgetting-quality experiment of so many
    models of a kind.

    Each grid becomes a comparison. Of the first `inside` of them (all by default) predictions
    travel, but not of the scenarios in `without`; of the others the numbers alone, for the sake of
    the pack's size. `layers` is a scenario of which the layers of every method's first run are
    compared, and those of the methods in `REPLAYED` are replayed: both need weights, and those do
    not travel.
    """

    name: str
    note: str
    grids: tuple[Grid, ...]
    models: int = 0
    inside: int | None = None
    without: tuple[str, ...] = ()
    layers: str = ""

    def title(self, number: int) -> str:
        """The name of the comparison that its grid `number` becomes."""
        return f"{self.name} ({number + 1})" if number else self.name


def grid(
    scenarios: Sequence[str | ScenarioChoice],
    methods: Sequence[str],
    seeds: Sequence[int] = (0,),
    *,
    dataset: str = "fashion-mnist-10k",
    model: str = "resnet9-small",
    preset: str = "standard",
    tuned: Sequence[str] = (),
) -> Grid:
    """`methods` with the authors' settings and `tuned` with tuned ones."""
    return Grid(
        dataset=dataset,
        model=model,
        preset=preset,
        scenarios=[
            ScenarioChoice(id=each) if isinstance(each, str) else each for each in scenarios
        ],
        methods=[
            *(MethodChoice(id=each) for each in methods),
            *(MethodChoice(id=each, preset="tuned") for each in tuned),
        ],
        training_seeds=list(seeds),
    )


def choice(scenario: str, **parameters) -> ScenarioChoice:
    return ScenarioChoice(id=scenario, parameters=parameters)


def digits(
    scenarios: Sequence[ScenarioChoice],
    methods: Sequence[str],
    seeds: Sequence[int],
    *,
    preset: str = "quick",
) -> Grid:
    """Small digits with the network of the efficacy paper; its preset is written for MNIST, which
    does not come with the program.
    """
    return grid(scenarios, methods, seeds, dataset="digits", model="mlp", preset=preset)


def letters(*scenarios: ScenarioChoice, methods: Sequence[str] = ENCODER) -> Grid:
    return grid(scenarios, methods, dataset="glyphs", preset="quick")


def sensitivity(scenario: ScenarioChoice) -> tuple[Grid, ...]:
    """The classifier alone; other learning rates and epochs of pseudo-labels and DUCK; Nesterov's
    momentum; noise ("Are We Truly Forgetting?", Figures 4b, 10, 13 and 11); the paper's other
    methods.
    """
    swift = [name for name in ENCODER if name not in ("retrain", "duck")]
    whole = letters(scenario, methods=("pseudo_labels",))
    settings: list[dict[str, Any]] = [
        *({"lr": lr} for lr in (1e-5, 3e-5, 3e-4, 1e-3)),
        {"nesterov": True},
        *EPOCHS,
    ]
    duck: list[dict[str, Any]] = [*({"class_lr": lr} for lr in (1e-5, 1e-4, 1e-3)), *EPOCHS]
    return (
        letters(scenario, methods=swift).model_copy(update={"scopes": ["classifier"]}),
        whole.model_copy(
            update={
                "methods": [MethodChoice(id="pseudo_labels", parameters=each) for each in settings]
            }
        ),
        whole.model_copy(update={"noise": [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0]}),
        whole.model_copy(
            update={"methods": [MethodChoice(id="duck", parameters=each) for each in duck]}
        ),
        letters(scenario, methods=SLOW),
    )


AUTHORS = "Authors' settings, epochs scaled to the recipe."
NOT_AGAIN = (
    "SSD and L-CODEC are left out: their defaults have changed, and they were not run again here."
)
SEARCHED = "Tuned ones come from a search on another seed (docs/tuning.md)."
LEFT_OUT = "GKT's authors' settings are left out: 4,000 batches take some 140 Retrains."


def found(scenario: str) -> list[str]:
    """The methods that a search of this very scenario found settings for."""
    return [each.method for each in shipped() if each.scenario == scenario]


def every(name: str, scenario: str, *, layers: str = "") -> Part:
    """Every method with the authors' settings, and with tuned ones where a search of this very task
    found some.
    """
    return Part(
        name,
        f"{AUTHORS} {SEARCHED} {LEFT_OUT}",
        (grid([scenario], SWIFT, SEEDS, tuned=found(scenario)), grid([scenario], DEAR, SEEDS)),
        layers=layers,
    )


def searched(*scenarios: str) -> tuple[Grid, ...]:
    """Every method with tuned settings, a grid for each scenario that was searched."""
    return tuple(grid([each], (), SEEDS, tuned=found(each)) for each in scenarios if found(each))


PARTS = (
    every("Every method, part of one class", "one_class"),
    every("Every method, whole classes", "class_wise", layers="class_wise"),
    Part(
        "Every method, three more scenarios",
        f"{AUTHORS} {SEARCHED} GKT runs under whole classes alone. Under the worst and the best "
        "case Second-order and NTK, which take a Retrain and more, have no runs.",
        (
            grid(("all_classes",), SWIFT, SEEDS),
            grid(EXTREMES, SWIFT, (0, 1, 2)),
            grid(("all_classes",), DEAR, SEEDS),
            grid(EXTREMES, ELSEWHERE, (0, 1, 2)),
            *searched("all_classes"),
        ),
        inside=0,
    ),
    Part(
        "More Retrains",
        "Retrain alone, on seeds that no method has: how far two Retrains lie apart decides how "
        "much a verdict can tell.",
        (grid(("one_class", "all_classes"), ("retrain",), range(len(SEEDS), 10)),),
        inside=0,
    ),
    Part("Ten methods, five scenarios", AUTHORS, (grid(SCENARIOS, TEN, (0, 1, 2)),)),
    Part(
        "Depoisoning",
        f"A tenth of the training images poisoned. {AUTHORS} {SEARCHED}",
        (
            grid(POISONED, POISON, SEEDS),
            grid(POISONED, [name for name in SWIFT if name not in POISON], SEEDS),
            grid(POISONED, DEAR, SEEDS),
            *searched(*POISONED),
        ),
        inside=2,
    ),
    Part(
        "Depoisoning, half as much",
        f"A twentieth of the training images with flipped labels. {AUTHORS}",
        (grid([choice("label_flip", budget=0.05)], POISON),),
        inside=0,
    ),
    Part(
        "Budgets",
        f"2, 5, 10 and 20 % of one class, and of all. {AUTHORS}",
        tuple(
            grid(
                [choice(scenario, budget=budget) for budget in (0.02, 0.05, 0.1, 0.2)],
                (*TEN, *VARYING),
            )
            for scenario in ("one_class", "all_classes")
        ),
        inside=0,
    ),
    Part(
        "Persons",
        f"Drawn faces, the persons task of mucore bench 1. {AUTHORS} NTK, which takes long on "
        "images of this size, ran on one seed; Second-order, which takes longer, was not run. "
        "GKT forgets whole classes alone.",
        (
            grid(("identities",), PERSONS, SEEDS, dataset="faces"),
            grid(
                ("identities",),
                [name for name in SWIFT if name not in PERSONS],
                SEEDS,
                dataset="faces",
            ),
            grid(("identities",), ELSEWHERE, SEEDS, dataset="faces"),
            grid(("identities",), ("ntk",), dataset="faces"),
        ),
        inside=1,
    ),
    Part(
        "Persons, attributes",
        "Three attributes of drawn faces, and two of them alone; the recipe does not learn the "
        f"third alone. {AUTHORS}",
        (
            grid(("identities",), PERSONS, (0, 1, 2), dataset="faces-attributes", preset="quick"),
            *(
                grid(("identities",), PERSONS, dataset=f"faces-attributes-{name}", preset="quick")
                for name in ("male", "young")
            ),
        ),
        inside=0,
    ),
    Part(
        "Competition",
        "Persons of drawn faces, as the NeurIPS 2023 competition asked, its four entries among "
        f"the methods. {AUTHORS} {NOT_AGAIN}",
        (
            grid(
                ("competition",),
                (
                    "retrain",
                    "finetune",
                    "gradient_ascent",
                    "neggrad_plus",
                    "scrub",
                    "salun",
                    *ENTRIES,
                ),
                dataset="faces",
                preset="quick",
            ),
        ),
        inside=0,
    ),
    Part(
        "Encoders",
        "A fifth of 120 drawn letters, at random; the classifier alone, other learning rates, "
        f"noise. {AUTHORS}",
        (letters(choice("random_classes", n=24)), *sensitivity(choice("random_classes", n=24))),
        inside=1,
    ),
    Part(
        "Encoders, other letters",
        f"A tenth and three tenths at random, and the fifth nearest to another style. {AUTHORS}",
        (
            letters(
                choice("random_classes", n=12),
                choice("random_classes", n=36),
                choice("top_classes", n=24, downstream="glyphs-hand"),
                methods=(*ENCODER, *SLOW),
            ),
        ),
        inside=0,
    ),
    Part(
        "Efficacy",
        "Six fractions of the threes of small digits under the paper's preset: 100 images of each "
        "class, 50 epochs, its methods' settings.",
        (
            digits(
                [
                    choice("class_fraction", class_id=3, fraction=fraction)
                    for fraction in (0.01, 0.1, 0.25, 0.5, 0.8, 1.0)
                ],
                ("retrain", "amnesiac", "fisher"),
                range(10),
                preset="efficacy-mnist",
            ),
        ),
    ),
    Part(
        "Forgetting quality",
        f"{FEW_MODELS} models of each method on small digits. {AUTHORS}",
        (digits([choice("one_class")], ("finetune", "neggrad_plus", "scrub", "ssd"), (0,)),),
        models=FEW_MODELS,
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--home",
        type=Path,
        default=Path("demo-home"),
        help="where store and artifacts of the run live",
    )
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).resolve().parents[1] / "data" / "demo"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=[part.name for part in PARTS],
        metavar="NAME",
        help="comparisons to make (default: all)",
    )
    parser.add_argument(
        "--anew", action="store_true", help="make them even where the pack has their runs"
    )
    parser.add_argument(
        "--fresh", action="store_true", help="keep nothing of the pack that is there"
    )
    parser.add_argument(
        "--busy",
        action="store_true",
        help="the machine did other work: leave out relative times of all runs in --home",
    )
    arguments = parser.parse_args()
    chosen = [part for part in PARTS if not arguments.only or part.name in arguments.only]
    with open_store(arguments.home) as store:
        before = {} if arguments.anew or arguments.fresh else packed_results(arguments.out)
        short = [part.name for part in chosen if not make(part, store, before)]
        packed = pack(store, arguments.out, fresh=arguments.fresh, busy=arguments.busy)
    print(f"{packed} runs in {arguments.out}")
    if short:
        sys.exit(f"Runs are missing in {', '.join(short)}; see the jobs of {arguments.home}.")


def packed_results(out: Path) -> dict[str, Result]:
    """What a pack has, by key; nothing where there is no pack."""
    if not (out / "pack.json").is_file():
        return {}
    with open_pack(out) as pack:
        return {result.key: result for result in pack.results()}


def make(part: Part, store: Store, before: Mapping[str, Result]) -> bool:
    """Compute what store and pack (its results are `before`) lack of a comparison; whether every
    run has a result now.
    """
    complete = True
    experiments = [
        plan_experiment(one, store, models=part.models) if part.models else None
        for one in part.grids
    ]
    plans = [
        each.plan if each else make_plan(one, store)
        for each, one in zip(experiments, part.grids, strict=True)
    ]
    every = [spec for plan in plans for spec in plan.specs]
    before = {} if part.models else before
    _work(store, [spec for spec in every if spec.key in references_to_train(every, before)])
    lacking = unfinished(every, before, store)
    for number, (plan, experiment) in enumerate(zip(plans, experiments, strict=True)):
        specs = [spec for spec in plan.specs if spec.key in lacking]
        keys = {spec.key for spec in specs}
        print(
            f"{part.name}: {len(plan.specs)} runs, {len(keys - store.known(keys))} to compute",
            flush=True,
        )
        title = part.title(number)
        there = next((each for each in store.comparisons() if each.name == title), None)
        if keys and (there is None or {*there.keys} != {*plan.keys}):
            if there is not None:  # of an earlier list of methods
                store.delete_comparison(there.id)
            store.create_comparison(title, part.note, plan.grid.model_dump(mode="json"), plan.keys)
        _work(store, specs)
        complete = complete and not keys - store.known(keys)
        if experiment is not None and complete:
            find(experiment, store)  # leaves its numbers in the store's folder
        look_inside(
            [spec for spec in specs if spec.scenario == part.layers and not spec.training_seed],
            store,
        )
    return complete


def _work(store: Store, specs: Sequence[RunSpec]) -> None:
    store.enqueue(specs)
    work(store, only={spec.key for spec in specs}, until_done=True, on_event=_tell)


def references_to_train(specs: Iterable[RunSpec], before: Mapping[str, Result]) -> set[str]:
    """The keys of the Retrains that something is missing of, of those that the pack has."""
    return {
        group
        for group, keys in _groups(specs).items()
        if group in keys and not keys <= before.keys()
    }


def unfinished(specs: Iterable[RunSpec], before: Mapping[str, Result], store: Store) -> set[str]:
    """Keys to compute: what `before` lacks where the store's Retrain is the pack's, and everything
    that is compared with any other.

    Machines round differently, so a Retrain of another machine may be another network, and the gaps
    of a line must be to one.
    """
    lacking = set()
    for group, keys in _groups(specs).items():
        if not keys <= before.keys():
            lacking |= (
                keys - before.keys() if agree(store.get_result(group), before.get(group)) else keys
            )
    return lacking


def _groups(specs: Iterable[RunSpec]) -> dict[str, set[str]]:
    """Keys by the key of the Retrain (of trainings: of themselves) that they are compared with."""
    groups: dict[str, set[str]] = {}
    for spec in specs:
        groups.setdefault(spec.key if spec.scenario is None else spec.retrained().key, set()).add(
            spec.key
        )
    return groups


def agree(one: Result | None, other: Result | None) -> bool:
    """Whether two trainings of one description came to the same network: every epoch's loss and
    every accuracy is the same number.
    """
    if one is None or other is None or one.losses != other.losses:
        return False
    return all(
        one.metrics.get(name) == other.metrics.get(name) for name in ("ra", "ta", "fa", "va")
    )


def asked_for(store: Store) -> set[str]:
    """The keys that today's parts ask for. Runs of a method whose settings or code have changed
    since are no longer among them.
    """
    keys = set[str]()
    for part in PARTS:
        for one in part.grids:
            keys.update(
                (
                    plan_experiment(one, store, models=part.models).plan
                    if part.models
                    else make_plan(one, store)
                ).keys
            )
    return keys


def outdated(before: Mapping[str, Result], asked: Collection[str], made: Store) -> set[str]:
    """The keys of a pack's runs that leave it: those that today's parts do not ask for; of an
    earlier revision of recipes, with which parts were made that take hours, those that are compared
    with a Retrain that was made anew.
    """
    stay, trained = set[str](), set[str]()
    for key, result in before.items():
        spec = RunSpec.model_validate(result.spec)
        recipe = spec.recipe.model_copy(update={"revision": REVISION})
        if recipe == spec.recipe:
            stay |= {key} & set(asked)
        elif spec.scenario is not None:
            anew = spec.model_copy(update={"recipe": recipe}).retrained().key
            if made.get_result(anew) is None:
                stay.add(key)
                trained.add(spec.original().key)
    return set(before) - stay - trained


def look_inside(specs: Iterable[RunSpec], store: Store) -> None:
    """Analyses that need weights: the layers of each run, and replays of some."""
    for spec in specs:
        if spec.method in ("original", "retrain"):
            continue
        kinds = [
            "layers",
            *(["replay"] if spec.method in REPLAYED else []),
        ]
        for kind in kinds:
            try:
                analysis.compute(kind, parameters_of(kind, spec.key), store, store.home)
            except MucoreError as error:  # an ensemble or another network has no layers to compare
                print(f"No {kind} of {spec.method}: {error}", flush=True)


def parameters_of(kind: str, key: str) -> dict[str, str]:
    """Those with which pages ask for an analysis of one run."""
    return {"key": key, "split": "test"} if kind == "layers" else {"key": key}


def pack(store: Store, out: Path, *, fresh: bool, busy: bool) -> int:
    """Write the pack: what the store has and, of the pack before, what still goes with it. Returns
    the number of runs.
    """
    wanted, stayed = {part.name for part in PARTS}, set[str]()
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder)) as merged:
        comparisons = {
            one.name: one for one in store.comparisons() if one.name.partition(" (")[0] in wanted
        }
        before = {} if fresh else packed_results(out)
        same = {
            each.key
            for each in store.results(keys=list(before))
            if agree(each, before[each.key])
            and not (is_first(each) and each.outputs and not before[each.key].outputs)
        }
        # The numbers of an experiment are named by when its runs finished, so all of them come from
        # one place.
        same -= {
            key
            for one in comparisons.values()
            if one.name in {part.name for part in PARTS if part.models}
            for key in one.keys
        }
        _copy(store, merged, comparisons.values(), busy=busy, without=same)
        if before:
            gone = outdated(before, asked_for(store), merged)
            with open_pack(out) as packed:
                kept = [
                    one for one in packed.comparisons() if one.name.partition(" (")[0] in wanted
                ]
                _copy(packed, merged, kept, without=gone)
            comparisons = {one.name: one for one in kept} | comparisons
            stayed = before.keys() & merged.known(list(before))
            stayed -= store.known(list(stayed)) - same
        for one in sorted(comparisons.values(), key=lambda each: each.created):
            there = merged.known(one.keys)
            merged.insert_comparison(
                one.name,
                one.note,
                one.grid,
                [key for key in one.keys if key in there],
                created=one.created,
                demo=False,
            )
        results = merged.results()
        # One model of each line is enough to look into; the others say how much its numbers vary.
        numbers_alone = {
            part.title(number)
            for part in PARTS
            if part.inside is not None
            for number in range(part.inside, len(part.grids))
        }
        scenarios = {each.key: each.spec["scenario"] for each in results}
        without = {
            part.title(number): part.without for part in PARTS for number in range(len(part.grids))
        }
        looked_into = {
            key
            for one in merged.comparisons()
            if one.name not in numbers_alone
            for key in one.keys
            if scenarios[key] not in without.get(one.name, ())
        }
        first = [each for each in results if is_first(each)]
        inside = seen_inside(first, looked_into)
        write_pack(merged, out, outputs=inside, samples=SAMPLES)
    for path in (out / "analyses").glob("*.npz"):
        if not _is_about(path, stayed):
            path.unlink()
    for name in ("quality", "analyses"):
        if (store.home / name).is_dir():
            # there is one experiment, and what is there is of its runs before
            if name == "quality":
                shutil.rmtree(out / name, ignore_errors=True)
            shutil.copytree(
                store.home / name,
                out / name,
                dirs_exist_ok=True,
                ignore=shutil.ignore_patterns("*.log", "*.progress"),
            )
    for each in first:
        if each.key not in inside:
            name = analysis.key("replay", parameters_of("replay", each.key))
            (out / "analyses" / f"{name}.npz").unlink(missing_ok=True)
    return len(results)


def is_first(result: Result) -> bool:
    """Whether this is the run of its method that can be looked into."""
    return result.spec["training_seed"] == 0 and not result.spec["unlearning_seed"]


def seen_inside(results: Sequence[Result], looked_into: Collection[str]) -> set[str]:
    """The keys of the runs whose predictions travel: those of `looked_into`, but instead of a run
    with the authors' settings the tuned one of the same task, where there is one: pages open on it.
    Lessons tell of the authors', so those whose features they look at travel as well.
    """
    tuned = {_task(each): each.key for each in results if each.spec["method_preset"] == "tuned"}
    found = set[str]()
    for each in results:
        if each.key in looked_into:
            plain = each.spec["method_preset"] == "authors"
            found.add(tuned.get(_task(each), each.key) if plain else each.key)
            if plain and (each.spec["scenario"], each.spec["method"]) in told_by_features():
                found.add(each.key)
    return found


@functools.cache
def told_by_features() -> frozenset[tuple[str, str]]:
    """Scenario and method of what lessons look into: the features of these runs must be there."""
    return frozenset(
        (scenario["id"], method["id"])
        for lesson in LESSONS.values()
        if any(of_features(step) for step in lesson.steps)
        for scenario in lesson.grid["scenarios"]
        for method in lesson.grid["methods"]
    )


def _task(result: Result) -> tuple[str, ...]:
    """What two runs share that differ in the settings of their method alone."""
    spec = result.spec
    names = ("dataset", "model", "recipe", "scenario", "scenario_parameters", "method")
    return tuple(json.dumps(spec[name], sort_keys=True) for name in names)


def _is_about(path: Path, keys: set[str]) -> bool:
    """Whether the runs of an analysis are all among `keys`: a map names them, layers and replays of
    a run are named by it.
    """
    with np.load(path) as file:
        mapped = [name for name in file.files if len(name) == KEY_LENGTH]
    if mapped:
        return set(mapped) <= keys
    return path.stem in {
        analysis.key(kind, parameters_of(kind, key))
        for kind in ("layers", "replay")
        for key in keys
    }


def _untimed(result: Result) -> Result:
    without = {"rte": Measured(None, error=BUSY)} if "rte" in result.metrics else {}
    return replace(
        result,
        metrics={**result.metrics, **without},
        notes=tuple(dict.fromkeys([*result.notes, BUSY])),
    )


def _copy(
    source: Store,
    target: Store,
    comparisons: Iterable[Comparison],
    *,
    busy: bool = False,
    without: Collection[str] = (),
) -> None:
    """Copy the runs of `comparisons`, but those of the keys `without`, those that `target` has, and
    those that were compared with another Retrain than it has.
    """
    for one in sorted(comparisons, key=lambda each: each.id):
        results = [_untimed(each) if busy else each for each in source.results(keys=one.keys)]
        known = target.known([each.key for each in results]) | set(without)
        results = [
            each
            for each in results
            if each.key not in known and not _is_stale(each, source, target)
        ]
        target.put_results(results)
        for artifact in {each.outputs for each in results if each.outputs is not None}:
            target.artifacts.place.write(artifact, source.artifacts.content(artifact))


def _is_stale(result: Result, source: Store, target: Store) -> bool:
    """Whether `target` has another Retrain than the one that `source` compared this run with."""
    retrained = (
        RunSpec.model_validate(result.spec).retrained().key
        if result.spec["scenario"] is not None
        else None
    )
    if retrained is None or (there := target.get_result(retrained)) is None:
        return False
    return not agree(source.get_result(retrained), there)


def _tell(event: str, job: Job) -> None:
    if event != "progress":
        print(event, job.label, job.error or "", flush=True)


if __name__ == "__main__":
    main()
