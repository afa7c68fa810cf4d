"""Does a method do more than change the classifier? Each one against itself, confined to the last
layer (Are We Truly Forgetting?, Figure 4b).

x: CKA of the features after both, 1 is the same encoder; y: AGL with all layers less AGL with the
classifier alone, 0 is no gain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, intervals, name_labels, scatter
from dashboard.charts.parts.scatter import Spot
from dashboard.frames import Row, half_width, verdict_text
from mucore.statistics.significance import t_interval


@dataclass(frozen=True)
class Mark:
    """One method: means over `pairs` of runs; `key` is the first run on all layers. Half widths are
    those of 95 % t-intervals.
    """

    key: str
    title: str
    family: str
    cka: float
    agl: float
    agl_last: float
    cka_half: float | None
    gain_half: float | None
    pairs: int
    said: str = ""  # the verdict on all layers

    @property
    def gain(self) -> float:
        return self.agl - self.agl_last


@dataclass(frozen=True)
class LastLayerInfo:
    """Marks in the order of the rows; `missing` are methods with pairs of which none has all
    numbers.
    """

    marks: tuple[Mark, ...]
    missing: tuple[str, ...]

    @property
    def note(self) -> str:
        """What is to be said about the intervals, if not all of them are drawn."""
        return intervals.note(
            len(self.marks),
            [half for mark in self.marks for half in (mark.cka_half, mark.gain_half)],
        )


def last_layer_info(
    rows: Sequence[Row],
    twins: Sequence[tuple[str, str]],
    ckas: Mapping[tuple[str, str], float],
    agl: Mapping[str, float],
) -> LastLayerInfo:
    """`twins`: (run on all layers, run on the classifier alone); `ckas` by pair, `agl` by run."""
    marks, missing = [], []
    for row in rows:
        pairs = [pair for pair in twins if pair[0] in row.keys]
        whole = [pair for pair in pairs if pair in ckas and pair[0] in agl and pair[1] in agl]
        if not whole:
            missing += [row.title] if pairs else []
            continue
        full, last = [agl[one] for one, _ in whole], [agl[other] for _, other in whole]
        cka, gain = (
            t_interval([ckas[pair] for pair in whole]),
            t_interval([a - b for a, b in zip(full, last, strict=True)]),
        )
        marks.append(
            Mark(
                key=whole[0][0],
                title=row.title,
                family=row.family,
                cka=cka.mean,
                agl=sum(full) / len(full),
                agl_last=sum(last) / len(last),
                cka_half=None if cka.std is None else half_width(cka.std, cka.n),
                gain_half=None if gain.std is None else half_width(gain.std, gain.n),
                pairs=len(whole),
                said=verdict_text(row),
            )
        )
    return LastLayerInfo(tuple(marks), tuple(missing))


def draw(info: LastLayerInfo, *, dark: bool, selected: str = "") -> go.Figure:
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    figure.add_hline(y=0, line={"width": 1, "color": look.muted})
    spots = [
        Spot(
            mark.family,
            mark.key,
            mark.cka,
            mark.gain,
            mark.cka_half,
            mark.gain_half,
            (
                mark.title,
                intervals.said(mark.cka, mark.cka_half, digits=3),
                intervals.said(mark.gain, mark.gain_half, digits=3, signed=True),
                scatter.verdict_line(mark.said),
            ),
        )
        for mark in info.marks
    ]
    hover = (
        "<b>%{customdata[1]}</b><br>CKA %{customdata[2]}<br>AGL gain "
        "%{customdata[3]}%{customdata[4]}<extra></extra>"
    )
    scatter.add(figure, spots, hover=hover, dark=dark, selected=selected)
    across = axes.padded([mark.cka for mark in info.marks] + [1.0], 0.12, 0.01)
    up = axes.padded([mark.gain for mark in info.marks] + [0.0], 0.12, 0.01)
    marks = [(mark.cka, mark.gain) for mark in info.marks]
    chosen, others = scatter.chosen(info.marks, selected)
    named = [(mark.cka, mark.gain, mark.title) for mark in (*chosen, *others)]
    name_labels.write(
        figure,
        name_labels.place(named, across, up, marks, must={mark.title for mark in chosen}),
        look,
    )
    figure.update_xaxes(
        title="CKA of the encoders after both runs, test set: 1 is the same encoder",
        range=across,
        zeroline=False,
    )
    figure.update_yaxes(
        title="AGL of all layers less AGL of the classifier alone", range=up, zeroline=False
    )
    figure.update_layout(height=520, legend=scatter.legend(), margin={"t": 12})
    return figure


def alt_text(info: LastLayerInfo) -> str:
    if not info.marks:
        return (
            "Scatter of methods against themselves on the classifier alone; no pair has been "
            "measured yet."
        )
    most = max(info.marks, key=lambda mark: mark.gain)
    return (
        f"Scatter of {len(info.marks)} methods: likeness of the encoders with and without freedom "
        f"to change them on x, what that freedom gained in AGL on y. Most: {most.title}, "
        f"{most.gain:+.3f}."
    )
