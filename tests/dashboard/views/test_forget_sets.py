"""Forget sets as a person puts them together: every way in, what the set comes to, its name, and
the runs that forget exactly it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import make_result
from facts import tells
from pages import button, links, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import data
from dashboard.sections.forget_sets import image_wall
from dashboard.widgets import uploads
from dashboard.widgets.training_set import pictures, training_of
from mucore import analysis, catalog, forget_sets, titles
from mucore.forget_sets.saved import forget_hash
from mucore.runner.session import Session
from mucore.spec import RunSpec
from mucore.store import open_store

ROOT = Path(__file__).resolve().parents[3]
DIGITS: dict[str, Any] = {"dataset": "digits"}


def opened(**query: Any) -> AppTest:
    at = open_page("forget_sets", **{**DIGITS, **query})
    assert not at.exception and not at.error, [one.value for one in at.error]
    return at


def keyed(at: AppTest, key: str) -> Any:
    return next(one for one in at.button if one.key == key)


def has(at: AppTest, key: str) -> bool:
    return any(one.key == key for one in at.button)


def told(at: AppTest, name: str) -> str:
    value = at.query_params.get(name, "")
    return value[0] if isinstance(value, list) else value


def ids_of(at: AppTest) -> list[int]:
    """The set that the address names."""
    if kept := told(at, "kept"):
        return forget_sets.resolve(data.own_store().home, f"kept:{kept}").ids.tolist()
    return [int(each) for each in told(at, "ids").split(",") if each]


def hash_of(ids: list[int]) -> str:
    """What a result on these samples of digits has as its hash."""
    return training_of("digits").hash_of(sorted(ids))


def own_data(folder: Path, *, size: int = 60) -> str:
    """Grey images of two classes; images 0, 1, 2 are equal, and so are 3 and 4."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 256, (size, 8, 8), dtype=np.uint8)
    x[1] = x[2] = x[0]
    x[4] = x[3]
    y = np.arange(size) % 2
    np.savez(
        folder / "own.npz",
        x_train=x,
        y_train=y,
        x_val=x[5:9],
        y_val=y[5:9],
        x_test=x[9:20],
        y_test=y[9:20],
    )
    return str(folder / "own.npz")


# --- opening
# --------------------------------------------------------------------------------------------------


def test_an_address_shows_the_same_set_again(home):
    at = opened(ids="3,17,257")
    words = words_on(at)
    facts = {one.label: (one.value, one.help) for one in at.metric}
    assert facts["Samples to forget"] == ("3 samples", "0.25 % of 1,200 training samples")
    assert facts["Hash"][0] == hash_of([3, 17, 257])
    assert tells(words, "How it was made", "address")
    again = open_page("forget_sets", **{name: told(at, name) for name in at.query_params})
    assert [one.value for one in again.metric] == [one.value for one in at.metric]


@pytest.mark.parametrize(
    ("query", "facts"),
    [
        ({"ids": "3,17,99999"}, ("0 to 1796", 1, 99999)),
        ({"ids": "3,17,-2"}, ("'-2'",)),
        ({"ids": "3,17,17"}, ("repeated", 17)),
        ({"ids": "3,seven"}, ("'seven'",)),
        ({"kept": "0" * 32}, ("another machine", "removed")),
        ({"kept": "../../etc/passwd"}, ("set:NAME", "kept:DIGITS")),
    ],
)
def test_an_address_that_is_wrong_says_so(home, query, facts):
    at = opened(**query)
    assert [one for one in at.warning if tells(one.value.replace("\\", ""), *facts)]


def test_a_data_set_that_is_not_here_is_not_fetched(home, monkeypatch, tmp_path):
    monkeypatch.setenv("MUCORE_DATA", str(tmp_path / "data"))
    at = open_page("forget_sets", dataset="cifar10")
    (refused,) = at.error
    assert not at.exception and tells(refused.value, "CIFAR-10", "not on this machine")
    assert not list((tmp_path / "data").rglob("*"))
    assert "Saved sets" in words_on(at)
    npz = catalog.dataset("npz")
    assert tells(words_on(open_page("forget_sets", dataset="npz")), uploads.missing(npz))
    (refused,) = open_page("forget_sets", dataset="npz", path="/no/such.npz").error
    assert tells(refused.value, "no file", "/no/such.npz")


# --- ways in
# --------------------------------------------------------------------------------------------------


