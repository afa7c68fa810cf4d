"""Search settings for every method with equal means, and write them down as the preset `tuned`.

    python scripts/tune.py [--home DIR] [--methods scrub ssd] [--trials 8] [--jobs 2]
        searches; can be stopped and started again
    python scripts/tune.py --home DIR --write
        adds what is done to mucore/catalog/tuned.json

What a trial is: the method, with settings from its card's `search`, on a tuning seed that no
reported result uses, under `one_class` and then `class_wise`. Its score is the mean over the
scenarios of

    (|gap of RA| + |gap of FA| + |gap of validation accuracy| + |gap of the confidence attack's
    efficacy|) / 4

to a Retrain of the same seed, smaller is better; test data is never looked at, the attack's
non-members are validation samples, and retain accuracy is that of 2,000 retained samples, the same
ones for every trial. Equal for every method: the number of trials, the first of which has the
authors' values; the sampler (Optuna's TPE, after three random trials); that a trial whose first
scenario is worse than the median of the earlier ones, once there are three, ends there; and that a
trial which takes more than half of Retrain's processor time is stopped and counts as failed. A
search that was stopped goes on where it was, to the same end.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import optuna
import torch

from mucore import catalog, training
from mucore.catalog.cards import Among
from mucore.catalog.tuning import FOUND, found
from mucore.engine.collect import collect
from mucore.engine.run import Run
from mucore.errors import Cancelled, MucoreError
from mucore.metrics import membership
from mucore.metrics.accuracy import accuracy
from mucore.outputs import softmax
from mucore.rng import numpy_rng, stream_seed
from mucore.runner.execute import execute, unlearn
from mucore.runner.session import Session
from mucore.runner.training_records import training_records
from mucore.spec import RunSpec, make_recipe, make_spec
from mucore.store import open_store

SPACES = {card.id: card.search for card in catalog.METHODS if card.search}
DATASET, MODEL, PRESET = "fashion-mnist-10k", "resnet9-small", "standard"
SCENARIOS = ("one_class", "class_wise")
SEED = 100  # of training, unlearning, forget set and attack; results are reported on 0, 1, 2
TIME_CAP = 0.5  # of Retrain's processor time, a scenario
SAMPLES = 2000  # of the retain set; they are the attack's members, too
STARTUP = 4  # trials before the sampler learns from them, the authors' among them
ENOUGH = 3  # earlier trials that a median is taken of
MEASURES = ("ra", "fa", "va", "mia")


def specification(scenario: str, method: str, values: dict[str, Any]) -> RunSpec:
    own = (
        {"seed": SEED}
        if any(p.name == "seed" for p in catalog.scenario(scenario).parameters)
        else {}
    )
    return make_spec(
        dataset=DATASET,
        model=MODEL,
        recipe=make_recipe(PRESET),
        scenario=scenario,
        scenario_parameters=own,
        method=method,
        parameters=values,
        training_seed=SEED,
        unlearning_seed=SEED,
        evaluation_seed=SEED,
    )


class Judge:
    """One scenario's original and Retrain, and the score of a model against them."""

    def __init__(self, scenario: str, session: Session):
        self.scenario, self.session = scenario, session
        self.retrain = specification(scenario, "retrain", {})
        execute(self.retrain, session)  # made once and stored
        self.original, _ = session.original(self.retrain)
        self.forget = session.forget_set(self.retrain, self.original, self.quiet)
        self.data = session.unlearning_data(self.retrain, self.forget)
        chosen = numpy_rng(SEED, "tuning/retain").permutation(len(self.data.retain))[:SAMPLES]
        self.retained = self.data.retain[torch.from_numpy(np.sort(chosen))]
        found = session.load_model(self.retrain)
        assert found is not None
        self.reference = self.measure(found[0])
        self.seconds = self._retrain_seconds()

    @property
    def quiet(self) -> Run:
        return Run(seed=SEED, device=self.session.device)

    def _retrain_seconds(self) -> float:
        """Processor seconds of a Retrain, from one epoch of it: unlike the clock's, they do not
        grow when processes share the machine.
        """
        path = self.session.store.home / f"retrain_{self.scenario}_{torch.get_num_threads()}.json"
        if not path.is_file():
            recipe = self.retrain.recipe
            short = self.retrain.model_copy(
                update={"recipe": recipe.model_copy(update={"epochs": 1})}
            )
            began = time.process_time()
            training.retrain(short, self.quiet, self.session.splits(short), self.data.retain)
            path.write_text(json.dumps((time.process_time() - began) * recipe.epochs))
        return float(json.loads(path.read_text()))

    def measure(self, model: torch.nn.Module) -> dict[str, float]:
        """The four numbers of the objective; test data stays untouched."""
        splits = {
            "ra": self.retained,
            "fa": self.data.forget,
            "va": self.session.samples(self.retrain, "validation"),
        }
        outputs = {
            name: collect(model, part, self.data.classes, self.quiet, keep=None, features=0)
            for name, part in splits.items()
        }
        if not all(np.isfinite(output.logits).all() for output in outputs.values()):
            raise MucoreError("Its predictions are not finite numbers.")
        members, forget, unseen = (
            (softmax(outputs[name].logits), outputs[name].labels) for name in ("ra", "fa", "va")
        )
        attack = membership.run_attack(
            "confidence",
            forget=forget,
            members=members,
            nonmembers=unseen,
            split=membership.split_attack_data(
                members=len(members[1]),
                nonmembers=len(unseen[1]),
                cap=SAMPLES,
                evaluation_seed=SEED,
            ),
        )
        assert attack.efficacy is not None
        return {
            **{name: accuracy(confusion=output.confusion) for name, output in outputs.items()},
            "mia": attack.efficacy,
        }

    def gaps(self, model: torch.nn.Module) -> dict[str, float]:
        return {name: value - self.reference[name] for name, value in self.measure(model).items()}

    def attempt(self, method: str, values: dict[str, Any]) -> tuple[float, dict[str, float], float]:
        """Run the method: its score, its gaps, and its share of Retrain's processor time. Raises
        `Cancelled` past the cap.
        """
        spec = specification(self.scenario, method, values)
        data = replace(
            self.data,
            record=self.data.record
            | training_records(self.session, spec, self.original, self.forget, self.quiet),
        )
        began = time.process_time()
        run = Run(
            seed=spec.unlearning_seed,
            device=self.session.device,
            cancelled=lambda: time.process_time() - began > TIME_CAP * self.seconds,
        )
        model = unlearn(spec, self.original, data, run)
        share = (time.process_time() - began) / self.seconds
        gaps = self.gaps(model)
        return float(np.mean([abs(gap) for gap in gaps.values()])), gaps, share


