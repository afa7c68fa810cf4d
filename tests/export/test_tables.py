"""What leaves the program: CSV that reads back, LaTeX that compiles, Markdown, and the wide frame
against the store's own values.
"""

from __future__ import annotations

import io
import re
import shutil
import subprocess
from dataclasses import replace

import pandas as pd
import pytest
from builders import full_store, make_result

from mucore.errors import UnknownName
from mucore.export import records, tables

NASTY = [
    "50% & more_$",
    r"a\b",
    "{x}~^#",
    'say "so"',
    "a|b",
    "ℓ₂ ± 0.1 · λ ≤ ½",
    "Ł déjà vu ǎ",
    "中文",
    "two\nlines",
    "<tag>",
]


@pytest.fixture
def store(tmp_path):
    with full_store(tmp_path) as opened:
        yield opened


@pytest.fixture
def frame() -> pd.DataFrame:
    return pd.DataFrame(
        {"name": NASTY, "value": [0.1 * n for n in range(len(NASTY))], "count": range(len(NASTY))}
    )


def test_csv_reads_back_to_the_last_digit(frame):
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(tables.to_csv(frame))), frame)


def test_csv_leaves_missing_values_empty():
    assert tables.to_csv(pd.DataFrame({"a": [1.5, None]})) == 'a\n1.5\n""\n'


def test_latex_has_booktabs_rules_and_a_cell_for_each_column(frame):
    lines = tables.to_latex(frame).splitlines()
    assert lines[0] == r"\begin{tabular}{lrr}"
    assert [line for line in lines if line.endswith("rule")] == [
        r"\toprule",
        r"\midrule",
        r"\bottomrule",
    ]
    rows = lines[2:3] + lines[4:-2]
    assert len(rows) == len(frame) + 1
    assert all(len(re.findall(r"(?<!\\)&", row)) == 2 and row.endswith(r"\\") for row in rows)


def test_latex_escapes_every_special_character():
    text = tables.escape_latex("".join(NASTY))
    assert re.search(r"(?<!\\)[&%#_]", re.sub(r"(?<!\\)\$[^$]*\$", "", text)) is None
    assert tables.escape_latex("a_b & 5%") == r"a\_b \& 5\%"
    assert tables.escape_latex("±λ") == r"$\pm$$\lambda$"
    assert tables.escape_latex("é中") == "é[U+4E2D]"


def test_a_bracket_at_the_start_of_a_latex_row_is_no_option():
    lines = tables.to_latex(pd.DataFrame({"[name": ["中文", "*a", "b"]})).splitlines()
    assert lines[2] == r"{}[name \\" and lines[4:7] == [
        r"{}[U+4E2D][U+6587] \\",
        r"{}*a \\",
        r"b \\",
    ]


def test_latex_caption_makes_a_float(frame):
    text = tables.to_latex(frame, "R&D")
    assert (
        text.startswith(r"\begin{table}")
        and r"\caption{R\&D}" in text
        and text.endswith("\\end{table}\n")
    )


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(frame, tmp_path):
    document = (
        r"\documentclass{article}\usepackage{booktabs}\begin{document}"
        + tables.to_latex(frame, "A & B")
        + r"\end{document}"
    )
    (tmp_path / "table.tex").write_text(document, encoding="utf-8")
    done = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"],
        cwd=tmp_path,
        capture_output=True,
    )
    assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


def test_markdown_rows_have_equal_cells(frame):
    lines = tables.to_markdown(frame).splitlines()
    assert lines[:2] == ["| name | value | count |", "| --- | ---: | ---: |"]
    assert len(lines) == len(frame) + 2
    assert all(len(re.findall(r"(?<!\\)\|", line)) == 4 for line in lines)


def test_a_named_index_becomes_columns():
    table = pd.DataFrame({"ta": [0.5]}, index=pd.Index(["finetune"], name="method"))
    assert tables.to_markdown(table) == "| method | ta |\n| --- | ---: |\n| finetune | 0.5000 |\n"
    assert tables.to_csv(table) == "method,ta\nfinetune,0.5\n"


def test_comparison_frame_has_the_values_and_gaps_of_the_store(store):
    frame = tables.comparison_frame(store)
    results = {result.key: result for result in store.results()}
    assert set(frame["key"]) == set(results) and frame["key"].is_unique
    for row in frame.to_dict("records"):
        metrics = results[row["key"]].metrics
        for name in ("ta", "fa", "mia_confidence", "rte"):
            measured = metrics.get(name)
            assert row[name] == pytest.approx(
                measured.value if measured is not None else float("nan"), nan_ok=True
            )
            gap = measured.gap if measured is not None else None
            assert row[f"{name}_gap"] == pytest.approx(
                float("nan") if gap is None else gap, nan_ok=True
            )


def test_comparison_frame_filters_and_orders(store):
    frame = tables.comparison_frame(
        store, metrics=["fa", "ta"], method="finetune", scenario="one_class"
    )
    assert set(frame["method"]) == {"finetune"} and set(frame["scenario"]) == {"one_class"}
    assert list(frame.columns[-4:]) == ["fa", "fa_gap", "ta", "ta_gap"]
    with pytest.raises(UnknownName, match="Did you mean"):
        tables.comparison_frame(store, metrics=["mia_confidense"])


def test_compact_frame_shows_what_differs(store):
    both = tables.compact_frame(tables.comparison_frame(store), ["ta", "tfa"])
    where = ["method", "scenario", "scenario_parameters", "training_seed"]
    assert list(both.columns) == [*where, "verdict", "distance", "ta", "ta_gap", "tfa", "tfa_gap"]
    assert both["method"].iloc[0] == "original" and both["scenario"].notna().all()
    one = tables.compact_frame(
        tables.comparison_frame(store, scenario="one_class", method=["finetune", "retrain"]),
        ["ta", "tfa"],
    )
    # no TFA in this scenario
    assert list(one.columns) == ["method", "training_seed", "verdict", "distance", "ta", "ta_gap"]
    assert list(one["method"]) == ["retrain", "finetune"] * 2


def test_description_of_a_result_keeps_the_reason_of_a_missing_value():
    result = make_result(metrics={"ta": 0.9, "fa": None}, gaps={"ta": 0.05})
    content = records.describe(result, cached=True)
    assert content["metrics"]["ta"] == {"value": 0.9, "gap": 0.05}
    assert (
        content["metrics"]["fa"]["value"] is None
        and "could not be computed" in content["metrics"]["fa"]["error"]
    )
    assert content["cached"] is True and content["seconds"] == result.cost["seconds"]
    assert "cached" not in records.describe(result)
    spec = {**result.spec, "dataset": "fashion-mnist", "scenario_parameters": {"class_ids": [0, 8]}}
    named = records.describe(replace(result, spec=spec))["classes"]
    assert named == [{"number": 0, "name": "T-shirt/top"}, {"number": 8, "name": "Bag"}]


def test_per_class_accuracy_is_the_diagonal_over_its_row():
    # class 0: 3 of 4 right; class 1 has no sample; class 2: 1 of 2
    assert records.per_class_accuracy([[3, 0, 1], [0, 0, 0], [1, 0, 1]]) == [0.75, None, 0.5]
