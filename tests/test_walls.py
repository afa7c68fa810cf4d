"""The walls of the house, as docs/design.md draws them: who may import whom.

What may use Streamlit or torch is tested in dashboard/test_imports.py and by processes that import
a package and look for torch.
"""

from __future__ import annotations

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from dashboard.pages import MOVED

ROOT = Path(__file__).resolve().parents[1]


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {
    module_of(path): path
    for folder in ("mucore", "dashboard")
    for path in sorted((ROOT / folder).rglob("*.py"))
}


def imported(path: Path) -> set[str]:
    """The modules of this project that a file imports, those inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found |= {
                name if (name := f"{node.module}.{alias.name}") in MODULES else node.module
                for alias in node.names
            }
    return found & MODULES.keys()


@cache
def imports() -> dict[str, set[str]]:
    return {name: imported(path) for name, path in MODULES.items()}


def inside(module: str, *packages: str) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def page_of(module: str) -> str:
    """The page that a module is a part of; "" for what pages share."""
    parts = module.split(".")
    return (
        parts[2]
        if inside(module, "dashboard.views", "dashboard.sections") and len(parts) > 2
        else ""
    )


# Package: what it must not import.
CLOSED = {
    "mucore": ["dashboard"],
    **{
        f"mucore.{package}": [f"mucore.{closed}" for closed in names.split()]
        for package, names in {
            "catalog": "engine methods runner store cli analysis",
            "store": "engine methods runner cli analysis export",
            "metrics": "engine methods runner cli statistics verdicts",
            "verdicts": "engine methods runner cli analysis",
            "engine": "blocks methods training probes runner store",
            "blocks": "methods probes runner store",
            "runner": "tuning suite cli bench",
            "suite": "cli bench methods blocks",
            "methods": "runner store metrics cli",
            "bench": "cli export analysis",
        }.items()
    },
    "dashboard.widgets": ["dashboard.sections", "dashboard.views"],
    "dashboard.sections": ["dashboard.views"],
    "dashboard.frames": ["dashboard.charts", "dashboard.report"],
}


def test_lower_ones_never_import_higher_ones() -> None:
    named = {*CLOSED, *(closed for each in CLOSED.values() for closed in each)}
    assert all(any(inside(name, package) for name in MODULES) for package in named)
    assert not [
        (name, other)
        for package, closed in CLOSED.items()
        for name in MODULES
        if inside(name, package)
        for other in imports()[name]
        if inside(other, *closed)
    ]


def test_methods_never_import_each_other() -> None:
    methods = {name for name in MODULES if inside(name, "mucore.methods")} - {"mucore.methods"}
    # one that runs another asks `methods.load`
    assert not [(name, other) for name in methods for other in imports()[name] & methods]


def test_blocks_are_for_methods_and_what_is_trained_for_them() -> None:
    users = (
        "mucore.blocks",
        "mucore.methods",
        "mucore.training",
        "mucore.probes",
        "mucore.testing",
        "mucore.runner.training_records",
        "mucore.unlearn",
    )
    assert not [
        (name, other)
        for name in MODULES
        if not inside(name, *users)
        for other in imports()[name]
        if inside(other, "mucore.blocks")
    ]


def test_only_the_command_line_knows_a_cluster_and_one_module_knows_ray() -> None:
    users = {name for name in MODULES if any(inside(o, "mucore.cluster") for o in imports()[name])}
    assert {name for name in users if not inside(name, "mucore.cluster")} == {"mucore.cli.cluster"}
    of_ray = {name for name, path in MODULES.items() if "import ray" in path.read_text("utf-8")}
    assert of_ray == {"mucore.cluster.crew"}


def test_only_the_command_line_measures_speed() -> None:
    users = {name for name in MODULES if any(inside(o, "mucore.bench") for o in imports()[name])}
    assert {name for name in users if not inside(name, "mucore.bench")} == {"mucore.cli.bench"}


def test_no_page_imports_another_pages_parts() -> None:
    pages = {path.stem for path in (ROOT / "dashboard" / "views").glob("*.py")}
    rooms = {old: room for old, (room, _) in MOVED.items()}  # a tab's parts are its page's
    folders = {
        path.name
        for path in (ROOT / "dashboard" / "sections").iterdir()
        if path.is_dir() and not path.name.startswith("_")
    }
    # a folder of sections is named for its page, or for what became a tab of one
    assert folders <= pages | rooms.keys()
    crossing = [
        (name, other)
        for name in MODULES
        if page_of(name)
        for other in imports()[name]
        if (there := page_of(other))
        and rooms.get(there, there) != rooms.get(page_of(name), page_of(name))
    ]
    assert not crossing


def test_no_modules_import_each_other_in_a_circle() -> None:
    """But for the catalogue and the specs: plug-ins are listed in the one, their cards checked by
    the other.
    """

    def node(module: str) -> str:
        one = inside(module, "mucore.catalog", "mucore.runs")
        return "catalogue and specs" if one else module

    arrows: dict[str, set[str]] = {}
    for name, others in imports().items():
        arrows.setdefault(node(name), set()).update(node(other) for other in others)
    order = TopologicalSorter({name: others - {name} for name, others in arrows.items()})
    assert len(list(order.static_order())) == len(arrows)


@pytest.mark.parametrize(
    ("package", "circles"),
    [("dashboard", []), ("mucore", [["analysis", "runner"], ["catalog", "runs", "userfiles"]])],
)
def test_folders_import_each_other_in_a_circle_only_where_docs_say(
    package: str, circles: list[list[str]]
) -> None:
    rooms = {
        name: parts[1]
        for name, path in MODULES.items()
        if len(parts := path.relative_to(ROOT).parts) > 2 and parts[0] == package
    }
    reached = {room: {room} for room in rooms.values()}
    arrows = {(rooms[a], rooms[b]) for a in rooms for b in imports()[a] if b in rooms}
    for _ in reached:  # no way is longer than there are rooms
        for one, other in arrows:
            reached[one] |= reached[other]
    found = {
        tuple(sorted(other for other in reached[room] if room in reached[other]))
        for room in reached
    }
    assert sorted(list(each) for each in found if len(each) > 1) == circles


def test_views_and_methods_are_as_short_as_docs_say() -> None:
    text = " ".join((ROOT / "docs" / "design.md").read_text("utf-8").split())
    said = re.search(r"of a view has more than (\d+) lines, none of a method more than (\d+)", text)
    assert said is not None
    for folder, most in (("dashboard/views", said[1]), ("mucore/methods", said[2])):
        long = [
            path.name
            for path in (ROOT / folder).glob("*.py")
            if len(path.read_text("utf-8").splitlines()) > int(most)
        ]
        assert not long, f"{folder}: {long}"


def test_files_that_the_source_points_to_are_there():
    """Those named with a package of mucore before them, as in `engine/data.py`; but methods/ is a
    folder of users, too.
    """
    packages = {path.parent.name for path in (ROOT / "mucore").glob("*/__init__.py")}
    named = re.compile(r"(?<![\w/.-])(?:mucore/)?((\w+)/(?:\w+/)*\w+\.py)\b")
    missing = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in MODULES.values()
        for name, package in named.findall(path.read_text(encoding="utf-8"))
        if package in packages - {"methods"} and not (ROOT / "mucore" / name).is_file()
    ]
    assert missing == []
