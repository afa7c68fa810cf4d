"""A store as guests see it: the same numbers under the same keys, and no path of this machine."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from builders import make_model, make_result, make_spec_row

from mucore.runs import RunSpec
from mucore.store import GuestStore, Measured, open_store
from mucore.store.guests import dataset_of, without_paths

OWN = "npz:/home/ada/secret project/faces.npz"
HASH = "a" * 64


def own_spec(method: str = "finetune") -> RunSpec:
    spec = make_spec_row(method=method)
    return spec.model_copy(update={"dataset": OWN, "data_hash": HASH})


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """A home with a result on own data that names paths wherever one can stand, its job, and a
    result on catalogued data.
    """
    with open_store(tmp_path / "home") as store:
        spec = own_spec()
        store.put_result(
            dataclasses.replace(
                make_result(),
                key=spec.key,
                spec=spec.model_dump(mode="json"),
                notes=("Read from /home/ada/notes.txt.",),
                flags=("Look at /home/ada/a/b.",),
                stop_reason="no /tmp/x/y any more",
                metrics={
                    "ta": Measured(0.5),
                    "fa": Measured(None, "/srv/data/z is gone."),
                    "ra": Measured(None, f"{OWN.partition(':')[2]} is gone."),
                },
            )
        )
        store.put_result(make_result())
        (job,) = store.enqueue([own_spec("scrub").original()])
        store.claim("w")
        store.finish_job(
            job.id, "failed", error='File "/root/code/x.py", line 3: bad', worker_id="w"
        )
        grid = {"dataset": OWN, "original": "", "methods": [{"id": "scrub"}]}
        store.create_comparison("May", "From /home/ada/x.", grid, [spec.key])
        store.create_comparison(f"{OWN} · mlp · one_class", "", grid, [spec.key])
        store.put_model(
            make_model(
                spec.original().model_key,
                spec=spec.original().model_dump(mode="json"),
                stop_reason="no /home/ada/z any more",
                notes=("Read from /home/ada/weights.pt.",),
            )
        )
    return tmp_path / "home"


def test_guests_see_numbers_under_the_same_keys_and_no_path(filled):
    guests = GuestStore(filled, sentence="Read.")
    with guests, open_store(filled) as owner:
        assert {one.key for one in guests.results()} == {one.key for one in owner.results()}
        assert list(guests.summaries()["key"]) == list(owner.summaries()["key"])
        numbers = ["key", "metric", "value", "gap"]
        assert guests.metric_values()[numbers].equals(owner.metric_values()[numbers])
        failed = guests.metric_values()["error"].notna()
        assert failed.sum() == 2 and failed.equals(owner.metric_values()["error"].notna())
        found = guests.get_result(own_spec().key)
        assert found is not None
        # the spec that guests see still names the same run
        assert RunSpec.model_validate(found.spec).key == found.key
        model = guests.get_model(own_spec().original().model_key)
        assert model is not None
        everything = [
            *map(dataclasses.asdict, guests.results()),
            *map(dataclasses.asdict, guests.jobs()),
            *map(dataclasses.asdict, guests.comparisons()),
            guests.summaries().to_dict(),
            guests.metric_values().to_dict(),
            dataclasses.asdict(model),
        ]
    told = json.dumps(everything, default=str)
    for secret in ("/home", "ada", "secret project", "/root", "/tmp", "/srv"):
        assert secret not in told, secret
    assert "faces.npz" in told and "x.py" in told


def test_guests_choose_own_data_by_the_name_that_they_see(filled):
    with GuestStore(filled, sentence="Read.") as guests:
        name = next(one for one in guests.summaries()["dataset"] if ":" in one)
        assert list(guests.summaries(dataset=name)["key"]) == [own_spec().key]
        assert [one.key for one in guests.results(dataset=("digits",))] == [make_result().key]
        assert not len(guests.summaries(dataset=OWN))


def test_the_name_of_a_data_set_stays_what_it_is_and_tells_files_apart():
    shown = dataset_of(OWN)
    assert shown.endswith("/faces.npz") and dataset_of(shown) == shown
    assert dataset_of("npz:/elsewhere/faces.npz") != shown
    assert dataset_of("digits") == "digits" and dataset_of("folder:/a/b").startswith("folder:")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("No file at /home/ada/x.npz.", "No file at x.npz."),
        ('File "/root/code/a.py", line 3', 'File "a.py", line 3'),
        (r"C:\Users\ada\x.npz is damaged", "x.npz is damaged"),
        ("~/data/x.npz and /a/b/", "x.npz and b"),
        ("TA and/or FA, 3/4 of it, train/CLASS/*.png",) * 2,
        ("See https://docs.example.org/a/b.",) * 2,
        ("postgresql+psycopg://u:***@db.internal/x was busy", "… was busy"),
        ("The store /my home/of mine/store.sqlite", "The store of mine/store.sqlite"),
        ("train original · npz:/a/b/c.npz · mlp", "train original · npz:c.npz · mlp"),
    ],
)
def test_sentences_lose_their_paths(text, shown):
    assert without_paths(text, "/my home/of mine") == shown
