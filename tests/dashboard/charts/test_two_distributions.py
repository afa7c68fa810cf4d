"""One sample under unlearned and retrained models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from facts import tells

from dashboard.charts import two_distributions


@pytest.mark.parametrize("dark", [False, True])
def test_two_distributions_shade_what_the_rule_gets_wrong(dark):
    info = two_distributions.two_distributions_info(
        7, "sparsity", [1.0, 3, 4, 5], [-1.0, 0, 0.5, 3.5]
    )
    assert info.rule is not None and (info.rule.fnr, info.rule.fpr, info.rule.low) == (
        0.25,
        0.25,
        2.0,
    )
    for curve in (info.unlearned_density, info.retrained_density):
        assert np.trapezoid(curve, info.x) == pytest.approx(1, abs=0.1)
    figure = two_distributions.draw(info, dark=dark)
    names = {trace.name: trace for trace in figure.data if trace.mode == "none"}
    fnr, fpr = sorted(names)
    assert tells(fnr, "FNR", "25 %", "unlearned") and tells(fpr, "FPR", "25 %", "retrained")
    missed = np.array(names[fnr].y)
    assert not missed[info.x > 2].any() and missed[info.x <= 2].any()
    lines = {trace.name: trace.line.dash for trace in figure.data if trace.mode == "lines"}
    assert lines == {"Unlearned models": "solid", "Retrained models": "dash"}
    assert tells(two_distributions.alt_text(info), "above 2.00", "unlearned")


def test_where_no_rule_tells_nothing_is_shaded():
    info = two_distributions.two_distributions_info(7, "sparsity", [0.0, 1], [0.0, 1])
    alone = replace(info, rule=None)
    assert all(trace.mode != "none" for trace in two_distributions.draw(alone, dark=False).data)
    assert "No rule tells them apart" in two_distributions.alt_text(alone)


def test_equal_confidences_have_a_density():
    curve = two_distributions.density(np.full(4, 2.0), np.linspace(0, 4, 401))
    assert np.isfinite(curve).all() and curve.argmax() == 200
