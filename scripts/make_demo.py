"""Make the demo pack in data/demo: real runs, authors' settings, on the data sets that come with
the program.

    python scripts/make_demo.py [--home DIR] [--out data/demo] [--only NAME ...] [--fresh]

Runs go through the ordinary job table, so the script can be stopped and started again, on another
machine with an empty home, too: what store or pack has is not computed twice, unless `--fresh` asks
for it. Where something is missing, its Retrain is trained again: one that agrees with the pack's,
loss by loss, leaves the pack as it is and only what is missing is computed; any other replaces the
pack's, and takes away what was compared with that. So does a Retrain of today's revision of recipes
with runs of an earlier one, which stay until then: parts can be made one by one. The pack holds
numbers and provenance of every run and, of those of seed 0 with the authors' settings, predictions
and features of some samples of each split. Maps that a reader of the pack drew lie in
`packs/ID/analyses` of that reader's home; copied to `--out`/analyses, every reader finds them.
"""

from __future__ import annotations

import argparse
import functools
import json
import shutil
import sys
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np

from dashboard.lessons import LESSONS
from mucore import analysis, catalog
from mucore.catalog.tuning import shipped
from mucore.errors import MucoreError
from mucore.metrics.forgetting_quality import FEW_MODELS
from mucore.quality import find, plan_experiment
from mucore.runner.grid import Grid, MethodChoice, ScenarioChoice
from mucore.runner.plan import Plan, make_plan
from mucore.runner.worker import work
from mucore.runs import REVISION, RunSpec
from mucore.store import Store, open_pack, open_store, write_pack
from mucore.store.records import Job, Result
from mucore.suite.description import load

ROOT = Path(__file__).resolve().parents[1]
EXTREMES, POISONED = ("worst_case", "best_case"), ("label_flip", "backdoor")
SCENARIOS = ("one_class", "all_classes", "class_wise", *EXTREMES)
TEN = tuple(
    "retrain finetune gradient_ascent neggrad_plus random_labels pseudo_labels scrub salun ssd "
    "bad_teacher".split()
)
ELSEWHERE = ("sisa", "amun", "pgu")  # with the authors' settings near a Retrain
DEAR = (*ELSEWHERE, "second_order", "ntk")  # these two take one and more
FAR = ("gkt",)  # some 140 of them, so it is left out
SWIFT = tuple(card.id for card in catalog.METHODS if card.id not in (*DEAR, *FAR))
POISON = (*TEN, "first_order", "unrolling", "l1_sparse", "fcs", "niu", "boundary_shrink")
PERSONS = tuple(
    "retrain finetune cf_k gradient_ascent neggrad_plus advanced_neggrad unsir scrub salun".split()
)
COMPETITION = tuple(
    "retrain finetune gradient_ascent neggrad_plus scrub salun fcs msg ct niu".split()
)
# Of "Are We Truly Forgetting?"; of the last three the numbers alone travel, for predictions of 120
# classes take a megabyte a run.
ENCODER = tuple("retrain finetune gradient_ascent random_labels pseudo_labels salun duck".split())
SLOW = ("contrastive", "scar", "scrub")
# of many families, as on tuning's first page
DOZEN = tuple(
    "finetune gradient_ascent neggrad_plus random_labels scrub salun ssd bad_teacher fisher duck "
    "fcs pgu".split()
)
REPLAYED = ("neggrad_plus", "scrub", "delete", "pseudo_labels", "finetune", "salun")
EPOCHS: tuple[dict[str, Any], ...] = ({"epochs": 5}, {"epochs": 20})  # beside the authors' ten
SEEDS = tuple(load("mucore-bench-1").training_seeds)  # of its tasks, so that Board has them
SAMPLES = 100  # of each split that travel with a run
MAPS = {"dataset": "fashion-mnist-10k", "scenario": "class_wise"}  # of these t-SNE maps travel
MAPPED = 10  # methods in one file of maps