def suggest(trial: optuna.Trial, method: str) -> dict[str, Any]:
    """Settings for a trial, from the method's space."""
    kinds = {p.name: p.kind for p in catalog.method(method).parameters}
    values: dict[str, Any] = {}
    for name, space in SPACES[method].items():
        if isinstance(space, Among):
            values[name] = trial.suggest_categorical(name, space.values)
        elif kinds[name] == "int":
            values[name] = trial.suggest_int(name, int(space.low), int(space.high), log=space.log)
        else:
            values[name] = trial.suggest_float(name, space.low, space.high, log=space.log)
    return values


def authors(method: str) -> dict[str, Any]:
    """The authors' values of what is searched; a value outside the space is what the trial falls
    back to all the same.
    """
    return {
        name: value
        for name, value in specification(scenarios_of(method)[0], method, {}).parameters.items()
        if name in SPACES[method]
    }


def scenarios_of(method: str) -> list[str]:
    allowed = catalog.method(method).scenarios
    return [scenario for scenario in SCENARIOS if allowed is None or scenario in allowed]


def search(method: str, home: Path, trials: int, threads: int) -> str:
    """Bring a method's study to `trials` trials. Returns a line about the best."""
    torch.set_num_threads(threads)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = open_study(method, home)
    judges: dict[str, Judge] = {}
    with open_store(home) as store:
        session = Session(store)
        while (done := len(finished(study))) < trials:
            # A fresh sampler for each trial: where a search was stopped in between leaves no trace
            # in what it draws.
            study.sampler = optuna.samplers.TPESampler(
                seed=stream_seed(SEED, f"tuning/{method}/{done}") % 2**32, n_startup_trials=STARTUP
            )
            trial = study.ask()
            own = done == 0
            values = authors(method) if own else suggest(trial, method)
            trial.set_user_attr("values", values)
            scores: list[float] = []
            try:
                for scenario in scenarios_of(method):
                    judge = (
                        judges[scenario]
                        if scenario in judges
                        else judges.setdefault(scenario, Judge(scenario, session))
                    )
                    score, gaps, share = judge.attempt(method, values)
                    trial.set_user_attr(scenario, {"score": score, "gaps": gaps, "share": share})
                    scores.append(score)
                    trial.report(score, step=len(scores))
                    if (
                        len(scores) < len(scenarios_of(method))
                        and not own
                        and behind(study, scenario, score)
                    ):
                        trial.set_user_attr("ended", f"behind after {scenario}")
                        break
                else:
                    study.tell(trial, float(np.mean(scores)))
                    continue
                study.tell(trial, state=optuna.trial.TrialState.PRUNED)
            except Cancelled:
                trial.set_user_attr("ended", f"more than {TIME_CAP:g} of Retrain's processor time")
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
            except MucoreError as error:
                trial.set_user_attr("ended", str(error))
                study.tell(trial, state=optuna.trial.TrialState.FAIL)
    return report(method, study)


