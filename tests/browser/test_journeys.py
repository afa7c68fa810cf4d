"""What people do with the pages, in a real Chromium against the real application and worker;
numbers come from real runs.
"""

from __future__ import annotations

import re
from urllib.parse import urlencode

import pytest
from applications import Application
from playwright.sync_api import Page, expect

from mucore import catalog
from mucore.store import open_store

METHODS = ["scrub"]


CHOICE = {
    "dataset": "digits",
    "model": "mlp",
    "preset": "quick",
    "scenarios": "one_class",
    "methods": METHODS,
    "training_seeds": "0",
}


@pytest.mark.timeout(900)
def test_a_comparison_is_launched_watched_and_read(application: Application, page: Page) -> None:
    page.goto(f"{application.url}/launch?{urlencode(CHOICE, doseq=True)}")
    runs = 1 + 2 + len(METHODS)  # the original, its row, a Retrain, and the methods
    page.get_by_role("button", name=f"Start {runs} runs").click()
    expect(page).to_have_url(re.compile(r"/queue\?.*comparison=1"))
    expect(page.get_by_text(re.compile(rf"\d+ of {runs} runs done")).first).to_be_visible()
    page.reload()  # nothing is lost when the tab goes
    link = page.get_by_text("Read the results of this comparison")
    expect(link).to_be_visible(timeout=600_000)
    link.click()
    expect(page.locator("tr[data-row]").first).to_be_visible()
    words = page.locator("table").last.inner_text()
    for method in ("original", "retrain", *METHODS):
        assert catalog.method(method).title in words
    page.locator("tr[data-row]", has_text="SCRUB").first.click()
    expect(page.get_by_text("python -m mucore run").first).to_be_visible()
    expect(page).to_have_url(re.compile("row=scrub"))
    with open_store(application.home) as store:
        assert len(store.summaries()) == runs
