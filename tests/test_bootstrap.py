"""Installation and the commands around it: pinned versions, sentences of make, nothing that names
one machine.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
needs_make = pytest.mark.skipif(
    shutil.which("make") is None or shutil.which("bash") is None,
    reason="make or bash is not installed",
)


def make(*arguments: str, cwd: Path = ROOT, **environment: str) -> subprocess.CompletedProcess[str]:
    # A make above this one would pass its own flags and exports down.
    own = ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "ARGS", "PYTHON", "UV_FIND_LINKS")
    inherited = {name: value for name, value in os.environ.items() if name not in own}
    return subprocess.run(
        ["make", *arguments],
        cwd=cwd,
        env=inherited | environment,
        capture_output=True,
        text=True,
        timeout=60,
    )


def project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def name_of(requirement: str) -> str:
    return re.sub(r"[-_.]+", "-", re.split(r"[\s\[=<>!~;]", requirement)[0]).lower()


@pytest.fixture
def checkout(tmp_path) -> Path:
    """The files that make reads, without a virtual environment."""
    for name in ("Makefile", "pyproject.toml", "constraints.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def fake(path: Path, script: str) -> Path:
    path.write_text(f"#!/bin/bash\n{script}\n")
    path.chmod(0o755)
    return path


def fake_python(path: Path, inner: str) -> Path:
    """A Python whose `-m venv` makes an environment with a python that does `inner`."""
    create = (
        f'mkdir -p "$3/bin"; printf \'#!/bin/bash\\n{inner}\\n\' > "$3/bin/python"; chmod +x '
        '"$3/bin/python"'
    )
    return fake(path, f'[ "$2" = venv ] && {{ {create}; }}; exit 0')


def test_constraints_pin_every_direct_dependency_without_a_build_tag():
    lines = [
        line
        for line in (ROOT / "constraints.txt").read_text().splitlines()
        if line and not line.startswith("#")
    ]
    assert all(re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9A-Za-z.]*", line) for line in lines)
    pinned = {name_of(line) for line in lines}
    assert len(pinned) == len(lines)
    assert {"torch==2.13.0", "torchvision==0.28.0"} <= set(lines)
    content = project()
    extras = content["optional-dependencies"]
    asked = [*content["dependencies"], *extras["test"], *extras["export"], *extras["postgres"]]
    assert {name_of(requirement) for requirement in asked} <= pinned


def test_no_file_of_the_installation_names_a_registry():
    for name in (
        "pyproject.toml",
        "constraints.txt",
        "Makefile",
        ".ci/run",
        "README.md",
        "run_app.py",
    ):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert re.search(r"index-url|://[^\s)]*(simple|pypi|whl)", text) is None, name


@needs_make
def test_missing_python_is_a_sentence(checkout):
    done = make("app", "PYTHON=python-that-is-not-there", cwd=checkout)
    assert done.returncode != 0
    assert "No python-that-is-not-there was found. Install Python 3.11 or newer" in done.stderr
    assert "Traceback" not in done.stderr and not (checkout / ".venv").exists()


@needs_make
def test_an_old_python_is_a_sentence(checkout):
    old = fake(
        checkout / "old-python", '[ "$1" = --version ] && echo "Python 3.9.2" && exit 0; exit 1'
    )
    done = make("app", f"PYTHON={old}", cwd=checkout)
    assert done.returncode != 0
    assert "is Python 3.9.2, but 3.11 or newer is needed" in done.stderr
    assert not (checkout / ".venv").exists()


@needs_make
def test_a_full_disk_is_a_sentence(checkout):
    (checkout / "bin").mkdir()
    fake(
        checkout / "bin" / "df",
        'echo "Filesystem 1024-blocks Used Available Capacity Mounted"; echo "disk 1000 990 10 '
        '99% /"',
    )
    python = fake_python(checkout / "python", "exit 0")
    done = make(
        "app",
        f"PYTHON={python}",
        cwd=checkout,
        PATH=f"{checkout / 'bin'}{os.pathsep}{os.environ['PATH']}",
    )
    assert done.returncode != 0 and "Make room first" in done.stderr


@needs_make
@pytest.mark.parametrize("with_uv", [True, False])
def test_installing_uses_the_constraints_and_happens_once(checkout, with_uv):
    """With stand-ins for Python, uv and pip that write down how they were called."""
    tools = checkout / "bin"
    tools.mkdir()
    calls = checkout / "calls.txt"
    fake(
        tools / "df",
        'echo "Filesystem 1024-blocks Used Available Capacity Mounted"; echo "disk 9 9 99000000 '
        '9% /"',
    )
    fake(tools / "uv", f'echo "uv $* links=$UV_FIND_LINKS" >> {calls}; exit {0 if with_uv else 1}')
    inner = f'echo "python $*" >> {calls}'
    python = fake_python(checkout / "python", inner)
    environment = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}", "PIP_FIND_LINKS": "/a /b"}
    first = make("app", f"PYTHON={python}", "ARGS=--port 8600", cwd=checkout, **environment)
    assert first.returncode == 0, first.stderr
    called = calls.read_text().splitlines()
    assert called[0] == (
        "uv pip install --quiet --python .venv/bin/python -c constraints.txt -e .[export] "
        "links=/a,/b"
    )
    if not with_uv:  # it failed, so pip must come to the rescue
        assert called.pop(1) == (
            "python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e "
            ".[export]"
        )
    assert called[1:] == ["python run_app.py --port 8600"]

    calls.unlink()
    assert make("app", f"PYTHON={python}", cwd=checkout, **environment).returncode == 0
    assert calls.read_text().splitlines() == ["python run_app.py"]


@needs_make
def test_make_test_checks_everything():
    steps = make("-n", "test").stdout
    order = [
        steps.index(step)
        for step in (
            "ruff check .",
            "ruff format --check .",
            "ty check",
            '-m pytest -m "not slow and',
        )
    ]
    assert order == sorted(order)
    everything = make("-n", "test-all").stdout
    assert "not slow" not in everything and "-m pytest" in everything


def test_ci_runs_every_test():
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    text = script.read_text()
    assert "set -euo pipefail" in text
    assert """\nmake test ARGS="-m '' """ in text  # the last -m counts, and leaves nothing out
    if shutil.which("bash"):
        assert subprocess.run(["bash", "-n", str(script)]).returncode == 0
