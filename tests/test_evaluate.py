"""`mucore.api.evaluate`: networks in memory, beside a plain loop and scikit-learn."""

import copy
import json
import re
import runpy
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.metrics import accuracy_score, roc_auc_score
from torch import nn
from torch.utils.data import TensorDataset

import mucore.api as mu
from mucore import cli, datasets
from mucore.cli.printing import to_json
from mucore.errors import MucoreError
from mucore.report import OWN
from mucore.runs import RunSpec
from mucore.store import open_store, write_pack
from mucore.store.pack import bring
from mucore.store.records import Measured
from mucore.suite.pack import unpacked

PAGE = Path(__file__).resolve().parents[1] / "docs" / "own-models.md"
GONE = np.arange(0, 120, 4)  # of 240 training samples in three classes
KEPT = np.setdiff1d(np.arange(240), GONE)
torch.manual_seed(0)
X, Y = torch.randn(360, 1, 3, 3), torch.arange(360) % 3
TRAIN, TEST = (X[:240], Y[:240]), (X[240:], Y[240:])
BYTES: Any = {"train": (X[:240].byte(), Y[:240]), "test": (X[240:].byte(), Y[240:])}


class Drawing(list[Any]):
    def __getitem__(self, place: Any) -> Any:
        return torch.randn(1, 3, 3), 0


def net(classes: int = 3) -> Any:
    return nn.Sequential(nn.Flatten(), nn.Linear(9, 16), nn.BatchNorm1d(16), nn.Linear(16, classes))


A, B, C, D, E = (net() for _ in range(5))  # that learned nothing


def judged(**changes: Any) -> Any:
    given: dict[str, Any] = {"unlearned": A, "original": B, "retrained": [C, D, E], "forget": GONE}
    given |= {"train": TRAIN, "test": TEST, "device": "cpu"} | changes
    return mu.evaluate(**given)


def plain(model: nn.Module, x: torch.Tensor) -> np.ndarray:
    with torch.no_grad():
        return torch.cat([model.eval()(each) for each in x.split(50)]).softmax(1).numpy()


def test_numbers_are_those_of_a_plain_loop_and_networks_stay_as_they_were(tmp_path):
    torch.save(torch.isin(torch.arange(240), torch.from_numpy(GONE)), tmp_path / "mask.pt")
    A.train()[2].eval()  # as who froze its statistics has it
    before, random = copy.deepcopy(A), torch.get_rng_state()
    report = judged()
    same = judged(train=TensorDataset(*TRAIN), forget=str(tmp_path / "mask.pt"))
    assert report.table().equals(same.table()) and torch.equal(torch.get_rng_state(), random)
    assert [m.training for m in A.modules()] == [m.training for m in before.modules()]
    after = A.state_dict()
    assert all(torch.equal(after[name], each) for name, each in before.state_dict().items())
    assert not A[3]._forward_pre_hooks
    found, right = report.table().set_index("metric"), []
    for name, model in {"unlearned": A, "retrained": C}.items():
        p, outside = plain(model, TRAIN[0]), plain(model, TEST[0])
        right.append(p[KEPT].argmax(1) == TRAIN[1].numpy()[KEPT])
        scores = [p[GONE, TRAIN[1][GONE]], outside[range(120), TEST[1]]]
        assert found[name].loc[["fa", "ra", "ta", "mia_confidence_auc"]].tolist() == pytest.approx(
            [accuracy_score(TRAIN[1][rows], p[rows].argmax(1)) for rows in (GONE, KEPT)]
            + [accuracy_score(TEST[1], outside.argmax(1))]
            + [roc_auc_score(np.repeat([1, 0], [30, 120]), np.concatenate(scores))]
        )
    # the bootstrap by its definition: samples drawn one by one, the same of both networks
    drawn = np.random.default_rng(1).choice(np.subtract(*right, dtype=float), (9000, 210)).mean(1)
    assert found["interval"]["ra"] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.01)
    assert report.forgotten == {0: 10, 1: 10, 2: 10} and report.verdict.retrains == 3
    told = np.isfinite(found["unlearned"][["cka_retrain_test", "mia_confidence"]])
    assert told.tolist() == [True, False] and "mia_confidence" in report.missing


