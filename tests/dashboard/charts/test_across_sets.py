"""A method followed over forget sets."""

from __future__ import annotations

import pandas as pd
from facts import tells
from similarities import long, of_classes

from dashboard.charts import across_sets
from dashboard.frames import representation as computed


def test_a_method_is_followed_over_forget_sets():
    lines = of_classes(
        "glyphs",
        "top_classes",
        {"n": 24, "downstream": "glyphs-hand"},
        ("duck", "salun", "retrain"),
    )
    lines += of_classes("glyphs", "random_classes", {"n": 24, "seed": 0}, ("duck", "retrain"))
    lines += of_classes("glyphs", "random_classes", {"n": 12, "seed": 1}, ("duck",))
    runs = pd.DataFrame(lines)
    level = {"top": 0.5, "24": 0.7, "12": 0.9}
    values = []
    for key in runs["key"]:
        part = "top" if "top_classes" in key else "24" if "24" in key else "12"
        values += [(key, "agl", 0.95), (key, "agr", level[part])]
    sets, found = computed.across_sets(runs, long(values))
    assert sets == ("12 at random, draw 1", "24 at random", "24 near Glyphs, hand")
    duck, salun = sorted(found, key=lambda one: one.title)
    assert [duck.points[title].agr for title in sets] == [0.9, 0.7, 0.5] and list(salun.points) == [
        "24 near Glyphs, hand"
    ]
    paper = {"Random": computed.paper_values()}
    info = across_sets.across_sets_info(sets, found, paper)
    figure = across_sets.draw(info, dark=True, selected=duck.points[sets[0]].key)
    own = [trace for trace in figure.data if trace.name == "DUCK" and trace.line.dash == "solid"]
    assert [list(trace.y) for trace in own] == [[0.95] * 3, [0.9, 0.7, 0.5]]
    ghosts = [trace for trace in figure.data if trace.name == "DUCK" and trace.line.dash == "dot"]
    assert [list(trace.y) for trace in ghosts] == [[0.96], [0.85]] and ghosts[
        0
    ].marker.symbol.endswith("-open")
    assert list(figure.layout.xaxis2.ticktext)[-2:] == ["24<br>near Glyphs, hand", "Random"]
    alt = across_sets.alt_text(info)
    assert tells(alt, "AGR", "0.500", "DUCK", "24 near Glyphs, hand", "0.900", "DUCK")
    assert across_sets.across_sets_info(sets, found).printed == ()
