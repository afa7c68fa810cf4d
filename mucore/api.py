"""The Python interface, for scripts and notebooks.

    import mucore.api as mu

    frame = mu.compare(scenario="one_class", methods=["finetune", "scrub"], seeds=[0, 1])

Runs go through the same job table and store as those of the command line and the dashboard: what is
stored is not computed again. Functions import what they work with when they are called: whoever
reads results does not wait for PyTorch, nor does the first line of a notebook for a database.
"""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar

from mucore import catalog, unforeseen
from mucore.errors import BadValue, MucoreError, UnknownName, said

if TYPE_CHECKING:
    import pandas as pd
    from torch import nn

    from mucore.report import Report
    from mucore.runner.plan import Grid, Plan
    from mucore.runner.quality import Finding
    from mucore.spec import Scope
    from mucore.statistics import Statistics
    from mucore.store import Store
    from mucore.store.rows import Job
    from mucore.suite.repeat import Repeated

MOST_NAMES = 20_000  # of scenarios or methods
P = ParamSpec("P")
T = TypeVar("T")


def _door(function: Callable[P, T]) -> Callable[P, T]:
    """Whatever nobody foresaw leaves the function as `Unforeseen`, a `MucoreError` that names the
    log. What the caller's own code raises, called from here, stays as it is.
    """

    @functools.wraps(function)
    def guarded(*arguments: P.args, **named: P.kwargs) -> T:
        try:
            return function(*arguments, **named)
        except Exception as error:
            if unforeseen.passes(error):
                raise
            home, door = named.get("home"), getattr(function, "__name__", function)
            place = Path(home) if isinstance(home, str | os.PathLike) and home else None
            raise unforeseen.told(error, f"mucore.api.{door}", home=place) from error

    return guarded


__all__ = [
    "compare",
    "evaluate",
    "export",
    "forgetting_quality",
    "load_model",
    "repeat_run",
    "results",
    "run_suite",
    "save_weights",
    "statistics",
    "tune",
    "unlearn",
    "verify_pack",
    "write_board",
]


@_door
def compare(
    *,
    dataset: str = "",
    model: str = "",
    preset: str = "standard",
    recipe: Mapping[str, Any] | None = None,
    scenario: str | Sequence[str] = (),
    scenario_parameters: Mapping[str, Any] | None = None,
    methods: str | Sequence[str] = "all",
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    seeds: int | Sequence[int] = (0,),
    unlearning_seeds: int | Sequence[int] = (0,),
    noise: float | Sequence[float] = (0.0,),
    scopes: Scope | Sequence[Scope] = ("all",),
    original: str | Path = "",
    preprocess: str = "",
    name: str = "",
    device: str = "auto",
    anyway: bool = False,
    home: str | Path | None = None,
) -> pd.DataFrame:
    """Run methods under scenarios and return one row a run: what was run, each metric, and its gap
    to Retrain.

    Data set, model, scenarios and `scenario_parameters` that are left open are those of `preset`
    where it is a paper's, else "fashion-mnist-10k", "resnet9-small", "class_wise" and the cards'
    defaults; a paper's preset also sets what its paper does for a method. Of what can be several,
    one may stand alone: `seeds=0`. `parameters` maps a method to changes of its authors' settings.
    Every method runs with each `noise`, a standard deviation on its gradients, and each of
    `scopes`, "classifier" for the last layer alone. `original` is a file with weights of the
    original, which is then not trained; `preprocess` is what pixels become for every network,
    "mucore" (the data set's own mean and deviation), "0..1", "-1..1" or "MEAN/STD", one number a
    channel; left open, it is what a `normalize` layer in a file says, else "mucore". "all" leaves
    out the method `uploaded`, which needs a file, `parameters={"uploaded": {"file": PATH}}`, and
    `head_distillation`, which cheats. A run that takes more than twice the memory that the device
    has is refused unless it is wanted `anyway`; one that may not fit is warned of. Blocks until all
    is computed; runs that failed, were cancelled or that a card refuses are left out and warned of,
    but of "all" methods those that a card refuses without a word. An interrupt cancels what is left
    and keeps what is finished. Raises `MucoreError` with a sentence for input that no run can
    survive.
    """
    from mucore.export.tables import comparison_frame
    from mucore.runner.plan import make_plan, parse_grid
    from mucore.store import open_store

    _texts(name=name, device=device)
    grid = parse_grid(
        {
            **_setting(preset, dataset, model, scenario, scenario_parameters),
            "recipe": _values("recipe", recipe)
            | ({"preprocess": preprocess} if preprocess else {}),
            "methods": _methods(methods, parameters),
            "training_seeds": _several(seeds),
            "unlearning_seeds": _several(unlearning_seeds),
            "noise": _several(noise),
            "scopes": _several(scopes),
            "original": _path("original", original),
        }
    )
    store = open_store(_home(home))
    try:
        plan = make_plan(grid, store)
        if methods != "all":
            _say_refused(plan)
        failed = _compute(plan, store, name=name or _title(grid), device=device, anyway=anyway)
        frame = comparison_frame(
            store, keys=[spec.key for spec in plan.specs if spec.scenario is not None]
        )
    finally:
        store.close()
    if failed and frame.empty:
        raise MucoreError(f"No run came to a result. The first to end without: {_how(failed[0])}")
    for job in failed:
        warnings.warn(_how(job), stacklevel=3)
    return frame


