"""Both sides get the same work, and ratios come from both sides' clocks."""

from __future__ import annotations

import sys
from types import ModuleType

import pytest
import torch
from torch import nn

from mucore import cli
from mucore.bench import clock, page, peers
from mucore.bench.clock import Spread
from mucore.engine.run import Run
from mucore.testing import toy

THEIRS, OURS = 6.0, 2.0  # seconds that a training takes on the clock of these tests


class Trainer:
    """A trainer of torchunlearn's interface that takes `THEIRS` seconds and no step."""

    seconds = 0.0
    seen: list[tuple] = []

    def __init__(self, robust: nn.Module, **options: float):
        self.robust, self.options = robust, options

    def setup(self, *, optimizer: str, n_epochs: int) -> None:
        self.optimizer = optimizer

    def fit(self, train_loaders, n_epochs: int, record_type: None, save_type: None) -> None:
        for x, _ in train_loaders:
            self.robust(x)
        Trainer.seconds += THEIRS
        Trainer.seen.append((type(self).__name__, self.optimizer, self.options, n_epochs))


class Saliency(Trainer):
    def compute_saliency_mask(self, loader) -> None:
        with torch.no_grad():
            for x, _ in loader:
                self.robust(x)


class Broken(Trainer):
    def fit(self, *given, **more) -> None:
        raise ValueError("not today")


class RobModel(nn.Module):
    def __init__(self, model: nn.Module, n_classes: int):
        super().__init__()
        self.model, self.n_classes = model, n_classes

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x)


@pytest.fixture
def fake(monkeypatch, tmp_path):
    """torchunlearn as far as it is used, and a clock that only trainings move."""
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path))
    names = {pair.theirs for pair in peers.PAIRS}
    root, unlearn, utils, data = (
        ModuleType(f"torchunlearn{rest}") for rest in ("", ".unlearn", ".utils", ".utils.data")
    )
    vars(root).update(RobModel=RobModel, __version__="9.9")
    vars(data).update(MergedLoaders=lambda loaders: next(iter(loaders.values())))
    for name in names:
        kind = Saliency if name == "SalUn" else Broken if name == "L1Sparse" else Trainer
        setattr(unlearn, name, type(name, (kind,), {}))
    for module in (root, unlearn, utils, data):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(Trainer, "seconds", 0.0)
    monkeypatch.setattr(Trainer, "seen", [])
    monkeypatch.setattr(clock, "now", lambda device: Trainer.seconds)
    return root


@pytest.mark.slow
def test_ratios_come_from_both_clocks(fake, monkeypatch):
    real = peers.measure

    def measure(spec, session):
        return real(spec, session) | {"seconds": OURS}

    monkeypatch.setattr(peers, "measure", measure)
    found = peers.benchmark_peers(quick=True, device="cpu", repeats=2)
    assert [each.pair for each in found] == list(peers.PAIRS)
    failed = [each for each in found if each.error]
    assert [each.pair.theirs for each in failed] == ["L1Sparse"]
    assert failed[0].error == "not today"
    for each in found:
        if not each.error:
            assert each.theirs == Spread(THEIRS, THEIRS, THEIRS)
            assert each.ratio == each.alike == Spread(3.0, 3.0, 3.0)
    # one pass over the retain set with gradients on either side
    assert found[0].their_work == found[0].our_work > 0
    # once before the clock counts, twice in the usual layout and twice in ours
    assert sum(name == "SCRUB" for name, *_ in Trainer.seen) == 5
    assert {epochs for name, _, _, epochs in Trainer.seen if name == "RandomLabel"} == {5}
    text = peers.section(found, fake, 2, page.machine("cpu"))
    assert "| SCRUB | scrub | 6.00 | 2.00 | 3.00 | 3.00 |" in text and "torchunlearn 9.9" in text
    assert "L1Sparse and l1_sparse were not compared: not today" in text


def test_their_passes_are_counted_with_and_without_gradient(fake):
    net = nn.Sequential(nn.Flatten(), nn.Linear(4, 3))
    loader = [(torch.zeros(5, 1, 2, 2), torch.zeros(5)), (torch.zeros(2, 1, 2, 2), torch.zeros(2))]
    pair = next(pair for pair in peers.PAIRS if pair.theirs == "SalUn")
    loaders = {"Retain": loader, "Forget": loader}
    one = peers.train_theirs(pair, fake, net, loaders, 3)
    assert one == {"seconds": THEIRS, "forward": 7, "backward": 7}


def test_a_ratio_below_the_goal_is_marked():
    def row(ratio: float) -> str:
        each = Spread.of([ratio])
        return peers.table([peers.Compared(peers.PAIRS[1], each, each, each, None, 4.0, 2.0)])

    assert "| 2.00 | **below 1.2** |" in row(1.19) and "below" not in row(1.2)


def test_their_batches_are_the_samples_normalised():
    data = toy.request("conv")
    run = Run(seed=0)
    batches = peers.Batches(data.forget, 7, run)
    passes = [list(batches) for _ in range(2)]
    assert len(passes[0]) == len(batches) == -(-len(data.forget) // 7)
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
