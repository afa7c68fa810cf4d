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

from mucore.catalog.networks import network
from mucore.engine.collect import collect
from mucore.engine.data import Samples, UnlearningData
from mucore.engine.run import NO_CALLBACKS, Callbacks, Run
from mucore.errors import Cancelled, MucoreError, StoreError
from mucore.metrics import mia, nomus
from mucore.metrics.accuracy import accuracy, accuracy_of_classes
from mucore.outputs import SplitOutputs, cross_entropy, softmax
from mucore.rng import numpy_rng
from mucore.runner.estimate.memory import weights_of
from mucore.runner.execute import model_of, unlearn
from mucore.runner.forget_set import ForgetSet
from mucore.runner.session import Session
from mucore.runner.training_records import training_records
from mucore.runs import RunSpec
from mucore.store.transient_errors import awaited
from mucore.tuning import objective
from mucore.tuning.objective import Limit, short
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

    Makes what is missing, and stores it. Raises `Cancelled`, `MucoreError`.
    """

    def __init__(
        self, task: Task, seed: int, session: Session, callbacks: Callbacks = NO_CALLBACKS
    ):
        self.task, self.seed, self.session, self.callbacks = task, seed, session, callbacks
        self.spec = task.spec("retrain", seed=seed)
        self.trained = session.original(self.spec, callbacks)
        self.forget: ForgetSet = session.forget_set(self.spec, self.trained[0], self._quiet())
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
        model, _ = session.load_model(self.spec) or model_of(
            self.spec, session, self.trained, self.forget, self.data, callbacks
        )
        self.retrain: Numbers = self._reference("Retrain", model)
        # gradient samples of a whole Retrain
        self.whole = float(self.spec.recipe.epochs * len(self.data.retain))
        self.original: Numbers = self._reference("the original", self.trained[0])

    def _quiet(self) -> Run:
        """Surroundings in which nothing is counted for anybody."""
        return self.session.run(self.spec, self.seed, self.callbacks)

    def _part(self, purpose: str, samples: Samples, count: int) -> Samples:
        """A part of samples that is the same for every trial and every seed of a task."""
        chosen = numpy_rng(0, purpose).permutation(len(samples))[:count]
        return samples[torch.from_numpy(np.sort(chosen))]

    def _reference(self, name: str, model: nn.Module) -> Numbers:
        try:
            return self.measure(model)
        except MucoreError as error:
            raise MucoreError(
                f"{self.task.title}, seed {self.seed}: nothing can be compared with {name}: {error}"
            ) from error

    # -- numbers

    def measure(self, model: nn.Module) -> Numbers:
        """The numbers of a network that the score looks at, in 0..1. Raises
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
            assert self.data.true_labels is not None
            true = self.data.forget.with_labels(self.data.true_labels)
            found["fa_true"] = accuracy(confusion=asked(true).confusion)
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
        return {name: short(value) for name, value in found.items()}

    def _attacked(self, **roles: SplitOutputs) -> float:
        """Efficacy of the confidence attack."""
        attack = mia.run_attack(
            "confidence",
            **{name: (softmax(each.logits), each.labels) for name, each in roles.items()},
            cap=self.spec.mia_samples,
            evaluation_seed=self.spec.evaluation_seed,
        )
        assert attack.efficacy is not None
        return attack.efficacy

    # -- trials

    def sizes(self) -> dict[str, Any]:
        """What formulas count with on this data, and the accuracy of guessing."""
        splits, recipe = self.session.splits(self.spec), self.spec.recipe
        chance = 1 / (2 if splits.task == "attributes" else splits.classes)
        return {
            "batch_size": recipe.batch_size,
            "chance": chance,
            "weights": weights_of(network(self.spec.model, splits.shape), splits.classes),
            "classes": splits.classes,
            "leaving": len(self.data.forgotten_classes),
            "train": len(self.data.forget) + len(self.data.retain),
            "forget": len(self.data.forget),
            "retain": len(self.data.retain),
            "validation": len(self.data.validation),
            "recipe_epochs": recipe.epochs,
        }

    def space(self, method: str) -> Space:
        """The method's space on this data."""
        return Space(method, self.sizes(), self.task.spec(method, seed=self.seed).parameters)

    def attempt(
        self,
        method: str,
        values: Mapping[str, Any],
        limits: Mapping[str, Limit],
        *,
        most: float,
        cap: float,
    ) -> Trial:
        """Run a setting and score it. It ends, as bad as can be, past `most` gradient samples; one
        that took more than `cap` is `over`. Both are shares of Retrain's.

        Raises what is not the setting's fault: `Cancelled` where a person asked for it,
        `StoreError` and trouble that passes, and `MucoreError` where a training record cannot be
        made.
        """
        spec = self.task.spec(method, values, seed=self.seed)
        run, original = self._trial_run(spec, most), self.trained[0]
        records = training_records(self.session, spec, original, self.forget, run, self.callbacks)
        data = replace(self.data, record=self.data.record | records)
        retrain = self.session.store.get_model(spec.retrained().model_key)
        whole = retrain.cost.get("seconds") if retrain is not None else None
        began, ended, numbers = time.process_time(), "", {}
        try:
            model = unlearn(spec, original, data, run, whole)
            if run.status == "diverged":
                ended = run.stop_reason or "it diverged"
            else:
                numbers = self.measure(model)
        except Cancelled:
            if self.callbacks.cancelled is not None and self.callbacks.cancelled():
                raise
            ended = f"it took more than {most:.3g} of Retrain's gradient samples"
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
            work=short(spent),
            seconds=round(seconds, 2),
            over=spent > cap,
            ended=ended,
        )
        if ended:
            return trial
        gaps = {name: short(value - self.retrain[name]) for name, value in numbers.items()}
        score = objective.score(gaps, limits)
        return replace(trial, score=score, numbers=numbers, gaps=gaps)

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