@pytest.mark.slow
def test_a_resnet_18_of_torchvision_has_its_own_accuracies_to_the_sample():
    from torchvision.models import resnet18

    x, y = torch.randn(160, 3, 32, 32), torch.arange(160) % 4
    nets = {name: resnet18(num_classes=4) for name in ("unlearned", "original", "retrained")}
    for net in nets.values():
        for rows in torch.arange(90).split(30):
            nn.functional.cross_entropy(net(x[rows]), y[rows]).backward()
            torch.optim.SGD(net.parameters(), 0.01).step()
    given = {"train": (x[:120], y[:120]), "test": (x[120:], y[120:]), "forget": range(20)}
    found = mu.evaluate(**nets, **given, device="cpu").table().set_index("metric")
    for name, net in nets.items():
        right = plain(net, x).argmax(1) == y.numpy()
        parts = {"fa": right[:20], "ra": right[20:120], "ta": right[120:]}
        counts = [found[name][part] * len(each) for part, each in parts.items()]
        assert counts == pytest.approx([each.sum() for each in parts.values()], abs=1e-6)


def test_a_network_whose_classes_are_in_another_order_is_not_judged():
    places = torch.eye(9)[Y].reshape(-1, 1, 3, 3)
    data = {"train": (places[:240], Y[:240]), "test": (places[240:], Y[240:])}
    turned = nn.Sequential(nn.Flatten(), nn.Linear(9, 3))
    turned[1].weight.data = torch.eye(9)[[2, 0, 1]]  # class 0 is output 1
    with pytest.raises(MucoreError, match=r"original names 0% .* 100% .* \[1, 2, 0\]"):
        judged(original=turned, **data)


def test_several_seeds_have_the_interval_of_t_and_whole_classes_their_rule():
    report = judged(
        unlearned=[A, E], original=[B, net()], retrained=[C, D], forget=range(0, 240, 3)
    )
    ta = [accuracy_score(TEST[1], plain(each, TEST[0]).argmax(1)) for each in (A, E, C, D)]
    gaps = np.subtract(ta[:2], ta[2:])
    half = 12.7062047 * gaps.std(ddof=1) / np.sqrt(2)  # t of 0.975 at one degree of freedom
    found = report.table().set_index("metric")
    assert found["interval"]["ta"] == pytest.approx((gaps.mean() - half, gaps.mean() + half))
    assert {"tfa", "linear_probe"} <= {*found.index} and report.forgotten == {0: 80}
    assert report.caveats[0] in str(report) and re.search(r"\b3\b", report.caveats[0])


def test_what_is_missing_says_what_would_unlock_it():
    convolved = nn.Sequential(nn.Conv2d(1, 8, 2), nn.Conv2d(8, 3, 2), nn.Flatten())
    report = judged(unlearned=convolved, original=None, retrained=None)
    assert report.verdict.word == "cannot tell" and report.table()["gap"].isna().all()
    asked = {"l2": "retrained=", "cka_original_test": "original=", "va": "data", "rte": "took"}
    assert all(words in report.missing[metric] for metric, words in asked.items())
    assert "head=" in judged(unlearned=convolved).missing["cka_original_test"]
    both = {"unlearned": convolved, "original": copy.deepcopy(convolved), "retrained": None}
    assert "cka_original_test" not in judged(**both, head="1").missing


def test_a_copy_of_retrain_is_marked():
    assert "as retrained[0] does" in str(judged(unlearned=copy.deepcopy(C)))


