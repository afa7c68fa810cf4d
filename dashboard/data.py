"""The only reader of the store, beside `queue_data`, which has the queue. Frames are cached by the
store's change counter, so an unchanged store costs one short query a page.

The store is the reader's own (folder MUCORE_HOME, default ~/.mucore). While it holds no result, or
where the reader chose so, pages show the demo pack in data/demo, made by a real run, and say so;
jobs and workers are always the reader's own.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, Literal, ParamSpec, TypeVar

import numpy as np
import pandas as pd
import streamlit as st

from dashboard import access, state
from mucore import analysis as analyses
from mucore import catalog, shipped
from mucore.analysis.features import Split, common, stored
from mucore.catalog import tuning
from mucore.errors import BadFile, MucoreError
from mucore.forget_sets import identity
from mucore.metrics.mia import ATTACKS
from mucore.metrics.sanity import GUESS, guesses
from mucore.outputs import Outputs
from mucore.runner import analyses as analysis_jobs
from mucore.runs import REFERENCES, Recipe, RunSpec
from mucore.statistics.runs import SETTING
from mucore.store import (
    BallotBox,
    GuestStore,
    Store,
    default_home,
    open_pack,
    open_store,
    pack_provenance,
)
from mucore.store.records import Comparison, Result
from mucore.store.results import Filters
from mucore.suite.board import Board, board_of
from mucore.suite.description import load
from mucore.userfiles import doors
from mucore.verdicts import Judged, Run, Word, judge, looked_at, run_of

DEMO = shipped.DATA / "demo"
DRAW = shipped.DATA / "draw"  # a few networks to draw for (scripts/make_draw.py)
Settings = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]  # data sets, models, scenarios
P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Source:
    """Where a page's results come from. `change` moves when anything in it does."""

    store: Store
    demo: bool
    change: int

    @property
    def name(self) -> str:
        """What caches know it by: guests see the same results in other words."""
        return f"{self.store.home}{' for guests' if isinstance(self.store, GuestStore) else ''}"


@dataclass(frozen=True, eq=False)
class AnalysisState:
    """An analysis that takes longer than a page may: what has come of it.

    `value`, where ready, maps names to arrays and JSON values (mucore/analysis/<kind>.py says
    which; never write to them); `progress` in 0..1 where running; `error` a sentence where failed.
    """

    state: Literal["ready", "running", "failed", "absent"]
    value: Mapping[str, Any] | None = None
    progress: float = 0.0
    error: str = ""


def own_store() -> Store:
    """The reader's own store, created when it is missing; for a guest, one that can only be read.
    Raises `StoreError` with a sentence.
    """
    store = _open(str(default_home()))
    return store if access.presents() else _open_for_guests(str(store.home), store)


def ballot_box() -> BallotBox:
    """Where guests put their votes: all that they write. Raises `StoreError`."""
    store = _open(str(default_home()))
    return _ballot_box(str(store.home), store)


SOURCES = ("own", "demo")
SHIPPED = "draw:shipped"  # the ticket of a reader who draws for the networks that are shipped


def draw_shipped(on: bool) -> None:
    """Let the page Draw read the networks that come with the program."""
    state.set_ticket(SHIPPED, on)


def source() -> Source:
    """The reader's own store; the demo pack, if it is there, while that has no result or where the
    reader chose it.
    """
    if state.page() == "draw" and state.ticket(SHIPPED) and (shipped_pack := _pack(DRAW)):
        return shipped_pack
    store = own_store()
    change = store.change_counter()
    own = Source(store, False, change)
    # the frame is that of `summaries` without filters, so a store with results is read once for
    # both
    aside = (
        state.carried("source", SOURCES) == "demo" or _summaries(store, own.name, change, ()).empty
    )
    if aside and (demo := demo_pack()) is not None:
        return demo
    return own


def has_both() -> bool:
    """Whether a reader can choose: there are results of their own, and the demo's."""
    try:
        # what the pack says of itself: its results are read when somebody asks for them
        return bool(pack_provenance(DEMO)) and own_store().count_results() > 0
    except MucoreError:  # no pack, or the page itself says what is wrong
        return False


def summaries(**filters: Any) -> pd.DataFrame:
    """One row a result (columns: mucore.store.Store.summaries). `filters` are those of the
    store.
    """
    where = source()
    return _summaries(where.store, where.name, where.change, _frozen(filters)).copy(deep=False)


def unlearning_runs() -> pd.DataFrame:
    """The `summaries` of the runs that belong to a scenario: all but the trainings of originals."""
    runs = summaries()
    return runs[runs["scenario"].notna()]