def behind(study: optuna.Study, scenario: str, score: float) -> bool:
    """Whether a trial's first scenario is worse than the median of the earlier trials', once there
    are `ENOUGH` of them.
    """
    earlier = [
        trial.user_attrs[scenario]["score"]
        for trial in finished(study)
        if scenario in trial.user_attrs
    ]
    return len(earlier) >= ENOUGH and score > float(np.median(earlier))


def finished(study: optuna.Study) -> list[optuna.trial.FrozenTrial]:
    return [trial for trial in study.get_trials(deepcopy=False) if trial.state.is_finished()]


def open_study(method: str, home: Path) -> optuna.Study:
    home.mkdir(parents=True, exist_ok=True)
    storage = optuna.storages.RDBStorage(
        f"sqlite:///{home / 'studies.sqlite'}", engine_kwargs={"connect_args": {"timeout": 60}}
    )
    return optuna.create_study(study_name=method, storage=storage, load_if_exists=True)


def best(study: optuna.Study) -> optuna.trial.FrozenTrial | None:
    complete = [
        trial
        for trial in finished(study)
        if trial.value is not None and trial.state == optuna.trial.TrialState.COMPLETE
    ]
    return min(complete, key=lambda trial: (trial.value, trial.number), default=None)


def report(method: str, study: optuna.Study) -> str:
    chosen, trials = best(study), finished(study)
    first = f"{trials[0].value:.4f}" if trials and trials[0].value is not None else "none"
    if chosen is None:
        return f"{method}: none of {len(trials)} trials ended well"
    return (
        f"{method}: {chosen.value:.4f} (authors' {first}) of {len(trials)} trials, with "
        f"{chosen.user_attrs['values']}"
    )