def test_a_pack_of_it_is_checked_and_a_changed_number_is_found(tmp_path, capsys):
    path = judged().save(tmp_path / "mine.zip", data="noise", model="Net")
    assert cli.main(["suite", "verify", str(path)]) == 0
    with open_store(tmp_path / "home") as store, unpacked(path) as folder:
        bring(folder, store)
        (comparison,) = store.comparisons()
        results = store.results(keys=comparison.keys)
        told = {(one.spec["method"], one.spec["training_seed"]): one for one in results}
        assert set(told) == {("uploaded", 0), ("original", 0), *(("retrain", s) for s in range(3))}
        assert all(RunSpec.model_validate(one.spec).key == one.key for one in results)
        assert told["uploaded", 0].forget_count == 30 and told["uploaded", 0].metrics["ta"].gap
        better = {**told["uploaded", 0].metrics, "ta": Measured(1.0)}
        wrong = replace(told["uploaded", 0], metrics=better)
        store.put_result(wrong)
        changed = write_pack(store, tmp_path / "changed", outputs={*comparison.keys}, beside=OWN)
    capsys.readouterr()
    assert cli.main(["suite", "verify", str(changed)]) == 1
    assert "uploaded, seed 0: ta is" in capsys.readouterr().out
    with pytest.raises(MucoreError, match="zip"):
        judged().save(tmp_path / "mine.pack")


WRONG: list[tuple[str, dict[str, Any]]] = [
    ("unlearned is a file of weights. Say model=", {"unlearned": "x.pth"}),
    ("makes no network: BadValue", {"unlearned": "x.pth", "model": dict}),
    ("cannot be compared", {"original": mu.Outputs({})}),
    ("Leave it out", {"preprocess": "0..1"}),
    ("have one type", {"test": (X.byte(), Y)}),
    (
        "Nothing in unlearned tells",
        BYTES | {"unlearned": nn.Flatten(), "original": None, "retrained": None},
    ),
    ("or inside, but got '0..2'", BYTES | {"preprocess": "0..2"}),
    ("1 means", BYTES | {"preprocess": ((0, 1), (1, 1))}),
    ("test data of its own", {"train": "digits"}),
    ("forget names rows of digits", {"train": "digits", "test": None, "forget": 5}),
    ("retrained[0] and retrained[1] are one", {"retrained": [C, C]}),
    ("retrained[1] answer alike", {"retrained": [C, copy.deepcopy(C)]}),
    ("original and unlearned are one", {"original": A}),
    ("2 are unlearned and 1 original", {"unlearned": [A, E]}),
    ("it gives [120, 1, 1, 3, 3]", {"unlearned": nn.Unflatten(1, (1, 1))}),
    ("probabilities", {"unlearned": nn.Sequential(net(), nn.Softmax(1))}),
    ("not [3, 4]", {"original": net(4)}),
    ("NaN", {"unlearned": nn.Sequential(net(), nn.Threshold(9e9, float("nan")))}),
    ("2 outputs, and labels go from 0 to 2", {"unlearned": net(2)}),
    ("samples [256, 1, 2, 3]", {"test": (X[:, :, :2], Y)}),
    ("two looks", {"train": Drawing([0] * 9)}),
    ("y has shape", {"train": (X, Y.float())}),
    ("'fc'", {"head": "fc"}),
    ("cuda:99", {"device": "cuda:99"}),
    ("batch_size", {"batch_size": 0}),
    *(("forget names", {"forget": each}) for each in ([240], [1, 1], range(240), GONE > 5, 5)),
    *(("list of samples", {"forget": each}) for each in (np.array([]), [[1], [2, 3]])),
]


@pytest.mark.parametrize(("words", "changes"), WRONG)
def test_what_cannot_be_judged_is_a_sentence(words: str, changes: dict[str, Any]):
    with pytest.raises(MucoreError, match=re.escape(words)):
        judged(**changes)


