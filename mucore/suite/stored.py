"""A division of a suite as it stands in a store, while its runs are under way or before anybody has
packed them. Imports no torch.
"""

from __future__ import annotations

from mucore.store import Store
from mucore.suite import lines
from mucore.suite.board import Board, board
from mucore.suite.description import Suite, check
from mucore.suite.pack import Pack, settings_of
from mucore.suite.tables import WORK
from mucore.verdicts import looked_at


def board_of(suite: Suite, store: Store) -> Board | None:
    """The board of what a store has of a suite; None where it has nothing. The `about` of each
    division says how many runs are `asked` for and how many are `there`.

    Raises `MucoreError` where this mucore would give other results than the suite asks for, or the
    store's are of other data.
    """
    check(suite)
    found = [(name, one) for name in suite.divisions for one in (_pack(suite, name, store),) if one]
    return board(found) if found else None


def _pack(suite: Suite, division: str, store: Store) -> Pack | None:
    """What a pack of the division would hold; None without a run of a method."""
    runs = lines.runs_of(suite, division, lines.methods_of(["all"]))
    asked = lines.keys(runs)
    results = {
        one.key: one for one in store.results(keys=sorted(asked), metrics=looked_at() | {WORK})
    }
    specs = {spec.key: spec for each in runs for spec in each.specs if spec.key in results}
    if all(spec.method in lines.REFERENCES for spec in specs.values()):
        return None
    for each in runs:
        for spec in each.specs:
            if spec.key in results and spec.scenario is not None:
                one = results[spec.key]
                lines.check_result(
                    suite, each.task, data_hash=one.data_hash, forget_hash=one.forget_hash
                )
    missing = lines.not_there(runs, results.keys(), lines.failures(store, runs))
    named = [spec.method for each in runs for spec in each.specs] + [m.method for m in missing]
    about = {"asked": len(asked), "there": len(results)}
    methods = tuple(dict.fromkeys(named))
    settings = settings_of(runs)
    return Pack(suite, division, methods, tuple(missing), settings, about, store, results, specs)
