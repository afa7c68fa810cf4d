"""Whatever comes in by a door (command line, Python, address of a page), what goes out is an answer
or a sentence. The short form is part of `make test`; the long one takes a thousand inputs.
"""

from __future__ import annotations

import io
import json
import re
import shutil
import signal
import sqlite3
import traceback
import warnings
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import hostile
import pytest
from builders import make_spec_row
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pages import fill, open_page, words_on
from playing import QuickRoom

from dashboard import access
from dashboard.pages import PAGES
from mucore import api, cli, unforeseen
from mucore.errors import MucoreError, Unforeseen
from mucore.runner.plan import Grid, ScenarioChoice
from mucore.store import open_store
from mucore.tuning import objective, search
from mucore.tuning.task import tasks_of

compare: Any = api.compare  # whatever it is called with
tune: Any = api.tune
LIMIT = 60  # seconds: a thing that never ends, and no measure of how fast anything is


def examples(count: int) -> settings:
    """The same so many at every run."""
    return settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


class Hangs(BaseException):
    """An input took so long that it may never end."""


@contextmanager
def watched() -> Generator[None]:
    """Raise `Hangs` where what is inside takes longer than `LIMIT`."""

    def ring(*_: object) -> None:
        raise Hangs

    before = signal.signal(signal.SIGALRM, ring)
    remaining, _ = signal.setitimer(signal.ITIMER_REAL, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, remaining)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture
