"""The filter of methods: which settings are shown, and that its button says so."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from builders import make_result, make_spec_row
from pages import links, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import data, describe, picker
from mucore import catalog
from mucore.store import open_store, write_pack

opened = partial(open_page, "results")


def fill_with_both(home: Path) -> None:
    """Retrain, and two methods: one with both presets, one with the authors' alone."""
    with open_store(home) as store:
        store.put_result(make_result(method="retrain"))
        for method, preset, changes in (("scrub", "authors", {}), ("scrub", "tuned", {"lr": 0.2}), ("finetune", "authors", {})):
            spec = make_spec_row(scenario="one_class", method=method)
            spec = spec.model_copy(update={"method_preset": preset, "parameters": {**spec.parameters, **changes}})
            store.put_result(make_result(spec))


def titles(at: AppTest) -> list[str]:
    table = at.dataframe[0].value
    return sorted(title for title in table[next(name for name in table if "Method" in name)] if title != "Retrain")


def popovers(at: AppTest) -> list[str]:
    return [block.proto.popover.label for block in at.get("popover")]


def settings(at: AppTest):
    return next((each for each in at.segmented_control if each.label == "Settings"), None)


def test_own_results_show_all_settings_and_the_button_names_the_chosen(home):
    fill_with_both(home)
    at = opened()
    assert not at.exception and settings(at).value == "all" and "Methods" in popovers(at)
    assert titles(at) == ["Fine-tune", "SCRUB (authors)", "SCRUB (tuned)"]
    settings(at).set_value("tuned").run()
    assert titles(at) == ["SCRUB"] and "Tuned" in popovers(at) and "Methods" not in popovers(at)
    assert at.query_params["settings"] == "tuned" or at.query_params["settings"] == ["tuned"]
    assert titles(opened(settings="authors")) == ["Fine-tune", "SCRUB"]
    assert len(titles(opened(settings="nonsense"))) == 3


def test_authors_settings_that_no_search_could_better_are_tuned_ones_too(home):
    fill_with_both(home)
    card = catalog.method("ssd")
    with open_store(home) as store:
        spec = make_spec_row(scenario="one_class", method="ssd")
        store.put_result(make_result(spec.model_copy(update={"parameters": {**spec.parameters, **card.tuned}})))
    assert titles(opened(settings="tuned")) == ["SCRUB", "SSD"]


def test_one_kind_of_settings_asks_nothing(home):
    with open_store(home) as store:
        store.put_result(make_result(method="retrain"))
        store.put_result(make_result(method="scrub"))
    at = opened(settings="tuned")
    assert settings(at) is None and titles(at) == ["SCRUB"]


@pytest.mark.parametrize("chosen", ["", "all"])
def test_the_demo_opens_on_the_authors_settings(home, tmp_path, monkeypatch, chosen):
    fill_with_both(tmp_path / "made")
    with open_store(tmp_path / "made") as store:
        write_pack(store, tmp_path / "pack")
    monkeypatch.setattr(data, "DEMO", tmp_path / "pack")
    at = opened(**({"settings": chosen} if chosen else {}))
    assert len(titles(at)) == (3 if chosen else 2)
    assert ("Authors'" in popovers(at)) is not bool(chosen)


def test_start_shows_what_results_opens_on(home, tmp_path, monkeypatch):
    """Of the demo with both presets: the authors' rows of the scenario that comes first, with the same figures as on Results."""
    with open_store(tmp_path / "made") as store:
        for scenario in ("class_wise", "one_class"):
            store.put_result(make_result(scenario=scenario, method="retrain"))
            for method, fa in (("scrub", 0.5), ("finetune", 0.9)):
                store.put_result(make_result(scenario=scenario, method=method, metrics={"ta": fa, "fa": fa}, gaps={"fa": fa - 0.5}))
        spec = make_spec_row(scenario="one_class", method="scrub")
        tuned = spec.model_copy(update={"method_preset": "tuned", "parameters": {**spec.parameters, "lr": 0.2}})
        store.put_result(make_result(tuned, metrics={"ta": 0.99}))
        write_pack(store, tmp_path / "pack")
    monkeypatch.setattr(data, "DEMO", tmp_path / "pack")
    at, results = open_page("start"), opened()
    assert not at.exception
    assert "**Part of one class**" in words_on(at) and "2 methods, 1 training seed" in words_on(at)
    assert "Read the table" in links(at)
    figures = [text for text in (str(one.value) for one in at.markdown) if text.startswith("#### ")]
    assert "#### Fine-tune" in figures  # the best utility among the authors' settings
    assert figures == [text for text in (str(one.value) for one in results.markdown) if text.startswith("#### ")][: len(figures)]


def test_changed_settings_have_a_choice_of_their_own_and_are_not_what_the_demo_opens_on(home, tmp_path, monkeypatch):
    with open_store(tmp_path / "made") as store:
        for method in ("retrain", "scrub"):
            store.put_result(make_result(scenario="class_wise", method=method, metrics={"agl": 0.5}))
        spec = make_spec_row(scenario="class_wise", method="scrub")
        for changes in ({"parameters": {**spec.parameters, "lr": 0.3}}, {"noise": 0.1}, {"scope": "classifier"}):
            store.put_result(make_result(spec.model_copy(update=changes), metrics={"agl": 0.4}))
        write_pack(store, tmp_path / "pack")
    monkeypatch.setattr(data, "DEMO", tmp_path / "pack")
    assert titles(opened()) == ["SCRUB"] and len(titles(opened(settings="own"))) == 3 and len(titles(opened(settings="all"))) == 4
    for view, usual in (("similarity", "authors"), ("sensitivity", "all"), ("last", "all")):
        at = open_page("representation", view=view)
        assert not at.exception and settings(at).value == usual


@pytest.mark.parametrize(
    ("sets", "names"),
    [
        (
            ['{"class_id": 0, "budget": 0.2, "seed": 0}', '{"class_id": 3, "budget": 0.2, "seed": 0}'],
            ["class 0, budget 20 %", "class 3, budget 20 %"],
        ),
        (['{"budget": 0.02, "seed": 0}', '{"budget": 0.02, "seed": 1}'], ["budget 2 %, seed 0", "budget 2 %, seed 1"]),
        (['{"pairs": null, "seed": 0}'], ["defaults"]),
    ],
)
def test_forget_sets_have_names_that_fit_the_row_and_tell_them_apart(sets, names):
    assert [name.replace(describe.THIN, " ") for name in picker.set_names(sets)] == names


def test_the_filter_of_forget_sets_shows_the_short_name(home):
    fill_with_both(home)
    (box,) = [each for each in opened().selectbox if each.label == "Forget set"]
    assert [name.replace(describe.THIN, " ") for name in box.options] == ["budget 20 %, class 0"]
