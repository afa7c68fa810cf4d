"""What the dashboard may import where, read from its sources in one pass: a test lists who breaks
its rule.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from dashboard.pages import BY_ID, PAGES

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD = ROOT / "dashboard"
# The modules are imported; pages are scripts, so what they import is executed for them.
CODE = """
import ast, importlib, sys
from pathlib import Path
for name in {modules!r}:
    importlib.import_module(name)
for script in {scripts!r}:
    tree = ast.parse(Path(script).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    exec(compile(ast.Module(body=imports, type_ignores=[]), script, "exec"), {{}})
HEAVY = ("torch", "torchvision", "timm")
print(*sorted(name for name in sys.modules if name.partition(".")[0] in HEAVY))
"""


@cache
def sources() -> dict[str, tuple[str, tuple[ast.AST, ...]]]:
    """By place below `dashboard`, the text of a file and all that stands in it."""
    found = {}
    for path in sorted(DASHBOARD.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        found[path.relative_to(DASHBOARD).as_posix()] = text, tuple(ast.walk(ast.parse(text)))
    return found


def is_script(place: str) -> bool:
    return place.startswith("views/") or place == "app.py"


def imported(place: str) -> Iterator[str]:
    """Every module that a file names, and every name that it takes from one."""
    for node in sources()[place][1]:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{place} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.slow
def test_all_of_the_dashboard_leaves_torch_alone():
    """Pages open without the compute stack."""
    modules = [
        ".".join(("dashboard", *Path(place).with_suffix("").parts)).removesuffix(".__init__")
        for place in sources()
        if not is_script(place)
    ]
    assert {"dashboard.data", "dashboard.widgets", "dashboard.theme"} <= set(modules)
    scripts = [str(DASHBOARD / place) for place in sources() if is_script(place)]
    code = CODE.format(modules=modules, scripts=scripts)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""


# The Streamlit line: what stands below it is data, numbers, texts and figures, and can be used and
# tested without a page. Each of its floors imports its own folder and lower floors, also where only
# a type is asked for.
FLOORS = (("assets", "text", "theme"), ("lessons", "papers"), ("frames",), ("charts",), ("report",))


def test_no_arrow_runs_up_and_figures_and_frames_do_without_streamlit():
    floor = {name: height for height, names in enumerate(FLOORS) for name in names}
    up, pages = [], []
    for place in sources():
        here = Path(place).with_suffix("").parts[0]
        for name in imported(place) if here in floor else ():
            top, _, rest = name.partition(".")
            below = rest.partition(".")[0]
            if top == "dashboard" and below != here and floor.get(below, 9) >= floor[here]:
                up.append(f"{place} -> {name}")
            if top == "streamlit":
                pages.append(place)
    assert up == pages == []


def test_who_alone_may_do_what():
    """Session keys and parameters of addresses are known to one module, stores are opened by one,
    and style sheets, scripts and drawings are files: the folder of them makes the one element that
    the others ask for.
    """
    broken = []
    for place, (text, nodes) in sources().items():
        if place != "state.py" and ("session_state" in text or "st.query_params" in text):
            broken.append(f"{place} reads session keys or the address")
        if place != "data.py" and "open_store(" in text:
            broken.append(f"{place} opens a store")
        if not place.startswith("assets/") and any(
            re.search("<(style|script|svg|table)", node.value)
            for node in nodes
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ):
            broken.append(f"{place} holds a style sheet, a script or a drawing")
    assert broken == []


def test_the_tab_icon_is_a_file_of_our_own():
    assert 'page_icon=":material' not in sources()["app.py"][0]  # fetched from another host
    assert (DASHBOARD / "icon.png").read_bytes().startswith(b"\x89PNG")


def test_every_page_is_in_the_list_and_has_its_script():
    assert [page.id for page in PAGES] == list(BY_ID)
    scripts = {f"views/{path.name}" for path in (DASHBOARD / "views").glob("*.py")}
    assert {page.file for page in PAGES} == scripts
