"""A user's own networks judged: no store, no job, no recipe (`mucore.api.evaluate`).

What a stored run gets: one pass over each split, the metrics, the sanity flags, the verdict. Lists
pair by their places, as runs do by training seed; further Retrains serve the verdict's bands alone.
Where predictions are given nothing here imports torch; networks are asked by `mucore.brought`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations
from pathlib import Path
from typing import Any, Final

import numpy as np
import scipy

from mucore import catalog, verdicts
from mucore.errors import need
from mucore.judged import SHOWN, Asked, Judged, inputs_of, whole_classes
from mucore.metrics import measure, mia, sanity
from mucore.metrics.registry import RELATIVE_TO_RETRAIN
from mucore.outputs import Outputs
from mucore.report import Report
from mucore.rng import numpy_rng
from mucore.statistics.significance import t_interval
from mucore.verdicts.rules import BLINDABLE, FEWEST, PROBE

DRAWS: Final = 1_000  # of the bootstrap
OTHER_ORDER: Final = 0.3, 0.2  # gains over itself and over a guess that no network has by chance
METHODS: Final = {"retrained": "retrain", "original": "original", "unlearned": "uploaded"}
SPLITS: Final = {"fa": "forget", "ra": "retain", "ta": "test", "tfa": "test", "tra": "test"}
# What would unlock a metric, or a group of them, that predictions do not give
UNASKED: Final = {
    "va": "It takes validation data, which are not asked for here.",
    "ignorance": "It takes gradients or a fresh network. mu.compare measures it.",
    "representation": "It takes what goes into the last layer. Name it by head=, or give features.",
}


@dataclass(eq=False)
class Network(Judged):
    """A network under its name in the call, and what came of it."""

    given: Any = None  # a module, the `Path` of its weights, or `Outputs`
    model: Any = None
    head: Any = None  # the layer whose input are the features
    preprocess: str = ""  # by a layer in its file
    read: Sequence[str] = ()  # what was done to its file
    ready: Any = None  # what its metrics looked at

    def shares(self, metric: str) -> Any:
        """What the metric is the mean of, (n,) bool by sample; None where it is no such share."""
        attack = metric.removeprefix("mia_").removesuffix("_forgotten_classes")
        if attack in mia.ATTACKS:
            classes = metric.endswith("_classes")
            return self.ready.attack(attack, forgotten_classes=classes).unseen
        if metric not in SPLITS:
            return None
        answers, labels = self.ready.predictions(SPLITS[metric])
        gone = np.isin(labels, self.ready.forgotten_classes)
        return (answers.argmax(1) == labels)[{"tfa": gone, "tra": ~gone}.get(metric, slice(None))]


Groups = Mapping[str, Sequence[Network]]  # by their role, as `METHODS` has it


def evaluate(given: Mapping[str, Any], call: Mapping[str, Any]) -> Report:
    """See `mucore.api.evaluate`; `given` has networks by their role, `call` what else it takes."""
    groups = {role: _networks(role, given[role]) for role in METHODS}
    every = [*chain(*groups.values())]
    _check(groups)
    predicted = [isinstance(each.given, Outputs) for each in every]
    what = "Networks and outputs cannot be compared with each other. Give outputs of all, or none."
    need(any(predicted) == all(predicted), what)
    if all(predicted):
        found = _read(every, call)
    else:
        from mucore.brought import ask  # PyTorch: only networks wait for it

        references = [*groups["original"], *groups["retrained"]]
        found = ask([*references, *groups["unlearned"]], call)
    for one, other in chain(*(combinations(group, 2) for group in groups.values())):
        alike = np.array_equal(one.outputs["test"].logits, other.outputs["test"].logits)
        what = f"{one.name} and {other.name} answer alike, as one network, which counts once."
        need(not alike, f"{what} Give networks of several training seeds.")
    classes = {each.outputs["test"].logits.shape[1] for each in every}
    need(len(classes) == 1, f"Networks must have one number of classes, not {sorted(classes)}.")
    for network in (*groups["original"], *groups["retrained"]):
        _check_order(network)
    part, kept = every[0].outputs["forget"], every[0].outputs["retain"].labels
    gone, first = part.labels, part.ids.argsort()[:SHOWN]
    forgotten = dict(sorted(Counter(gone.tolist()).items()))
    judged = _measure(groups, whole_classes(gone, kept))
    rows, missing = _table(groups)
    listed = ", ".join(f"{count:,} of class {each}" for each, count in forgotten.items())
    seeds = len(groups["unlearned"])
    how = f"t over {seeds} training seeds" if seeds > 1 else f"{DRAWS:,} bootstraps of samples"
    few = ", ".join(f"{part.ids[each]} (class {gone[each]})" for each in first)
    about = f"Forgotten of {found.total:,} samples: {listed}; the first are {few}."
    about += f" Intervals: 95 %, {how}."
    about += f" Pixels: {found.preprocess}." * bool(found.preprocess)
    return Report(*judged, missing, forgotten, about, rows, every, found)


def _networks(role: str, given: Any) -> list[Network]:
    listed = [*given] if isinstance(given, tuple | list) else [] if given is None else [given]
    found = []
    for number, one in enumerate(listed):
        name = f"{role}[{number}]" if len(listed) > 1 else role
        path = Path(one) if isinstance(one, str | Path) else None
        one = Outputs.read(path) if path and path.suffix == ".npz" else path or one
        found.append(Network(name, METHODS[role], number, given=one))
    return found


def _read(every: Sequence[Network], call: Mapping[str, Any]) -> Asked:
    """Take the outputs that are given. Raises `BadValue` where they are not of the same samples."""
    beside = [name for name in ("train", "test", "forget", "model") if call[name] is not None]
    need(not beside, f"Outputs come with their labels. Leave out {', '.join(beside)}.")
    first = every[0].given
    need({*SPLITS.values()} <= {*first}, "Outputs need the splits forget, retain and test.")
    for each in every:
        same = [*each.given] == [*first] and all(
            np.array_equal(getattr(part, what), getattr(first[name], what))
            for name, part in each.given.items()
            for what in ("labels", "ids")
        )
        rule = "Outputs must be of the same samples in the same order"
        need(same, f"{rule}, but {each.name} and {every[0].name} have other labels or ids.")
        each.outputs = each.given
    labels = {name: part.labels for name, part in first.items()}
    ids, classes = first["forget"].ids, first["forget"].logits.shape[1]
    return Asked(ids, len(ids) + len(first["retain"]), labels, classes, name="outputs")


def _check(groups: Groups) -> None:
    """Raise `BadValue` where lists do not pair, or one network stands for two."""
    seeds = max(len(groups["unlearned"]), 1)
    for role, group in groups.items():
        paired = len(group) >= seeds or (not group and role != "unlearned")
        what = f"Lists pair by training seed, but {seeds} are unlearned and {len(group)} {role}."
        need(paired, f"{what} Give one each, or judge one network at a time.")
    for one, other in combinations(chain(*groups.values()), 2):
        what = f"{one.name} and {other.name} are one module, which counts once."
        need(one.given is not other.given, f"{what} Unlearn on a copy.deepcopy of the original.")


def _check_order(network: Network) -> None:
    """Raise `BadValue` where outputs fit the retained labels far better in another order."""
    counts = network.outputs["retain"].confusion
    classes, order = scipy.optimize.linear_sum_assignment(-counts)
    mine, best = (counts[classes, each].sum() / counts.sum() for each in (classes, order))
    guess = counts.sum(axis=1).max() / counts.sum()  # of a network that says one class alone
    over_itself, over_guess = OTHER_ORDER
    need(
        best < max(mine + over_itself, guess + over_guess),
        f"{network.name} names {mine:.0%} of the retained samples right, but {best:.0%} if its "
        f"outputs {order.tolist()} are the classes 0, 1, 2, ... Number classes as in its training; "
        "those of a folder go by their names, whole numbers by number.",
    )


def _measure(groups: Groups, gone: tuple[int, ...]) -> tuple[verdicts.Verdict, tuple[str, ...]]:
    """Give each network its metrics, Retrains first: gaps are to that of the same place. Gives the
    verdict, and what must be read beside the numbers.
    """
    scenario = "class_wise" if gone else "ids"
    runs, caveats = [], []
    for role, seed in [(each, seed) for each in METHODS for seed in range(len(groups[each]))]:
        beside = {name: each[seed] for name, each in groups.items() if seed < len(each)}
        network, method = beside[role], METHODS[role]
        inputs = inputs_of(network, beside.get("original"), beside.get("retrained"), gone)
        network.ready = inputs
        metrics = network.metrics = measure(inputs, scenario=scenario, method=method)
        flags = network.flags = [
            *sanity.flags(inputs, metrics, method=method),
            *_copies(network, beside, role),
        ]
        notes = network.notes = sanity.cautions(inputs, metrics)
        caveats += [f"{network.name}: {sentence}" for sentence in (*network.read, *flags, *notes)]
        values = {name: each.value for name, each in metrics.items() if each.value is not None}
        blind, collapsed = "confidence" in sanity.blind_attacks(notes), sanity.is_collapsed(flags)
        counts = {name: len(network.shares(name)) for name in (*SPLITS, BLINDABLE)}
        counts |= {"classes": inputs.classes, PROBE: counts["tfa"]}
        task = (network.name, ("", "", "", scenario, ""), method, "{}", seed, True)
        known = counts if role == "retrained" else None
        runs.append(verdicts.Run(*task, values, blind, collapsed, known))
    judged = verdicts.judge(runs)
    found = next(each.verdict for each in judged if each.method == METHODS["unlearned"])
    assert found is not None
    if found.retrains < FEWEST:
        found = replace(found, shown=False)
        rule = f"With fewer than {FEWEST} Retrains a verdict is provisional."
        caveats.insert(0, f"{rule} Give more as retrained=, each of a training seed of its own.")
    return found, tuple(caveats)


def _copies(network: Network, beside: Mapping[str, Network], role: str) -> list[str]:
    """A flag of an unlearned network that answers just as a reference of its seed does."""
    mine = network.outputs["test"].logits
    return [
        f"It answers bit by bit as {other.name} does."
        for name, other in beside.items()
        if role == "unlearned" != name and np.array_equal(mine, other.outputs["test"].logits)
    ]


def _table(groups: Groups) -> tuple[list[dict[str, Any]], dict[str, str]]:
    """A row a metric that all unlearned networks have, without numbers where an attack only
    guesses, and why there are none of the others.
    """
    mine, rows, missing = groups["unlearned"], [], {}
    shown = {role: groups[role][: len(mine)] for role in ("original", "unlearned", "retrained")}
    guessed = {each for one in chain(*shown.values()) for each in sanity.guesses(one.notes)}
    for metric in mine[0].metrics:
        if errors := [each.metrics[metric].error for each in mine if each.metrics[metric].error]:
            missing[metric] = _unlocked(metric, groups) or errors[0]
            continue
        if metric in guessed:  # of any of the three: other tables have a dash there
            missing[metric] = sanity.GUESS
            rows.append({"metric": metric})
            continue
        values = {role: [one.metrics[metric].value for one in shown[role]] for role in shown}
        values["gap"] = [each.metrics[metric].gap for each in mine]
        row = {name: np.mean(np.array(each or [None], float)) for name, each in values.items()}
        others = () if None in values["gap"] else shown["retrained"]
        rows.append({"metric": metric, **row, "interval": _interval(metric, mine, others)})
    return rows, missing


def _unlocked(metric: str, groups: Groups) -> str:
    """What would unlock a metric; "" where its own sentence says it."""
    group = catalog.metric(metric).group
    if metric in RELATIVE_TO_RETRAIN and group != "cost" and not groups["retrained"]:
        return "It compares with Retrain. Give retrained=."
    if metric.startswith("cka_original") and not groups["original"]:
        return "It compares with the original. Give original=."
    return UNASKED.get(metric) or UNASKED.get(group, "")


def _interval(
    metric: str, mine: Sequence[Network], retrained: Sequence[Network]
) -> tuple[float | None, float | None] | None:
    """95 %, of the value, or of the gap to `retrained`: by Student's t over training seeds; of one
    network by the bootstrap over samples, on the same ones, where the metric is a share of these.
    """
    if len(mine) > 1:
        measured: Any = [each.metrics[metric] for each in mine]
        found = t_interval([each.gap if retrained else each.value for each in measured])
        return found.low, found.high
    if (shares := mine[0].shares(metric)) is None:
        return None
    others = retrained[0].shares(metric) if retrained else 0.0
    # to draw samples is to draw how often each of the few differences comes
    values, counts = np.unique(shares * 1.0 - others, return_counts=True)
    rng, n = numpy_rng(0, f"bootstrap/{metric}"), counts.sum()
    low, high = np.quantile(rng.multinomial(n, counts / n, DRAWS) @ values / n, [0.025, 0.975])
    return float(low), float(high)
