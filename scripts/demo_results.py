"""The demo's runs of one setting, task by task, for the pages that are made from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from mucore import catalog
from mucore.runs import REFERENCES, make_recipe
from mucore.store import open_pack
from mucore.store.records import Result
from mucore.suite.scores import scores_of
from mucore.verdicts import judge

DEMO = Path(__file__).resolve().parents[1] / "data" / "demo"
MODEL, PRESET = "resnet9-small", "standard"
# of each data set the scenarios; what has no runs yet is left out
TASKS = {
    "fashion-mnist-10k": tuple(
        "one_class all_classes class_wise worst_case best_case label_flip backdoor".split()
    ),
    "faces": ("identities",),
}
Runs = Mapping[int, Result]  # by training seed


def runs(*, dataset: str, scenarios: Sequence[str]) -> list[Result]:
    """Those of a data set under scenarios with their usual parameters: other budgets are other
    comparisons.
    """
    recipe = make_recipe(PRESET).model_dump(mode="json")
    return [
        result
        for result in _every(DEMO)
        if (result.spec["dataset"], result.spec["model"]) == (dataset, MODEL)
        and {name: result.spec["recipe"].get(name, default) for name, default in recipe.items()}
        == recipe
        and result.spec["scenario"] in scenarios
        and _usual(result)
    ]


@lru_cache(maxsize=1)
def _every(folder: Path) -> list[Result]:
    with open_pack(folder) as pack:
        return pack.results()


def _usual(result: Result) -> bool:
    chosen = result.spec["scenario_parameters"]
    defaults = {p.name: p.default for p in catalog.scenario(result.spec["scenario"]).parameters}
    return all(
        chosen.get(name) == (list(value) if isinstance(value, tuple) else value)
        for name, value in defaults.items()
    )


@dataclass(frozen=True, kw_only=True)
class Line:
    """A method under a task. `word` is that of its verdict, `qualified` whether it counts as one
    that forgot, `shown` whether the seeds show the word, `scores` its distance to Retrain by
    training seed.
    """

    method: str
    word: str
    said: str
    qualified: bool
    shown: bool
    cheats: bool
    runs: Runs
    scores: Mapping[int, float]

    @property
    def score(self) -> float:
        return sum(self.scores.values()) / len(self.scores)


def tally(lines: Iterable[Line]) -> str:
    """How many of these forgot, shown and by indication: "14 + 10"."""
    shown = [line.shown for line in lines if line.qualified]
    return f"{sum(shown)} + {len(shown) - sum(shown)}" if not all(shown) else str(len(shown))


@dataclass(frozen=True, kw_only=True)
class Task:
    """The lines of one task with authors' or tuned settings, and its references."""

    dataset: str
    scenario: str
    settings: str
    lines: tuple[Line, ...]
    retrain: Runs  # all there are, which make their 95 % band
    original: Runs

    @property
    def methods(self) -> dict[str, Line]:
        """By id, the methods with as many seeds as any: a mean of fewer is another number. A
        baseline that cheats is none.
        """
        ran = [line for line in self.lines if line.scores and not line.cheats]
        most = max((len(line.scores) for line in ran), default=0)
        return {line.method: line for line in ran if len(line.scores) == most}

    def beside(self, runs: Runs) -> Runs:
        """Those of a reference on the seeds of any line."""
        seeds = {seed for line in self.lines for seed in line.runs}
        return {seed: run for seed, run in runs.items() if seed in seeds}

    @property
    def unclear(self) -> bool:
        """Whether verdicts cannot say of any method that it forgot."""
        words = {line.word for line in self.methods.values()} - {"damaged"}
        return bool(words) and words <= {"nothing to forget", "cannot tell"}

    def forgot(self, side: bool = True) -> list[Line]:
        """The methods that forgot, or the others."""
        return [line for line in self.methods.values() if line.qualified == side]

    @property
    def title(self) -> str:
        return f"`{self.scenario}` on {self.dataset}"


def task_of(results: Sequence[Result], *, dataset: str, scenario: str, settings: str) -> Task:
    """Of results of one task, Original and Retrain among them. A method with two settings keeps
    the one with more seeds.
    """
    by_key = {result.key: result for result in results}
    retrain, original = (
        {each.spec["training_seed"]: each for each in results if each.spec["method"] == name}
        for name in ("retrain", "original")
    )
    lines: dict[str, Line] = {}
    for each in judge(results):
        if each.method in REFERENCES or each.verdict is None:
            continue
        mine = {by_key[key].spec["training_seed"]: by_key[key] for key in each.keys}
        made = Line(
            method=each.method,
            word=each.verdict.word,
            said=each.verdict.said + "?" * each.verdict.provisional,
            qualified=each.qualified,
            shown=each.verdict.shown,
            cheats=each.verdict.cheats,
            runs=mine,
            scores=scores_of(mine, retrain, scenario),
        )
        if each.method not in lines or len(made.scores) > len(lines[each.method].scores):
            lines[each.method] = made
    return Task(
        dataset=dataset,
        scenario=scenario,
        settings=settings,
        lines=tuple(lines.values()),
        retrain=retrain,
        original=original,
    )


@lru_cache(maxsize=1)
def tasks() -> list[Task]:
    """The demo's tasks with authors' settings, and with those of its search where there are any."""
    made = []
    for dataset, scenarios in TASKS.items():
        for scenario in scenarios:
            found = runs(dataset=dataset, scenarios=(scenario,))
            for settings in ("authors", "tuned"):
                kinds = (settings, *REFERENCES)
                chosen = [
                    each
                    for each in found
                    if each.spec["method"] in kinds or each.spec["method_preset"] in kinds
                ]
                if any(each.spec["method"] not in REFERENCES for each in chosen):
                    made.append(
                        task_of(chosen, dataset=dataset, scenario=scenario, settings=settings)
                    )
    return made
