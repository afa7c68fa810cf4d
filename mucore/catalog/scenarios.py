"""The scenarios: rules that turn a training set into a forget set.

The papers call the parameters `class` and `classes`; here they are `class_id` and `class_ids`, because `class` is a Python keyword and the
same name has to serve in code, in the CLI (`--set scenario.class_id=3`) and in a form.
"""

from __future__ import annotations

from typing import Any

from mucore.catalog.cards import Parameter, ScenarioCard

MUBOX = "MUBox (Li, Thuraisingham, Wei; SACMAT 2025)"


def _budget(default: float, of: str) -> Parameter:
    return Parameter(
        name="budget", kind="budget", default=default, help=f"How much to forget: a share of {of} (0.2, 20%) or a number of samples (200)."
    )


def _seed() -> Parameter:
    return Parameter(
        name="seed", kind="int", default=0, low=0, help="Which random forget set. The same seed gives the same samples on every machine."
    )


# MUBox forgets 1,000 of 50,000 samples; as a share it means the same on a smaller data set.
MUBOX_SHARE = 0.02

_TRAINING_SET: dict[str, Any] = {"default": MUBOX_SHARE, "of": "the training set"}

SCENARIOS: tuple[ScenarioCard, ...] = (
    ScenarioCard(
        id="one_class",
        title="Part of one class",
        question="Which method forgets one fifth of a class without hurting the rest?",
        meaning="A random part of one class is forgotten. The class itself stays: most of its samples remain in training.",
        source=f"{MUBOX}, scenario 1",
        parameters=(
            Parameter(name="class_id", kind="int", default=0, low=0, help="The class, as a number from 0 (`class` in the paper)."),
            _budget(0.2, "the class"),
            _seed(),
        ),
    ),
    ScenarioCard(
        id="all_classes",
        title="Part of all classes",
        question="Which method forgets a random handful of samples spread over every class?",
        meaning="A random part of the whole training set is forgotten. The samples share nothing but the request.",
        source=f"{MUBOX}, scenario 2",
        parameters=(_budget(**_TRAINING_SET), _seed()),
    ),
    ScenarioCard(
        id="class_wise",
        title="Whole classes",
        question="Which method forgets a class as if the model had never seen it?",
        meaning="Every sample of the chosen classes is forgotten. They stay in the test set, where they should no longer be recognised.",
        source=f"{MUBOX}, scenario 3",
        parameters=(
            Parameter(
                name="class_ids",
                kind="ints",
                default=(0,),
                low=0,
                help="The classes, as numbers from 0, separated by commas (`classes` in the paper).",
            ),
        ),
        class_wise=True,
    ),
    ScenarioCard(
        id="worst_case",
        title="Worst case: best fitted samples",
        question="Which method forgets the samples that the model knows best?",
        meaning="The samples with the lowest loss under the original model are forgotten. Ties are broken by sample id.",
        source=f"{MUBOX}, scenario 4",
        parameters=(_budget(**_TRAINING_SET),),
        needs=frozenset({"losses"}),
    ),
    ScenarioCard(
        id="best_case",
        title="Best case: worst fitted samples",
        question="Which method forgets the samples that the model hardly knew?",
        meaning="The samples with the highest loss under the original model are forgotten. Ties are broken by sample id.",
        source=f"{MUBOX}, scenario 5",
        parameters=(_budget(**_TRAINING_SET),),
        needs=frozenset({"losses"}),
    ),
    ScenarioCard(
        id="ids",
        title="Samples of your choice",
        question="Which method forgets exactly these samples?",
        meaning="A list of sample ids, uploaded or picked, is forgotten.",
        source="This project",
        parameters=(
            Parameter(
                name="ids",
                kind="ids",
                default=(),
                low=0,
                help="The ids of the training samples to forget, separated by commas, or a CSV file.",
            ),
        ),
    ),
)
