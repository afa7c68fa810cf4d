"""Lesson 5: which samples are hard to forget, and what the attack says of a model that forgot
nothing.
"""

from __future__ import annotations

from dashboard.lessons.records import Estimate, Lesson, Pairs, Pick, Pictures, Question, Step
from dashboard.lessons.results import LessonResults
from dashboard.lessons.sentences import FAR, beside, percent, points, yardstick
from dashboard.text import units

METHODS = {"finetune": "Fine-tune", "random_labels": "Random labels"}
CASES = {
    "worst_case": "The best fitted samples (worst case)",
    "best_case": "The worst fitted samples (best case)",
}
BOTH = tuple(CASES)


def gap_to_original(results: LessonResults, scenario: str) -> float | None:
    """How much the original is above Retrain on the forgotten samples: what training on them made
    of it.
    """
    original, retrain = (
        results.value("original", "fa", scenario),
        results.value("retrain", "fa", scenario),
    )
    return None if original is None or retrain is None else original - retrain


def both(results: LessonResults) -> list[str]:
    worst, best = gap_to_original(results, "worst_case"), gap_to_original(results, "best_case")
    if worst is None or best is None:
        return []
    sentences = [
        f"On the {name} fitted samples the original's forget accuracy is {beside(gap)} Retrain's."
        for name, gap in (("best", worst), ("worst", best))
    ]
    if best > worst + FAR:
        sentences.append(
            "So there is far more to forget of the worst fitted images: what the original knows "
            "of them, it had learned by heart."
        )
    elif worst > best + FAR:
        sentences.append("So there is more to forget of the best fitted images.")
    else:
        sentences.append("The two differ by no more than five points here.")
    return sentences


def attack(results: LessonResults) -> list[str]:
    found = {name: results.value("original", "mia_confidence", name) for name in BOTH}
    if any(value is None for value in found.values()):
        return []
    sentences = [
        (
            "The original trained on every one of these samples. The attack takes "
            f"{percent(found['worst_case'])} of the best fitted and {percent(found['best_case'])} "
            "of the worst fitted for unseen."
        )
    ]
    worst, best = (results.value("retrain", "mia_confidence", name) for name in BOTH)
    if worst is not None and best is not None:
        sentences.append(
            f"On Retrain, which trained on none of them, it is {percent(worst)} and "
            f"{percent(best)}."
        )
    blind = [
        CASES[name]
        for name in BOTH
        if (one := results.entry("original", name)) is not None and "confidence" in one.blind
    ]
    if blind:
        sentences.append(
            "A caution: on the original this attack tells training from test images no better "
            "than a coin toss."
        )
    return sentences


def hard(results: LessonResults) -> list[str]:
    sentences = []
    for method, title in METHODS.items():
        gaps = {name: results.gap(method, "fa", name) for name in BOTH}
        if any(gap is None for gap in gaps.values()):
            continue
        parts = [
            f"{_beside(gap or 0.0)} on the {what} fitted"
            for what, gap in (("best", gaps["worst_case"]), ("worst", gaps["best_case"]))
        ]
        sentences.append(f"{title}: {units.joined(parts)}.")
    return sentences


def _beside(gap: float) -> str:
    return (
        "as Retrain"
        if abs(gap) < FAR
        else f"{points(gap)} {'above' if gap > 0 else 'below'} Retrain"
    )


def harder(results: LessonResults) -> frozenset[str]:
    """On which samples fine-tuning ends farther from Retrain; both where they tie."""
    gaps = {
        name: abs(gap) for name in BOTH if (gap := results.gap("finetune", "fa", name)) is not None
    }
    return (
        frozenset(name for name, gap in gaps.items() if abs(gap - max(gaps.values())) < 0.0005)
        if len(gaps) == 2
        else frozenset()
    )


