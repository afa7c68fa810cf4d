"""What a talk needs that takes time: the runs of lessons, and the analyses that pages would offer
to compute. `python -m dashboard.needs lesson|page NAME` prints it as JSON for `mucore prepare`.

A page is asked by drawing it as a reader would open it, without a browser, view by view: what it
wants depends on the runs that there are, and nobody knows that better than the page.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from streamlit import config, logger
from streamlit.runtime.scriptrunner_utils import script_run_context
from streamlit.testing.v1 import AppTest

from dashboard import state
from dashboard.lessons import LESSONS
from dashboard.pages import BY_ID, MOVED, PAGES, TAB
from dashboard.widgets import course
from mucore.errors import MucoreError, UnknownName

APP: Final = str(Path(__file__).with_name("app.py"))
SECONDS: Final = 300  # in which a page is drawn
EVERY: Final = "all"


def needs(what: str, name: str) -> dict[str, list[dict[str, Any]]]:
    """`lessons`: id, title, question and the grid of its comparison. `analyses`: page, kind,
    parameters and the pack of results that they are of, None for the reader's own. `experiments`:
    page, and whose forgetting quality is not computed. `problems`: page and sentence where a page
    could not be drawn. Raises `UnknownName`.
    """
    lessons, pages = named(what, name)
    analyses: dict[str, dict[str, Any]] = {}
    experiments, problems = [], []
    for page in pages:
        try:
            for told in asked(page):
                for wanted in told.wanted:
                    found = {"page": page, **wanted, "pack": wanted["pack"] and str(wanted["pack"])}
                    analyses.setdefault(json.dumps([found["kind"], found["parameters"]]), found)
                experiments += [{"page": page, **wanted} for wanted in told.experiments]
        except MucoreError as problem:
            problems.append({"page": page, "error": str(problem)})
    stories = [
        {
            "id": each,
            "title": LESSONS[each].title,
            "question": LESSONS[each].question,
            "grid": LESSONS[each].grid,
        }
        for each in lessons
    ]
    return {
        "lessons": stories,
        "analyses": list(analyses.values()),
        "experiments": experiments,
        "problems": problems,
    }


def named(what: str, name: str) -> tuple[list[str], list[str]]:
    """The lessons and pages that are meant; all pages but those that start things."""
    runs = [lesson.id for lesson in LESSONS.values() if lesson.grid]  # others are played
    known = runs if what == "lesson" else [*BY_ID, *MOVED]
    if name not in (EVERY, *known):
        raise UnknownName(what, name, [*known, EVERY])
    if what == "lesson":
        return (known if name == EVERY else [name]), []
    return [], [page.id for page in PAGES if not page.works] if name == EVERY else [name]


def asked(page: str) -> Iterator[course.Course]:
    """What the views of a page say that they want. Raises `MucoreError` where it cannot be
    drawn.
    """
    first = drawn(page)
    yield first
    if page in MOVED:  # the tab that is meant, and no other
        return
    for view in first.steps:
        if view != first.now and page != "lessons":
            yield drawn(page, **{"view": view, TAB: view})  # whichever the page knows


def drawn(page: str, **query: str) -> course.Course:
    print(f"Looking at {page}" + "".join(f", {each}" for each in query.values()), file=sys.stderr)
    if page in MOVED:
        page, query[TAB] = MOVED[page]
    at = AppTest.from_file(APP, default_timeout=SECONDS)
    at.query_params.update(query)
    try:
        at.switch_page(BY_ID[page].file).run()
    except RuntimeError as late:  # AppTest's word for a page that takes longer
        raise MucoreError(f"The page {page} was not drawn in {SECONDS} s.") from late
    if said := [str(one.value) for one in at.error]:
        raise MucoreError(said[0])
    return state.ticket_of(at, course.TICKET) or course.Course()


def main(arguments: Sequence[str]) -> int:
    # there is no server, and Streamlit would say so: of pages, too, before which it takes the level
    # from its settings again
    logger.set_log_level("ERROR")
    logging.getLogger(script_run_context.__name__).disabled = True
    # whom a server in this folder would let in is no matter here
    config.get_option("server.address")  # first, or the files would be read over it
    config.set_option("server.address", "127.0.0.1")
    try:
        found = needs(*arguments)
    except MucoreError as error:
        print(json.dumps({"error": str(error)}))
        return 2
    print(json.dumps(found))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
