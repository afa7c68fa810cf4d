"""Whatever comes in by a door (command line, Python, address of a page), what goes out is an answer
or a sentence: one property a door over drawn inputs, and one table of inputs that once failed.
"""

from __future__ import annotations

import ast
import copy
import inspect
import io
import re
import shutil
import signal
import traceback
import warnings
from collections.abc import Callable, Generator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pages import fill, open_page, words_on
from playing import QuickRoom

from dashboard import access
from dashboard.pages import PAGES
from mucore import api, cli, unforeseen
from mucore.cli.commands import app
from mucore.errors import MucoreError, Unforeseen

pytestmark = pytest.mark.slow

DASHBOARD = Path(__file__).resolve().parents[1] / "dashboard"
LIMIT = 60  # seconds: a thing that never ends, and no measure of how fast anything is
LONG, DEEP = "9" * 5000, "[" * 100_000
BASE = "--dataset digits --model mlp --scenario one_class --methods finetune".split()
USUAL = {"dataset": "digits", "model": "mlp", "scenario": "one_class", "methods": "finetune"}


def examples(count: int) -> settings:
    """The same so many at every run."""
    return settings(
        max_examples=count,
        derandomize=True,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )


# -- inputs that nobody means well

NASTY = r"""
² ٣ +-5 --5 -5 5%% % 1_0 0x10 1e400 -1e400 1e-400 nan inf -inf 1.5 0 1 2 20% true none null [] {}
../../etc/passwd /dev/null /dev/zero /dev/stdin /proc/self/mem / ~ ~nobody/x npz:~nobody/x npz:
npz:/dev/zero folder:/proc set:../x @/dev/zero @~nobody/x @ <script> ';drop(table)job;-- ${HOME} %00
%s%n {0} 0,1 0-2 2-0 0-99999999 1,,2 , digits mlp one_class finetune retrain all quick ta cpu
cuda:99 meta scenario.class_id=3 recipe.epochs=1e30 a=b = .= finetune.lr=1,2 🙂
""".split()
MORE = ["", " ", "\n", "\0", "a\0b", "folder:\0", "set:\0", "\udcff", "\u202e", LONG, f"-{LONG}"]
MORE += [DEEP, "x" * 5000, "a/" * 2500, str(2**31), str(2**63), "one_class class_id=²"]
TEXTS = st.one_of(st.sampled_from([*NASTY, *MORE]), st.text(max_size=12))
NET, SOME = torch.nn.Linear(2, 2), (torch.randn(9, 2), torch.arange(9) % 2)
BEGINNING = dict.fromkeys(("plan", "run", "tune"), BASE) | {
    "quality": [*BASE, "--plan"],
    "export": ["--format", "csv"],
    "analyse": ["tsne"],
    "worker": ["--idle-exit", "0"],
    "suite run": "mucore-bench-1-quick --division tuned --methods sisa".split(),
}
COMMANDS = (
    "plan run tune quality results export stats analyse forget-set worker jobs cancel retry "
    "weights methods presets"
).split() + ["suite run"]
TAKING = ("suite run", "cancel", "retry", "weights", "analyse")  # more than flags


@cache
def flags(command: str) -> dict[str, bool]:
    """The flags of a command, and which of them take no value."""
    at = app
    for word in command.split():
        at = at[word]
    found = {one.name: one.hint is bool for one in at.assemble_argument_collection()}
    return {name: bare for name, bare in found.items() if name.startswith("--")} | {
        "--home": False,
        "--nonsense": False,
    }


@st.composite
def command_lines(draw: Callable[..., Any], outputs: str) -> list[str]:
    """A command with flags and values; what is written goes into the folder `outputs`."""
    command = draw(st.sampled_from(COMMANDS))
    line = command.split()
    if draw(st.integers(0, 9)):  # one in ten goes without what it needs
        line += BEGINNING.get(command, [])
    for flag in draw(st.lists(st.sampled_from(sorted(flags(command))), max_size=3)):
        value = draw(TEXTS)
        if flag in ("--output", "--save", "--out"):
            value = f"{outputs}/{value}"
        line += [flag] if flags(command)[flag] else [f"{flag}={value}"]
    if command in TAKING or not draw(st.integers(0, 9)):
        line += draw(st.lists(TEXTS, max_size=2))
    if command == "weights":
        line.append(f"{outputs}/{draw(TEXTS)}")
    return line


