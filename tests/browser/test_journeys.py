"""What people do with the pages, in a real Chromium against the real application and worker;
numbers come from real runs.
"""

from __future__ import annotations

import os
import re
import signal
import time
from urllib.parse import urlencode

import pytest
from applications import Application
from playwright.sync_api import expect

from mucore import catalog
from mucore.store import open_store

# One or two of most families; all 41 in two scenarios with two seeds would take a quarter of an
# hour.
METHODS = (
    "gradient_ascent neggrad_plus ssd scrub bad_teacher random_labels pseudo_labels finetune salun"
).split()


def launch_address(application: Application, **changes) -> str:
    choice = {
        "dataset": "digits",
        "model": "mlp",
        "preset": "quick",
        "scenarios": ["one_class", "class_wise"],
        "methods": METHODS,
        "training_seeds": "0,1",
        **changes,
    }
    return f"{application.url}/launch?{urlencode(choice, doseq=True)}"


@pytest.mark.smoke
@pytest.mark.timeout(900)
def test_launch_watch_and_read_a_comparison_of_ten_methods(application, page):
    page.goto(launch_address(application))
    # two originals; for each of two seeds and two scenarios an original row, a Retrain, and the
    # methods
    runs = 2 + 4 * (2 + len(METHODS))
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
    store = open_store(application.home)
    assert len(store.summaries()) == runs
    store.close()


@pytest.mark.timeout(600)
def test_cancel_retry_and_a_server_that_dies(application, page):
    page.goto(
        launch_address(
            application,
            scenarios=["one_class"],
            methods=["finetune"],
            training_seeds="0",
            **{"recipe.epochs": "2000"},
        )
    )
    page.get_by_role("button", name="Start 4 runs").click()
    cancel = page.get_by_role("button", name="Cancel", exact=True).first
    expect(cancel).to_be_visible()
    # The server is killed; the launcher brings it back, the worker has gone on, and the page finds
    # its run again.
    server = next(
        line for line in _processes() if "streamlit" in line[1] and str(application.port) in line[1]
    )
    os.kill(server[0], signal.SIGKILL)
    end = time.monotonic() + 60
    while not application.answers():
        assert time.monotonic() < end
        time.sleep(0.3)
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


def test_bad_input_is_a_sentence_and_starts_nothing(application, page):
    page.goto(launch_address(application, **{"one_class.budget": "150%"}))
    expect(page.get_by_text("must lie in (0, 1]").first).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Start")).last).to_be_disabled()
    page.goto(launch_address(application, dataset="npz", path="/no/such/file.npz"))
    expect(page.get_by_text("/no/such/file.npz").first).to_be_visible()
    expect(page.get_by_text("Traceback")).to_have_count(0)


def _processes() -> list[tuple[int, str]]:
    import psutil

    found = []
    for process in psutil.process_iter(["pid", "cmdline"]):
        found.append((process.info["pid"], " ".join(process.info["cmdline"] or [])))
    return found
