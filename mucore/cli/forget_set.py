"""`forget-set`: the sample ids that a scenario chooses, to a file and back or by name, and whether
lists name the same.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from cyclopts import Parameter

from mucore import catalog
from mucore.cli.base import FAILED, WHOLE, Json, complain
from mucore.cli.flags import GridOptions, build_grid
from mucore.cli.printing import print_table, to_json
from mucore.errors import BadValue

if TYPE_CHECKING:
    import numpy as np

    from mucore.datasets import Splits

# A scenario that never looks at the original gives the same ids with any model.
ANY_MODEL = "mlp"


def forget_set(
    *,
    dataset: str | None = None,
    scenario: str | None = None,
    budget: str | None = None,
    changes: Annotated[list[str] | None, Parameter(name="--set")] = None,
    model: str | None = None,
    preset: str = "standard",
    seed: Annotated[int, WHOLE] = 0,
    output: Path | None = None,
    verify: Path | None = None,
    expect: Annotated[str | None, Parameter(name="--hash")] = None,
    save: str | None = None,
    replace: bool = False,
    listed: Annotated[bool, Parameter(name="--list")] = False,
    as_json: Json = False,
) -> int:
    """Write the sample ids that a scenario chooses as a CSV file, which `--scenario ids --set
    scenario.ids=@FILE` reads; verify one, save it under a name, or list what is saved.

    Parameters
    ----------
    dataset
        A data set's id, npz:PATH or folder:PATH.
    scenario
        A scenario's id.
    budget
        How much to forget: a share (0.2, 20%) or a number of samples (200).
    changes
        scenario.KEY=VALUE or recipe.KEY=VALUE.
    model
        For scenarios that look at the original model.
    preset
        Recipe of that original.
    seed
        Training seed of that original.
    output
        A file instead of stdout.
    verify
        A list instead of a scenario: what it names, and its hash.
    expect
        The hash that the samples must have, as stored with a result.
    save
        A name under which the set is saved in the home; set:NAME stands for it.
    replace
        Save it even if the name is taken.
    listed
        List the saved sets.
    """
    from mucore.forget_sets.lists import to_csv

    if listed:
        return _print_saved(as_json)
    if dataset is None or (scenario is None) is (verify is None) or (verify and save):
        raise BadValue(
            "Give --dataset and --scenario to choose samples and save them, or --dataset and "
            "--verify FILE to check a list."
        )
    settings = [*(changes or []), *([f"budget={budget}"] if budget else [])]
    if verify is not None:
        chosen = _listed(verify, dataset)
    elif scenario is not None:
        given: dict[str, Any] = {"dataset": dataset, "preset": preset, "budget": budget}
        given |= {"model": model or ANY_MODEL, "changes": changes or [], "seeds": str(seed)}
        options = GridOptions(**given, scenario=[scenario], methods=["retrain"])
        chosen = _choose(options, needs_model=model is None)
    found = chosen.content()
    if as_json:
        print(to_json(found))
    elif output is None and verify is None and save is None:
        print("id", *found["ids"], sep="\n")
    if save is not None:
        made = f"Scenario {', '.join([f'{scenario} on the command line', *settings])}."
        _save(save, dataset, found["ids"], made, replace)
    if output is not None:
        output.write_bytes(to_csv(found["ids"]))
    if expect is not None and expect != found["hash"]:
        return complain(f"The samples have the hash {found['hash']}, and not {expect}.", FAILED)
    print(
        f"{found['count']} samples, hash {found['hash']}."
        + (f" Written to {output}." if output else "")
        + f" {found['sentence']}"
        + (f" Saved as {save}." if save else ""),
        file=sys.stderr,
    )
    return 0


class Chosen(NamedTuple):
    """Samples by their internal ids (n,), and the classes that go entirely."""

    splits: Splits
    ids: np.ndarray
    classes: tuple[int, ...] = ()

    def content(self) -> dict[str, Any]:
        """As JSON: `ids` are rows, sorted; `hash` is the one that results have."""
        from mucore.forget_sets import identity
        from mucore.forget_sets.saved import forget_hash

        told = identity.described(self.splits, self.ids)
        return {
            "count": told.count,
            "hash": forget_hash(self.ids.tolist()),
            "classes": self.classes,
            "class_names": [self.splits.class_names[number] for number in self.classes],
            "by_class": told.classes,
            "first": told.first,
            "ids": sorted(identity.to_rows(self.splits, self.ids).tolist()),
            "sentence": told.sentence,
        }


def _choose(options: GridOptions, *, needs_model: bool) -> Chosen:
    """Apply a scenario as a run would, training the original if the scenario looks at it and the
    store does not have it. Raises `UnknownName`, `BadValue`, `BadFile`.
    """
    from mucore.runner.grid import expand
    from mucore.runner.session import Session
    from mucore.store import open_store

    retrain, *others = (spec for spec in expand(build_grid(options))[0] if spec.method == "retrain")
    if others:
        raise BadValue("A forget set is of one budget and one value of each parameter.")
    card = catalog.scenario(str(retrain.scenario))
    looks = card.needs & {"losses", "downstream"}
    if looks and needs_model:
        raise BadValue(
            f"Scenario {card.id} depends on the original model, so it needs --model, such as "
            "--model resnet9-small."
        )
    with open_store() as store:
        session = Session(store)
        original = session.original(retrain)[0] if looks else None
        forget = session.forget_set(retrain, original, session.run(retrain, 0))
        return Chosen(session.splits(retrain), forget.ids, forget.classes)


def _listed(path: Path, dataset: str) -> Chosen:
    """The samples of a data set that a file names. Raises `BadFile`, `BadValue`."""
    from mucore.datasets import load
    from mucore.forget_sets import identity
    from mucore.forget_sets.lists import read_file

    splits = load(dataset)
    return Chosen(splits, identity.to_ids(splits, identity.rows_of(read_file(path), dataset)))


def _save(name: str, dataset: str, rows: list[int], made: str, replace: bool) -> None:
    """Keep the samples by name in the home. Raises `BadValue` for a bad name or one that is taken,
    `StoreError`.
    """
    from mucore.forget_sets import saved
    from mucore.userfiles import datasets, paths

    found = saved.make(
        datasets.named(dataset), rows, data_hash=datasets.data_hash(dataset), made=[made], name=name
    )
    saved.save(paths.default_home(), found, replace=replace)


def _print_saved(as_json: bool) -> int:
    """The saved sets of the home, newest first; damaged files are told on stderr and make the exit
    code `FAILED`.
    """
    from mucore.forget_sets import saved
    from mucore.userfiles import paths

    found, problems = saved.listed(paths.default_home())
    for sentence in problems:
        print(sentence, file=sys.stderr)
    facts = [
        {
            "name": each.name,
            "dataset": each.dataset,
            "made": each.made,
            "count": len(each.ids),
            "hash": each.hash,
            "saved": f"{each.created:%Y-%m-%d %H:%M} UTC" if each.created else "",
        }
        for each in found
    ]
    if as_json:
        print(to_json(facts, indent=2))
    else:
        columns = ("name", "dataset", "count", "hash", "saved")
        print_table(columns, [[each[name] for name in columns] for each in facts])
    return FAILED if problems else 0
