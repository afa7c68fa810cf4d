"""How much a measure depends on a setting: one line a measure (or a scenario), the setting on x
(Are We Truly Forgetting?, Figures 6, 8, 10, 11 and 13).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import pandas as pd
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes, intervals, noise

_WIDE = 20.0  # from this ratio of largest to smallest on, equal steps hide the small values
# One colour, marker and dash a line; families' styles, without their meaning.
_STYLES = (
    "influence",
    "gradient_ascent",
    "teacher",
    "relabelling",
    "sparsity",
    "competition",
    "features",
    "exact",
)


@dataclass(frozen=True)
class Line:
    """`x`, `mean`, `half` (of the 95 % t-interval; None for one seed), `seeds` and the key of a run
    at each point. `noise`, of a line of Retrains, is half of the band of Retrain against Retrain at
    each point.
    """

    title: str
    x: tuple[float, ...]
    mean: tuple[float, ...]
    half: tuple[float | None, ...]
    seeds: tuple[int, ...]
    keys: tuple[str, ...]
    reference: bool = False
    noise: tuple[float | None, ...] = ()

    @property
    def band(self) -> list[tuple[float, float, float]]:
        """Place, low and high end of the band wherever two Retrains or more say it."""
        return [
            (x, mean - half, mean + half)
            for x, mean, half in zip(self.x, self.mean, self.noise, strict=False)
            if half is not None
        ]


@dataclass(frozen=True)
class SensitivityInfo:
    """Lines over one setting; `scale` is "steps" where zero stands beside values of many sizes.
    `of`: by the title of a reference, the line whose measure it is of.
    """

    setting: str
    lines: tuple[Line, ...]
    scale: Literal["linear", "log", "steps"]
    ticks: tuple[tuple[float, str], ...]
    of: Mapping[str, str] = field(default_factory=dict)

    @property
    def grey(self) -> bool:
        return any(line.band for line in self.lines)


def sensitivity_info(
    setting: str,
    lines: Mapping[str, pd.DataFrame],
    *,
    names: Mapping[float, str],
    references: Mapping[str, str] | None = None,
) -> SensitivityInfo:
    """`lines`: by title the columns of `frames.representation.along`, those of Retrains with one
    more, `apart`; `references`, by the titles of the dashed ones, the lines of whose measure they
    are; `names` of the values.
    """
    references = references or {}
    made = tuple(
        Line(
            title=title,
            x=tuple(frame["x"]),
            mean=tuple(frame["mean"]),
            half=_known(frame["half"]),
            seeds=tuple(int(count) for count in frame["seeds"]),
            keys=tuple(frame["key"]),
            reference=title in references,
            noise=_known(frame["apart"]) if "apart" in frame else (),
        )
        for title, frame in lines.items()
        if not frame.empty
    )
    values = sorted({x for line in made for x in line.x})
    above = [value for value in values if value > 0]
    wide = bool(above) and above[-1] / above[0] >= _WIDE
    scale: Literal["linear", "log", "steps"] = (
        "linear" if not wide else "log" if len(above) == len(values) else "steps"
    )
    return SensitivityInfo(
        setting,
        made,
        scale,
        tuple((value, names.get(value, f"{value:g}")) for value in values),
        references,
    )


def _known(values: pd.Series) -> tuple[float | None, ...]:
    return tuple(None if value is None or math.isnan(value) else float(value) for value in values)


def draw(
    info: SensitivityInfo, *, dark: bool, measure: str = "CKA, agreement or accuracy"
) -> go.Figure:
    """`measure` is the title of the y axis: what all lines are."""
    look = theme.ground(dark)
    figure = axes.figure(dark=dark)
    steps = {value: number for number, (value, _) in enumerate(info.ticks)}
    own = [line for line in info.lines if not line.reference]
    styles = {
        line.title: theme.family_style(_STYLES[number % len(_STYLES)])
        for number, line in enumerate(own)
    }
    for line in info.lines:  # grey below all lines
        if line.band:
            places = [steps[x] if info.scale == "steps" else x for x, _, _ in line.band]
            spans = [(place, *span[1:]) for place, span in zip(places, line.band, strict=True)]
            figure.add_trace(noise.ribbon(look, spans, named=not figure.data))
    for line in info.lines:
        title = info.of.get(line.title, line.title)
        style = styles.get(title, theme.STYLES["reference"])
        color = style.color(dark)
        figure.add_trace(
            go.Scatter(
                x=[steps[x] for x in line.x] if info.scale == "steps" else line.x,
                y=line.mean,
                name=line.title,
                mode="lines+markers",
                line={"color": color, "width": 2, "dash": "dash" if line.reference else "solid"},
                marker={"symbol": style.symbol, "size": 9, "color": color},
                error_y=intervals.bars(line.half, color),
                customdata=[
                    [key, dict(info.ticks)[x], seeds]
                    for key, x, seeds in zip(line.keys, line.x, line.seeds, strict=True)
                ],
                hovertemplate=f"<b>{line.title}</b><br>{info.setting} %{{customdata[1]}}<br>"
                "%{y:.3f}, training seeds: %{customdata[2]}<extra></extra>",
            )
        )
    note = {"linear": "", "log": " (log scale)", "steps": " (steps, not to scale)"}[info.scale]
    places = (
        list(range(len(info.ticks)))
        if info.scale == "steps"
        else [value for value, _ in info.ticks]
    )
    figure.update_xaxes(
        title=info.setting[:1].upper() + info.setting[1:] + note,
        type="log" if info.scale == "log" else "linear",
        tickvals=places,
        ticktext=[name for _, name in info.ticks],
        zeroline=False,
    )
    low = min((mean for line in info.lines for mean in line.mean), default=0.0)
    floor = min(low - 0.05, 0.9) if low > 0.3 else -0.02
    figure.update_yaxes(title=measure, range=[floor, 1.03], zeroline=False)
    legend = axes.below(-0.2) | {"font": {"color": look.text}}
    figure.update_layout(height=430, legend=legend, showlegend=True, margin={"t": 12})
    return figure


def alt_text(info: SensitivityInfo) -> str:
    if not info.lines:
        return f"Lines over {info.setting}; nothing has been measured yet."
    halves = {
        line.title: max(half for half in line.noise if half is not None)
        for line in info.lines
        if line.band
    }
    parts = [
        f"{line.title} from {line.mean[0]:.3f} to {line.mean[-1]:.3f}"
        if len(line.x) > 1
        else f"{line.title} {line.mean[0]:.3f}"
        for line in info.lines
    ]
    grey = noise.said(*(f"up to {half:.3f} of {title}" for title, half in halves.items()))
    return f"Lines over {info.setting} with {len(info.ticks)} values: {'; '.join(parts)}.{grey}"
