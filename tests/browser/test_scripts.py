"""Scripts of the pages by themselves, called as Streamlit calls them: again for new data or another
theme, without an end to the call before, and with one when their page is left.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page

from dashboard import assets, state
from dashboard.frames import playground as frames
from dashboard.widgets import stage

# What listens and what is repeated, by who asked for it.
COUNTING = """
window.live = new Map();
const { addEventListener, removeEventListener } = EventTarget.prototype;
const numbers = new WeakMap();
const named = (each) => numbers.get(each) ?? numbers.set(each, Math.random()).get(each);
EventTarget.prototype.addEventListener = function (kind, act, ...rest) {
  live.set([named(this), kind, named(act)].join(), kind);
  return addEventListener.call(this, kind, act, ...rest);
};
EventTarget.prototype.removeEventListener = function (kind, act, ...rest) {
  if (act) live.delete([named(this), kind, named(act)].join());
  return removeEventListener.call(this, kind, act, ...rest);
};
const { setInterval, clearInterval } = window;
window.setInterval = (...asked) => {
  const timer = setInterval(...asked);
  live.set(timer, "timer");
  return timer;
};
window.clearInterval = (timer) => (live.delete(timer), clearInterval(timer));
"""
PAGE = """
<div data-testid="stApp"><div data-testid="stMain"></div>
<div class="st-key-run_drawer"><div class="st-key-close_drawer"><button></button></div>
<div id="place"><button></button></div></div></div>
"""
MOUNT = """async (script) => {
  const url = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  const { default: mount } = await import(url);
  const place = document.querySelector("#place");
  window.said = [];
  window.called = (data) => {
    const setTriggerValue = (name, value) => said.push(value);
    window.leave = mount({ data, parentElement: place, setTriggerValue });
  };
}"""


@pytest.mark.parametrize(
    "script", ["run_drawer", "page_links", "follow_theme", "presenting", "room"]
)
def test_a_script_that_is_called_again_listens_once_and_not_at_all_when_left(
    page: Page, script: str
) -> None:
    page.set_content(PAGE)
    page.evaluate(COUNTING)
    page.evaluate(MOUNT, assets.text(f"{script}.js"))
    counts = []
    for opening in range(5):
        data = {"opening": opening, "shown": f"run {opening}", "title": "Run"}
        data |= {"on": True, "page": "results", "step": 1, "steps": 1}
        data |= {"address": "about:blank", "place": "", "pause": 60_000}
        page.evaluate("data => called(data)", data)
        counts.append(page.evaluate("[...live.values()].sort()"))
    assert counts[0] and counts == 5 * [counts[0]]
    page.evaluate("leave()")
    assert page.evaluate("[...live.values()]") == []


def test_a_theme_that_changed_before_the_script_is_called_again_is_told_once(page: Page) -> None:
    page.clock.install()
    page.set_content(PAGE)
    page.evaluate(MOUNT, assets.text("follow_theme.js"))
    page.evaluate("called({})")
    page.clock.run_for(1000)
    assert page.evaluate("said") == []
    page.evaluate("document.querySelector('[data-testid=stApp]').style.colorScheme = 'dark'")
    page.evaluate("called({})")  # as Streamlit does for the other theme
    page.clock.run_for(5000)
    assert page.evaluate("said") == ["dark"]


@pytest.fixture
def asked(page: Page, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """A playground whose scene is under way and that nobody answers: what it asked since."""
    monkeypatch.setattr(state, "dark", lambda: False)
    draft = {**frames.preset_draft("outlier"), "preset": None}
    data = {
        "scene": draft,
        "points": frames.points_in(draft),
        "revision": 0,
        "asked": None,
        "run": {"ticket": "t", "scene": draft, "field": False}
        | {"after": 0, "events": [], "ahead": 0},
        "problem": "",
        "fixed": False,
        "large": False,
        "seen": None,
        "pause": 150,
        **stage._words(False),
        "look": stage._look(),
    }
    page.clock.install()
    page.set_content(f'<div id="place">{stage._HTML}</div><a href="/lessons">Lessons</a>')
    page.evaluate(MOUNT, stage._JS)
    page.evaluate("data => (window.data = data, called(data))", json.loads(json.dumps(data)))

    def since() -> list[str]:
        return sorted({str(each["what"]) for each in page.evaluate("said.splice(0)")})

    return since


def test_a_playground_that_was_left_asks_for_nothing_more(
    page: Page, asked: Callable[[], list[str]]
) -> None:
    page.clock.run_for(20_000)
    assert asked() == ["events"]  # until it is answered
    page.locator(".noise").fill("0.2")
    page.clock.run_for(1000)
    # events are asked for once more where the machine was slow
    assert [each for each in asked() if each != "events"] == ["scene"]
    page.evaluate("leave()")
    page.clock.run_for(20_000)
    assert asked() == []
    # what comes after the end of its place, or without it
    page.evaluate("called(data)")
    page.locator(".noise").fill("0.3")
    page.evaluate("document.querySelector('#place').remove()")
    page.clock.run_for(20_000)
    assert asked() == []


def test_a_playground_asks_nothing_while_a_link_leads_to_another_page(
    page: Page, asked: Callable[[], list[str]]
) -> None:
    """Its question would bring its part back there, and leave that page blank."""
    page.evaluate("void (document.querySelector('a').onclick = () => false)")
    page.get_by_role("link", name="Lessons").click()
    asked()
    page.locator(".noise").fill("0.2")
    page.clock.run_for(3000)
    assert asked() == []
    page.clock.run_for(8000)  # the other page did not come
    assert asked() == ["scene"]
    page.locator(".noise").fill("0.3")
    page.evaluate(
        "document.querySelector('a').dispatchEvent(new MouseEvent('click', "
        "{ bubbles: true, cancelable: true, ctrlKey: true }))"
    )
    page.clock.run_for(3000)
    assert asked() == ["scene"]
