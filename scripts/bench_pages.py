"""Measure how long the dashboard's pages compute on a store of many results, without a browser.

    python scripts/bench_pages.py            a table on the screen
    python scripts/bench_pages.py --write    and into docs/benchmarks.md, under its own heading
    python scripts/bench_pages.py --only tradeoffs compare
    python scripts/bench_pages.py --only tradeoffs --before ../older --openings 5 --write

Every page is opened twice with empty caches, the first time to import what only it needs, then one
of its filters is changed three times, always to something not seen before. CPU seconds are those of
this process, and tell more than the clock where other programs run beside it.

With `--before`, another checkout and this one, a process each, open the pages in turn on the same
store, and nothing else is measured.
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

sys.path.insert(0, os.environ.get("BENCH_PAGES_CODE", str(Path(__file__).resolve().parents[1])))

import streamlit as st
from streamlit.testing.v1 import AppTest

from mucore.bench.clock import Spread
from mucore.bench.page import PAGE, machine, put_section
from mucore.testing.synthetic import synthetic_store

ROOT = Path(__file__).resolve().parents[1]
CODE = Path(os.environ.get("BENCH_PAGES_CODE", ROOT))  # the checkout whose pages are opened
LIMIT = 1.0  # seconds that an interaction may take
SCENARIOS = ("all_classes", "worst_case", "class_wise")
HEAD = "## Pages of the dashboard"
OPENED = "### First openings, before and after"
OPENER = "--open-pages"  # what a process that opens pages for another one is started with


@dataclass(frozen=True)
class Visit:
    """A page at an address, and the parameter of the address that a reader changes there; without
    values the page is just run again.
    """

    page: str
    view: str = ""
    query: Mapping[str, str] = field(default_factory=dict)
    change: str = "scenario"
    values: Sequence[str] = ()

    @property
    def name(self) -> str:
        return f"{self.page}, {self.view}" if self.view else self.page


@dataclass(frozen=True)
class Measured:
    """Seconds of one visit: the clock's and the CPU's, first opening and median interaction; of
    the CPU's, what an opening took more that had to import first.
    """

    name: str
    action: str
    cold: float
    cold_cpu: float
    wall: float
    cpu: float
    imports: float


def _views(
    page: str, *views: str, change: str = "scenario", values: Sequence[str] = SCENARIOS
) -> list[Visit]:
    return [Visit(page, view, {"view": view}, change, values) for view in views]


VISITS: Sequence[Visit] = (
    Visit("start"),
    Visit("launch", change="methods", values=("scrub", "ssd", "salun")),
    Visit("forget_sets", change="way", values=("images", "map", "list")),
    Visit("queue"),
    Visit("results", values=SCENARIOS),
    Visit("board", change="task", values=("one_class", "backdoor", "all")),
    Visit("budget", change="metric", values=("ra", "va", "mia_confidence")),
    *_views("tradeoffs", "front"),
    *_views("tradeoffs", "ranks", "tests", change="metric", values=("ta", "ra", "rte")),
    *_views("tradeoffs", "agreement", change="metrics", values=("ta", "ra", "fa")),
    *_views("compare", "classes", "predictions", "confusion", "images"),
    Visit("membership", values=SCENARIOS),
    Visit("membership", "attack", {}, "attack", ("entropy", "m_entropy", "prob")),
    *_views(
        "representation",
        "similarity",
        "agreement",
        "map",
        "layers",
        "neighbours",
        "sensitivity",
        "last",
    ),
    Visit("replay", values=SCENARIOS),
    Visit("efficacy", values=SCENARIOS),
    Visit("quality"),
    Visit("depoisoning", values=("backdoor", "label_flip", "backdoor")),
    Visit("identity", change="paper", values=("1", "0", "1")),
    Visit("lessons"),
    Visit("method", change="method", values=("scrub", "ssd", "salun")),
    Visit("glossary", change="q", values=("entropy", "Retrain", "MUBox")),
    Visit("papers"),
    Visit("reports", values=("worst_case", "best_case", "class_wise")),
)


def measure(visit: Visit) -> Measured:
    """Open a page with empty caches, twice, then change it three times. Exits with a sentence where
    the page fails.
    """
    _, (_, importing) = _opened(visit)
    app, cold = _opened(visit)
    times = []
    for value in visit.values or ("",) * 3:
        if visit.values:
            app.query_params[visit.change] = value
        times.append(_run(app, visit))
    wall, cpu = (statistics.median(each) for each in zip(*times, strict=True))
    return Measured(
        visit.name,
        f"another {visit.change}" if visit.values else "again",
        *cold,
        wall,
        cpu,
        max(importing - cold[1], 0.0),
    )


def _opened(visit: Visit) -> tuple[AppTest, tuple[float, float]]:
    """The page with empty caches, behind Start, and the seconds that it took."""
    app = AppTest.from_file(str(CODE / "dashboard" / "app.py"), default_timeout=900).run()
    st.cache_data.clear()
    st.cache_resource.clear()
    for name, value in visit.query.items():
        app.query_params[name] = value
    if visit.page != "start":
        app.switch_page(f"views/{visit.page}.py")
    return app, _run(app, visit)


def _run(app: AppTest, visit: Visit) -> tuple[float, float]:
    wall, cpu = time.perf_counter(), time.process_time()
    app.run()
    took = time.perf_counter() - wall, time.process_time() - cpu
    if app.exception or app.error:
        raise SystemExit(
            f"The page {visit.name} failed: "
            f"{[str(one.value) for one in (*app.exception, *app.error)]}"
        )
    return took


def compare(before: Path, visits: Sequence[Visit], home: str, openings: int) -> list[list[Spread]]:
    """CPU seconds of first openings of each visit by the code of the folder `before` and by this
    one, in turn, and the ratio of neighbours. The first turn, which imports, is not counted.
    """
    sides = [_opener(code, home) for code in (before, ROOT)]
    found = []
    try:
        for visit in visits:
            old, new = [], []
            for turn in range(openings + 1):  # who goes first takes turns, too
                asked = zip(sides, (old, new), strict=True)
                for side, seconds in list(asked)[:: -1 if turn % 2 else 1]:
                    seconds.append(_ask(side, visit))
            del old[0], new[0]
            ratios = [one / other for one, other in zip(old, new, strict=True)]
            found.append([Spread.of(each) for each in (old, new, ratios)])
            print(f"{visit.name:32} {' | '.join(each.text() for each in found[-1])}", flush=True)
    finally:
        for side in sides:
            side.communicate()  # the end of its input is its end
    return found


def _opener(code: Path, home: str) -> subprocess.Popen[str]:
    environment = os.environ | {"BENCH_PAGES_CODE": str(code.resolve()), "MUCORE_HOME": home}
    environment["PYTHONPATH"] = environment["BENCH_PAGES_CODE"]
    return subprocess.Popen(
        [sys.executable, __file__, OPENER],
        cwd=code,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def _ask(side: subprocess.Popen[str], visit: Visit) -> float:
    asked: IO[str] | None = side.stdin
    answers: IO[str] | None = side.stdout
    assert asked is not None and answers is not None
    asked.write(f"{VISITS.index(visit)}\n")
    asked.flush()
    while answer := answers.readline():
        if answer.startswith(OPENER):  # pages may print
            return float(answer.removeprefix(OPENER))
    raise SystemExit(f"The page {visit.name} failed; its process says above why.")


def open_pages() -> None:
    """Answer each number of a visit with the CPU seconds of its first opening, until there are no
    more.
    """
    for number in sys.stdin:
        _, (_, seconds) = _opened(VISITS[int(number)])
        print(f"{OPENER} {seconds}", flush=True)


def compared_section(
    found: Sequence[Sequence[Spread]], visits: Sequence[Visit], openings: int, before: str
) -> str:
    names = machine("cpu")
    rows = [
        f"| {visit.name} | {' | '.join(each.text() for each in spreads)} |"
        for visit, spreads in zip(visits, found, strict=True)
    ]
    text = [
        OPENED,
        "",
        (
            "Written by `python scripts/bench_pages.py --before FOLDER --write`: processor seconds "
            "of openings with empty caches on 10,000"
        ),
        (
            f"made-up results, {openings} by the code of commit {before} and as many by the one "
            "after it, in turn, on one thread: median"
        ),
        (
            "(least to greatest). What had to be imported first is not among them; the gain is the "
            "ratio of neighbours in time."
        ),
        f"Load at the end: {os.getloadavg()[0]:.0f} runnable processes on {os.cpu_count()} cores.",
        "",
        "| page | seconds before | seconds after | gain |",
        "| --- | ---: | ---: | ---: |",
        *rows,
        "",
        f"{names['Device']}, Python {names['Python']}, {names['Measured']}.",
        "",
    ]
    return "\n".join(text)


def section(found: Sequence[Measured], count: int) -> str:
    """The section of docs/benchmarks.md."""
    kept = all(each.cpu < LIMIT for each in found)
    names = machine("cpu")
    text = [
        HEAD,
        "",
        (
            f"Written by `python scripts/bench_pages.py --write` on a store of {count:,} made-up "
            "results: every page is opened with empty"
        ),
        (
            "caches, then changed three times, always to something not seen before; the table has "
            "the median. Imports are what the"
        ),
        (
            "first opening in a process takes beside, where other pages have imported nothing of "
            "it yet. Seconds are of CPU, in"
        ),
        (
            "brackets of the clock, and drawing in the browser is not among them. Promised: an "
            f"interaction takes under a second ({'kept' if kept else '**not kept**'})."
        ),
        "",
        "| page | opened first | imports | interaction | seconds | |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for each in found:
        mark = "" if each.cpu < LIMIT else "**not kept**"
        text.append(
            f"| {each.name} | {each.cold_cpu:.2f} ({each.cold:.2f}) | {each.imports:.2f} | "
            f"{each.action} | {each.cpu:.2f} ({each.wall:.2f}) | {mark} |"
        )
    text += [
        "",
        (
            f"{names['Device']}, {names['CPU cores']} cores, Python {names['Python']}, "
            f"{names['Measured']}."
        ),
        "",
    ]
    return "\n".join(text)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--write", action="store_true", help="into docs/benchmarks.md")
    parser.add_argument(
        "--count", type=int, default=10_000, help="results in the store (default: 10000)"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        choices=sorted({visit.page for visit in VISITS}),
        help="pages to measure (default: all)",
    )
    parser.add_argument("--before", type=Path, help="another checkout, to compare openings with")
    parser.add_argument(
        "--openings", type=int, default=5, help="with --before: of each page (default: 5)"
    )
    parser.add_argument(OPENER, action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.open_pages:
        logging.getLogger("streamlit").setLevel(logging.ERROR)
        open_pages()
        return
    if given.write and (given.only and not given.before or given.count != 10_000):
        raise SystemExit(
            "Only all pages on 10000 results are written down. Leave --write out, or --only and "
            "--count."
        )
    # without a browser it warns of a missing context
    logging.getLogger("streamlit").setLevel(logging.ERROR)
    visits = [visit for visit in VISITS if not given.only or visit.page in given.only]
    found = []
    with tempfile.TemporaryDirectory(prefix="mucore-bench-") as folder:
        os.environ["MUCORE_HOME"] = folder
        print(f"Making {given.count:,} results ...", file=sys.stderr, flush=True)
        synthetic_store(Path(folder), given.count).close()
        if given.before:
            spreads = compare(given.before, visits, folder, given.openings)
            if given.write:
                commit = subprocess.run(
                    ["git", "rev-parse", "--short", "HEAD"],
                    cwd=given.before,
                    check=True,
                    capture_output=True,
                    text=True,
                ).stdout.strip()
                put_section(compared_section(spreads, visits, given.openings, commit))
            return
        for visit in visits:
            found.append(measure(visit))
            one = found[-1]
            print(
                f"{one.name:32} cold {one.cold_cpu:6.2f} ({one.cold:6.2f})   {one.action:24} "
                f"{one.cpu:6.2f} ({one.wall:6.2f})",
                flush=True,
            )
        st.cache_resource.clear()  # closes the store before its folder goes
    if given.write:
        put_section(section(found, given.count))
        print(f"Written to docs/{PAGE.name}.")


if __name__ == "__main__":
    main()
