"""Commands that list what there is, and try a method of your own."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from mucore import catalog
from mucore.cli.base import FAILED, Json, say_left_out
from mucore.cli.printing import print_table, to_json
from mucore.errors import BadFile


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
    from mucore.runner import child
    from mucore.testing import contract_check

    if not os.path.isfile(file):  # a pipe or a device may never end
        raise BadFile(f"There is no file at {file}. Name the file of a method.")
    checks: list[dict[str, Any]] = []
    contract_check.trial(
        file, child.limits(), on_line=checks.append, on_print=partial(print, file=sys.stderr)
    )
    if as_json:
        print(to_json(checks, indent=2))
    else:
        for each in checks:
            print(f"{'pass' if each['passed'] else 'FAIL'}  {each['rule']}")
            if each["message"]:
                print(f"      {each['message']}")
    return 0 if all(each["passed"] for each in checks) else FAILED
