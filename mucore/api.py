"""The Python interface, for scripts and notebooks.

    import mucore.api as mu

    frame = mu.compare(scenario="one_class", methods=["finetune", "scrub"], seeds=[0, 1])

Runs go through the same job table and store as those of the command line and the dashboard: what is
stored is not computed again. Functions import what they work with when they are called: whoever
reads results does not wait for PyTorch, nor does the first line of a notebook for a database.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec, TypeVar, cast

from mucore import unforeseen
from mucore.errors import BadValue, MucoreError, UnknownName, warn

if TYPE_CHECKING:
    import pandas as pd
    from torch import nn

    from mucore.outputs import Outputs
    from mucore.report import Report
    from mucore.runs import Scope
    from mucore.statistics import Statistics
    from mucore.suite.repeat import Repeated

    Network = nn.Module | str | Path | Outputs

P = ParamSpec("P")
T = TypeVar("T")


def _door(function: Callable[P, T]) -> Callable[P, T]:
    """Whatever nobody foresaw leaves the function as `Unforeseen`, a `MucoreError` that names the
    log. What the caller's own code raises, called from here, stays as it is.
    """

    @functools.wraps(function)
    def guarded(*arguments: P.args, **named: P.kwargs) -> T:
        bound = inspect.signature(function).bind(*arguments, **named)
        try:
            from mucore.given import checked

            bound.arguments |= checked(function, bound.arguments)
            return function(*bound.args, **bound.kwargs)
        except Exception as error:
            if unforeseen.passes(error):
                raise
            home, door = named.get("home"), getattr(function, "__name__", function)
            place = Path(home) if isinstance(home, str | os.PathLike) and home else None
            raise unforeseen.told(error, f"mucore.api.{door}", home=place) from error

    return guarded


def __getattr__(name: str) -> Any:
    """`Outputs`, which takes NumPy."""
    if name != "Outputs":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mucore import outputs

    return outputs.Outputs


__all__ = [
    "Outputs",
    "compare",
    "evaluate",
    "export",
    "forgetting_quality",
    "load_model",
    "repeat_run",
    "report",
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
    then: Sequence[Mapping[str, Any]] = (),
    methods: str | Sequence[str] = "all",
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    method_preset: Literal["authors", "tuned"] = "authors",
    seeds: int | Sequence[int] = 0,
    unlearning_seeds: int | Sequence[int] = 0,
    evaluation_seeds: int | Sequence[int] = 0,
    mia_samples: int = 2000,
    noise: float | Sequence[float] = 0.0,
    scopes: Scope | Sequence[Scope] = "all",
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
    one may stand alone: `seeds=0`. `scenario_parameters` are those of each scenario that has them,
    `parameters` maps a method, or one scenario, to changes of its settings. `then` are further
    requests, each to the result of the one before: `[{"id": "one_class", "parameters": {"class_id":
    3}}]`. Every method runs with each `noise`, a standard deviation on its gradients, and each of
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
    from mucore.runner import local
    from mucore.runner.plan import make_plan
    from mucore.runner.request import grid_of
    from mucore.store import open_store

    grid = grid_of(locals())
    with open_store(home) as store:
        plan = make_plan(grid, store)
        if methods != ["all"]:
            local.say_refused(plan)
        failed = local.compute(plan, store, name=name, device=device, anyway=anyway)
        keys = [spec.key for spec in plan.specs if spec.scenario is not None]
        frame = comparison_frame(store, keys=keys)
    reasons = local.reasons(failed)
    if failed and frame.empty:
        raise MucoreError(f"No run came to a result. {reasons[0]}")
    for reason in reasons:
        warn(reason)
    return frame


@_door
def evaluate(
    *,
    unlearned: Network | Sequence[Network],
    original: Network | Sequence[Network] | None = None,
    retrained: Network | Sequence[Network] | None = None,
    train: Any = None,
    test: Any = None,
    forget: Any = None,
    model: str | Callable[[], nn.Module] | None = None,
    preprocess: Any = "",
    head: str = "",
    device: str = "auto",
    batch_size: int = 256,
) -> Report:
    """Judge networks of your own: their metrics, the gaps to Retrain, and the verdict; nothing is
    stored.

    A network is a module, a file of weights or `Outputs`, also as an .npz file. Lists hold one a
    training seed and pair by their places; the first unlearned network is compared with the first
    Retrain, and further Retrains say how far these lie apart. For files `model` makes the network:
    a catalogued name, timm:NAME, torchvision:NAME, FILE.py:NAME, or a class or function without
    arguments. `train` and `test` are Datasets, tensors or arrays of (x, y), and `forget` are
    positions in `train`, a mask of bool, or a file of these (.npy, .npz, .txt, .csv, .json, .pt);
    or `train` is the name of a data set, npz:PATH or folder:PATH, which has its own `test`, and
    `forget` are rows as published, or set:NAME. Floats go in as they are. Pixels, of a name or
    uint8 (n, c, h, w) or (n, h, w), become what `preprocess` says: "0..1", "-1..1", (mean, std) of
    pixels in 0..1, "mucore" (the training data's own mean and deviation), "inside" (the network
    scales them: 0..1, or by a layer in its file); left open, what first batch norms tell.
    Outputs need none of all that, and no metric of theirs needs weights. `head` names the layer
    whose input are the features, where that is not the last linear one. Networks are left as they
    were found. Raises `MucoreError`.
    """
    from mucore.evaluate import evaluate as judge

    if batch_size < 1:
        raise BadValue(f"batch_size must be at least 1, but got {batch_size}.")
    given = {"unlearned": unlearned, "original": original, "retrained": retrained}
    asked = {"train": train, "test": test, "forget": forget, "model": model, "head": head}
    more = {"preprocess": preprocess, "batch_size": batch_size, "device": device}
    return judge(given, asked | more)


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
    records: Mapping[str, Any] | None = None,
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
    makes an untrained network, for methods that start from one; `sisa` trains its shards of it
    first. `records` are of the training of `model`, by name (mucore/training/records.py), for
    methods that need one: {"running_sum": {"steps": ..., "sum/fc.weight": ..., ...}}. Every weight
    may move, frozen ones too; what comes back has the modes and `requires_grad` of `model`. With
    `return_run` it is (network, `mucore.engine.run.Run`), which has losses, cost, notes and status;
    a status other than "ok" is warned of. Raises `MucoreError`, for a method that lacks a record,
    too.
    """
    from mucore.runs import make_recipe
    from mucore.unlearn import unlearn as work

    trained = make_recipe("standard", recipe)
    given = (train, forget, validation, seed, device, fresh, records, trained, parameters)
    found = work(model, method, *given)
    if found[1].status != "ok":
        warn(f"{method} ended {found[1].status}: {found[1].stop_reason}.")
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

    from mucore.quality import find, plan_experiment
    from mucore.runner import local
    from mucore.runner.request import grid_of
    from mucore.store import open_store

    grid = grid_of({**locals(), "seeds": seed, "unlearning_seeds": seed})
    with open_store(home) as store:
        experiment = plan_experiment(grid, store, models=models, originals=originals)
        title = name or f"{local.title(grid)} · forgetting quality, {models} models"
        failed = local.compute(experiment.plan, store, name=title, device=device, anyway=anyway)
        for reason in local.reasons(failed):
            warn(reason)
        findings = find(experiment, store)
    return pd.DataFrame([finding.row for finding in findings])


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

    from mucore.runner.request import grid_of
    from mucore.store import open_store
    from mucore.tuning.plan import FOLDER, wish_of
    from mucore.tuning.together import records_of
    from mucore.userfiles import paths

    grid = grid_of(locals())
    with open_store(home) as store:
        root = paths.path(str(studies), what="studies") if studies else store.home / FOLDER
        wish, reasons = wish_of(grid, trials=trials, seed=seed, cap=cap)
        if methods != ["all"]:
            for reason in reasons:
                warn(f"Left out: {reason}")
        records, failed = records_of(grid, wish, store, root, jobs=jobs, device=device)
    if failed:
        warn(failed)
    return pd.DataFrame(records)


