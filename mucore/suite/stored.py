"""A division of a suite as it stands in a store, while its runs are under way or before anybody has
packed them. Imports no torch.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from mucore.store import Store
from mucore.suite import lines
from mucore.suite.board import Board, board
from mucore.suite.description import Suite, check
from mucore.suite.lines import TaskRuns
from mucore.suite.pack import Pack, TunedSetting
from mucore.suite.tables import WORK
from mucore.verdicts import looked_at


def board_of(suite: Suite, store: Store) -> Board | None:
    """The board of what a store has of a suite; None where it has nothing. The `about` of each
    division says how many runs are `asked` for and how many are `there`.

    Raises `MucoreError` where this mucore would give other results than the suite asks for, or the
    store's are of other data.
    """
    check(suite)
    found = []
    for name in suite.divisions:
        runs = lines.runs_of(suite, name, lines.methods_of(["all"]))
        pack = pack_of(suite, name, runs, store, metrics=looked_at() | {WORK})
        if any(spec.method not in lines.REFERENCES for spec in pack.specs.values()):
            found.append((name, pack))
    return board(found) if found else None


def pack_of(
    suite: Suite,
    division: str,
    runs: Sequence[TaskRuns],
    store: Store,
    *,
    metrics: bool | Collection[str] = True,
) -> Pack:
    """What a pack of these runs would hold. Raises `MucoreError` where a result is of other data
    than the suite's.
    """
    asked = {spec.key: spec for each in runs for spec in each.specs}
    results = {one.key: one for one in store.results(keys=sorted(asked), metrics=metrics)}
    for each in runs:
        for spec in each.specs:
            if spec.scenario is not None and (one := results.get(spec.key)) is not None:
                lines.check_result(
                    suite, each.task, data_hash=one.data_hash, forget_hash=one.forget_hash
                )
    missing = lines.not_there(runs, results.keys(), lines.failures(store, runs))
    named = [spec.method for spec in asked.values()] + [each.method for each in missing]
    settings = {
        each.task.scenario: {
            method: TunedSetting(
                values=dict(found.values), trials=found.trials, cap=found.cap, open=found.open
            )
            for method, found in each.found.items()
        }
        for each in runs
    }
    return Pack(
        suite,
        division,
        tuple(dict.fromkeys(named)),
        tuple(missing),
        settings,
        {"asked": len(asked), "there": len(results)},
        store,
        results,
        {key: spec for key, spec in asked.items() if key in results},
    )
