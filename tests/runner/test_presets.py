"""Each paper's preset end to end, by the code that a person's command runs, on a tiny archive in
the published layout, in one epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import archives
import pytest

from mucore import catalog, cli, datasets
from mucore.datasets import folders
from mucore.runner.execute import execute
from mucore.runner.grid import expand
from mucore.runner.session import Session
from mucore.runs import RunSpec, make_recipe
from mucore.store import open_store

# presets that are a paper's own setting
PAPERS = [card for card in catalog.presets() if card.open_points and card.dataset != "glyphs"]
# Of the others the data are laid out: what they run differs in size alone.
RUN = ("mucac", "efficacy-mnist")
SMALLER = ["recipe.epochs=1", "recipe.batch_size=32"]
# Preset: the archive, changes that fit the scenarios to it, and the samples of train, validation
#     and test.
CASES: dict[str, tuple[Callable[[Path, pytest.MonkeyPatch], Any], list[str], list[int]]] = {
    "mubox-cifar10": (
        lambda root, patch: archives.cifar(root, patch, train=60, test=20),
        ["scenario.budget=0.2"],
        [60, 10, 10],
    ),
    "mubox-tinyimagenet": (
        lambda root, _: archives.tiny_imagenet(root),
        ["scenario.budget=0.1"],
        [100, 25, 25],
    ),
    "mufac": (
        lambda root, _: archives.mufac(root, families=(3, 2, 2)),
        ["identities.count=2"],
        [72, 24, 24],
    ),
    "mucac": (lambda root, _: archives.mucac(root), ["identities.count=2"], [18, 3, 6]),
    "efficacy-mnist": (
        lambda root, _: archives.idx_files(
            root / "MNIST" / "raw", packed=False, train=2000, test=200
        ),
        [],
        [1000, 100, 100],
    ),
    "efficacy-cifar10": (
        lambda root, patch: archives.cifar(root, patch, train=1200, test=40),
        [],
        [1000, 20, 20],
    ),
    "neurips-faces": (
        lambda root, _: archives.mufac(root, families=(3, 2, 2)),
        ["competition.fraction=0.1"],
        [64, 8, 48],
    ),
    "truly-forgetting": (
        lambda root, patch: few_classes(root, patch),
        ["random_classes.n=4", "top_classes.n=4"],
        [60, 10, 10],
    ),
}


def few_classes(root: Path, patch: pytest.MonkeyPatch) -> None:
    """ImageNet as if it had 20 classes, because a ResNet-50 takes minutes for a thousand images."""
    cards = (
        replace(card, classes=20, sizes=None) if card.id == "imagenet" else card
        for card in catalog.DATASETS
    )
    patch.setattr(catalog, "DATASETS", tuple(cards))
    archives.imagenet(root, truth="csv", images=3, classes=20)


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("MUCORE_DATA", str(tmp_path / "data"))
    monkeypatch.setattr(folders, "SIDE", 64)
    store = open_store(tmp_path / "home")
    yield Session(store, "cpu")
    store.close()
    datasets._load.cache_clear()


def specs(preset: str, changes: list[str], **more: Any) -> list[RunSpec]:
    grid = cli.build_grid(
        cli.GridOptions(
            methods=["finetune"],
            preset=preset,
            changes=[*SMALLER, *changes],
            mia_samples=100,
            **more,
        )
    )
    return expand(grid)[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_a_preset_runs_from_its_name_alone(
    session: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    build, changes, sizes = CASES[name]
    build(tmp_path / "data", monkeypatch)
    card = catalog.preset(name)
    # drawing ten thousand faces takes longer than a test should
    dataset = "mufac" if name == "neurips-faces" else card.dataset
    wanted = [spec for spec in specs(name, changes, dataset=dataset) if spec.method == "finetune"]
    assert {spec.scenario for spec in wanted} == set(card.scenarios)
    first = wanted[0]
    splits = session.splits(first)
    assert [len(split) for split in (splits.train, splits.validation, splits.test)] == sizes
    if name not in RUN:
        return
    result = execute(first, session)
    original = session.store.get_result(first.original().key)
    assert result.status == "ok" and original is not None and len(original.losses) == 1
    assert 0 < result.forget_count and result.forget_count + result.retain_count == sizes[0]
    for metric in ("ta", "ra", "fa"):
        assert result.metrics[metric].value is not None, result.metrics[metric].error
    if first.recipe.validation_from == "test":
        assert any("validation is" in note for note in result.notes)
    assert splits.unseen is None or "unseen" in result.confusion


def test_every_paper_of_the_catalogue_is_covered() -> None:
    # convnext-t on imagenet takes the same path as resnet50 there, and its model is tested with the
    # models.
    assert {card.id for card in PAPERS} - set(CASES) == {"truly-forgetting-adamw"}


@pytest.mark.parametrize("card", PAPERS, ids=lambda card: card.id)
def test_a_paper_names_what_the_catalogue_has(card: catalog.PresetCard) -> None:
    assert (
        catalog.dataset(card.dataset).id == card.dataset
        and catalog.model(card.model).id == card.model
    )
    assert card.open_points and card.source and make_recipe(card.id).epochs > 2
    task = catalog.dataset(card.dataset).task
    assert card.scenarios and all(task in catalog.scenario(name).tasks for name in card.scenarios)
    assert {spec.scenario for spec in specs(card.id, [])} == {None, *card.scenarios}


def test_what_a_person_names_goes_before_the_preset() -> None:
    (spec,) = [
        s
        for s in specs("mufac", [], dataset="digits", model="mlp", scenario=["one_class"])
        if s.method == "finetune"
    ]
    assert (spec.dataset, spec.model, spec.scenario) == ("digits", "mlp", "one_class")
    budgets = {
        s.scenario: s.scenario_parameters.get("budget")
        for s in specs("mubox-cifar10", [], budget="0.1")
        if s.scenario
    }
    assert budgets["one_class"] == budgets["backdoor"] == 0.1 and budgets["class_wise"] is None
    assert {s.dataset for s in specs("standard", [])} == {"fashion-mnist-10k"}


def test_a_session_loads_the_data_set_anew_for_another_division(
    session: Session, tmp_path: Path
) -> None:
    archives.idx_files(tmp_path / "data" / "MNIST" / "raw", packed=False, train=200, test=20)
    paper, own = (
        specs("efficacy-mnist", [])[0],
        specs("efficacy-mnist", ["recipe.validation_from=training"])[0],
    )
    assert [len(session.splits(spec).validation) for spec in (paper, own, paper)] == [10, 20, 10]
    assert session.splits(paper) is session.splits(paper)