def metric_values(**filters: Any) -> pd.DataFrame:
    """One row a result and metric: key, metric, value, gap, error."""
    return _metric_values(_frozen(filters)).copy(deep=False)


def chosen(runs: pd.DataFrame) -> str:
    """A short name for a choice of runs, to cache by: Streamlit takes longer to hash thousands of
    keys than a page may take.
    """
    return hashlib.sha256("\n".join(runs["key"].tolist()).encode()).hexdigest()


def result(key: str) -> Result | None:
    return source().store.get_result(key)


def judged(runs: pd.DataFrame) -> Mapping[str, Judged]:
    """By key, the line that each of `runs` belongs to, with its verdict and its distance to
    Retrain: of these runs alone, but with the bands of all Retrains that the store has of their
    settings. Trainings without a scenario have none.
    """
    return _judged(runs[runs["scenario"].notna()])


def judged_words(runs: pd.DataFrame) -> dict[str, Word]:
    """By key, the words of `judged` and nothing else."""
    return {key: line.verdict.word for key, line in judged(runs).items() if line.verdict}


def _settings(runs: pd.DataFrame) -> Settings:
    datasets, models, scenarios = (
        tuple(sorted(runs[name].unique().tolist())) for name in ("dataset", "model", "scenario")
    )
    return datasets, models, scenarios


def judged_line(key: str, runs: pd.DataFrame) -> Judged | None:
    """The line of one of `runs`: those of its method with its settings in its own setting, over all
    seeds among `runs`. None for a training without a scenario.
    """
    line = runs[runs["key"] == key].iloc[0]
    same = list(SETTING)
    return judged(runs[runs[same].eq(line[same]).all(axis=1)]).get(key)


def board(suite: str) -> Board | None:
    """The board of what this source has of a suite, None where it has nothing. Raises a
    `MucoreError` with a sentence.
    """
    return _board(suite, tuning.stamps())


def outputs(key: str) -> Outputs | None:
    """Predictions and features of a run; None where they were not kept. Those of the demo are a
    sample of each split.

    Raises `BadFile` for a damaged file. The arrays are shared by all readers: never write to them.
    """
    where, found = source(), result(key)
    if found is None or found.outputs is None or not where.store.artifacts.exists(found.outputs):
        return None
    return _outputs(where.store, where.name, found.outputs)


def with_weights(runs: pd.DataFrame) -> frozenset[str]:
    """The keys of those of `runs` whose networks were kept. Not cached: `gc` removes weights and
    leaves results as they are.
    """
    stored = source().store.stored_models(set(runs["model_key"]))
    there = runs["model_key"].isin(stored) | runs["key"].map(lambda key: _shipped(key).exists())
    return frozenset(runs.loc[there, "key"])


def _shipped(key: str) -> Path:
    """The file of a network that comes with the program, where there is one."""
    return DRAW / "weights" / f"{key}.npz"


def weights(key: str) -> Mapping[str, np.ndarray] | None:
    """The weights of a run's network by their names; None where they were not kept. Raises
    `BadFile` for a damaged file. The arrays are shared by all readers: never write to them.
    """
    where, found = source(), result(key)
    if found is not None and _shipped(key).exists():
        with np.load(_shipped(key)) as arrays:
            return {name: arrays[name].astype(np.float32) for name in arrays.files}
    record = None if found is None else where.store.get_model(found.model_key)
    if record is None or record.weights is None:
        return None
    return _weights(where.store, where.name, record.weights)


def training_features(keys: Sequence[str]) -> list[Split]:
    """For each run the kept penultimate features of training samples, cut to the samples that all
    of them have. Raises a `MucoreError` with a sentence where there are none.
    """
    return _training_features(tuple(keys))


def images(spec: Mapping[str, Any], ids: Sequence[int], *, triggered: bool = False) -> np.ndarray:
    """Images (n, h, w, c) uint8 of sample ids of a run's data set, `spec` being `Result.spec`; with
    its trigger where `triggered`.

    The first call of a server loads PyTorch, which reads data sets, and takes a second or two.
    Raises a `MucoreError` with a sentence where the data set is not on this machine.
    """
    if catalog.dataset(spec["dataset"]).takes_path:
        doors.check()  # what somebody else looked at is no guest's either
    return _images(
        json.dumps({**spec}, sort_keys=True), tuple(int(each) for each in ids), triggered
    )


def sample_numbers(spec: Mapping[str, Any]) -> np.ndarray | None:
    """By the internal ids of a run's samples what people call them, (n,): their rows
    (forget_sets/identity.py); None where the data set is not on this machine.
    """
    return None if (found := _names_of(spec)) is None else found[0]