@_door
def evaluate(
    *,
    unlearned: nn.Module | Sequence[nn.Module],
    original: nn.Module | Sequence[nn.Module] | None = None,
    retrained: nn.Module | Sequence[nn.Module] | None = None,
    train: Any,
    test: Any,
    forget: Any,
    head: str = "",
    device: str = "auto",
    batch_size: int = 256,
) -> Report:
    """Judge networks of your own, in memory: their metrics, the gaps to Retrain, and the verdict;
    nothing is stored.

    `train` and `test` are Datasets or tensors of (x, y), x as the networks eat it: nothing is
    normalised or augmented. `forget` are positions in `train`, a mask of bool, or a file of these
    (.npy, .npz, .txt, .csv, .json, .pt). Lists hold one network a training seed and pair by their
    places; the first unlearned network is compared with the first Retrain, and further Retrains say
    how far these lie apart. `head` names the layer whose input are the features, where that is not
    the last linear one. Networks are left as they were found. Raises `MucoreError`.
    """
    from mucore.evaluate import evaluate as judge
    from mucore.numbers import integer

    _texts(head=head, device=device)
    size = integer(batch_size, "batch_size")
    if size < 1:
        raise BadValue(f"batch_size must be at least 1, but got {size}.")
    given = {"unlearned": unlearned, "original": original, "retrained": retrained}
    return judge(given, train, test, forget, head, size, device)


@_door
def unlearn(
    model: nn.Module,
    method: str,
    *,
    train: Any,
    forget: Any,
    validation: Any = None,
    seed: int = 0,
    device: str = "auto",
    fresh: Callable[[], nn.Module] | None = None,
    recipe: Mapping[str, Any] | None = None,
    return_run: bool = False,
    **parameters: Any,
) -> Any:
    """A network like `model` that a method made forget; `model` stays as it is, nothing is stored.

    `train` and `forget` are as `evaluate` takes them, and so is `validation`, which some methods
    ask when to stop. x is what the network eats, in floats: nothing is normalised or augmented;
    methods that move pixels take the range of a channel in `train` for 0..1. `parameters` are the
    card's, by the authors' values; their epochs shrink with `recipe`, which says how `model` was
    trained: what it leaves open, such as `epochs` (15), is that of the preset "standard". `fresh`
    makes an untrained network, for methods that start from one. Every weight may move, frozen ones
    too; what comes back has the modes and `requires_grad` of `model`. With `return_run` it is
    (network, `mucore.engine.run.Run`), which has losses, cost, notes and status; a status other
    than "ok" is warned of. Raises `MucoreError`, for a method that needs a record of the training,
    too.
    """
    from mucore.numbers import integer
    from mucore.spec import make_recipe
    from mucore.unlearn import unlearn as work

    _texts(method=method, device=device)
    trained = make_recipe("standard", _values("recipe", recipe))
    seed = integer(seed, "seed")
    found = work(model, method, train, forget, validation, seed, device, fresh, trained, parameters)
    if found[1].status != "ok":
        warnings.warn(f"{method} ended {found[1].status}: {found[1].stop_reason}.", stacklevel=3)
    return found if return_run else found[0]


