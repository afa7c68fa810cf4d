"""A pack of a suite: one folder or zip with the rows of a division, the predictions they were
measured on, and what made them. Imports no torch.

It is a pack as mucore/store/pack.py writes it, whose pack.json has a part `suite` besides. One rule
for what comes from somebody else: nothing is read but files of the names that a pack has, of so
many bytes at most. Nothing in it is run, and nothing of it is a pickle.
"""

from __future__ import annotations

import re
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mucore import catalog
from mucore.errors import BadFile, BadValue, UnknownName, said
from mucore.files import whole_file
from mucore.outputs import Outputs
from mucore.runs import REFERENCES, RunSpec, stored_spec
from mucore.store import Store, open_pack, open_store, pack_provenance, write_pack
from mucore.store.pack import ARTIFACTS
from mucore.store.records import Result
from mucore.suite.description import Suite, division, same_suite
from mucore.suite.lines import Missing, TaskRuns, check_result, failures, not_there

FILE = re.compile(
    r"pack\.json|comparisons\.jsonl|results/\w[\w-]*\.jsonl\.(gz|zst)"
    rf"|{ARTIFACTS}/[0-9a-f]{{2}}/[0-9a-f]{{32}}\.(parquet|safetensors)"
)
MOST_BYTES = 8 * 10**9  # of all files together
# what zipfile raises for a damaged file, one with a password, or a name that is no text
NO_ZIP = (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError, ValueError)
Place = tuple[str, str, int]  # data set, scenario, training seed


def place_of(result: Result) -> Place:
    spec = result.spec
    return spec["dataset"], spec["scenario"], spec["training_seed"]


