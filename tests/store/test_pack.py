"""Packs: results that travel as text."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
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
    assert sorted(path.name for path in folder.iterdir()) == [
        "comparisons.jsonl.gz",
        "pack.json",
        "results.jsonl.gz",
    ]
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
        assert np.array_equal(one.labels, whole.labels[[rows[int(each)] for each in one.ids]])
        assert (one.features is None) == (whole.features is None) and (
            one.features is None or len(one.features) == len(one)
        )
    assert pack_provenance(tmp_path / "pack")["outputs"] == {"runs": 2, "samples": 5}


def test_a_pack_made_again_leaves_no_file_of_the_one_before(tmp_path: Path) -> None:
    with open_store(tmp_path / "home") as store:
        store.put_result(make_result(outputs=store.artifacts.put_outputs(make_outputs())))
        (result,) = store.results()
        write_pack(store, tmp_path / "pack", outputs=[result.key])
        assert list((tmp_path / "pack" / "artifacts").rglob("*.parquet"))
        write_pack(store, tmp_path / "pack")
    assert not list((tmp_path / "pack").rglob("*.parquet"))


def test_the_same_results_give_the_same_bytes(pack: Path, tmp_path: Path) -> None:
    with open_pack(pack) as opened:
        write_pack(opened, tmp_path / "first")
        write_pack(opened, tmp_path / "second")
    name = "results.jsonl.gz"
    assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_two_packs_do_not_mix(pack: Path, tmp_path: Path) -> None:
    with open_store(tmp_path) as empty:
        write_pack(empty, tmp_path / "empty")
    with open_pack(pack) as first, open_pack(tmp_path / "empty") as second:
        assert len(first.results()) > 0 and second.results() == []


def test_what_is_no_pack(pack: Path, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="no pack of results"):
        open_pack(tmp_path)
    about = json.loads((pack / "pack.json").read_text())
    (tmp_path / "pack.json").write_text("{")
    with pytest.raises(BadFile, match="cannot be read"):
        open_pack(tmp_path)
    (tmp_path / "pack.json").write_text(json.dumps(about | {"format": 9}))
    with pytest.raises(BadFile, match="format 9; this mucore reads up to 1"):
        open_pack(tmp_path)
    (tmp_path / "pack.json").write_text(json.dumps(about))
    with pytest.raises(BadFile, match="no readable results.jsonl.gz"):
        open_pack(tmp_path)
    (tmp_path / "results.jsonl.gz").write_bytes((pack / "results.jsonl.gz").read_bytes()[:-9])
    with pytest.raises(BadFile, match="damaged"):
        open_pack(tmp_path)


def test_the_store_never_imports_torch(pack: Path) -> None:
    code = (
        "import sys; from mucore.store import open_pack; s = open_pack(sys.argv[1])\n"
        "s.summaries(); s.metric_values(); s.results(); s.close()\n"
        "print([name for name in ('torch', 'streamlit') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(pack)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=60,
    )
    assert done.returncode == 0 and done.stdout.strip() == "[]", done.stderr
