"""The scenarios: rules that turn a training set into a forget set.

The papers call the parameters `class` and `classes`; here they are `class_id` and `class_ids`,
because `class` is a Python keyword and the same name has to serve in code, in the CLI (`--set
scenario.class_id=3`) and in a form.
"""

from __future__ import annotations

from typing import Any

from mucore.catalog.cards import Parameter, ScenarioCard, Task
from mucore.catalog.data import DATASETS
from mucore.catalog.settings import choice, integer, real, setting

MUBOX = "MUBox (Li, Thuraisingham, Wei; SACMAT 2025)"
TRULY = "Are We Truly Forgetting? (Kim, Cha and Kim)"


def _budget(default: float, of: str) -> Parameter:
    return setting("budget", "budget", default)(
        f"How much to forget: a share of {of} (0.2, 20%) or a number of samples (200)."
    )


def _seed(what: str = "samples") -> Parameter:
    return integer("seed", 0, 0)(
        f"Which random forget set. The same seed gives the same {what} on every machine."
    )


# MUBox forgets 1,000 of 50,000 samples; as a share it means the same on a smaller data set.
MUBOX_SHARE = 0.02

_TRAINING_SET: dict[str, Any] = {"default": MUBOX_SHARE, "of": "the training set"}
# MUBox poisons 5,000 of 50,000 samples, and 2,500 in a second row of figures.
_POISON: dict[str, Any] = {"default": 0.1, "of": "the training set"}

# What goes by classes says nothing to images with several labels.
OF_CLASSES: frozenset[Task] = frozenset({"classes"})

