"""Forget sets as a person puts them together: every way in, what the set comes to, its name, and
the runs that forget exactly it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from facts import tells
from pages import button, links, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import data
from dashboard.widgets.training_set import pictures, training_of
from mucore.forget_sets import saved
from mucore.runner.session import Session
from mucore.runs import RunSpec
from mucore.store import open_store

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
        return saved.resolve(data.own_store().home, f"kept:{kept}").ids.tolist()
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
    facts = {one.label: (one.value, one.help) for one in at.metric}
    assert facts["Samples to forget"] == ("3", "0.25 % of 1,200 training samples")
    assert facts["Hash"][0] == hash_of([3, 17, 257])
    again = open_page("forget_sets", **{name: told(at, name) for name in at.query_params})
    assert [one.value for one in again.metric] == [one.value for one in at.metric]


@pytest.mark.parametrize(
    ("query", "facts"),
    [
        ({"ids": "3,17,99999"}, ("0 to 1796", 1, 99999)),
        ({"kept": "0" * 32}, ("another machine", "removed")),
        ({"kept": "../../etc/passwd"}, ("set:NAME", "kept:DIGITS")),
    ],
)
def test_an_address_that_is_wrong_says_so(home, query, facts):
    at = opened(**query)
    assert [one for one in at.warning if tells(one.value.replace("\\", ""), *facts)]


# --- ways in
# --------------------------------------------------------------------------------------------------


def test_whole_classes_go_to_their_scenario(home):
    training = training_of("digits")
    expected = training.having(3).tolist()
    at = opened(**{"class": "3", "ids": ",".join(map(str, expected[:2]))})
    assert keyed(at, "class:add").label == f"Add {len(expected) - 2}"
    assert keyed(at, "class:take").label == "Take away 2"
    keyed(at, "class:add").click().run()
    assert ids_of(at) == expected and "Launch it as whole classes" in links(at)
    at.selectbox(key="url:class").select("5").run()
    keyed(at, "class:add").click().run()
    assert ids_of(at) == sorted([*expected, *training.having(5).tolist()])
    assert told(at, "kept") and not told(at, "ids"), "too many for an address"
    keyed(at, "class:take").click().run()
    assert ids_of(at) == expected
    keyed(at, "start_over").click().run()
    assert ids_of(at) == [] and not has(at, "save_set")


def test_images_are_those_of_the_data_set(home):
    from mucore.datasets import load

    training = training_of("digits")
    expected = load("digits").train.pixels[[5, 1199, 0]].permute(0, 2, 3, 1).numpy()
    assert np.array_equal(pictures(training, training.ids[[5, 1199, 0]].tolist()), expected)


def test_a_list_is_pasted(home):
    at = opened(way="list")
    at.text_area(key="paste").set_value("3 17, 257").run()
    keyed(at, "typed:add").click().run()
    assert ids_of(at) == [3, 17, 257]
    for text, facts in (
        ("7x", ("'7x'",)),
        ("3\nseven\n24-27", ("'seven'",)),
        ("3 17 17", ("repeated", 17)),
        ("3 99999", ("0 to 1796", 99999)),
        ("3 7", ("held out", "1 of 2 are none: 7")),
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
    content = saved.to_json(saved.make("faces", [3], name="persons"))
    at.file_uploader(key="ids_file").set_value(("persons.json", content, "application/json")).run()
    assert tells(words_on(at), "'persons'", "faces", "digits") and not has(at, "file:add")


# --- what it comes to
# --------------------------------------------------------------------------------------------------


def test_twins_that_stay_are_told_and_join_the_set(home, tmp_path):
    at = opened(dataset="npz", path=own_data(tmp_path), ids="1,3,4,30")
    assert [one for one in at.warning if tells(one.value, "Identical images that stay", 2)]
    keyed(at, "twins").click().run()
    assert ids_of(at) == [0, 1, 2, 3, 4, 30] and not has(at, "twins")


@pytest.mark.parametrize(
    ("ids", "facts"), [(range(9), ("fewer than 10",)), (range(60), ("at least one sample", "stay"))]
)
def test_sets_that_say_little_are_warned_of(home, tmp_path, ids, facts):
    at = opened(dataset="npz", path=own_data(tmp_path), ids=",".join(map(str, ids)))
    assert [one for one in at.warning if tells(one.value, *facts)]
    assert ("Launch with this set" in links(at)) == (len(ids) < 60)


# --- saving
# --------------------------------------------------------------------------------------------------


def name_it(at: AppTest, name: str) -> AppTest:
    at.text_input(key="set_name").set_value(name).run()
    return at


def test_a_set_is_saved_opened_replaced_and_deleted(home):
    at = name_it(opened(ids="3,17,257"), "requests of may")
    keyed(at, "save_set").click().run()
    assert keyed(at, "save_set").disabled
    assert saved.load(home, "requests of may").ids.tolist() == [3, 17, 257]
    at = name_it(opened(ids="5"), "requests of may")
    assert tells(words_on(at), "requests of may", "3 samples of digits")
    assert keyed(at, "save_set").label == "Replace it"
    keyed(at, "save_set").click().run()
    assert saved.load(home, "requests of may").ids.tolist() == [5]
    at = open_page("forget_sets", dataset="fashion-mnist-10k")
    keyed(at, "open_set").click().run()
    assert told(at, "dataset") == "digits" and ids_of(at) == [5]
    keyed(at, "delete_set").click().run()
    assert not has(at, "open_set") and not has(at, "delete_set") and ids_of(at) == [5]
    assert saved.listed(home) == ([], [])


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
    at = opened(**{"class": "3", "ids": "3,17,257"})
    for each in ["3", "5"] * long:
        at.selectbox(key="url:class").select(each).run()
        keyed(at, "class:add").click().run()
    expected = hash_of(ids_of(at))
    assert bool(told(at, "kept")) == long
    assert expected in [one.value for one in at.metric]
    spec = launched(at, "Launch with this set")
    assert sorted(spec.scenario_parameters["ids"]) == ids_of(at)
    with open_store(home) as store:
        session = Session(store, "cpu")
        assert session.forget_set(spec, None, session.run(spec, 0)).hash == expected