SIMPLE: st.SearchStrategy[Any] = st.one_of(
    *(TEXTS, st.none(), st.booleans(), st.integers(), st.floats(), st.binary(max_size=4)),
    st.sampled_from([2**63, range(10**9), object, 1j, Path("x"), b"\xff", ...]),
    st.just(5000).map(lambda digits: 10**digits),  # no tool could write it as an example
    st.builds(object),
)
KEYS = st.one_of(TEXTS, st.integers())
NESTED = st.one_of(SIMPLE, st.lists(SIMPLE, max_size=3), st.dictionaries(KEYS, SIMPLE, max_size=3))
ANYTHING = st.one_of(
    NESTED, st.lists(NESTED, max_size=2), st.dictionaries(KEYS, NESTED, max_size=2)
)
CALLED: dict[str, dict[str, Any]] = {
    **dict.fromkeys(("compare", "forgetting_quality", "tune"), USUAL),
    "statistics": {},
    "evaluate": {"unlearned": NET, "train": SOME, "test": SOME, "forget": [1]},
    "save_weights": {"key": "abc", "path": "abc.pt"},
    "load_model": {"key": "abc"},
    "run_suite": {"name": "mucore-bench-1-quick", "division": "tuned", "methods": "sisa"},
    "verify_pack": {"path": "abc"},
    "write_board": {"packs": "abc", "out": "def"},
    "repeat_run": {"path": "abc", "key": "abc"},
}


@st.composite
def calls(draw: Callable[..., Any]) -> tuple[str, dict[str, Any]]:
    """The name of a function of `mucore.api`, and what it is called with."""
    function = draw(st.sampled_from(sorted(CALLED)))
    taken = inspect.signature(getattr(api, function)).parameters.values()
    known = [one.name for one in taken if one.kind is not one.VAR_KEYWORD]
    names = draw(st.lists(st.sampled_from(known), min_size=1, max_size=3))
    return function, CALLED[function] | {name: draw(ANYTHING) for name in names}


@cache
def parameters() -> list[str]:
    """What pages read from their address: lower-case words that they ask `state` for."""
    found = set()
    for path in DASHBOARD.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("state."):
                texts = [str(one.value) for one in node.args if isinstance(one, ast.Constant)]
                found |= {text for text in texts if re.fullmatch("[a-z0-9_]+", text)}
    return sorted(found)


# an address is text in UTF-8 when it arrives, and no longer than what servers take
WORDS = TEXTS.map(lambda text: text.encode(errors="replace").decode()[:5000])


@st.composite
def addresses(draw: Callable[..., Any]) -> tuple[str, dict[str, Any]]:
    """A page and the parameters of its address."""
    page = draw(st.sampled_from([one.id for one in PAGES]))
    names = draw(st.lists(st.sampled_from(parameters()), min_size=1, max_size=4, unique=True))
    return page, {name: draw(st.one_of(WORDS, st.lists(WORDS, max_size=3))) for name in names}


# -- the doors


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
        patch.setenv("MUCORE_HOME", str(home / "home"))  # `--home` stands there from then on
        patch.chdir(home)  # where names without a folder lie
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = cli.main(line)
    said = err.getvalue()
    assert code in allowed and not unseen, (line, code, said, unseen)
    assert "Traceback" not in said and (code != 2 or 0 < len(said) < 1500), line


def give_to_python(home: Path, function: str, arguments: dict[str, Any], unseen: list[str]) -> bool:
    """Whether it was refused."""
    with warnings.catch_warnings(), watched(), pytest.MonkeyPatch.context() as patch:
        warnings.simplefilter("ignore", UserWarning)
        patch.chdir(home)
        try:
            getattr(api, function)(**arguments)
        except MucoreError as refusal:
            assert not unseen and str(refusal), (function, arguments, unseen)
            return True
    assert not unseen, (function, arguments, unseen)
    return False


def give_to_page(page: str, query: dict[str, Any], unseen: list[str]) -> None:
    with watched():
        at = open_page(page, **query)
    assert not at.exception and not unseen, (page, query, unseen)
    words = words_on(at)
    assert words and access.UNSAID not in words  # a page was drawn, and not refused


@examples(150)
@given(data=st.data())
def test_many_inputs(data: st.DataObject, quiet: Path, unseen: list[str]) -> None:
    """Of ten inputs five command lines, four calls and an address, which takes a second."""
    which = data.draw(st.integers(0, 9))
    if which < 5:
        give_to_command_line(quiet, data.draw(command_lines(str(quiet))), unseen)
    elif which < 9:
        give_to_python(quiet, *data.draw(calls()), unseen)
    else:
        give_to_page(*data.draw(addresses()), unseen)


def test_a_path_that_is_none_costs_its_field_and_not_the_page(
    quiet: Path, unseen: list[str]
) -> None:
    at = open_page("launch", dataset="npz", path="~nouser/x")
    assert not at.exception and not unseen and not at.error and at.multiselect


# -- what failed before

