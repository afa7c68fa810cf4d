"""docs/generated/results.md: every method with the authors' settings, by scenario."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean, stdev

from demo_results import MODEL, PRESET, Runs, Task, tasks
from docs_text import filled, paragraphs, table

from mucore import catalog
from mucore.runs import make_recipe
from mucore.statistics.significance import half_band
from mucore.suite.scores import values_of

ATTACKED = ("ta", "ra", "fa")
# what is shown of a scenario
METRICS = {
    "label_flip": (*ATTACKED, "fa_true"),
    "backdoor": (*ATTACKED, "asr"),
    "identities": (*ATTACKED, "forgetting_score"),
}
OTHERS = (*ATTACKED, "mia_confidence")


def results_page() -> str:
    return write([task for task in tasks() if task.settings == "authors"])


def write(every: Sequence[Task]) -> str:
    parts = []
    for task in every:
        metrics = METRICS.get(task.scenario, OTHERS)
        titles = [catalog.metric(name).short for name in metrics]
        parts += [
            f"## {catalog.scenario(task.scenario).title} ({task.title})",
            table(("Method", "Verdict", "Distance", *titles, "RTE", "Seeds"), _rows(task, metrics)),
        ]
    epochs = make_recipe(PRESET).epochs
    return filled("results.md", model=MODEL, preset=PRESET, epochs=epochs, tables=paragraphs(parts))


def _rows(task: Task, metrics: Sequence[str]) -> list[list[str]]:
    rows = [["Retrain, 95 % band", "", "", *(_band(task, name) for name in metrics), "", ""]]
    lines = {line.method: line for line in task.lines}
    for method in ("original", *(card.id for card in catalog.METHODS)):
        line = lines.get(method)
        runs = {"original": task.beside(task.original), "retrain": task.beside(task.retrain)}.get(
            method, line.runs if line is not None else {}
        )
        if runs:
            rte = values_of(runs, "rte").values()
            rows.append(
                [
                    f"`{method}`",
                    line.said if line is not None else "",
                    f"{line.score:.2f}" if line is not None and line.scores else "",
                    *(_cell(runs, name) for name in metrics),
                    f"{mean(rte):.2g}" if rte else "–",
                    ", ".join(map(str, sorted(runs))),
                ]
            )
    return rows


def _band(task: Task, metric: str) -> str:
    """Half of the 95 % band of Retrains of other seeds, in points."""
    half = half_band([*values_of(task.retrain, metric).values()])
    return "–" if half is None else f"± {100 * half:.1f}"


def _cell(runs: Runs, metric: str) -> str:
    values = [*values_of(runs, metric).values()]
    found = [run.metrics[metric].gap for run in runs.values() if metric in run.metrics]
    gaps = [gap for gap in found if gap is not None]
    if not values:
        return "–"
    spread = f" ± {100 * stdev(values):.1f}" if len(values) > 1 else ""
    # + 0.0: what rounds to nothing is no "−0.0"
    gap = f" ({round(100 * mean(gaps), 1) + 0.0:+.1f})".replace("-", "−") if gaps else ""
    return f"{100 * mean(values):.1f}{spread}{gap}"
