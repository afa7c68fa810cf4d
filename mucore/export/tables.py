"""What leaves the program as a table: CSV, LaTeX and Markdown, and the wide frame of results behind
`export`.

Values stay what they are in the store (fractions, seconds, bytes); nothing here rounds a CSV or
turns a fraction into percent.
"""

from __future__ import annotations

import csv
import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd
import pydantic_core

from mucore import catalog
from mucore.errors import BadValue, UnknownName
from mucore.export.records import document
from mucore.metrics.sanity import blind_attacks
from mucore.statistics.runs import beside_methods, label_runs, seed_means
from mucore.statistics.tables import in_order, t_intervals
from mucore.verdicts import judge, judge_stored, looked_at, references_of, rules_of

if TYPE_CHECKING:
    from mucore.store import Store

# What says which run a row is, in reading order; parameters are JSON texts.
SPEC_COLUMNS = (
    "key",
    "dataset",
    "model",
    "scenario",
    "scenario_parameters",
    "method",
    "method_preset",
    "parameters",
    "training_seed",
    "unlearning_seed",
    "evaluation_seed",
    "status",
    "forget_count",
    "forget_hash",
    "seconds",
    "steps",
    "device",
    "precision",
    "recipe",
    "finished",
    "demo",
)

FORMATS = ("csv", "latex", "markdown", "json")

VERDICT_COLUMNS = {
    "verdict": "str",
    "verdict_metric": "str",
    "verdict_shown": "boolean",
    "verdict_provisional": "boolean",
    "verdict_sentence": "str",
    "distance": "float64",
}

with Path(__file__).with_name("latex.csv").open(encoding="utf-8", newline="") as file:
    _LATEX = {row["character"]: row["latex"] for row in csv.DictReader(file)}

# Accents that LaTeX sets in its default font encoding: grave, acute, circumflex, tilde, diaeresis,
# macron, breve, dot, caron, cedilla.
_ACCENTS = set("\u0300\u0301\u0302\u0303\u0308\u0304\u0306\u0307\u030c\u0327")


def to_csv(frame: pd.DataFrame) -> str:
    """RFC 4180 text with a header; missing values are empty, floats keep every digit."""
    return frame.to_csv(index=_named(frame), lineterminator="\n")


def to_markdown(frame: pd.DataFrame) -> str:
    """A pipe table; numbers to the right, a pipe or line break inside a cell escaped."""
    head, rows, numeric = _cells(frame)

    def line(cells: Iterable[str]) -> str:
        return f"| {' | '.join(cells)} |"

    def escaped(cells: Sequence[str]) -> str:
        safe = str.maketrans({"\\": "\\\\", "|": "\\|", "\n": " "})
        return line(cell.translate(safe) for cell in cells)

    rule = line("---:" if right else "---" for right in numeric)
    return "\n".join([escaped(head), rule, *map(escaped, rows)]) + "\n"