SCENARIOS: tuple[ScenarioCard, ...] = (
    ScenarioCard(
        id="one_class",
        title="Part of one class",
        question="Which method forgets one fifth of a class without hurting the rest?",
        meaning="A random part of one class is forgotten. The class itself stays: most of its "
        "samples remain in training.",
        source=f"{MUBOX}, scenario 1",
        parameters=(
            integer("class_id", 0, 0)(
                "The class, by its number from 0 or by its name (`class` in the paper)."
            ),
            _budget(0.2, "the class"),
            _seed(),
        ),
        tasks=OF_CLASSES,
    ),
    ScenarioCard(
        id="all_classes",
        title="Part of all classes",
        question="Which method forgets a random handful of samples spread over every class?",
        meaning="A random part of the whole training set is forgotten. The samples share nothing "
        "but the request.",
        source=f"{MUBOX}, scenario 2",
        parameters=(_budget(**_TRAINING_SET), _seed()),
    ),
    ScenarioCard(
        id="class_wise",
        title="Whole classes",
        question="Which method forgets a class as if the model had never seen it?",
        meaning="Every sample of the chosen classes is forgotten. They stay in the test set, "
        "where they should no longer be recognised.",
        source=f"{MUBOX}, scenario 3",
        parameters=(
            setting("class_ids", "ints", (0,), low=0)(
                "The classes, by their numbers from 0 or by their names, separated by commas "
                "(`classes` in the paper)."
            ),
        ),
        class_wise=True,
        tasks=OF_CLASSES,
    ),
    ScenarioCard(
        id="worst_case",
        title="Worst case: best fitted samples",
        question="Which method forgets the samples that the model knows best?",
        meaning="The samples with the lowest loss under the original model are forgotten. Ties "
        "are broken by sample id.",
        source=f"{MUBOX}, scenario 4",
        parameters=(_budget(**_TRAINING_SET),),
        needs=frozenset({"losses"}),
    ),
    ScenarioCard(
        id="best_case",
        title="Best case: worst fitted samples",
        question="Which method forgets the samples that the model hardly knows?",
        meaning="The samples with the highest loss under the original model are forgotten. Ties "
        "are broken by sample id.",
        source=f"{MUBOX}, scenario 5",
        parameters=(_budget(**_TRAINING_SET),),
        needs=frozenset({"losses"}),
    ),
    ScenarioCard(
        id="label_flip",
        title="Flipped labels",
        question="Which method heals a model that was taught wrong labels?",
        meaning="Before the original is trained, the same number of samples of each class get the "
        "label of the class's partner. They are forgotten; Retrain trains without them, not on "
        "their true labels.",
        source=f"{MUBOX}, scenario 6 and section 5.3",
        parameters=(
            _budget(**_POISON),
            setting("pairs", "pairs", None, optional=True)(
                "Classes that swap labels, such as 0-9,1-8. None: the first with the last, the "
                "second with the last but one, and so on; with ten classes that is MUBox's 0-9, "
                "1-8, 2-7, 3-6, 4-5."
            ),
            _seed(),
        ),
        poisons=True,
        tasks=OF_CLASSES,
    ),
    ScenarioCard(
        id="backdoor",
        title="Backdoor",
        question="Which method closes a backdoor that was trained into a model?",
        meaning="Before the original is trained, random samples get a square patch and the label "
        "of the target class. They are forgotten; Retrain trains without them. Samples that were "
        "of the target class already are poisoned like the others: only their image changes. A "
        "crop or flip while training moves the patch with its image.",
        source=f"{MUBOX}, scenario 6 and section 5.3",
        parameters=(
            _budget(**_POISON),
            integer("target", 0, 0)("The class that the patch stands for, as a number from 0."),
            integer("size", 4, 1, unit="pixels")("Height and width of the patch."),
            integer("value", 255, 0, 255)(
                "Brightness of the patch in every channel; 255 is white."
            ),
            choice(
                "position",
                "bottom_right",
                ("bottom_right", "bottom_left", "top_right", "top_left", "centre"),
            )("Where in the image the patch sits."),
            _seed(),
        ),
        poisons=True,
        tasks=OF_CLASSES,
    ),
    ScenarioCard(
        id="random_classes",
        title="Classes at random",
        question="Which method forgets classes that nobody picked with care?",
        meaning="Every sample of n classes is forgotten; the classes are drawn at random. With "
        "the same seed, a smaller n takes some of the classes of a larger one.",
        source=f"{TRULY}, random-N",
        parameters=(
            integer("n", 1, 1, counts_classes=True)(
                "How many classes. At least one class must be left."
            ),
            _seed("classes"),
        ),
        class_wise=True,
        tasks=OF_CLASSES,
    ),
    ScenarioCard(
        id="top_classes",
        title="Classes near a downstream task",
        question="Which method forgets the classes on which the representation of another task "
        "rests?",
        meaning="Every sample of the n source classes most similar to a downstream data set is "
        "forgotten. Similarity is the cosine between class means of the original's penultimate "
        "features over the training samples. Each downstream class picks its nearest source "
        "class; then the next most similar fill up to n. Where there are more picks than n, the "
        "most similar of them go.",
        source=f"{TRULY}, section 4.3, top-N",
        parameters=(
            integer("n", 1, 1, counts_classes=True)(
                "How many classes. At least one class must be left."
            ),
            choice(
                "downstream",
                None,
                tuple(
                    card.id
                    for card in DATASETS
                    if card.task == "classes" and not card.takes_path and not card.attribute
                ),
                optional=True,
            )(
                "The downstream data set, with images of the same shape. None: the first that the "
                "data set's card names."
            ),
        ),
        class_wise=True,
        needs=frozenset({"downstream"}),
        tasks=OF_CLASSES,
    ),
    ScenarioCard(
        id="identities",
        title="Persons",
        question="Which method forgets everything about a person?",
        meaning="All images of the chosen persons are forgotten. Only persons who are in no other "
        "split can be chosen, so that neither validation nor test shows them.",
        source="MUFAC and MUCAC (Choi and Na, Towards Machine Unlearning Benchmarks, 2023)",
        parameters=(
            integer("count", 10, 1)("How many persons, drawn at random."),
            setting("persons", "ints", None, optional=True)(
                "These persons, by identity, instead of drawing any: 3,17."
            ),
            _seed("persons"),
        ),
        needs=frozenset({"identities"}),
    ),
    ScenarioCard(
        id="class_fraction",
        title="A share of one class",
        question="How much of a class can go before a method notices?",
        meaning="A random share of one class is forgotten. The paper takes 0.01, 0.1, 0.25, 0.5, "
        "0.8 and 1; with the same seed, a smaller share is a part of a larger one.",
        source="Becker and Liebig, Evaluating Machine Unlearning via Epistemic Uncertainty, 2022",
        parameters=(
            integer("class_id", 0, 0)(
                "The class, by its number from 0 or by its name (`class` in the paper)."
            ),
            real("fraction", 0.1, 0.001, 1.0)("Share of the class; one sample at least."),
            _seed(),
        ),
        tasks=OF_CLASSES,
    ),
    ScenarioCard(
        id="competition",
        title="Competition",
        question="Which method would have done well in the NeurIPS 2023 competition?",
        meaning="Whole persons are drawn until about the given share of the training set is "
        "forgotten. Only persons who are in no other split are drawn. The competition trained for "
        "30 epochs with class weights and without augmentation, which are fields of the recipe.",
        source="Triantafillou et al., Are We Making Progress in Unlearning? Findings from the "
        "First NeurIPS Unlearning Competition, 2024",
        parameters=(
            real("fraction", 0.02, 0.001, 1.0)(
                "Share of the training set. Whole persons go, as many as come nearest to it, and "
                "one at least."
            ),
            _seed("persons"),
        ),
        needs=frozenset({"identities"}),
    ),
    ScenarioCard(
        id="ids",
        title="Samples of your choice",
        question="Which method forgets exactly these samples?",
        meaning="A list of samples, uploaded or picked, is forgotten.",
        source="This project",
        parameters=(
            setting("ids", "ids", (), low=0)(
                "The training samples to forget by their rows in the source, with commas and "
                "ranges, or a list in a file."
            ),
        ),
        revision=2,  # rows in the source; before, numbers of the division
    ),
)

# For cards that go with some kinds only, so that a new scenario finds its place by itself.
CLASS_WISE = frozenset(card.id for card in SCENARIOS if card.class_wise)
POISONED = frozenset(card.id for card in SCENARIOS if card.poisons)
PERSONS = frozenset(card.id for card in SCENARIOS if "identities" in card.needs)
SAMPLE_WISE = frozenset(card.id for card in SCENARIOS if not card.class_wise) - POISONED
