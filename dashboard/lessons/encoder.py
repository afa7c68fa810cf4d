"""Lesson 4: a class can be gone from the answers and still be in the features."""

from __future__ import annotations

from dashboard.lessons.records import (
    Bars,
    Estimate,
    Lesson,
    Neighbours,
    Pick,
    Pictures,
    Question,
    Scatter,
    Step,
)
from dashboard.lessons.results import KNN, LessonResults
from dashboard.lessons.sentences import FAR, SAME, nearest, percent, points
from dashboard.text import units

METHODS = {"finetune": "Fine-tune", "random_labels": "Random labels", "ssd": "SSD", "duck": "DUCK"}
SIDES = {"original": "The original", "retrain": "Retrain"}


def answers(results: LessonResults) -> list[str]:
    fa = {
        one.title: gap
        for one in results.methods()
        if (gap := results.gap(one.method, "fa")) is not None
    }
    if not fa:
        return []
    gone = [title for title, gap in fa.items() if abs(gap) < FAR]
    left = [title for title, gap in fa.items() if abs(gap) >= FAR]
    none = "By their answers, no method is within five points of Retrain."
    sentences = [
        f"By their answers, within five points of Retrain: {units.joined(gone)}." if gone else none
    ]
    return sentences + ([f"Farther away: {units.joined(left)}."] if left else [])


def probe(results: LessonResults) -> list[str]:
    retrain, original = (
        results.value("retrain", "linear_probe"),
        results.value("original", "linear_probe"),
    )
    if retrain is None or original is None:
        return []
    sentences = [
        (
            f"A new last layer finds the forgotten class in {percent(retrain)} of cases on "
            "Retrain's features; by chance it would in one of as many cases as there are classes."
        )
    ]
    if retrain > 0.5:
        sentences.append(
            "So an encoder that never saw the class can still tell it apart: it looks different "
            "from the others anyway."
        )
    else:
        sentences.append("An encoder that never saw the class does not tell it apart well.")
    sentences.append(f"On the original's features it is {percent(original)}.")
    kept = [
        one.title
        for one in results.methods()
        if (value := one.values.get("linear_probe")) is not None and value > retrain + FAR
    ]
    if kept:
        sentences.append(
            "Clearly above Retrain, so more of the class is left than in a model without it: "
            f"{units.joined(kept)}."
        )
    else:
        sentences.append(
            "No method is more than five points above Retrain, so this probe shows nothing that "
            "was left over."
        )
    return sentences


def one_image(results: LessonResults) -> tuple[int, float]:
    """How many test images of the class were asked at least, 0 where that is not known; and the
    difference in the share found, 0..1, that one of them makes, `SAME` at least.
    """
    fewest = min((one.asked for one in results.entries if one.asked), default=0)
    return fewest, max(SAME, 1.01 / fewest if fewest else 0.0)


def rarer(results: LessonResults) -> frozenset[str]:
    """Whether on a method's features neighbours find the forgotten class less often than on
    Retrain's, by more than one image: "yes", "no", or neither where not measured.
    """
    gaps = [gap for name in METHODS if (gap := results.gap(name, KNN)) is not None]
    if not gaps:
        return frozenset()
    return frozenset(["yes" if min(gaps) < -one_image(results)[1] else "no"])


def neighbours(results: LessonResults) -> list[str]:
    retrain, original = results.value("retrain", KNN), results.value("original", KNN)
    if retrain is None or original is None:
        return []
    sentences = [
        (
            f"On Retrain's features the neighbours say the forgotten class in {percent(retrain)} "
            f"of cases, on the original's in {percent(original)}."
        )
    ]
    found = {
        one.method: (one.title, value)
        for one in results.methods()
        if (value := one.values.get(KNN)) is not None
    }
    fewest, alike = one_image(results)
    more = [title for title, value in found.values() if value > retrain + alike]
    less = [title for title, value in found.values() if value < retrain - alike]
    sentences += [f"More often than on Retrain's: {units.joined(more)}."] if more else []
    sentences += [f"Less often: {units.joined(less)}."] if less else []
    if found and not more and not less:
        sentences.append(
            f"All methods are within {'one image' if alike > SAME else 'a point'} of Retrain."
        )
    scattered = [
        title
        for method, (title, value) in found.items()
        if (learned := results.value(method, "linear_probe")) is not None and learned > value + FAR
    ]
    if scattered:
        sentences.append(
            "A new last layer finds the class clearly more often than the neighbours do: "
            f"{units.joined(scattered)}."
        )
        sentences.append(
            "There its images lie scattered among the others, but what tells them apart is still "
            "in the features."
        )
    elif any("linear_probe" in one.values for one in results.methods() if one.method in found):
        sentences.append(
            "On no method's features does a new last layer find the class clearly more often than "
            "the neighbours do."
        )
    if fewest:
        sentences.append(
            f"Only {fewest} test images of the class were asked: one image more or less, "
            f"{points(1 / fewest)}, says nothing."
        )
    return sentences


