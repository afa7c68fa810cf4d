"""The filter of methods: which settings are shown, and that its button says so."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from builders import make_result, make_spec_row
from pages import open_page
from streamlit.testing.v1 import AppTest

from dashboard import data
from dashboard.text import labels
from dashboard.widgets import run_filters
from mucore.store import open_store, write_pack

opened = partial(open_page, "results")


def fill_with_both(home: Path) -> None:
    """Retrain, and two methods: one with both presets, one with the authors' alone."""
    with open_store(home) as store:
        store.put_result(make_result(method="retrain"))
        for method, preset, changes in (
            ("scrub", "authors", {}),
            ("scrub", "tuned", {"lr": 0.2}),
            ("finetune", "authors", {}),
        ):
            spec = make_spec_row(scenario="one_class", method=method)
            spec = spec.model_copy(
                update={"method_preset": preset, "parameters": {**spec.parameters, **changes}}
            )
            store.put_result(make_result(spec))


def titles(at: AppTest) -> list[str]:
    table = at.dataframe[0].value
    return sorted(
        title
        for title in table[next(name for name in table if "Method" in name)]
        if title != "Retrain"
    )


def popovers(at: AppTest) -> list[str]:
    return [block.proto.popover.label for block in at.get("popover")]


def settings(at: AppTest):
    return next((each for each in at.segmented_control if each.label == "Settings"), None)


@pytest.mark.smoke
def test_own_results_show_all_settings_and_the_address_names_the_chosen(home):
    fill_with_both(home)
    at = opened()
    assert not at.exception and settings(at).value == "all"
    assert titles(at) == ["Fine-tune", "SCRUB (authors)", "SCRUB (tuned)"]
    settings(at).set_value("tuned").run()
    assert titles(at) == ["SCRUB"]
    assert at.query_params["settings"] == "tuned" or at.query_params["settings"] == ["tuned"]
    assert titles(opened(settings="authors")) == ["Fine-tune", "SCRUB"]
    assert len(titles(opened(settings="nonsense"))) == 3


def show_as_demo(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store in `made` as the pack that comes with the program."""
    with open_store(made) as store:
        write_pack(store, made.parent / "pack")
    monkeypatch.setattr(data, "DEMO", made.parent / "pack")


def test_the_demo_opens_on_tuned_settings_and_its_chips_say_so(home, tmp_path, monkeypatch):
    fill_with_both(tmp_path / "made")
    show_as_demo(tmp_path / "made", monkeypatch)
    at = opened()
    assert settings(at).value == "tuned" and titles(at) == ["SCRUB"]
    assert {"Settings **tuned**", "Methods **all 1**"} <= set(popovers(at))
    (untuned,) = [one.value for one in at.caption if one.value.startswith("Not tuned here")]
    assert "Fine-tune" in untuned and "SCRUB" not in untuned
    assert titles(opened(settings="authors")) == ["Fine-tune", "SCRUB"]
    assert titles(opened(settings="authors", methods="scrub")) == ["SCRUB"]
    assert "Methods **1 of 2**" in popovers(opened(settings="authors", methods="scrub"))


def test_other_data_or_weights_of_one_name_are_chosen_and_never_averaged(home):
    """The newest are shown at first; Start shows those, too."""
    newer, older = "a" * 64, "b" * 64
    with open_store(home) as store:
        for place, digest in enumerate((newer, older)):
            for method in ("retrain", "finetune"):
                spec = make_spec_row(scenario="one_class", method=method)
                result = make_result(spec.model_copy(update={"original_hash": digest}))
                finished = datetime(2026, 1, 2 - place, tzinfo=UTC)
                store.put_result(replace(result, finished=finished))
        every = store.summaries()
    at = opened()
    (box,) = [each for each in at.selectbox if each.key == "url:hashes"]
    assert ["a" * 6 in name for name in box.options] == [True, False]
    assert "b" * 6 in box.options[1] and box.options[0] != box.options[1]
    shown = run_filters.usual_runs(every)
    assert set(shown["hashes"]) == {f"original={newer}"} and len(shown) == 2
    assert titles(at) == ["Fine-tune"] and not at.exception
    fill_with_both(home)
    asked = opened(hashes=labels.short_id(""))
    assert titles(asked) == ["Fine-tune", "SCRUB (authors)", "SCRUB (tuned)"]
    assert titles(opened(hashes=labels.short_id(f"original={older}"))) == ["Fine-tune"]
