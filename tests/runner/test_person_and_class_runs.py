"""New scenarios through the real runner on small data, and what class weights and augment do to a
training.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from builders import value
from PIL import Image
from torch import nn

from mucore import catalog, datasets, training
from mucore.engine.data import class_weights, on_device
from mucore.engine.loop import recipe_loss
from mucore.engine.run import Run
from mucore.errors import BadValue
from mucore.runner.evaluate import original_outputs, stored_outputs
from mucore.runner.execute import execute
from mucore.runner.session import Session
from mucore.runs import RunSpec, make_recipe, make_spec
from mucore.userfiles.datasets import data_hash

RECIPE = make_recipe("quick", {"epochs": 2, "batch_size": 16})
PEOPLE = 20


@pytest.fixture
def session(store):
    return Session(store, "cpu")


@pytest.fixture
def people(tmp_path) -> str:
    """Twenty persons in training and five in test, six images each; person p is of class p % 4,
    which is which quarter is bright.

    Person 3 is in the test set too.
    """
    persons = {
        "train": np.repeat(np.arange(PEOPLE), 6),
        "test": np.repeat([3, 100, 101, 102, 103], 6),
    }
    arrays, rng = {}, np.random.default_rng(0)
    for split, who in persons.items():
        x = rng.integers(100, size=(len(who), 8, 8), dtype=np.uint8)
        for image, person in zip(x, who, strict=True):
            row, column = divmod(int(person) % 4, 2)
            image[4 * row : 4 * row + 4, 4 * column : 4 * column + 4] += np.uint8(120)
        arrays |= {f"x_{split}": x, f"y_{split}": who % 4, f"identity_{split}": who}
    arrays |= {
        "x_val": arrays["x_test"][6:12],
        "y_val": arrays["y_test"][6:12],
        "identity_val": arrays["identity_test"][6:12],
    }
    np.savez(tmp_path / "people.npz", **arrays)
    return f"npz:{tmp_path / 'people.npz'}"


def spec(
    dataset: str, scenario: str, method: str = "finetune", recipe=RECIPE, **parameters: Any
) -> RunSpec:
    return make_spec(
        dataset=dataset,
        data_hash=data_hash(dataset),
        model="mlp",
        recipe=recipe,
        scenario=scenario,
        scenario_parameters=parameters,
        method=method,
        mia_samples=100,
    )


@pytest.mark.parametrize(
    ("scenario", "parameters", "persons"),
    [("identities", {"count": 4}, 4), ("competition", {"fraction": 0.1}, 2)],
)
def test_persons_are_forgotten_as_a_whole(session, people, scenario, parameters, persons):
    wanted = spec(people, scenario, **parameters)
    result = execute(wanted, session)
    assert (
        result.status == "ok"
        and result.forget_count == 6 * persons
        and result.retain_count == 6 * (PEOPLE - persons)
    )
    train = session.splits(wanted).train
    forget = session.forget_set(wanted, None, Run(seed=0))
    gone = set(train.identities[torch.isin(train.ids, torch.from_numpy(forget.ids))].tolist())
    left = set(train.identities[~torch.isin(train.ids, torch.from_numpy(forget.ids))].tolist())
    assert len(gone) == persons and not gone & left and 3 not in gone
    assert (
        "1 of 20 persons in training are in another split too; they cannot be forgotten."
        in result.notes
    )


def test_a_person_of_the_test_set_and_data_without_persons_are_refused(session, people):
    with pytest.raises(BadValue, match=r"training images alone .* got \[3\]"):
        execute(spec(people, "identities", persons=[3]), session)
    with pytest.raises(BadValue, match="does not say who is on its images"):
        execute(spec("digits", "identities"), session)


@pytest.mark.slow
def test_classes_chosen_when_the_run_starts_are_forgotten_classes_to_methods_and_metrics(session):
    choices: dict[str, dict[str, Any]] = {
        "random_classes": {"n": 3, "seed": 1},
        "top_classes": {"n": 3, "downstream": "digits"},
    }
    for scenario, parameters in choices.items():
        wanted = spec("digits", scenario, **parameters)
        result = execute(wanted, session)
        forget = session.forget_set(wanted, session.original(wanted)[0], Run(seed=0))
        assert len(forget.classes) == 3
        data = session.unlearning_data(wanted, forget)
        assert (
            data.forgotten_classes == forget.classes == tuple(data.forget.labels.unique().tolist())
        )
        assert not torch.isin(data.retain.labels, torch.tensor(forget.classes)).any()
        confusion = np.array(result.confusion["test"])[list(forget.classes)]
        assert result.metrics["tfa"].value == pytest.approx(
            confusion[:, list(forget.classes)].trace() / confusion.sum()
        )
        assert session.store.get_result(wanted.retrained().key).metrics["fa"].value == 0


def test_class_means_are_those_of_penultimate_features(session):
    """Digits beside themselves have the same class means twice, and the mean of the fives is that
    of a plain forward pass.
    """
    wanted = spec("digits", "top_classes", n=1, downstream="digits")
    original = session.original(wanted)[0]
    splits = session.splits(wanted)
    own, same = session._prototypes(wanted, original)
    np.testing.assert_allclose(own, same)
    fives = splits.train.labels == 5
    with torch.no_grad():
        x = (splits.train.pixels[fives].float() / 255 - splits.mean[0]) / splits.std[0]
        features = _penultimate(original, x)
    np.testing.assert_allclose(own[5], features.double().mean(0).numpy(), rtol=1e-4, atol=1e-5)


def _penultimate(model: nn.Module, x: torch.Tensor) -> torch.Tensor:
    linear = [module for module in model.modules() if isinstance(module, nn.Linear)][-1]
    seen = []
    with linear.register_forward_pre_hook(lambda module, inputs: seen.append(inputs[0])):
        model(x)
    return seen[0]


# -- recipe: class weights and augmentation


def test_class_weights_by_hand():
    """Eight samples, three of four classes seen: N / (C n_c) is 8 / 20, 8 / 8 and 8 / 4; nobody is
    in class 3.
    """
    assert class_weights(torch.tensor([0] * 5 + [1] * 2 + [2]), 4).tolist() == pytest.approx(
        [0.4, 1.0, 2.0, 0.0]
    )


def test_the_weighted_loss_is_that_of_the_competition():
    splits = datasets.load("digits")
    samples = on_device(splits, "train", "cpu")
    recipe = make_recipe("quick", {"class_weights": True})
    model = nn.Sequential(nn.Flatten(), nn.Linear(64, 10))
    batch = next(samples.batches(Run(seed=0), 32))
    counts = torch.bincount(splits.train.labels, minlength=10)
    wanted = nn.CrossEntropyLoss(weight=1200 / (10 * counts.float()))(model(batch.x), batch.y)
    assert recipe_loss(samples, recipe)(model, batch).item() == pytest.approx(
        wanted.item(), rel=1e-6
    )
    # the retained part of the data keeps the weights of the whole
    assert samples[samples.labels != 0].weights is samples.weights


def test_retrain_has_the_weights_of_the_whole_training_set_and_records_replay_them(session):
    """The replay of a recorded training must end in the original's weights bit by bit, or it
    raises.
    """
    recipe = make_recipe("quick", {"epochs": 2, "class_weights": True})
    result = execute(
        spec("digits", "class_fraction", "amnesiac", recipe, class_id=1, fraction=1.0), session
    )
    assert result.status == "ok" and any(
        "Training record running_sum" in note for note in result.notes
    )
    plain = spec("digits", "class_fraction", class_id=1, fraction=1.0)
    assert (
        result.spec["recipe"]["class_weights"] is True
        and plain.original().key != RunSpec(**result.spec).original().key
    )


def test_a_recipe_without_augmentation_crops_nothing_in_any_part_of_a_run(tmp_path, session):
    rng = np.random.default_rng(0)
    for split, count in (("train", 12), ("test", 2), ("val", 2)):
        for name in ("cat", "dog"):
            (tmp_path / "pets" / split / name).mkdir(parents=True)
            for number in range(count):
                Image.fromarray(rng.integers(256, size=(8, 8), dtype=np.uint8)).save(
                    tmp_path / "pets" / split / name / f"{number}.png"
                )
    pets = f"folder:{tmp_path / 'pets'}"
    plain = spec(pets, "one_class", recipe=make_recipe("quick", {"epochs": 1, "augment": False}))
    natural = spec(pets, "one_class", recipe=make_recipe("quick", {"epochs": 1}))
    assert session.samples(natural, "train").natural and not session.samples(plain, "train").natural
    seen = {}
    for wanted in (natural, plain):
        data = session.unlearning_data(wanted, session.forget_set(wanted, None, Run(seed=0)))
        run = session.run(wanted, 0)
        training.retrain(wanted.retrained(), run, session.splits(wanted), data.retain)
        training.train_original(wanted.original(), run, session.splits(wanted))
        seen[wanted.recipe.augment] = {
            purpose for purpose in run.rng_states() if purpose.startswith("augment")
        }
    assert seen == {True: {"augment/retain", "augment/train"}, False: set()}


def test_a_downstream_set_is_seen_as_each_run_sees_images(session):
    for pixels in ("mucore", "0..1"):
        recipe = make_recipe("quick", {"preprocess": pixels})
        wanted = spec("digits", "top_classes", recipe=recipe, n=1, downstream="digits")
        parts, notes = session.downstream(wanted)
        assert notes == () and len(parts) == 2
        for part in parts.values():
            mean = part.images.mean.flatten().tolist()
            assert mean == pytest.approx(session.splits(wanted).mean)


def test_a_downstream_set_is_looked_at_and_one_that_is_not_there_is_noted(
    session, people, monkeypatch
):
    wanted = spec(people, "top_classes", n=1, downstream="digits")  # ten classes there, four here
    result = execute(wanted, session)
    reference = session.store.get_result(wanted.retrained().key)
    assert value(result.metrics, "knn_accuracy") > 0.5, (
        "any features tell digits apart better than the 10 % of a guess"
    )
    assert 0 < value(result.metrics, "agr") < 1 and value(
        reference.metrics, "agr"
    ) == pytest.approx(1)
    agl, agr = value(result.metrics, "agl"), value(result.metrics, "agr")
    assert value(result.metrics, "h_lr") == pytest.approx(
        2 * agl * agr / (agl + agr) if agl else 0.0
    )
    assert set(result.confusion) == {"forget", "retain", "validation", "test"}

    # without a row of its own in this scenario, it is asked now
    original, _ = session.original(wanted)
    data = session.unlearning_data(wanted, session.forget_set(wanted, original, Run(seed=0)))
    kept = stored_outputs(session, result)
    assert kept is not None
    before = original_outputs(wanted, session, original, data, kept, Run(seed=0))
    assert before is not None and {"downstream/digits/train", "downstream/digits/test"} <= set(
        before
    )

    def gone(name, **cut):
        raise BadValue("Its files are not here.")

    plain = spec(people, "one_class")
    other = Session(session.store, "cpu")
    other.splits(plain)
    card = replace(catalog.dataset(people), downstream=("glyphs-serif",))
    monkeypatch.setattr(catalog, "dataset", lambda name: card)
    monkeypatch.setattr(datasets, "load", gone)
    lacking = execute(plain, other)
    assert (
        "Without the downstream set glyphs-serif: Its files are not here." in lacking.notes
        and "agr" not in lacking.metrics
    )
