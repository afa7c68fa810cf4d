"""Results, Method and Glossary as a reader meets them: on an empty, a one-run and a full store, and
with addresses old or wrong.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from builders import full_results, full_store, make_result, make_spec_row
from facts import tells
from pages import figure, figures, fill, links, open_page, words_on
from streamlit.testing.v1 import AppTest

from dashboard import frames
from mucore import catalog
from mucore.store import open_store
from mucore.store import schema as tables

PAGES = ["results", "method", "glossary"]


def table_html(at: AppTest) -> str:
    """What the results table was mounted with."""
    return json.loads(at.main.get("bidi_component")[0].proto.json)["html"]


@pytest.mark.parametrize("amount", ["empty", "one", "full"])
@pytest.mark.parametrize("page", PAGES)
def test_page_opens(home, page, amount):
    fill(home, amount)
    at = open_page(page)
    assert not at.exception and not at.error
    assert at.title[0].value.endswith("?")


def test_empty_results_lead_to_launch(home):
    fill(home, "empty")
    at = open_page("results")
    assert "Launch a comparison" in links(at)
    assert not at.main.get("bidi_component")


def test_one_run_is_shown_with_what_is_missing(home):
    fill(home, "one")
    at = open_page("results")
    assert at.title[0].value == catalog.scenario("one_class").question
    assert "Fine-tune" in table_html(at) and "Not measured in these runs." in table_html(at)
    assert tells(words_on(at), "No method", "both gaps")
    assert tells(words_on(at), "One training seed", "no interval")


def test_full_results_show_every_row_and_the_figure(home):
    fill(home, "full")
    at = open_page("results")
    html = table_html(at)
    for name in ("Original", "Retrain", "Fine-tune", "Gradient ascent", "SalUn"):
        assert name in html
    assert "2 training seeds" in words_on(at)
    assert "3 of 3 methods" in words_on(at)
    # the numbers are drawn at random
    assert "None qualifies" in words_on(at) and "Look twice" in words_on(at)
    assert 'data-sort="verdict"' in html and ">Verdict ↑</button>" in html
    shown = {trace["name"] for trace in figures(at)[0]["data"]}
    assert {"Retrain", "Original", catalog.FAMILIES["sparsity"]} == shown - {
        catalog.FAMILIES["gradient_ascent"]
    }


def test_the_demo_opens_on_what_forgot(demo_home):
    """As a stranger meets it: whichever line on top is chosen, or method in large type, works."""
    at = open_page("results")
    rows = re.findall(r"<tr data-row=.*?</tr>", table_html(at), re.S)
    fit = ['class="verdict qualified"' in row for row in rows[2:]]  # below Original and Retrain
    assert any(fit) and fit == sorted(fit, reverse=True)
    certain = [
        re.sub("<[^>]*>", "", re.findall(r"<th .*?</th>", row, re.S)[0])
        for row in rows[2:]
        if 'class="verdict qualified"' in row and 'class="icon solid"' in row
    ]
    named = [one.value.removeprefix("#### ") for one in at.markdown if one.value[:5] == "#### "]
    assert len(named) == 4 and set(named[:3]) <= set(certain)


def test_the_address_chooses_scenario_view_order_and_methods(home):
    fill(home, "full")
    at = open_page(
        "results", scenario="class_wise", view="gap", sort="fa", methods=["salun", "finetune"]
    )
    html = table_html(at)
    assert ">TFA</button>" in html and 'data-sort="fa"' in html and 'aria-sort="ascending"' in html
    assert "SalUn" in html and "Gradient ascent" not in html
    assert at.title[0].value == catalog.scenario("class_wise").question


def test_a_foreign_address_falls_back(home):
    fill(home, "full")
    query = {
        "scenario": "no_such",
        "set": "00000000",
        "recipe": "x",
        "view": "y",
        "sort": "z",
        "row": "gone-123456",
    }
    at = open_page("results", **query, run="k", comparison="99")
    assert not at.exception and not at.error
    assert "Original" in table_html(at)


@pytest.mark.parametrize(
    "damage", [{"parameters": "{"}, {"metric_numbers": "5"}, {"finished": sa.literal("no time")}]
)
@pytest.mark.parametrize("page", ["results", "tradeoffs"])
def test_damaged_results_are_named_where_they_are_left_out(home, damage, page):
    fill(home, "full")
    assert not tells(words_on(open_page(page)), "damaged and left out")
    with open_store(home) as store:
        broken = store.results(method="salun", scenario="class_wise")[0]
        with store.write("results") as connection:
            row = tables.result.c.key == broken.key
            connection.execute(sa.update(tables.result).where(row).values(damage))
    at = open_page(page, scenario="class_wise")
    assert not at.exception and not at.error
    assert tells(words_on(at), "1 result", "left out", broken.key)


def test_damaged_jobs_and_comparisons_are_named_where_they_are_left_out(home):
    with open_store(home) as store:
        (job,) = store.enqueue([make_spec_row().original()])
        first, second = (store.create_comparison(name, "", {}, [job.key]) for name in "ab")
        with store.write("jobs") as connection:
            connection.execute(sa.update(tables.job).values(spec="{"))
            table = tables.comparison
            mine = sa.update(table).where(table.c.id == first.id)
            connection.execute(mine.values(created=sa.literal("no time")))
    at = open_page("queue", comparison=str(second.id))
    assert not at.exception and not at.error
    said = words_on(at)
    assert tells(said, "1 job", "left out", f"{job.id}") and "table “job”" in said
    assert tells(said, "1 comparison", f"{first.id}") and "table “comparison”" in said


def test_a_row_opens_its_run_with_the_command_that_repeats_it(home):
    store = open_store(home)
    counts = {"test": np.eye(10, dtype=int).tolist()}
    results = full_results()
    for result in results:
        flags = (
            ("The <model> is damaged, not unlearned.",) if result.spec["method"] == "salun" else ()
        )
        store.put_result(replace(result, confusion=counts, flags=flags))
    store.close()
    summaries = full_summaries(home)
    row = frames.row_id(
        "salun", summaries.loc[summaries["method"] == "salun", "parameters"].iloc[0]
    )
    at = open_page("results", row=row)
    words = words_on(at)
    assert "python -m mucore run" in words and "--methods salun" in words
    assert "damaged, not unlearned" in at.warning[0].value and "<model>" not in at.warning[0].value
    assert len(at.get("plotly_chart")) == 3  # trade-off, loss, classes
    assert [trace["name"] for trace in figures(at)[2]["data"]] == ["This run", "Retrain"]
    close = next(button for button in at.button if button.label == "Close")
    close.click().run()
    assert "row" not in at.query_params and "python -m mucore run" not in words_on(at)


def test_a_row_says_that_it_lies_outside_original_and_retrain(home):
    store = open_store(home)
    level = {"original": 1.0, "retrain": 0.8, "salun": 0.2, "finetune": 0.9}
    for seed in (0, 1, 2):
        for method, fa in level.items():
            store.put_result(
                make_result(
                    method=method,
                    training_seed=seed,
                    metrics={"ta": 0.9, "fa": fa},
                    gaps={"fa": fa - 0.8},
                )
            )
    store.close()
    summaries = full_summaries(home)
    rows = {
        name: frames.row_id(name, summaries.loc[summaries["method"] == name, "parameters"].iloc[0])
        for name in ("salun", "finetune")
    }
    at = open_page("results", row=rows["salun"])
    assert tells(words_on(at), "1 line", "original", "Retrain")
    assert tells(at.warning[0].value, "forgets more")
    assert not open_page("results", row=rows["finetune"]).warning


def test_a_run_without_stored_predictions_says_so(home):
    fill(home, "full")
    summaries = full_summaries(home)
    row = frames.row_id(
        "salun", summaries.loc[summaries["method"] == "salun", "parameters"].iloc[0]
    )
    at = open_page("results", row=row)
    assert not at.exception
    assert tells(words_on(at), "Accuracy", "class", "not shown")
    assert "run_classes" not in {one.key for one in at.get("plotly_chart")}


def full_summaries(home: Path):
    store = open_store(home)
    summaries = store.summaries(scenario="one_class")
    store.close()
    return summaries


def test_the_papers_numbers_stand_below_ours_on_request(home):
    fill(home, "full")
    assert 'class="paper"' not in table_html(open_page("results", scenario="one_class"))
    at = open_page("results", scenario="one_class", paper="1")
    assert 'class="paper"' in table_html(at)
    assert "MUBox Table 1" in words_on(at) and "Another data set" in words_on(at)


def test_a_comparison_without_results_leads_to_the_queue(home):
    full_store(home).close()
    store = open_store(home)
    waiting = store.create_comparison("Waiting", "", {}, ["0" * 24])
    store.close()
    at = open_page("results", comparison=str(waiting.id))
    assert "Watch the queue" in links(at)
    assert any(box.label == "Comparison" for box in at.selectbox)  # the way back


def test_method_page_tells_how_it_works_and_what_it_reached(home):
    fill(home, "full")
    at = open_page("method", method="salun")
    card = catalog.method("salun")
    assert (
        card.title in at.title[0].value
        and card.summary in words_on(at)
        and card.how in words_on(at)
    )
    assert list(at.table[0].value["Setting"]) == [
        p.name.replace("_", r"\_") for p in card.parameters
    ]
    labels = figure(at, "method_settings")["data"][0]["y"]
    assert labels == [catalog.scenario(name).title for name in ("one_class", "class_wise")]


def test_a_method_without_runs_leads_to_a_launch_of_it(home):
    fill(home, "one")
    (link,) = [
        one
        for one in open_page("method", method="scrub").get("page_link")
        if one.proto.label.startswith("Launch a comparison")
    ]
    assert link.proto.query_string == "methods=scrub"


def test_method_page_opens_on_the_method_that_most_was_run_of(home):
    fill(home, "one")
    assert catalog.method("finetune").title in open_page("method").title[0].value


def test_method_page_says_whether_it_keeps_to_the_classifier(home):
    fill(home, "one")
    found = {
        name: words_on(open_page("method", method=name)) for name in ("salun", "ssd", "first_order")
    }
    ssd, first_order = (catalog.method(name).not_confinable for name in ("ssd", "first_order"))
    assert tells(found["salun"], "classifier alone", "yes")
    assert tells(found["ssd"], "classifier alone", "no", ssd)
    assert tells(found["first_order"], "classifier alone", "param_scope head only", first_order)


@pytest.mark.parametrize("method", [card.id for card in catalog.methods()])
def test_every_method_has_its_page(home, method):
    fill(home, "one")
    at = open_page("method", method=method)
    assert not at.exception and not at.error
    if method != "finetune":
        assert f"Launch a comparison with {catalog.method(method).title}" in links(at)


def test_glossary_searches_and_opens_one_entry(home):
    fill(home, "empty")
    everything = open_page("glossary")
    assert all(card.title in words_on(everything) for card in catalog.metrics())
    settings = words_on(open_page("glossary", kind="setting"))
    assert (
        all(card.title in settings and card.meaning in settings for card in catalog.terms())
        and "`ssd`" not in settings
    )
    found = open_page("glossary", q="SCRUB", kind="method")
    assert "Metrics" not in "".join(one.value for one in found.subheader)
    assert "SCRUB" in words_on(found) and "`ssd`" not in words_on(found)
    misspelt = words_on(open_page("glossary", q="overfiting"))
    assert "overfitting" in misspelt and "Overfitting and memorising" in misspelt
    ideas = words_on(open_page("glossary", kind="idea"))
    assert all(card.title in ideas and card.meaning in ideas for card in catalog.ideas())
    nothing = open_page("glossary", q="no such word here")
    assert "Nothing matches" in words_on(nothing)
    one = open_page("glossary", term="fa", q="zzz")
    assert catalog.metric("fa").meaning in words_on(one) and "Nothing matches" not in words_on(one)


def test_a_store_that_cannot_be_read_is_told_once(home):
    fill(home, "one")
    with open_store(home) as store, store.write() as connection:
        version = tables.store_info.c.name == "schema_version"
        connection.execute(sa.update(tables.store_info).where(version).values(value=99))
    at = open_page("results")
    assert not at.exception and len(at.error) == 1 and "99" in at.error[0].value
