"""Launch, a method of one's own: typed, checked in a process of its own, used, edited, deleted."""

from __future__ import annotations

from typing import Any

import own_methods
import pytest
from pages import button, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import access, assets
from mucore import catalog
from mucore.catalog import plugins
from mucore.testing import contract
from mucore.userfiles import methods

GOOD = own_methods.text("mine", "return model.eval()")


@pytest.fixture(autouse=True)
def no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MUCORE_PLUGINS", raising=False)


def room(**query: str) -> AppTest:
    at = open_page("launch", own="method", dataset="digits", model="mlp", **query)
    assert not at.exception
    return at


def typed(at: AppTest, text: str) -> AppTest:
    """What the editor does when a reader pauses."""
    at.session_state["keep:own_method_text"] = text
    return at.run()


def keys(at: AppTest) -> dict[str, Any]:
    return {str(one.key): one for one in at.button}


def state_of(at: AppTest, name: str) -> list[str]:
    """The values of a parameter of the address."""
    found = at.query_params.get(name, [])
    return [found] if isinstance(found, str) else found


def test_the_template_keeps_every_rule(home, tmp_path):
    path = tmp_path / "my_method.py"
    path.write_text(assets.text("own_method.py.txt"), encoding="utf-8")
    assert all(check.passed for check in contract.check_file(path, tmp_path / "home"))


def test_the_room_opens_on_a_template_and_leads_back(home):
    at = open_page("launch", dataset="digits", model="mlp", scenarios="one_class")
    keys(at)["enter_own:method"].click().run()
    assert state_of(at, "own") == ["method"]
    assert keys(at)["use_method"].disabled and not keys(at)["check_method"].disabled
    assert not at.multiselect  # the form waits, and nothing of it is lost
    keys(at)["leave_own"].click().run()
    assert state_of(at, "own") == [] and state_of(at, "scenarios") == ["one_class"]


@pytest.mark.timeout(240)
def test_what_is_typed_is_checked_and_used_at_once(home):
    at = typed(
        room(methods="finetune"), own_methods.text("mine", "run.check(); return model.eval()")
    )
    assert keys(at)["use_method"].disabled
    button(at, "Check").click().run(timeout=180)
    assert words_on(at).count(":material/check_circle:") == 10
    button(at, "Use it").click().run()
    assert state_of(at, "own") == [] and state_of(at, "methods") == ["finetune", "mine"]
    assert "mine" in (at.button_group(key="url:methods").value or ()) and at.success
    assert [each.path.parent for each in plugins.found().plugins] == [home / "methods"]
    assert button(at, "Start")


def test_a_method_can_be_opened_and_deleted(home):
    methods.keep(GOOD)
    at = typed(room(methods="mine"), "# half a thought")
    at.selectbox(key="own_method_pick").select("mine").run()
    button(at, "Replace it").click().run()
    assert at.session_state["keep:own_method_text"] == methods.draft() == GOOD
    keys(at)["delete_method"].click().run()
    assert not at.exception and methods.listed() == []
    assert state_of(at, "methods") == [""]
    assert room().session_state["keep:own_method_text"] == GOOD  # another tab


def test_no_code_comes_from_a_page_that_everybody_reaches(home, monkeypatch):
    monkeypatch.setattr(access, "_server", access._Server("open", "", behind_door=True))
    use_before = [each.id for each in catalog.methods()]
    at = room()
    assert not keys(at).keys() & {"check_method", "use_method"} and "--open" in words_on(at)
    with pytest.raises(Exception, match="--open"):
        methods.keep(GOOD)
    assert [each.id for each in catalog.methods()] == use_before


def test_a_guest_finds_no_editor(home, become):
    become("presenter")
    assert keys(room()).keys() >= {"check_method", "use_method"}
    become("guest")
    at = room()
    assert not at.get("bidi_component") or not keys(at).keys() & {"check_method", "use_method"}
    assert not (home / "methods").exists()
