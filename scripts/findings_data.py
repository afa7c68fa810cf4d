"""What docs/findings.md is computed from: lines of methods with their verdicts, distances and
numbers by seed, from packs of suites and from the demo results.

    python scripts/findings_data.py PACK [PACK ...]

writes one small file a pack to data/findings, with the pack's own hash; packs themselves are too
large for the repository. `python scripts/make_docs.py` then writes the page. A home stands in for
a pack where no suite has the task, as for the baseline that cheats; twice, with `--methods all` and
`--methods original,head_distillation`:

    python -m mucore --home HOME run --dataset digits --model mlp --preset quick \\
        --scenario class_wise --seeds 0-4 --methods METHODS

With `--machine NAME` before the packs, they are those of another machine, so called, and their
files lie in data/findings/machines: the page compares them with the runs of the same seeds.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import demo_results

from mucore import catalog
from mucore.store import open_store
from mucore.store.rows import Result
from mucore.suite.lines import REFERENCES
from mucore.suite.pack import opened
from mucore.suite.scores import scores_of, values_of
from mucore.tuning import objective
from mucore.verdicts import judge, rules_of

FOLDER = Path(__file__).resolve().parents[1] / "data" / "findings"
MACHINES = FOLDER / "machines"
IMAGES = "fashion-mnist-10k"  # on which claims of papers are judged
RECIPE = {"model": "resnet9-small", "preset": "standard"}
# of each data set of the demo the scenarios; what has no runs yet is left out
DEMO: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        IMAGES,
        (
            "one_class",
            "all_classes",
            "class_wise",
            "worst_case",
            "best_case",
            "label_flip",
            "backdoor",
        ),
    ),
    ("faces", ("identities",)),
)
# What a metric must belong to, to say anything about forgetting or utility; and what runs cost.
GROUPS = (
    "accuracy",
    "agreement",
    "depoisoning",
    "distance",
    "membership inference",
    "persons",
    "representation",
)
COSTS = ("rte", "rte_work")
DIGITS = 7  # of a number in a file: as many as single precision has


@dataclass(frozen=True, kw_only=True)
class Line:
    """A method under a task. `word` is that of its verdict, `qualified` whether it counts as one
    that forgot, `scores` its distance to Retrain by training seed, `values` its metrics by seed.
    """

    method: str
    word: str
    qualified: bool
    cheats: bool
    scores: Mapping[int, float]
    values: Mapping[str, Mapping[int, float]]

    @property
    def score(self) -> float:
        return sum(self.scores.values()) / len(self.scores)


@dataclass(frozen=True, kw_only=True)
class Task:
    """The lines of one task in one division, and its references; `source` is a suite or "demo"."""

    source: str
    division: str
    dataset: str
    scenario: str
    lines: tuple[Line, ...]
    retrain: Mapping[str, Mapping[int, float]]
    original: Mapping[str, Mapping[int, float]]

    @property
    def ran(self) -> dict[str, Line]:
        """By id, the methods that have a distance; a baseline that cheats is none."""
        return {line.method: line for line in self.lines if line.scores and not line.cheats}

    @property
    def methods(self) -> dict[str, Line]:
        """Those of `ran` with as many seeds as any: a mean of fewer is another number."""
        most = max((len(line.scores) for line in self.ran.values()), default=0)
        return {name: line for name, line in self.ran.items() if len(line.scores) == most}

    @property
    def words(self) -> set[str]:
        """What verdicts say of its methods; damage says nothing of what there is to forget."""
        return {line.word for line in self.methods.values()} - {"damaged"}

    @property
    def idle(self) -> bool:
        """Whether Original and Retrain agree, so that no method can be said to have forgotten."""
        return self.words == {"nothing to forget"}

    @property
    def unclear(self) -> bool:
        """Whether verdicts cannot say of any method that it forgot."""
        return bool(self.words) and self.words <= {"nothing to forget", "cannot tell"}

    def forgot(self, side: bool = True) -> list[Line]:
        """The methods that forgot, or the others."""
        return [line for line in self.methods.values() if line.qualified == side]

    @property
    def names(self) -> tuple[str, ...]:
        """The numbers that its verdicts rest on."""
        return rules_of(self.scenario).metrics

    def numbers(self, part: Mapping[str, Mapping[int, float]]) -> dict[int, dict[str, float]]:
        """Of `retrain`, `original` or a line's values what verdicts rest on, by seed, where all of
        it is there.
        """
        columns = [part.get(name, {}) for name in self.names]
        shared = sorted(set.intersection(*map(set, columns)))
        return {
            seed: {name: column[seed] for name, column in zip(self.names, columns, strict=True)}
            for seed in shared
        }

    def distance(
        self, pairs: Iterable[tuple[Mapping[str, float], Mapping[str, float]]]
    ) -> float | None:
        """The mean distance of these pairs of `numbers`; None where there is none."""
        retrains, pairs = [*self.numbers(self.retrain).values()], [*pairs]
        if len(retrains) < 2 or not pairs:
            return None
        units = objective.units(retrains)
        scores = [
            objective.score({n: one[n] - other[n] for n in self.names}, units, self.names)
            for one, other in pairs
        ]
        return sum(scores) / len(scores)

    @property
    def retrain_apart(self) -> float | None:
        """The mean distance of two Retrains."""
        return self.distance(itertools.permutations(self.numbers(self.retrain).values(), 2))

    @property
    def untouched(self) -> float | None:
        """The mean distance of the original, which did nothing."""
        before, after = self.numbers(self.original), self.numbers(self.retrain)
        return self.distance((before[seed], after[seed]) for seed in before if seed in after)

    @property
    def title(self) -> str:
        return f"`{self.scenario}` on {self.dataset}"

    def line(self, method: str) -> Line | None:
        return next((line for line in self.lines if line.method == method), None)


def task_of(
    results: Sequence[Result], *, source: str, division: str, dataset: str, scenario: str
) -> Task:
    """Of results of one task, Original and Retrain among them. A method with two settings keeps
    the one with more seeds.
    """
    by_key = {result.key: result for result in results}
    retrains = _of(results, "retrain")
    lines: dict[str, Line] = {}
    for each in judge(results):
        if each.method in REFERENCES or each.verdict is None:
            continue
        runs = {by_key[key].spec["training_seed"]: by_key[key] for key in each.keys}
        made = Line(
            method=each.method,
            word=each.verdict.word,
            qualified=each.qualified,
            cheats=each.verdict.cheats,
            scores=scores_of(runs, retrains, scenario),
            values=_values(runs),
        )
        if each.method not in lines or len(made.scores) > len(lines[each.method].scores):
            lines[each.method] = made
    return Task(
        source=source,
        division=division,
        dataset=dataset,
        scenario=scenario,
        lines=tuple(lines.values()),
        retrain=_values(retrains),
        original=_values(_of(results, "original")),
    )


def _of(results: Sequence[Result], method: str) -> dict[int, Result]:
    return {r.spec["training_seed"]: r for r in results if r.spec["method"] == method}


def _values(runs: Mapping[int, Result]) -> dict[str, dict[int, float]]:
    cards = [card.id for card in catalog.metrics() if card.group in GROUPS]
    found = {name: values_of(runs, name) for name in (*cards, *COSTS)}
    return {name: values for name, values in found.items() if values}


def demo_tasks(demo: Sequence[tuple[str, Sequence[str]]] = DEMO) -> list[Task]:
    """The demo's runs with authors' settings, and with those of its search where there are any."""
    made = []
    for dataset, scenarios in demo:
        found = demo_results.runs(dataset=dataset, **RECIPE, scenarios=tuple(scenarios))
        for scenario, division in itertools.product(scenarios, ("authors", "tuned")):
            mine = [each for each in found if each.spec["scenario"] == scenario]
            chosen = [
                each
                for each in mine
                if each.spec["method"] in REFERENCES or each.spec["method_preset"] == division
            ]
            if all(each.spec["method"] in REFERENCES for each in chosen):
                continue
            made.append(
                task_of(
                    chosen, source="demo", division=division, dataset=dataset, scenario=scenario
                )
            )
    return made


def demo_machines() -> list[str]:
    """What computed the demo's runs of these tasks, each as words, the most frequent first."""
    found = Counter(
        said_of(_machine([each]))
        for dataset, scenarios in DEMO
        for each in demo_results.runs(dataset=dataset, **RECIPE, scenarios=scenarios)
    )
    return [words for words, _ in found.most_common()]


