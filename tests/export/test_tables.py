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


def test_a_table_of_results_has_a_line_over_its_seeds(store):
    values = {seed: 0.9 + 0.01 * seed for seed in (7, 8, 9)}
    store.put_results(
        make_result(method="scrub", scenario="one_class", training_seed=seed, metrics={"ta": value})
        for seed, value in values.items()
    )
    table = tables.results_table(store, metrics=["ta"], method="scrub", scenario="one_class")
    (row,) = (each for each in table.to_dict("records") if each["ta"] == pytest.approx(0.98))
    # t(0.975, 2) = 4.3027 times 0.01 by the root of three
    assert row["seeds"] == 3 and row["ta_half"] == pytest.approx(4.3027 * 0.01 / 3**0.5, rel=1e-4)
    assert row["scenario"].startswith("Part of one class") and row["method"].startswith("SCRUB")
    assert "98.0 ± 2.5" in tables.to_markdown(tables.readable(table))
    assert r"98.0 $\pm$ 2.5" in tables.to_latex(tables.readable(table), "A & B")
    assert list(pd.read_csv(io.StringIO(tables.to_csv(table))).columns) == list(table.columns)


def test_without_metrics_a_table_has_those_of_the_verdict_and_the_time(store):
    table = tables.results_table(store)
    names = [name for name in table if f"{name}_half" in table]
    every = {"ta", "ra", "fa", "tfa", "tra", "mia_confidence", "rte"}
    assert every >= set(names) >= {"ta", "fa"}
    assert table["scenario"].nunique() > 1 and table["method"].iloc[0] == "Original"
    with pytest.raises(UnknownName):
        tables.results_table(store, metrics=["tta"])


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