def test_a_scenario_its_parameters_undo_and_start_over(home):
    at = opened(**{"one_class.class_id": "3", "one_class.budget": "6"})
    assert "6 samples found." in words_on(at)
    keyed(at, "scenario:add").click().run()
    first = ids_of(at)
    assert first == [13, 83, 217, 1130, 1428, 1630], "as the command line has them"
    assert "Part of one class (" in words_on(at)
    at.text_input(key="url:one_class.budget").set_value("8").run()
    assert tells(words_on(at), "8 samples", "6 of them")
    assert (
        keyed(at, "scenario:add").label == "Add 2"
        and keyed(at, "scenario:take").label == "Take away 6"
    )
    keyed(at, "scenario:add").click().run()
    assert len(ids_of(at)) == 8 and set(first) < set(ids_of(at))
    keyed(at, "undo").click().run()
    assert ids_of(at) == first
    keyed(at, "start_over").click().run()
    assert ids_of(at) == [] and not has(at, "save_set")
    keyed(at, "undo").click().run()
    assert ids_of(at) == first
    keyed(at, "scenario:take").click().run()
    assert ids_of(at) == []


@pytest.mark.parametrize(
    ("scenario", "why"),
    [
        ("label_flip", ("before", "trained")),
        ("backdoor", ("before", "trained")),
        ("identities", ("persons", "who")),
        ("top_classes", ("features", "trained")),
        ("worst_case", ("losses", "no run")),
    ],
)
def test_a_scenario_that_cannot_be_listed_says_why_and_leads_to_launch(home, scenario, why):
    at = opened(by=scenario)
    assert tells(words_on(at), *why)
    assert [
        one
        for one in at.get("page_link")
        if f"scenarios={scenario}" in one.proto.query_string and "launch" in one.proto.page
    ]
    assert not any((one.key or "").startswith("scenario:") for one in at.button)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ({"one_class.budget": "1%,2%"}, "Give one budget"),
        ({"one_class.budget": "none"}, "needs a value"),
        ({"one_class.budget": "5000"}, "must be from 1 to"),
        ({"by": "class_wise", "class_wise.class_ids": ""}, "at least one class"),
    ],
)
def test_bad_parameters_are_a_sentence(home, query, sentence):
    at = opened(**query)
    assert sentence in words_on(at) and not any(
        (one.key or "").startswith("scenario:") for one in at.button
    )


def test_persons_can_be_listed_where_the_data_set_knows_them(home):
    at = open_page("forget_sets", dataset="faces", by="identities", **{"identities.count": "2"})
    assert not at.exception
    keyed(at, "scenario:add").click().run()
    training = training_of("faces")
    assert training.identities is not None
    persons = np.unique(training.identities[np.isin(training.ids, ids_of(at))])
    assert len(persons) == 2


def test_the_worst_case_where_an_original_kept_all_its_losses(home):
    training = training_of("digits")
    with open_store(home) as store:
        made = make_result(method="original")
        result = make_result(
            method="original", outputs=store.artifacts.put_outputs(predictions(training))
        )
        assert made.key == result.key
        store.put_result(result)
    at = opened(by="worst_case", **{"worst_case.budget": "5"})
    assert "training seed 0" in at.selectbox(key="url:original").options[0]
    keyed(at, "scenario:add").click().run()
    assert ids_of(at) == training.ids[-5:].tolist(), "those with the surest prediction"
    assert f"by the losses of {titles.model('mlp')}" in words_on(at)


def predictions(training: Any, sure: int = 0) -> Any:
    """An original that is the surer of a sample the higher its id."""
    from mucore.outputs import Outputs, SplitOutputs, confusion

    logits = np.zeros((len(training), 10), np.float32)
    logits[np.arange(len(training)), training.labels] = np.linspace(1, 9, len(training))
    split = {}
    for name, part in (
        ("forget", training.internal % 7 == 0),
        ("retain", training.internal % 7 != 0),
        ("test", training.internal < 50),
    ):
        counts = confusion(logits[part].argmax(1), training.labels[part], 10)
        split[name] = SplitOutputs(
            logits=logits[part],
            labels=training.labels[part],
            ids=training.internal[part],
            confusion=counts,
        )
    return Outputs(split)


def test_whole_classes_go_to_their_scenario(home):
    at = opened(way="class", classes=["3", "5"])
    training = training_of("digits")
    keyed(at, "class:add").click().run()
    assert ids_of(at) == sorted([*training.having(3).tolist(), *training.having(5).tolist()])
    assert told(at, "kept") and not told(at, "ids"), "too many for an address"
    assert tells(words_on(at), "Classes 3, 5") and "Launch it as whole classes" in links(at)
    assert {one.label: one.value for one in at.metric}["Spread"] == "2 of 10 classes"


