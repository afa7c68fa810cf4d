"""Grids of panels are made of one kept figure, which nobody may write to."""

from __future__ import annotations

from dashboard.charts.parts import subplots


def test_grids_of_one_shape_share_nothing():
    titles = [f"method {number}" for number in range(6)]
    first, places = subplots.grid(titles, dark=False)
    untouched = subplots.grid(titles, dark=False)[0].to_plotly_json()
    subplots.dress(
        first,
        places,
        across={"range": [0, 1], "zeroline": False},
        up={"range": [2, 3]},
        title="below them all",
        dark=False,
    )
    first.add_scatter(x=[0.5], y=[2.5], **places[4])
    assert [place["row"] for place in places] == [1, 1, 1, 2, 2, 2]
    assert {tuple(axis.range) for axis in first.select_xaxes()} == {(0, 1)}
    assert {tuple(axis.range) for axis in first.select_yaxes()} == {(2, 3)}
    assert [note.text for note in first.layout.annotations] == [*titles, "below them all"]
    assert (first.data[0].xaxis, first.data[0].yaxis) == ("x5", "y5")
    assert subplots.grid(titles, dark=False)[0].to_plotly_json() == untouched
