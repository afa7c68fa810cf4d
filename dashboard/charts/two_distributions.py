"""One forgotten sample as unlearned and as retrained models see it, with the rule that tells them
apart best (competition, Figure 1).

x: logit-scaled confidence of the true class, ln p − ln(1 − p); y: density. Curves are smoothed,
each tick below them is one model. A rule calls a model positive inside its thresholds: what it
misses (FNR) and what it calls falsely (FPR) are shaded.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dashboard import theme
from dashboard.charts.parts import axes
from mucore.metrics.forgetting_quality import Rule, best_rule

POINTS = 401
NAMES = {"unlearned": "Unlearned models", "retrained": "Retrained models"}


@dataclass(frozen=True, eq=False)
class TwoDistributionsInfo:
    """`x` (401,) and the densities over it; `unlearned`, `retrained` are the models' own. `rule` is
    None where no rule tells.
    """

    sample: int
    family: str
    x: np.ndarray
    unlearned_density: np.ndarray
    retrained_density: np.ndarray
    unlearned: tuple[float, ...]
    retrained: tuple[float, ...]
    rule: Rule | None


def two_distributions_info(
    sample: int,
    family: str,
    unlearned: Sequence[float] | np.ndarray,
    retrained: Sequence[float] | np.ndarray,
) -> TwoDistributionsInfo:
    """Densities and best rule from the confidences of N models of each kind."""
    u, r = np.asarray(unlearned, np.float64), np.asarray(retrained, np.float64)
    both = np.concatenate([u, r])
    room = 0.15 * float(np.ptp(both)) + 0.5
    x = np.linspace(both.min() - room, both.max() + room, POINTS)
    return TwoDistributionsInfo(
        sample,
        family,
        x,
        density(u, x),
        density(r, x),
        tuple(u.tolist()),
        tuple(r.tolist()),
        best_rule(unlearned=u, retrained=r),
    )


def density(values: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Sum of normal curves, one a value, of Silverman's width; never narrower than a hundredth of
    the range shown.
    """
    spread = min(
        float(values.std(ddof=1)),
        float(np.subtract(*np.percentile(values, [75, 25]))) / 1.34 or np.inf,
    )
    width = max(0.9 * spread * len(values) ** -0.2, float(np.ptp(x)) / 100)
    bells = np.exp(-0.5 * ((x[:, None] - values) / width) ** 2)
    return bells.mean(axis=1) / (width * np.sqrt(2 * np.pi))


def draw(info: TwoDistributionsInfo, *, dark: bool) -> go.Figure:
    look = theme.ground(dark)
    colors = {"unlearned": theme.family_style(info.family).color(dark), "retrained": look.text}
    densities = {"unlearned": info.unlearned_density, "retrained": info.retrained_density}
    top = max(float(each.max()) for each in densities.values())
    figure = axes.figure(dark=dark)
    if info.rule is not None:
        _shade(figure, info, info.rule, densities, colors)
    for level, (name, values) in enumerate(
        (("unlearned", info.unlearned), ("retrained", info.retrained))
    ):
        dash = "dash" if name == "retrained" else "solid"
        figure.add_trace(
            go.Scatter(
                x=info.x,
                y=densities[name],
                mode="lines",
                name=NAMES[name],
                line={"color": colors[name], "width": 2, "dash": dash},
                hoverinfo="skip",
            )
        )
        figure.add_trace(
            go.Scatter(
                x=values,
                y=[-top * (0.05 + 0.07 * level)] * len(values),
                mode="markers",
                name=NAMES[name],
                showlegend=False,
                marker={
                    "symbol": "line-ns-open",
                    "size": 9,
                    "color": colors[name],
                    "line": {"width": 1.5},
                },
                hovertemplate=f"One of the {NAMES[name].lower()}: %{{x:.2f}}<extra></extra>",
            )
        )
    if info.rule is not None:
        for place in (info.rule.low, info.rule.high):
            if np.isfinite(place):
                figure.add_vline(x=place, line={"width": 1.5, "color": look.primary})
        axes.write(
            figure,
            "best thresholds"
            if info.rule.two_sided and np.isfinite(info.rule.low)
            else "best threshold",
            look.primary,
            x=float(
                np.clip(
                    info.rule.low if np.isfinite(info.rule.low) else info.rule.high,
                    info.x[0],
                    info.x[-1],
                )
            ),
            y=1.0,
            yref="paper",
            yanchor="bottom",
        )
    figure.update_xaxes(
        title="Logit-scaled confidence of the true class, nats",
        zeroline=False,
        range=[info.x[0], info.x[-1]],
    )
    figure.update_yaxes(
        title="Density", zeroline=True, showticklabels=False, range=[-0.2 * top, 1.08 * top]
    )
    legend = axes.below(-0.3)
    figure.update_layout(height=400, margin={"t": 30}, legend=legend)
    return figure


def alt_text(info: TwoDistributionsInfo) -> str:
    """The figure in words."""
    u, r = float(np.median(info.unlearned)), float(np.median(info.retrained))
    said = (
        f"Two densities of the confidence in sample {info.sample}: median {u:.1f} over "
        f"{len(info.unlearned)} unlearned models, {r:.1f} over {len(info.retrained)} retrained "
        "ones."
    )
    return f"{said} {rule_text(info.rule)}"


def rule_text(rule: Rule | None) -> str:
    """The rule as a sentence, with both error rates."""
    if rule is None:
        return "No rule tells them apart: each errs on one side only."
    where = (
        f"between {rule.low:.2f} and {rule.high:.2f}" if rule.two_sided else f"above {rule.low:.2f}"
    )
    if not np.isfinite(rule.low):
        where = f"below {rule.high:.2f}" if rule.two_sided else "anywhere"
    return (
        f"Best rule: a model {where} is taken for "
        f"{'an unlearned' if rule.positive == 'unlearned' else 'a retrained'} one. It misses "
        f"{100 * rule.fnr:.0f} % of those (FNR) and takes {100 * rule.fpr:.0f} % of the others "
        "for one (FPR)."
    )


def _shade(
    figure: go.Figure,
    info: TwoDistributionsInfo,
    rule: Rule,
    densities: dict[str, np.ndarray],
    colors: dict[str, str],
) -> None:
    """What the rule gets wrong, under the curve that it is wrong about."""
    called = (info.x > rule.low) & (info.x <= rule.high)
    other = "retrained" if rule.positive == "unlearned" else "unlearned"
    wrong = (
        (
            rule.positive,
            ~called,
            f"FNR {100 * rule.fnr:.0f} %: {NAMES[rule.positive].lower()} missed",
            "/",
        ),
        (other, called, f"FPR {100 * rule.fpr:.0f} %: {NAMES[other].lower()} taken for them", "\\"),
    )
    for name, mask, label, shape in wrong:
        figure.add_trace(
            go.Scatter(
                x=info.x,
                y=np.where(mask, densities[name], 0.0),
                mode="none",
                name=label,
                fill="tozeroy",
                fillcolor="rgba(0,0,0,0)",
                fillpattern={
                    "shape": shape,
                    "fgcolor": colors[name],
                    "size": 8,
                    "solidity": 0.35,
                    "fillmode": "overlay",
                },
                hoverinfo="skip",
            )
        )