def one_each(tasks: Sequence[Task]) -> list[Task]:
    """Of the tasks that several sources have the one that comes first."""
    found: dict[tuple[str, str, str], Task] = {}
    for task in tasks:
        found.setdefault((task.dataset, task.scenario, task.division), task)
    return [task for task in tasks if task in found.values()]


# -- files


def summary(path: Path) -> dict[str, Any]:
    """The content of a file in data/findings, of the pack at `path`, or of a home with runs of one
    data set under one scenario.
    """
    if (path / "store.sqlite").exists():
        return _own(path)
    with opened(path) as pack:
        tasks = []
        for task in pack.suite.tasks:
            mine = [
                each
                for each in pack.results.values()
                if (each.spec["dataset"], each.spec["scenario"]) == (task.dataset, task.scenario)
            ]
            if mine:
                tasks.append(
                    task_of(
                        mine,
                        source=pack.suite.id,
                        division=pack.division,
                        dataset=task.dataset,
                        scenario=task.scenario,
                    )
                )
        return {
            "suite": pack.suite.id,
            "hash": pack.suite.hash,
            "division": pack.division,
            "rows": pack.about["sha256"],  # of the files of rows in the pack
            "runs": len(pack.results),
            "missing": sorted({(m.scenario, m.method, m.reason) for m in pack.missing}),
            "machine": _machine(pack.results.values()),
            "tasks": [asdict(task) for task in tasks],
        }