@_door
def forgetting_quality(
    *,
    dataset: str = "",
    model: str = "",
    preset: str = "standard",
    recipe: Mapping[str, Any] | None = None,
    scenario: str = "",
    scenario_parameters: Mapping[str, Any] | None = None,
    methods: str | Sequence[str] = "all",
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    models: int = 64,
    originals: Literal["one", "each"] = "one",
    seed: int = 0,
    mia_samples: int = 2000,
    original: str | Path = "",
    name: str = "",
    device: str = "auto",
    anyway: bool = False,
    home: str | Path | None = None,
) -> pd.DataFrame:
    """Compute `models` unlearned models of each method and as many retrained ones, and return one
    row a method: forgetting quality F, the competition's score, U-LiRA, and what they rest on
    (columns: mucore/metrics/quality_experiment.py, `Assessment`).

    `originals` "one": all start from the original of `seed` and differ in their unlearning seeds,
    as in the competition; "each": from one original each, of training seeds from `seed` on. What is
    left open is filled in as by `compare`. `retrain_quality` and `half_quality` compare F with that
    of Retrain for half as many models. Blocks, is interrupted and warns of failed runs as `compare`
    does; a method with a failed run has no row. Raises `MucoreError`.
    """
    import pandas as pd

    from mucore.numbers import integer
    from mucore.runner.plan import parse_grid
    from mucore.runner.quality import find, plan_experiment
    from mucore.store import open_store

    models = integer(models, "models")
    _texts(name=name, device=device)
    grid = parse_grid(
        {
            **_setting(preset, dataset, model, scenario, scenario_parameters),
            "recipe": _values("recipe", recipe),
            "methods": _methods(methods, parameters),
            "training_seeds": [integer(seed, "seed")],
            "unlearning_seeds": [integer(seed, "seed")],
            "mia_samples": integer(mia_samples, "mia_samples"),
            "original": _path("original", original),
        }
    )
    store = open_store(_home(home))
    try:
        experiment = plan_experiment(grid, store, models=models, originals=originals)
        title = name or f"{_title(grid)}: forgetting quality, {models} models"
        failed = _compute(experiment.plan, store, name=title, device=device, anyway=anyway)
        for job in failed:
            warnings.warn(_how(job), stacklevel=3)
        findings = find(experiment, store)
    finally:
        store.close()
    return pd.DataFrame([_row(finding) for finding in findings])


def _row(finding: Finding) -> dict[str, Any]:
    spec = {"method": finding.spec.method, "parameters": finding.spec.parameters}
    return {**spec, **asdict(finding.assessment), "reverted": finding.reverted}


@_door
def tune(
    *,
    dataset: str = "",
    model: str = "",
    preset: str = "standard",
    recipe: Mapping[str, Any] | None = None,
    scenario: str | Sequence[str] = (),
    scenario_parameters: Mapping[str, Any] | None = None,
    methods: str | Sequence[str] = "all",
    trials: int = 60,
    seed: int = 100,
    cap: float = 1 / 3,
    jobs: int = 1,
    studies: str | Path = "",
    device: str = "auto",
    home: str | Path | None = None,
) -> pd.DataFrame:
    """Search settings of methods for each scenario, and return one row a method and scenario: how
    much of the verdict's margin the authors' setting and the best use up (1.0 is at the margin),
    and `values`, the setting that was chosen, as `compare` takes it in `parameters`; None where
    there is none.

    Settings are judged on training seed `seed` and the two after it, until ten in a row are no
    better than the best, `trials` at most; none may take more than the share `cap` of Retrain's
    work. No test data are looked at. `jobs` processes share the work. Study files lie in `studies`,
    else under the home, and a search that was stopped goes on from them. What is left open is
    filled in as by `compare`. Methods that cannot be searched are warned of, and so are studies
    that could not go on. Raises `MucoreError`.
    """
    import pandas as pd

    from mucore.numbers import finite, integer
    from mucore.runner.plan import parse_grid
    from mucore.store import open_store
    from mucore.tuning.plan import FOLDER, studies_of, wish_of
    from mucore.tuning.report import record
    from mucore.tuning.search import StudiesFailed
    from mucore.tuning.together import search
    from mucore.userfiles import paths

    trials, seed, jobs = integer(trials, "trials"), integer(seed, "seed"), integer(jobs, "jobs")
    _texts(device=device)
    grid = parse_grid(
        {
            **_setting(preset, dataset, model, scenario, scenario_parameters),
            "recipe": _values("recipe", recipe),
            "methods": _methods(methods, None),
        }
    )
    store = open_store(_home(home))
    try:
        named = _path("studies", studies)
        root = paths.path(named, what="studies") if named else store.home / FOLDER
        wish, reasons = wish_of(grid, trials=trials, seed=seed, cap=finite(cap, "cap"))
        if methods != "all":
            for reason in reasons:
                warnings.warn(f"Left out: {reason}", stacklevel=3)
        try:
            search(grid, wish, store, root, jobs=jobs, device=device)
        except StudiesFailed as error:
            warnings.warn(str(error), stacklevel=3)
        found = [record(task, study, trials, root) for task, study in studies_of(wish, root)]
    finally:
        store.close()
    return pd.DataFrame(found)


