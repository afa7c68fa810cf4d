"""A board as a folder of HTML that needs no server, no script and nothing from elsewhere:
index.html, and a page a line with its evidence.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import mucore
from mucore import catalog
from mucore.errors import BadFile, BadValue, UnknownName
from mucore.statistics.significance import LEVEL, Interval, t_interval
from mucore.suite.board import Board, board, suite_of, title_of
from mucore.suite.description import Task
from mucore.suite.pack import opened
from mucore.suite.tables import FEWEST_SEEDS, GROUPS, WORK, Division, Line, Table
from mucore.suite.verify import verify
from mucore.verdicts.text import doubt

FOLDER = Path(__file__).parent
MINUS = "\N{MINUS SIGN}"
NONE = "\N{EN DASH}"
ROUNDING = 1e-9  # of a mean: half an interval of less is the sum's rounding
NO_RANKING = (
    "Ranks need two tasks that say who forgot, and three methods with a distance in all of them."
)


def publish(
    paths: Sequence[Path], out: Path, on_done: Callable[[int, int], None] | None = None
) -> Path:
    """Open and verify packs, and write their board to the folder `out`; returns its index.html.
    Raises `BadFile` for the first pack that does not hold what its predictions say, and as
    `opened`, `board` and `write_site` do.
    """
    with ExitStack() as stack:
        names = [path.name for path in paths]
        packs = [
            (path.name if names.count(path.name) == 1 else str(path), stack.enter_context(one))
            for path in paths
            for one in (opened(path),)
        ]
        suite_of(packs)
        for name, pack in packs:
            if problems := verify(pack, on_done).problems:
                first = problems[0]
                raise BadFile(
                    f"{name} does not hold what its predictions say, in {len(problems)} "
                    f"{'place' if len(problems) == 1 else 'places'} ({first.line}: "
                    f"{first.sentence}) `mucore suite verify` names each."
                )
        return write_site(board(packs), out)


def write_site(made: Board, out: Path) -> Path:
    """Write the site to the folder `out` and return its index.html. Files of an earlier board are
    replaced. Raises `BadValue` where `out` is something else or cannot be written.
    """
    pages = {"index.html": _page("board.html.j2", made)}
    for division in made.divisions:
        for table in division.tables:
            for line in table.lines:
                pages[name_of(line)] = _page("line.html.j2", made, table=table, line=line)
    try:
        if out.exists() and not out.is_dir():
            raise BadValue(f"{out} is a file already. Name a folder with --out.")
        if out.is_dir() and any(out.iterdir()) and not (out / "index.html").exists():
            raise BadValue(f"{out} holds something else. Name another folder with --out.")
        (out / "lines").mkdir(parents=True, exist_ok=True)
        for file in (out / "lines").glob("*.html"):
            file.unlink()
        for name, text in pages.items():
            (out / name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadValue(
            f"The board could not be written to {out}: {error.strerror or error}. Name another "
            "folder with --out."
        ) from error
    return out / "index.html"


def name_of(line: Line) -> str:
    """The file of a line's page."""
    words = (line.division, line.task.id, line.method, line.pack)
    return "lines/" + "-".join(re.sub(r"[^\w.]+", "-", word) for word in words) + ".html"


def _page(template: str, made: Board, **content: Any) -> str:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    known: dict[str, Any] = {
        "board": made,
        "style": (FOLDER / "board.css").read_text(encoding="utf-8"),
        "version": mucore.__version__,
        "groups": GROUPS,
        "work_id": WORK,
        "title": title_of,
        "href": name_of,
        "said": value,
        "interval": interval,
        "number": number,
        "half_score": half_score,
        "no_ranking": NO_RANKING,
        "quoted": shlex.quote,
        "seeds_said": seeds_said,
        "overall": overall,
        "differing": differing,
        "unranked": unranked,
        "headline": headline,
        "short": short,
        "scenario": scenario,
        "metric_title": metric_title,
    }
    return environment.get_template(template).render({**known, **content})


# -- values as people read them


def short(metric: str) -> str:
    return catalog.metric(metric).short


def scenario(task: Task) -> str:
    """A task as people call it, by its scenario: no suite has one twice."""
    return catalog.scenario(task.scenario).title


def metric_title(metric: str) -> str:
    try:
        return catalog.metric(metric).title
    except UnknownName:
        return metric


def value(metric: str, number_: float | None, *, sign: bool = False) -> str:
    """A metric's value; a fraction in percent with one digit."""
    if number_ is None:
        return NONE
    try:
        percent = catalog.metric(metric).unit == "fraction"
    except UnknownName:
        percent = False
    text = (
        f"{100 * number_:{'+' if sign else ''}.1f}"
        if percent
        else f"{number_:{'+' if sign else ''}.3g}"
    )
    return text.replace("-", MINUS)


def number(found: float | None) -> str:
    """A score or a share of work, two digits that say something."""
    return NONE if found is None else f"{found:.2f}" if found < 10 else f"{found:.0f}"


def interval(metric: str, values: Mapping[int, float]) -> str:
    """Mean and half the width of its 95 % interval over seeds, three and more of them: that of two
    is some nine times their distance.
    """
    if not values:
        return NONE
    found = t_interval([*values.values()])
    return f"{value(metric, found.mean)}{_half(metric, found)}"


