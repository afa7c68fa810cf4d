"""What leaves the program as a table: CSV, LaTeX and Markdown, and the wide frame of results behind
`export`.

Values stay what they are in the store (fractions, seconds, bytes); nothing here rounds a CSV or
turns a fraction into percent.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from mucore import catalog
from mucore.metrics.sanity import blind_attacks
from mucore.verdicts import judge_stored

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

VERDICT_COLUMNS = (
    "verdict",
    "verdict_metric",
    "verdict_shown",
    "verdict_provisional",
    "verdict_sentence",
    "distance",
)

# Columns that a table for reading shows only where rows differ in them.
_DIFFERS = (
    "dataset",
    "model",
    "scenario",
    "scenario_parameters",
    "method_preset",
    "training_seed",
    "unlearning_seed",
    "evaluation_seed",
)

# What a preset's parameters may depend on; where they differ beside that, somebody chose them.
_OF_A_PRESET = ("method", "method_preset", "scenario", "recipe")

_LATEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': "''",
    "±": r"$\pm$",
    "−": r"$-$",
    "×": r"$\times$",
    "÷": r"$\div$",
    "·": r"$\cdot$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
    "→": r"$\rightarrow$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "∞": r"$\infty$",
    "Δ": r"$\Delta$",
    "∥": r"$\|$",
    "‖": r"$\|$",
    "ℓ": r"$\ell$",
    "₀": r"$_0$",
    "₁": r"$_1$",
    "₂": r"$_2$",
    "²": r"$^2$",
    "⁻": r"$^-$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "λ": r"$\lambda$",
    "σ": r"$\sigma$",
    "θ": r"$\theta$",
    "–": "--",
    "—": "---",
    "’": "'",
    "‘": "`",
    "“": "``",
    "”": "''",
    "…": r"\ldots{}",
    "\n": " ",
    "\t": " ",
}

# Accents that LaTeX sets in its default font encoding: grave, acute, circumflex, tilde, diaeresis,
# macron, breve, dot, caron, cedilla.
_ACCENTS = set("\u0300\u0301\u0302\u0303\u0308\u0304\u0306\u0307\u030c\u0327")


def to_csv(frame: pd.DataFrame) -> str:
    """RFC 4180 text with a header; missing values are empty, floats keep every digit."""
    return frame.to_csv(index=_named(frame), lineterminator="\n")


def to_markdown(frame: pd.DataFrame, *, digits: int = 4) -> str:
    """A pipe table; numbers to the right, a pipe or line break inside a cell escaped."""
    head, rows, numeric = _cells(frame, digits)

    def line(cells: Sequence[str]) -> str:
        return (
            "| "
            + " | ".join(
                cell.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ") for cell in cells
            )
            + " |"
        )

    rule = "| " + " | ".join("---:" if right else "---" for right in numeric) + " |"
    return "\n".join([line(head), rule, *map(line, rows)]) + "\n"


def to_latex(frame: pd.DataFrame, caption: str | None = None, *, digits: int = 4) -> str:
    """A `tabular` with booktabs rules (`\\usepackage{booktabs}`), inside a `table` if there is a
    caption.

    Every cell is escaped, and symbols outside pdflatex's reach become mathematics or their code
    point, so that the text compiles.
    """
    head, rows, numeric = _cells(frame, digits)
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
    columns = {}
    for name in order:
        for part, column in (("value", name), ("gap", f"{name}_gap")):
            columns[column] = (
                wide[part, name]
                if (part, name) in wide.columns
                else pd.Series(math.nan, index=wide.index, dtype=float)
            )
    numbers = pd.DataFrame(columns, index=wide.index).astype(float)
    said = {
        key: sorted(blind_attacks(each.notes)) for key, each in store.remarks(**filters).items()
    }
    guesses = runs["key"].map({key: " ".join(names) for key, names in said.items()})
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
    types = dict(
        zip(VERDICT_COLUMNS, ("str", "str", "boolean", "boolean", "str", "float64"), strict=True)
    )
    made = pd.DataFrame(
        list(lines.values()),
        columns=list(VERDICT_COLUMNS),
        index=pd.Index(list(lines), dtype="str"),
    )
    return made.astype(types)


def compact_frame(frame: pd.DataFrame, metrics: Sequence[str]) -> pd.DataFrame:
    """A `comparison_frame` narrowed and ordered for reading.

    Columns: method, whatever else of the spec differs between rows, the status if any is not ok,
        and those of `metrics` that have a value.
    Rows: by scenario, seeds and method; the trainings of originals, which have no scenario, are
        left out unless there is nothing else.
    """
    if frame["scenario"].notna().any():
        frame = frame[frame["scenario"].notna()]
    order = {
        name: place
        for place, name in enumerate(("original", *(card.id for card in catalog.methods())))
    }
    rows = frame.assign(_place=frame["method"].map(order))
    rows = rows.sort_values(
        [
            "dataset",
            "model",
            "scenario",
            "training_seed",
            "_place",
            "unlearning_seed",
            "evaluation_seed",
        ],
        kind="stable",
    )
    keep = ["method", *(name for name in _DIFFERS if rows[name].nunique(dropna=False) > 1)]
    if rows.groupby(list(_OF_A_PRESET), dropna=False)["parameters"].nunique().max() > 1:
        keep.append("parameters")
    if (rows["status"] != "ok").any():
        keep.append("status")
    keep += [name for name in ("verdict", "distance") if rows[name].notna().any()]
    keep += [
        column
        for name in metrics
        for column in (name, f"{name}_gap")
        if column in rows and rows[column].notna().any()
    ]
    return rows[keep].reset_index(drop=True)


def _named(frame: pd.DataFrame) -> bool:
    """Whether the index says something: a bare row number does not."""
    return not isinstance(frame.index, pd.RangeIndex)


def _cells(frame: pd.DataFrame, digits: int) -> tuple[list[str], list[list[str]], list[bool]]:
    """Heads, rows of texts, and which columns are numbers."""
    if _named(frame):
        frame = frame.reset_index()
    numeric = [
        pd.api.types.is_numeric_dtype(dtype) and not pd.api.types.is_bool_dtype(dtype)
        for dtype in frame.dtypes
    ]
    head = [
        " ".join(str(part) for part in name if str(part)) if isinstance(name, tuple) else str(name)
        for name in frame.columns
    ]
    rows = [
        [_text(value, digits) for value in row] for row in frame.itertuples(index=False, name=None)
    ]
    return head, rows, numeric


def _text(value: Any, digits: int) -> str:
    if (
        value is None
        or value is pd.NA
        or value is pd.NaT
        or (isinstance(value, float) and math.isnan(value))
    ):
        return ""
    if isinstance(value, float):
        return f"{value:.{digits}f}" if abs(value) < 1e5 else f"{value:.{digits}g}"
    return str(value)
