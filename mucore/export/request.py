"""A request to forget as a report for whoever must show evidence: what was forgotten, whether a
method did it and at what cost, what an attack finds of each person, and what all this cannot show.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, Unpack

import numpy as np
import pandas as pd
import scipy

import mucore
from mucore import catalog, verdicts
from mucore.errors import BadValue, MucoreError, said
from mucore.export import tables
from mucore.forget_sets import identity, persons
from mucore.metrics import mia
from mucore.outputs import Outputs, probabilities
from mucore.runs import REFERENCES, Recipe
from mucore.runs.spec import REVISION
from mucore.store import Store
from mucore.store.records import Result
from mucore.store.results import Filters
from mucore.userfiles import datasets
from mucore.verdicts import Judged

ATTACKED: Final = 3  # methods whose attacks are shown: those nearest to Retrain
ADVICE: Final = (
    "For this request, retrain without the samples. SISA, trained from the start, makes later "
    "requests cheap, at some loss of accuracy."
)
LIMITS: Final = (
    "No certificate: these are measurements. They show where forgetting failed, and never prove "
    "that nothing is left.",
    "A verdict says how near a method is to Retrain in a few metrics, on the training seeds in the "
    "table; a question mark: indicated, more seeds may change the verdict.",
    "The attack is a simple one. One with shadow models, or with knowledge of the training, may "
    "find more.",
    "Intervals are Wilson's, 95 %, as if images were independent; those of one person are alike, "
    "so the truth is wider.",
    "It says nothing of near copies, backups, exports, other models, or persons in the background "
    "of other images. `mucore purge` lists what is left in this home.",
)


def report(store: Store, **filters: Unpack[Filters]) -> str:
    """Markdown with a chapter for each request among the results that `filters` choose. Raises
    `BadValue` where nothing matches.
    """
    if isinstance(dataset := filters.get("dataset"), str):
        filters["dataset"] = datasets.stored(dataset)
    wanted = [one for one in store.results(**filters) if one.spec.get("scenario")]
    if not wanted:
        raise BadValue("No result matches, so there is nothing to report: `results` lists them.")
    every = {one.key: one for one in (*verdicts.references_of(store, wanted), *wanted)}
    requests: dict[tuple[str, ...], list[Judged]] = {}
    for line in verdicts.judge(every.values()):
        first = every[line.keys[0]]
        requests.setdefault((*line.setting, first.data_hash), []).append(line)
    chosen = {one.key for one in wanted}
    made = f"Made by mucore {mucore.__version__} on {datetime.now(UTC):%Y-%m-%d %H:%M} UTC."
    blocks = ["# Request to forget", made]
    for lines in requests.values():
        if any(chosen.intersection(line.keys) for line in lines):
            blocks += _chapter(store, lines, every)
    return "\n\n".join([*blocks, "## What this cannot show", _listed(LIMITS)]) + "\n"


def _chapter(store: Store, lines: Sequence[Judged], every: Mapping[str, Result]) -> list[str]:
    runs = [every[key] for line in lines for key in line.keys]
    one = next((run for run in runs if run.forget_count), runs[0])
    spec, rule = one.spec, one.spec["scenario_parameters"]
    if named := rule.get(persons.PARAMETER):  # then nobody was drawn
        known = persons.called(spec["dataset"], named) if _unchanged(spec) else named
        rule = {persons.PARAMETER: ", ".join(map(str, known))}
    facts = [
        f"Forget list: {one.forget_count:,} of {one.forget_count + one.retain_count:,} training "
        f"samples, hash {one.forget_hash} (`mucore forget-set --verify FILE --hash "
        f"{one.forget_hash}` checks a list).",
        f"Rule: {spec['scenario']}, "
        + ", ".join(
            f"{name} = {value if isinstance(value, str) else said(value)}"
            for name, value in rule.items()
            if value is not None and name != REVISION
        ),
        f"Data: content hash {one.data_hash}.",
        f"Runs: {len(runs)}, the first {one.key[:12]} of {one.finished!s:.10}, with mucore "
        f"{one.versions.get('mucore')}, torch {one.versions.get('torch')} on {one.device}.",
    ]
    table = tables.readable(tables.results_table(store, keys=[run.key for run in runs]))
    flags = dict.fromkeys(
        f"{catalog.method(run.spec['method']).title}: {flag}" for run in runs for flag in run.flags
    )
    return [
        f"## {catalog.scenario(spec['scenario']).title}: {spec['dataset']}, {spec['model']}",
        _answer(lines),
        _listed(facts),
        tables.to_markdown(table.drop(columns="Scenario")).strip(),
        "Percent, mean ± half of the 95 % interval over seeds. RTE: time divided by Retrain's.",
        *_attacks(store, lines, every),
        *(["### Warnings", _listed(flags)] if flags else []),
    ]


def _listed(texts: Iterable[str]) -> str:
    return "\n".join(f"- {text}" for text in texts)


def _answer(lines: Sequence[Judged]) -> str:
    """Which methods are shown to have forgotten, nearest to Retrain first; else the advice."""
    methods = [line for line in lines if line.method not in REFERENCES]
    if not methods:
        return "No method has run under this request yet."
    shown = [
        f"{catalog.method(line.method).title} {line.verdict.said}"
        for line in verdicts.nearest(methods)
        if line.verdict is not None and line.verdict.shown
    ]
    if shown:
        return f"**Shown: {'; '.join(shown)}.**"
    return f"**No method of {len(methods)} is shown to have forgotten.** {ADVICE}"


def _attacks(store: Store, lines: Sequence[Judged], every: Mapping[str, Result]) -> tuple[str, ...]:
    """What the confidence attack says of each person, or of all samples where nobody knows who they
    show: in Original, in Retrain and in the methods nearest to it, on the first training seed whose
    predictions were kept.
    """
    if catalog.scenario(lines[0].setting[3]).class_wise:
        return ()
    methods = [line for line in lines if line.method not in REFERENCES]
    methods.sort(key=lambda line: np.inf if line.distance is None else line.distance)
    runs: dict[str, Result] = {}
    first = sorted((each for each in lines if each not in methods), key=lambda line: line.method)
    for line in (*first, *methods[:ATTACKED]):
        kept = [every[key] for key in line.keys if every[key].outputs]
        if kept:
            title = catalog.method(line.method).title
            runs[title] = min(kept, key=lambda run: run.spec["training_seed"])
    shown = _shown(next(iter(runs.values())).spec) if runs else None
    rows = [row for title, run in runs.items() for row in _attacked(store, title, run, shown)]
    if not rows:
        return ("No predictions were kept, so nothing can be said of single persons.",)
    frame = pd.DataFrame(rows).sort_values("Who", kind="stable", ignore_index=True)
    return (
        "### Attack",
        "How many images the confidence attack takes for training samples. A person who left no "
        "trace is as in Retrain. –: the attack only guesses.",
        tables.to_markdown(frame).strip(),
    )


def _attacked(
    store: Store, title: str, run: Result, shown: np.ndarray | None
) -> list[dict[str, Any]]:
    try:
        outputs = store.artifacts.get_outputs(run.outputs or "", features=False)
        seen, accuracy, blind = called_seen(outputs, run.spec)
    except MucoreError:  # removed since, or too few
        return []
    ids = np.sort(outputs["forget"].ids)
    who = np.full(len(ids), -1) if shown is None else shown[ids]
    numbers = np.unique(who).tolist()
    names = ["all"] if shown is None else persons.called(run.spec["dataset"], numbers)
    parts = {name: seen[who == number] for name, number in zip(names, numbers, strict=True)}
    return [
        {
            "Who": name,
            "Model": title,
            "Taken for seen": "–" if blind else f"{part.sum()} of {len(part)}",
            "95 % interval": "–" if blind else _interval(part),
            "Attack is right": f"{accuracy:.0%}",
        }
        for name, part in parts.items()
    ]


def called_seen(outputs: Outputs, spec: Mapping[str, Any]) -> tuple[np.ndarray, float, bool]:
    """Which forgotten samples the confidence attack takes for training samples, (n,) bool by rising
    id; its accuracy on held-out samples; whether it only guesses. Raises `BadValue`.
    """
    parts: dict[str, Any] = {}
    for role, name in (("forget", "forget"), ("members", "retain"), ("nonmembers", "test")):
        split = outputs[name]
        order = np.argsort(split.ids, kind="stable")
        parts[role] = probabilities(split.logits[order], split.task), split.labels[order]
    cap, seed = spec["mia_samples"], spec["evaluation_seed"]
    found = mia.run_attack("confidence", **parts, cap=cap, evaluation_seed=seed)
    assert found.unseen is not None
    blind = mia.attack_is_blind(found.attack_accuracy, found.held_out)
    return ~found.unseen, found.attack_accuracy, blind


def _shown(spec: Mapping[str, Any]) -> np.ndarray | None:
    """Whom each sample shows, (n,) by internal id; None where nobody knows."""
    if not _unchanged(spec):
        return None
    splits = identity.here(spec["dataset"], Recipe.model_validate(spec["recipe"]).cut())
    return None if splits is None else persons.by_id(splits)


def _unchanged(spec: Mapping[str, Any]) -> bool:
    """Whether the data are there as they were; those judged from memory never are."""
    try:
        return datasets.data_hash(spec["dataset"]) == (spec.get("data_hash") or "")
    except MucoreError:
        return False


def _interval(called: np.ndarray) -> str:
    found = scipy.stats.binomtest(int(called.sum()), len(called)).proportion_ci(method="wilson")
    return f"{100 * found.low:.0f} to {100 * found.high:.0f} %"