@dataclass(frozen=True)
class Part:
    """One comparison of the demo. `models` makes it a forgetting-quality experiment of so many
    models of a kind.

    Each grid becomes a comparison. Of the first `inside` of them (all by default) predictions
    travel, of the others the numbers alone, for the sake of the pack's size. `layers` is a scenario
    of which the layers of every method's first run are compared, and those of the methods in
    `REPLAYED` are replayed: both need weights, and those do not travel.
    """

    name: str
    note: str
    grids: tuple[Grid, ...]
    models: int = 0
    inside: int | None = None
    layers: str = ""

    def title(self, number: int) -> str:
        """The name of the comparison that its grid `number` becomes."""
        return f"{self.name} ({number + 1})" if number else self.name

    def plans(self, store: Store) -> list[Plan]:
        if self.models:
            return [plan_experiment(one, store, models=self.models).plan for one in self.grids]
        return [make_plan(one, store) for one in self.grids]


def grid(
    scenarios: Sequence[str | ScenarioChoice],
    methods: Sequence[str | MethodChoice],
    seeds: Sequence[int] = (0,),
    *,
    dataset: str = "fashion-mnist-10k",
    model: str = "resnet9-small",
    preset: str = "standard",
    tuned: Sequence[str] = (),
    **more: Any,
) -> Grid:
    """`methods` with the authors' settings and `tuned` with tuned ones."""
    return Grid(
        dataset=dataset,
        model=model,
        preset=preset,
        scenarios=[ScenarioChoice(id=it) if isinstance(it, str) else it for it in scenarios],
        methods=[
            *(MethodChoice(id=it) if isinstance(it, str) else it for it in methods),
            *(MethodChoice(id=each, preset="tuned") for each in tuned),
        ],
        training_seeds=list(seeds),
        **more,
    )


def part(name: str, note: str, *grids: Grid, **more: Any) -> Part:
    return Part(name, note, grids, **more)


def choice(scenario: str, **parameters) -> ScenarioChoice:
    return ScenarioChoice(id=scenario, parameters=parameters)


# Small digits with the network of the efficacy paper, whose preset is written for MNIST, which does
# not come with the program; drawn letters; drawn faces.
numbers = functools.partial(part, inside=0)
digits = functools.partial(grid, dataset="digits", model="mlp")
letters = functools.partial(grid, dataset="glyphs", preset="quick")
faces = functools.partial(grid, ("identities",), dataset="faces")
FIFTH = [choice("random_classes", n=24)]


def varied(method: str, settings: Iterable[Mapping[str, Any]]) -> Grid:
    return letters(FIFTH, [MethodChoice(id=method, parameters=dict(each)) for each in settings])


# The classifier alone; other learning rates and epochs of pseudo-labels and DUCK; Nesterov's
# momentum; noise ("Are We Truly Forgetting?", Figures 4b, 10, 13 and 11); its other methods.
SENSITIVITY = (
    letters(FIFTH, [it for it in ENCODER if it not in ("retrain", "duck")], scopes=["classifier"]),
    varied(
        "pseudo_labels",
        [*({"lr": lr} for lr in (1e-5, 3e-5, 3e-4, 1e-3)), {"nesterov": True}, *EPOCHS],
    ),
    letters(FIFTH, ("pseudo_labels",), noise=[1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0]),
    varied("duck", [*({"class_lr": lr} for lr in (1e-5, 1e-4, 1e-3)), *EPOCHS]),
    letters(FIFTH, SLOW),
)
AUTHORS = "Authors' settings, epochs scaled to the recipe."
SEARCHED = "Tuned ones come from a search on another seed (docs/tuning.md)."
LEFT_OUT = "GKT's authors' settings are left out: 4,000 batches take some 140 Retrains."


def found(scenario: str) -> list[str]:
    """The methods that a search of this very scenario found settings for."""
    return [each.method for each in shipped() if each.scenario == scenario]


def every(scenario: str) -> tuple[Grid, ...]:
    """Every method with the authors' settings, and with tuned ones where a search of this very task
    found some.
    """
    return (grid([scenario], SWIFT, SEEDS, tuned=found(scenario)), grid([scenario], DEAR, SEEDS))


