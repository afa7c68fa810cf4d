"""What is left of an attacker's work after poisoned samples were forgotten."""

from __future__ import annotations

from functools import partial

from mucore.catalog.cards import MetricCard
from mucore.catalog.scenarios import POISONED

DEPOISONING = "MUBox (Li, Thuraisingham, Wei; SACMAT 2025), section 5.3"

_card = partial(MetricCard, group="depoisoning")

CARDS: tuple[MetricCard, ...] = (
    _card(
        id="asr",
        title="Attack success rate",
        short="ASR",
        meaning="Share of all test images, with the trigger stamped on them, that the model takes "
        "for the target class.",
        source=DEPOISONING,
        caveat="Images of the target class are counted too, so Retrain is near their share (10 % "
        "of ten classes), not near 0.",
        scenarios=frozenset({"backdoor"}),
    ),
    _card(
        id="asr_others",
        title="Attack success rate without the target class",
        short="ASR others",
        meaning="Share of the triggered test images of the other classes that the model takes for "
        "the target class.",
        source=f"This project, after {DEPOISONING}",
        caveat="Retrain is a little above 0: like any model, it mistakes some images for the "
        "target class.",
        scenarios=frozenset({"backdoor"}),
    ),
    _card(
        id="fa_true",
        title="Forget accuracy on true labels",
        short="FA true",
        meaning="Share of the poisoned samples that the model puts into the class they belong to, "
        "not into the attacker's.",
        source=f"This project, after {DEPOISONING}",
        caveat="FA counts the same predictions against the attacker's labels: there it is the "
        "success of the attack.",
        scenarios=POISONED,
    ),
    _card(
        id="ta_flipped",
        title="Test accuracy on flipped classes",
        short="TA flipped",
        meaning="Of the test samples of the classes whose labels were flipped, the share that the "
        "model gets right.",
        source=DEPOISONING,
        caveat="With the default pairs of an even number of classes every class is flipped, and "
        "this is TA.",
        scenarios=frozenset({"label_flip"}),
    ),
)
