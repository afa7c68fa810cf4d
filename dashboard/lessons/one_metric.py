"""Lesson 2: a forget accuracy that looks perfect, and what other numbers say of the same models."""

from __future__ import annotations

from dashboard.lessons.records import Bars, Estimate, Lesson, Pick, Pictures, Question, Step
from dashboard.lessons.results import LessonResults
from dashboard.lessons.sentences import (
    FAR,
    SAME,
    chance,
    distance,
    farthest,
    nearest,
    percent,
    points,
    titles,
)
from dashboard.text import units

METHODS = {"finetune": "Fine-tune", "random_labels": "Random labels", "ssd": "SSD", "duck": "DUCK"}
AUC = "mia_confidence_auc"
ALL = ("fa", "ra", "ta", "mia_confidence", AUC)


def two_readings(results: LessonResults) -> list[str]:
    retrain, original = results.value("retrain", "fa"), results.value("original", "fa")
    if retrain is None or original is None:
        return []
    none = [
        one.title
        for one in results.methods()
        if (fa := one.values.get("fa")) is not None and fa < FAR
    ]
    near = [
        one.title
        for one in results.methods()
        if (gap := results.gap(one.method, "fa")) is not None and abs(gap) < SAME
    ]
    sentences = [
        (
            f"Retrain, which never saw them, still names {percent(retrain)} of the forgotten "
            "images right."
        )
    ]
    if abs(original - retrain) < SAME:
        sentences.append(
            "So does the original, in which nothing was forgotten: by forget accuracy alone, "
            "doing nothing would be perfect here."
        )
    sentences.append(f"Near 0 %: {units.joined(none)}." if none else "No method is near 0 %.")
    closest = titles(results, nearest(results, ("fa",), list(METHODS)))
    sentences.append(
        f"At Retrain's value: {units.joined(near)}."
        if near
        else f"No method is at Retrain's value. Nearest: {closest or 'none'}."
    )
    return sentences


def price(results: LessonResults) -> list[str]:
    losses = [
        (one.title, gap)
        for one in results.methods()
        if (gap := results.gap(one.method, "ra")) is not None
    ]
    if not losses:
        return []
    hurt = [f"{title} {points(gap)}" for title, gap in losses if gap < -FAR]
    kept = [title for title, gap in losses if gap >= -FAR]
    none = "No method is more than five points of retain accuracy below Retrain."
    sentences = [f"Retain accuracy below Retrain's: {units.joined(hurt)}." if hurt else none]
    return sentences + (
        [f"Within five points of it, or above: {units.joined(kept)}."] if hurt and kept else []
    )


def attacker(results: LessonResults) -> list[str]:
    retrain, original = results.value("retrain", AUC), results.value("original", AUC)
    if retrain is None or original is None:
        return []
    sentences = [
        f"On Retrain the attack's AUC is {percent(retrain)}, on the original {percent(original)}."
    ]
    odd = farthest(results, (AUC,), list(METHODS))
    for name in sorted(odd):
        value, gap = results.value(name, AUC), results.gap(name, AUC)
        if value is not None and gap is not None and abs(gap) > FAR:
            way = "less" if gap < 0 else "more"
            sentences.append(
                f"Farthest from Retrain: {METHODS[name]} with {percent(value)}. Its forgotten "
                f"images look {way} like training images than on Retrain, which never saw them, "
                "and that gives them away."
            )
    if odd and len(sentences) == 1:
        sentences.append("No method is more than five points from Retrain's.")
    models = [one for one in results.entries if one.scenario == results.scenario]
    guesses = [one.title for one in models if "confidence" in one.blind]
    if guesses:
        where = (
            "every one of these models" if len(guesses) == len(models) else units.joined(guesses)
        )
        sentences.append(
            f"A caution: on {where} this attack tells training from test images no better than a "
            "coin toss, so its yes or no there is weak evidence."
        )
    return sentences


