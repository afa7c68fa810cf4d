"""The filter of methods: which settings are shown, and that its button says so."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest
from builders import make_result, make_spec_row
from facts import tells
from pages import open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import data
from dashboard.text import labels
from dashboard.widgets import run_filters
from mucore import catalog
from mucore.catalog import tuning
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


def test_authors_settings_that_no_search_could_better_are_tuned_ones_too(home):
    fill_with_both(home)
    spec = make_spec_row(scenario="one_class", method="ssd")
    found = tuning.Tuned(
        *("ssd", {"alpha": 7.0}, spec.dataset, "", spec.model, "quick", "one_class"),
        recipe=spec.recipe.model_dump(mode="json"),
        scenario_parameters=spec.scenario_parameters,
    )
    elsewhere = replace(found, method="fisher", values={"alpha": 3e-7}, model="resnet18")
    amount = replace(found, method="fcs", values={"lr": 0.3}, scenario_parameters={"budget": 0.5})
    longer = replace(found, method="salun", values={"lr": 0.3}, recipe={"epochs": 99})
    every = (found, elsewhere, amount, longer)
    (home / tuning.FILE).write_text(json.dumps(tuning.content(every)))
    with open_store(home) as store:
        for each in every:
            mine = make_spec_row(scenario="one_class", method=each.method)
            values = {**mine.parameters, **each.values}
            store.put_result(make_result(mine.model_copy(update={"parameters": values})))
    assert titles(opened(settings="tuned")) == ["SCRUB", "SSD"]


def test_settings_of_another_task_can_be_looked_at_alone(home):
    fill_with_both(home)
    with open_store(home) as store:
        spec = make_spec_row(scenario="one_class", method="ssd")
        store.put_result(make_result(spec.model_copy(update={"method_preset": "tuned_elsewhere"})))
    at = opened()
    assert len(settings(at).options) == 5
    for chosen, shown in (
        ("tuned_elsewhere", ["SSD"]),
        ("tuned", ["SCRUB"]),
        ("both", ["Fine-tune", "SCRUB (authors)", "SCRUB (tuned)"]),
    ):
        assert titles(opened(settings=chosen)) == shown


def show_as_demo(made: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store in `made` as the pack that comes with the program."""
    with open_store(made) as store:
        write_pack(store, made.parent / "pack")
    monkeypatch.setattr(data, "DEMO", made.parent / "pack")


def test_the_demo_opens_on_tuned_settings_where_settings_do_not_stand_side_by_side(
    home, tmp_path, monkeypatch
):
    fill_with_both(tmp_path / "made")
    show_as_demo(tmp_path / "made", monkeypatch)
    at = open_page("membership")
    assert settings(at).value == "tuned" and "Tuned" in popovers(at)
    assert "Methods" in popovers(open_page("membership", settings="all"))
    results = opened()
    assert settings(results).value == "all" and len(titles(results)) == 3
    assert titles(opened(settings="authors")) == ["Fine-tune", "SCRUB"]


def untuned(at: AppTest) -> list[str]:
    return [each.value for each in at.markdown if each.value.startswith(":material/tune:")]


def test_methods_that_tuned_settings_leave_out_are_named_with_the_way_to_them(
    home, tmp_path, monkeypatch
):
    fill_with_both(tmp_path / "made")
    show_as_demo(tmp_path / "made", monkeypatch)
    at = open_page("membership")
    (line,) = untuned(at)
    assert "Fine-tune" in line and "SCRUB" not in line
    next(each for each in at.button if each.label == "Show all settings").click().run()
    assert not at.exception and settings(at).value == "all" and not untuned(at)
    assert not untuned(open_page("membership", settings="authors"))
    assert not untuned(open_page("membership", settings="tuned", methods="scrub"))


def fill_with_many(home: Path) -> list[str]:
    """Results of more methods than the demo shows at once; their titles."""
    free = [
        card.id
        for card in catalog.methods()
        if card.scenarios is None and card.family not in ("reference", "own")
    ]
    ids = free[: run_filters.MANY_METHODS + 3]
    with open_store(home) as store:
        for name in ("retrain", *ids):
            store.put_result(make_result(scenario="class_wise", method=name, metrics={"ta": 0.9}))
    return sorted(catalog.method(name).title for name in ids)


def test_the_demo_opens_on_the_best_known_methods_and_one_click_shows_all(
    home, tmp_path, monkeypatch
):
    every = fill_with_many(tmp_path / "made")
    show_as_demo(tmp_path / "made", monkeypatch)
    at = opened()
    known = sorted(catalog.method(name).title for name in run_filters.KNOWN)
    assert titles(at) == [title for title in known if title in every] != every
    at.toggle[0].set_value(True).run()
    assert titles(at) == every and at.query_params["every"] in ("1", ["1"])
    assert titles(opened(every="1")) == every
    assert titles(opened(methods=["ssd"])) == ["SSD"]


def test_start_tells_the_story_of_what_results_opens_on(home, tmp_path, monkeypatch):
    """Of the demo a whole class: SCRUB forgot it, Fine-tune did nothing. The scenario that comes
    first in the catalogue has neither.
    """
    level = {
        "original": (1.0, 1.0),
        "retrain": (0.0, 0.9),
        "scrub": (0.0, 0.9),
        "finetune": (1.0, 0.95),
    }
    with open_store(tmp_path / "made") as store:
        for scenario in ("class_wise", "one_class"):
            for method, (forgotten, kept) in level.items():
                values = dict.fromkeys(("fa", "tfa"), forgotten) | {"rte": 0.2}
                values |= dict.fromkeys(("ra", "tra", "ta"), kept)
                store.put_result(make_result(scenario=scenario, method=method, metrics=values))
    show_as_demo(tmp_path / "made", monkeypatch)
    at, results = open_page("start"), opened()
    assert not at.exception
    assert "**Whole classes**" in words_on(at) and "2 methods, 1 training seed" in words_on(at)
    assert tells(words_on(at), "1 of 2 methods", "forget", "class 0")

    def heads(page: AppTest) -> list[str]:
        return [text for one in page.markdown if (text := str(one.value)).startswith("#### ")]

    assert heads(at)[1:] == heads(results)[:3] == ["#### SCRUB"] * 3
    assert tells(words_on(results), "1 of 2 methods", "did nothing")


def test_changed_settings_have_a_choice_of_their_own_and_are_not_what_the_demo_opens_on(
    home, tmp_path, monkeypatch
):
    with open_store(tmp_path / "made") as store:
        for method in ("retrain", "scrub"):
            store.put_result(
                make_result(scenario="class_wise", method=method, metrics={"agl": 0.5})
            )
        spec = make_spec_row(scenario="class_wise", method="scrub")
        for changes in (
            {"parameters": {**spec.parameters, "lr": 0.3}},
            {"noise": 0.1},
            {"scope": "classifier"},
        ):
            store.put_result(make_result(spec.model_copy(update=changes), metrics={"agl": 0.4}))
        write_pack(store, tmp_path / "pack")
    monkeypatch.setattr(data, "DEMO", tmp_path / "pack")
    assert (
        titles(opened()) == ["SCRUB"]
        and len(titles(opened(settings="own"))) == 3
        and len(titles(opened(settings="all"))) == 4
    )
    for view, usual in (("similarity", "authors"), ("sensitivity", "all"), ("last", "all")):
        at = open_page("representation", view=view)
        assert not at.exception and settings(at).value == usual


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
