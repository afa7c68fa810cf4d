"""Lesson 1: what unlearning is, and why Retrain is the yardstick."""

from __future__ import annotations

from dashboard.lessons.records import Bars, Estimate, Lesson, Pick, Pictures, Question, Step
from dashboard.lessons.results import LessonResults
from dashboard.lessons.sentences import (
    FAR,
    SAME,
    beside,
    distance,
    nearest,
    percent,
    points,
    titles,
)
from dashboard.text import units

METHODS = {"finetune": "Fine-tune", "gradient_ascent": "Gradient ascent", "duck": "DUCK"}
SHOWN = ("fa", "ra", "ta")
HARDLY = 0.5  # so far above Retrain, a method has hardly forgotten


def references(results: LessonResults) -> list[str]:
    found = {
        name: (results.value("original", name), results.value("retrain", name)) for name in SHOWN
    }
    if any(value is None for pair in found.values() for value in pair):
        return []
    (fa, fa_retrain), (ta, ta_retrain) = found["fa"], found["ta"]
    sentences = [
        (
            f"Of the forgotten images the original names {percent(fa)} right, Retrain "
            f"{percent(fa_retrain)}."
        )
    ]
    lost = (ta or 0.0) - (ta_retrain or 0.0)
    if lost > SAME:
        sentences.append(
            f"Retrain's test accuracy is {points(lost)} lower. That is no damage: the class is "
            "still in the test set, and Retrain cannot know it."
        )
        sentences.append(
            "Chosen by test accuracy alone, the original would win, and it forgot nothing."
        )
    else:
        sentences.append(
            f"Retrain's test accuracy is {percent(ta_retrain)}, the original's {percent(ta)}."
        )
    return sentences


def naive(results: LessonResults) -> list[str]:
    sentences = []
    tuned, retrain = results.value("finetune", "fa"), results.value("retrain", "fa")
    if tuned is not None and retrain is not None:
        sentences.append(
            f"Retrain names {percent(retrain)} of the forgotten class right; fine-tuning "
            f"{percent(tuned)}: {left(tuned - retrain)}."
        )
    ascent, loss = results.value("gradient_ascent", "fa"), results.gap("gradient_ascent", "ra")
    if ascent is not None and retrain is not None and loss is not None:
        price = (
            f"it gives up {points(loss)} of retain accuracy"
            if loss < -SAME
            else "its retain accuracy is not below Retrain's"
        )
        sentences.append(
            f"Gradient ascent names {percent(ascent)} of them right: {left(ascent - retrain)}, "
            f"and {price}."
        )
        if ascent - retrain > HARDLY and loss >= -SAME:
            sentences.append(
                "Its steps were too small here: they changed next to nothing, for better or worse."
            )
    return sentences + chosen_by_test_accuracy(results)


def chosen_by_test_accuracy(results: LessonResults) -> list[str]:
    """What test accuracy alone would choose of the two simple ideas, where that has not forgotten
    the class.
    """
    known = {
        name: value
        for name in ("finetune", "gradient_ascent")
        if (value := results.value(name, "ta")) is not None
    }
    retrain = results.value("retrain", "ta")
    if not known or retrain is None:
        return []
    best = max(known, key=known.__getitem__)
    left, above = results.gap(best, "fa"), known[best] - retrain
    if left is None or left <= HARDLY or above < 0:
        return []
    return [
        (
            f"Chosen by test accuracy alone, {METHODS[best]} would win with {percent(known[best])} "
            f"where Retrain has {percent(retrain)}: because it still knows the class."
        )
    ]


def left(gap: float) -> str:
    """What a forget accuracy so far above Retrain's says."""
    return (
        "it has hardly forgotten"
        if gap > HARDLY
        else "part of it is left"
        if gap > FAR
        else "as Retrain"
    )