def sides(results: LessonResults) -> list[str]:
    near = {name: side(results, name) for name in METHODS}
    groups = {
        which: [METHODS[name] for name, where in near.items() if where == which]
        for which in (*SIDES, "both")
    }
    parts = [
        f"nearer to the original: {units.joined(groups['original'])}" if groups["original"] else "",
        f"nearer to Retrain: {units.joined(groups['retrain'])}" if groups["retrain"] else "",
        f"as near to both: {units.joined(groups['both'])}" if groups["both"] else "",
    ]
    told = "; ".join(part for part in parts if part)
    apart = results.value("original", "cka_retrain_forget")
    if not told or apart is None:
        return []
    sentences = [f"On the forgotten images, {told}."]
    between = f"The original itself has a CKA of {apart:.2f} to Retrain"
    sentences.append(
        f"{between}: the two are close from the start, so small differences count."
        if apart > 0.9
        else f"{between}."
    )
    hidden = [
        METHODS[name]
        for name, where in near.items()
        if where == "original" and (gap := results.gap(name, "fa")) is not None and abs(gap) < FAR
    ]
    if hidden:
        sentences.append(
            "Forgotten by their answers, but with features nearer to the original's: "
            f"{units.joined(hidden)}."
        )
    else:
        sentences.append("No method that answers as Retrain has features nearer to the original's.")
    return sentences


def side(results: LessonResults, method: str) -> str:
    """Which reference's features a method's are nearer to on the forget set: "original", "retrain",
    "both", or "" where not measured.
    """
    original, retrain = (
        results.value(method, "cka_original_forget"),
        results.value(method, "cka_retrain_forget"),
    )
    if original is None or retrain is None:
        return ""
    return (
        "both"
        if abs(original - retrain) < 0.0005
        else "original"
        if original > retrain
        else "retrain"
    )


def _sides(results: LessonResults) -> frozenset[str]:
    found = side(results, "random_labels")
    return frozenset(SIDES) if found == "both" else frozenset([found]) if found else frozenset()


def probe_gaps(results: LessonResults) -> list[str]:
    gaps = [
        (one.title, gap)
        for one in results.methods()
        if (gap := results.gap(one.method, "linear_probe")) is not None
    ]
    return (
        [
            (
                "Distance of the probe to Retrain's: "
                f"{units.joined([f'{title} {points(gap)}' for title, gap in gaps])}."
            )
        ]
        if gaps
        else []
    )


