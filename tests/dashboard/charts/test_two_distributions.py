"""One sample under unlearned and retrained models."""

from __future__ import annotations

import numpy as np
import pytest
from facts import tells

from dashboard.charts import two_distributions


def test_two_distributions_shade_what_the_rule_gets_wrong():
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
    figure = two_distributions.draw(info, dark=False)
    names = {trace.name: trace for trace in figure.data if trace.mode == "none"}
    fnr, fpr = sorted(names)
    assert tells(fnr, "FNR", "25 %", "unlearned") and tells(fpr, "FPR", "25 %", "retrained")
    missed = np.array(names[fnr].y)
    assert not missed[info.x > 2].any() and missed[info.x <= 2].any()
    assert tells(two_distributions.alt_text(info), "above 2.00", "unlearned")