class TunedSetting(BaseModel):
    """What a pack says of a tuned setting: `Tuned.values`, and of the search that found it how many
    trials it had, what each might take, and whether it was open.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    values: dict[str, Any]
    trials: int = Field(ge=0)
    cap: float = Field(gt=0, le=1)
    open: bool = False


Settings = Mapping[str, Mapping[str, TunedSetting]]  # by scenario and method


class _OfSuite(BaseModel):
    """The part `suite` of pack.json."""

    division: str
    methods: list[str]
    missing: list[Missing]
    settings: dict[str, dict[str, TunedSetting]]
    licences: dict[str, str]


class _About(BaseModel):
    """What pack.json has to say for a pack to be verified and shown."""

    mucore: str
    platform: str
    results: int
    devices: list[str]
    suite: _OfSuite


@dataclass(frozen=True)
class Pack:
    """An opened pack, or what a store has of a division. `settings` are those of the division
    `tuned`, none of another one.
    """

    suite: Suite
    division: str
    methods: tuple[str, ...]
    missing: tuple[Missing, ...]
    settings: Settings
    about: Mapping[str, Any]
    store: Store
    results: Mapping[str, Result]
    specs: Mapping[str, RunSpec]

    def find(self, key: str) -> Result:
        """The run with that key or its first letters. Raises `BadValue`."""
        found = [name for name in self.results if name.startswith(key)] if key else []
        if len(found) != 1:
            raise BadValue(
                f"{len(found)} runs of the pack have a key that begins with {said(key)}, and one "
                "is needed. `mucore suite verify PACK --json` lists the keys."
            )
        return self.results[found[0]]

    @cached_property
    def retrains(self) -> Mapping[Place, Result]:
        return self._of("retrain")

    @cached_property
    def originals(self) -> Mapping[Place, Result]:
        """Measured under each scenario."""
        return self._of("original")

    def _of(self, method: str) -> dict[Place, Result]:
        return {
            place_of(result): result
            for result in self.results.values()
            if result.spec["method"] == method and result.spec["scenario"] is not None
        }

    def outputs(self, result: Result) -> Outputs:
        """The predictions of a run. Raises `BadFile` where they are missing or damaged."""
        if result.outputs is None:
            raise BadFile("Its predictions are not in the pack.")
        return self.store.artifacts.get_outputs(result.outputs)


def pack_of(
    suite: Suite,
    division: str,
    runs: Sequence[TaskRuns],
    store: Store,
    *,
    metrics: bool | Collection[str] = True,
) -> Pack:
    """What a pack of these runs would hold. Raises `MucoreError` where a result is of other data
    than the suite's.
    """
    asked = {spec.key: spec for each in runs for spec in each.specs}
    results = {one.key: one for one in store.results(keys=sorted(asked), metrics=metrics)}
    for each in runs:
        for spec in each.specs:
            if spec.scenario is not None and (one := results.get(spec.key)) is not None:
                check_result(suite, each.task, data_hash=one.data_hash, forget_hash=one.forget_hash)
    missing = not_there(runs, results.keys(), failures(store, runs))
    named = [spec.method for spec in asked.values()] + [each.method for each in missing]
    settings = {
        each.task.scenario: {
            method: TunedSetting(
                values=dict(found.values), trials=found.trials, cap=found.cap, open=found.open
            )
            for method, found in each.found.items()
        }
        for each in runs
    }
    return Pack(
        suite,
        division,
        tuple(dict.fromkeys(named)),
        tuple(missing),
        settings,
        {"asked": len(asked), "there": len(results)},
        store,
        results,
        {key: spec for key, spec in asked.items() if key in results},
    )


def write(pack: Pack, path: Path, *, features: bool = False, weights: bool = False) -> Path:
    """Write what a store has of a division to a folder, or to a file where `path` ends in .zip;
    `features`, and `weights` in half precision, go along where they are wanted. Raises `BadValue`
    for a place that cannot be written, and where there is nothing.
    """
    if not pack.results:
        raise BadValue("There is no result yet, so there is nothing to pack. Run the suite first.")
    packed = path.suffix == ".zip"
    if path.exists() and (path.is_dir() == packed or not (packed or (path / "pack.json").exists())):
        raise BadValue(f"{path} is something else already. Name another place with --out.")
    if not packed:
        return _write_folder(pack, path, features, weights)
    with tempfile.TemporaryDirectory() as place:
        zipped(_write_folder(pack, Path(place), features, weights), path)
    return path


def _write_folder(pack: Pack, path: Path, features: bool, weights: bool) -> Path:
    suite, methods = pack.suite, [name for name in pack.methods if name not in REFERENCES]
    command = f"python -m mucore suite run {suite.id} --division {pack.division}"
    command += f" --methods {','.join(methods)}{' --features' * features}{' --weights' * weights}"
    about = {
        "id": suite.id,
        "hash": suite.hash,
        "division": pack.division,
        "methods": pack.methods,
        "settings": {
            scenario: {method: setting.model_dump() for method, setting in found.items()}
            for scenario, found in pack.settings.items()
        },
        "missing": [asdict(each) for each in pack.missing],
        "licences": {t.dataset: catalog.dataset(t.dataset).licence for t in suite.tasks},
        "commands": {"made": command},
    }
    return write_pack(
        pack.store,
        path,
        keys=pack.results.keys(),
        outputs=pack.results.keys(),
        samples=None,
        features=features,
        weights=weights,
        comparisons=False,
        beside={"suite": about},
    )


def zipped(folder: Path, path: Path) -> None:
    try:
        with whole_file(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
            for file in sorted(file for file in folder.rglob("*") if file.is_file()):
                archive.write(file, file.relative_to(folder).as_posix())
    except OSError as error:
        raise BadValue(
            f"The pack could not be written to {path}: {error.strerror or error}. Name another."
        ) from error


@contextmanager
def opened(path: Path) -> Generator[Pack]:
    """The pack in a folder or zip, checked as far as reading needs it: names and sizes of files,
    hashes of rows, and the suite. Raises `BadFile` with the first problem.
    """
    with unpacked(path) as folder:
        about = pack_provenance(folder)
        suite = same_suite(about.get("suite"))
        try:
            content = _About.model_validate(about).suite
            of = division(suite, content.division)
        except (ValidationError, UnknownName) as error:
            raise BadFile(
                f"pack.json of {path} is not as a suite's pack has it: {error} Get it again."
            ) from None
        with open_pack(folder) as store:
            results = {result.key: result for result in store.results()}
            yield Pack(
                suite,
                of,
                tuple(content.methods),
                tuple(content.missing),
                content.settings,
                about,
                store,
                results,
                {key: _spec(result) for key, result in results.items()},
            )


def _spec(result: Result) -> RunSpec:
    try:
        return stored_spec(result.spec)
    except BadValue as error:
        raise BadFile(f"The pack's run {said(result.key)} cannot be read: {error}") from None


@contextmanager
def results_in(pack: str | Path | None, home: str | Path | None = None) -> Generator[Store]:
    """The store of the results in a pack, a folder or zip, where there is one, else of the home."""
    if pack is not None and Path(pack).suffix == ".zip":
        with unpacked(Path(pack)) as folder, open_pack(folder) as store:
            yield store
    else:
        with open_store(home) if pack is None else open_pack(pack) as store:
            yield store


@contextmanager
def unpacked(path: Path) -> Generator[Path]:
    """The folder of a pack, a folder or a zip, of files as packs have. Raises `BadFile`."""
    if path.is_dir():
        files = [file for file in path.rglob("*") if file.is_symlink() or not file.is_dir()]
        _check_files((file.relative_to(path).as_posix(), _size(file)) for file in files)
        yield path
        return
    if not path.is_file():
        raise BadFile(f"There is no pack at {path}: it is a folder, or a regular file of zip.")
    with tempfile.TemporaryDirectory() as place:
        try:
            with zipfile.ZipFile(path) as archive:
                # zip programs write entries of folders, too
                infos = [each for each in archive.infolist() if not each.is_dir()]
                _check_files((each.filename, each.file_size) for each in infos)
                archive.extractall(place, infos)
        except NO_ZIP as bad:
            raise BadFile(f"{path} is no readable pack: {bad}. Get it again.") from bad
        yield Path(place)


def _size(file: Path) -> int | None:
    """None of a link, which leads elsewhere, and of a device, which may be read for ever."""
    return file.stat().st_size if file.is_file() and not file.is_symlink() else None


def _check_files(files: Iterable[tuple[str, int | None]]) -> None:
    """Raise `BadFile` for a name that no pack has, twice the same one, what is no regular file, or
    too much.
    """
    names, total = set[str](), 0
    for name, size in files:
        if size is None or not FILE.fullmatch(name) or name in names:
            raise BadFile(
                f"{said(name)} is no part of a pack, so it is not read: a pack has pack.json at "
                "its top, and nothing but what `mucore suite run` writes."
            )
        names.add(name)
        total += size
        if total > MOST_BYTES:
            raise BadFile(f"A pack has {MOST_BYTES:,} bytes at most, and this one is larger.")