def write(home: Path, trials: int) -> None:
    """Add the best settings of every method whose search is over to tuned.json, with the figures
    behind them.
    """
    conditions = {
        "dataset": DATASET,
        "model": MODEL,
        "preset": PRESET,
        "scenarios": list(SCENARIOS),
        "seed": SEED,
    }
    content: dict[str, Any] = (
        json.loads(FOUND.read_text())
        if FOUND.is_file()
        else {**conditions, "methods": {}, "evidence": {}}
    )
    if (before := {name: content[name] for name in conditions}) != conditions:
        sys.exit(f"{FOUND} was found under other conditions, {before}. Remove it to start over.")
    searched = optuna.get_all_study_names(f"sqlite:///{home / 'studies.sqlite'}")
    for method in SPACES:
        study = open_study(method, home) if method in searched else None
        if study is None or len(finished(study)) < trials:
            continue
        if content["evidence"].get(method, {}).get("trials", 0) > len(finished(study)):
            continue  # found with more trials than these
        chosen, done = best(study), finished(study)
        if chosen is None:
            print(
                f"No trial of {method} ended well; give its card in mucore/catalog/methods a "
                "cheaper search."
            )
            continue
        content["methods"][method] = {
            name: _rounded(value) for name, value in chosen.user_attrs["values"].items()
        }
        content["evidence"][method] = {
            "score": chosen.value,
            "authors_score": done[0].value,
            "trial": chosen.number,
            "trials": len(done),
            "completed": sum(
                trial.value is not None
                for trial in done
                if trial.state == optuna.trial.TrialState.COMPLETE
            ),
            "behind": sum(trial.state == optuna.trial.TrialState.PRUNED for trial in done),
            "failed": sum(trial.state == optuna.trial.TrialState.FAIL for trial in done),
        }
    for part in ("methods", "evidence"):  # in the order of the roster, whatever was found first
        content[part] = {
            method: content[part][method] for method in SPACES if method in content[part]
        }
    FOUND.write_text(json.dumps(content, indent=1) + "\n")
    missing = [method for method in SPACES if method not in content["methods"]]
    print(
        f"Wrote {len(content['methods'])} methods to {FOUND}."
        + (f" Not searched to the end: {', '.join(missing)}." if missing else "")
    )


def _rounded(value: Any) -> Any:
    """Three digits say all that a dozen trials know, and are what gets measured afterwards."""
    return float(f"{value:.3g}") if isinstance(value, float) else value


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--home",
        type=Path,
        default=Path("tune-home"),
        help="where store and studies of the search live",
    )
    new = [method for method in SPACES if method not in found()]
    parser.add_argument(
        "--methods",
        nargs="+",
        default=new,
        choices=list(SPACES),
        metavar="METHOD",
        help="default: all that tuned.json does not have",
    )
    parser.add_argument("--trials", type=int, default=8, help="trials for each method")
    parser.add_argument(
        "--jobs",
        type=int,
        default=os.cpu_count() or 1,
        help="methods searched at once, sharing the processor's cores",
    )
    parser.add_argument(
        "--write", action="store_true", help="write what was found; searches nothing"
    )
    arguments = parser.parse_args()
    if arguments.write:
        return write(arguments.home, arguments.trials)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    threads = max(1, (os.cpu_count() or 1) // arguments.jobs)
    torch.set_num_threads(threads)
    with open_store(arguments.home) as store:
        for scenario in SCENARIOS:
            Judge(scenario, Session(store))  # what all processes share is made before they start
    for method in arguments.methods:
        open_study(method, arguments.home)
    with ProcessPoolExecutor(
        arguments.jobs, mp_context=multiprocessing.get_context("spawn")
    ) as pool:
        futures = {
            pool.submit(search, method, arguments.home, arguments.trials, threads): method
            for method in arguments.methods
        }
        broken = []
        for future in as_completed(futures):
            try:
                print(future.result(), flush=True)
            except Exception as error:  # one method must not end the search of the others
                broken.append(futures[future])
                print(f"{broken[-1]}: broke off: {type(error).__name__}: {error}", flush=True)
    if broken:
        sys.exit(f"Not searched to the end: {', '.join(broken)}.")


if __name__ == "__main__":
    main()
