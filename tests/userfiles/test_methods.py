"""Methods that were written on a page: kept in the home with every version, used like others."""

from __future__ import annotations

from pathlib import Path

import own_methods
import pytest
from builders import make_spec_row

from mucore import catalog
from mucore import methods as core
from mucore.catalog import plugins
from mucore.errors import BadFile, BadValue, MucoreError, ReadOnly
from mucore.runner import child
from mucore.testing import contract_check
from mucore.userfiles import doors, methods


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("MUCORE_PLUGINS", raising=False)
    return tmp_path / "home"


def code(name: str = "mine", body: str = "return model.eval()") -> str:
    return own_methods.text(name, body)


def files(home: Path) -> list[str]:
    return sorted(str(each.relative_to(home)) for each in home.rglob("*") if each.is_file())


def test_a_kept_method_is_one_of_the_catalogue_and_can_be_run(home):
    plugin = methods.keep(code())
    assert [each.id for each in catalog.all_methods() if each.family == "own"] == ["mine"]
    assert files(home) == ["methods/mine.py", f"methods/versions/{plugin.source_hash}.py"]
    assert callable(core.load("mine", plugin.source_hash))
    assert methods.source(plugin) == code()


def test_an_edit_takes_its_place_and_the_version_before_stays(home):
    first = methods.keep(code())
    second = methods.keep(code(body="return model.eval()  # once more"))
    assert first.source_hash != second.source_hash
    assert [each.source_hash for each in methods.listed()] == [second.source_hash]
    methods.keep(code())  # and back
    assert [each.source_hash for each in methods.listed()] == [first.source_hash]
    kept = {f"methods/versions/{each.source_hash}.py" for each in (first, second)}
    assert {*files(home)} == {"methods/mine.py", *kept}


def test_what_queued_runs_need_is_neither_replaced_nor_deleted(home):
    plugin = methods.keep(code())
    with pytest.raises(BadValue, match="mine is needed as it is by 2"):
        methods.keep(code(body="return None"), waiting=["mine", "finetune", "mine"])
    with pytest.raises(BadValue, match="mine is needed as it is by 1"):
        methods.delete("mine", waiting=["mine"])
    assert methods.keep(code(), waiting=["mine"]).source_hash == plugin.source_hash  # the same
    assert methods.keep(code("other"), waiting=["mine"]).card.id == "other"
    methods.delete("mine", waiting=["other"])
    assert [each.card.id for each in methods.listed()] == ["other"]
    assert f"methods/versions/{plugin.source_hash}.py" in files(home)
    with pytest.raises(BadFile, match="no method mine"):
        methods.delete("mine")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "CARD"),
        ("CARD = (", "line 1"),
        (code("finetune"), "finetune"),
        (code("../x"), "syntax"),
        (code("x" * 300), "at most 64"),
        ("\ud800", "no text"),
        ("\0", "null"),
    ],
)
def test_what_is_no_method_is_not_kept(text, says, home):
    with pytest.raises(MucoreError, match=says) as raised:
        methods.keep(text)
    assert files(home) == [] and str(home) not in str(raised.value)


def test_a_name_of_a_folder_of_methods_stays_taken(tmp_path, monkeypatch, home):
    own_methods.write(tmp_path, "mine", "return model")
    monkeypatch.setenv("MUCORE_PLUGINS", str(tmp_path))
    with pytest.raises(BadFile, match="mine belongs to a method of"):
        methods.keep(code())


def test_the_draft_is_no_method(home):
    assert methods.draft() == ""
    methods.keep_draft("CARD = (")
    assert methods.draft() == "CARD = ("
    assert plugins.found() == plugins.Found()


@pytest.mark.parametrize("spoilt", ["closed", "no code"])
def test_code_comes_in_by_a_door_of_its_own(spoilt, home, monkeypatch):
    plugin = methods.keep(code())
    before = files(home)
    monkeypatch.setattr(doors, "_why_closed", None)
    monkeypatch.setattr(doors, "_why_no_code", None)
    if spoilt == "closed":
        doors.guard(lambda: "Closed here.")
    else:
        doors.guard(lambda: "", lambda: "No code here.")
    started = []
    monkeypatch.setattr(child, "run", lambda *_, **__: started.append(1))
    for way in (
        lambda: methods.read(code()),
        lambda: methods.keep(code("other")),
        lambda: methods.delete("mine"),
        lambda: methods.keep_draft("x"),
        methods.draft,
        lambda: contract_check.trial_of_text(code(), "mine", LIMITS, on_line=lambda line: None),
    ):
        with pytest.raises(ReadOnly, match=r"(Closed|No code) here\."):
            way()
    if spoilt == "no code":  # what is there already is used as the owner's other files are
        doors.check()
        assert callable(plugins.function(plugin))
    assert files(home) == before and not started


def test_limits_follow_retrain_and_settings(monkeypatch):
    monkeypatch.setenv(child.GIGABYTES, "2")
    assert child.limits(10.0) == child.Limits(seconds=600.0, memory=2e9)
    assert child.limits(100.0).seconds == 2000.0
    monkeypatch.setenv(child.SECONDS, "soon")
    with pytest.raises(BadValue, match=child.SECONDS):
        child.limits()


LIMITS = child.Limits(seconds=120.0, memory=8e9)


def tried(text: str, name: str = "mine", limits: child.Limits = LIMITS) -> list[dict]:
    lines: list[dict] = []
    contract_check.trial_of_text(text, name, limits, on_line=lines.append)
    return lines


@pytest.mark.slow
def test_a_trial_says_line_by_line_what_is_wrong_and_where(home):
    lines = tried(code(body="model.fc1 = model.nothing"))
    assert [each["passed"] for each in lines] == [True, True, True, True, False]
    assert "line 16" in lines[-1]["message"] and "nothing" in lines[-1]["message"]
    (only,) = tried("CARD = 1")
    assert not only["passed"] and "The file" in only["message"]


@pytest.mark.slow
def test_an_edit_is_tried_under_its_own_name(home):
    methods.keep(code())
    lines = tried(code(body="return 1"))
    assert lines[1] == {"rule": "the name is free", "passed": True, "message": ""}
    lines = tried(code("finetune", body="return 1"), "finetune")
    assert not lines[1]["passed"]


def test_a_run_carries_the_version_that_it_was_planned_with(home):
    methods.keep(code())
    first = make_spec_row(method="mine")
    methods.keep(code(body="return model.eval()  # anew"))
    assert make_spec_row(method="mine").key != first.key
    with pytest.raises(BadFile, match="has changed since"):
        core.load("mine", first.method_hash)