def _half(metric: str, found: Interval) -> str:
    if found.high is None or found.n < FEWEST_SEEDS:
        return ""
    half = found.high - found.mean
    return f" ± {value(metric, 0.0 if half < ROUNDING * abs(found.mean) else half)}"


def half_score(found: Interval | None) -> str:
    """What follows a mean distance: half the width of its interval, as `interval` has it."""
    if found is None or found.high is None or found.n < FEWEST_SEEDS:
        return ""
    return f" ± {number(found.high - found.mean)}"


def seeds_said(line: Line) -> str:
    """On how many seeds the line's word rests, and whether they show it: "5 seeds, shown"."""
    found = line.verdict
    if found is None:
        return ""
    shown = "shown" if found.shown else "indication"
    return f"{found.seeds} seed{'' if found.seeds == 1 else 's'}, {shown}"


def overall(division: Division) -> list[dict[str, Any]]:
    """A row a method, over the tasks that say who forgot: in how many it is `shown` to have, and in
    how many by indication, of how many that it ran in, its average rank, its mean distance, where
    each of them has one, and its mean work; those shown in most first, then by indications, rank,
    distance and work. A baseline that cheats stands last, and `forgot` of it is None.
    """
    ranks = division.ranking.ranks if division.ranking is not None else {}
    rows = []
    forgot_in: dict[str, int | None] = {**division.forgot(), **dict.fromkeys(division.baselines)}
    for method, forgot in forgot_in.items():
        lines = {
            table.task.scenario: next((x for x in table.lines if x.method == method), None)
            for table in division.tables
        }
        told = [lines[table.task.scenario] for table in division.telling]
        there = [line for line in told if line is not None]
        costs = [line.work for line in there if line.work is not None]
        scores = [line.score.mean for line in there if line.score is not None]
        rows.append(
            {
                "method": method,
                "forgot": forgot,
                "indicated": division.unsure(method),
                "shown": None if forgot is None else forgot - division.unsure(method),
                "of": sum(
                    any(x.method == method and x.verdict for x in table.lines)
                    for table in division.telling
                ),
                "rank": ranks.get(method),
                "score": sum(scores) / len(scores) if scores and len(scores) == len(told) else None,
                "work": sum(costs) / len(costs) if costs else None,
                "lines": lines,
            }
        )
    return sorted(
        rows,
        key=lambda row: (
            math.inf if row["shown"] is None else -row["shown"],
            -row["indicated"],
            *(math.inf if row[name] is None else row[name] for name in ("rank", "score", "work")),
            row["method"],
        ),
    )


def differing(division: Division) -> int:
    """How many pairs of its methods a test of the pair tells apart."""
    return sum(pair.p_holm <= 1 - LEVEL for pair in division.pairs)


def unranked(division: Division, method: str) -> str:
    """Why a method has no average rank, as the end of a line; "" where it has one."""
    if division.ranking is not None and method in division.ranking.ranks:
        return ""
    if method in division.baselines:
        return "It cheats."
    if lacking := division.unscored(method):
        return f"No distance under {', '.join(scenario(task) for task, _ in lacking)}."
    if sparse := division.sparse(method):
        return f"Too few seeds under {', '.join(map(scenario, sparse))}."
    if doubled := division.doubled(method):
        return f"Several packs have a distance of it under {', '.join(map(scenario, doubled))}."
    return NO_RANKING


def _methods(count: int) -> str:
    return "the one method" if count == 1 else f"the {count} methods"


def headline(table: Table) -> str:
    """What a table says in one sentence."""
    forgot = [line for line in table.lines if line.group == "forgot"]
    there = [line for line in table.lines if line.group not in ("baseline", "missing")]
    count = len({line.method for line in there})  # of which several packs may have one
    damaged = {line.method for line in there if line.verdict and line.verdict.word == "damaged"}
    harm = f" {len(damaged)} of {count} methods damaged the model." if damaged else ""
    if table.words == {"nothing to forget"}:
        return f"Nothing to forget: the original and Retrain agree within their noise.{harm}"
    if not table.telling:
        return f"Who forgot cannot be told: numbers are missing.{harm}"
    if not forgot:
        untold = any(line.verdict and line.verdict.word == "cannot tell" for line in there)
        what = "is known to have forgotten" if untold else "forgot"
        return f"None of {_methods(count)} {what} as Retrain does.{harm}"
    names = {line.method for line in forgot}
    by_outputs = len({x.method for x in forgot if x.verdict and x.verdict.on_outputs})
    said = (
        f"{len(names)} of {count} methods forgot"
        f"{doubt(len(table.unsure), len(names), known=by_outputs)}. "
    )
    if table.best is not None:
        if len(names) == 1:
            return f"{said}It is {title_of(table.best)}."
        shown = names - table.unsure
        if len(shown) == 1:
            return f"{said}Shown: {title_of(table.best)}."
        rivals = "is shown to have forgotten" if shown else "forgot"
        return (
            f"{said}Best: {title_of(table.best)}, ahead of every other that {rivals} "
            "(paired over seeds, Holm's correction)."
        )
    if not table.alike:
        return said.strip()
    first, *others = table.alike
    seeds = "one seed does" if len(table.retrain.runs) == 1 else "these seeds do"
    near = ", ".join(title_of(name) for name in others[:3])
    more = f" and {len(others) - 3} more" if len(others) > 3 else ""
    return (
        f"{said}{title_of(first)} comes first, but {seeds} not separate {near}{more} from it, so "
        "none is called best."
    )