REFUSED = [
    *(["plan", *BASE, f"--budget={text}"] for text in ("²", LONG, "nan", "1e400")),
    ["plan", *BASE, f"--seeds={2**63}"],
    ["plan", *BASE, "--set", f"scenario.class_id={LONG}"],
    ["plan", *BASE, "--set", "recipe.epochs=1e30"],
    ["plan", *BASE, "--original", "/dev/zero"],
    *(["plan", "--dataset", name, *BASE[2:]] for name in ("npz:~nouser/x", "folder:\0")),
    *(["cancel", text] for text in ("nan", str(2**63), DEEP)),
    *(["worker", f"--threads={text}"] for text in ("0", "1.5", str(2**40))),
    *(["analyse", "tsne", "--params", text] for text in (DEEP, "null")),
    *(["tune", *BASE, flag] for flag in ("--trials=0", "--cap=nan", "--jobs=1025", "--seed=-1")),
    *(["results", "--home", text] for text in ("\0", "/dev/null/x", "~nouser/x")),
    ["check", "/dev/zero"],
    ["app", f"--port={LONG}"],
]
WRONG: dict[str, list[Any]] = {
    "methods": [5, ["a\0"], {"finetune": 1}],
    "parameters": ["lr=1", {"finetune": {5: 1}}, {"finetune": {"lr": 10**5000}}],
    "recipe": [5, {"epochs": "²"}],
    "scenario_parameters": [{"class_id": 10**5000}, {"budget": 1j}],
    "device": [5, "cuda:99"],
    "name": ["a\0b", "x" * 5000],
    "home": [5, "/dev/null/x"],
    "original": [5, "/dev/zero"],
    "seeds": ["²", [2**63], range(10**9), []],
    "noise": ["x", float("nan"), [-1]],
    "dataset": [5, "npz:~nouser/x"],
}
WRONG_IN_A_SEARCH: dict[str, list[Any]] = {
    "trials": [0, 1.5, 10**5000],
    "cap": [2, float("nan"), "x"],
    "jobs": [1025],
    "studies": [5, "\0"],
}


def test_command_lines_that_failed_before(quiet: Path, unseen: list[str]) -> None:
    for line in REFUSED:
        give_to_command_line(quiet, line, unseen, allowed=(2,))


@pytest.mark.parametrize(("function", "wrong"), [("compare", WRONG), ("tune", WRONG_IN_A_SEARCH)])
def test_calls_that_failed_before(
    function: str, wrong: dict[str, list[Any]], quiet: Path, unseen: list[str]
) -> None:
    every = [{name: value} for name, values in wrong.items() for value in values]
    taken = [one for one in every if not give_to_python(quiet, function, USUAL | one, unseen)]
    assert not taken


# -- the last step of each door


def failing(error: BaseException) -> Callable[..., None]:
    """In no file, for what a file outside of mucore raises is its caller's."""
    space: dict[str, Any] = {"error": error, "copy": copy.copy}
    exec("def fails(*_, **__): raise copy(error)", space)
    return space["fails"]


NUMBERS = re.compile(r"^\[(\w+)\]", re.MULTILINE)


def test_what_nobody_foresaw_is_a_sentence_with_the_number_of_its_traceback(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("mucore.store.store.Store.__init__", failing(TypeError("a defect")))
    assert cli.main(["jobs"]) == 3
    said = capsys.readouterr().err
    log = tmp_path / "home" / "logs" / unforeseen.FILE
    with pytest.raises(Unforeseen, match="a defect") as problem:
        api.statistics()
    assert isinstance(problem.value.__cause__, TypeError)
    content = log.read_text()
    first, second = NUMBERS.findall(content)
    assert first in said and second == problem.value.reference
    assert str(log) in said and content.count("Traceback") == 2
    with pytest.raises(Unforeseen) as problem:  # the log lies where the call was told to work
        api.statistics(home=tmp_path / "other")
    assert problem.value.reference in (tmp_path / "other" / "logs" / unforeseen.FILE).read_text()


def test_a_page_says_the_number_too(
    quiet: Path, unseen: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # before any page
    monkeypatch.setattr("dashboard.data.has_both", failing(TypeError("a defect")))
    at = open_page("results")
    assert not at.exception and len(unseen) == len(at.error) == 1
    number = NUMBERS.findall((quiet / "home" / "logs" / unforeseen.FILE).read_text())[-1]
    assert number in at.error[0].value and "Traceback" not in words_on(at)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (MemoryError(), 2),
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB."), 2),
        (OSError(28, "No space left on device"), 2),
        (PermissionError(13, "Permission denied", "/home/store"), 2),
        (KeyboardInterrupt(), 130),
        (RecursionError("too deep"), 3),
    ],
)
def test_troubles_of_the_machine_need_no_log(
    error: BaseException,
    code: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr("mucore.store.store.Store.__init__", failing(error))
    assert cli.main(["jobs"]) == code
    assert (tmp_path / "home" / "logs" / unforeseen.FILE).exists() == (code == 3)
    assert 0 < len(capsys.readouterr().err) < 1500
