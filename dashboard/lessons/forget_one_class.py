"""Lesson 1: what unlearning is, and why Retrain is the yardstick."""

from __future__ import annotations

from dashboard.lessons.evidence import Evidence
from dashboard.lessons.findings import FAR, SAME, beside, distance, joined, nearest, percent, points, titles
from dashboard.lessons.parts import Bars, Estimate, Lesson, Pick, Question, Step

METHODS = {"finetune": "Fine-tune", "gradient_ascent": "Gradient ascent", "duck": "DUCK"}
SHOWN = ("fa", "ra", "ta")


def references(evidence: Evidence) -> list[str]:
    found = {name: (evidence.value("original", name), evidence.value("retrain", name)) for name in SHOWN}
    if any(value is None for pair in found.values() for value in pair):
        return []
    (fa, fa_retrain), (ta, ta_retrain) = found["fa"], found["ta"]
    sentences = [f"Of the forgotten images the original names {percent(fa)} right, Retrain {percent(fa_retrain)}."]
    lost = (ta or 0.0) - (ta_retrain or 0.0)
    if lost > SAME:
        sentences.append(
            f"Retrain's test accuracy is {points(lost)} lower. That is no damage: the class is still in the test set, and Retrain "
            f"cannot know it."
        )
    else:
        sentences.append(f"Retrain's test accuracy is {percent(ta_retrain)}, the original's {percent(ta)}.")
    return sentences


def naive(evidence: Evidence) -> list[str]:
    sentences = []
    tuned, retrain = evidence.value("finetune", "fa"), evidence.value("retrain", "fa")
    if tuned is not None and retrain is not None:
        verdict = "it has hardly forgotten" if tuned - retrain > 0.5 else "part of it is left" if tuned - retrain > FAR else "as Retrain"
        sentences.append(f"Retrain names {percent(retrain)} of the forgotten class; fine-tuning still {percent(tuned)}: {verdict}.")
    ascent, loss = evidence.value("gradient_ascent", "fa"), evidence.gap("gradient_ascent", "ra")
    if ascent is not None and loss is not None:
        price = f"it gives up {points(loss)} of retain accuracy" if loss < -SAME else "its retain accuracy is not below Retrain's"
        sentences.append(f"Gradient ascent names {percent(ascent)} of them, and {price}.")
    return sentences


def ranking(evidence: Evidence) -> list[str]:
    best = nearest(evidence, SHOWN, list(METHODS))
    if not best:
        return []
    away = distance(evidence, SHOWN, next(iter(best)))
    others = [
        f"{one.title} {points(value)}"
        for one in evidence.methods()
        if one.method not in best and (value := distance(evidence, SHOWN, one.method)) is not None
    ]
    gap = evidence.gap(next(iter(best)), "fa")
    sentences = [f"Nearest to Retrain over the three numbers: {titles(evidence, best)}, on average {points(away or 0.0)} away."]
    sentences += [f"The others: {joined(others)}."] if others else []
    if gap is not None:
        sentences.append(f"Its forget accuracy is {beside(gap)} Retrain's.")
    return sentences