def winners(results: LessonResults) -> list[str]:
    best = {metric: nearest(results, (metric,), list(METHODS)) for metric in ALL}
    known = {metric: names for metric, names in best.items() if names}
    if not known:
        return []
    labels = {
        "fa": "forget accuracy",
        "ra": "retain accuracy",
        "ta": "test accuracy",
        "mia_confidence": "the images called unseen",
        AUC: "AUC",
    }
    sentences = [
        f"Nearest to Retrain by {labels[metric]}: {titles(results, names)}."
        for metric, names in known.items()
    ]
    always = frozenset.intersection(*known.values())
    some = len(set().union(*known.values()))
    if always:
        sentences.append(f"{titles(results, always)} is nearest by all of them here.")
    else:
        sentences.append(f"{some} methods are nearest by one number or another, none by all.")
    best = nearest(results, ALL, list(METHODS))
    idle, away = distance(results, ALL, "original"), distance(results, ALL, next(iter(best), ""))
    if idle is not None and away is not None:
        near = (
            f"Over all five together the nearest is {titles(results, best)}, {points(away)} "
            "away on average"
        )
        sentences.append(
            f"{near}; the untouched original, which forgot nothing, is {points(idle)} away."
        )
        if idle - away < chance(results):
            sentences.append(
                "Between these two, chance alone can make such a difference: being nearest does "
                "not yet mean having forgotten."
            )
    return sentences


