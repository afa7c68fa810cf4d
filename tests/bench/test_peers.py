"""Both sides get the same work, and ratios come from both sides' clocks."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
import torch
import toy
from torch import nn

from mucore import cli
from mucore.bench import page, peers
from mucore.engine.run import Run

THEIRS, OURS = 6.0, 2.0  # seconds that a training takes on the clocks of these tests


class Trainer:
    """A trainer of torchunlearn's interface that makes one pass and no step."""

    seen: list[tuple] = []

    def __init__(self, robust: nn.Module, **options: float):
        self.robust, self.options = robust, options

    def setup(self, *, optimizer: str, n_epochs: int) -> None:
        self.optimizer = optimizer

    def fit(self, train_loaders, n_epochs: int, record_type: None, save_type: None) -> None:
        for x, _ in train_loaders:
            self.robust(x)
        Trainer.seen.append((type(self).__name__, self.optimizer, n_epochs))


class Saliency(Trainer):
    def compute_saliency_mask(self, loader) -> None:
        with torch.no_grad():
            for x, _ in loader:
                self.robust(x)


class RobModel(nn.Module):
    def __init__(self, model: nn.Module, n_classes: int):
        super().__init__()
        self.model, self.n_classes = model, n_classes

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x)


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """torchunlearn as far as it is used."""
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path))
    names = {pair.theirs for pair in peers.PAIRS}
    root, unlearn, utils, data = (
        ModuleType(f"torchunlearn{rest}") for rest in ("", ".unlearn", ".utils", ".utils.data")
    )
    vars(root).update(RobModel=RobModel)
    vars(data).update(MergedLoaders=lambda loaders: next(iter(loaders.values())))
    for name in names:
        setattr(unlearn, name, type(name, (Saliency if name == "SalUn" else Trainer,), {}))
    for module in (root, unlearn, utils, data):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(Trainer, "seen", [])
    return root


@pytest.mark.slow
def test_ratios_come_from_both_clocks(fake, monkeypatch, tmp_path, capsys):
    theirs: list[Run] = []

    def train_theirs(*given) -> Run:
        theirs.append(peers_train(*given))
        return theirs[-1]

    peers_train = peers.train_theirs
    monkeypatch.setattr(peers, "train_theirs", train_theirs)
    monkeypatch.setattr(peers, "seconds", lambda run: THEIRS if run in theirs else OURS)
    monkeypatch.setattr(page, "PAGE", tmp_path / "benchmarks.md")
    page.PAGE.write_text("# Benchmarks\n\n## Beside torchunlearn\n\nold\n\n## Pages\n\nkept\n")
    assert cli.main(["bench", "--peers", "--quick", "--device", "cpu"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(peers.PAIRS)
    assert all(": 3.00 (3.00 to 3.00); 6.00 s, 2.00 s here" in line for line in lines)
    # one pass over the retain set with gradients on either side
    assert lines[0].startswith("Finetune / finetune") and "passes 1.00" in lines[0]
    # once before the clock counts, and once more
    assert sum(name == "SCRUB" for name, *_ in Trainer.seen) == 2
    assert {epochs for name, _, epochs in Trainer.seen if name == "RandomLabel"} == {5}


def test_a_section_takes_the_place_of_its_like(tmp_path, monkeypatch, capsys):
    path = tmp_path / "benchmarks.md"
    path.write_text("# Benchmarks\n\nold\n\n## Pages\n\nkept\n")
    monkeypatch.setattr(page, "PAGE", path)
    lines = [page.Line("slow", "2 s", "1 s", met=False), page.Line("other", "3 s")]
    for quick in (False, True):
        given = {"device": "cpu", "quick": quick, "write": not quick}
        assert page.report("# Benchmarks", "new", lines, **given) == quick
    first, rest = path.read_text().split("## Pages")
    assert "| slow | 2 s | 1 s | **not kept** |" in first and "old" not in first
    assert rest == "\n\nkept\n"


def test_their_passes_are_counted_with_and_without_gradient(fake):
    data, run = toy.request("conv"), Run(seed=0)
    sets = {
        "Retain": peers.Batches(data.retain, Run(seed=0)),
        "Forget": peers.Batches(data.forget, Run(seed=0)),
    }
    pair = next(pair for pair in peers.PAIRS if pair.theirs == "SalUn")
    peers.train_theirs(pair, fake, toy.original("conv"), sets, run)
    assert run.cost.reads == {"all/forward": len(data.forget), "all/backward": len(data.retain)}


def test_their_batches_are_the_samples_normalised():
    data = toy.request("conv")
    run = Run(seed=0)
    batches = peers.Batches(data.forget, run)
    passes = [list(batches) for _ in range(2)]
    assert len(passes[0]) == len(batches) == -(-len(data.forget) // peers.BATCH)
    whole = next(data.forget.batches(run, len(data.forget)))
    for each in passes:
        x, y = (torch.cat(part) for part in zip(*each, strict=True))
        assert torch.equal(y.sort().values, whole.y.sort().values)
        assert x.sum(0).allclose(whole.x.sum(0), atol=1e-3)
    assert not torch.equal(passes[0][0][0], passes[1][0][0])  # in another order


@pytest.mark.parametrize("lacking", ["torchunlearn", "torchunlearn.unlearn"])
def test_where_it_is_not_installed_one_sentence_says_what_to_do(fake, monkeypatch, capsys, lacking):
    monkeypatch.setitem(
        sys.modules, lacking, None if lacking == "torchunlearn" else ModuleType(lacking)
    )
    assert cli.main(["bench", "--peers", "--quick"]) == 2
    assert "Harry24k/machine-unlearning-pytorch" in capsys.readouterr().err