def test_clicked_images_change_sides(home, monkeypatch):
    shown: dict[str, Callable[[list[int]], None]] = {}

    def show(
        training: Any, ids: Any, chosen: Any, key: str, on_click: Callable[[list[int]], None]
    ) -> None:
        shown[key] = on_click
        import streamlit as st

        st.button(
            "clicks", key=f"fake:{key}", on_click=on_click, args=([*ids[:1], *ids[2:3], 10**9],)
        )

    monkeypatch.setattr(image_wall, "show", show)
    at = opened(way="images", ids="2")
    keyed(at, "fake:gallery").click().run()
    assert ids_of(at) == [0], "0 came, 2 went, and what is no sample is passed over"
    assert tells(words_on(at), "How it was made", "Added 1", "click", "Took away 1", "click")
    at = opened(way="images", ids="3,5,6")
    keyed(at, "fake:chosen").click().run()
    assert ids_of(at) == [5], "3 and 6 went"


def test_the_gallery_is_paged_and_filtered_by_class(home):
    at = opened(way="images", gallery="20")
    assert at.number_input(key="url:gallery").max == 20
    at.selectbox(key="url:class").set_value("4").run()
    assert not at.exception and not at.error and at.number_input(key="url:gallery").value == 1
    assert at.number_input(key="url:gallery").max == -(
        -len(training_of("digits").having(4)) // image_wall.PAGE
    )


def test_images_are_those_of_the_data_set(home):
    from mucore.datasets import load

    training = training_of("digits")
    expected = load("digits").train.pixels[[5, 1199, 0]].permute(0, 2, 3, 1).numpy()
    assert np.array_equal(pictures(training, training.ids[[5, 1199, 0]].tolist()), expected)


def test_a_list_is_pasted(home):
    at = opened(way="list")
    at.text_area(key="paste").set_value("3 17, 257").run()
    keyed(at, "typed:add").click().run()
    assert ids_of(at) == [3, 17, 257] and "a pasted list" in words_on(at)
    for text, facts in (
        ("7x", ("'7x'",)),
        ("3\nseven\n24-27", ("'seven'",)),
        ("3 17 17", ("repeated", 17)),
        ("3 99999", ("0 to 1796", 99999)),
        ("3 7", ("held out as validation data", 7)),
    ):
        at.text_area(key="paste").set_value(text).run()  # taken whole or refused whole
        assert tells(words_on(at), *facts) and not has(at, "typed:add")
    at.text_area(key="paste").set_value("24-27").run()
    keyed(at, "typed:add").click().run()
    assert ids_of(at) == [3, 17, 24, 25, 26, 27, 257]


def test_a_file_is_read_and_a_set_of_other_data_refused(home):
    at = opened(way="list")
    at.file_uploader(key="ids_file").set_value(
        ("../../mine.csv", b"id,who\n3,a\n17,b\n", "text/csv")
    ).run()
    keyed(at, "file:add").click().run()
    assert ids_of(at) == [3, 17] and not [path for path in home.parent.rglob("mine.csv")]
    content = forget_sets.to_json(forget_sets.make("faces", [3], name="persons"))
    at.file_uploader(key="ids_file").set_value(("persons.json", content, "application/json")).run()
    assert tells(words_on(at), "'persons'", "faces", "digits") and not has(at, "file:add")


def a_map(home: Path) -> tuple[str, list[int]]:
    """A run and a stored map of it, as the analysis writes one; training samples 0 to 11 and one of
    the test set.
    """
    ids = [*range(12), 1500]
    with open_store(home) as store:
        result = make_result(method="original")
        store.put_result(result)
    import io

    from mucore.analysis import folder
    from mucore.files import write

    told = {"keys": [result.key], "classes": [0, 1], "note": "made up"}
    arrays = {
        "ids": np.array(ids),
        "labels": np.arange(13) % 2,
        "forgotten": np.zeros(13, bool),
        result.key: np.column_stack([np.arange(13), np.arange(13)]).astype(np.float32),
        "json": np.frombuffer(json.dumps(told).encode(), np.uint8),
    }
    stream = io.BytesIO()
    np.savez(stream, **arrays)  # ty: ignore[invalid-argument-type]
    write(folder(home) / ("0" * 32 + ".npz"), stream.getvalue())
    write(folder(home) / "torn.npz", b"PK")
    return result.key, ids


def test_a_lasso_on_a_stored_map(home):
    key, _ = a_map(home)
    assert [found.key for found in analysis.stored(home)] == ["0" * 32]
    at = opened(way="map")
    assert tells(words_on(at), "12 of 1,200 training samples")
    chart = f"map:{'0' * 32}:{key}:"
    rows = training_of("digits").ids[[4, 7]].tolist()
    points = [{"customdata": [each, "one"]} for each in (*rows, "1500", "nothing")]
    at.session_state[chart] = {
        "selection": {"points": points, "point_indices": [], "box": [], "lasso": []}
    }
    at.run()
    keyed(at, "map:add").click().run()
    assert not at.exception and ids_of(at) == rows
    assert tells(words_on(at), "How it was made", 2, "map of Original, seed 0")