def to_latex(frame: pd.DataFrame, caption: str | None = None) -> str:
    """A `tabular` with booktabs rules (`\\usepackage{booktabs}`), inside a `table` if there is a
    caption.

    Every cell is escaped, and symbols outside pdflatex's reach become mathematics or their code
    point, so that the text compiles.
    """
    head, rows, numeric = _cells(frame)
    body = [
        r"\begin{tabular}{" + "".join("r" if right else "l" for right in numeric) + "}",
        r"\toprule",
        latex_row(map(escape_latex, head)),
        r"\midrule",
        *(latex_row(map(escape_latex, row)) for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    if caption:
        body = [
            r"\begin{table}[htbp]",
            r"\centering",
            rf"\caption{{{escape_latex(caption)}}}",
            *body,
            r"\end{table}",
        ]
    return "\n".join(body) + "\n"


def latex_row(cells: Iterable[str]) -> str:
    """A line of a `tabular` of escaped cells. A bracket or star at its start would be read as an
    option of the line break before it.
    """
    line = " & ".join(cells) + r" \\"
    return "{}" + line if line.startswith(("[", "*")) else line


def escape_latex(text: str) -> str:
    """`text` so that LaTeX prints it as it is; accented Latin letters stay, other scripts become
    `[U+XXXX]`.
    """
    return "".join(_LATEX.get(character) or _printable(character) for character in text)


def _printable(character: str) -> str:
    if character.isascii():
        return character if character.isprintable() else " "
    base, *marks = unicodedata.normalize("NFD", character)
    if character in "ßæœøåłÆŒØÅŁ" or (base.isascii() and marks and set(marks) <= _ACCENTS):
        return character
    plain = unicodedata.normalize("NFKC", character)
    return plain if plain.isascii() and plain.isalnum() else f"[U+{ord(character):04X}]"


def comparison_frame(
    store: Store, *, metrics: Sequence[str] | None = None, **filters: Any
) -> pd.DataFrame:
    """One row a result: the columns that say which run it is, its verdict and distance to Retrain,
    `guesses` (the attacks whose efficacy is no evidence), then `<metric>` and `<metric>_gap` (value
    minus Retrain's) for each metric.

    Verdicts are those of single runs, `VERDICT_COLUMNS`; for a word over all seeds of a line see
    `mucore.verdicts.judge`. `filters` are those of `Store.summaries` (dataset, model, scenario,
    method, comparison, keys). `metrics` picks and orders the metrics; by default all that occur, in
    the catalogue's order. Raises `UnknownName` for a metric that no card has.
    """
    runs = store.summaries(**filters)
    runs = runs[[name for name in SPEC_COLUMNS if name in runs.columns]]
    values = store.metric_values(**filters)
    present = set(values["metric"])
    order = [card.id for card in catalog.metrics() if card.id in present]
    # a result of a newer or older catalogue keeps its numbers
    order += sorted(present - set(order))
    if metrics is not None:
        order = [catalog.metric(name).id for name in metrics]
    wide = values.pivot(index="key", columns="metric", values=["value", "gap"])
    parts = [(part, name) for name in order for part in ("value", "gap")]
    numbers = wide.reindex(columns=parts).astype(float)
    numbers.columns = [name if part == "value" else f"{name}_gap" for part, name in parts]
    guesses = {
        one.key: " ".join(sorted(blind_attacks(one.notes)))
        for one in store.results(metrics=False, **filters)
    }
    return (
        runs.join(_verdict_frame(store, filters), on="key")
        .assign(guesses=runs["key"].map(guesses))
        .join(numbers, on="key")
        .reset_index(drop=True)
    )


def _verdict_frame(store: Store, filters: Mapping[str, Any]) -> pd.DataFrame:
    """By key the columns `VERDICT_COLUMNS`."""
    found = judge_stored(store, **filters)
    lines = {}
    for key, judged in found.items():
        said = judged.verdict
        words = (
            (None,) * 5
            if said is None
            else (said.word, said.metric or None, said.shown, said.provisional, said.sentence)
        )
        lines[key] = (*words, judged.distance)
    index = pd.Index(list(lines), dtype="str")
    made = pd.DataFrame(list(lines.values()), columns=list(VERDICT_COLUMNS), index=index)
    return made.astype(VERDICT_COLUMNS)


def results_table(store: Store, *, metrics: Sequence[str] = (), **filters: Any) -> pd.DataFrame:
    """One row a scenario and method with one set of parameters, over its training seeds, in the
    catalogue's order: their titles, how many seeds, the verdict with a question mark where it is an
    indication, the distance to Retrain, and of each metric the mean and `<metric>_half`, half of
    the 95 % interval (NaN below two seeds).

    `metrics` default to those that verdicts rest on, and the time; `filters` as for
    `comparison_frame`. Raises `UnknownName`.
    """
    runs = label_runs(store.summaries(**filters))
    runs = runs[beside_methods(runs)]
    rests_on = {name for each in runs["scenario"].unique() for name in rules_of(each).metrics}
    usual = [card.id for card in catalog.metrics() if card.id in rests_on | {"rte"}]
    chosen = [catalog.metric(name).id for name in metrics] or usual
    means = seed_means(runs, store.metric_values(**filters), chosen)
    found = t_intervals(means.groupby(["setting", "line", "metric"])["value"]).to_dict("index")
    results = store.results(metrics=looked_at(), brief=True, **filters)
    every = {one.key: one for one in (*results, *references_of(store, results))}
    judged = {key: line for line in judge(every.values()) for key in line.keys}
    rows = []
    for (setting, line), mine in runs.groupby(["setting", "line"], sort=False):
        one = judged.get(mine["key"].iloc[0])
        said = one.verdict if one is not None else None
        rows.append(
            {
                "setting": setting,
                "method": line,
                "seeds": mine["training_seed"].nunique(),
                "verdict": f"{said.said}{'?' if said.provisional else ''}" if said else "",
                "distance": math.nan if one is None or one.distance is None else one.distance,
                **{
                    column: number
                    for name in chosen
                    if (at := found.get((setting, line, name))) is not None
                    for column, number in (
                        (name, at["mean"]),
                        (f"{name}_half", at["high"] - at["mean"]),
                    )
                },
            }
        )
    table = in_order(pd.DataFrame(rows)).rename(columns={"setting": "scenario"})
    table["distance"] = table["distance"].astype(float)
    for column, card in (("scenario", catalog.scenario), ("method", catalog.method)):
        table[column] = [_titled(name, card) for name in table[column]]
    return table


def _titled(name: str, card: Callable[[str], Any]) -> str:
    """A setting or line as people read it: its first word is an id."""
    first, gap, rest = name.partition(" ")
    return f"{card(first).title}{gap}{rest}"


def readable(table: pd.DataFrame) -> pd.DataFrame:
    """A `results_table` as papers print it: metrics by their short titles, fractions in percent,
    "97.2 ± 0.2".
    """
    shown = table[["scenario", "method", "seeds", "verdict"]].copy()
    shown["distance %"] = [
        "" if math.isnan(number) else _printed(number, percent=True) for number in table["distance"]
    ]
    for name in (name for name in table if f"{name}_half" in table):
        card = catalog.metric(name)
        percent = card.unit == "fraction"
        shown[f"{card.short}{' %' if percent else ''}"] = [
            " ± ".join(_printed(number, percent=percent) for number in pair if number == number)
            for pair in zip(table[name], table[f"{name}_half"], strict=True)
        ]
    return shown.rename(columns={name: name.capitalize() for name in shown.columns[:5]})


def text(
    store: Store,
    format: str,
    *,
    means: bool = False,
    metrics: Sequence[str] = (),
    caption: str | None = None,
    **filters: Any,
) -> str:
    """Stored results as the text of a file. CSV and JSON have a row a run. LaTeX, with a `caption`,
    Markdown, and CSV with `means` have `results_table`. Raises `BadValue` where nothing matches,
    and `UnknownName`.
    """
    if format not in FORMATS:
        raise UnknownName("format of a table", format, FORMATS)
    if store.summaries(**filters).empty:
        raise BadValue("No result matches, so there is nothing to export: `results` lists them.")
    if format == "json":
        content = document(store, **filters)
        return pydantic_core.to_json(content, indent=2, inf_nan_mode="null").decode() + "\n"
    if format == "csv" and not means:
        return to_csv(comparison_frame(store, metrics=metrics or None, **filters))
    table = results_table(store, metrics=metrics, **filters)
    if format == "csv":
        return to_csv(table)
    return to_latex(readable(table), caption) if format == "latex" else to_markdown(readable(table))


def _printed(number: float, *, percent: bool) -> str:
    return f"{100 * number:.1f}" if percent else f"{number:.3g}"


def _named(frame: pd.DataFrame) -> bool:
    """Whether the index says something: a bare row number does not."""
    return not isinstance(frame.index, pd.RangeIndex)


def _cells(frame: pd.DataFrame) -> tuple[list[str], list[list[str]], list[bool]]:
    """Heads, rows of texts, and which columns are numbers."""
    if _named(frame):
        frame = frame.reset_index()
    numeric = [
        pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
        for dtype in frame.dtypes
    ]
    rows = [[_text(value) for value in row] for row in frame.itertuples(index=False, name=None)]
    return [*map(str, frame.columns)], rows, numeric


def _text(value: Any) -> str:
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    if isinstance(value, float):
        return f"{value:.4f}" if abs(value) < 1e5 else f"{value:.4g}"
    return str(value)