def sample_file(spec: Mapping[str, Any], sample: int) -> str:
    """The file of a sample of a user's own folder, for who may know it; "" where there is none."""
    found = _names_of(spec) if access.presents() else None
    return "" if found is None or not 0 <= sample < len(found[1]) else found[1][sample]


def _names_of(spec: Mapping[str, Any]) -> tuple[np.ndarray, list[str]] | None:
    try:
        cut = Recipe.model_validate(spec["recipe"]).cut()
        return _sample_names(spec["dataset"], spec.get("data_hash", ""), tuple(cut.items()))
    except MucoreError:
        return None


def numbered(spec: Mapping[str, Any], ids: Any) -> np.ndarray:
    """The internal ids of samples as people call them; as they are where nobody can tell."""
    ids, known = np.asarray(ids, np.int64), sample_numbers(spec)
    return ids if known is None or not _within(ids, known) else known[ids]


def internal(spec: Mapping[str, Any], numbers: Any) -> np.ndarray:
    """The internal ids of samples that people call so; -1 for what is none."""
    numbers, known = np.asarray(numbers, np.int64), sample_numbers(spec)
    return numbers if known is None else identity.numbered(known, numbers)


def _within(ids: np.ndarray, known: np.ndarray) -> bool:
    return not len(ids) or (int(ids.min()) >= 0 and int(ids.max()) < len(known))


def analysis(kind: str, parameters: dict[str, Any]) -> AnalysisState:
    """The stored analysis of runs of this source, or how far it has come. Parameters that it cannot
    use read as failed.
    """
    try:
        # asked first: it may end between the two questions
        here = analysis_jobs.state(own_store(), analyses.key(kind, parameters))
        for where in analysis_homes():
            found = analyses.find(where, kind, parameters)
            if found is not None:
                return AnalysisState("ready", found.value, 1.0)
    except MucoreError as error:
        return AnalysisState("failed", error=str(error))
    return AnalysisState(here.state, progress=here.progress, error=here.error)


def analysis_homes() -> list[Path]:
    """Where analyses of this source lie: those made here first, then those that a pack brings
    along. Raises a `MucoreError`.
    """
    brought = pack()
    return [analyses.place(own_store().home, brought), *([] if brought is None else [brought])]


def start_analysis(kind: str, parameters: dict[str, Any]) -> None:
    """Queue an analysis and start a process for it that outlives the page, unless it is there or
    under way. A failed one is tried again.

    Its file is written to the reader's own home. Raises a `MucoreError` with a sentence.
    """
    if analysis(kind, parameters).state not in ("ready", "running"):
        analysis_jobs.start(own_store(), kind, parameters, pack=pack())


def pack() -> Path | None:
    """The pack that results come from, None where they are the reader's own."""
    return DEMO if source().demo else None


def comparisons() -> list[Comparison]:
    """Newest first; those of the demo pack while the demo is shown."""
    return list(_comparisons())


def own_comparisons() -> list[Comparison]:
    """The reader's own, newest first, finished or not."""
    return sorted(own_store().comparisons(), key=lambda one: one.created, reverse=True)


@st.cache_resource(show_spinner=False, max_entries=8, on_release=lambda store: store.close())
def _open(home: str) -> Store:
    return open_store(home)


@st.cache_resource(show_spinner=False, max_entries=8, on_release=lambda store: store.close())
def _open_for_guests(home: str, _store: Store) -> Store:
    return GuestStore(
        _store.home, url=_store.url, artifacts=_store.artifacts_url, sentence=access.READS
    )


@st.cache_resource(show_spinner=False, max_entries=8, on_release=lambda box: box.close())
def _ballot_box(home: str, _store: Store) -> BallotBox:
    return BallotBox(_store.home, url=_store.url)


@st.cache_resource(show_spinner=False, max_entries=2, on_release=lambda store: store.close())
def _open_demo(path: str, changed: int) -> Store:
    return open_pack(Path(path))


def demo_pack() -> Source | None:
    """The results that come with the program."""
    return _pack(DEMO)


def _pack(folder: Path) -> Source | None:
    """A pack that comes with the program; its last file to be written says that it changed."""
    try:
        changed = (folder / "pack.json").stat().st_mtime_ns
        return Source(_open_demo(str(folder), changed), True, changed)
    except (OSError, BadFile):  # a damaged pack must not keep a reader from their own store
        return None


# The two frames are kept as they are, and readers get shallow copies, which pandas copies for real
# once they are written to: a pickled copy of ten thousand runs' values takes longer than the page.
@st.cache_resource(show_spinner=False, max_entries=32)
def _summaries(
    _store: Store, name: str, change: int, filters: tuple[tuple[str, Any], ...]
) -> pd.DataFrame:
    return _store.summaries(**dict(filters))


