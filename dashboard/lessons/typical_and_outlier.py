"""Lesson 6, played on the playground: a point that others speak for, one that none does, and a
whole group.
"""

from __future__ import annotations

from collections.abc import Callable

from dashboard.lessons.records import Lesson, Pick, Played, Question, Step
from dashboard.lessons.results import AT_FORGET, AWAY, LessonResults
from dashboard.lessons.sentences import percent
from dashboard.text import units

TWIN, OUTLIER, CLUSTER = "twin", "outlier", "cluster"
SCENES = {TWIN: "the point with a twin", OUTLIER: "the point among strangers", CLUSTER: "the group"}
RIGHT = {"right": "Yes, it names it right", "wrong": "No, it names it wrong"}
RIGHTS = {"right": "Yes, most of them", "wrong": "No, only a few of them or none"}


def named_right(preset: str) -> Callable[[LessonResults], frozenset[str]]:
    """Whether Retrain names the points of a scene right that it never saw, by a key of `RIGHT`."""

    def answer(results: LessonResults) -> frozenset[str]:
        share = results.value("retrain", "fa", preset)
        if share is None:
            return frozenset()
        return frozenset({"right" if share > 0.5 else "wrong"})

    return answer


def outcome(preset: str) -> Callable[[LessonResults], list[str]]:
    """A finding: what became of the points of one scene."""

    def sentences(results: LessonResults) -> list[str]:
        original, retrain = (results.entry(name, preset) for name in ("original", "retrain"))
        if original is None or retrain is None:
            return []
        before, after = original.values["fa"], retrain.values["fa"]
        if retrain.forget_count == 1:
            said = [
                f"The original names the point {_rightly(before)}; Retrain, which never saw it, "
                f"names it {_rightly(after)}."
            ]
        else:
            said = [
                f"The original names {percent(before)} of the points right; Retrain, which never "
                f"saw them, {percent(after)}."
            ]
        if AWAY in retrain.values and AT_FORGET in retrain.values:
            there = "point" if retrain.forget_count == 1 else "points"
            said.append(
                f"What the two say differs by {percent(retrain.values[AWAY])} over the whole "
                f"picture, on average, and by {percent(retrain.values[AT_FORGET])} at the {there}."
            )
        ends = [
            f"{one.title} {percent(one.values[AT_FORGET])}"
            for one in results.methods(preset)
            if AT_FORGET in one.values
        ]
        if ends:
            said.append(f"How far from Retrain each method ends there: {units.joined(ends)}.")
        return said

    return sentences


def compared(results: LessonResults) -> list[str]:
    """A finding: the scenes that were played, beside each other."""
    apart = [
        f"{percent(value)} at {text}"
        for name, text in SCENES.items()
        if (value := results.value("retrain", AT_FORGET, name)) is not None
    ]
    said = outcome(CLUSTER)(results)
    if said and len(apart) > 1:
        said.append(f"Original and Retrain lie apart by {units.joined(apart)}.")
    return said


def _rightly(share: float) -> str:
    return "right" if share > 0.5 else "wrong"


