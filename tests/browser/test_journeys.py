"""What people do with the pages, in a real Chromium against the real application and worker;
numbers come from real runs.
"""

from __future__ import annotations

import re
from urllib.parse import urlencode

import psutil
import pytest
from applications import Application
from playwright.sync_api import Page, expect
from waiting import wait_for

from mucore import catalog
from mucore.store import open_store

METHODS = ["ssd", "scrub", "finetune"]


def launch_address(application: Application, **changes) -> str:
    choice = {
        "dataset": "digits",
        "model": "mlp",
        "preset": "quick",
        "scenarios": ["one_class"],
        "methods": METHODS,
        "training_seeds": "0",
        **changes,
    }
    return f"{application.url}/launch?{urlencode(choice, doseq=True)}"


@pytest.mark.timeout(900)
def test_a_comparison_is_launched_watched_and_read(working: Application, page: Page) -> None:
    page.goto(launch_address(working))
    runs = 1 + 2 + len(METHODS)  # the original, its row, a Retrain, and the methods
    page.get_by_role("button", name=f"Start {runs} runs").click()
    expect(page).to_have_url(re.compile(r"/queue\?.*comparison=1"))
    expect(page.get_by_text(re.compile(rf"\d+ of {runs} runs done")).first).to_be_visible()
    page.reload()  # nothing is lost when the tab goes
    link = page.get_by_text("Read the results of this comparison")
    expect(link).to_be_visible(timeout=600_000)
    link.click()
    expect(page.locator("tr[data-row]").first).to_be_visible()
    words = page.locator("table").first.inner_text()
    for method in ("original", "retrain", *METHODS):
        assert catalog.method(method).title in words
    page.locator("tr[data-row]", has_text="SCRUB").first.click()
    expect(page.get_by_text("python -m mucore run").first).to_be_visible()
    expect(page).to_have_url(re.compile("row=scrub"))
    with open_store(working.home) as store:
        assert len(store.summaries()) == runs
    cancelled_and_tried_again(working, page)


def cancelled_and_tried_again(working: Application, page: Page) -> None:
    """Runs that take long, under a server that dies."""
    page.goto(launch_address(working, methods=["finetune"], **{"recipe.epochs": "2000"}))
    page.get_by_role("button", name="Start 4 runs").click()
    cancel = page.get_by_role("button", name="Cancel", exact=True).first
    expect(cancel).to_be_visible()
    # The server is killed; the launcher brings it back, the worker has gone on, and the page finds
    # its run again.
    (server,) = [
        each
        for each in psutil.Process(working.process.pid).children(recursive=True)
        if "streamlit" in each.cmdline()
    ]
    server.kill()
    server.wait(60)
    wait_for(working.answers)
    page.reload()
    cancel = page.get_by_role("button", name="Cancel", exact=True).first
    # the first page of a fresh server reads the demo's runs, beside a busy worker
    expect(cancel).to_be_visible(timeout=120_000)
    cancel.click(timeout=120_000)
    # other runs wait for the original
    page.get_by_role("button", name="Cancel all of these").click()
    retry = page.get_by_role("button", name=re.compile("^Retry")).first
    expect(retry).to_be_visible()
    expect(page.get_by_text("was cancelled").first).to_be_visible()
    retry.click()
    expect(page.get_by_role("button", name="Cancel", exact=True).first).to_be_visible()
    page.get_by_role("button", name="Cancel all", exact=True).click()
    expect(page.get_by_text("0 running").first).to_be_visible()
