"""A visitor's first three minutes: Start, the playground, the first lesson. At the end they have
seen, with numbers, what Retrain is for and that accuracy alone proves nothing.
"""

from __future__ import annotations

import re
from statistics import mean
from typing import Final

import facts
import pytest
from applications import ROOT, Application, opened
from playwright.sync_api import Locator, Page, expect

from dashboard.lessons import LESSONS
from mucore.store import open_pack

PATIENT: Final = 300_000  # milliseconds; a busy machine takes its time to load PyTorch
ALONE: Final = "Accuracy alone proves nothing"
FIRST: Final = LESSONS["forget-one-class"]


def said(place: Locator) -> list[float]:
    """The numbers of a sentence, as soon as it is there."""
    expect(place).to_be_visible(timeout=PATIENT)
    return [float(each) for each in facts.numbers(place.inner_text())]


def scores(stage: Locator, who: str) -> list[float]:
    """Forget, retain and test accuracy below a picture, in percent."""
    shown = stage.locator(f'[data-who="{who}"] .numbers b')
    expect(shown).to_have_count(4)
    return [float(text.removesuffix(" %")) for text in shown.all_inner_texts()[:3]]


def forget(stage: Locator) -> None:
    stage.get_by_role("button", name="Forget", exact=True).click()
    expect(stage.locator(".status")).to_have_text(re.compile("Retrain.*%"), timeout=PATIENT)
    expect(stage.locator(".play")).to_have_text("Play", timeout=PATIENT)


@pytest.mark.timeout(900)
def test_a_visitor_sees_what_retrain_is_for_and_that_accuracy_alone_proves_nothing(
    demo: Application, page: Page
) -> None:
    on_start(opened(page, demo.url))
    page.get_by_test_id("stMain").get_by_role("link", name="Playground").click()
    stage = page.locator(".playground")
    expect(stage.locator(".said")).to_have_text(re.compile("to forget"), timeout=PATIENT)
    in_the_playground(stage)
    page.get_by_role("link", name=f"Lesson 1: {FIRST.title}").click()
    expect(page).to_have_url(re.compile(f"lesson={FIRST.id}&step=1"))
    in_lesson_one(page)
    expect(page.get_by_test_id("stAlertContentError")).to_have_count(0)


def on_start(page: Page) -> None:
    """A method that no other surpasses in test accuracy has forgotten nothing, and one that forgot
    as Retrain did has lost of what was to stay.
    """
    best, retrain, known, gone, goal, kept, retrains = said(page.locator("p", has_text=ALONE))
    assert best > retrain and known > 90
    assert abs(gone - goal) < 1 and kept < retrains - 5
    with open_pack(ROOT / "data" / "demo") as pack:
        runs = pack.results(scenario=["class_wise"], method=["retrain"])
    found = {
        name: 100 * mean(float(run.metrics[name].value or 0) for run in runs)
        for name in ("ta", "fa", "tra")
    }
    assert [retrain, goal, retrains] == pytest.approx(
        [found["ta"], found["fa"], found["tra"]], abs=0.06
    )


def in_the_playground(stage: Locator) -> None:
    """Where a twin stays Original has Retrain's accuracies and forgot nothing; of an outlier a
    method has them and still says something else there.
    """
    forget(stage)
    beyond = stage.locator(".beyond")
    goal = scores(stage, "retrain")
    assert said(beyond) == goal == scores(stage, "original")
    expect(beyond).to_contain_text(ALONE)

    stage.get_by_role("button", name="An outlier").click()
    expect(beyond).to_be_hidden()
    forget(stage)
    goal = scores(stage, "retrain")
    *same, away = said(beyond)
    assert same == goal != scores(stage, "original") and away >= 10
    named = [each for each in ("finetune", "neggrad_plus", "ssd") if scores(stage, each) == goal]
    differences = [said(stage.locator(f'[data-who="{each}:difference"] .words')) for each in named]
    assert away == max(numbers[-1] for numbers in differences)


def in_lesson_one(page: Page) -> None:
    """By test accuracy alone the original would win, then a method that forgot nothing."""
    step(page, 2)
    page.get_by_role("button", name="Skip").click()
    original, retrain = said(page.get_by_text("Of the forgotten images the original"))[:2]
    assert original > 90 and retrain < 10
    expect(page.get_by_text(ALONE)).to_be_visible()
    step(page, 3)
    page.get_by_role("button", name="Skip").click()
    numbers = said(page.get_by_text("Chosen by test accuracy alone"))
    assert numbers[-2] > numbers[-1]  # a method that still knows the class, and Retrain
    assert numbers[:2] == [retrain, original]  # fine-tuning names as many right as the original
    for number in range(4, FIRST.length + 1):
        step(page, number)
    question = FIRST.check[2]
    page.get_by_text(question.options[question.right]).click()
    expect(page.get_by_text(question.why)).to_be_visible()


def step(page: Page, number: int) -> None:
    onwards = page.get_by_role("button", name="Next")
    expect(onwards).to_have_count(1)  # while a page is drawn anew, that of before stands beside it
    onwards.click()
    expect(page.get_by_role("heading", name=re.compile(f"^{number} · "))).to_be_visible()