def ranking(results: LessonResults) -> list[str]:
    best = nearest(results, SHOWN, list(METHODS))
    if not best:
        return []
    away = distance(results, SHOWN, next(iter(best)))
    others = [
        f"{one.title} {points(value)}"
        for one in results.methods()
        if one.method not in best and (value := distance(results, SHOWN, one.method)) is not None
    ]
    gap = results.gap(next(iter(best)), "fa")
    sentences = [
        (
            f"Nearest to Retrain over the three numbers: {titles(results, best)}, on average "
            f"{points(away or 0.0)} away."
        )
    ]
    if gap is not None:
        sentences.append(f"Its forget accuracy is {beside(gap)} Retrain's.")
    return sentences + ([f"The others: {units.joined(others)}."] if others else [])


FORGET_ONE_CLASS = Lesson(
    id="forget-one-class",
    title="Forget one class",
    question="What does it mean that a model forgets?",
    minutes=8,
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
            notes=(
                "Say first: deleting a file does not delete what was learned from it. Ask "
                "for an example from the room before you go on."
            ),
            text=(
                "A computer has learned from many images to say what an image shows. The result "
                "is called a *model*. Then somebody asks: *take my images out again*. Deleting "
                "the files is not enough: what the model learned from them stays, spread over the "
                "thousands of numbers inside it, its *weights*.\n\n"
                "**Machine unlearning** changes the finished model so that it behaves as if it "
                "had never seen these images. Here a small model has learned to tell ten kinds of "
                "things apart, ten *classes*. It is to forget every image of **one class**, the "
                "first one.\n\n"
                "The box explains the words of this lesson. You will meet them on every page of "
                "this program."
            ),
            words=(
                ("Class", "One of the answers that the model can give, such as *zero* or *shirt*"),
                ("Training set", "The images that the model learned from"),
                ("Forget set", "The part of the training set that is to be forgotten"),
                ("Retain set", "The rest of the training set, which the model should keep"),
                (
                    "Test set",
                    (
                        "Other images, of all classes, that no model learns from. They show how "
                        "good a model is on images new to it"
                    ),
                ),
                ("Original", "The model before anything was forgotten"),
                ("Sample", "One image"),
            ),
            moving=Pictures(split="forget", scenario="class_wise", methods=("original",)),
        ),
        Step(
            title="The yardstick",
            notes=(
                "Let everybody say a number aloud before you reveal. Take care: 0 % looks like "
                "the goal, but it is what Retrain reaches here only because a whole class went."
            ),
            text=(
                "There is one sure way: throw the model away and train a new one **without** the "
                "forget set. That is *Retrain*. It is slow, which is why people look for "
                "shortcuts. But it shows how a model that really never saw the images behaves. So "
                "every shortcut is compared with it.\n\nThree numbers tell most of the story. "
                "Each is a share of images for which the model gives the right answer."
            ),
            terms=(("metric", "fa"), ("metric", "ra"), ("metric", "ta")),
            guess=Estimate(
                question="Retrain has never seen an image of the forgotten class. For what share "
                "of them will it give the right answer?",
                of="Retrain's forget accuracy",
                answer=lambda results: results.value("retrain", "fa"),
            ),
            figures=(Bars(metrics=SHOWN, methods=("original",)),),
            look=(
                "Three panels, one for each number. A bar is a model: the longer, the more images "
                "it names right. The dashed line repeats where Retrain ends, the dotted line "
                "where the original ends. Compare the two models panel by panel."
            ),
            findings=references,
            after=(
                "A good shortcut ends **where Retrain ends**, in all three panels. Retrain's "
                "forget accuracy is at or near 0 % here because a whole class went: it was never "
                "told that this class exists. When only some images of a class go, Retrain gets "
                "many of them right, as the next lesson shows. The goal is Retrain, not 0 %.\n\n"
                "**Accuracy alone proves nothing.** Test accuracy favours a model that forgot "
                "nothing, and a forget accuracy of 0 % may come from a model that is broken. Only "
                "side by side, and beside Retrain, do the numbers mean something."
            ),
        ),
        Step(
            title="Two simple ideas",
            notes=(
                "Say first which bar should move and which should stay. Take care: a method that "
                "damages the model also drives forget accuracy down."
            ),
            text=(
                "A shortcut starts from the original and changes it for a short while. Two ideas "
                "come first to mind.\n\n"
                "**Fine-tune**: go on training, with the retain set alone, and hope that the rest "
                "fades.\n\n"
                "**Gradient ascent**: training changes the weights step by step so that the model "
                "errs less. So walk the other way: change them so that it errs *more* on the "
                "forget set. The size of the steps matters: run live, this lesson takes large "
                "ones; the demo takes the small ones of the method's authors."
            ),
            terms=(("method", "finetune"), ("method", "gradient_ascent")),
            guess=Estimate(
                question="After fine-tuning, what share of the forgotten class will the model "
                "still name right?",
                of="Forget accuracy after fine-tuning",
                answer=lambda results: results.value("finetune", "fa"),
            ),
            figures=(Bars(metrics=SHOWN, methods=("original", "finetune", "gradient_ascent")),),
            look="The two new bars should end at the dashed line of Retrain, in each panel.",
            findings=naive,
            after=(
                "A method can do too little, and then the class is still there. It can do too "
                "much, and then other knowledge goes, too. The forget accuracy shows the first, "
                "the other two panels show the second."
            ),
        ),
        Step(
            title="A method made for it",
            notes=(
                "Read the panels one by one against the dashed line. Take care: one run is no "
                "ranking of methods."
            ),
            text=(
                "Researchers have built dozens of methods. One of them is called **DUCK**. Inside "
                "a model, images of one class lie close together, like a cloud of points. DUCK "
                "moves each forgotten image into the nearest cloud of *another* class. At the "
                "same time it goes on training with the retain set, so that the rest stays as it "
                "is."
            ),
            terms=(("method", "duck"),),
            guess=Pick(
                question="Which of the three ends nearest to Retrain, over all three numbers "
                "together?",
                options=METHODS,
                answer=lambda results: nearest(results, SHOWN, list(METHODS)),
            ),
            figures=(Bars(metrics=SHOWN),),
            judged=True,
            look="Look for the method whose bars end at the dashed line of Retrain in all three "
            "panels.",
            findings=ranking,
            after=(
                "Each method ran once here, on small images. Which one comes nearest can change "
                "with the images and with chance; the page Results compares many methods over "
                "several runs."
            ),
        ),
    ),
    check=(
        Question(
            text="A method ends with a forget accuracy of 0 %, and Retrain has 96 %. Has it "
            "forgotten well?",
            options=(
                "Yes, 0 % is the best there is",
                "No, it is far from a model that never saw the images",
                "That depends on its run time",
            ),
            right=1,
            why=(
                "The measure is Retrain. A model that never saw these images gets 96 % of them "
                "right, because it knows others like them. One that gets none of them right was "
                "damaged."
            ),
        ),
        Question(
            text="Why not simply always retrain?",
            options=(
                "It forgets less than other methods",
                "It needs the forgotten images",
                "It costs a whole training for every request",
            ),
            right=2,
            why="Retrain is exact, but each request to forget costs a full training. Shortcuts "
            "try to reach the same place for less.",
        ),
        Question(
            text="After unlearning, a model has the test accuracy that it had before, to the last "
            "point. What does that prove?",
            options=(
                "That it forgot without damage",
                "That it is better than Retrain",
                "Nothing: a model that forgot nothing has it, too",
            ),
            right=2,
            why="The untouched original has it as well. Where a whole class goes, Retrain gets its "
            "test images wrong, so a model that lost nothing still knows the class.",
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
    takeaway="To unlearn means to end where Retrain ends, in what is forgotten and in what is "
    "kept. No accuracy shows that alone.",
)