ENCODER = Lesson(
    id="encoder",
    title="Does the encoder forget?",
    question="The model no longer says the class. Is it gone from the inside, too?",
    minutes=11,
    grid={
        "dataset": "digits",
        "model": "mlp",
        "preset": "quick",
        "scenarios": [{"id": "class_wise", "parameters": {"class_ids": [0]}}],
        "methods": [{"id": name} for name in METHODS],
    },
    steps=(
        Step(
            title="Two parts of a network",
            notes=("Say first: the last layer is the mouth, the features are what the model sees."),
            text=(
                "A model that names images has two parts. The **encoder** turns an image into a "
                "list of numbers, its *features*. The **last layer** reads the features and says "
                "a class.\n\nAgain a whole class is to be forgotten, the first one. To stop "
                "saying it, changing the last layer is enough. The encoder may go on seeing the "
                "class as clearly as before, and anyone who has the model can put a new last "
                "layer on it. So the question is not only what the model says."
            ),
            words=(
                (
                    "Features",
                    (
                        "What the encoder makes of an image: a list of numbers. Similar images "
                        "get similar numbers"
                    ),
                ),
                ("Original", "The model before anything was forgotten"),
                ("Retrain", "The model that was trained again without the forgotten class"),
            ),
            moving=Pictures(split="forget", scenario="class_wise", methods=("original",)),
        ),
        Step(
            title="What the models say",
            notes=(
                "Keep it short: this is the view that most tables give. The next steps "
                "show what it hides."
            ),
            text=(
                "First the usual view: how many images of the forgotten class does each model "
                "still name right, among the images it learned from and among the test images? "
                "You know the four methods from Lessons 1 and 2."
            ),
            terms=(("metric", "fa"), ("metric", "tfa"), ("metric", "tra")),
            guess=Pick(
                question="Which method's answers end nearest to Retrain's, over these three "
                "numbers?",
                options=METHODS,
                answer=lambda results: nearest(results, ("fa", "tfa", "tra"), list(METHODS)),
            ),
            figures=(Bars(metrics=("fa", "tfa", "tra")),),
            judged=True,
            look="Which methods end at the dashed line of Retrain in all three panels?",
            findings=answers,
            after="These numbers see the last layer and the encoder together. The next step takes "
            "the last layer away.",
        ),
        Step(
            title="A new last layer",
            notes=(
                "Ask for a guess first; most expect 0 %. Features often tell a "
                "class apart that they were never shown, so a high probe alone proves "
                "nothing."
            ),
            text=(
                "Leave the encoder as it is, throw the last layer away and train a new one on all "
                "ten classes, the forgotten one included. If it finds the forgotten class, the "
                "features still hold it. This is a *linear probe*."
            ),
            terms=(("metric", "linear_probe"),),
            guess=Estimate(
                question="Retrain's encoder never saw the class. In what share of the cases does "
                "a new last layer on it find the class?",
                of="The probe on Retrain",
                answer=lambda results: results.value("retrain", "linear_probe"),
            ),
            figures=(Bars(metrics=("tfa", "linear_probe")),),
            look="On the left how often the model itself says the class, on the right how often a "
            "new last layer finds it.",
            findings=lambda results: [*probe(results), *probe_gaps(results)],
            after=(
                "So a high probe alone is no proof of remembering. Again Retrain is the "
                "yardstick: what a model that never saw the class finds."
            ),
        ),
        Step(
            title="Ask the neighbours",
            notes=(
                "Say first: nothing is trained here, so nothing can be dug out. Compare "
                "the two panels for each method."
            ),
            text=(
                "A new last layer is trained, so it may dig out what lies deep. A plainer way: "
                "take a test image of the forgotten class, find the five training images whose "
                "features are most alike, and let them vote for its class. Nothing is trained. "
                "This is *k-NN*, the k nearest neighbours."
            ),
            guess=Pick(
                question="Is there a method on whose features the neighbours find the forgotten "
                "class less often than on Retrain's, by more than one image?",
                options={"yes": "Yes, at least one", "no": "No, none of the four"},
                answer=rarer,
            ),
            figures=(Neighbours(metrics=("linear_probe",)),),
            look="On the left what a new last layer finds, on the right what the five nearest "
            "images say. Does a new last layer find more than the neighbours do?",
            findings=neighbours,
            after=(
                "The two need not agree: a method can scatter a class so that its images are no "
                "longer neighbours, and still leave enough for a new last layer."
            ),
        ),
        Step(
            title="Compare the features themselves",
            notes=(
                "Explain the slanted line before the marks. Take care: far from the original does "
                "not yet mean near to Retrain."
            ),
            text=(
                "**CKA** is a number that compares the features of two models on the same images. "
                "1 means that both arrange the images in the same way: what lies close together "
                "for one lies close together for the other. Near 0 they have nothing in common. "
                "We compare each method's features of the forgotten images with the original's "
                "and with Retrain's."
            ),
            terms=(("metric", "cka_original_forget"), ("metric", "cka_retrain_forget")),
            guess=Pick(
                question="Random labels scrambles the answers for the forgotten class. Whose "
                "features do its own resemble more?",
                options=SIDES,
                answer=_sides,
            ),
            figures=(Scatter(split="forget"),),
            look=(
                "Each mark is a model: the farther right, the more its features are like the "
                "original's; the farther up, the more like Retrain's. On the slanted line both "
                "are alike; above it Retrain is nearer, below it the original."
            ),
            findings=sides,
            after="How much an encoder should forget is an open question in research. The answers "
            "alone do not settle it.",
        ),
    ),
    check=(
        Question(
            text="A model names 0 % of the forgotten class. What does that say about its encoder?",
            options=(
                "It has forgotten the class",
                "Nothing: a change of the last layer is enough for that",
                "It was retrained",
            ),
            right=1,
            why="The answers come from the last layer. The encoder can still hold the class; a "
            "probe or CKA has to look.",
        ),
        Question(
            text="A linear probe finds the forgotten class in 95 % of the cases. When is that a "
            "sign of remembering?",
            options=("Always", "When it is clearly more than on Retrain's features", "Never"),
            right=1,
            why="Features that never saw a class often tell it apart as well. Only what goes "
            "beyond Retrain is left over from training.",
        ),
    ),
    deeper=(
        (
            "representation",
            "Features layer by layer, and as a map",
            {"dataset": "digits", "model": "mlp", "scenario": "class_wise"},
        ),
        ("papers", "The paper behind this question", {}),
        (
            "results",
            "The whole table of this comparison",
            {"dataset": "digits", "model": "mlp", "scenario": "class_wise"},
        ),
    ),
    takeaway="What a model says and what it still sees are two things. Compare both with Retrain.",
)