@_door
def run_suite(
    name: str,
    *,
    division: str,
    methods: str | Sequence[str] = "all",
    jobs: int = 1,
    out: str | Path = "",
    features: bool = False,
    weights: bool = False,
    device: str = "auto",
    home: str | Path | None = None,
) -> Path:
    """Run a division of a suite, in `jobs` processes of one thread each, and write its pack to
    `out`, a folder or a name that ends in .zip (default: NAME-DIVISION); returns where it is. With
    `features` and `weights`, the latter in half precision, these go along.

    What is stored is not computed again. Lines that there cannot be, and runs that failed, are
    warned of and stand in the pack with their reason. An interrupt cancels what is left and keeps
    what is finished. Raises `MucoreError`, also where this mucore is not the one that the suite was
    frozen with.
    """
    from mucore.runner import local
    from mucore.store import open_store
    from mucore.suite import lines as suites
    from mucore.suite.description import load
    from mucore.suite.lines import by_reason
    from mucore.suite.pack import pack_of, write

    suite = load(name)
    runs = suites.asked(suite, division, methods)
    place = Path(out or f"{suite.id}-{division}")
    with open_store(home) as store:
        suites.run(suite, division, runs, store, local.compute, jobs=jobs, device=device)
        pack = pack_of(suite, division, runs, store)
        path = write(pack, place, features=features, weights=weights)
    for reason, lines in by_reason(pack.missing).items():
        warn(f"Missing: {', '.join(lines)}. {reason}")
    return path