# --- what it comes to
# --------------------------------------------------------------------------------------------------


def test_twins_that_stay_are_told_and_join_the_set(home, tmp_path):
    at = opened(dataset="npz", path=own_data(tmp_path), ids="1,3,4,30")
    words = words_on(at)
    assert [one for one in at.warning if tells(one.value, "1 forgotten image", "twin", 2)]
    assert tells(words, "2 samples of the set", "share")
    (twins,) = [one.value for one in at.dataframe if "Class of what stays" in one.value]
    assert (
        twins["To forget"].tolist() == ["1"]
        and twins["Stays"].tolist() == ["0, 2"]
        and twins["Class of what stays"].tolist() == ["0"]
    )
    keyed(at, "twins").click().run()
    assert ids_of(at) == [0, 1, 2, 3, 4, 30] and not has(at, "twins")


@pytest.mark.parametrize(
    ("ids", "facts"),
    [
        (range(9), ("fewer than 10",)),
        (range(31), ("More than half",)),
        (range(60), ("at least one sample", "stay")),
    ],
)
def test_sets_that_say_little_are_warned_of(home, tmp_path, ids, facts):
    at = opened(dataset="npz", path=own_data(tmp_path), ids=",".join(map(str, ids)))
    assert [one for one in at.warning if tells(one.value, *facts)]
    assert ("Launch with this set" in links(at)) == (len(ids) < 60)


def test_the_numbers_are_those_of_the_set(home, tmp_path):
    at = opened(dataset="npz", path=own_data(tmp_path), ids="0,2,4,5")
    (table,) = [
        one.value for one in at.dataframe if "To forget" in one.value and "Stay" in one.value
    ]
    assert (
        table["To forget"].tolist() == [3, 1]
        and table["Stay"].tolist() == [27, 29]
        and table["Forgotten, %"].tolist() == [10.0, 3.33]
    )


# --- saving
# --------------------------------------------------------------------------------------------------


def name_it(at: AppTest, name: str) -> AppTest:
    at.text_input(key="set_name").set_value(name).run()
    return at


def test_a_set_is_saved_opened_replaced_and_deleted(home):
    at = name_it(opened(ids="3,17,257"), "requests of may")
    keyed(at, "save_set").click().run()
    assert "Saved as requests of may." in words_on(at) and keyed(at, "save_set").disabled
    assert forget_sets.load(home, "requests of may").ids.tolist() == [3, 17, 257]
    at = name_it(opened(ids="5"), "requests of may")
    assert tells(words_on(at), "'requests of may'", "3 samples of digits")
    assert keyed(at, "save_set").disabled
    keyed(at, "replace_set").click().run()
    assert forget_sets.load(home, "requests of may").ids.tolist() == [5]
    at = open_page("forget_sets", dataset="fashion-mnist-10k")
    keyed(at, "open_set").click().run()
    assert told(at, "dataset") == "digits" and ids_of(at) == [5]
    keyed(at, "delete_set").click().run()
    assert not has(at, "open_set") and not has(at, "delete_set") and ids_of(at) == [5]
    assert forget_sets.listed(home) == ([], [])


@pytest.mark.parametrize("name", ["../mine", "C:\\x"])
def test_a_name_that_is_a_path_is_refused(home, name):
    at = name_it(opened(ids="3"), name)
    assert tells(words_on(at), "1 to 60") and keyed(at, "save_set").disabled


def test_a_damaged_file_costs_a_sentence_and_can_be_replaced(home):
    forget_sets.save(home, forget_sets.make("digits", [1], name="whole"))
    (forget_sets.folder(home) / "torn.json").write_text('{"format": "mucore forg')
    at = opened(ids="3")
    assert [one for one in at.warning if tells(one.value.replace("\\", ""), "torn.json")]
    assert "whole" in at.selectbox(key="url:saved").options
    at = name_it(at, "torn")
    assert "a damaged file" in words_on(at)
    keyed(at, "replace_set").click().run()
    assert forget_sets.load(home, "torn").ids.tolist() == [3]


# --- the runs that forget it
# --------------------------------------------------------------------------------------------------


SMALL: dict[str, Any] = {"model": "mlp", "preset": "quick", "methods": ["finetune"]}


