"""Which three networks answer: Original and Retrain of a setting and a seed, and a method's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd

from dashboard import data, state
from dashboard.frames import compare as compare_frames
from dashboard.frames.draw.image import MAKINGS
from dashboard.frames.replay import has_steps
from dashboard.text import labels
from mucore import catalog
from mucore.runs import REFERENCES
from mucore.statistics import SETTING


@dataclass(frozen=True)
class Three:
    """The keys of Original, Retrain and a method of one setting and training seed, with titles, and
    the spec that all have but for the method.
    """

    keys: tuple[str, str, str]
    titles: tuple[str, str, str]
    method: str
    spec: dict[str, Any]


def drawable(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that a drawing can be shown to: on images that somebody can draw, the networks of
    the method and of both references kept. Poisoned data are left out: their labels lie.
    """
    poisoned = [card.id for card in catalog.scenarios() if card.poisons]
    mine = runs[runs["dataset"].isin(list(MAKINGS)) & ~runs["scenario"].isin(poisoned)]
    mine = mine[mine["status"] == "ok"]
    mine = mine[[name == "original" or has_steps(str(name)) for name in mine["method"]]]
    if mine.empty:
        return mine
    mine = mine[mine["key"].isin(data.with_weights(mine))]
    place = [*SETTING, "training_seed"]
    there = mine.groupby(place)["method"].agg(set)
    whole = [
        set(REFERENCES) < there.loc[at] for at in mine[place].itertuples(index=False, name=None)
    ]
    return mine[whole]


def three(runs: pd.DataFrame) -> Three:
    """The networks that the reader chose among `runs`, which are `drawable` and of one setting; the
    box of the method is drawn here. Parameter: key.
    """
    rivals = compare_frames.in_order(runs[~runs["method"].isin(REFERENCES)])
    titles = compare_frames.labels(rivals, full=False)
    key = state.select("Method", "key", list(titles), format_func=titles.__getitem__, width=280)
    line = runs[runs["key"] == key].iloc[0]
    mine = runs[runs["training_seed"] == line["training_seed"]]
    first, second = (mine.loc[mine["method"] == name, "key"].iloc[0] for name in REFERENCES)
    found = data.result(key)
    assert found is not None
    original, retrain, method = (
        labels.method_names(name)[0] for name in (*REFERENCES, str(line["method"]))
    )
    return Three(
        (first, second, key), (original, retrain, method), str(line["method"]), dict(found.spec)
    )