@pytest.mark.slow
def test_the_page_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where it saves a pack
    seen: dict[str, Any] = {}
    for example in re.findall("```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL):
        exec(example, seen)
    assert sum(seen["report"].forgotten.values()) == 100 and seen["report"].verdict.retrains == 3
    assert seen["run"].status == "ok" and len(seen["run"].losses) == 2  # of 5 by a training of 200


EXAMPLES = sorted((PAGE.parents[1] / "examples").glob("judge_*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_the_examples_run(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where they save files
    if path.stem == "judge_timm":
        pytest.importorskip("timm")
    report = runpy.run_path(str(path), run_name="__main__")["report"]
    assert {"ta", "fa"} < {*report.table()["metric"]} and sum(report.forgotten.values()) == 20


@pytest.mark.slow
def test_the_notebook_runs():
    cells = json.loads((PAGE.parents[1] / "examples" / "judge.ipynb").read_text("utf-8"))["cells"]
    seen: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            exec("".join(cell["source"]), seen)
    assert len(cells) == 10 and seen["report"].verdict.retrains == 3
    assert seen["report"].forgotten == {3: int(seen["forget"].sum())}


def outputs(model: Any) -> Any:
    """What a plain loop would save."""
    found = {}
    parts = {"forget": (TRAIN, GONE), "retain": (TRAIN, KEPT), "test": (TEST, np.arange(120))}
    for name, ((x, y), rows) in parts.items():
        with torch.no_grad():
            features = model.eval()[:3](x[rows])
            found[f"{name}_logits"] = model[3](features).numpy()
        found |= {f"{name}_labels": y[rows].numpy(), f"{name}_features": features.numpy()}
    return found


def test_outputs_have_the_numbers_of_their_networks_without_torch(tmp_path, capsys):
    every = {f"{name}.npz": model for name, model in zip("abcde", (A, B, C, D, E), strict=True)}
    for name, model in every.items():
        np.savez(tmp_path / name, **outputs(model))
    a, b, *retrained = (str(tmp_path / name) for name in every)
    report = mu.evaluate(unlearned=mu.Outputs.of(**outputs(A)), original=b, retrained=retrained)
    found, right = report.table(), judged().table()
    same = right[right["metric"].isin(found["metric"])].reset_index(drop=True)
    pd.testing.assert_frame_equal(found, same, rtol=1e-5)
    assert {*right["metric"]} - {*found["metric"]} == {"l2", "l2_normalised"}
    command = f"evaluate --unlearned {a} --original {b} --retrained {','.join(retrained)} --json"
    code = (
        f"import sys; from mucore.cli import main; main({command.split()}); assert 'torch' not in"
    )
    done = subprocess.run([sys.executable, "-c", f"{code} sys.modules"], capture_output=True)
    told = json.loads(to_json(found.to_dict("records")))
    assert done.returncode == 0 and json.loads(done.stdout)["metrics"] == told
    assert cli.main(["suite", "verify", str(report.save(tmp_path / "mine.zip"))]) == 0
    good = outputs(B)
    for words, changes in {
        "[30, 3] for 29": {"forget_labels": good["forget_labels"][:29]},
        "outputs, and labels go": {"test_labels": good["test_labels"] + 9},
        "'retain_logits'": {"retain_logits": None},
        "one comes twice": {"test_ids": np.zeros(120, int)},
        "test: TypeError": {"test_ids": np.arange(120) / 2},
        "other labels or ids": {"test_labels": good["test_labels"][::-1]},
    }.items():
        arrays: Any = {name: each for name, each in (good | changes).items() if each is not None}
        np.savez(tmp_path / "bad.npz", **arrays)
        with pytest.raises(MucoreError, match=words.replace("[", r"\[")):
            mu.evaluate(unlearned=a, original=str(tmp_path / "bad.npz"))
    with pytest.raises(MucoreError, match="Leave out train, forget"):
        mu.evaluate(unlearned=a, train=TRAIN, forget=GONE)


@pytest.mark.slow
def test_files_are_judged_on_the_command_line_as_in_python(tmp_path, capsys):
    code = "from torch import nn\ndef net(): return nn.Sequential(nn.Flatten(), nn.Linear(64, 10))"
    (tmp_path / "own.py").write_text(code)
    training = datasets.load("digits", validation_from="test", per_class=0, greyscale=False).train
    np.save(tmp_path / "ids.npy", training.rows[:40])  # as published: some rows are of the test set
    torch.manual_seed(0)  # of others one may come out in another order of classes
    nets = [nn.Sequential(nn.Flatten(), nn.Linear(64, 10)) for _ in range(5)]
    u, o, *retrained = (f"{tmp_path}/{number}.pth" for number in range(5))
    for path, each in zip((u, o, *retrained), nets, strict=True):
        torch.save({"state_dict": each.state_dict()}, path)
    command = f"evaluate --data digits --forget {tmp_path}/ids.npy --unlearned {u} --original {o} "
    command += f"--retrained {','.join(retrained)} --preprocess -1..1 --json --device cpu --model "
    assert cli.main((command + f"{tmp_path}/own.py:net").split()) == 0
    found = json.loads(capsys.readouterr().out)
    right = plain(nets[0], training.pixels / 127.5 - 1).argmax(1) == training.labels.numpy()
    values = {row["metric"]: row["unlearned"] for row in found["metrics"]}
    assert (values["fa"], values["ra"]) == pytest.approx((right[:40].mean(), right[40:].mean()))
    assert found["verdict"]["word"] and found["missing"]["va"] and len(found["pictures"]) == 3
    test = datasets.load("digits").test
    pixels: Any = {"train": (training.pixels[:, 0].numpy(), training.labels.numpy())}
    pixels["test"] = test.pixels, test.labels
    more: Any = {"preprocess": (0.5, 0.5), "device": "cpu", "model": lambda: copy.deepcopy(nets[0])}
    files: Any = {"unlearned": u, "original": o, "retrained": retrained}
    report = mu.evaluate(**files, **more, train="digits", forget=tmp_path / "ids.npy")
    memory: Any = {"unlearned": nets[0], "original": nets[1], "retrained": nets[2:]}
    same = mu.evaluate(**memory, **more, **pixels, forget=range(40))
    assert report.table().equals(same.table()) and report.asked.name == "Sequential"
    assert np.array_equal(report.asked.pictures, training.pixels[:3, 0])
    assert json.loads(to_json(report.table().to_dict("records"))) == found["metrics"]
    names = {f"{tmp_path}/own.py:net1": "KeyError", f"{tmp_path}/no.py:net": "no network"}
    names |= {"timm:none": "no network", "torchvision:none": "no network", "resnett": "named"}
    for name, words in names.items():
        assert cli.main((command + name).split()) == 2 and words in capsys.readouterr().err


def test_a_reference_without_batch_norm_tells_its_pixels_by_its_training_samples():
    train = datasets.load("digits", validation_from="test", per_class=0, greyscale=False).train
    nets = [nn.Sequential(nn.Flatten(), nn.Linear(64, 10)) for _ in range(2)]
    nets[1].insert(1, nn.Sequential(nn.Linear(64, 64), nn.ReLU()))
    optimizer = torch.optim.Adam(nets[1].parameters(), lr=0.01)
    for _ in range(100):
        optimizer.zero_grad()
        nn.functional.cross_entropy(nets[1](train.pixels / 255), train.labels).backward()
        optimizer.step()
    given: dict[str, Any] = {"unlearned": nets[0], "original": nets[1], "train": "digits"}
    gone = train.rows[:9]
    assert mu.evaluate(**given, forget=gone, preprocess="0..1").asked.preprocess == "0..1"
    with pytest.raises(MucoreError, match=r"give --preprocess (mucore or )?0\.\.1 "):
        mu.evaluate(**given, forget=gone, preprocess="-1..1")
