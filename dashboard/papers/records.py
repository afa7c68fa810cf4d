"""What the index of the papers is made of: papers, their tables and figures, and links to the pages
that show the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Link:
    """A page of dashboard/pages.py with its URL parameters; of `datasets`, the paper's own first,
    it opens on the first that has runs.
    """

    label: str
    page: str
    query: Mapping[str, str] = field(default_factory=dict)
    datasets: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One table or figure, or some that belong together. `missing` says what has no counterpart;
    without `links`, why there is none.
    """

    name: str  # as printed: "Table 2", "Tables 8–12"
    shows: str
    links: tuple[Link, ...] = ()
    missing: str = ""
    commands: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()  # whose runs fill the counterpart, any one of them
    # a method's setting in which these runs must differ: "lr", "gradient_noise", "scope"
    varies: str = ""
    # its page shows experiments with many models of each method, whatever their scenario
    many_models: bool = False


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper; `presets` hold its setting, `small` is a command for a laptop that shows the same on
    data that come with the program.
    """

    id: str
    title: str
    citation: str
    about: str
    exhibits: tuple[Exhibit, ...]
    findings: Mapping[str, str]
    presets: tuple[str, ...]
    small: str
    caveat: str = ""


def run(preset: str, scenario: str, *, methods: str = "all", more: str = "") -> str:
    return f"python -m mucore run --preset {preset} --scenario {scenario} --methods {methods}" + (
        f" {more}" if more else ""
    )


def results(label: str, scenario: str, table: str, **more: str) -> Link:
    """Results of a scenario with a table of dashboard/papers/tables.py beside them."""
    return Link(label, "results", {"scenario": scenario, "paper": "1", "table": table} | more)