def launched(at: AppTest, label: str) -> RunSpec:
    """Follow a link of the page to Launch and start what it asks for; the spec of the Retrain that
    was queued.
    """
    link = next(one.proto for one in at.get("page_link") if one.proto.label == label)
    from urllib.parse import parse_qs

    query = {
        name: values if len(values) > 1 else values[0]
        for name, values in parse_qs(link.query_string).items()
    }
    launch = open_page("launch", **{**query, **SMALL})
    assert not launch.exception and not launch.error
    button(launch, "Start").click().run()
    assert not launch.exception
    with open_store(data.own_store().home) as store:
        return next(
            spec
            for job in store.jobs()
            if (spec := RunSpec.model_validate(job.spec)).method == "retrain"
        )


@pytest.mark.parametrize("long", [False, True])
def test_launch_forgets_exactly_the_set(home, started, long):
    at = opened(way="class", classes=["3", "5"], ids="3,17,257")
    if long:
        keyed(at, "class:add").click().run()
    expected = hash_of(ids_of(at))
    assert bool(told(at, "kept")) == long and expected in words_on(at)
    spec = launched(at, "Launch with this set")
    assert sorted(spec.scenario_parameters["ids"]) == ids_of(at)
    with open_store(home) as store:
        session = Session(store, "cpu")
        assert session.forget_set(spec, None, session.run(spec, 0)).hash == expected


def test_another_process_forgets_exactly_the_saved_set(home):
    at = opened(**{"one_class.class_id": "3", "one_class.budget": "0.2"})
    keyed(at, "scenario:add").click().run()
    keyed(name_it(at, "threes"), "save_set").click().run()
    command = [
        sys.executable,
        "-m",
        "mucore",
        "forget-set",
        "--dataset",
        "digits",
        "--scenario",
        "ids",
        "--set",
        "scenario.ids=set:threes",
    ]
    environment = {**os.environ, "MUCORE_HOME": str(home)}
    done = subprocess.run(
        [*command, "--json"], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["hash"] == hash_of(ids_of(at)) and json.loads(done.stdout)[
        "hash"
    ] in words_on(at)


def test_launch_offers_the_saved_sets_of_its_data_set(home):
    forget_sets.save(home, forget_sets.make("digits", [3, 17], name="few"))
    forget_sets.save(home, forget_sets.make("faces", [3], name="persons"))
    at = open_page("launch", dataset="digits", scenarios=["ids"], **SMALL)
    field = at.selectbox(key="url:ids.ids:into")
    assert (
        field.options == ["few (2 samples)"] and field.value is None and "Build a set" in links(at)
    )
    field.set_value("set:few").run()
    assert (
        not at.exception
        and told(at, "ids.ids") == "set:few"
        and not at.button(key="start").disabled
    )
    assert forget_hash([3, 17]) in words_on(at)
    again = open_page(
        "launch", dataset="digits", scenarios=["ids"], **SMALL, **{"ids.ids": "set:few"}
    )
    assert again.selectbox(key="url:ids.ids:into").value == "set:few"
    again.text_input(key="url:ids.ids").set_value("3,5").run()
    assert (
        again.selectbox(key="url:ids.ids:into").value is None
        and not again.button(key="start").disabled
    )


@pytest.mark.parametrize(
    ("value", "facts"),
    [
        ("set:persons", ("'persons'", "faces", "digits")),
        ("set:nobody", ("'nobody'",)),
        ("set:../x", ("1 to 60",)),
        ("kept:" + "0" * 32, ("another machine", "removed")),
    ],
)
def test_launch_refuses_a_set_that_it_cannot_use(home, value, facts):
    forget_sets.save(home, forget_sets.make("faces", [3], name="persons"))
    at = open_page("launch", dataset="digits", scenarios=["ids"], **SMALL, **{"ids.ids": value})
    assert not at.exception and tells(words_on(at), *facts) and at.button(key="start").disabled


def test_launch_reads_a_saved_sets_file(home):
    at = open_page("launch", dataset="digits", scenarios=["ids"], **SMALL)
    (place,) = [one for one in at.file_uploader if one.key == "upload:ids.ids"]
    place.set_value(
        ("few.json", forget_sets.to_json(forget_sets.make("digits", [17, 3])), "application/json")
    ).run()
    assert told(at, "ids.ids") == "3,17" and not at.button(key="start").disabled
    at = open_page("launch", dataset="digits", scenarios=["ids"], **SMALL)
    (place,) = [one for one in at.file_uploader if one.key == "upload:ids.ids"]
    place.set_value(
        ("persons.json", forget_sets.to_json(forget_sets.make("faces", [1])), "application/json")
    ).run()
    assert "names samples of faces" in words_on(at)
