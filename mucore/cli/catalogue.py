"""Commands that list what there is, try a method of your own, and choose samples."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from mucore import catalog
from mucore.cli.base import FAILED, WHOLE, Json, complain, say_left_out
from mucore.cli.printing import print_table, to_json
from mucore.errors import BadFile, BadValue
from mucore.userfiles import paths


def _print_cards(cards: Iterable[Any], columns: Sequence[str], as_json: bool) -> None:
    if as_json:
        print(to_json([_content(dataclasses.asdict(card)) for card in cards], indent=2))
    else:
        print_table(columns, [[_cell(getattr(card, name)) for name in columns] for card in cards])


def _content(value: Any) -> Any:
    """A card as JSON types; sets in order."""
    if isinstance(value, Mapping):
        return {name: _content(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_content(item) for item in value]
    return sorted(value) if isinstance(value, frozenset) else value


def _cell(value: Any) -> str:
    if isinstance(value, tuple):
        return " / ".join(f"{item:,}" for item in value)
    return "" if value is None else str(value)


def methods(*, as_json: Json = False) -> None:
    """List the unlearning methods, with what they read, where they run and their parameters."""
    _print_cards(catalog.methods(), ("id", "title", "family", "source"), as_json)
    say_left_out()


def metrics(*, as_json: Json = False) -> None:
    """List the metrics, with meaning, range and source."""
    _print_cards(catalog.metrics(), ("id", "title", "group", "short"), as_json)


def scenarios(*, as_json: Json = False) -> None:
    """List the scenarios, the rules that choose what to forget, with their parameters."""
    _print_cards(catalog.scenarios(), ("id", "title", "question"), as_json)


def datasets(*, as_json: Json = False) -> None:
    """List the data sets, with size, licence and where to get them."""
    _print_cards(catalog.datasets(), ("id", "title", "sizes", "licence"), as_json)


def models(*, as_json: Json = False) -> None:
    """List the models."""
    _print_cards(catalog.models(), ("id", "title", "parameters_note", "source"), as_json)


def presets(*, as_json: Json = False) -> None:
    """List the presets: named recipes for training the original and the retrained model."""
    _print_cards(catalog.presets(), ("id", "title", "meaning", "source"), as_json)


def check(file: Path, /, *, as_json: Json = False) -> int:
    """Try your own method on two toy problems, and say of each rule whether it is kept and how to
    mend it.
    """
    from mucore.runner import children, trial

    if paths.kind(paths.path(str(file), what="The method file")) == "other":
        raise BadFile(f"{file} is a device or a pipe. Name the file of a method.")
    checks: list[dict[str, Any]] = []
    trial.trial(
        file, children.limits(), on_line=checks.append, on_print=partial(print, file=sys.stderr)
    )
    if as_json:
        print(to_json(checks, indent=2))
    else:
        for each in checks:
            print(f"{'pass' if each['passed'] else 'FAIL'}  {each['rule']}")
            if each["message"]:
                print(f"      {each['message']}")
    return 0 if all(each["passed"] for each in checks) else FAILED


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
        A list: does it name these samples? Without a scenario: its hash.
    expect
        The hash that the samples must have, as stored with a result.
    save
        A name under which the set is saved in the home; set:NAME stands for it.
    replace
        Save it even if the name is taken.
    listed
        List the saved sets.
    """
    from mucore.cli import forget_set as tool
    from mucore.forget_sets import to_csv

    if listed:
        return tool.print_saved(as_json)
    if dataset is None or (scenario is None and (verify is None or save is not None)):
        raise BadValue(
            "Give --dataset and --scenario to choose samples and save them, or --dataset and "
            "--verify FILE to check a list."
        )
    alike = True
    if scenario is not None:
        found = tool.choose(
            dataset=dataset,
            scenario=scenario,
            model=model,
            preset=preset,
            budget=budget,
            changes=changes or [],
            seed=seed,
        )
        if verify is not None:
            alike, sentence = tool.compare(found, verify, dataset)
            print(sentence, file=sys.stderr)
    elif verify is not None:
        found = tool.listed(verify, dataset)
    rows = found.rows
    if as_json:
        print(to_json(tool.description(found)))
    elif output is None and verify is None and save is None:
        print("id", *rows, sep="\n")
    if save is not None:
        settings = [*(changes or []), *([f"budget={budget}"] if budget else [])]
        tool.save(
            save,
            dataset,
            rows,
            f"Scenario {scenario} on the command line{''.join(f', {each}' for each in settings)}.",
            replace,
        )
    if output is not None:
        try:
            output.write_bytes(to_csv(rows))
        except OSError as error:
            raise BadValue(
                f"The ids could not be written to {output}: {error.strerror}. Choose another file."
            ) from None
    if expect is not None and expect != found.hash:
        return complain(f"The samples have the hash {found.hash}, and not {expect}.", FAILED)
    print(
        f"{len(rows)} samples, hash {found.hash}."
        + (f" Written to {output}." if output else "")
        + f" {found.told.sentence}"
        + (f" Saved as {save}." if save else ""),
        file=sys.stderr,
    )
    return 0 if alike else FAILED