ONE_METRIC = Lesson(
    id="one-metric",
    title="Why one metric is not enough",
    question="The forget accuracy looks perfect. Was anything forgotten?",
    minutes=8,
    grid={
        "dataset": "digits",
        "model": "mlp",
        "preset": "quick",
        "scenarios": [{"id": "one_class", "parameters": {"class_id": 0, "budget": 0.2}}],
        "methods": [{"id": name} for name in METHODS],
    },
    steps=(
        Step(
            title="Only a part of a class",
            notes=(
                "Say first what is different from Lesson 1: the class stays, a fifth of "
                "its images goes."
            ),
            text=(
                "In Lesson 1 a whole class went. This time one fifth of the images of the first "
                "class is to be forgotten. The other four fifths stay in training, so a model "
                "still knows the class.\n\n"
                "Four methods try. It is tempting to judge them by one number, the forget "
                "accuracy. This lesson looks at the same four models again and again, each time "
                "with one more number, and compares them with Retrain: the model that was trained "
                "again without the forgotten images."
            ),
            terms=(("scenario", "one_class"), ("metric", "fa")),
            moving=Pictures(split="forget", scenario="one_class", methods=("original",)),
        ),
        Step(
            title="Judged by forget accuracy",
            notes=(
                "Ask who expects 0 %. Retrain knows the class from the other images, so it can "
                "name many of them right. Take care: a low forget accuracy is not good forgetting "
                "in itself."
            ),
            text=(
                "Some read the forget accuracy as *lower is better*: what was forgotten should no "
                "longer be recognised. Others compare it with Retrain.\n\n"
                "You know **Fine-tune** and **DUCK** from Lesson 1. **Random labels** trains on "
                "with wrong answers for the forgotten images. **SSD** does not train at all: it "
                "finds the weights that matter most for the forgotten images and makes them "
                "smaller."
            ),
            terms=(("method", "random_labels"), ("method", "ssd")),
            guess=Estimate(
                question="Retrain never saw these images, but others of the same class. What "
                "share of them does it name right?",
                of="Retrain's forget accuracy",
                answer=lambda results: results.value("retrain", "fa"),
            ),
            figures=(Bars(metrics=("fa",)),),
            look="The dashed line is Retrain, the dotted one the original. Is a bar near 0 %, "
            "and does one end at the dashed line?",
            findings=two_readings,
            after=(
                "The nearer Retrain and the original are to each other, the less the forget "
                "accuracy tells: a model that forgot and one that was never touched then look "
                "alike."
            ),
        ),
        Step(
            title="Add what was kept",
            notes=(
                "Say first: the second and third panel are what users of the model would notice."
            ),
            text="A method can also push the forget accuracy down by spoiling the model. Retain "
            "and test accuracy show that.",
            terms=(("metric", "ra"), ("metric", "ta")),
            guess=Pick(
                question="Which method loses most retain accuracy, compared with Retrain?",
                options=METHODS,
                answer=lambda results: _lowest(results, "ra"),
            ),
            figures=(Bars(metrics=("fa", "ra", "ta")),),
            look="A bar left of the dashed line in the second and third panel is knowledge that "
            "nobody asked to remove.",
            findings=price,
            after="So forget accuracy is not enough: what was forgotten counts only beside what "
            "was kept.",
        ),
        Step(
            title="Ask an attacker",
            notes=(
                "Say first: the attacker sees only how sure the model is. Take care: an AUC far "
                "below one half looks safe, but gives the images away just as well."
            ),
            text=(
                "A *membership attack* looks at how sure the model is about an image and says: "
                "this one was in training, that one was not. It works because a model is often "
                "surer about images that it has learned from. After good unlearning, forgotten "
                "images look to the attacker as they would look if they had never been in "
                "training, that is, **as on Retrain**.\n\n"
                "The attack gives two numbers. *Called unseen*: how many of the forgotten images "
                "it takes for never trained on. *AUC*: put a forgotten image beside a test image; "
                "how often does the forgotten one look more like a training image? At 50 % the "
                "two look alike; below, the forgotten one looks less like it."
            ),
            terms=(("metric", "mia_confidence"), ("metric", AUC)),
            guess=Pick(
                question="On which model do the forgotten images stand out most: whose AUC is "
                "farthest from Retrain's?",
                options=METHODS,
                answer=lambda results: farthest(results, (AUC,), list(METHODS)),
            ),
            figures=(Bars(metrics=("fa", AUC, "mia_confidence")),),
            look="In the second panel a bar that ends far left of the dashed line is as telling "
            "as one that ends far right of it.",
            findings=attacker,
            after="An attacker does not need a high score: a group of images that the model is "
            "strangely unsure about is a trace, too.",
        ),
        Step(
            title="All numbers at once",
            notes=("Let the room name a winner panel by panel, and ask whether it stays the same."),
            text="Here are all five numbers side by side. Is the same method nearest to Retrain by "
            "each of them?",
            guess=Pick(
                question="Which method is nearest to Retrain over all five numbers together?",
                options=METHODS,
                answer=lambda results: nearest(results, ALL, list(METHODS)),
            ),
            figures=(Bars(metrics=ALL),),
            judged=True,
            look="Go panel by panel and note whose bar ends nearest to the dashed line.",
            findings=winners,
            after="A method that is nearest to Retrain, even by every number, may still be far "
            "from it. So the tables of this program have many columns, each read beside "
            "Retrain's value, and a verdict.",
        ),
    ),
    check=(
        Question(
            text="Suppose the original already has Retrain's forget accuracy. What does it prove "
            "that a method has that value, too?",
            options=(
                "That it forgot",
                "Nothing yet: doing nothing gives it as well",
                "That it forgot too much",
            ),
            right=1,
            why="A number that the untouched original reaches as well cannot show that something "
            "was forgotten.",
        ),
        Question(
            text="After unlearning, the model is far less sure about the forgotten images than "
            "Retrain is. Is that good?",
            options=(
                "Yes, the less sure the better",
                "No, it marks them as forgotten",
                "It has no effect on an attacker",
            ),
            right=1,
            why="Images that the model is oddly unsure about stand out from ones it never saw. An "
            "attacker can use that as well.",
        ),
    ),
    deeper=(
        (
            "membership",
            "Membership attacks, image by image",
            {"dataset": "digits", "model": "mlp", "scenario": "one_class"},
        ),
        (
            "tradeoffs",
            "Trade-offs between methods",
            {"dataset": "digits", "model": "mlp", "scenario": "one_class"},
        ),
        (
            "results",
            "All columns of the table",
            {"dataset": "digits", "model": "mlp", "scenario": "one_class"},
        ),
    ),
    takeaway="One number can be right for the wrong reason. Look at what was kept and at what an "
    "attacker sees as well.",
)


def _lowest(results: LessonResults, metric: str) -> frozenset[str]:
    gaps = {name: gap for name in METHODS if (gap := results.gap(name, metric)) is not None}
    return frozenset(name for name, gap in gaps.items() if abs(gap - min(gaps.values())) < 0.0005)
