"""Pages open without the compute stack: importing all of the dashboard leaves torch alone."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.pages import BY_ID, PAGES

ROOT = Path(__file__).resolve().parents[2]
DASHBOARD = ROOT / "dashboard"
MODULES = sorted(
    path
    for path in DASHBOARD.rglob("*.py")
    if path.parent.name != "views" and path.name != "app.py"
)
SCRIPTS = sorted([*(DASHBOARD / "views").glob("*.py"), DASHBOARD / "app.py"])

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


def test_all_of_the_dashboard_leaves_torch_alone():
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in MODULES
    ]
    assert {"dashboard.data", "dashboard.widgets", "dashboard.theme"} <= set(modules)
    code = CODE.format(modules=modules, scripts=[str(path) for path in SCRIPTS])
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == ""


# The Streamlit line: what stands below it is data, numbers, texts and figures, and can be used and
# tested without a page.
BELOW = ("charts", "frames", "lessons", "papers", "report", "text")
ABOVE = {"data", "state", "widgets", "sections", "views"}


@pytest.mark.parametrize(
    "path",
    [
        DASHBOARD / "theme.py",
        *(path for folder in BELOW for path in sorted((DASHBOARD / folder).rglob("*.py"))),
    ],
    ids=lambda path: str(path.relative_to(DASHBOARD)),
)
def test_figures_and_frames_do_without_streamlit(path):
    imported = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            imported |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            imported.add((node.module or "").partition(".")[0])
            if node.module == "dashboard":
                assert not {alias.name for alias in node.names} & ABOVE
            elif node.module and node.module.startswith("dashboard."):
                assert node.module.split(".")[1] not in ABOVE
    assert "streamlit" not in imported


# Below that line, each floor imports its own folder and lower floors, also where only a type is
# asked for.
FLOORS = (("assets", "text", "theme"), ("lessons", "papers"), ("frames",), ("charts",), ("report",))


def test_no_arrow_runs_up():
    floor = {name: height for height, names in enumerate(FLOORS) for name in names}
    assert set(BELOW) < floor.keys()
    up = []
    for path in MODULES:
        here = path.relative_to(DASHBOARD).with_suffix("").parts[0]
        if here not in floor:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.ImportFrom) or not node.module:
                continue
            package, *rest = node.module.split(".")
            names = rest[:1] or [alias.name for alias in node.names]
            if package == "dashboard":
                up += [
                    f"{path.relative_to(DASHBOARD)} -> {name}"
                    for name in names
                    if name != here and floor.get(name, len(FLOORS)) >= floor[here]
                ]
    assert up == []


@pytest.mark.parametrize(
    "path",
    [path for path in [*MODULES, *SCRIPTS] if path.name != "state.py"],
    ids=lambda path: path.name,
)
def test_only_state_knows_session_keys_and_url_parameters(path):
    text = path.read_text(encoding="utf-8")
    assert "session_state" not in text and "st.query_params" not in text


@pytest.mark.parametrize(
    "path",
    [path for path in [*MODULES, *SCRIPTS] if path.name != "data.py"],
    ids=lambda path: path.name,
)
def test_only_data_opens_stores(path):
    assert "open_store(" not in path.read_text(encoding="utf-8")


def test_the_tab_icon_is_a_file_of_our_own():
    text = (DASHBOARD / "app.py").read_text(encoding="utf-8")
    assert 'page_icon=":material' not in text  # Streamlit fetches those from another host
    assert (DASHBOARD / "icon.png").read_bytes().startswith(b"\x89PNG")


def test_every_page_is_in_the_list_and_has_its_script():
    assert [page.id for page in PAGES] == list(BY_ID)
    assert {page.file for page in PAGES} == {
        f"views/{path.name}" for path in (DASHBOARD / "views").glob("*.py")
    }


# The folder of style sheets, scripts and templates makes the one element that the others ask for.
@pytest.mark.parametrize(
    "path",
    [path for path in [*MODULES, *SCRIPTS] if path.parent.name != "assets"],
    ids=lambda path: str(path.relative_to(DASHBOARD)),
)
def test_style_sheets_scripts_and_drawings_are_files(path):
    texts = [
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    assert not [text for text in texts if re.search("<(style|script|svg|table)", text)]
