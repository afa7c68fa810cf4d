"""A pack of a suite: one folder or zip with the rows of a division, the predictions they were
measured on, and what made them. Imports no torch.

It is a pack as mucore/store/pack.py writes it, whose pack.json has a part `suite` besides. What
comes from somebody else is looked at before it is read: names of files, their sizes and what they
unpack to. Nothing in it is run, and nothing of it is a pickle.
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
from mucore.store.artifacts import is_outputs
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
MOST_ROWS = 2 * 10**8  # bytes that the rows may unpack to
MOST_SAMPLES = 5 * 10**6  # of one run's predictions
MOST_VALUES = 10**8  # of their columns: classes and features of every sample
MOST_COUNTS = 10**7  # cells of all tables of confusion counts of a run
METHOD = re.compile(r"[a-z][a-z0-9_]{0,99}")  # the ids of methods, which name the board's pages
_PART = 1 << 20
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
        """The predictions of a run. Raises `BadFile` where they are missing, damaged, or larger
        than any suite's.
        """
        if result.outputs is None:
            raise BadFile("Its predictions are not in the pack.")
        self.store.artifacts.where(result.outputs)  # the name of an artifact, and no other path
        _check_outputs(self.store.artifacts.place.local(result.outputs))
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
    with _folder(path) as folder:
        _check_rows(folder)
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
            _check_names(content, specs)
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


def _check_names(about: _OfSuite, specs: Mapping[str, RunSpec]) -> None:
    """Raise `BadFile` for what is no id of a method."""
    names = {*about.methods, *(each.method for each in about.missing)}
    names |= {spec.method for spec in specs.values()}
    for name in sorted(names):
        if not METHOD.fullmatch(name):
            raise BadFile(
                f"The pack names a method {said(name)}. The id of a method has at most 100 small "
                "letters, digits and underscores: rename it and make the pack again."
            )


def _spec(result: Result) -> RunSpec:
    try:
        return RunSpec.model_validate(dict(result.spec))
    except (TypeError, ValidationError) as error:
        raise BadFile(f"The pack's run {said(result.key)} cannot be read: {error}") from None


@contextmanager
def _folder(path: Path) -> Generator[Path]:
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
                _check_compression(infos, path)
                _check_files(((each.filename, each.file_size) for each in infos), path)
                for each in infos:
                    _unpack(archive, each, Path(place))
        except NO_ZIP as bad:
            raise BadFile(f"{path} is no readable pack: {bad}. Get it again.") from bad
        yield Path(place)


def _check_compression(infos: Iterable[zipfile.ZipInfo], path: Path) -> None:
    """Raise `BadFile` for a way of packing that may take as much memory as it likes."""
    for each in infos:
        if each.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BadFile(
                f"{said(each.filename)} in {path} is compressed in the way {each.compress_type} of "
                "zip files, and a pack by deflate (8) or not at all (0). Zip it again like that."
            )


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
        shutil.copyfileobj(source, out, _PART)  # which ends at the size that was checked


def _check_rows(folder: Path) -> None:
    """Raise `BadFile` where the rows unpack to more than any suite has, or not to their end."""
    comparisons = folder / "comparisons.jsonl"  # which are read like rows, and are not packed
    total = comparisons.stat().st_size if comparisons.exists() else 0
    if total > MOST_ROWS:
        raise BadFile(f"{comparisons.name} of the pack is larger than any suite's.")
    for file in sorted(folder.glob("results/*.gz")):
        unpacking = zlib.decompressobj(wbits=31)
        with file.open("rb") as source:
            while part := source.read(_PART):
                while part:
                    try:
                        total += len(unpacking.decompress(part, _PART))
                    except zlib.error as error:
                        raise BadFile(f"{file.name} of the pack is damaged: {error}.") from None
                    part = unpacking.unconsumed_tail
                    if total > MOST_ROWS:
                        raise BadFile(f"{file.name} of the pack unpacks to more than any suite's.")
                if unpacking.unused_data:
                    raise BadFile(f"{file.name} of the pack goes on behind its end.")
        if not unpacking.eof:
            raise BadFile(f"{file.name} of the pack is damaged: it is cut off. Get it again.")


def _check_outputs(file: Path) -> None:
    """Raise `BadFile` where a file of predictions says that it holds more than any run's, or
    columns that are not of predictions. What its values unpack to goes by their number, for equal
    ones take next to no room in a file.
    """
    import json

    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        facts = pq.read_metadata(file)
        groups = [facts.row_group(n) for n in range(facts.num_row_groups)]
        values = sum(one.column(n).num_values for one in groups for n in range(one.num_columns))
        types = {field.name: field.type for field in facts.schema.to_arrow_schema()}
        about = json.loads(facts.metadata[b"mucore"])
        counts = sum(abs(_product(each["confusion"]["shape"])) for each in about.values())
    except (
        *(OSError, pa.ArrowException, AttributeError, LookupError),
        *(RecursionError, TypeError, ValueError, ArithmeticError),
    ) as error:
        raise BadFile(f"Its predictions cannot be read: {error}") from None
    if facts.num_rows > MOST_SAMPLES or values > MOST_VALUES or counts > MOST_COUNTS:
        raise BadFile(
            f"Its predictions are larger than any suite's: {facts.num_rows:,} samples, {values:,} "
            f"values, {counts:,} counts. They are not read."
        )
    if not is_outputs(types):
        raise BadFile(
            f"Its predictions have other columns than mucore writes: {said(str(types))}. Make the "
            "pack again."
        )


def _product(shape: Sequence[int]) -> int:
    made = 1
    for each in shape:
        made *= int(each)
    return made