@_door
def run_suite(
    name: str,
    *,
    division: str,
    methods: str | Sequence[str] = "all",
    jobs: int = 1,
    out: str | Path = "",
    features: bool = False,
    device: str = "auto",
    home: str | Path | None = None,
) -> Path:
    """Run a division of a suite, in `jobs` processes of one thread each, and write its pack to
    `out`, a folder or a name that ends in .zip (default: NAME-DIVISION); returns where it is.

    What is stored is not computed again. Lines that there cannot be, and runs that failed, are
    warned of and stand in the pack with their reason. An interrupt cancels what is left and keeps
    what is finished. Raises `MucoreError`, also where this mucore is not the one that the suite was
    frozen with.
    """
    from mucore.numbers import integer
    from mucore.runner.together import check_jobs
    from mucore.store import open_store
    from mucore.suite import lines as suites
    from mucore.suite.description import division as known_division
    from mucore.suite.description import load
    from mucore.suite.lines import by_reason
    from mucore.suite.pack import pack_of, write

    jobs = integer(jobs, "jobs")
    check_jobs(jobs)
    _texts(name=name, division=division, device=device)
    suite = load(name)
    known_division(suite, division)
    runs = suites.asked(suite, division, _names("methods", methods))
    place = Path(_path("out", out) or f"{suite.id}-{division}")
    store = open_store(_home(home))
    try:
        suites.check_data(suite)
        for each in runs:
            with suites.one_thread():
                title = suites.title(suite, division, each)
                plan = suites.plan_of([each], store)
                _compute(plan, store, name=title, device=device, anyway=False, jobs=jobs)
        pack = pack_of(suite, division, runs, store)
        path = write(pack, place, features=features)
    finally:
        store.close()
    for reason, lines in by_reason(pack.missing).items():
        warnings.warn(f"Missing: {', '.join(lines)}. {reason}", stacklevel=3)
    return path


@_door
def verify_pack(path: str | Path) -> pd.DataFrame:
    """Compute every number of a suite's pack again from its predictions; one row a thing that is
    wrong (line, key, sentence), none where all agree. Raises `BadFile` for what is no whole pack.
    """
    import pandas as pd

    from mucore.suite.pack import opened
    from mucore.suite.verify import verify

    with opened(Path(_path("path", path))) as pack:
        found = verify(pack)
    columns = ["line", "key", "sentence"]
    return pd.DataFrame([asdict(each) for each in found.problems], columns=columns)


@_door
def write_board(packs: str | Path | Sequence[str | Path], out: str | Path) -> Path:
    """Verify packs of one suite and write them to the folder `out` as a static site; returns its
    index.html. Raises `BadFile` for a pack that does not hold what its predictions say.
    """
    from mucore.suite.site import publish

    given = [packs] if isinstance(packs, str | Path) else _listed(packs)
    return publish([Path(_path("packs", each)) for each in given], Path(_path("out", out)))


@_door
def repeat_run(path: str | Path, key: str, *, device: str = "auto") -> Repeated:
    """Make the run of a suite's pack with that key, or its first letters, again from the training
    of its original on, and compare: see `Repeated`. Raises `MucoreError`.
    """
    from mucore.suite.pack import opened
    from mucore.suite.repeat import repeat

    _texts(key=key, device=device)
    with opened(Path(_path("path", path))) as pack:
        return repeat(pack, key, device=device)


@_door
def statistics(
    *,
    metric: str = "ta",
    methods: Sequence[str] = (),
    agreement: Sequence[str] = (),
    pack: str | Path | None = None,
    home: str | Path | None = None,
    **filters: Any,
) -> Statistics:
    """Intervals, tests and ranks of `metric` over the training seeds and scenarios of stored
    results, and whether metrics agree.

    `filters` are dataset, model, scenario and comparison (a number); `pack` is a folder of packed
    results that takes the place of the store. The tables are data frames. Raises `UnknownName` for
    another filter, `MucoreError` where nothing matches.
    """
    from mucore.statistics import from_store

    _texts(metric=metric)
    filters = _filters(filters)
    methods, agreement = _names("methods", methods), _names("agreement", agreement)
    with _opened(pack, home) as store:
        return from_store(store, metric=metric, methods=methods, agreement=agreement, **filters)


