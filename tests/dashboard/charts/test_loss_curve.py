"""Training loss over epochs."""

from __future__ import annotations

import plotly.graph_objects as go

from dashboard.charts import loss_curve


def test_loss_curve_leaves_out_what_is_not_finite():
    info = loss_curve.loss_curve_info([2.0, float("nan"), 0.5, float("inf")])
    assert (info.epochs, info.losses, info.broken) == ((1, 3), (2.0, 0.5), 2)
    assert not info.log
    assert loss_curve.loss_curve_info([10.0, 0.01]).log
    figure = loss_curve.draw(info, dark=False)
    assert isinstance(figure, go.Figure) and list(figure.data[0].y) == [2.0, 0.5]
    assert figure.layout.yaxis.title.text == "Training loss"
    assert (
        loss_curve.draw(loss_curve.loss_curve_info([10.0, 0.01]), dark=True).layout.yaxis.type
        == "log"
    )
    assert loss_curve.alt_text(loss_curve.loss_curve_info([])).endswith("no epoch has ended yet.")
