"""A user's own methods: one Python file each, in the folders of `MUCORE_PLUGINS`, in the home
(mucore/userfiles/methods.py) or behind an entry point of the group `mucore.methods`.

A file holds `CARD = MethodCard(...)` and a function of the card's id. The card is read off the
file's syntax tree (mucore/catalog/written.py), so that pages and the command line list the method
without running anything of it or importing torch. A file that cannot be read is left out with a
sentence that names it; everything else goes on. Files are looked at again when they change
on disk, and their content is part of the key of every run (`RunSpec.method_hash`), so an edited
method is never served results of the one before.
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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache, lru_cache
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from mucore import catalog, printable
from mucore.catalog import written
from mucore.catalog.cards import EVERY_TASK, Among, Between, Footprint, Kind, MethodCard, Parameter
from mucore.catalog.formulas import NAMES, evaluate
from mucore.errors import BadFile, MucoreError
from mucore.userfiles import doors, paths

FOLDERS = "MUCORE_PLUGINS"
GROUP = "mucore.methods"
READS = frozenset({"retain", "forget", "validation", "training_record"})
# Beside the studies of a task's methods a file of this name has what they share (mucore/tuning).
RESERVED = frozenset({"task"})


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
    """Read all plugins, or give what the last call gave if no file has changed."""
    installed, unusable = _entry_points()
    files: list[tuple[Path, str | None]] = [*installed]
    problems = [*unusable]
    for folder in filter(
        None, (text.strip() for text in os.environ.get(FOLDERS, "").split(os.pathsep))
    ):
        try:
            path = paths.path(folder, what=FOLDERS).absolute()
            found = paths.kind(path)
        except BadFile as error:
            problems.append(Problem(Path(folder), str(error)))
            continue
        if found == "folder":
            files += [(file, None) for file in _methods_in(path)]
        else:
            why = (
                "it is a file; name the folder that holds it"
                if found
                else "there is no such folder"
            )
            problems.append(Problem(path, f"{FOLDERS} names {path}, but {why}."))
    files += [(file, None) for file in _methods_in(in_home())]
    if not files and not problems:
        return Found()
    return _read_all(
        tuple((file, module, *_stamp(file)) for file, module in files), tuple(problems)
    )


def in_home() -> Path:
    """The folder of the methods that were written on a page; it need not be there."""
    return paths.default_home().absolute() / "methods"


def _methods_in(folder: Path) -> list[Path]:
    return [file for file in sorted(folder.glob("*.py")) if not file.name.startswith(("_", "."))]


def find(method: str) -> Plugin | None:
    """The plugin whose card has this id."""
    return next((plugin for plugin in found().plugins if plugin.card.id == method), None)


def _stamp(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


@lru_cache(maxsize=8)
def _read_all(
    files: tuple[tuple[Path, str | None, int, int], ...], problems: tuple[Problem, ...]
) -> Found:
    plugins: dict[str, Plugin] = {}
    left_out = list(problems)
    for path, module, *_ in files:
        try:
            plugin = read(path, module)
            if (clash := clash_of(plugin, tuple(plugins.values()))) is not None:
                raise BadFile(f"{path} is left out: {clash}")
        except MucoreError as error:
            left_out.append(Problem(path, str(error)))
        else:
            plugins[plugin.card.id] = plugin
    return Found(tuple(plugins.values()), tuple(left_out))


def clash_of(plugin: Plugin, others: tuple[Plugin, ...]) -> str | None:
    """The end of a sentence if the id or an alias belongs to another method already; the one that
    was there first keeps it.
    """
    mine = {plugin.card.id, *plugin.card.aliases}
    owners = [(card, "mucore") for card in (catalog.ORIGINAL, *catalog.METHODS)]
    owners += [(other.card, str(other.path)) for other in others if other.path != plugin.path]
    for card, owner in owners:
        if taken := mine & {card.id, *card.aliases}:
            name = sorted(taken)[0]
            return (
                f"the name {name} belongs to a method of {owner}. Choose another id and function "
                "name."
            )
    return None


# -- where files are


@cache
def _entry_points() -> tuple[tuple[tuple[Path, str], ...], tuple[Problem, ...]]:
    """Files behind the entry points; once a process, for what is installed does not change under
    it.
    """
    files: list[tuple[Path, str]] = []
    problems: list[Problem] = []
    for entry in sorted(importlib.metadata.entry_points(group=GROUP), key=lambda entry: entry.name):
        path = _locate(entry.module)
        if path is None:
            text = (
                f"The entry point {entry.name} of the group {GROUP} names the module "
                f"{entry.module}, which has no Python file here."
            )
            problems.append(Problem(Path(entry.module), text))
        else:
            files.append((path, entry.module))
    return tuple(files), tuple(problems)


def _locate(module: str) -> Path | None:
    """The file of a module, found without importing the packages around it: their `__init__` may
    import torch.
    """
    top, *parts = module.split(".")
    try:
        spec = importlib.util.find_spec(top)
    except (ImportError, ValueError):
        return None
    name = top
    for part in parts:
        if spec is None or spec.submodule_search_locations is None:
            return None
        name = f"{name}.{part}"
        spec = PathFinder.find_spec(name, list(spec.submodule_search_locations))
    return (
        Path(spec.origin)
        if spec is not None and spec.origin and spec.origin.endswith(".py")
        else None
    )


# -- reading a card


def read(path: Path, module: str | None = None) -> Plugin:
    """The card of a file, checked; nothing in the file is run. Raises `BadFile` with a sentence
    that names the file and says what to change.
    """
    try:
        with path.open("rb") as file:
            source = file.read(written.MOST_BYTES + 1)
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror}.") from None
    try:
        tree = written.parse(source, str(path))
    except written.Unreadable as problem:
        raise BadFile(f"{path} is no Python file: {problem}.") from None
    card = _card(tree, path)
    if (problem := _card_problem(card)) is not None:
        raise BadFile(f"{path}: {problem}")
    if not any(isinstance(node, ast.FunctionDef) and node.name == card.id for node in tree.body):
        raise BadFile(
            f"{path}: the card's id is {card.id}, but there is no function of that name. Write "
            f"def {card.id}(model, data, run)."
        )
    return Plugin(card, path.absolute(), _hash(source), module)


def _hash(source: bytes) -> str:
    return hashlib.sha256(source).hexdigest()[:16]


def _card(tree: ast.Module, path: Path) -> MethodCard:
    """The value of `CARD`, as it is written."""
    names = written.Names()
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            names.imported(node)
        name, value = _assignment(node)
        if name is None or value is None:
            continue
        if name != "CARD":
            names.assigned(name, value)
            continue
        try:
            card = names.value(value)
        except written.Unreadable as problem:
            raise BadFile(f"{path}: the card cannot be read: {problem}. {_CARDS_HOLD}") from None
        if not isinstance(card, MethodCard):
            raise BadFile(f"{path}: CARD must be a MethodCard, but it is a {type(card).__name__}.")
        return card
    raise BadFile(
        f"{path} has no CARD. Write CARD = MethodCard(...) at its top level, as "
        "docs/add-a-method.md shows. If the file is no method, begin its name with an underscore."
    )


_CARDS_HOLD = (
    "A card is made of literals, constants that are such above it, and the classes of "
    "mucore.catalog.cards."
)


def _assignment(node: ast.stmt) -> tuple[str | None, ast.expr | None]:
    if (
        isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
    ):
        return node.targets[0].id, node.value
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return node.target.id, node.value
    return None, None


def _card_problem(card: MethodCard) -> str | None:
    """The first of `_card_problems`, short enough to be read."""
    try:
        problem = next(_card_problems(card), None)
    except (RecursionError, MemoryError, ValueError, TypeError) as error:
        # a value that no rule foresees, or one that cannot even be printed
        problem = f"the card does not hold together: {_brief(error)}."
    return problem if problem is None or len(problem) < 600 else f"{problem[:600]}...."


def _card_problems(card: MethodCard) -> Iterator[str]:
    """Sentences about what would break a form, a plan or a page."""
    # spec is built on the catalogue, which lists what is read here
    from mucore.spec import check, resolve

    for field in ("id", "title", "family", "source", "summary"):
        if not isinstance(value := getattr(card, field), str) or not value.strip():
            yield f"the card's {field} must be a text, but it is {value!r}."
            return
        if mark := printable.mark(value):
            yield f"the card's {field} must be printable, but it holds {mark}."
    for field in fields(MethodCard):
        if isinstance(field.default, str) and not isinstance(
            value := getattr(card, field.name), str
        ):
            yield f"the card's {field.name} must be a text, but it is {value!r}."
            return
    if not re.fullmatch(r"[a-z][a-z0-9_]*", card.id):
        yield (
            "the card's id must be a function name of small letters, digits and underscores, but "
            f"it is {card.id!r}."
        )
    if card.id in RESERVED:
        yield (
            f"the card's id must not be {card.id!r}: studies of settings keep what they share "
            "under that name. Name the function otherwise."
        )
    if card.family != "own":
        yield (
            "the card's family must be 'own', under which pages show your methods, but it is "
            f"{card.family!r}."
        )
    if not isinstance(card.reads, frozenset) or not card.reads <= READS:
        yield (
            f"the card's reads must be a frozenset out of {', '.join(sorted(READS))}, but it is "
            f"{card.reads!r}."
        )
    for field in ("aliases", "records"):
        if not isinstance(value := getattr(card, field), tuple) or not all(
            isinstance(name, str) for name in value
        ):
            yield f"the card's {field} must be a tuple of texts, but it is {value!r}."
            return
    known = [scenario.id for scenario in catalog.scenarios()]
    if card.scenarios is not None and (
        not isinstance(card.scenarios, frozenset)
        or not card.scenarios
        or not card.scenarios <= {*known}
    ):
        yield (
            f"the card's scenarios must be None or a frozenset out of {', '.join(known)}, but it "
            f"is {card.scenarios!r}."
        )
    if card.scenarios is not None and not card.scenarios_reason:
        yield "the card names scenarios, so scenarios_reason must say why the others are refused."
    if (
        not isinstance(card.tasks, frozenset)
        or "classes" not in card.tasks
        or not card.tasks <= EVERY_TASK
    ):
        yield (
            "the card's tasks must be a frozenset of 'classes', and 'attributes' if it serves "
            f"those too, but it is {card.tasks!r}."
        )
    if not isinstance(card.parameters, tuple) or not all(
        isinstance(parameter, Parameter) for parameter in card.parameters
    ):
        yield (
            "the card's parameters must be a tuple of Parameter(...); a tuple of one is written "
            "with a comma at its end."
        )
        return
    names = [parameter.name for parameter in card.parameters]
    for name in {name for name in names if names.count(name) > 1}:
        yield f"the card has two parameters named {name}."
    for field in ("confinable_when", "no_records_when"):
        condition = getattr(card, field)
        listed = isinstance(condition, dict) and all(
            isinstance(values, tuple) for values in condition.values()
        )
        if not listed or not condition.keys() <= {*names}:
            yield (
                f"the card's {field} must give a tuple of values for each parameter that it "
                f"names, but it is {condition!r}."
            )
    for parameter in card.parameters:
        # a file would reach the function as a hash
        kinds = [kind for kind in get_args(Kind) if kind != "file"]
        if parameter.kind not in kinds:
            yield (
                f"the kind of parameter {parameter.name} must be one of {', '.join(kinds)}, but "
                f"it is {parameter.kind!r}."
            )
            return
    if any(parameter.scales_with_epochs for parameter in card.parameters) and not card.paper_epochs:
        yield (
            "a parameter scales_with_epochs, so the card's paper_epochs must say how long the "
            "training was that its value was chosen for."
        )
    if not isinstance(card.footprint, Footprint):
        yield f"the card's footprint must be a Footprint(...), but it is {card.footprint!r}."
        return
    try:
        known = dict.fromkeys(NAMES, 1) | {p.name: p.default for p in card.parameters}
        for field in fields(Footprint):
            if text := getattr(card.footprint, field.name):
                evaluate(text, known)
        for parameter in card.parameters:
            check(parameter, parameter.default, owner=f"the default of {card.id}")
        resolve(card.parameters, card.tuned, owner=f"the tuned preset of {card.id}")
        yield from _search_problems(card, known)
    except MucoreError as error:
        yield str(error)
    except Exception as error:  # a bound or a preset of a type that no rule foresees
        yield f"the card's parameters do not hold together: {_brief(error)}."


def _search_problems(card: MethodCard, known: Mapping[str, Any]) -> Iterator[str]:
    """What a search would end with after it has trained its references. Raises `BadValue` for a
    formula that cannot be computed, or a value that the parameter may not have.
    """
    from mucore.spec import check

    cards = {parameter.name: parameter for parameter in card.parameters}
    if (
        not isinstance(card.search, dict)
        or not card.search.keys() <= cards.keys()
        or not all(isinstance(space, Between | Among) for space in card.search.values())
    ):
        yield (
            "the card's search must give Between(...) or Among(...) for each parameter that it "
            f"names, but it is {card.search!r}."
        )
        return
    facts, owner = dict.fromkeys(NAMES, 1), f"the search of {card.id}"
    for name, space in card.search.items():
        if space.when:
            evaluate(space.when, known)
        if isinstance(space, Among):
            if not isinstance(space.values, tuple) or not space.values:
                yield f"{owner}: {name} needs a tuple of values, but got {space.values!r}."
                return
        elif cards[name].kind not in ("int", "float"):
            yield f"{owner}: {name} is no number and has no range. Give Among(...) instead."
            return
        ends = [space.low, space.high] if isinstance(space, Between) else space.values
        for value in ends:
            if isinstance(space, Between) and isinstance(value, str):
                evaluate(value, facts)
            else:
                check(cards[name], value, owner=owner)
        numbers = [end for end in ends if not isinstance(end, str)]
        if isinstance(space, Between) and (
            numbers != sorted(numbers) or (space.log and min(numbers, default=1) <= 0)
        ):
            yield (
                f"{owner}: {name} is searched from {space.low} to {space.high}, which is no "
                f"{'logarithmic ' if space.log else ''}range. Give the lower end first"
                f"{', and both above 0' if space.log else ''}."
            )


# -- running a file


_functions: dict[tuple[Path, str], Callable[..., Any]] = {}


def function(plugin: Plugin) -> Callable[..., Any]:
    """Run the file and give its function. Raises `BadFile` if it fails, or if it is not what
    `plugin` was read from any more; `ReadOnly` to who may not run files.

    The bytes that were hashed are the ones that run, not what Python may have cached under the
    module's name.
    """
    doors.check()
    known = plugin.path, plugin.source_hash
    if known not in _functions:
        try:
            source = plugin.path.read_bytes()
        except OSError as error:
            raise BadFile(f"{plugin.path} cannot be read: {error.strerror}.") from None
        if _hash(source) != plugin.source_hash:
            raise BadFile(changed(plugin))
        module = ModuleType(f"mucore_own_{plugin.card.id}_{plugin.source_hash}")
        module.__file__ = str(plugin.path)
        # for relative imports inside an installed package
        module.__package__ = (plugin.module or "").rpartition(".")[0]
        sys.modules[module.__name__] = module  # dataclasses and pickle look their module up
        try:
            exec(compile(source, str(plugin.path), "exec", dont_inherit=True), module.__dict__)
        except Exception as error:  # the boundary to somebody else's code
            del sys.modules[module.__name__]
            raise BadFile(
                f"{plugin.path} cannot be imported: {_brief(error)}{line_of(error, plugin.path)}."
            ) from error
        _functions[known] = getattr(module, plugin.card.id)
    return _functions[known]


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


def _brief(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}".rstrip(".")
