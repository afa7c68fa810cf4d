"""The doors through which people name samples: images that carry their row in their pixels are sent
through each, under every division.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from builders import attributes_file
from painted import CUTS, ROWS, folder, npz, seen

from mucore import api, cli, datasets
from mucore.errors import BadFile, BadValue, MucoreError, MucoreWarning, UnknownName
from mucore.forget_sets import identity, lists, saved
from mucore.forget_sets.saved import forget_hash
from mucore.runner.grid import expand, parse_grid
from mucore.runner.session import Session
from mucore.runs import RunSpec, classes
from mucore.store import open_store

KINDS = ["npz", "folder", "digits"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    return tmp_path


def data(kind: str, place: Path) -> str:
    if kind == "npz":
        return npz(place / "own.npz")
    return folder(place / "own")[0] if kind == "folder" else "digits"


def planned(dataset: str, ids: Any, **recipe: Any) -> RunSpec:
    grid = {
        "dataset": dataset,
        "model": "mlp",
        "preset": "quick",
        "recipe": recipe,
        "scenarios": [{"id": "ids", "parameters": {"ids": ids}}],
        "methods": [],
    }
    return next(spec for spec in expand(parse_grid(grid))[0] if spec.method == "retrain")


def forgotten(spec: RunSpec, home: Path) -> list[int]:
    """The rows that the images say which a run of the spec forgets."""
    with open_store(home / "home") as store:
        session = Session(store, "cpu")
        found = session.forget_set(spec, None, session.run(spec, 0))
        train = session.splits(spec).train
    if spec.dataset == "digits":
        from sklearn.datasets import load_digits

        pixels = np.rint(load_digits().images * 255 / 16).astype(np.uint8)
        images = train.pixels[found.ids, 0].numpy()
        return [int((pixels == image).all((1, 2)).argmax()) for image in images]
    rows = seen(train)
    return sorted(rows[place] for place in found.ids)


def ways(rows: list[int], place: Path) -> dict[str, str]:
    """Lists of rows as files, by what the command line takes."""
    np.save(place / "rows.npy", np.array(rows))
    (place / "rows.csv").write_bytes(lists.to_csv(rows))
    (place / "rows.json").write_text(json.dumps(rows))
    names = ("rows.npy", "rows.csv", "rows.json")
    return {name: f"@{place / name}" for name in names} | {"typed": ",".join(map(str, rows))}


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_every_door_names_the_same_images(home, capsys, kind, cut) -> None:
    dataset = data(kind, home)
    rows = sorted(datasets.load(dataset, **cut).train.rows[[1, 4, 5, -1]].tolist())
    assert rows != [1, 4, 5, 6] and forgotten(planned(dataset, rows, **cut), home) == rows
    settings = [part for key, value in cut.items() for part in ("--set", f"recipe.{key}={value}")]
    command = ["forget-set", "--dataset", dataset, "--scenario", "ids", *settings, "--json"]
    hashes = set()
    for name, text in ways(rows, home).items():
        assert identity.chosen(text, dataset) == rows, name
        assert cli.main([*command, "--set", f"scenario.ids={text}"]) == 0
        told = json.loads(capsys.readouterr().out)
        assert told["ids"] == rows and sum(each["count"] for each in told["by_class"]) == 4
        assert [each["row"] for each in told["first"]] == rows[:3]
        hashes.add(told["hash"])
    ids = identity.to_ids(splits := datasets.load(dataset, **cut), rows)
    assert hashes == {forget_hash(ids.tolist())}
    assert identity.to_rows(splits, ids).tolist() == rows


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_set_is_the_same_set_under_another_division(home, capsys, kind) -> None:
    dataset = data(kind, home)
    rows = sorted(datasets.load(dataset).train.rows[[1, 4, 5, -1]].tolist())
    text = ",".join(map(str, rows))
    asked = ["forget-set", "--dataset", dataset, "--scenario", "ids", "--save", "mine"]
    assert cli.main([*asked, "--set", f"scenario.ids={text}"]) == 0
    capsys.readouterr()
    found = saved.load(home / "home", "mine")
    assert found.version == 2 and found.ids.tolist() == rows
    file = home / "home" / "forget_sets" / "mine.json"
    for value in ("set:mine", f"@{file}"):
        named = identity.chosen(value, dataset)
        for cut in CUTS[:2]:
            assert forgotten(planned(dataset, named, **cut), home) == rows


def test_a_set_of_an_earlier_version_is_translated_and_says_so(home, capsys) -> None:
    ids = [3, 17, 256, 1199]
    content = {
        "format": "mucore forget set",
        "version": 1,
        "name": "old",
        "dataset": "digits",
        "data_hash": "",
        "hash": forget_hash(ids),
        "ids": ids,
    }
    folder = saved.folder(home / "home")
    folder.mkdir(parents=True)
    (folder / "old.json").write_text(json.dumps(content))
    found = saved.load(home / "home", "old")
    assert json.loads(saved.to_json(found))["rows"] == ids, "passed on as it was"
    with pytest.warns(MucoreWarning) as told:
        rows = identity.chosen("set:old", "digits")
    splits = datasets.load("digits")
    assert rows == splits.train.rows[ids].tolist() and rows != ids and len(told) == 1
    assert cli.main("forget-set --dataset digits --scenario ids --set ids.ids=set:old".split()) == 0
    printed = capsys.readouterr()
    assert printed.out.split() == ["id", *map(str, rows)] and "earlier version" in printed.err
    assert forget_hash(ids) in printed.err, "the hash that results have stays"
    (folder / "old.json").write_text(
        json.dumps(content | {"ids": [1200], "hash": forget_hash([1200])})
    )
    with pytest.warns(MucoreWarning), pytest.raises(BadValue, match="does not have in training"):
        identity.chosen("set:old", "digits")


def test_what_python_gives_is_read_alike(home) -> None:
    dataset = data("npz", home)
    rows = sorted(datasets.load(dataset).train.rows[[1, 4, 5]].tolist())
    mask = np.isin(np.arange(ROWS), rows)
    path = home / "rows.csv"
    path.write_bytes(lists.to_csv(rows))
    for value in (rows, tuple(rows), np.array(rows), mask, mask.tolist(), path, f"@{path}"):
        assert identity.chosen(value, dataset) == rows
    with pytest.raises(BadValue, match=f"{ROWS:,} training samples"):
        identity.chosen(mask[:-1], dataset)
    with pytest.raises(BadFile, match="0 and 1 alone"):
        identity.chosen(mask.astype(int), dataset)


def test_files_of_a_folder_are_named_by_path_or_by_what_is_theirs_alone(home) -> None:
    dataset, names = folder(home / "own")
    assert identity.chosen([names[7], names[31]], dataset) == [7, 31]
    assert identity.chosen(["1/02.png", "6/01.png"], dataset) == [7, 31]
    (home / "files.csv").write_text(f"file,why\n{names[7]},a\n{names[31]},b\n")
    assert identity.chosen(f"@{home / 'files.csv'}", dataset) == [7, 31]
    with pytest.raises(BadValue) as refused:
        identity.chosen([f"{number}.jpg" for number in range(7)], dataset)
    assert "7 of 7" in str(refused.value) and "4.jpg and 2 more" in str(refused.value)
    # several classes have files of these names
    with pytest.raises(BadValue, match="2 of 2 name none, or more than one"):
        identity.chosen(["02.png", "01.png"], dataset)
    with pytest.raises(BadValue, match="no files with names"):
        identity.chosen(["a.png"], data("npz", home))


WRONG = {
    "held out": ("1 of 1 are none: {held}. Take", "{held}"),
    "beyond": ("0 to 59 of", "3,60"),
    "twice": ("repeated are", "3,3"),
    "empty": ("names no sample", ""),
}


@pytest.mark.parametrize("why", WRONG)
def test_what_cannot_be_forgotten_is_refused_when_it_is_planned(home, capsys, why) -> None:
    dataset = data("npz", home)
    held = int(datasets.load(dataset).validation.rows[0])
    sentence, text = (each.format(held=held) for each in WRONG[why])
    text = text.replace("3", str(datasets.load(dataset).train.rows[0])) if why == "twice" else text
    common = [f"--dataset={dataset}", *"--model mlp --scenario ids --methods finetune".split()]
    for command in ("plan", "run", "forget-set"):
        asked = common if command != "forget-set" else common[:-2]
        assert cli.main([command, *asked, "--set", f"ids.ids={text}"]) == 2
        assert sentence in capsys.readouterr().err
    named: dict[str, Any] = {
        "dataset": dataset,
        "model": "mlp",
        "scenario": "ids",
        "methods": "finetune",
    }
    with pytest.raises(MucoreError, match=sentence):
        api.compare(**named, scenario_parameters={"ids": text})
    with open_store(home / "home") as store:
        assert not store.jobs() and not store.results()
    if why == "held out":
        assert planned(dataset, [held], validation_from="test").scenario_parameters["ids"] == [held]


def test_what_the_recipe_leaves_out_is_told(home) -> None:
    with pytest.raises(BadValue, match=r"1 of 2 are none: 59\b"):
        planned(data("npz", home), [0, 59], per_class=3, validation_from="test")


def test_a_run_of_the_first_revision_keeps_key_and_meaning(home) -> None:
    now = planned("digits", [3, 17])
    assert now.scenario_parameters == {"ids": [3, 17], "revision": 2}
    then = now.model_copy(update={"scenario_parameters": {"ids": [3, 17]}})
    assert then.canonical()["revisions"]["scenario"] == 1 and then.key != now.key
    assert now.canonical()["revisions"]["scenario"] == 2
    train = datasets.load("digits").train
    assert forgotten(then, home) == train.rows[[3, 17]].tolist()
    assert forgotten(now, home) == [3, 17]
    with pytest.raises(BadValue, match="another version"):
        planned_again = {"ids": [3, 17], "revision": 1}
        grid = {"dataset": "digits", "model": "mlp", "methods": []}
        expand(parse_grid({**grid, "scenarios": [{"id": "ids", "parameters": planned_again}]}))


NAMES = ("cat", "dog", "2", "10")


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        ("dog", 1),
        (" cat", 0),
        ("1", 1),
        (1, 1),
        ("10", 3),
        ("dog,0", [1, 0]),
        (["dog", 3], [1, 3]),
        ("7", 7),  # refused by who knows how many there are
        ("0.5", "0.5"),
        (None, None),
    ],
)
def test_classes_go_by_number_or_by_name(given, numbers) -> None:
    for name in ("class_id", "class_ids", "target"):
        found = classes.numbered({name: given, "budget": "cat"}, NAMES)
        assert found == {name: numbers, "budget": "cat"}


def test_a_name_that_is_another_class_s_number_is_refused() -> None:
    with pytest.raises(BadValue, match=r"'2' is the name of class 1 and the number of another one"):
        classes.numbered({"class_ids": "0,2"}, ("0", "2", "x"))
    with pytest.raises(UnknownName, match="Did you mean dog"):
        classes.numbered({"class_id": "dogs"}, NAMES)


def test_a_folder_s_class_is_forgotten_by_its_name(home, capsys) -> None:
    dataset, _ = folder(home / "own")
    asked = f"--dataset {dataset} --scenario class_wise --set class_wise.class_ids=2,10".split()
    assert cli.main(["forget-set", *asked, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["class_names"] == ["2", "10"] and {row // 5 for row in told["ids"]} == {2, 10}
    assert all(each["file"].startswith("train/2/") for each in told["first"])
    command = "plan --dataset fashion-mnist-10k --model mlp --methods finetune --scenario one_class"
    assert cli.main([*command.split(), "--set", "scenario.class_id=Bag", "--json"]) == 0
    printed = capsys.readouterr()
    assert "one_class is about class 8 (Bag)." in printed.err
    told = json.loads(printed.out)
    named = [{"number": 8, "name": "Bag"}]
    assert told["classes"] == [{"scenario": "one_class", "classes": named}]
    retrain = next(each["spec"] for each in told["runs"] if each["spec"]["method"] == "retrain")
    assert retrain["scenario_parameters"]["class_id"] == 8
    assert cli.main(["plan", *command.split()[1:], "--set", "scenario.class_id=Bagg"]) == 2
    assert "Did you mean Bag?" in capsys.readouterr().err


def test_a_plan_says_which_images_it_is_about(home, capsys) -> None:
    command = "plan --dataset fashion-mnist-10k --model mlp --methods finetune --scenario ids --set"
    assert cli.main([*command.split(), "ids.ids=3,5,256-257", "--json"]) == 0
    printed = capsys.readouterr()
    (told,) = json.loads(printed.out)["samples"]
    labels = datasets.load("fashion-mnist-10k").train.labels[[3, 5, 256, 257]].tolist()
    assert told["count"] == 4 and [each["row"] for each in told["first"]] == [3, 5, 256]
    assert {each["number"]: each["count"] for each in told["classes"]} == {
        label: labels.count(label) for label in labels
    }
    assert "Forgets 4:" in printed.err and "row 256 (" in printed.err


@pytest.mark.parametrize("kind", ["npz", "folder"])
@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_every_sample_has_one_number_and_that_of_training_data_is_its_row(home, kind, cut) -> None:
    splits = datasets.load(data(kind, home), **cut)
    found = identity.numbers(splits)
    assert (
        len(found) == len({*found.tolist()}) == sum(len(getattr(splits, n)) for n in splits.names)
    )
    for name in splits.names:
        split = getattr(splits, name)
        rows = seen(split)
        if split.source is not splits.train.source:  # every fifth image is in the folder's test set
            rows = [ROWS + (row // 5 if kind == "folder" else row) for row in rows]
        assert found[split.ids.numpy()].tolist() == rows


def test_a_sample_is_asked_for_once_in_a_sequence_and_told_when_it_is_planned(home, capsys) -> None:
    command = (
        "plan --dataset digits --model mlp --methods finetune --scenario ids --set ids.ids=3,5"
    )
    assert cli.main([*command.split(), "--then", "ids ids=6,11"]) == 0
    assert cli.main([*command.split(), "--then", "ids ids=5,6"]) == 2
    assert "Sample 5 was forgotten by an earlier request" in capsys.readouterr().err


def test_attributes_are_not_called_classes(tmp_path):
    splits = datasets.load(f"npz:{attributes_file(tmp_path / 'faces.npz')}")
    said = identity.described(splits, [0, 1, 2]).sentence
    assert "class" not in said and f" with {splits.class_names[0]}" in said
    assert identity.files(splits) == [""] * len(identity.numbers(splits))


def test_every_sample_of_a_folder_has_its_file(tmp_path):
    dataset, names = folder(tmp_path)
    splits = datasets.load(dataset)
    files, rows = identity.files(splits), identity.numbers(splits)
    train = splits.train.ids.tolist()
    assert [files[each] for each in train] == [names[rows[each]] for each in train]
    assert files[int(splits.test.ids[0])].startswith("test/")