def searched(*scenarios: str) -> tuple[Grid, ...]:
    """Every method with tuned settings, a grid for each scenario that was searched."""
    return tuple(grid([each], (), SEEDS, tuned=found(each)) for each in scenarios if found(each))


def shares(**shares: Sequence[float]) -> Iterable[Grid]:
    """A dozen methods with tuned settings at other shares of some scenarios, a grid for each."""
    for each, budgets in shares.items():
        yield grid([choice(each, budget=it) for it in budgets], (), SEEDS, tuned=DOZEN)


BOTH = f"{AUTHORS} {SEARCHED} {LEFT_OUT}"
PARTS = (
    part("Every method, part of one class", BOTH, *every("one_class")),
    part("Every method, whole classes", BOTH, *every("class_wise"), layers="class_wise"),
    numbers(
        "Every method, three more scenarios",
        f"{AUTHORS} {SEARCHED} GKT runs under whole classes alone. Under the worst and the best "
        "case Second-order and NTK, which take a Retrain and more, have no runs.",
        grid(("all_classes",), SWIFT, SEEDS),
        grid(EXTREMES, SWIFT, (0, 1, 2)),
        grid(("all_classes",), DEAR, SEEDS),
        grid(EXTREMES, ELSEWHERE, (0, 1, 2)),
        *searched("all_classes"),
    ),
    numbers(
        "More Retrains",
        "Retrain alone, on seeds that no method has: how far two Retrains lie apart decides how "
        "much a verdict can tell.",
        grid(("one_class", "all_classes"), ("retrain",), range(len(SEEDS), 10)),
    ),
    part("Ten methods, five scenarios", AUTHORS, grid(SCENARIOS, TEN, (0, 1, 2))),
    part(
        "Depoisoning",
        f"A tenth of the training images poisoned. {AUTHORS} {SEARCHED}",
        grid(POISONED, POISON, SEEDS),
        grid(POISONED, [name for name in SWIFT if name not in POISON], SEEDS),
        grid(POISONED, DEAR, SEEDS),
        *searched(*POISONED),
        inside=2,
    ),
    numbers(
        "Budgets, tuned",  # of a task's own share every method is above
        "2 to 50 % of one class and of all, 2 to 20 % of the training images poisoned: a dozen "
        "methods on five seeds, tuned at the shares above.",
        *shares(one_class=(0.02, 0.05, 0.1, 0.5), all_classes=(0.05, 0.1, 0.2, 0.5)),
        *shares(**dict.fromkeys(POISONED, (0.02, 0.05, 0.2))),
    ),
    numbers(
        "Part of one class, twenty seeds",
        f"A dozen methods. {SEARCHED}",
        grid(["one_class"], (), range(20), tuned=DOZEN),
    ),
    part(
        "Persons",
        f"Drawn faces, the persons task of mucore bench 1. {AUTHORS} NTK, which takes long on "
        "images of this size, ran on one seed; Second-order, which takes longer, was not run. "
        "GKT forgets whole classes alone.",
        faces(PERSONS, SEEDS),
        faces([name for name in SWIFT if name not in PERSONS], SEEDS),
        faces(ELSEWHERE, SEEDS),
        faces(("ntk",)),
        inside=1,
    ),
    numbers(
        "Persons, attributes",
        "Three attributes of drawn faces, and two of them alone; the recipe does not learn the "
        f"third alone. {AUTHORS}",
        faces(PERSONS, (0, 1, 2), dataset="faces-attributes", preset="quick"),
        faces(PERSONS, dataset="faces-attributes-male", preset="quick"),
        faces(PERSONS, dataset="faces-attributes-young", preset="quick"),
    ),
    numbers(
        "Competition",
        "Persons of drawn faces, as the NeurIPS 2023 competition asked, its four entries among "
        f"the methods. {AUTHORS} SSD and L-CODEC are left out: their defaults have changed, and "
        "they were not run again here.",
        grid(("competition",), COMPETITION, dataset="faces", preset="quick"),
    ),
    part(
        "Encoders",
        "A fifth of 120 drawn letters, at random; the classifier alone, other learning rates, "
        f"noise. {AUTHORS}",
        letters(FIFTH, ENCODER),
        *SENSITIVITY,
        inside=1,
    ),
    numbers(
        "Encoders, other letters",
        f"A tenth and three tenths at random, and the fifth nearest to another style. {AUTHORS}",
        letters(
            [
                *(choice("random_classes", n=n) for n in (12, 36)),
                choice("top_classes", n=24, downstream="glyphs-hand"),
            ],
            (*ENCODER, *SLOW),
        ),
    ),
    part(
        "Efficacy",
        "Six fractions of the threes of small digits under the paper's preset: 100 images of each "
        "class, 50 epochs, its methods' settings.",
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
    part(
        "Forgetting quality",
        f"{FEW_MODELS} models of each method on small digits. {AUTHORS}",
        digits(["one_class"], ("finetune", "neggrad_plus", "scrub", "ssd"), preset="quick"),
        models=FEW_MODELS,
    ),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--home", type=Path, default=Path("demo-home"), help="of the runs")
    parser.add_argument("--out", type=Path, default=ROOT / "data" / "demo")
    names = [part.name for part in PARTS]
    parser.add_argument(
        "--only", nargs="+", choices=names, default=names, metavar="NAME", help="comparisons"
    )
    parser.add_argument("--fresh", action="store_true", help="keep nothing of the pack")
    given = parser.parse_args()
    with open_store(given.home) as store:
        before = {} if given.fresh else packed_results(given.out)
        chosen = [part for part in PARTS if part.name in given.only]
        short = [part.name for part in chosen if not make(part, store, before)]
        packed = pack(store, given.out, fresh=given.fresh)
    draw_maps(given.out)
    print(f"{packed} runs in {given.out}")
    if short:
        sys.exit(f"Runs are missing in {', '.join(short)}; see the jobs of {given.home}.")


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
    complete, plans = True, part.plans(store)
    specs = [spec for plan in plans for spec in plan.specs]
    before = {} if part.models else before
    retrains = references_to_train(specs, before)
    _work(store, [spec for spec in specs if spec.key in retrains])
    lacking = unfinished(specs, before, store)
    for number, plan in enumerate(plans):
        keys = lacking & set(plan.keys)
        missing = keys - store.known(keys)
        print(f"{part.name}: {len(plan.specs)} runs, {len(missing)} to compute", flush=True)
        title = part.title(number)
        there = next((each for each in store.comparisons() if each.name == title), None)
        if keys and (there is None or {*there.keys} != {*plan.keys}):
            if there is not None:  # of an earlier list of methods
                store.delete_comparison(there.id)
            store.create_comparison(title, part.note, plan.grid.model_dump(mode="json"), plan.keys)
        _work(store, [spec for spec in plan.specs if spec.key in keys])
        complete = complete and not keys - store.known(keys)
        if part.models and complete:  # leaves its numbers in the store's folder
            find(plan_experiment(part.grids[number], store, models=part.models), store)
        for spec in plan.specs:
            if spec.key in keys and spec.scenario == part.layers and not spec.training_seed:
                look_inside(spec, store)
    return complete


def _work(store: Store, specs: Sequence[RunSpec]) -> None:
    store.enqueue(specs)
    work(store, only={spec.key for spec in specs}, until_done=True, on_event=_tell)


def _tell(event: str, job: Job) -> None:
    if event != "progress":
        print(event, job.label, job.error or "", flush=True)


def group_of(spec: RunSpec) -> str:
    """The key of the Retrain (of a training: its own) that a run is compared with."""
    return spec.key if spec.scenario is None else spec.retrained().key


def _groups(specs: Iterable[RunSpec]) -> dict[str, set[str]]:
    groups: dict[str, set[str]] = {}
    for spec in specs:
        groups.setdefault(group_of(spec), set()).add(spec.key)
    return groups


def references_to_train(specs: Iterable[RunSpec], before: Mapping[str, Result]) -> set[str]:
    """The keys of the Retrains that something is missing of, of those that the pack has."""
    groups = _groups(specs).items()
    return {name for name, keys in groups if name in keys and not keys <= before.keys()}


def unfinished(specs: Iterable[RunSpec], before: Mapping[str, Result], store: Store) -> set[str]:
    """Keys to compute: what `before` lacks where the store's Retrain is the pack's, and everything
    that is compared with any other.

    Machines round differently, so a Retrain of another machine may be another network, and the gaps
    of a line must be to one.
    """
    return {
        key
        for name, keys in _groups(specs).items()
        if not keys <= before.keys()
        for key in keys
        if key not in before or not agree(store.get_result(name), before.get(name))
    }


def agree(one: Result | None, other: Result | None) -> bool:
    """Whether two trainings of one description came to the same network: every epoch's loss and
    every accuracy is the same number.
    """
    if one is None or other is None or one.losses != other.losses:
        return False
    names = ("ra", "ta", "fa", "va")
    return all(one.metrics.get(name) == other.metrics.get(name) for name in names)


def asked_for(store: Store) -> set[str]:
    """The keys that today's parts ask for. Runs of a method whose settings or code have changed
    since are no longer among them.
    """
    return {key for part in PARTS for plan in part.plans(store) for key in plan.keys}


def staying(before: Mapping[str, Result], asked: Collection[str], made: Store) -> set[str]:
    """The keys of a pack's runs that stay in it: those that today's parts ask for, by whichever
    revision of recipes, but for those that were compared with another Retrain than the one that
    was made anew. Trainings stay with their runs.
    """
    stay = set[str]()
    for key, result in before.items():
        spec = RunSpec.model_validate(result.spec)
        recipe = spec.recipe.model_copy(update={"revision": REVISION})
        today = spec.model_copy(update={"recipe": recipe})
        anew = made.get_result(group_of(today))
        if anew is None or agree(anew, before.get(group_of(spec))):
            if spec.recipe != recipe or key in asked:
                stay |= {key, spec.original().key}
    return stay & before.keys()


def look_inside(spec: RunSpec, store: Store) -> None:
    """Analyses that need weights: the layers of a run, and a replay of some."""
    if spec.method in ("original", "retrain"):
        return
    for kind in ("layers", "replay")[: 1 + (spec.method in REPLAYED)]:
        try:
            analysis.compute(kind, parameters_of(kind, spec.key), store, store.home)
        except MucoreError as error:  # an ensemble or another network has no layers to compare
            print(f"No {kind} of {spec.method}: {error}", flush=True)


def draw_maps(out: Path) -> None:
    """The t-SNE maps that t-SNE and CKA opens on: Original, Retrain and every tuned method that
    forgot a whole class and whose features travel, `MAPPED` methods a file.
    """
    with open_pack(out) as packed:
        runs = packed.summaries(dataset=MAPS["dataset"], scenario=MAPS["scenario"])
        runs = runs[(runs["training_seed"] == 0) & runs["method_preset"].isin(["tuned", "authors"])]
        first, retrain = (
            runs.loc[runs["method"] == name, "key"].iloc[0] for name in ("original", "retrain")
        )
        methods = []
        for key in runs.loc[runs["method_preset"] == "tuned"].sort_values("method")["key"]:
            result = packed.get_result(key)
            kept = None if result is None or result.outputs is None else result.outputs
            if kept is not None and packed.artifacts.exists(kept):
                split = packed.artifacts.get_outputs(kept)["forget"]
                methods += [key] * (split.features is not None)
        for start in range(0, len(methods), MAPPED):
            keys = [first, retrain, *methods[start : start + MAPPED]]
            asked = {"keys": keys, "split": "train", "samples": 50, "classes": None, "seed": 0}
            if analysis.find(out, "tsne", asked) is None:
                analysis.compute("tsne", asked, packed, out)


def parameters_of(kind: str, key: str) -> dict[str, str]:
    """Those with which pages ask for an analysis of one run."""
    return {"key": key, "split": "test"} if kind == "layers" else {"key": key}


def pack(store: Store, out: Path, *, fresh: bool) -> int:
    """Write the pack: what the store has and, of the pack before, what still goes with it. Returns
    the number of runs.
    """
    before = {} if fresh else packed_results(out)
    stay = staying(before, asked_for(store), store)
    ours = {one.name: one for one in store.comparisons() if _is_of_a_part(one.name)}
    for part in PARTS:  # the numbers of an experiment are named by when all of its runs finished
        if part.models and part.name in ours:
            stay -= set(ours[part.name].keys)
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder)) as merged:
        kept = {}
        if before:
            with open_pack(out) as packed:
                kept = {it.name: it for it in packed.comparisons() if _is_of_a_part(it.name)}
                stay &= {key for one in kept.values() for key in one.keys}
                _copy(packed, merged, stay)
        _copy(store, merged, {key for one in ours.values() for key in one.keys} - stay)
        for one in sorted((kept | ours).values(), key=lambda each: each.created):
            keys = [key for key in one.keys if key in merged.known(one.keys)]
            merged.create_comparison(
                one.name, one.note, one.grid, keys, created=one.created, demo=False
            )
        results = merged.results()
        # One model of each line is enough to look into; the others say how much its numbers vary.
        first = [
            it for it in results if not (it.spec["training_seed"] or it.spec["unlearning_seed"])
        ]
        numbers_alone = {
            part.title(number)
            for part in PARTS
            if part.inside is not None
            for number in range(part.inside, len(part.grids))
        }
        shown = (one.keys for one in merged.comparisons() if one.name not in numbers_alone)
        inside = seen_inside(first, {key for keys in shown for key in keys})
        write_pack(merged, out, outputs=inside, samples=SAMPLES)
    for path in (out / "analyses").glob("*.npz"):
        if not _is_about(path, stay):
            path.unlink()
    if (store.home / "quality").is_dir():
        shutil.rmtree(out / "quality", ignore_errors=True)  # of its runs before
    for name in ("quality", "analyses"):
        if (store.home / name).is_dir():
            ignored = shutil.ignore_patterns("*.log", "*.progress")
            shutil.copytree(store.home / name, out / name, dirs_exist_ok=True, ignore=ignored)
    for each in first:
        if each.key not in inside:
            name = analysis.key("replay", parameters_of("replay", each.key))
            (out / "analyses" / f"{name}.npz").unlink(missing_ok=True)
    return len(results)


