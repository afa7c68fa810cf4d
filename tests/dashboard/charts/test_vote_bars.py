"""What a room voted."""

from __future__ import annotations

from facts import numbers

from dashboard import theme
from dashboard.charts import vote_bars
from dashboard.lessons.ballots import Bin


def test_options_are_rows_and_the_right_one_is_filled_and_named():
    bins = [Bin("Fine-tune", 4, right=False), Bin("DUCK", 9, right=True, mine=True)]
    info = vote_bars.vote_bars_info(bins, numbers=False)
    figure = vote_bars.draw(info, dark=False)
    (bars,) = figure.data
    assert (
        bars.orientation == "h" and list(bars.x) == [4, 9] and list(bars.y) == ["Fine-tune", "DUCK"]
    )
    assert list(bars.marker.color) == [theme.LIGHT.muted, theme.LIGHT.primary]
    assert [note.text for note in figure.layout.annotations] == ["4", "9 · right · yours"]
    assert numbers(vote_bars.alt_text(info)) == ["13", "4", "9"]
    assert vote_bars.draw(info, dark=False, large=True).layout.height > figure.layout.height


def test_what_was_voted_first_stands_beside():
    bins = [Bin("Fine-tune", 4, 7), Bin("DUCK", 9, 0, right=True)]
    figure = vote_bars.draw(vote_bars.vote_bars_info(bins, numbers=False), dark=False)
    assert [list(bars.x) for bars in figure.data] == [[7, 0], [4, 9]]
    assert figure.layout.showlegend and [bars.showlegend for bars in figure.data] == [None, False]


def test_numbers_stand_in_their_order_and_no_vote_is_no_bar():
    bins = [Bin(f"{low} to {low + 9} %", 0) for low in range(0, 100, 10)]
    info = vote_bars.vote_bars_info(bins, numbers=True)
    (bars,) = (figure := vote_bars.draw(info, dark=True)).data
    assert bars.orientation == "v" and list(bars.x) == [one.title for one in bins]
    assert info.total == 0 and {note.text for note in figure.layout.annotations} == {"0"}