def kept(most: int) -> Callable[[Callable[Concatenate[Source, P], T]], Callable[P, T]]:
    """Keeps what a function makes of the source that a page shows, its first argument, until a
    result changes there. All who read share it: never write to it. Runs count by their keys.
    """

    def decorate(make: Any) -> Any:
        def made(_source: Source, name: str, change: int, *arguments: Any) -> Any:
            return make(_source, *arguments)

        # Streamlit keeps functions apart by their names
        made.__qualname__ = f"{make.__module__}.{make.__qualname__}"
        cached = st.cache_resource(
            show_spinner=False, max_entries=most, hash_funcs={pd.DataFrame: chosen}
        )(made)

        @wraps(make)
        def found(*arguments: Any) -> Any:
            where = source()
            return cached(where, where.name, where.change, *arguments)

        return found

    return decorate


@kept(16)
def _metric_values(where: Source, filters: tuple[tuple[str, Any], ...]) -> pd.DataFrame:
    store = where.store
    values = store.metric_values(**dict(filters))
    results = store.results(metrics=False, **dict(filters))
    attacks = values.index[values["metric"].isin([f"mia_{attack}" for attack in ATTACKS])]
    found = {one.key: guessed for one in results if (guessed := guesses(one.notes))}
    pairs = zip(values.loc[attacks, "key"], values.loc[attacks, "metric"], strict=True)
    blind = [metric in found.get(key, ()) for key, metric in pairs]
    values.loc[attacks[blind], "error"] = GUESS
    return values


@kept(32)
def _judged(where: Source, mine: pd.DataFrame) -> Mapping[str, Judged]:
    keys, methods = set(mine["key"]), mine["method"].unique().tolist()
    every = _runs(_settings(mine), methods[0] if len(methods) == 1 else None)
    asked = [one for one in every if one.key in keys or one.method in REFERENCES]
    return {key: line for line in judge(asked) for key in line.keys if key in keys}


@kept(4)
def _runs(where: Source, asked: Settings, of: str | None) -> tuple[Run, ...]:
    """`of` names the only method that is asked for beside the references, if there is one."""
    datasets, models, scenarios = asked
    filters = Filters(dataset=datasets, model=models, scenario=scenarios)
    if of is not None:
        filters["method"] = (*REFERENCES, of)
    found = map(run_of, where.store.results(metrics=looked_at(), **filters))
    return tuple(run for run in found if run is not None)


@kept(8)
def _board(where: Source, suite: str, tuned: tuple[tuple[int, int], ...]) -> Board | None:
    return board_of(load(suite), where.store)


@kept(8)
def _comparisons(where: Source) -> tuple[Comparison, ...]:
    return tuple(sorted(where.store.comparisons(), key=lambda one: one.created, reverse=True))


@kept(4)
def predicted(where: Source) -> frozenset[str]:
    """The keys of the runs whose predictions were kept."""
    return frozenset(where.store.with_outputs())


@kept(8)
def _training_features(where: Source, keys: tuple[str, ...]) -> list[Split]:
    return common([stored(where.store, key, "train") for key in keys])


@st.cache_resource(show_spinner=False, max_entries=64)
def _outputs(_store: Store, name: str, artifact: str) -> Outputs:
    return _store.artifacts.get_outputs(artifact)


@st.cache_resource(show_spinner=False, max_entries=24)
def _weights(_store: Store, name: str, artifact: str) -> Mapping[str, np.ndarray]:
    return _store.artifacts.get_arrays(artifact)


@st.cache_data(show_spinner=False, max_entries=64)
def _images(spec: str, ids: tuple[int, ...], triggered: bool) -> np.ndarray:
    from mucore.datasets.thumbnails import run_splits, thumbnails

    return thumbnails(
        run_splits(RunSpec.model_validate_json(spec)),
        np.asarray(ids, np.int64),
        triggered=triggered,
    )


@st.cache_resource(show_spinner=False, max_entries=16)
def _sample_names(
    dataset: str, data_hash: str, cut: tuple[tuple[str, Any], ...]
) -> tuple[np.ndarray, list[str]]:
    from mucore.datasets import load

    splits = load(dataset, download=False, **dict(cut))
    if data_hash and splits.data_hash != data_hash:
        raise BadFile(f"{dataset} has changed since the run.")
    return identity.numbers(splits), identity.files(splits)


def _frozen(filters: dict[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(
        sorted(
            (name, tuple(value) if isinstance(value, (list, set)) else value)
            for name, value in filters.items()
        )
    )
