"""One seed of a task: its original and Retrain, made once and kept in the store, and what a network
is worth against them. Test data stay untouched.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import nn

from mucore import catalog
from mucore.catalog.networks import network
from mucore.datasets.poisoned import stamped
from mucore.engine.collect import collect
from mucore.engine.data import Samples, UnlearningData, on_device
from mucore.engine.run import NO_CALLBACKS, Callbacks, Run
from mucore.engine.untouched import Touched
from mucore.errors import Cancelled, MucoreError, StoreError
from mucore.metrics import membership, nomus
from mucore.metrics.accuracy import accuracy, accuracy_of_classes
from mucore.outputs import SplitOutputs, cross_entropy, softmax
from mucore.rng import numpy_rng
from mucore.runner.estimate.memory import values_of
from mucore.runner.execute import model_of, unlearn
from mucore.runner.session import ForgetSet, Session
from mucore.runner.training_records import training_records
from mucore.scenarios.poison import flipped_classes
from mucore.spec import RunSpec
from mucore.store.trouble import awaited
from mucore.tuning import objective
from mucore.tuning.space import Space, work
from mucore.tuning.study import Trial
from mucore.tuning.task import Task

SAMPLES = 2000  # of the retain set; they are the attack's members, too
# What arithmetic raises where a setting asks too much of it, such as of a singular matrix. Others
# that a method may raise, for want of memory or by a defect, are not the setting's fault.
NUMERICAL = (ArithmeticError, np.linalg.LinAlgError, torch.linalg.LinAlgError)
ATTACK_SPLIT = "tuning/attack"  # which half of the validation set an attack may see
Numbers = dict[str, float]


class Judge:
    """Original, Retrain and data of `task` under the training seed `seed`, on the session's device.

    Makes what is missing, and stores it. With `original` False only Retrain is wanted, and no
    original is trained where the scenario needs none. Raises `Cancelled`, `MucoreError`.
    """

    def __init__(
        self,
        task: Task,
        seed: int,
        session: Session,
        callbacks: Callbacks = NO_CALLBACKS,
        *,
        original: bool = True,
    ):
        self.task, self.seed, self.session, self.callbacks = task, seed, session, callbacks
        self.spec = task.spec("retrain", seed=seed)
        card = catalog.scenario(task.scenario)
        wanted = original or bool(card.needs & {"losses", "downstream"})
        self.trained = session.original(self.spec, callbacks) if wanted else None
        network = self.trained[0] if self.trained else None
        self.forget: ForgetSet = session.forget_set(self.spec, network, self._quiet())
        self.data: UnlearningData = session.unlearning_data(self.spec, self.forget)
        self._retain = self._part("tuning/retain", self.data.retain, SAMPLES)
        validation = self.data.validation
        gone = torch.tensor(self.data.forgotten_classes)
        # Half of them, so that the accuracy on all and the attack are two opinions; of classes that
        # go entirely there are too few to halve.
        self._unseen = (
            validation[torch.isin(validation.labels, gone)]
            if len(gone)
            else self._part(ATTACK_SPLIT, validation, len(validation) // 2)
        )
        self._poisoned = self._where_poison_acts()
        model, _ = self._retrained()
        self.retrain: Numbers = self._reference("Retrain", model)
        # gradient samples of a whole Retrain
        self.whole = float(self.spec.recipe.epochs * len(self.data.retain))
        if self.trained is not None:
            self.original: Numbers = self._reference("the original", self.trained[0])

    def _quiet(self) -> Run:
        """Surroundings in which nothing is counted for anybody."""
        return self.session.run(self.spec, self.seed, self.callbacks)

    def _part(self, purpose: str, samples: Samples, count: int) -> Samples:
        """A part of samples that is the same for every trial and every seed of a task."""
        chosen = numpy_rng(0, purpose).permutation(len(samples))[:count]
        return samples[torch.from_numpy(np.sort(chosen))]

    def _retrained(self) -> tuple[nn.Module, Any]:
        if (found := self.session.load_model(self.spec)) is not None:
            return found
        start = self.trained or self._untrained()
        return model_of(self.spec, self.session, start, self.forget, self.data, self.callbacks)

    def _untrained(self) -> Any:
        """What Retrain starts from does not matter to it."""
        return self.data.fresh_model(0), None

    def _reference(self, name: str, model: nn.Module) -> Numbers:
        try:
            return self.measure(model)
        except MucoreError as error:
            raise MucoreError(
                f"{self.task.title}, seed {self.seed}: nothing can be compared with {name}: {error}"
            ) from error

    # -- numbers

    def _where_poison_acts(self) -> Samples | None:
        """Validation images under the trigger, those of the target class left out; or those of the
        classes whose labels were flipped.
        """
        poison, validation = self.spec.poison, self.data.validation
        if not poison:
            return None
        splits = self.session.splits(self.spec)
        if splits.trigger is None:
            flipped = torch.tensor(flipped_classes(poison, splits.classes))
            return validation[torch.isin(validation.labels, flipped)]
        everything = torch.ones(len(splits.validation), dtype=torch.bool)
        pixels = stamped(splits.validation.pixels, everything, splits.trigger, poison["value"])
        under = replace(splits, validation=replace(splits.validation, pixels=pixels))
        found = on_device(under, "validation", self.session.device)
        return found[found.labels != poison["target"]]

    def measure(self, model: nn.Module) -> Numbers:
        """The numbers of a network that the score and the choice look at, in 0..1. Raises
        `MucoreError` where predictions are not finite, or nearly all are of one class.
        """
        classes, run = self.data.classes, self._quiet()

        def asked(samples: Samples) -> SplitOutputs:
            return collect(model, samples, classes, run, keep=None, features=0)

        retain, forget, validation, unseen = (
            asked(each)
            for each in (self._retain, self.data.forget, self.data.validation, self._unseen)
        )
        if not all(np.isfinite(each.logits).all() for each in (retain, forget, validation)):
            raise MucoreError("its predictions are not finite numbers")
        if validation.task == "classes" and objective.collapsed(
            validation.confusion, self.data.forgotten_classes
        ):
            raise MucoreError("it collapsed: it gives nearly all validation samples one class")
        found = {
            "ra": accuracy(confusion=retain.confusion),
            "fa": accuracy(confusion=forget.confusion),
            "va": accuracy(confusion=validation.confusion),
        }
        gone = self.data.forgotten_classes
        names = objective.terms(self.task.scenario)
        if "va_forgotten" in names:
            others = [each for each in range(classes) if each not in gone]
            for name, chosen in (("va_forgotten", gone), ("va_remaining", others)):
                found[name] = accuracy_of_classes(confusion=validation.confusion, classes=chosen)
        if "fa_true" in names:
            assert self.data.true_labels is not None and self._poisoned is not None
            true = self.data.forget.with_labels(self.data.true_labels)
            found["fa_true"] = accuracy(confusion=asked(true).confusion)
            found["va_poisoned"] = accuracy(confusion=asked(self._poisoned).confusion)
        if "mia" in names:
            found["mia"] = self._attacked(members=retain, forget=forget, nonmembers=unseen)
        if "mia_loss" in names:
            losses = {
                name: cross_entropy(each.logits, each.labels)
                for name, each in (("forget", forget), ("unseen", unseen))
            }
            found["mia_loss"] = nomus.attack_accuracy(
                **losses, evaluation_seed=self.spec.evaluation_seed
            )
        return {name: _short(value) for name, value in found.items()}

    def _attacked(self, **roles: SplitOutputs) -> float:
        """Efficacy of the confidence attack."""
        said = {name: (softmax(each.logits), each.labels) for name, each in roles.items()}
        attack = membership.run_attack(
            "confidence",
            forget=said["forget"],
            members=said["members"],
            nonmembers=said["nonmembers"],
            split=membership.split_attack_data(
                members=len(roles["members"]),
                nonmembers=len(roles["nonmembers"]),
                cap=self.spec.mia_samples,
                evaluation_seed=self.spec.evaluation_seed,
            ),
        )
        assert attack.efficacy is not None
        return attack.efficacy

    # -- trials

    def sizes(self) -> dict[str, Any]:
        """What formulas count with on this data."""
        splits, recipe = self.session.splits(self.spec), self.spec.recipe
        return {"batch_size": recipe.batch_size} | values_of(
            network(self.spec.model, splits.shape),
            shape=splits.shape,
            classes=splits.classes,
            sizes={
                "train": len(self.data.forget) + len(self.data.retain),
                "forget": len(self.data.forget),
                "retain": len(self.data.retain),
                "validation": len(self.data.validation),
            },
            leaving=len(self.data.forgotten_classes),
            recipe_epochs=recipe.epochs,
            recipe_batch=recipe.batch_size,
        )

    def space(self, method: str) -> Space:
        """The method's space on this data."""
        return Space(method, self.sizes(), self.task.spec(method, seed=self.seed).parameters)

    def attempt(
        self,
        method: str,
        values: Mapping[str, Any],
        units: Mapping[str, float],
        *,
        most: float,
        cap: float,
    ) -> Trial:
        """Run a setting and score it. It ends, as bad as can be, past `most` gradient samples; one
        that took more than `cap` is `over`. Both are shares of Retrain's.

        Raises what is not the setting's fault: `Cancelled` where a person asked for it,
        `StoreError` and trouble that passes, `MucoreError` where a training record cannot be made,
        and `Touched`, after which this judge is spoilt.
        """
        assert self.trained is not None
        spec = self.task.spec(method, values, seed=self.seed)
        run, original = self._trial_run(spec, most), self.trained[0]
        records = training_records(self.session, spec, original, self.forget, run, self.callbacks)
        data = replace(self.data, record=self.data.record | records)
        retrain = self.session.store.get_model(spec.retrained().model_key)
        whole = retrain.cost.get("seconds") if retrain is not None else None
        began, ended, numbers = time.process_time(), "", {}
        moved = True
        try:
            model = unlearn(spec, original, data, run, whole)
            if run.status == "diverged":
                ended = run.stop_reason or "it diverged"
            else:
                moved = _differs(model, original)
                numbers = self.measure(model)
        except Cancelled:
            if self.callbacks.cancelled is not None and self.callbacks.cancelled():
                raise
            ended = f"it took more than {most:.3g} of Retrain's gradient samples"
        except Touched:
            self.session.forget_data()
            raise
        except StoreError:
            raise
        except MucoreError as error:
            if awaited(error) is not None:
                raise
            ended = str(error)
        except NUMERICAL as error:
            ended = f"{type(error).__name__}: {error}"
        spent = _spent(run) / self.whole
        if not ended and spent > most:  # a user's own method is asked when it has ended
            ended = f"it took more than {most:.3g} of Retrain's gradient samples"
        seconds = run.cost.processor_seconds or time.process_time() - began
        trial = Trial(
            seed=self.seed,
            values=values,
            score=objective.WORST,
            work=_short(spent),
            seconds=round(seconds, 2),
            over=spent > cap,
            ended=ended,
        )
        if ended:
            return trial
        gaps = {name: _short(value - self.retrain[name]) for name, value in numbers.items()}
        found = objective.score(gaps, units, objective.terms(self.task.scenario))
        name = objective.telling(self.task.scenario)
        still = not moved or objective.stood_still(
            numbers[name],
            original=self.original[name],
            retrain=self.retrain[name],
            unit=units[name],
        )
        if still:
            found = objective.penalised(found, original=self.score_of_original(units))
        return replace(trial, score=_short(found), numbers=numbers, gaps=gaps, still=still)

    def score_of_original(self, units: Mapping[str, float]) -> float:
        """J of the original: of doing nothing."""
        gaps = {name: value - self.retrain[name] for name, value in self.original.items()}
        return _short(objective.score(gaps, units, objective.terms(self.task.scenario)))

    def _trial_run(self, spec: RunSpec, most: float) -> Run:
        asked: Callable[[], bool] | None = self.callbacks.cancelled

        def cancelled() -> bool:
            return _spent(run) > most * self.whole or (asked is not None and asked())

        run = self.session.run(spec, self.seed, replace(self.callbacks, cancelled=cancelled))
        return run


def _spent(run: Run) -> float:
    """Gradient samples that a run has read so far."""
    reads = run.cost.reads.items()
    forward, backward = (
        sum(count for name, count in reads if name.endswith(f"/{kind}"))
        for kind in ("forward", "backward")
    )
    return work(forward, backward)


def _differs(model: nn.Module, original: nn.Module) -> bool:
    """Whether any weight is another than the original's."""
    before, after = original.state_dict(), model.state_dict()
    return before.keys() != after.keys() or any(
        not torch.equal(before[name], value.to(before[name])) for name, value in after.items()
    )


def _short(value: float) -> float:
    """As it is written down, so that a study that was read again goes on alike."""
    return float(f"{value:.6g}")