def _own(home: Path) -> dict[str, Any]:
    with open_store(home) as store:
        results = [each for each in store.results() if each.spec["scenario"] is not None]
    places = {(each.spec["dataset"], each.spec["scenario"]) for each in results}
    if len(places) != 1:
        raise SystemExit(f"{home} has {len(places)} tasks; findings take a home with one.")
    ((dataset, scenario),) = places
    source = f"{dataset}-{scenario}"
    task = task_of(results, source=source, division="authors", dataset=dataset, scenario=scenario)
    return {
        "suite": source,
        "hash": "",
        "division": "authors",
        "rows": {},
        "runs": len(results),
        "missing": [],
        "machine": _machine(results),
        "tasks": [asdict(task)],
    }


def _machine(results: Iterable[Result]) -> dict[str, list[str]]:
    """What computed them."""
    made = [(each.device, each.versions.get("torch", "")) for each in results]
    return {
        "device": sorted({device for device, _ in made}),
        "torch": sorted({torch for _, torch in made if torch}),
    }


def write(content: Mapping[str, Any], folder: Path = FOLDER, *, machine: str = "") -> Path:
    """To a file named after suite and division, and `machine` where it is another than that of the
    other files; the same bytes for the same content.
    """
    folder.mkdir(parents=True, exist_ok=True)
    name = "-".join(filter(None, [content["suite"], content["division"], machine]))
    path = folder / f"{name}.json.gz"
    text = json.dumps(_rounded(content), sort_keys=True, separators=(",", ":"))
    path.write_bytes(gzip.compress(text.encode(), mtime=0))
    return path


def _rounded(it: Any) -> Any:
    if isinstance(it, float):
        return float(f"{it:.{DIGITS}g}")
    if isinstance(it, dict):
        return {str(name): _rounded(each) for name, each in it.items()}
    return [_rounded(each) for each in it] if isinstance(it, list | tuple) else it


def summaries(folder: Path = FOLDER) -> list[dict[str, Any]]:
    """What data/findings holds, without the tasks, and a `digest` of each file."""
    found = []
    for path in sorted(folder.glob("*.json.gz")):
        content = _read(path)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        found.append({**content, "tasks": len(content["tasks"]), "digest": digest})
    return found


def pack_tasks(folder: Path = FOLDER) -> list[Task]:
    return [
        _task(each) for path in sorted(folder.glob("*.json.gz")) for each in _read(path)["tasks"]
    ]


def machine_tasks(folder: Path = MACHINES) -> list[tuple[str, Task]]:
    """The tasks of other machines, each with the words for what computed it."""
    found = []
    for path in sorted(folder.glob("*.json.gz")):
        content = _read(path)
        found += [(said_of(content["machine"]), _task(each)) for each in content["tasks"]]
    return found


def said_of(machine: Mapping[str, Sequence[str]]) -> str:
    return ", ".join([*machine["device"], *(f"torch {it}" for it in machine["torch"])])


def _read(path: Path) -> dict[str, Any]:
    return json.loads(gzip.decompress(path.read_bytes()))


def _task(content: Mapping[str, Any]) -> Task:
    lines = tuple(_line(line) for line in content["lines"])
    references = {name: _columns(content[name]) for name in ("retrain", "original")}
    fields: dict[str, Any] = {**content, "lines": lines, **references}
    return Task(**fields)


def _line(content: Mapping[str, Any]) -> Line:
    fields: dict[str, Any] = {
        **content,
        "scores": _seeds(content["scores"]),
        "values": _columns(content["values"]),
    }
    return Line(**fields)


def _columns(content: Mapping[str, Any]) -> dict[str, dict[int, float]]:
    return {name: _seeds(values) for name, values in content.items()}


def _seeds(content: Mapping[str, float]) -> dict[int, float]:
    return {int(seed): value for seed, value in content.items()}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("packs", nargs="+", type=Path, metavar="PACK")
    parser.add_argument("--machine", default="", help="a name for the machine that made the packs")
    arguments = parser.parse_args()
    folder = MACHINES if arguments.machine else FOLDER
    for path in arguments.packs:
        print(f"{write(summary(path), folder, machine=arguments.machine)} written")


if __name__ == "__main__":
    main()
