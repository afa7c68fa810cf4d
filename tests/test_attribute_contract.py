"""`python -m mucore check FILE` for a method that says it serves images with attributes, and for
one that does not say.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from mucore.catalog import plugins
from mucore.errors import BadFile
from mucore.spec import refuse_task
from mucore.testing import contract

FILE = """
from torch import nn

from mucore.catalog import MethodCard
from mucore.engine import losses
from mucore.engine.loop import Optimizer, Phase, fit

CARD = MethodCard(
    id="tried", title="Tried", family="own", source="This test", summary="Fine-tunes.",
    reads=frozenset({"retain"}),
    TASKS
)


def tried(model, data, run):
    def loss(model, batch):
        return LOSS(model(batch.x), batch.y)

    return fit(model, [Phase(data=data.retain, batch_size=64, loss=loss)], run, epochs=1,
               optimizer=Optimizer(lr=0.01))
"""
BOTH = 'tasks=frozenset({"classes", "attributes"}),'


def written(folder: Path, *, tasks: str, loss: str) -> Path:
    path = folder / "tried.py"
    path.write_text(FILE.replace("TASKS", tasks).replace("LOSS", loss), encoding="utf-8")
    return path


def test_what_serves_both_passes(tmp_path: Path):
    checks = list(contract.check_file(written(tmp_path, tasks=BOTH, loss="losses.cross_entropy")))
    assert all(check.passed for check in checks), [check for check in checks if not check.passed]


@pytest.mark.slow
def test_a_loss_of_classes_alone_is_found_out_where_the_card_promises_more(tmp_path: Path):
    failed = [
        check
        for check in contract.check_file(
            written(tmp_path, tasks=BOTH, loss="nn.functional.cross_entropy")
        )
        if not check.passed
    ]
    assert len(failed) == 1 and "On the toy 'attributes' it raised" in failed[0].message
    checks = contract.check_file(written(tmp_path, tasks="", loss="nn.functional.cross_entropy"))
    assert all(check.passed for check in checks)


def test_a_card_that_says_nothing_serves_classes_alone(tmp_path: Path):
    card = plugins.read(written(tmp_path, tasks="", loss="losses.cross_entropy")).card
    with pytest.raises(
        Exception, match="tried does not run on attributes: its card names classes only"
    ):
        refuse_task(card, "attributes")
    for tasks in ('tasks=frozenset({"attributes"}),', 'tasks=("classes",),'):
        with pytest.raises(BadFile, match="the card's tasks"):
            plugins.read(written(tmp_path, tasks=tasks, loss="losses.cross_entropy"))
