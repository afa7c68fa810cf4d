"""Weights of a run as a file or a network, as another program meets them."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import torch
from builders import make_result
from safetensors.torch import load_file

import mucore.api as mu
from mucore import datasets, models
from mucore.cli.commands import main
from mucore.errors import BadFile, BadValue
from mucore.store import open_store, write_pack
from mucore.store.records import Result

COMMON: dict[str, Any] = {
    "dataset": "digits",
    "model": "mlp",
    "preset": "quick",
    "recipe": {"epochs": 2, "batch_size": 64},
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("weights") / "home"
    mu.compare(**COMMON, methods="finetune", home=home, device="cpu")
    return home


@pytest.fixture(scope="module")
def run(home: Path) -> Result:
    with open_store(home) as store:
        (run,) = store.results(method="finetune")
    return run


def accuracy(model: torch.nn.Module) -> float:
    """On the test images, normalised as `mucore.export.weights.load` says."""
    splits = datasets.load("digits")
    mean, std = (torch.tensor(each).view(-1, 1, 1) for each in (splits.mean, splits.std))
    with torch.no_grad():
        answers = model((splits.test.pixels.float() / 255 - mean) / std).argmax(1)
    return float((answers == splits.test.labels).float().mean())


@pytest.mark.parametrize("ending", ["safetensors", "pth"])
def test_a_saved_file_is_the_run_as_the_method_uploaded_reads_it(
    home: Path, run: Result, tmp_path: Path, ending: str
) -> None:
    path = mu.save_weights(run.key, tmp_path / f"mine.{ending}", home=home)
    frame = mu.compare(
        **COMMON,
        methods="uploaded",
        parameters={"uploaded": {"file": str(path)}},
        preprocess="mucore",
        home=home,
        device="cpu",
    )
    row = frame[frame["method"] == "uploaded"].iloc[0]
    for metric in ("ta", "ra", "fa"):
        assert row[metric] == run.metrics[metric].value


def test_a_loaded_network_answers_as_the_run_did(home: Path, run: Result, tmp_path: Path) -> None:
    with open_store(home) as store:
        pack = write_pack(store, tmp_path / "pack", outputs=[run.key], weights=True)
    places: tuple[tuple[dict[str, Any], float], ...]
    places = ({"home": home}, 1e-6), ({"pack": pack}, 0.0026)  # half precision: one of 400
    for place, off in places:
        model = mu.load_model(run.key[:10], device="cpu", **place)
        assert not model.training
        assert accuracy(model) == pytest.approx(run.metrics["ta"].value, abs=off)
    (file,) = pack.rglob("*.safetensors")
    assert {a.dtype for a in load_file(file).values() if a.is_floating_point()} == {torch.float16}
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(BadFile, match="damaged"):
        mu.load_model(run.key, device="cpu", pack=pack)
    strange = models.build("mlp", in_channels=1, classes=10, image_size=8, seed=1).eval()
    assert accuracy(strange) != pytest.approx(run.metrics["ta"].value)


def test_the_command_line(
    home: Path,
    run: Result,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture,
) -> None:
    monkeypatch.setenv("MUCORE_HOME", str(home))
    assert main(["weights", run.key[:12], str(tmp_path / "mine.pt")]) == 0
    state = torch.load(tmp_path / "mine.pt", weights_only=True)
    assert all(
        torch.equal(state[name], t)
        for name, t in mu.load_model(run.key, device="cpu", home=home).state_dict().items()
    )
    capsys.readouterr()
    for words, told in (
        (
            [run.key, str(tmp_path / "mine.csv")],
            "a file that ends in .safetensors, .pt, .pth, but got 'mine.csv'",
        ),
        (["nothing", str(tmp_path / "mine.pt")], "No result has the key 'nothing'"),
        (["", str(tmp_path / "mine.pt")], "No result has the key ''"),
    ):
        assert main(["weights", *words]) == 2
        assert told in capsys.readouterr().err


def test_a_key_of_several_runs_is_refused(tmp_path: Path) -> None:
    # more than there are first letters of a key
    results = [make_result(training_seed=seed) for seed in range(17)]
    (first, _), *_ = Counter(one.key[0] for one in results).most_common()
    with open_store(tmp_path / "home") as store:
        store.put_results(results)
    with pytest.raises(BadValue, match=f"results have keys that start with '{first}'"):
        mu.save_weights(first, tmp_path / "mine.pt", home=tmp_path / "home")


def test_weights_that_are_gone(home: Path, tmp_path: Path) -> None:
    other = Path(shutil.copytree(home, tmp_path / "other"))
    with open_store(other) as store:
        (run,) = store.results(method="finetune")
        assert run.weights is not None
        store.artifacts.storage.local(run.weights).unlink()
    for ask in (
        lambda: mu.save_weights(run.key, tmp_path / "mine.pt", home=other),
        lambda: mu.load_model(run.key, home=other),
    ):
        with pytest.raises(BadFile, match="removed to save space"):
            ask()