TYPICAL_AND_OUTLIER = Lesson(
    id="typical-and-outlier",
    title="Forgetting a typical point, forgetting an outlier",
    question="What is there to forget about a single point?",
    minutes=7,
    grid={},
    steps=(
        Step(
            title="A model that fits into a picture",
            notes=(
                "Say first: the hue is the answer, and pale means unsure. Let everybody find the "
                "thick outlines before you press Forget."
            ),
            text=(
                "Here are no photographs but **points in a plane**, of two classes. A small "
                "network learned which class is where. The picture shows what it would say at "
                "every place: the hue is the class it names, and the paler the hue, the less sure "
                "it is.\n\n"
                "A few points are to be forgotten. The one sure way is to train the same network "
                "again **without them**. That is *Retrain*, and a good method ends where Retrain "
                "ends: not where the points are named wrong."
            ),
            words=(
                ("Point to forget", "One with a thick outline"),
                ("Original", "The model that learned from all points"),
                ("Retrain", "The model that was trained again without the points to forget"),
                (
                    "Difference",
                    "How much of the probability two models give to different classes: 0 % where "
                    "they say the same, 100 % where each is sure of something else",
                ),
            ),
            terms=(("metric", "fa"),),
            figures=(Played(preset="class"),),
            look="Press Forget: a whole class is to go, and the colours follow.",
        ),
        Step(
            title="A point with a twin",
            notes=(
                "Ask who else speaks for this point before you reveal. Take care: a forgotten "
                "point that is still named right looks like failure, but what Retrain says "
                "decides, and Retrain still has the twin."
            ),
            text=(
                "Beside the point to forget lies another one of its class, at nearly the same "
                "place. The twin stays."
            ),
            guess=Pick(
                question="Will Retrain, which never saw the point, name it right?",
                options=RIGHT,
                answer=named_right(TWIN),
            ),
            figures=(Played(preset=TWIN),),
            look="Press Forget. Compare Retrain with the original, then look at the difference.",
            findings=outcome(TWIN),
            after=(
                "Whatever the other points of its class teach, a model knows without this one. So "
                "a forgotten point may well be named right, and the border between the colours "
                "may stay where it was. A method that changes its answer here has not forgotten "
                "better: it has done damage."
            ),
        ),
        Step(
            title="A point among strangers",
            notes=(
                "Ask first what the neighbours say. Then look at the colour around the point, not "
                "at the whole picture. Take care: an outlier is not always a mistake; it may be a "
                "rare case."
            ),
            text=(
                "This point lies among points of the other class. The rest of the data says that "
                "the other class is at home there."
            ),
            guess=Pick(
                question="Will Retrain, which never saw this point, name it right?",
                options=RIGHT,
                answer=named_right(OUTLIER),
            ),
            figures=(Played(preset=OUTLIER),),
            look="Press Forget. Look at the colour around the point, in the original and in "
            "Retrain.",
            findings=outcome(OUTLIER),
            after=(
                "No neighbour speaks for such a point. Where a model names it right all the same, "
                "it has learned it by heart, and that is what there is to forget. Rare cases are "
                "often of this kind, and so are the people whom a model can give away."
            ),
        ),
        Step(
            title="A whole group",
            notes=(
                "Say first what stays: that decides how much has to change. Take care: a place "
                "without points need not turn pale, because a network has an answer everywhere."
            ),
            text=(
                "Now points that lie together are to go. Each of them had neighbours that spoke "
                "for it, but here the neighbours go, too."
            ),
            guess=Pick(
                question="Will Retrain name the points of the group right?",
                options=RIGHTS,
                answer=named_right(CLUSTER),
            ),
            figures=(Played(preset=CLUSTER),),
            look="Press Forget. Where does Retrain's colour change?",
            findings=compared,
            after=(
                "How much a model has to change depends on what the rest of the data still says, "
                "and not on how many points go. That is why every method is measured against "
                "Retrain and not against a forget accuracy of 0 %."
            ),
        ),
    ),
    check=(
        Question(
            text="After forgetting, a model still names the forgotten point right. Has the method "
            "failed?",
            options=(
                "Yes, a forgotten point must be named wrong",
                "That depends on what Retrain says of it",
                "No, what a model says of a point never tells anything",
            ),
            right=1,
            why=(
                "Where Retrain names it right as well, others speak for the point, and the answer "
                "tells nothing. Where Retrain names it wrong, something of the point is left."
            ),
        ),
        Question(
            text="Which points has a model learned by heart?",
            options=(
                "Those in the middle of their class",
                "Those that have a twin",
                "Those that it names right although nothing else speaks for them",
            ),
            right=2,
            why=(
                "A point in the middle of its class, or with a twin, is named right by a model "
                "that never saw it. Only where the rest of the data says something else does the "
                "point itself leave a trace."
            ),
        ),
    ),
    deeper=(
        ("playground", "Choose points of your own in the playground", {}),
        ("membership", "How attackers find what was learned by heart", {}),
        ("lessons", "Which images are hard to forget", {"lesson": "worst-and-best"}),
    ),
    takeaway=(
        "What other points teach need not be forgotten; what was learned by heart is what counts."
    ),
)