WORST_AND_BEST = Lesson(
    id="worst-and-best",
    title="Worst and best case",
    question="Which images are hard to forget?",
    minutes=9,
    grid={
        "dataset": "digits",
        "model": "mlp",
        "preset": "quick",
        "recipe": {"epochs": 10},
        "scenarios": [
            {"id": "worst_case", "parameters": {"budget": 0.02}},
            {"id": "best_case", "parameters": {"budget": 0.02}},
        ],
        "methods": [{"id": name} for name in METHODS],
    },
    steps=(
        Step(
            title="Not all images are alike",
            notes=("Say first: some images are learned from others like them, some by heart."),
            text=(
                "A model learns most images from what they share with others: a typical zero is "
                "learned from all the other zeros. Some images are odd, and those it can only "
                "learn by heart.\n\n"
                "This lesson forgets two groups, each of 2 % of the training set. The first are "
                "the images on which the original errs **least**: it knows them best. The second "
                "are those on which it errs **most**. A paper named the first the *worst case*, "
                "because Retrain knows them as well, and the second the *best case*. In this "
                "lesson we say *best fitted* and *worst fitted*.\n\n"
                "The original is trained so long here that it learns odd images by heart, too."
            ),
            words=(
                (
                    "Best fitted",
                    (
                        "The 2 % of the training images that the original is surest about (the "
                        "paper's worst case)"
                    ),
                ),
                (
                    "Worst fitted",
                    "The 2 % that it is least sure about, or gets wrong (the paper's best case)",
                ),
            ),
            moving=Pictures(split="forget", scenario="best_case", methods=("original",)),
        ),
        Step(
            title="The typical ones",
            notes=(
                "Take care: equal values before and after look like failure, but where Retrain "
                "changes nothing, there was nothing to forget."
            ),
            text="First the images that the model knows best. Retrain learns from all images but "
            "these.",
            terms=(("metric", "fa"),),
            guess=Estimate(
                question="What share of the best fitted images does Retrain name right, without "
                "having seen them?",
                of="Retrain's forget accuracy on the best fitted samples",
                answer=lambda results: results.value("retrain", "fa", "worst_case"),
            ),
            figures=(
                Pairs(metric="fa", scenarios=("worst_case",)),
                Pictures(split="forget", scenario="worst_case", methods=("original", "retrain")),
            ),
            look=(
                "The star is Retrain, the ring the original; the farther right, the more images "
                "are named right. The line between them is what training on these images changed. "
                "Where star and ring lie on each other, it changed nothing."
            ),
            findings=yardstick("fa", "names {} of them right", "worst_case"),
            after="What the model knows best, it knows from other images. Taking these out "
            "changes little if there are others like them.",
        ),
        Step(
            title="The odd ones",
            notes=(
                "Point at the length of the line between star and ring: that is what "
                "training on these images added."
            ),
            text="Now the images on which the original errs most. It was trained on them, too.",
            guess=Estimate(
                question="What share of the worst fitted images does Retrain name right?",
                of="Retrain's forget accuracy on the worst fitted samples",
                answer=lambda results: results.value("retrain", "fa", "best_case"),
            ),
            figures=(
                Pairs(metric="fa", scenarios=BOTH),
                Pictures(split="forget", scenario="best_case", methods=("original", "retrain")),
            ),
            look="The longer the line between star and ring, the more was learned by heart, and "
            "the more there is to forget.",
            findings=both,
            after="Forget accuracy means something else for every forget set. Without Retrain's "
            "value beside it, it cannot be read.",
        ),
        Step(
            title="The attack on the original",
            notes=(
                "Say first: the original has seen all of these images, so every verdict "
                "of unseen is wrong."
            ),
            text=(
                "A membership attack says of each image whether it was in training. The original "
                "was trained on **all** of these images, so the right answer is *seen*, every "
                "time."
            ),
            terms=(("metric", "mia_confidence"),),
            guess=Estimate(
                question="What share of the worst fitted images does the attack on the original "
                "take for unseen?",
                of="The attack's share of unseen",
                answer=lambda results: results.value("original", "mia_confidence", "best_case"),
            ),
            figures=(Pairs(metric="mia_confidence", scenarios=BOTH),),
            look=(
                "The number is the share of images that the attack takes for unseen. The "
                "original, the ring, has seen them all: 0 % would be right. Retrain, the star, "
                "has seen none: 100 % would be right."
            ),
            findings=attack,
            after=(
                "The attack goes by how sure the model is. It takes what the model is sure about "
                "for seen, and so it can be wrong about a whole group of images. A verdict of "
                "*unseen* is no proof that something was forgotten."
            ),
        ),
        Step(
            title="Who forgets what?",
            notes=(
                "Read right of the star as too little, left of it as too much. One kind "
                "of forget set says little about another."
            ),
            text=(
                "Two methods try both groups. **Fine-tune** only trains on with the other images. "
                "**Random labels** trains with wrong answers for the forgotten ones."
            ),
            terms=(("method", "finetune"), ("method", "random_labels")),
            guess=Pick(
                question="On which group does fine-tuning end farther from Retrain's forget "
                "accuracy?",
                options=CASES,
                answer=harder,
            ),
            figures=(Pairs(metric="fa", scenarios=BOTH, methods=tuple(METHODS)),),
            judged=True,
            look=(
                "A method should end at the star of Retrain. Right of it too little is forgotten, "
                "left of it too much. Marks can lie on each other."
            ),
            findings=hard,
            after="So a comparison on one kind of forget set says little about another. The "
            "papers test several for this reason.",
        ),
    ),
    check=(
        Question(
            text="Retrain names 100 % of a forget set right. Which sentence is true?",
            options=(
                "Retrain has not forgotten",
                "What it needs for these images, it learned from others",
                "These images were still in its training",
            ),
            right=1,
            why="Retrain never saw them. It gets them right because other images taught it the "
            "same.",
        ),
        Question(
            text="On the untouched original the attack calls half of a forget set unseen. What "
            "follows?",
            options=(
                "The attack errs on this kind of image, so its verdict there is weak",
                "The original has forgotten them",
                "They were never in the training set",
            ),
            right=0,
            why="All of them were in training. Where the attack already errs on the original, its "
            "verdict after unlearning shows little.",
        ),
    ),
    deeper=(
        (
            "membership",
            "Attacks image by image",
            {"dataset": "digits", "model": "mlp", "scenario": "best_case"},
        ),
        (
            "results",
            "The whole table of the best case",
            {"dataset": "digits", "model": "mlp", "scenario": "best_case"},
        ),
        ("quality", "Forgetting quality over many models", {}),
    ),
    takeaway="How hard an image is to forget depends on whether others teach the same. Read every "
    "number beside Retrain's.",
)
