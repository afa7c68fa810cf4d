"""`mucore purge`: what samples left in a home is listed, and goes when that is said."""

import json
from typing import Any

import mucore.api as mu
from mucore import cli, datasets, purge
from mucore.forget_sets import identity
from mucore.runs import make_recipe
from mucore.store import open_store


def test_what_samples_left_goes_and_the_record_names_none(tmp_path, capsys):
    setting: dict[str, Any] = {
        "dataset": "digits",
        "model": "mlp",
        "preset": "quick",
        "recipe": {"epochs": 1},
    }
    splits = datasets.load("digits", **make_recipe("quick").cut())
    rows = identity.to_rows(splits, splits.train.ids[:12].tolist()).tolist()
    forget: dict[str, Any] = {"scenario": "ids", "scenario_parameters": {"ids": rows}}
    frame = mu.compare(**setting, **forget, methods=["ssd"], device="cpu", home=tmp_path)
    (tmp_path / "analyses").mkdir()
    (tmp_path / "analyses" / "made.npz").write_bytes(b"thumbnails")
    command = ["purge", "--dataset", "digits", "--ids", ",".join(map(str, rows[:3]))]
    command += ["--home", str(tmp_path)]
    assert cli.main(command) == 0 and "--yes" in capsys.readouterr().out
    with open_store(tmp_path) as store:
        found = purge.left(store, "digits", rows[:3])
        originals = {one.model_key for one in store.results(method="original")}
        # Retrain never saw them and the method forgot them: only the original is left
        assert set(found.models) == originals and len(found.outputs) == len(frame) + 1
        # nobody forgot these
        others = identity.to_rows(splits, splits.train.ids[20:22].tolist()).tolist()
        assert len(purge.left(store, "digits", others).models) == 3
    assert cli.main([*command, "--yes"]) == 0
    with open_store(tmp_path) as store:
        results = store.results()
        assert len(results) == len(found.outputs) and all(one.outputs is None for one in results)
        assert [one.metrics["ta"].value for one in results if one.spec["method"] == "ssd"]
        kept = {one.spec["method"] for one in results if one.weights}
    assert kept == {"retrain", "ssd"} and len([*(tmp_path / "artifacts").rglob("*.*")]) == 2
    assert not [*(tmp_path / "analyses").iterdir()]
    (line,) = map(json.loads, (tmp_path / purge.RECORD).read_text().splitlines())
    assert line.keys() == {"time", "predictions", "networks", "forget sets", "files"}
    command[4] = "99999"
    assert cli.main(command) == 2
