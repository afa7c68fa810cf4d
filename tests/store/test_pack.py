"""Packs: results that travel as text."""

from __future__ import annotations

import dataclasses
import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from builders import full_store, make_outputs, make_result

from mucore.errors import BadFile, StoreError
from mucore.store import open_pack, open_store, pack_provenance, write_pack


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pack")
    with full_store(folder / "home") as store:
        return write_pack(store, folder / "pack")


def files_of(folder: Path) -> list[str]:
    return sorted(str(each.relative_to(folder)) for each in folder.rglob("*") if each.is_file())


def test_a_pack_gives_back_results_and_comparisons(tmp_path: Path) -> None:
    with full_store(tmp_path / "home") as store:
        store.put_result(
            make_result(
                training_seed=8,
                metrics={"ta": None, "l2": 2.5},
                weights="a.safetensors",
                outputs="a.parquet",
            )
        )
        expected = [
            dataclasses.replace(result, demo=True, weights=None, outputs=None)
            for result in store.results()
        ]
        (comparison,) = store.comparisons()
        values = store.metric_values()
        folder = write_pack(store, tmp_path / "pack")
    with open_pack(folder) as opened:
        assert opened.results() == expected
        assert opened.comparisons() == [dataclasses.replace(comparison, demo=True)]
        pd.testing.assert_frame_equal(opened.metric_values(), values)
        assert opened.summaries()["demo"].all()
        assert len(opened.summaries(comparison=opened.comparisons()[0].id)) == len(comparison.keys)
        assert (opened.jobs(), opened.workers()) == ([], [])
        with pytest.raises(StoreError, match="demo results can only be read"):
            opened.put_result(make_result())
    assert files_of(folder) == ["comparisons.jsonl", "pack.json", "results/all.jsonl.zst"]
    about = pack_provenance(folder)
    assert (
        about["results"] == len(expected)
        and about["devices"] == ["cpu"]
        and about["versions"][0]["mucore"] == "0.1.0"
    )


def test_a_pack_of_some_results(tmp_path: Path) -> None:
    with full_store(tmp_path / "home") as store:
        keys = [result.key for result in store.results(method="salun")]
        write_pack(store, tmp_path / "pack", keys=keys)
        write_pack(store, tmp_path / "none", keys=[])
    with open_pack(tmp_path / "pack") as opened:
        assert (
            {result.key for result in opened.results()}
            == set(keys)
            == set(opened.comparisons()[0].keys)
        )
    with open_pack(tmp_path / "none") as opened:
        assert opened.results() == [] and opened.comparisons() == []


def test_predictions_of_chosen_runs_travel_thinned_and_alike(tmp_path: Path) -> None:
    with open_store(tmp_path / "home") as store:
        for seed in (1, 2, 3):
            stored = store.artifacts.put_outputs(make_outputs(seed=seed))
            store.put_result(make_result(method="finetune", training_seed=seed, outputs=stored))
        first, second, third = sorted(
            store.results(), key=lambda result: result.spec["training_seed"]
        )
        write_pack(store, tmp_path / "pack", outputs=[first.key, second.key], samples=5)
    with open_pack(tmp_path / "pack") as opened:
        names = {result.key: result.outputs for result in opened.results()}
        assert names[third.key] is None
        packed = [opened.artifacts.get_outputs(names[each.key] or "") for each in (first, second)]
    for name, whole in make_outputs(seed=1).items():
        one, other = packed[0][name], packed[1][name]
        assert (
            len(one) == 5
            and np.array_equal(one.ids, other.ids)
            and not np.array_equal(one.logits, other.logits)
        )
        assert one.total == whole.total  # the confusion counts still cover the whole split
        rows = {int(each): place for place, each in enumerate(whole.ids)}
        kept = [rows[int(each)] for each in one.ids]
        assert np.array_equal(one.labels, whole.labels[kept])
        assert np.allclose(one.logits, whole.logits[kept], rtol=2.0**-8, atol=0)
        assert (one.features is None) == (whole.features is None or name == "validation")
        if one.features is not None and whole.features is not None:
            # 2 bits of fraction: no further from what it was than an eighth
            assert np.allclose(one.features, whole.features[kept], rtol=2.0**-3, atol=0)
            assert not (one.features.view(np.uint16) & 0xFF).any()
    assert pack_provenance(tmp_path / "pack")["outputs"] == {"runs": 2, "samples": 5}


def contents(folder: Path) -> dict[str, bytes]:
    """All files but pack.json, which has the moment at which it was written."""
    return {name: (folder / name).read_bytes() for name in files_of(folder) if name != "pack.json"}


def test_packing_what_a_pack_holds_changes_no_byte(tmp_path: Path) -> None:
    with full_store(tmp_path / "home") as store:
        folder = write_pack(store, tmp_path / "pack")
    with open_pack(folder) as opened:
        again = write_pack(opened, tmp_path / "again")
    assert contents(folder) == contents(again) != {}


def test_a_pack_stays_where_a_new_one_cannot_be_made(pack: Path, tmp_path: Path) -> None:
    before = contents(pack)
    with open_store(tmp_path / "home") as store:
        store.put_result(make_result(outputs=store.artifacts.put_outputs(make_outputs())))
        shutil.rmtree(store.home / "artifacts")
        with pytest.raises(BadFile):
            write_pack(store, pack, outputs=[each.key for each in store.results()])
    assert contents(pack) == before != {}


def test_what_is_no_pack(pack: Path, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no pack of results"):
        open_pack(tmp_path)
    about = json.loads((pack / "pack.json").read_text())
    (tmp_path / "pack.json").write_text("{")
    with pytest.raises(BadFile, match="cannot be read"):
        open_pack(tmp_path)
    (tmp_path / "pack.json").write_text(json.dumps(about | {"format": 9}))
    with pytest.raises(BadFile, match="format 9; this mucore reads format 2"):
        open_pack(tmp_path)
    (tmp_path / "pack.json").write_text(json.dumps(about))
    name = next(each for each in about["sha256"] if each.startswith("results"))
    with pytest.raises(BadFile, match=f"no readable {name}"):
        open_pack(tmp_path)
    shutil.copytree(pack / "results", tmp_path / "results")
    (tmp_path / name).write_bytes((pack / name).read_bytes()[:-9])
    with pytest.raises(BadFile, match="damaged"):
        open_pack(tmp_path)
    outside = {"../results.jsonl.zst": about["sha256"][name]}
    (tmp_path / "pack.json").write_text(json.dumps(about | {"sha256": outside}))
    with pytest.raises(BadFile, match="outside the pack"):
        open_pack(tmp_path)
