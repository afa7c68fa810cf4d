"""A pack of a suite: one folder or zip with the rows of a division, the predictions they were
measured on, and what made them. Imports no torch.

It is a pack as mucore/store/pack.py writes it, whose pack.json has a part `suite` besides. What
comes from somebody else is looked at before it is read: names of files, and their sizes. Nothing in
it is run, and nothing of it is a pickle.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import zipfile
import zlib
from collections.abc import Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mucore import catalog, printable
from mucore.catalog import plugins
from mucore.errors import BadFile, BadValue, UnknownName, said
from mucore.files import whole_file
from mucore.outputs import Outputs
from mucore.spec import RunSpec
from mucore.store import Store, open_pack, pack_provenance, write_pack
from mucore.store.pack import ARTIFACTS
from mucore.store.rows import Result
from mucore.suite.description import Suite, division, same_suite
from mucore.suite.lines import REFERENCES, Missing, TaskRuns

FILE = re.compile(
    r"pack\.json|comparisons\.jsonl|results/\w[\w-]*\.jsonl\.gz"
    rf"|{ARTIFACTS}/[0-9a-f]{{2}}/[0-9a-f]{{32}}\.parquet"
)
MOST_FILES = 50_000
MOST_BYTES = 8 * 10**9  # of all files together
MOST_OF_ONE = 10**9
MOST_ABOUT = 10**7  # bytes of pack.json
# what zipfile raises for a damaged file, one with a password, or a name that is no text
NO_ZIP = (
    *(zipfile.BadZipFile, zlib.error, OSError, EOFError),
    *(NotImplementedError, RuntimeError, ValueError),
)
Place = tuple[str, str, int]  # data set, scenario, training seed


def place_of(result: Result) -> Place:
    spec = result.spec
    return spec["dataset"], spec["scenario"], spec["training_seed"]


class TunedSetting(BaseModel):
    """What a pack says of a tuned setting: `Tuned.values`, and of the search that found it how many
    trials it had, what each might take, and whether it was open. `cap` is None in packs of earlier
    versions.
    """

    model_config = ConfigDict(frozen=True, strict=True)

    values: dict[str, Any]
    trials: int = Field(ge=0)
    cap: float | None = Field(default=None, gt=0, le=1)
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
    """An opened pack. `settings` are those of the division `tuned`, none of another one."""

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
            what = f"{len(found)} runs" if found else "no run"
            raise BadValue(
                f"The pack has {what} with the key {said(key)}. `mucore suite verify PACK --json` "
                "lists the keys."
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


def settings_of(runs: Iterable[TaskRuns]) -> Settings:
    """What a pack of these runs says of their tuned settings."""
    return {
        each.task.scenario: {
            method: TunedSetting(
                values=dict(found.values), trials=found.trials, cap=found.cap, open=found.open
            )
            for method, found in each.found.items()
        }
        for each in runs
    }


def write(
    store: Store,
    path: Path,
    suite: Suite,
    division: str,
    runs: Sequence[TaskRuns],
    missing: Sequence[Missing],
    known: Collection[str],
    *,
    features: bool = False,
) -> Path:
    """Write the results `known` of a division to a folder, or to a file where `path` ends in .zip.
    Raises `BadValue` for a place that cannot be written, and where there is nothing.
    """
    if not known:
        raise BadValue("There is no result yet, so there is nothing to pack. Run the suite first.")
    named = [spec.method for each in runs for spec in each.specs] + [m.method for m in missing]
    methods = list(dict.fromkeys(named))
    printable.checked("The name of a pack", path.name)
    packed = path.suffix == ".zip"
    if path.exists() and (path.is_dir() == packed or not (packed or (path / "pack.json").exists())):
        raise BadValue(f"{path} is something else already. Name another place with --out.")
    beside = {
        "suite": {
            "id": suite.id,
            "hash": suite.hash,
            "division": division,
            "methods": methods,
            "settings": {
                scenario: {method: setting.model_dump() for method, setting in found.items()}
                for scenario, found in settings_of(runs).items()
            },
            "missing": [asdict(each) for each in missing],
            "licences": {t.dataset: catalog.dataset(t.dataset).licence for t in suite.tasks},
            "commands": {
                "made": _command(suite, division, methods, features),
                "verify": "python -m mucore suite verify PACK",
                "repeat": "python -m mucore suite repeat PACK --key KEY",
            },
        }
    }
    with tempfile.TemporaryDirectory() if packed else _as_it_is(path) as place:
        folder = write_pack(
            store,
            place,
            keys=known,
            outputs=known,
            samples=None,
            features=features,
            comparisons=False,
            beside=beside,
        )
        if packed:
            _zip(folder, path)
    return path


def _command(suite: Suite, division: str, methods: Sequence[str], features: bool) -> str:
    """The command that makes such a pack. Files of methods stand without their folders."""
    made = f"python -m mucore suite run {suite.id} --division {division}"
    asked = [name for name in methods if name not in REFERENCES]
    if {*asked} != {card.id for card in catalog.METHODS if not card.needs_file} - {*REFERENCES}:
        own = [each for each in plugins.found().plugins if each.module is None]
        files = {each.card.id: each.path.name for each in own}
        made += f" --methods {','.join(files.get(name, name) for name in asked)}"
    return made + (" --features" if features else "")


@contextmanager
def _as_it_is(path: Path) -> Generator[Path]:
    yield path


def _zip(folder: Path, path: Path) -> None:
    try:
        with whole_file(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
            for file in sorted(file for file in folder.rglob("*") if file.is_file()):
                # of a fixed time, so that the same pack is the same bytes
                archive.writestr(
                    zipfile.ZipInfo(file.relative_to(folder).as_posix()), file.read_bytes()
                )
    except OSError as error:
        raise BadValue(
            f"The pack could not be written to {path}: {error.strerror or error}. Choose another "
            "place with --out."
        ) from error


@contextmanager
def opened(path: Path) -> Generator[Pack]:
    """The pack in a folder or zip, checked as far as reading needs it: names and sizes of files,
    hashes of rows, and the suite. Raises `BadFile` with the first problem.
    """
    printable.checked("The name of a pack", path.name)
    with unpacked(path) as folder:
        about = pack_provenance(folder)
        suite = same_suite(about.get("suite"))
        content = _read_about(about, path)
        try:
            of = division(suite, content.division)
        except UnknownName as error:
            raise BadFile(f"pack.json of {path}: {error}") from None
        with open_pack(folder) as store:
            results = {result.key: result for result in store.results()}
            specs = {key: _spec(result) for key, result in results.items()}
            yield Pack(
                suite,
                of,
                tuple(content.methods),
                tuple(content.missing),
                content.settings,
                about,
                store,
                results,
                specs,
            )


def _read_about(about: Mapping[str, Any], path: Path) -> _OfSuite:
    """Its part `suite`, checked together with what stands around it. Raises `BadFile`."""
    try:
        return _About.model_validate(about).suite
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        there = "" if first["type"] == "missing" else f", but there is {said(first['input'])}"
        raise BadFile(
            f"pack.json of {path} is not as a suite's pack has it: {said(where)}: {first['msg']}"
            f"{there}. Get it again."
        ) from None


def _spec(result: Result) -> RunSpec:
    try:
        return RunSpec.model_validate(dict(result.spec))
    except (TypeError, ValidationError) as error:
        raise BadFile(f"The pack's run {said(result.key)} cannot be read: {error}") from None


@contextmanager
def unpacked(path: Path) -> Generator[Path]:
    """The folder of a pack, a folder or a zip, of files as packs have. Raises `BadFile`."""
    if not path.exists():
        raise BadFile(f"There is no pack at {path}.")
    if path.is_dir():
        _check_files(_listed(path), path)
        yield path
        return
    _regular(path)  # a device has no end to look for a zip's table at
    with tempfile.TemporaryDirectory() as place:
        try:
            with zipfile.ZipFile(path) as archive:
                # zip programs write entries of folders, too
                infos = [each for each in archive.infolist() if not each.is_dir()]
                _check_files(((each.filename, each.file_size) for each in infos), path)
                for each in infos:
                    _unpack(archive, each, Path(place))
        except NO_ZIP as bad:
            raise BadFile(f"{path} is no readable pack: {bad}. Get it again.") from bad
        yield Path(place)


def _listed(folder: Path) -> Iterator[tuple[str, int]]:
    for file in folder.rglob("*"):
        if file.is_symlink():
            raise BadFile(f"The pack {folder} holds the link {file.name}, which leads elsewhere.")
        if not file.is_dir():
            _regular(file)
            yield file.relative_to(folder).as_posix(), file.stat().st_size


def _regular(path: Path) -> None:
    """Raise `BadFile` for a device or a pipe, which may be read for ever."""
    if not path.is_file():
        raise BadFile(f"{path} is neither a folder nor a regular file, so it is no pack.")


def _check_files(files: Any, path: Path) -> None:
    """Raise `BadFile` for a name that no pack has, twice the same one, or too much of anything."""
    names, total = set(), 0
    for name, size in files:
        total += size
        if not FILE.fullmatch(name) or name in names:
            raise BadFile(
                f"{path} holds {said(name)}, which is no part of a pack. A pack has pack.json at "
                "its top, and nothing but what `mucore suite run` writes."
            )
        names.add(name)
        most = MOST_ABOUT if name == "pack.json" else MOST_OF_ONE
        if size > most or total > MOST_BYTES or len(names) > MOST_FILES:
            raise BadFile(f"{path} is larger than any suite's pack ({said(name)}); it is not read.")


def _unpack(archive: zipfile.ZipFile, info: zipfile.ZipInfo, place: Path) -> None:
    target = place / info.filename  # one of the names that were checked
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(info) as source, target.open("wb") as out:
        shutil.copyfileobj(source, out)  # which ends at the size that was checked