@_door
def results(
    *,
    metrics: str | Sequence[str] = (),
    pack: str | Path | None = None,
    home: str | Path | None = None,
    **filters: Any,
) -> pd.DataFrame:
    """One row a stored result, as `compare` returns them; `metrics` picks and orders its numbers.

    `filters` are dataset, model, scenario, method and comparison (a number); `pack` is a folder of
    packed results that takes the place of the store. Raises `MucoreError`.
    """
    from mucore.export.tables import comparison_frame

    chosen = _names("metrics", metrics) or None
    filters = _filters(filters, "method")
    with _opened(pack, home) as store:
        return comparison_frame(store, metrics=chosen, **filters)


@_door
def export(
    format: Literal["csv", "latex", "markdown", "json"] = "csv",
    *,
    means: bool = False,
    metrics: str | Sequence[str] = (),
    caption: str | None = None,
    pack: str | Path | None = None,
    home: str | Path | None = None,
    **filters: Any,
) -> str:
    """Stored results as the text of a table, which `mucore export` writes (`export.text`). What is
    left open is as for `results`.
    """
    from mucore.export.text import text

    chosen = _names("metrics", metrics)
    filters = _filters(filters, "method")
    with _opened(pack, home) as store:
        return text(store, format, means=means, metrics=chosen, caption=caption, **filters)


@_door
def save_weights(key: str, path: str | Path, *, home: str | Path | None = None) -> Path:
    """Write the weights of the run with that key, or its first letters, to a .safetensors, .pt or
    .pth file (`export.weights.save`).
    """
    from mucore.export import weights
    from mucore.store import open_store

    _texts(key=key)
    with open_store(_home(home)) as store:
        return weights.save(store, key, _path("path", path))


@_door
def load_model(key: str, *, device: str = "auto", home: str | Path | None = None) -> nn.Module:
    """The network of the run with that key (or its first letters), in eval mode; see
    `mucore.export.weights.load` for what it takes.
    """
    from mucore.export import weights
    from mucore.store import open_store

    _texts(key=key)
    with open_store(_home(home)) as store:
        return weights.load(store, key, device)


