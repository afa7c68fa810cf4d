"""The built wheel alone, in an environment of its own: it computes on embedded data and opens the
pages, far from the checkout.
"""

from __future__ import annotations

import json
import os
import signal
import site
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
import venv
import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from mucore import shipped

ROOT = Path(__file__).resolve().parents[1]
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals"),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("hatchling", reason="hatchling, which builds the wheel, is not installed")
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True, timeout=120)
    (built,) = folder.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def scripts(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of an environment with the wheel, and beside it the packages that
    these tests run with, but not the checkout.
    """
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder, with_pip=False)
    python = folder / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps"]
    subprocess.run([*install, "--no-index", str(wheel)], check=True, timeout=120)
    (packages,) = (folder / "lib").glob("python*/site-packages")
    (packages / "others.pth").write_text("\n".join(site.getsitepackages()), encoding="utf-8")
    return python.parent


@pytest.fixture
def alone(tmp_path: Path) -> dict[str, str]:
    """Variables of a process that knows nothing of the checkout, with a home of its own."""
    kept = {
        name: text
        for name, text in os.environ.items()
        if name != "PYTHONPATH" and not name.startswith(("MUCORE_", "STREAMLIT_", "PYTEST_"))
    }
    return kept | {"MUCORE_HOME": str(tmp_path / "home"), "OMP_NUM_THREADS": "1"}


def test_what_is_no_code_is_in_the_wheel(wheel: Path):
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assets = [path.relative_to(ROOT) for path in (ROOT / "dashboard" / "assets").iterdir()]
    assert {str(path) for path in assets if path.suffix} <= names
    data = [path for path in shipped.DATA.rglob("*") if path.is_file()]
    wanted = {
        f"mucore/_shipped/{path.relative_to(ROOT)}" for path in data if "printed" not in path.parts
    }
    assert len(wanted) > 50 and wanted <= names
    assert {"dashboard/.streamlit/config.toml", "mucore/_shipped/docs/fidelity.md"} <= names
    assert not [name for name in names if name.startswith(("tests/", "scripts/", "data/"))]


def test_it_runs_a_comparison_on_embedded_data(scripts: Path, alone, tmp_path: Path):
    grid = "--dataset digits --model mlp --preset quick --scenario class_wise --methods finetune"
    short = "--set recipe.epochs=1 --seeds 0 --device cpu --json"
    run = [str(scripts / "mucore"), "run", *grid.split(), *short.split()]
    done = subprocess.run(run, cwd=tmp_path, env=alone, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert {line["spec"]["method"] for line in lines} >= {"retrain", "finetune"}


# Where the packages and the embedded Fashion-MNIST lie, and a page that reads files which come with
# the program.
PAGE = """
import sys
from pathlib import Path
import dashboard, mucore
from mucore.datasets.fashion_mnist import EMBEDDED
from streamlit import config
from streamlit.testing.v1 import AppTest
config.set_option("server.address", "127.0.0.1")  # as `mucore app` does
for file in (mucore.__file__, dashboard.__file__, EMBEDDED):
    assert Path(file).is_file() and Path(file).is_relative_to(sys.prefix), file
opened = AppTest.from_file(str(Path(dashboard.__file__).parent / "app.py"), default_timeout=120)
opened.run()
opened.query_params["tab"] = "papers"
opened.switch_page("views/reference.py").run()
assert not opened.exception and not opened.error, [one.value for one in opened.error]
print(len(opened.markdown))
"""


def test_a_page_finds_its_files(scripts: Path, alone, tmp_path: Path):
    show = [str(scripts / "python"), "-c", PAGE]
    done = subprocess.run(
        show, cwd=tmp_path, env=alone, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) > 10


def test_it_opens_the_pages(scripts: Path, alone, tmp_path: Path):
    with opened(scripts, alone, tmp_path) as url:
        assert read(f"{url}/_stcore/health") == b"ok"
        assert b"<title>" in read(url)


@contextmanager
def opened(scripts: Path, variables: dict[str, str], folder: Path) -> Generator[str]:
    """The address of the running pages."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    said = folder / "said.txt"
    command = [str(scripts / "mucore"), "app", "--port", str(port), "--no-browser"]
    with said.open("wb") as sink:
        process = subprocess.Popen(
            [*command, "--device", "cpu"], cwd=folder, env=variables, stdout=sink, stderr=sink
        )
    try:
        end = time.monotonic() + 90
        while b"mucore is at" not in said.read_bytes():
            assert process.poll() is None and time.monotonic() < end, said.read_text()
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(timeout=60)


def read(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.read()
    except urllib.error.URLError as error:
        raise AssertionError(f"{url}: {error}") from error
