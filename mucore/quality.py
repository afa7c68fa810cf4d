"""The forgetting-quality experiment: which runs it takes, and what their stored results say
together.

Its models are ordinary runs, so they are cached, queued, cancelled and resumed like any other, and
other comparisons share them. The numbers are computed from stored predictions on demand and kept as
small files under `<home>/quality`, where they outlive the predictions.
Source: Triantafillou et al., 2024 (metrics/quality_experiment.py). Imports no torch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from mucore import catalog, files
from mucore.errors import BadFile, BadValue, MucoreError, UnknownName
from mucore.metrics.forgetting_quality import FEW_MODELS
from mucore.metrics.quality_experiment import FEWEST_MODELS, Assessment, Models, assess, confidences
from mucore.runner.grid import Grid, check_count, expand
from mucore.runner.plan import Plan, plan_specs
from mucore.runs import RunSpec, stored_spec
from mucore.store import Store
from mucore.store.records import Result

REVISION = 1  # raised when the numbers of the same results can change
RULE = "document", "all"  # bins and intervals, in the names of numbers that are kept
# The models that unlearning starts from: one for all, as in the competition, with unlearning seeds
# alone to tell the results apart; or one for each, of its own training seed, for methods that draw
# nothing at random.
Originals = Literal["one", "each"]
# What a scenario chooses by is a property of the original's, so that the models of other seeds
# would forget other samples.
_DEPENDS_ON_ORIGINAL = frozenset({"losses", "downstream"})


@dataclass(frozen=True)
class Row:
    """A method of the experiment, with its first run and the keys of all its runs."""

    spec: RunSpec
    keys: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Lineup:
    """Whose results are compared: `models` of each kind, by seed; `retrained` are the keys of
    Retrain's.
    """

    models: int
    originals: Originals
    retrained: tuple[str, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True, kw_only=True)
class Experiment(Lineup):
    """`plan` has every run, references first."""

    plan: Plan


@dataclass(frozen=True)
class Finding:
    """What the experiment says of one method."""

    spec: RunSpec
    assessment: Assessment
    reverted: int  # runs that failed and gave the original back, counted as they are
    keys: tuple[str, ...]

    @property
    def row(self) -> dict[str, Any]:
        """As tables and JSON have it."""
        spec = {"method": self.spec.method, "parameters": self.spec.parameters}
        return {**spec, **asdict(self.assessment), "reverted": self.reverted}


def plan_experiment(
    grid: Grid, store: Store, *, models: int, originals: Originals = "one"
) -> Experiment:
    """The runs for `models` unlearned models of each method and as many retrained ones, none of
    which is computed here.

    The grid names one scenario, one training and one unlearning seed: those from there on are used,
    a training seed for each retrained model, and for the unlearned ones an unlearning seed each
    (`originals` "one") or a training and an unlearning seed each ("each"). Retrain starts from the
    initial weights of its seed's original, which is why every training seed's original is a run of
    the experiment; one from a file is loaded instead. Raises `BadValue`, `UnknownName`.
    """
    _check(grid, models, originals)
    chosen = {catalog.method(choice.id).id: choice for choice in grid.methods}
    methods = [choice for choice in grid.methods if catalog.method(choice.id).id != "retrain"]
    specs, refused = expand(grid.model_copy(update={"methods": methods}))
    under = [spec for spec in specs if spec.scenario is not None]
    retrain = next(spec for spec in under if spec.method == "retrain")
    wanted = [spec for spec in under if catalog.method(spec.method).family != "reference"]
    if "original" in chosen:
        wanted.insert(0, retrain.untouched())
    if not wanted and not refused:
        raise BadValue("Name one other method than retrain at least, such as finetune.")
    retrained = [_seeded(retrain, training=number) for number in range(models)]
    runs = {
        spec.key: [
            _seeded(spec, training=number if originals == "each" else 0, unlearning=number)
            for number in range(models)
        ]
        for spec in wanted
    }
    references = (each for spec in retrained for each in (spec.original(), spec))
    every = {spec.key: spec for spec in chain(references, *runs.values())}
    seeds = {
        "training_seeds": [spec.training_seed for spec in retrained],
        "unlearning_seeds": [grid.unlearning_seeds[0] + number for number in range(models)],
    }
    return Experiment(
        plan=plan_specs(grid.model_copy(update=seeds), list(every.values()), refused, store),
        models=models,
        originals=originals,
        retrained=tuple(spec.key for spec in retrained),
        rows=tuple(Row(row[0], tuple(spec.key for spec in row)) for row in runs.values()),
    )


def _seeded(spec: RunSpec, *, training: int, unlearning: int = 0) -> RunSpec:
    """The run `training` and `unlearning` seeds further; references draw from the training axis
    alone.
    """
    reference = catalog.method(spec.method).family == "reference"
    return spec.model_copy(
        update={
            "training_seed": spec.training_seed + training,
            "unlearning_seed": 0 if reference else spec.unlearning_seed + unlearning,
        }
    )


def _check(grid: Grid, models: int, originals: str) -> None:
    """Raise `UnknownName` or `BadValue` for what makes no experiment."""
    if originals not in get_args(Originals):
        raise UnknownName("choice of originals", originals, get_args(Originals))
    check_count(grid, training_seeds=models)
    if models < FEWEST_MODELS:
        raise BadValue(
            f"Forgetting quality takes {FEWEST_MODELS} models of each kind at least, but got "
            f"{models}. The competition used 512; below {FEW_MODELS} the figure is a rough "
            "estimate."
        )
    for name in ("scenarios", "training_seeds", "unlearning_seeds", "evaluation_seeds"):
        if len(getattr(grid, name)) != 1:
            raise BadValue(
                "Forgetting quality is an experiment under one scenario from one first seed of "
                f"each kind on, but got {len(getattr(grid, name))} {name.replace('_', ' ')}."
            )
    card = catalog.scenario(grid.scenarios[0].id)
    from_file = bool(grid.original.strip())
    if card.needs & _DEPENDS_ON_ORIGINAL and not from_file:
        raise BadValue(
            f"Forgetting quality compares models that forgot the same samples, but {card.id} "
            "chooses them by the original, and each training seed has its own. Take a scenario "
            "that does not look at the original, such as one_class, or an original from a file."
        )
    methods = [catalog.method(choice.id) for choice in grid.methods]
    alone = [method.id for method in methods if method.needs_file]
    alone += ["original"] * (originals == "one" and "original" in {each.id for each in methods})
    alone += ["an original from a file"] * (originals == "each" and from_file)
    if alone:
        raise BadValue(
            f"Forgetting quality takes {models} models of each kind, but {alone[0]} is one. Leave "
            "it out, or choose the other of originals: one and each."
        )


def lineup(
    store: Store,
    *,
    models: int,
    originals: Originals,
    retrained: Sequence[str],
    methods: Sequence[Sequence[str]],
) -> Lineup:
    """The experiment that stored runs make up; `methods` are the keys of each one's runs. Raises
    `MucoreError` where the first run of one has no result.
    """
    first = [stored_spec(each.spec) for each in _results(store, [keys[0] for keys in methods])]
    rows = tuple(map(Row, first, map(tuple, methods)))
    return Lineup(models=models, originals=originals, retrained=tuple(retrained), rows=rows)


def _results(store: Store, keys: Sequence[str]) -> list[Result]:
    """Those of the keys, in their order. Raises `MucoreError` where one has none."""
    found = {result.key: result for result in store.results(keys=sorted(set(keys)))}
    if lacking := sum(key not in found for key in keys):
        raise MucoreError(
            f"{lacking} of {len(keys)} runs have no result, but the experiment is about all. Run "
            "it again."
        )
    return [found[key] for key in keys]


def find(experiment: Lineup, store: Store, *, stored_only: bool = False) -> list[Finding]:
    """What the stored results say, one finding a method; a method some of whose runs have no result
    is left out.

    With `stored_only`, nothing is computed: a method without stored numbers is left out, too.
    Raises `MucoreError` where Retrain's results are not complete, `BadValue` where the models
    forgot different samples or where predictions were removed before the numbers had been computed.
    """
    retrained = _results(store, experiment.retrained)
    keys = {key for row in experiment.rows for key in row.keys}
    results = {result.key: result for result in store.results(keys=sorted(keys))}
    complete = [row for row in experiment.rows if all(key in results for key in row.keys)]
    _check_alike([*retrained, *(results[key] for row in complete for key in row.keys)])
    reference: Models | None = None
    findings = []
    for row in complete:
        unlearned = [results[key] for key in row.keys]
        digest = _digest(unlearned, retrained)
        path = store.home / "quality" / f"{digest}.json"
        assessment = _read(path)
        if assessment is None and stored_only:
            continue
        if assessment is None:
            reference = reference or _models(retrained, store)
            models = _models(unlearned, store)
            assessment = assess(unlearned=models, retrained=reference)
            if not store.read_only:
                files.write(path, json.dumps(asdict(assessment)).encode())
        failed = sum(result.status not in ("ok", "unsolved") for result in unlearned)
        findings.append(Finding(row.spec, assessment, failed, row.keys))
    return findings


def _check_alike(results: Iterable[Result]) -> None:
    hashes = {result.forget_hash for result in results}
    if len(hashes) > 1:
        raise BadValue(
            "Forgetting quality compares models that forgot the same samples, but these results "
            f"have {len(hashes)} different forget sets. Some were made from other data: compute "
            "all of them in one home (--home)."
        )


def forget_confidences(keys: Sequence[str], store: Store) -> tuple[np.ndarray, np.ndarray]:
    """What the models of these runs say of the forget set: sample ids (S,) and logit-scaled
    confidences (N, S), rows as `keys`.

    Raises `MucoreError` for a run without a result, `BadValue` where predictions were removed.
    """
    results = _results(store, keys)
    removed = sum(not each.outputs or not store.artifacts.exists(each.outputs) for each in results)
    if removed:
        raise BadValue(
            f"Forgetting quality needs predictions, but {removed} of {len(results)} "
            f"{catalog.method(results[0].spec['method']).title} runs no longer have them. Compute "
            "these again in another home."
        )
    outputs = (store.artifacts.get_outputs(str(each.outputs), features=False) for each in results)
    splits = [each["forget"] for each in outputs]
    return np.sort(splits[0].ids, kind="stable"), np.stack(list(map(confidences, splits)))


def _models(results: Sequence[Result], store: Store) -> Models:
    return Models(
        confidences=forget_confidences([result.key for result in results], store)[1],
        ra=[_value(result, "ra") for result in results],
        ta=[_value(result, "ta") for result in results],
        costs=[_cost(result) for result in results],
    )


def _value(result: Result, metric: str) -> float:
    measured = result.metrics.get(metric)
    if measured is None or measured.value is None:
        raise BadFile(
            f"The stored result {result.key} has no {metric}, which the score needs. Compute it "
            "in another home (--home)."
        )
    return measured.value


def _cost(result: Result) -> dict:
    """What the method took; the original under a scenario took nothing, whatever its training
    did.
    """
    cost = dict(result.cost)
    if result.spec["method"] == "original":
        cost["seconds"] = 0.0
        cost["processor_seconds"] = None if cost.get("processor_seconds") is None else 0.0
    return cost


def _digest(*kinds: Sequence[Result]) -> str:
    """Names what was computed: by results and when each was finished, since one that was deleted
    and made again may be from another machine.
    """
    named = [
        [(result.key, result.finished.isoformat() if result.finished else "") for result in kind]
        for kind in kinds
    ]
    return hashlib.sha256(json.dumps([REVISION, *RULE, named]).encode()).hexdigest()[:32]


def _read(path: Path) -> Assessment | None:
    """Stored numbers, or None where there are none, or some that this version does not know."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        content |= {name: tuple(content[name]) for name in ("histogram", "cautions")}
        return Assessment(**content)
    except (OSError, ValueError, TypeError, KeyError):
        return None