def _setting(
    preset: str,
    dataset: str,
    model: str,
    scenario: str | Sequence[str],
    parameters: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """The fields of a grid that say what a comparison is about."""
    from mucore.forget_sets import identity
    from mucore.spec import FIRST, fill

    _texts(preset=preset, dataset=dataset, model=model)
    named = [name for name in _names("scenario", scenario) if name]
    parameters = _values("scenario_parameters", parameters)
    setting = fill(preset, dataset=dataset, model=model, scenarios=named, otherwise=FIRST)
    listed = parameters.get(identity.PARAMETER)
    if listed is not None:  # a file, a mask or an array
        parameters[identity.PARAMETER] = identity.chosen(listed, setting.dataset, warnings.warn)
    values = dict.fromkeys(setting.scenarios, parameters)
    setting = fill(
        preset,
        dataset=setting.dataset,
        model=setting.model,
        scenarios=setting.scenarios,
        parameters=values,
    )
    return {
        "preset": preset,
        "dataset": setting.dataset,
        "model": setting.model,
        "scenarios": setting.choices(),
    }


def _title(grid: Grid) -> str:
    return f"{', '.join(choice.id for choice in grid.scenarios)} on {grid.dataset}"


def _filters(given: Mapping[str, Any], *more: str) -> dict[str, Any]:
    """Which results are meant. Raises `UnknownName` for another filter."""
    from mucore.numbers import integer

    texts = ("dataset", "model", "scenario", *more)
    for name in given:
        if name not in (known := (*texts, "comparison")):
            raise UnknownName("filter of results", name, known)
    _texts(**{name: given[name] for name in texts if name in given})
    if given.get("comparison") is None:
        return {name: value for name, value in given.items() if name != "comparison"}
    return {**given, "comparison": integer(given["comparison"], "comparison")}


def _opened(pack: Any, home: Any) -> Store:
    """The pack where there is one, else the store of the home."""
    from mucore.store import open_pack, open_store

    return open_store(_home(home)) if pack is None else open_pack(_path("pack", pack))


def _texts(**given: Any) -> None:
    """Raise `BadValue` for an argument that is no text, or no text that a database keeps."""
    for argument, value in given.items():
        if not isinstance(value, str):
            raise BadValue(f"{argument} must be a text, but got {said(value)}.")
        if "\0" in value:
            raise BadValue(f"{argument} may not hold the character NUL, but got {said(value)}.")


def _names(argument: str, values: Any) -> list[str]:
    found = [values] if isinstance(values, bytes | Mapping) else _listed(values)
    for each in found:
        if not isinstance(each, str):
            raise BadValue(f"{argument} must be a name or a list of names, but holds {said(each)}.")
    return found


def _values(argument: str, given: Any) -> dict[str, Any]:
    """A mapping of names to values as a dictionary, an empty one for None. Raises `BadValue`."""
    if given is None:
        return {}
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise BadValue(f"{argument} must map names to values, but got {said(given)}.")
    return dict(given)


def _path(argument: str, given: Any) -> str:
    if not isinstance(given, str | os.PathLike) or isinstance(given, bytes):
        raise BadValue(f"{argument} must be a path, but got {said(given)}.")
    found = os.fspath(given)
    _texts(**{argument: found})
    return found


def _home(home: Any) -> str | None:
    return None if home is None else _path("home", home)


def _several(values: Any) -> Any:
    """What was given, as it is: a range may be too long to be listed; a list where one stands
    alone.
    """
    return values if isinstance(values, Iterable) and not isinstance(values, str) else [values]


def _listed(values: Any) -> list[Any]:
    """A list of them, also where one stands alone. Raises `BadValue` for more than any comparison
    has.
    """
    found = list(islice(_several(values), MOST_NAMES + 1))
    if len(found) > MOST_NAMES:
        raise BadValue(f"A list of names may have {MOST_NAMES:,} at most. Name fewer.")
    return found


def _methods(
    methods: str | Sequence[str], parameters: Mapping[str, Mapping[str, Any]] | None
) -> list[dict[str, Any]]:
    """The methods of a grid. Raises `UnknownName`, and `BadValue` for `parameters` of a method that
    is not among them.
    """
    if isinstance(methods, str) and methods == "all":
        chosen = [card.id for card in catalog.all_methods()]
    else:
        chosen = [catalog.method(each).id for each in _names("methods", methods)]
    changes = {
        catalog.method(name).id: _values(f"parameters[{name!r}]", values)
        for name, values in _values("parameters", parameters).items()
    }
    if unused := changes.keys() - chosen:
        raise BadValue(
            f"parameters is about {' and '.join(sorted(unused))}, which this comparison does not "
            "include. Add it to methods."
        )
    return [{"id": each, "parameters": changes.get(each, {})} for each in chosen]


def _say_refused(plan: Plan) -> None:
    """Warn of combinations that were asked for and cannot run. Raises `BadValue` for a method that
    has no run at all.
    """
    planned = {spec.method for spec in plan.specs}
    if never := {
        refusal.method: refusal.reason for refusal in plan.refused if refusal.method not in planned
    }:
        raise BadValue(
            f"{' and '.join(never)} runs in none of the chosen scenarios. "
            f"{' '.join(dict.fromkeys(never.values()))}"
        )
    for reason in dict.fromkeys(refusal.reason for refusal in plan.refused):
        warnings.warn(f"Left out: {reason}", stacklevel=4)


def _how(job: Job) -> str:
    """How a job ended that has no result."""
    why = f": {job.error}" if job.error else "."
    return f"{job.label} {'was ' if job.state == 'cancelled' else ''}{job.state}{why}"


def _compute(
    plan: Plan, store: Store, *, name: str, device: str, anyway: bool, jobs: int = 1
) -> list[Job]:
    """Queue what a plan lacks and work on it, in `jobs` processes, until it is done; returns the
    jobs that ended without a result.
    """
    from mucore.runner.plan import call_off, launch
    from mucore.runner.together import helpers

    if plan.to_run:  # else nothing here needs PyTorch
        from mucore.runner.before import check

        insist = "insist with anyway=True"
        if said := check(plan, store, device=device, anyway=anyway, insist=insist):
            warnings.warn(said, stacklevel=4)
    comparison = launch(plan, store, name=name, note="from Python")
    if not plan.to_run:
        return []
    from mucore.runner.worker import work
    from mucore.store.rows import ENDED_WITHOUT_RESULT

    try:
        with helpers(store, jobs - 1, device=device):
            work(store, device=device, only=set(plan.keys), until_done=True)
    except KeyboardInterrupt:
        call_off(comparison, store)
        raise
    ended = store.jobs(comparison=comparison.id, keys=set(plan.keys), limit=1_000_000)
    known = store.known([job.key for job in ended])
    return [job for job in ended if job.state in ENDED_WITHOUT_RESULT and job.key not in known]
