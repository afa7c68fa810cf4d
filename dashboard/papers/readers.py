"""The lines of one printed table in our units, with what a reader has to know of them: gaps,
doubtful cells, references of their own.

Values are fractions (storage in bytes) by (method id, column id). Each paper has a reader of its
own, which takes lines of data/published.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache

import pandas as pd

from dashboard.text.labels import number
from mucore import catalog

Values = Mapping[tuple[str, str], float]  # (method id, column id) -> value
PLAIN = ("l2_normalised", "rte", "storage")  # columns without a gap to Retrain
# behind a cell: it contradicts another of the paper; it belongs to a block with an Original of its
# own
DOUBTFUL, OWN = "†", "‡"
AGREE = 1.5  # points by which FA and the correctness attack of one line may miss 100 together


@dataclass(frozen=True, kw_only=True)
class Lines:
    """A table's lines. `marks` are signs behind single cells, `notes` the sentences that explain
    them and whatever has no column.
    """

    values: Values
    gaps: Values
    marks: Mapping[tuple[str, str], str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def plain_lines(
    values: Values,
    *,
    marks: Mapping[tuple[str, str], str] | None = None,
    notes: tuple[str, ...] = (),
) -> Lines:
    """Lines that all have the one Retrain of their table."""
    return Lines(values=values, gaps=_gaps(values), marks=marks or {}, notes=notes)


def _gaps(values: Values) -> dict[tuple[str, str], float]:
    return {
        (method, column): value - values["retrain", column]
        for (method, column), value in values.items()
        if column not in PLAIN and ("retrain", column) in values
    }


# --------------------------------------------------------------------------------------------------
# MUBox


def mubox(here: pd.DataFrame, cost: pd.DataFrame) -> Lines:
    """A table of accuracies and attacks, `here`, with the costs `cost` of the same setting.

    FA is printed as the difference to Retrain for methods (kind `difference`). The groups other
    than `main` have another model and print its Original, but no Retrain: their TA and RA are
    compared with that Original, their FA as it was printed, their attacks with nothing.
    """
    retrain = here[here["method"] == "Retrain"].set_index("metric")["value"].astype(float).to_dict()
    values: dict[tuple[str, str], float] = {}
    originals: dict[str, dict[str, float]] = {}
    groups: dict[str, str] = {}
    differences, unsigned = set(), set()
    columns = ["method", "group", "metric", "value", "kind"]
    for name, group, metric, value, kind in here[columns].itertuples(index=False, name=None):
        method, column = catalogued(str(name)), _mubox_column(str(metric))
        if method is None:
            continue
        amount = (
            float(value)
            if metric == "l2"
            else (float(value) + (retrain.get(metric, 0.0) if kind == "difference" else 0.0)) / 100
        )
        if method == "original" and group != "main":
            originals.setdefault(str(group), {})[column] = amount
            continue
        values[method, column] = amount
        if group != "main":
            groups[method] = str(group)
        if kind == "difference":
            differences.add((method, column))
        elif kind == "absolute-or-zero" and group != "sisa" and amount:
            unsigned.add((method, column))
    own = {
        (method, column): value
        for method, group in groups.items()
        for column, value in originals.get(group, {}).items()
    }
    gaps = {
        place: gap
        for place, gap in _gaps(values).items()
        if place[0] not in groups or place in differences
    }
    gaps |= {
        place: values[place] - own[place]
        for place in own
        if place[1] in ("ta", "ra") and place in values
    }
    marks = {
        (method, column): OWN
        for method in groups
        for column in ("ta", "ra")
        if (method, column) in values
    }
    doubtful = _doubtful(values)
    marks |= dict.fromkeys([*doubtful, *unsigned], DOUBTFUL)
    notes = (
        _own_note(groups, originals),
        _doubtful_note(values, doubtful),
        _unsigned_note(unsigned),
    )
    return Lines(
        values=values | mubox_cost(cost), gaps=gaps, marks=marks, notes=tuple(filter(None, notes))
    )


def _mubox_column(metric: str) -> str:
    return "l2_normalised" if metric == "l2" else metric.lower().replace("-", "_", 1)


def mubox_cost(lines: pd.DataFrame) -> dict[tuple[str, str], float]:
    """Run time relative to Retrain and storage in bytes."""
    values: dict[tuple[str, str], float] = {}
    for name, rte, gigabytes in lines[["method", "rte_vs_retrain", "extra_storage_gb"]].itertuples(
        index=False, name=None
    ):
        if (method := catalogued(str(name))) is not None:
            values[method, "rte"] = float(rte)
            values[method, "storage"] = float(gigabytes) * 1e9
    return values


def _doubtful(values: Values) -> list[tuple[str, str]]:
    """FA and correctness attack of the lines in which they contradict each other: the attack calls
    unseen what the model gets wrong.
    """
    made = []
    for method, column in values:
        other = (method, "mia_correctness")
        if (
            column == "fa"
            and other in values
            and abs(100 * (values[method, column] + values[other] - 1)) > AGREE + 1e-6
        ):
            made += [(method, column), other]
    return made


def _own_note(groups: Mapping[str, str], originals: Mapping[str, Mapping[str, float]]) -> str:
    """What the Originals of other blocks reach, and what the gaps beside them are."""
    parts = []
    for group, original in originals.items():
        titles = " and ".join(title(method) for method, one in groups.items() if one == group)
        shown = ", ".join(
            f"{name.upper()} {number(original[name], 'percent')} %"
            for name in ("ta", "ra", "fa")
            if name in original
        )
        parts.append(f"that of {titles} has {shown}")
    if not parts:
        return ""
    return (
        f"{OWN} From a block with an Original of its own (another model or less data): "
        f"{'; '.join(parts)}. Gaps of TA and RA are to that Original, a gap of FA stands where "
        "one is printed; attacks have none, since no Retrain of the block is printed."
    )


def _doubtful_note(values: Values, doubtful: list[tuple[str, str]]) -> str:
    parts = [
        (
            f"{title(method)} {number(values[method, 'fa'], 'percent')} and "
            f"{number(values[method, 'mia_correctness'], 'percent')}"
        )
        for method, column in doubtful
        if column == "fa"
    ]
    if not parts:
        return ""
    return (
        f"{DOUBTFUL} As printed, but FA and the correctness attack of one line contradict each "
        "other: the attack calls unseen what the model gets wrong, so the two should come to 100 "
        f"%, and are {'; '.join(parts)}."
    )


def _unsigned_note(unsigned: set[tuple[str, str]]) -> str:
    if not unsigned:
        return ""
    names = " and ".join(sorted(title(method) for method, _ in unsigned))
    return (
        f"{DOUBTFUL} FA of {names} is printed without a sign and read as the accuracy itself, not "
        "as a difference to Retrain."
    )


# --------------------------------------------------------------------------------------------------
# Are We Truly Forgetting?


def truly(here: pd.DataFrame, again: pd.DataFrame) -> Lines:
    """Lines of one setting; `again` are those of the same setting in another table, where the paper
    prints it twice.
    """
    columns = {"FA": "fa", "RA": "ra", "TFA": "tfa", "TRA": "tra", "MIA": "mia_confidence"}
    found, other = _by_metric(here), _by_metric(again)
    values = {
        (method, columns[metric]): value / 100
        for (method, metric), value in found.items()
        if metric in columns
    }
    minutes = {
        method: value for (method, metric), value in found.items() if metric == "RTE-minutes"
    }
    values |= {(method, "rte"): value / minutes["retrain"] for method, value in minutes.items()}
    twice = [
        place
        for place in found
        if place[1] in columns and place in other and abs(found[place] - other[place]) > 1e-9
    ]
    marks = {(method, columns[metric]): DOUBTFUL for method, metric in twice}
    notes = []
    if minutes:
        each = ", ".join(
            f"{title(method)} {value:,.0f}"
            for method, value in sorted(minutes.items(), key=lambda pair: -pair[1])
        )
        notes.append(f"Minutes as printed: {each}.")
    if twice:
        each = "; ".join(
            f"{title(method)}, {metric}: here {found[method, metric]:g}, there "
            f"{other[method, metric]:g}"
            for method, metric in twice
        )
        notes.append(
            f"{DOUBTFUL} The paper prints this cell with another number in a second table of the "
            f"same setting. {each}."
        )
    return plain_lines(values, marks=marks, notes=tuple(notes))


def _by_metric(lines: pd.DataFrame) -> dict[tuple[str, str], float]:
    rows = lines[["method", "metric", "value"]].itertuples(index=False, name=None)
    return {
        (method, str(metric)): float(value)
        for name, metric, value in rows
        if (method := catalogued(str(name))) is not None
    }


# --------------------------------------------------------------------------------------------------
# names


def title(method: str) -> str:
    return next(card.title for card in (catalog.ORIGINAL, *catalog.METHODS) if card.id == method)


def plain(name: str) -> str:
    """A name without marks and capitals, to compare by."""
    return "".join(character for character in name.lower() if character.isalnum())


@cache
def catalogued(name: str) -> str | None:
    """The id of a built-in method by its id, title or alias."""
    wanted = plain(name)
    for card in (catalog.ORIGINAL, *catalog.METHODS):
        if wanted in {plain(card.id), plain(card.title), *(plain(alias) for alias in card.aliases)}:
            return card.id
    return None
