"""A pack of the quick twin with two methods, and a smaller one of the same runs to tamper with."""

import gzip
import hashlib
import json
import shutil
from pathlib import Path

import make_suites
import pyarrow as pa
import pytest
from boards import tuned_for

import mucore.api as mu
from mucore import cli
from mucore.catalog import tuning
from mucore.runner.session import Session
from mucore.store import open_store
from mucore.suite import description, pack
from mucore.suite.verify import verify

QUICK = "mucore-bench-1-quick"
TINY = "tiny"


@pytest.fixture(scope="session")
def ran(tmp_path_factory):
    """A home in which the quick twin was run with finetune and scrub_rewind, and its pack."""
    folder = tmp_path_factory.mktemp("suite")
    out = folder / "quick.zip"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MUCORE_HOME", str(folder / "home"))
        asked = ["--division", "authors", "--methods", "finetune,scrub_rewind", "--out", str(out)]
        assert cli.main(["suite", "run", QUICK, *asked]) == 0
    return folder / "home", out


@pytest.fixture(scope="session")
def tiny_folder(tmp_path_factory):
    """The suites' folder with one more: a whole class and three seeds, on the quick twin's data."""
    folder = tmp_path_factory.mktemp("suites")
    for file in description.FOLDER.glob("*.json"):
        shutil.copy(file, folder)
    quick = description.load(QUICK)
    with open_store(tmp_path_factory.mktemp("hashes")) as store:
        session = Session(store, "cpu")
        task = make_suites.task_of("digits", "mlp", "standard", "class_wise", session)
    tiny = quick.model_copy(
        update={"id": TINY, "tasks": (task,), "training_seeds": quick.training_seeds[:3]}
    )
    (folder / f"{TINY}.json").write_text(tiny.model_dump_json(), encoding="utf-8")
    return folder


@pytest.fixture(scope="session")
def tiny_pack(ran, tiny_folder, tmp_path_factory):
    """Made from Python, in the home of the quick twin, whose originals it shares."""
    with pytest.MonkeyPatch.context() as patch, pytest.warns(UserWarning, match="scrub_rewind"):
        patch.setattr(description, "FOLDER", tiny_folder)
        return mu.run_suite(
            TINY,
            division="authors",
            methods=["finetune", "scrub_rewind"],
            out=tmp_path_factory.mktemp("tiny") / "pack",
            home=ran[0],
        )


@pytest.fixture
def tuned_pack(ran, tiny_folder, tmp_path, monkeypatch):
    """Of the tuned division, with a setting of 100 trials, as if it came with mucore."""
    monkeypatch.setattr(description, "FOLDER", tiny_folder)
    (task,) = description.load(TINY).tasks
    found = tuned_for(task, values={"lr": 0.02}, trials=100, cap=1 / 3)
    monkeypatch.setattr(tuning, "shipped", lambda: (found,))
    place = {"out": tmp_path / "tuned", "home": ran[0]}
    return mu.run_suite(TINY, division="tuned", methods=["finetune"], **place)


class Tampered:
    """A copy of a pack, gzipped as older ones are, that can be changed with all hashes anew, as a
    liar would.
    """

    def __init__(self, original: Path, folder: Path):
        self.path = folder / "pack"
        shutil.copytree(original, self.path)
        (rows,) = (self.path / "results").iterdir()
        self.rows = [json.loads(line) for line in pa.input_stream(rows).read().splitlines()]
        self.rows_file = rows.rename(rows.with_suffix(".gz"))
        self.about = json.loads((self.path / "pack.json").read_text())
        del self.about["sha256"][rows.relative_to(self.path).as_posix()]
        self.save()

    def row(self, method: str, seed: int = 1, scenario: str | None = "class_wise"):
        (found,) = [
            row
            for row in self.rows
            if (row["spec"]["method"], row["spec"]["training_seed"], row["spec"]["scenario"])
            == (method, seed, scenario)
        ]
        return found

    def save(self):
        content = gzip.compress("".join(json.dumps(row) + "\n" for row in self.rows).encode())
        self.rows_file.write_bytes(content)
        name = self.rows_file.relative_to(self.path).as_posix()
        self.about["sha256"][name] = hashlib.sha256(content).hexdigest()
        (self.path / "pack.json").write_text(json.dumps(self.about))

    def problems(self):
        """What `verify` says of it now."""
        self.save()
        with pack.opened(self.path) as opened:
            return verify(opened).problems


@pytest.fixture
def tampered(tiny_pack, tiny_folder, tmp_path, monkeypatch):
    monkeypatch.setattr(description, "FOLDER", tiny_folder)
    return Tampered(tiny_pack, tmp_path)


@pytest.fixture
def tampered_tuned(tuned_pack, tmp_path):
    return Tampered(tuned_pack, tmp_path)