FORGET_ONE_CLASS = Lesson(
    id="forget-one-class",
    title="Forget one class",
    question="What does it mean that a model forgets?",
    minutes=8,
    seconds=40,
    grid={
        "dataset": "digits",
        "model": "mlp",
        "preset": "quick",
        "scenarios": [{"id": "class_wise", "parameters": {"class_ids": [0]}}],
        "methods": [
            {"id": "finetune"},
            {"id": "gradient_ascent", "parameters": {"lr": 0.1, "epochs": 5}},
            {"id": "duck"},
        ],
    },
    steps=(
        Step(
            title="A model that must forget",
            text=(
                "A network has learned from images. Then somebody asks: *take my images out again*. Deleting the files is not "
                "enough, because "
                "what was learned from them is spread over all the weights of the network.\n\n"
                "**Machine unlearning** changes the finished model so that it behaves as if it had never seen these images. Here a small "
                "network has learned ten classes, and it is to forget every training image of **one class**, the first one.\n\n"
                "Words for this page: the images to be forgotten are the *forget set*, the other training images the *retain set*. "
                "The model before anything was forgotten is the *original*."
            ),
            terms=(("scenario", "class_wise"),),
        ),
        Step(
            title="The yardstick",
            text=(
                "There is one sure way: throw the model away and train a new one **without** the forget set. That is *Retrain*. It "
                "is slow, "
                "which is why people look for shortcuts, but it shows what a model looks like that really never saw the images. So every "
                "shortcut is compared with it.\n\n"
                "Three numbers tell most of the story:"
            ),
            terms=(("metric", "fa"), ("metric", "ra"), ("metric", "ta")),
            guess=Estimate(
                question="Retrain has never seen an image of the forgotten class. Of how many of them will it say the right class?",
                of="Retrain's forget accuracy",
                answer=lambda evidence: evidence.value("retrain", "fa"),
            ),
            figures=(Bars(metrics=SHOWN, methods=("original",)),),
            look="Two models, three numbers. Compare the forget accuracy of the two first, then their retain accuracy.",
            findings=references,
            after=(
                "A good shortcut ends **where Retrain ends**, in all three numbers. That Retrain is at or near 0 % here is because a whole "
                "class went: it was never told that this class exists. When only some images of a class go, Retrain gets most of "
                "them right, "
                "as the next lesson shows. The goal is Retrain, not 0 %."
            ),
        ),
        Step(
            title="Two simple ideas",
            text=(
                "**Fine-tune**: train on with the retain set alone, and hope that the rest fades.\n\n"
                "**Gradient ascent**: training makes the error on images small; so walk the other way and make the error on the forget set "
                "large. (In this lesson with steps large enough to see it: rate 0.1 for 5 passes. In the demo with its authors' settings.)"
            ),
            terms=(("method", "finetune"), ("method", "gradient_ascent")),
            guess=Estimate(
                question="After fine-tuning, how many images of the forgotten class will the model still name right?",
                of="Forget accuracy after fine-tuning",
                answer=lambda evidence: evidence.value("finetune", "fa"),
            ),
            figures=(Bars(metrics=SHOWN, methods=("original", "finetune", "gradient_ascent")),),
            look="The dashed line is Retrain, the dotted one the original. A bar should end at the dashed line, in each panel.",
            findings=naive,
            after="Forgetting is easy to overdo and easy to miss. Who looks at the forget accuracy alone does not see what it cost.",
        ),
        Step(
            title="A method made for it",
            text=(
                "Researchers have built dozens of methods. One of them, DUCK, moves each forgotten image away from the centre of its own "
                "class to the nearest other one, and trains on the retain set at the same time."
            ),
            terms=(("method", "duck"),),
            guess=Pick(
                question="Which of the three ends nearest to Retrain, over FA, RA and TA together?",
                options=METHODS,
                answer=lambda evidence: nearest(evidence, SHOWN, list(METHODS)),
            ),
            figures=(Bars(metrics=SHOWN),),
            look="Compare where each method's bars end with the dashed line of Retrain.",
            findings=ranking,
            after=(
                "This is one run with one seed on small images. Which method wins can change with the data; the Results page compares more."
            ),
        ),
    ),
    check=(
        Question(
            text="A method ends with a forget accuracy of 0 %, and Retrain has 96 %. Has it forgotten well?",
            options=(
                "Yes, 0 % is the best there is",
                "No, it is far from a model that never saw the images",
                "That depends on its run time",
            ),
            right=1,
            why=(
                "The measure is Retrain. A model that never saw these images gets 96 % of them right; one that gets none was "
                "damaged on purpose."
            ),
        ),
        Question(
            text="Why not simply always retrain?",
            options=("It forgets less than other methods", "It needs the forgotten images", "It costs a whole training for every request"),
            right=2,
            why="Retrain is exact, but each request to forget costs a full training. Shortcuts try to reach the same place for less.",
        ),
    ),
    deeper=(
        (
            "results",
            "The whole table of this comparison",
            {"dataset": "digits", "model": "mlp", "scenario": "class_wise"},
        ),
        ("method", "How DUCK works", {"method": "duck"}),
        ("glossary", "All words in the glossary", {}),
    ),
    takeaway="Unlearning means to end where Retrain ends, in what is forgotten and in what is kept.",
)
