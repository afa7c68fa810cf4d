"""What a room voted."""

from __future__ import annotations

from facts import numbers

from dashboard import theme
from dashboard.charts import vote_bars
from dashboard.lessons.ballots import Bin


def test_options_are_rows_and_the_right_one_is_filled_and_named():
    bins = [Bin("Fine-tune", 4, right=False), Bin("DUCK", 9, right=True, mine=True)]
    (bars,) = vote_bars.draw(bins, dark=False).data
    assert bars.orientation == "h" and list(bars.x) == [4, 9]
    assert list(bars.y) == ["Fine-tune", "DUCK"]
    assert list(bars.marker.color) == [theme.LIGHT.muted, theme.LIGHT.primary]
    assert list(bars.text) == ["4", "9 · right · yours"]
    assert numbers(vote_bars.alt_text(bins)) == ["13", "4", "9"]


def test_what_was_voted_first_stands_beside():
    bins = [Bin("Fine-tune", 4, 7), Bin("DUCK", 9, 0, right=True)]
    figure = vote_bars.draw(bins, dark=False)
    assert [list(bars.x) for bars in figure.data] == [[7, 0], [4, 9]]
    assert figure.layout.showlegend and [bars.showlegend for bars in figure.data] == [None, False]