def unseen(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The tracebacks of what was not foreseen."""
    found: list[str] = []
    told = unforeseen.told

    def noted(error: Exception, *rest: Any, **named: Any) -> MucoreError:
        sentence = told(error, *rest, **named)
        if isinstance(sentence, Unforeseen):
            found.append("".join(traceback.format_exception(error)))
        return sentence

    monkeypatch.setattr(unforeseen, "told", noted)
    return found


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with results, which tests copy."""
    home = tmp_path_factory.mktemp("filled") / "home"
    fill(home, "full")
    return home


@pytest.fixture
def quiet(filled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a home with results in it, in which nothing is computed."""
    shutil.copytree(filled, tmp_path / "home")
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("mucore.runner.worker.work", lambda *_, **__: None)
    monkeypatch.setattr("mucore.runner.analyses.work_on", lambda *_, **__: None)
    monkeypatch.setattr("mucore.runner.worker.stop_on_signals", lambda: None)
    for name in ("run", "references"):
        monkeypatch.setattr(f"mucore.tuning.search.Search.{name}", lambda *_, **__: [])
    monkeypatch.setattr("dashboard.playroom.room", QuickRoom)
    ended = SimpleNamespace(wait=lambda *_: 0, poll=lambda: 0)
    monkeypatch.setattr("mucore.tuning.together._start", lambda *_: ended)
    monkeypatch.setattr("torch.set_num_threads", lambda _: None)
    return tmp_path


def give_to_command_line(
    home: Path, line: list[str], unseen: list[str], *, allowed: tuple[int, ...] = (0, 1, 2)
) -> None:
    with pytest.MonkeyPatch.context() as patch, watched():
        patch.setenv("MUCORE_HOME", str(home / "home"))
        patch.chdir(home)  # where names without a folder lie
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = cli.main(line)
    said = err.getvalue()
    assert code in allowed and (code == 3) == bool(unseen), (line, code, said, unseen)
    assert "Traceback" not in said


def give_to_python(home: Path, call: tuple[str, dict[str, Any]], unseen: list[str]) -> None:
    function, arguments = call
    with warnings.catch_warnings(), watched(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore", UserWarning)
        patch.chdir(home)
        try:
            getattr(api, function)(**arguments)
        except MucoreError:
            pass
    assert not unseen, (call, unseen)


def give_to_page(page: str, query: dict[str, Any], unseen: list[str]) -> None:
    with watched():
        at = open_page(page, **query)
    assert not at.exception and not unseen, (page, query, unseen)
    words = words_on(at)
    assert words and access.UNSAID not in words  # a page was drawn, and not refused


@examples(80)
@given(data=st.data())
def test_command_lines(data: st.DataObject, quiet: Path, unseen: list[str]) -> None:
    give_to_command_line(quiet, data.draw(hostile.command_lines(str(quiet))), unseen)


@examples(80)
@given(call=hostile.calls())
def test_calls_from_python(call: Any, quiet: Path, unseen: list[str]) -> None:
    give_to_python(quiet, call, unseen)


@examples(8)
@given(address=hostile.addresses())
def test_addresses(address: Any, quiet: Path, unseen: list[str]) -> None:
    give_to_page(*address, unseen)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@examples(1000)
@given(data=st.data())
def test_a_thousand_inputs(data: st.DataObject, quiet: Path, unseen: list[str]) -> None:
    """Of ten inputs five command lines, four calls and an address, which takes a second."""
    which = data.draw(st.integers(0, 9))
    if which < 5:
        give_to_command_line(quiet, data.draw(hostile.command_lines(str(quiet))), unseen)
    elif which < 9:
        give_to_python(quiet, data.draw(hostile.calls()), unseen)
    else:
        give_to_page(*data.draw(hostile.addresses()), unseen)


@pytest.mark.slow
@pytest.mark.parametrize("page", [one.id for one in PAGES])
@pytest.mark.parametrize("text", ["\0", "a\0b", "x" * 5000, "9" * 5000, "²", "[" * 5000])
def test_every_page_with_every_parameter(
    page: str, text: str, quiet: Path, unseen: list[str]
) -> None:
    give_to_page(page, dict.fromkeys(hostile.parameters(), text), unseen)


def test_a_path_that_is_none_costs_its_field_and_not_the_page(
    quiet: Path, unseen: list[str]
) -> None:
    for path in ("\0", "~nouser/x", "x" * 5000):
        at = open_page("launch", dataset="npz", path=path)
        assert not at.exception and not unseen and not at.error and at.multiselect


# -- what was found before, one by one

BASE = "--dataset digits --model mlp --scenario one_class --methods finetune".split()
LONG = "9" * 5000
FOUND = [
    *(["plan", *BASE, f"--budget={text}"] for text in ("²", "+-5", "--5", LONG, "nan", "1e400")),
    *(["plan", *BASE, f"--seeds={text}"] for text in ("²", LONG, f"0-{LONG}", str(2**63))),
    *(["plan", *BASE, "--set", f"scenario.class_id={text}"] for text in (LONG, "²", "1e30")),
    *(["plan", *BASE, "--set", f"recipe.epochs={text}"] for text in (LONG, "1e30", "²")),
    *(["plan", "--dataset", name, *BASE[2:]] for name in ("npz:~nouser/x", "npz:\0", "folder:\0")),
    *(["plan", "--dataset", f"npz:{'x' * 5000}", *BASE[2:]],),
    *([command, text] for command in ("cancel", "retry") for text in ("1.5", LONG, "1e30", "-1")),
    *([command, text] for command in ("cancel", "retry") for text in ("nan", "²", str(2**63), "2")),
    *([command, "[" * 100_000] for command in ("cancel", "retry")),
    ["suite", "board", "[" * 100_000, "--out", "x"],
    *(["jobs", f"--limit={text}"] for text in (LONG, "0", "-1", "1.5", str(2**63))),
    *(["worker", f"--threads={text}"] for text in (LONG, "0", "-1", "1.5", str(2**40))),
    *(["worker", f"--parent-pid={text}"] for text in ("-1", "0", LONG, str(2**63))),
    *(["worker", f"--idle-exit={text}"] for text in ("nan", "-1", "inf")),
    *(["analyse", "tsne", "--params", text] for text in ("[" * 100_000, '{"a":' * 100_000, "null")),
    *(["tune", *BASE, f"--trials={text}"] for text in ("0", "1.5", "10001", LONG, "²")),
    *(["tune", *BASE, f"--seed={text}"] for text in ("-1", "3", "1.5", str(2**63 - 2), LONG)),
    *(["tune", *BASE, f"--cap={text}"] for text in ("0", "2", "nan", "inf", "-1")),
    *(["tune", *BASE, f"--jobs={text}"] for text in ("0", "1.5", "1025", LONG)),
    *(["tune", *BASE, f"--studies={text}"] for text in ("~nouser/x", "\0", "x" * 5000)),
    ["forget-set", "--verify", "/dev/zero"],
    ["forget-set", "--verify", "\0"],
    ["plan", *BASE, "--original", "~nouser/x"],
    ["plan", *BASE, "--original", "/dev/zero"],
    ["results", "--home", "\0"],
    ["results", "--home", "/dev/null/x"],
    ["results", "--home", "~nouser/x"],
    ["check", "/dev/zero"],
    ["check", "\0"],
    ["app", f"--port={LONG}"],
    ["app", "--port=²"],
]


@pytest.mark.parametrize("line", FOUND, ids=lambda line: " ".join(line)[:60].replace("\0", "NUL"))
def test_command_lines_that_failed_before(
    line: list[str],
    quiet: Path,
    unseen: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(quiet)
    with watched():
        code = cli.main(line)
    said = capsys.readouterr().err
    # `--home` stands in the environment of this process from here on; the fixture takes it back
    assert code == 2 and not unseen, said
    assert 0 < len(said) < 1500 and "Traceback" not in said


def test_a_number_with_a_point_is_no_job(quiet: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_store(quiet / "home") as store:
        jobs = store.enqueue([make_spec_row(method=name) for name in ("ssd", "scrub")])
        assert [job.id for job in jobs] == [1, 2]
        for text in ("1.5", "2.0", "0x2", "1e0", "2,0", "٢"):
            assert cli.main(["cancel", text]) == 2
        assert {job.state for job in store.jobs()} == {"queued"}
        assert cli.main(["cancel", "1"]) == 0
        assert [job.state for job in store.jobs()] == ["cancelled", "queued"]
        assert cli.main(["retry", "1.5"]) == 2 and len(store.jobs()) == 2


def test_where_there_are_no_jobs_none_is_called_known(
    quiet: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["cancel", "2"]) == 2
    said = capsys.readouterr().err
    assert "'2'" in said and "Known" not in said


WRONG: dict[str, list[Any]] = {
    "methods": [5, None, [5], ["a\0"], {"finetune": 1}, b"finetune", [[]]],
    "parameters": [5, "lr=1", [1], {"finetune": 5}, {5: {}}, {"finetune": {5: 1}}],
    "recipe": [5, "x", [1], {5: 1}, {"epochs": "²"}, {"epochs": 10**5000}],
    "scenario_parameters": [5, [1], {"class_id": 10**5000}, {"budget": 1j}],
    "device": [5, None, "\0", "cuda:99", "x" * 5000, "meta"],
    "name": [5, None, "a\0b", "\udcff", "x" * 5000, ["x"]],
    "home": [5, "\0", "/dev/null/x", "~nouser/x", b"x"],
    "original": [5, "\0", "/dev/zero", "x" * 5000],
    "seeds": ["²", [2**63], [-1], None, 1.5, ["1.5"], []],
    "noise": ["x", float("nan"), [-1], None],
    "dataset": [5, "\0", "npz:~nouser/x", "npz:\0"],
}
RATES = ([], {}, "²", 10**5000, object(), True)
WRONG["parameters"] += [{"finetune": {"lr": value}} for value in RATES]
CALLS = [{name: value} for name, values in WRONG.items() for value in values]


@pytest.mark.parametrize("changes", CALLS, ids=lambda changes: " ".join(changes))
def test_calls_that_failed_before(
    changes: dict[str, Any], quiet: Path, unseen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(quiet)
    usual = {"dataset": "digits", "model": "mlp", "scenario": "one_class", "methods": "finetune"}
    with pytest.raises(MucoreError) as problem, watched():
        compare(**usual | changes)
    assert not unseen and 0 < len(str(problem.value)) < 1500


TUNED: dict[str, list[Any]] = {
    "trials": [0, 1.5, 10_001, 10**5000, "²", None],
    "seed": [-1, 3, 2**63 - 2, 10**5000, None],
    "cap": [0, 2, float("nan"), "x", None],
    "jobs": [0, 1025, 1.5, None],
    "studies": [5, "~nouser/x", "\0", "x" * 5000, b"x"],
    "device": [5, "cuda:99", "\0"],
}
TUNED_CALLS = [{name: value} for name, values in TUNED.items() for value in values]


@pytest.mark.parametrize("changes", TUNED_CALLS, ids=lambda changes: " ".join(changes))
def test_wrong_wishes_for_a_search(
    changes: dict[str, Any], quiet: Path, unseen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(quiet)
    usual = {"dataset": "digits", "model": "mlp", "scenario": "one_class", "methods": "finetune"}
    with pytest.raises(MucoreError) as problem, watched():
        tune(**usual | changes)
    assert not unseen and 0 < len(str(problem.value)) < 1500


WHOLE_STUDY: dict[str, Any] = {
    "rule": objective.revision("one_class"),
    "task": {},
    "study": {
        "method": "finetune",
        "revision": search.revision_of("finetune"),
        "seed": 100,
        "cap": 0.3,
        "open": False,
    },
    "trials": [{"seed": 100, "values": {"lr": 0.1}, "score": 1.0, "work": 0.1, "seconds": 1.0}],
}
WHOLE_FACTS: dict[str, Any] = {
    "rule": objective.revision("one_class"),
    "task": {},
    "sizes": {},
    "units": {},
    "retrains": {},
    "seeds": {},
}
DAMAGED_STUDIES = ["", "{", "[]", "5", '"x"', "[" * 100_000]
DAMAGED_STUDIES += [
    json.dumps(WHOLE_STUDY | change)
    for change in (
        {"rule": []},
        {"rule": 10**9},
        {"study": []},
        {"study": {}},
        {"study": {**WHOLE_STUDY["study"], "seed": "x"}},
        {"study": {**WHOLE_STUDY["study"], "open": None, "more": 1}},
        {"trials": 5},
        {"trials": [5]},
        {"trials": [{**WHOLE_STUDY["trials"][0], "score": "x"}]},
        {"trials": [{**WHOLE_STUDY["trials"][0], "values": [1]}]},
        {"trials": [{**WHOLE_STUDY["trials"][0], "seed": None}]},
    )
]
DAMAGED_STUDIES += [
    json.dumps(WHOLE_FACTS | change)
    for change in ({"units": 5}, {"units": {"fa": "x"}}, {"seeds": [1]}, {"retrains": {"0": 1}})
]


@pytest.mark.parametrize("content", DAMAGED_STUDIES, ids=lambda content: content[:40])
def test_damaged_files_of_a_search_are_said(content: str, quiet: Path, unseen: list[str]) -> None:
    (task,) = tasks_of(
        Grid(dataset="digits", model="mlp", scenarios=[ScenarioChoice(id="one_class")], methods=[])
    )
    folder = quiet / "studies" / task.name
    folder.mkdir(parents=True)
    line = ["tune", *BASE, f"--studies={quiet / 'studies'}"]
    for name, more in (("finetune", ["--plan"]), ("finetune", []), ("task", ["--plan"])):
        (folder / f"{name}.json").write_text(content)
        give_to_command_line(quiet, [*line, *more], unseen, allowed=(2,))
        (folder / f"{name}.json").unlink()
    (quiet / "home" / "tuned.json").write_text(content)
    give_to_command_line(quiet, line, unseen, allowed=(2,))


# -- the last step of each door


def break_(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Make every opening of a store end in a defect."""

    space: dict[str, Any] = {"error": error}
    # in no file, for what a file outside of mucore raises is its caller's
    exec("def fails(*_, **__): raise error", space)
    monkeypatch.setattr("mucore.store.store.Store.__init__", space["fails"])


def test_what_nobody_foresaw_is_a_sentence_with_the_number_of_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    break_(monkeypatch, TypeError("a defect"))
    assert cli.main(["jobs"]) == 3
    said = capsys.readouterr().err
    log = tmp_path / "home" / "logs" / unforeseen.FILE
    with pytest.raises(Unforeseen, match="a defect") as problem:
        api.statistics()
    assert isinstance(problem.value.__cause__, TypeError)
    content = log.read_text()
    numbers = re.findall(r"^\[(\w+)\]", content, re.MULTILINE)
    assert len(numbers) == 2 and numbers[0] in said and numbers[1] == problem.value.reference
    assert str(log) in said and content.count("Traceback") == 2


def test_a_page_says_the_number_too(
    quiet: Path, unseen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    space: dict[str, Any] = {}
    exec("def fails(*_, **__): raise TypeError('a defect')", space)
    monkeypatch.setattr("dashboard.data.has_both", space["fails"])  # before any page
    at = open_page("results")
    assert not at.exception and len(unseen) == len(at.error) == 1
    number = re.findall(
        r"^\[(\w+)\]", (quiet / "home" / "logs" / unforeseen.FILE).read_text(), re.MULTILINE
    )
    assert number[-1] in at.error[0].value and "Traceback" not in words_on(at)


def test_a_home_that_cannot_be_written_sends_the_log_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(unforeseen.tempfile, "gettempdir", lambda: str(tmp_path / "temporary"))
    told = unforeseen.told(KeyError("x"), "test", home=tmp_path / "file")
    assert isinstance(told, Unforeseen)
    assert told.reference in next((tmp_path / "temporary").rglob(unforeseen.FILE)).read_text()
    monkeypatch.setattr(unforeseen.tempfile, "gettempdir", lambda: str(tmp_path / "file"))
    assert isinstance(unforeseen.told(KeyError("x"), "test", home=tmp_path / "file"), Unforeseen)


def test_the_log_does_not_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unforeseen, "_MOST_BYTES", 1000)
    for _ in range(30):
        unforeseen.told(KeyError("x" * 300), "test", home=tmp_path)
    files = list((tmp_path / "logs").iterdir())
    assert len(files) == 2 and sum(file.stat().st_size for file in files) < 4000


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), 2),
        (OSError(28, "No space left on device"), 2),
        (PermissionError(13, "Permission denied", "/home/store"), 2),
        (OSError(30, "Read-only file system", "/home/store"), 2),
        (KeyboardInterrupt(), 130),
        (RecursionError("too deep"), 3),
    ],
)
def test_troubles_of_the_machine_need_no_log(
    error: Exception,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    break_(monkeypatch, error)
    assert cli.main(["jobs"]) == code
    assert (tmp_path / "home" / "logs" / unforeseen.FILE).exists() == (code == 3)
    assert 0 < len(capsys.readouterr().err) < 1500


class Mine(Exception):
    """Of somebody's own code."""


def test_errors_of_the_callers_code_stay_what_they_are(quiet: Path) -> None:
    def seeds() -> Generator[int]:
        yield 0
        raise Mine("a bug of mine")

    class Values(Mapping):
        def __iter__(self) -> Iterator[str]:
            return iter(["finetune"])

        def __len__(self) -> int:
            return 1

        def __getitem__(self, name: str) -> object:
            raise ValueError("a bug of mine")

    usual: dict[str, Any] = {"dataset": "digits", "model": "mlp", "methods": "finetune"}
    with pytest.raises(Mine):
        compare(**usual, seeds=seeds())
    with pytest.raises(ValueError, match="of mine"):
        compare(**usual, parameters=Values())
    with pytest.raises(TypeError, match="nonsense"):
        compare(**usual, nonsense=1)


def test_warnings_that_a_caller_turned_into_errors_stay_what_they_are(
    quiet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mucore.fitting.free_memory", lambda: 1.0)
    monkeypatch.setattr("mucore.engine.chunks.free_bytes", lambda _: 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(UserWarning, match="memory"):
            compare(dataset="digits", model="mlp", scenario="one_class", methods="finetune")


# -- a store that somebody or something damaged


DAMAGES = {
    "job.spec": ["{", "[" * 100_000, "{}", "5", '{"dataset": 1}'],
    "job.needs": ["[", "5"],
    "job.losses": ["", "{}"],
    "job.deaths": ["x", "[]"],
    "job.queued": ["yesterday"],
    "job.state": ["odd"],
    "result.record": ["{", "{}", '{"spec": 5}'],
    "result.metric_names": ["5", "[1]"],
    "result.metric_numbers": ["[]", "{"],
    "result.finished": ["tomorrow"],
    "result.parameters": ["{"],
    "result.training_seed": ["x"],
    "comparison.grid": ["{", "[1]"],
    "comparison.created": ["never"],
}
OF_A_STORE = [
    *("jobs", "jobs --json", "results", "results --json", "stats", "export --format csv"),
    *(f"plan {' '.join(BASE)}", "cancel 1", "retry 1", "results --comparison 1"),
]


@pytest.mark.parametrize(
    ("place", "value"), [(place, value) for place, values in DAMAGES.items() for value in values]
)
def test_damaged_rows_are_said(place: str, value: str, quiet: Path, unseen: list[str]) -> None:
    with open_store(quiet / "home") as store:
        store.enqueue([make_spec_row(method="ssd")])
    with sqlite3.connect(quiet / "home" / "store.sqlite") as connection:
        table, _, column = place.partition(".")
        connection.execute(f"UPDATE {table} SET {column} = ?", (value,))
    connection.close()
    pages = {"job": ("queue",), "result": ("results",), "comparison": ("queue", "results")}
    for page in pages[table]:
        at = open_page(page)
        assert not at.exception and "Traceback" not in words_on(at)
    for line in OF_A_STORE:
        unseen.clear()
        give_to_command_line(quiet, line.split(), unseen)