def _is_of_a_part(name: str) -> bool:
    return name.partition(" (")[0] in {part.name for part in PARTS}


def _copy(source: Store, target: Store, keys: Collection[str]) -> None:
    results = source.results(keys=list(keys))
    target.put_results(results)
    for artifact in {each.outputs for each in results if each.outputs is not None}:
        target.artifacts.storage.write(artifact, source.artifacts.content(artifact))


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
        if lesson.features
        for scenario in lesson.grid["scenarios"]
        for method in lesson.grid["methods"]
    )


def _task(result: Result) -> tuple[str, ...]:
    """What two runs share that differ in the settings of their method alone."""
    names = ("dataset", "model", "recipe", "scenario", "scenario_parameters", "method")
    return tuple(json.dumps(result.spec[name], sort_keys=True) for name in names)


def _is_about(path: Path, keys: set[str]) -> bool:
    """Whether the runs of an analysis are all among `keys`: a map names them, layers and replays of
    a run are named by it.
    """
    with np.load(path) as file:
        mapped = {name for name in file.files if len(name) == 24}  # as keys are
    kinds = ("layers", "replay")
    named = {analysis.key(kind, parameters_of(kind, key)) for kind in kinds for key in keys}
    return mapped <= keys if mapped else path.stem in named


if __name__ == "__main__":
    main()
