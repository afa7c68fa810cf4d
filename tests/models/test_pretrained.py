"""Pretrained weights: what fits is taken, what does not is new, and where there are none a sentence
says which file to put where.
"""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import save_file
from torch import nn

from mucore import models
from mucore.engine.features import classifier_layer
from mucore.errors import BadFile
from mucore.models import pretrained
from mucore.userfiles import weights

pytestmark = pytest.mark.slow


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of weights, empty, and no network."""
    monkeypatch.setenv("MUCORE_DATA", str(tmp_path))

    def unreachable(name: str, *, pretrained: bool) -> nn.Module:
        raise OSError(f"the hub has no answer for {name}\nand a second line")

    monkeypatch.setattr(pretrained, "timm", SimpleNamespace(create_model=unreachable))
    (tmp_path / "weights").mkdir()
    return tmp_path / "weights"


def build(
    name: str = "resnet18",
    *,
    in_channels: int = 3,
    classes: int = 4,
    image_size: int = 32,
    seed: int = 0,
) -> nn.Module:
    return models.build(
        name, in_channels=in_channels, classes=classes, image_size=image_size, seed=seed
    )


def load(model: nn.Module, name: str = "resnet18") -> str:
    path = weights.pretrained_file(name)
    return pretrained.load_pretrained(
        model, name, file_hash=weights.file_hash(str(path), what="This test") if path else ""
    )


def same(model: nn.Module, state: dict[str, torch.Tensor], *, but: tuple[str, ...] = ()) -> bool:
    return all(
        torch.equal(t, state[key])
        for key, t in model.state_dict().items()
        if not key.startswith(but or ("nothing",))
    )


@pytest.mark.parametrize("suffix", [".safetensors", ".pt", ".pth"])
def test_a_file_for_the_same_task_is_taken_whole(folder: Path, suffix: str) -> None:
    state = build(seed=5).state_dict()
    save_file(state, folder / "resnet18.safetensors") if suffix == ".safetensors" else torch.save(
        state, folder / f"resnet18{suffix}"
    )
    model = build()
    note = load(model)
    assert same(model, state)
    assert note.startswith(f"Started from pretrained weights: resnet18{suffix} with the hash ")
    assert "new" not in note.lower()


def test_a_head_for_other_classes_is_replaced_and_said(folder: Path) -> None:
    state = build(classes=7, seed=5).state_dict()
    save_file(state, folder / "resnet18.safetensors")
    model, fresh = build(), build()
    note = load(model)
    assert same(model, state, but=("fc.",))
    assert torch.equal(classifier_layer(model).weight, classifier_layer(fresh).weight)
    assert "The head is new, for 4 classes." in note


def test_a_stem_of_another_shape_is_new_and_said(folder: Path) -> None:
    save_file(
        build(image_size=64, classes=1000, seed=5).state_dict(), folder / "resnet18.safetensors"
    )
    model = build(image_size=32)
    assert load(model).endswith("New, because shapes differ: conv1.weight.")
    assert torch.equal(
        model.get_parameter("conv1.weight"), build(image_size=32).get_parameter("conv1.weight")
    )


@pytest.mark.parametrize(("stored", "asked"), [(3, 1), (1, 3)])
def test_grey_and_colour_give_the_same_answer_to_grey_images(
    folder: Path, stored: int, asked: int
) -> None:
    source = build(in_channels=stored, seed=5).eval()
    save_file(source.state_dict(), folder / "resnet18.safetensors")
    model = build(in_channels=asked).eval()
    load(model)
    x = torch.randn(2, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        torch.testing.assert_close(
            model(x.expand(-1, asked, -1, -1)),
            source(x.expand(-1, stored, -1, -1)),
            rtol=1e-3,
            atol=1e-4,
        )


def test_positions_and_patches_of_a_vit_are_interpolated(folder: Path) -> None:
    source = build("vit-tiny", image_size=64, seed=5)
    save_file(source.state_dict(), folder / "vit-tiny.safetensors")
    # patches of 4 instead of 8 pixels, the same number of them
    model = build("vit-tiny", image_size=32)
    assert "shapes differ" not in load(model, "vit-tiny")
    fresh = build("vit-tiny", image_size=32)
    assert not torch.equal(
        model.get_parameter("patch_embed.proj.weight"),
        fresh.get_parameter("patch_embed.proj.weight"),
    )
    assert torch.equal(model.get_parameter("pos_embed"), source.get_parameter("pos_embed"))
    assert torch.equal(
        model.get_parameter("blocks.3.mlp.fc1.weight"),
        source.get_parameter("blocks.3.mlp.fc1.weight"),
    )


def test_published_weights_come_from_the_hub_where_it_answers(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, source = [], build(image_size=64, classes=1000, seed=5)

    def answer(name: str, *, pretrained: bool) -> nn.Module:
        asked.append((name, pretrained))
        return source

    monkeypatch.setattr(pretrained, "timm", SimpleNamespace(create_model=answer))
    model = build(image_size=64)
    assert "resnet18.tv_in1k of timm" in load(model)
    assert asked == [("resnet18.tv_in1k", True)] and same(model, source.state_dict(), but=("fc.",))


def test_without_a_network_the_sentence_says_which_file_to_put_where(folder: Path) -> None:
    with pytest.raises(BadFile) as refused:
        load(build("swin-t"), "swin-t")
    assert (
        "swin_tiny_patch4_window7_224.ms_in1k for swin-t could not be fetched (the hub has no "
        "answer"
    ) in str(refused.value)
    assert f"put it into {folder / 'swin-t'}.safetensors" in str(refused.value)
    with pytest.raises(
        BadFile,
        match=r"Nobody publishes pretrained weights for allcnn. Put your "
        r"own into .*allcnn.safetensors",
    ):
        load(build("allcnn"), "allcnn")


def test_files_that_cannot_be_used(folder: Path) -> None:
    path = folder / "resnet18.safetensors"
    save_file(build("allcnn").state_dict(), path)
    with pytest.raises(
        BadFile, match="Only 0 % of the weights of resnet18 are in resnet18.safetensors"
    ):
        load(build())
    state = build().state_dict()
    state["layer1.0.conv1.weight"][0, 0, 0, 0] = float("inf")
    save_file(state, path)
    with pytest.raises(BadFile, match="holds weights that are not finite"):
        load(build())
    with pytest.raises(BadFile, match="has changed since this run was planned"):
        pretrained.load_pretrained(build(), "resnet18", file_hash="0" * 64)
    path.unlink()
    with pytest.raises(BadFile, match="hash 000000000000, is gone. Put it back"):
        pretrained.load_pretrained(build(), "resnet18", file_hash="0" * 64)
