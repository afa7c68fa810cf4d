"""What a reader selects goes into the address, and comes back from it."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from streamlit.testing.v1 import AppTest

from dashboard import state


def page():
    import streamlit as st

    from dashboard import state

    state.enter("page")
    st.session_state["got"] = (
        state.select("Data", "data", ["a", "b", "c"], default="b", format_func=str.upper),
        state.multiselect("Methods", "methods", ["x", "y", "z"], default=["x"]),
        state.segmented("View", "view", ["value", "gap"]),
        state.text("Seeds", "seeds", default="0"),
        state.number("Top", "top", default=5, min_value=1, max_value=9),
        state.toggle("Paper", "paper"),
    )


def opened(**query: str | list[str]) -> AppTest:
    at = AppTest.from_function(page)
    at.query_params.update(query)
    at.run()
    assert not at.exception
    return at


def test_defaults_leave_the_address_clean():
    at = opened()
    assert at.session_state["got"] == ("b", ["x"], "value", "0", 5, False)
    assert at.query_params == {}


def test_a_click_counts_though_the_browser_sends_the_address_of_before():
    """Before, of two quick clicks on Queue the second one was lost."""
    at = opened()
    at.selectbox[0].select("a").run()
    assert at.query_params["data"] == "a"
    del at.query_params["data"]  # it has not heard of that yet
    at.selectbox[0].select("c").run()
    assert at.session_state["got"][0] == "c" and at.query_params["data"] == "c"
    del at.query_params["data"]  # back: nothing was clicked
    at.run()
    assert at.session_state["got"][0] == "b"


def test_what_is_drawn_anew_by_itself_follows_no_old_address(monkeypatch):
    at = opened()
    at.selectbox[0].select("a").run()
    del at.query_params["data"]
    redrawn = SimpleNamespace(fragment_ids_this_run=["live"])
    monkeypatch.setattr(state, "get_script_run_ctx", lambda **_: redrawn)
    at.run()
    assert at.session_state["got"][0] == "a" and at.query_params["data"] == "a"


def test_an_address_is_followed():
    at = opened(data="c", methods=["z", "y"], view="gap", seeds="0-4", top="7", paper="1")
    assert at.session_state["got"] == ("c", ["z", "y"], "gap", "0-4", 7, True)


def test_widgets_write_to_the_address_and_the_address_gives_the_same_view():
    at = opened()
    at.selectbox[0].select("a")
    at.multiselect[0].set_value(["x", "z"])
    at.text_input[0].set_value("0,1")
    at.number_input[0].set_value(8)
    at.toggle[0].set_value(True)
    at.run()
    assert at.session_state["got"] == ("a", ["x", "z"], "value", "0,1", 8, True)
    assert at.query_params == {
        "data": "a",
        "methods": ["x", "z"],
        "seeds": "0,1",
        "top": "8",
        "paper": "1",
    }
    again = opened(**at.query_params)
    assert again.session_state["got"] == at.session_state["got"]


def test_going_back_to_the_default_leaves_the_address():
    at = opened(data="c")
    at.selectbox[0].select("b").run()
    assert "data" not in at.query_params


def test_none_chosen_is_told_from_nothing_said():
    at = opened()
    at.multiselect[0].set_value([]).run()
    assert at.session_state["got"][1] == []
    assert at.query_params == {"methods": ""}
    again = opened(**at.query_params)
    assert again.session_state["got"][1] == []


@pytest.mark.parametrize(
    "query", [{"data": "nonsense"}, {"view": "9"}, {"top": "1000"}, {"paper": "perhaps"}]
)
def test_nonsense_in_an_address_falls_back(query):
    got = opened(**query).session_state["got"]
    assert got[0] == "b" and got[2] == "value" and got[4] == 5 and got[5] is False


def test_the_back_button_moves_the_widgets():
    at = opened()
    at.selectbox[0].select("a").run()
    at.query_params.clear()
    at.run()
    assert at.session_state["got"][0] == "b"
    at.query_params["data"] = "c"
    at.run()
    assert at.session_state["got"][0] == "c"


def test_an_option_that_vanishes_is_replaced():
    def shrinking():
        import streamlit as st

        from dashboard import state

        options = ["a", "b"] if st.session_state.get("all", True) else ["a"]
        st.session_state["got"] = (
            state.select("S", "s", options),
            state.multiselect("M", "m", options, default=["a"]),
        )

    at = AppTest.from_function(shrinking)
    at.query_params.update({"s": "b", "m": ["a", "b"]})
    at.run()
    assert at.session_state["got"] == ("b", ["a", "b"])
    at.session_state["all"] = False
    at.run()
    assert not at.exception
    assert at.session_state["got"] == ("a", ["a"])


def test_another_page_starts_afresh():
    def two():
        import streamlit as st

        from dashboard import state

        state.enter(st.session_state.get("where", "one"))
        st.session_state["got"] = state.text(
            "T", "t", default="one's" if st.session_state.get("where", "one") == "one" else "two's"
        )

    at = AppTest.from_function(two).run()
    assert at.session_state["got"] == "one's"
    at.session_state["where"] = "two"
    at.run()
    assert at.session_state["got"] == "two's"


KINDS = {
    "select": ("selectbox", {"a": "x", "b": "y", "c": "z"}, "w"),
    "segmented": ("segmented_control", {"a": "x", "b": "y", "c": "z"}, "w"),
    "text": ("text_input", {"a": "1", "b": "2", "c": "3"}, "9"),
    "number": ("number_input", {"a": 1, "b": 2, "c": 3}, 9),
    "toggle": ("toggle", {"a": False, "b": True, "c": False}, None),
    "multiselect": ("multiselect", {"a": ["x"], "b": ["y", "z"], "c": []}, ["w"]),
}


def following(kind: str, defaults: dict) -> AppTest:
    """A page whose second widget has a default that depends on the first one, as fields of a recipe
    depend on the preset.
    """

    def page(kind, defaults):
        import streamlit as st

        from dashboard import state

        state.enter("page")
        default = defaults[state.select("Lead", "lead", ["a", "b", "c"])]
        options = (
            {"options": ["x", "y", "z", "w"]}
            if kind in ("select", "segmented", "multiselect")
            else {}
        )
        if kind in ("select", "segmented"):
            st.session_state["upcoming"] = state.upcoming("follow", options["options"], default)
        st.session_state["got"] = getattr(state, kind)(
            "Follow", "follow", default=default, **options
        )

    return AppTest.from_function(page, args=(kind, defaults)).run()


def lead(at: AppTest, value: str) -> AppTest:
    at.selectbox[0].select(value).run()
    assert not at.exception
    return at


def follower(at: AppTest, kind: str):
    return next(one for one in at.get(KINDS[kind][0]) if getattr(one, "label", "") == "Follow")


@pytest.mark.parametrize("kind", KINDS)
def test_a_field_follows_its_default_until_a_person_changes_it(kind):
    _, defaults, own = KINDS[kind]
    at = following(kind, defaults)
    for name in "abac":
        got = lead(at, name).session_state["got"]
        assert got == follower(at, kind).value == defaults[name]
        assert "follow" not in at.query_params
        if kind in ("select", "segmented"):
            assert at.session_state["upcoming"] == got
    if kind == "toggle":  # has no third value
        return
    follower(at, kind).set_value(own).run()
    for name in "ba":
        assert lead(at, name).session_state["got"] == own
    follower(at, kind).set_value(defaults["a"]).run()
    assert "follow" not in at.query_params
    assert lead(at, "b").session_state["got"] == defaults["b"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_choice_stays_where_it_becomes_the_default(kind):
    """Also where what its default depends on changes at once."""
    _, defaults, _ = KINDS[kind]
    at = following(kind, defaults)
    follower(at, kind).set_value(defaults["b"]).run()
    assert lead(at, "b").session_state["got"] == defaults["b"] and "follow" in at.query_params
    at.run()
    assert lead(at, "a").session_state["got"] == defaults["b"]
    both = following(kind, defaults)
    follower(both, kind).set_value(defaults["b"])
    assert lead(both, "c").session_state["got"] == defaults["b"]
