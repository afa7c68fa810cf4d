"""Measure how long the dashboard's pages take on a store of many results, without a browser.

    python scripts/bench_pages.py            a table on the screen
    python scripts/bench_pages.py --write    and into docs/benchmarks.md, under its own heading
    python scripts/bench_pages.py --only tradeoffs compare

Every page is opened twice with empty caches, the first time to import what only it needs, then one
of its filters is changed three times, always to something not seen before. CPU seconds are those of
this process, and tell more than the clock where other programs run beside it.
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard.pages import PAGES
from mucore.bench.page import machine, put_section
from mucore.testing.synthetic import synthetic_store

OPENING, CLICK = 2.0, 1.0  # seconds that the first opening of a page, and a click there, may take
COUNT = 10_000  # results in the store
SCENARIOS = ("all_classes", "worst_case", "class_wise")
# what a reader changes on a page, in its address; a page that is not here is run again
CHANGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "launch": ("methods", ("scrub", "ssd", "salun")),
    "forget_sets": ("way", ("images", "map", "list")),
    "results": ("scenario", SCENARIOS),
    "board": ("task", ("one_class", "backdoor", "all")),
    "budget": ("metric", ("ra", "va", "mia_confidence")),
    "tradeoffs": ("view", ("ranks", "tests", "agreement")),
    "compare": ("tab", ("predictions", "confusion", "images")),
    "attacks": ("tab", ("quality", "efficacy", "membership")),
    "representation": ("tab", ("scatter", "map", "layers")),
    "depoisoning": ("scenario", ("backdoor", "label_flip", "backdoor")),
    "identity": ("paper", ("1", "0", "1")),
    "method": ("method", ("scrub", "ssd", "salun")),
    "glossary": ("q", ("entropy", "Retrain", "MUBox")),
}


def measure(page: str) -> tuple[str, float, float]:
    """What is changed on a page, and CPU seconds of its first opening and of the median change.
    Exits with a sentence where the page fails.
    """
    opened(page)
    app, opening = opened(page)
    name, values = CHANGES.get(page, ("", ("",) * 3))
    times = []
    for value in values:
        if name:
            app.query_params[name] = value
        times.append(run(app, page))
    return name or "again", opening, statistics.median(times)


def opened(page: str) -> tuple[AppTest, float]:
    """The page with empty caches, behind Start, and the seconds that it took."""
    root = Path(__file__).resolve().parents[1]
    app = AppTest.from_file(str(root / "dashboard" / "app.py"), default_timeout=900).run()
    st.cache_data.clear()
    st.cache_resource.clear()
    if page != "start":
        app.switch_page(f"views/{page}.py")
    return app, run(app, page)


def run(app: AppTest, page: str) -> float:
    began = time.process_time()
    app.run()
    if app.exception or app.error:
        said = [str(one.value) for one in (*app.exception, *app.error)]
        raise SystemExit(f"The page {page} failed: {said}")
    return time.process_time() - began


def section(found: dict[str, tuple[str, float, float]]) -> str:
    """The section of docs/benchmarks.md."""
    names = machine("cpu")
    lines = [
        "## Pages of the dashboard",
        "",
        f"Written by `python scripts/bench_pages.py --write` on a store of {COUNT:,} made-up "
        "results: CPU seconds of the first opening with empty caches, and the median of three "
        f"changes. Promised: {OPENING:g} s and {CLICK:g} s.",
        "",
        "| page | opened first | changed | seconds | |",
        "| --- | --- | --- | --- | --- |",
        *(
            f"| {page} | {opening:.2f} | {change} | {click:.2f} | "
            f"{'' if opening < OPENING and click < CLICK else '**not kept**'} |"
            for page, (change, opening, click) in found.items()
        ),
        "",
        f"{names['Device']}, {names['CPU cores']} cores, Python {names['Python']}, "
        f"{names['Measured']}.",
        "",
    ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    every = [page.id for page in PAGES]
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks.md")
    parser.add_argument("--only", nargs="+", choices=every, default=every, help="pages to measure")
    given = parser.parse_args()
    if given.write and given.only != every:
        raise SystemExit("Only all pages are written down. Leave --write or --only out.")
    # without a browser it warns of a missing context
    logging.getLogger("streamlit").setLevel(logging.ERROR)
    found = {}
    with tempfile.TemporaryDirectory(prefix="mucore-bench-") as folder:
        os.environ["MUCORE_HOME"] = folder
        synthetic_store(Path(folder), COUNT).close()
        for page in given.only:
            found[page] = change, opening, click = measure(page)
            print(f"{page:16} {opening:6.2f} s   {change:10} {click:6.2f} s", flush=True)
        st.cache_resource.clear()  # closes the store before its folder goes
    if given.write:
        put_section(section(found))


if __name__ == "__main__":
    main()