@_door
def verify_pack(path: str | Path) -> pd.DataFrame:
    """Compute every number of a suite's pack again from its predictions; one row a thing that is
    wrong (line, key, sentence), none where all agree. Raises `BadFile` for what is no whole pack.
    """
    import pandas as pd

    from mucore.suite.pack import opened
    from mucore.suite.verify import verify

    with opened(Path(path)) as pack:
        found = verify(pack)
    columns = ["line", "key", "sentence"]
    return pd.DataFrame([asdict(each) for each in found.problems], columns=columns)


@_door
def write_board(packs: str | Path | Sequence[str | Path], out: str | Path) -> Path:
    """Verify packs of one suite and write them to the folder `out` as a static site; returns its
    index.html. Raises `BadFile` for a pack that does not hold what its predictions say.
    """
    from mucore.suite.site import publish

    given = cast("Sequence[str]", packs)  # the door made it a list
    return publish([Path(each) for each in given], Path(out))


@_door
def repeat_run(path: str | Path, key: str, *, device: str = "auto") -> Repeated:
    """Make the run of a suite's pack with that key, or its first letters, again from the training
    of its original on, and compare: see `Repeated`. Raises `MucoreError`.
    """
    from mucore.suite.pack import opened
    from mucore.suite.repeat import repeat

    with opened(Path(path)) as pack:
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

    `filters` are dataset, model, scenario and comparison (a number); `pack` is a folder or zip of
    packed results that takes the place of the store. The tables are data frames. Raises
    `UnknownName` for another filter, `MucoreError` where nothing matches.
    """
    from mucore.statistics import from_store
    from mucore.suite.pack import results_in

    filters = _filters(filters)
    with results_in(pack, home) as store:
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

    `filters` are dataset, model, scenario, method and comparison (a number); `pack` is a
    folder or zip of packed results that takes the place of the store. Raises `MucoreError`.
    """
    from mucore.export.tables import comparison_frame
    from mucore.suite.pack import results_in

    filters = _filters(filters, "method")
    with results_in(pack, home) as store:
        return comparison_frame(store, metrics=metrics or None, **filters)


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
    """Stored results as the text of a table, which `mucore export` writes (`export.tables.text`).
    What is left open is as for `results`.
    """
    from mucore.export.tables import text
    from mucore.suite.pack import results_in

    filters = _filters(filters, "method")
    with results_in(pack, home) as store:
        return text(store, format, means=means, metrics=metrics, caption=caption, **filters)


@_door
def report(
    *, pack: str | Path | None = None, home: str | Path | None = None, **filters: Any
) -> str:
    """Requests to forget as a report in Markdown (`export.request.report`). What is left open is as
    for `results`.
    """
    from mucore.export.request import report as made
    from mucore.suite.pack import results_in

    filters = _filters(filters, "method")
    with results_in(pack, home) as store:
        return made(store, **filters)


@_door
def save_weights(key: str, path: str | Path, *, home: str | Path | None = None) -> Path:
    """Write the weights of the run with that key, or its first letters, to a .safetensors, .pt or
    .pth file (`export.weights.save`).
    """
    from mucore.export import weights
    from mucore.store import open_store

    with open_store(home) as store:
        return weights.save(store, key, path)


@_door
def load_model(
    key: str,
    *,
    device: str = "auto",
    pack: str | Path | None = None,
    home: str | Path | None = None,
) -> nn.Module:
    """The network of the run with that key (or its first letters), in eval mode; see
    `mucore.export.weights.load` for what it takes. `pack` is one with weights, in half
    precision there, that takes the place of the store.
    """
    from mucore.export import weights
    from mucore.suite.pack import results_in

    with results_in(pack, home) as store:
        return weights.load(store, key, device)


def _filters(given: Mapping[str, Any], *more: str) -> dict[str, Any]:
    """Which results are meant. Raises `UnknownName` for another filter."""
    known = ("dataset", "model", "scenario", *more, "comparison")
    for name in given:
        if name not in known:
            raise UnknownName("filter of results", name, known)
    return {name: value for name, value in given.items() if value is not None}
