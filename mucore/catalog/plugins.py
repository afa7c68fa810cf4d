"""A user's own methods: one Python file each, in the folders of `MUCORE_PLUGINS`, in the home
(mucore/userfiles/methods.py) or behind an entry point of the group `mucore.methods`.

A file holds `CARD = MethodCard(...)` and a function of the card's id. The card is read off the
file's syntax tree, so that pages and the command line list the method without running anything of
it or importing torch. A file that cannot be read is left out with a sentence that names it;
everything else goes on. Its content is part of the key of every run (`RunSpec.method_hash`), so an
edited method is never served results of the one before.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.metadata
import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import astuple, dataclass
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, ValidationError

from mucore import catalog
from mucore.catalog import cards
from mucore.catalog.cards import Between, MethodCard
from mucore.catalog.formulas import NAMES, evaluate
from mucore.errors import BadFile, MucoreError
from mucore.userfiles import doors, paths

FOLDERS = "MUCORE_PLUGINS"
GROUP = "mucore.methods"
READS = frozenset({"retain", "forget", "validation", "training_record"})
# Training records (mucore/training/records.py), and the parameters that say how one is made.
RECORDS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys(
        ("final_epochs", "initial", "layer_moments", "learning_events", "running_sum"), frozenset()
    ),
    "per_step": frozenset({"disk_cap"}),
    "shards": frozenset({"shards", "slices", "epochs"}),
    **dict.fromkeys(("imp", "omp", "synflow"), frozenset({"prune", "rewind"})),
}
# Beside the studies of a task's methods a file of this name has what they share (mucore/tuning).
RESERVED = "task"
# What a card may call.
_CALLS: Final[Mapping[str, Callable[..., Any]]] = {
    each.__name__: each
    for each in (
        *(cards.MethodCard, cards.Parameter, cards.Footprint, cards.Between, cards.Among),
        *(frozenset, tuple, dict),
    )
}


@dataclass(frozen=True, eq=False)
class Plugin:
    """One file that was read: its card, and a hash of its content, 16 hexadecimal digits."""

    card: MethodCard
    path: Path
    source_hash: str
    module: str | None = None  # dotted name, for a file inside an installed package


@dataclass(frozen=True)
class Problem:
    """A file or folder that gives no method; `text` is a sentence that names it and says why."""

    path: Path
    text: str


@dataclass(frozen=True)
class Found:
    """What the folders and entry points hold, in their order, files of a folder by name."""

    plugins: tuple[Plugin, ...] = ()
    problems: tuple[Problem, ...] = ()


def found() -> Found:
    """Read all plugins."""
    named = [Path(each.strip()) for each in os.environ.get(FOLDERS, "").split(os.pathsep)]
    folders = [each.expanduser().absolute() for each in named if each.name]
    problems = [
        Problem(each, f"{FOLDERS} names {each}, but there is no such folder.")
        for each in folders
        if not each.is_dir()
    ]
    files: list[tuple[Path, str | None]] = [
        (file, None)
        for folder in (*folders, in_home())
        for file in sorted(folder.glob("*.py"))
        if not file.name.startswith(("_", "."))
    ]
    plugins: list[Plugin] = []
    for path, module in (*_installed(), *files):
        try:
            plugin = read(path, module)
            if (clash := clash_of(plugin, plugins)) is not None:
                raise BadFile(f"{path} is left out: {clash}")
        except MucoreError as error:
            problems.append(Problem(path, str(error)))
        else:
            plugins.append(plugin)
    return Found(tuple(plugins), tuple(problems))


def in_home() -> Path:
    """The folder of the methods that were written on a page; it need not be there."""
    return paths.default_home().absolute() / "methods"


def find(method: str) -> Plugin | None:
    """The plugin whose card has this id."""
    return next((plugin for plugin in found().plugins if plugin.card.id == method), None)


def clash_of(plugin: Plugin, others: Iterable[Plugin]) -> str | None:
    """The end of a sentence if the id or an alias belongs to another method already; the one that
    was there first keeps it.
    """
    owners = [(card, "mucore") for card in (catalog.ORIGINAL, *catalog.METHODS)]
    owners += [(other.card, str(other.path)) for other in others if other.path != plugin.path]
    for card, owner in owners:
        for name in {card.id, *card.aliases} & {plugin.card.id, *plugin.card.aliases}:
            return (
                f"the name {name} belongs to a method of {owner}. Choose another id and function "
                "name."
            )
    return None


@cache
def _installed() -> tuple[tuple[Path, str], ...]:
    """The files and modules behind entry points."""
    entries = importlib.metadata.entry_points(group=GROUP)
    return tuple((_located(each.module), each.module) for each in entries)


def _located(module: str) -> Path:
    """The file of a module, found without importing the packages around it: their `__init__` may
    import torch.
    """
    top, *parts = module.split(".")
    spec = importlib.util.find_spec(top)
    place = Path(spec.origin if spec is not None and spec.origin else top)
    return place.parent.joinpath(*parts).with_suffix(".py") if parts else place


# -- reading a card


def read(path: Path, module: str | None = None) -> Plugin:
    """As `parsed`, of what a file holds."""
    return parsed(_bytes(path), path.absolute(), module)


def parsed(source: bytes, path: Path, module: str | None = None) -> Plugin:
    """The method that is written in `source`, its card checked; nothing of it is run. Raises
    `BadFile` with a sentence that names the path and says what to change.
    """
    try:
        return Plugin(_card(source, path.name), path, _hash(source), module)
    except ValidationError as error:
        (first, *_) = error.errors()
        field = ".".join(map(str, first["loc"][1:]))
        raise BadFile(f"{path}: the card's {field}: {_brief(first['msg'])}.") from None
    except (MucoreError, *_MALFORMED) as error:
        raise BadFile(f"{path}: {_brief(error)}.") from None


# what Python raises where text is no program, or a value none that rules foresee
_MALFORMED = (ArithmeticError, MemoryError, RecursionError, SyntaxError, TypeError, ValueError)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}.") from None


def _hash(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()[:16]


@lru_cache(maxsize=64)
def _card(source: bytes, name: str) -> MethodCard:
    """The value of `CARD` in a file, checked."""
    tree, written = ast.parse(source, name), dict[str, ast.expr]()
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                written[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                written[name] = value
    if "CARD" not in written:
        raise BadFile(
            "it has no CARD. Write CARD = MethodCard(...) at its top level, as "
            "docs/add-a-method.md shows. If it is no method, begin its name with an underscore"
        )
    card = _Checked(card=_value(written["CARD"], written)).card
    for problem in _problems(card):
        raise BadFile(problem)
    if not any(isinstance(node, ast.FunctionDef) and node.name == card.id for node in tree.body):
        raise BadFile(
            f"the card's id is {card.id}, but there is no function of that name. Write def "
            f"{card.id}(model, data, run)"
        )
    return card


def _value(node: ast.expr, written: Mapping[str, ast.expr]) -> Any:
    """What stands there: a literal, a constant that is assigned in the file, or a call of a class
    of cards; nothing is run.
    """
    match node:
        case ast.Name(id=name) if name in written:
            return _value(written[name], written)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=named) if name in _CALLS:
            return _CALLS[name](
                *(_value(each, written) for each in args),
                **{str(each.arg): _value(each.value, written) for each in named},
            )
        case ast.Tuple(elts=parts):
            return tuple(_value(each, written) for each in parts)
        case ast.Dict(keys=keys, values=values) if None not in keys:
            return {
                ast.literal_eval(key): _value(value, written)
                for key, value in zip(filter(None, keys), values, strict=True)
            }
    try:
        return ast.literal_eval(node)
    except ValueError:
        raise BadFile(
            f"the card has {ast.unparse(node)[:60]} (line {node.lineno}), which only running the "
            "file would give. A card is made of literals, constants in the file and the classes "
            f"{', '.join(_CALLS)}"
        ) from None


class _Checked(BaseModel):
    """Fields of the types that the classes of cards say."""

    model_config = ConfigDict(strict=True, revalidate_instances="always")
    card: MethodCard


def _problems(card: MethodCard) -> Iterator[str]:
    """What would break a form, a plan or a page, without a full stop."""
    # spec is built on the catalogue, which lists what is read here
    from mucore.runs import check, resolve

    names = [parameter.name for parameter in card.parameters]
    scenarios = [scenario.id for scenario in catalog.scenarios()]
    if not re.fullmatch(r"[a-z][a-z0-9_]{0,63}", card.id) or card.id == RESERVED:
        yield (
            "the card's id must be a function name of at most 64 small letters, digits and "
            f"underscores other than {RESERVED}, but it is {card.id!r}"
        )
    if card.family != "own":
        yield (
            "the card's family must be 'own', under which pages show your methods, but it is "
            f"{card.family!r}"
        )
    for field, known in {
        "reads": READS,
        "records": RECORDS,
        "scenarios": scenarios,
        "search": names,
        "confinable_when": names,
        "no_records_when": names,
    }.items():
        if unknown := {*(getattr(card, field) or ())} - {*known}:
            yield (
                f"the card's {field} names {min(unknown)!r}, which is none of "
                f"{', '.join(sorted(known))}"
            )
    if lacking := {name for each in card.records for name in RECORDS[each]} - {*names}:
        yield f"the card's records need the parameters {', '.join(sorted(lacking))}"
    if bool(card.records) != ("training_record" in card.reads):
        yield "'training_record' stands in the card's reads where its records name one, and only so"
    if card.scenarios is not None and not card.scenarios_reason:
        yield "the card names scenarios, so scenarios_reason must say why the others are refused"
    if any(parameter.kind == "file" for parameter in card.parameters):
        yield "a parameter of an own method cannot be a file, which would reach it as a hash"
    if any(parameter.scales_with_epochs for parameter in card.parameters) and not card.paper_epochs:
        yield (
            "a parameter scales_with_epochs, so the card's paper_epochs must say how long the "
            "training was that its value was chosen for"
        )
    by_name = {parameter.name: parameter for parameter in card.parameters}
    formulas = [*astuple(card.footprint)]
    for name, space in card.search.items():
        formulas.append(space.when)
        for end in (space.low, space.high) if isinstance(space, Between) else space.values:
            if isinstance(space, Between) and isinstance(end, str):
                formulas.append(end)
            else:
                check(by_name[name], end, owner=f"the search of {card.id}")
    resolve(card.parameters, {}, owner=f"the defaults of {card.id}")
    for text in filter(None, formulas):
        evaluate(
            text, dict.fromkeys(NAMES, 1) | {each.name: each.default for each in by_name.values()}
        )


# -- running a file


def function(plugin: Plugin) -> Callable[..., Any]:
    """Run the file and give its function. Raises `BadFile` if it fails, or if it is not what
    `plugin` was read from any more; `ReadOnly` to who may not run files.

    The bytes that were hashed are the ones that run, not what Python may have cached under the
    module's name.
    """
    doors.check()
    source = _bytes(plugin.path)
    if _hash(source) != plugin.source_hash:
        raise BadFile(changed(plugin))
    module = ModuleType(f"mucore_own_{plugin.card.id}")
    module.__file__ = str(plugin.path)
    # for relative imports inside an installed package
    module.__package__ = (plugin.module or "").rpartition(".")[0]
    sys.modules[module.__name__] = module  # dataclasses look their module up
    try:
        exec(compile(source, str(plugin.path), "exec", dont_inherit=True), module.__dict__)
    except Exception as error:  # the boundary to somebody else's code
        said = f"{type(error).__name__}: {_brief(error)}{line_of(error, plugin.path)}"
        raise BadFile(f"{plugin.path} cannot be imported: {said}.") from error
    return getattr(module, plugin.card.id)


def changed(plugin: Plugin) -> str:
    return (
        f"{plugin.path} has changed since this run was planned. Plan it again to run what is "
        "there now."
    )


def line_of(error: BaseException, path: Path) -> str:
    """` (line 12)`: where in the file at `path` an error arose or was called from; "" if it was not
    there.
    """
    lines = [
        frame.lineno
        for frame in traceback.extract_tb(error.__traceback__)
        if frame.filename == str(path)
    ]
    return f" (line {lines[-1]})" if lines else ""


def _brief(what: object) -> str:
    """One line of at most 500 letters without a full stop."""
    return " ".join(str(what).split())[:500].rstrip(".")
