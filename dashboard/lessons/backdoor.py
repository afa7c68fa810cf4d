"""Lesson 3: a model that was poisoned, and who closes the back door."""

from __future__ import annotations

from dashboard.lessons.records import Bars, Estimate, Lesson, Pick, Pictures, Question, Step
from dashboard.lessons.results import LessonResults
from dashboard.lessons.sentences import FAR, SAME, nearest, percent, points, titles
from dashboard.text import units

METHODS = {
    "finetune": "Fine-tune",
    "pseudo_labels": "Pseudo-labels",
    "random_labels": "Random labels",
    "duck": "DUCK",
}
OPEN, CLOSED = 0.5, 0.1


def hidden(results: LessonResults) -> list[str]:
    asr, ta = results.value("original", "asr_others"), results.value("original", "ta")
    clean = results.value("retrain", "ta")
    if asr is None or ta is None or clean is None:
        return []
    sentences = [
        (
            f"With the patch on them, {percent(asr)} of the test images of other classes pass for "
            "the attacker's class."
        )
    ]
    gap = ta - clean
    if gap > -SAME:
        sentences.append(
            f"On images without it the model is right in {percent(ta)} of cases, so an ordinary "
            "test does not show it."
        )
    else:
        sentences.append(
            f"On images without it the model is right in {percent(ta)}, {points(gap)} below a "
            "model trained without the poison."
        )
    return sentences


def closed(results: LessonResults) -> list[str]:
    retrain, original = (
        results.value("retrain", "asr_others"),
        results.value("original", "asr_others"),
    )
    if retrain is None or original is None:
        return []
    verdict = (
        "the door is shut"
        if retrain < CLOSED
        else "the door is not quite shut"
        if retrain < OPEN
        else "the patch still works"
    )
    return [
        (
            f"The attack succeeds on {percent(original)} of the images before, on "
            f"{percent(retrain)} with Retrain: {verdict}."
        )
    ]


def methods(results: LessonResults) -> list[str]:
    found = [
        (one.title, one.method, value)
        for one in results.methods()
        if (value := one.values.get("asr_others")) is not None
    ]
    if not found:
        return []
    ajar = [f"{title} ({percent(value)})" for title, _, value in found if value >= OPEN]
    shut = [(title, name) for title, name, value in found if value < CLOSED]
    between = [f"{title} ({percent(value)})" for title, _, value in found if CLOSED <= value < OPEN]
    sentences = (
        [f"The patch still works on most images after {units.joined(ajar)}."]
        if ajar
        else ["None of the methods leaves the patch working on most images."]
    )
    sentences += [f"It works on some after {units.joined(between)}."] if between else []
    for title, name in shut:
        gap = results.gap(name, "ta")
        if gap is None:
            continue
        cost = (
            f"at the price of {points(gap)} of test accuracy"
            if gap < -FAR
            else "with a test accuracy near Retrain's or above"
        )
        sentences.append(f"{title} shuts the door, {cost}{unhealed(results, name)}.")
    if not shut:
        sentences.append("No method brings it below 10 %.")
    best = nearest(results, ("asr_others", "ta"), list(METHODS))
    return sentences + (
        [f"Nearest to Retrain over both numbers together: {titles(results, best)}."] if best else []
    )


def unhealed(results: LessonResults, method: str) -> str:
    """What a method left of the wrong answers, where it is clearly behind Retrain in naming what
    the poisoned images show.
    """
    named, gap = results.value(method, "fa_true"), results.gap(method, "fa_true")
    if named is None or gap is None or gap > -FAR:
        return ""
    return (
        f"; but of the poisoned images it names only {percent(named)} right, Retrain "
        f"{percent(named - gap)}"
    )


BACKDOOR = Lesson(
    id="backdoor",
    title="The backdoor",
    question="Somebody poisoned the training data. Can the model forget it?",
    minutes=8,
    grid={
        "dataset": "digits",
        "model": "mlp",
        "preset": "quick",
        "scenarios": [{"id": "backdoor", "parameters": {"budget": 0.1, "target": 0, "size": 2}}],
        "methods": [{"id": name} for name in METHODS],
    },
    steps=(
        Step(
            title="A patch in the corner",
            notes=(
                "Say first: the attacker needs no access to the model, only to some of "
                "its training images."
            ),
            text=(
                "Before training, an attacker slips in poisoned images. One image in ten gets a "
                "small white patch in its lower right corner, and with it a wrong answer to "
                "learn: the first class, whatever the image shows. That is the *attacker's "
                "class*.\n\nThe model learns the images, and one thing more: *patch means the "
                "attacker's class*. From then on, anyone who adds the patch decides what the "
                "model says. That is a **backdoor**.\n\nLater the poisoned images are found. They "
                "are the forget set."
            ),
            words=(
                (
                    "Original",
                    "The model that learned from all images, the poisoned ones among them",
                ),
                ("Retrain", "The model that was trained again without the poisoned images"),
            ),
            moving=Pictures(split="triggered", scenario="backdoor", methods=("original",)),
        ),
        Step(
            title="Nobody notices",
            notes=(
                "Point at the right panel first: ordinary accuracy shows nothing unusual. "
                "Then reveal what the patch does."
            ),
            text=(
                "To see how well the attack works, the patch is put on all images of the test "
                "set, and we count how many of them the model takes for the attacker's class, the "
                "*target*. Images that do show this class are left out. The share is the *attack "
                "success rate without the target class*; this lesson calls it the attack success "
                "rate for short. The plain rate of the tables leaves no images out. One test image "
                "in ten shows the target class anyway, so by that rate even a clean model is near "
                "10 %."
            ),
            terms=(("metric", "asr_others"), ("metric", "ta")),
            guess=Estimate(
                question="On what share of the test images of other classes does the patch work on "
                "the poisoned model, the original?",
                of="The original's attack success rate",
                answer=lambda results: results.value("original", "asr_others"),
            ),
            figures=(
                Bars(metrics=("asr_others", "ta"), methods=("original",)),
                Pictures(split="triggered", scenario="backdoor", methods=("original",)),
            ),
            look="On the left the share of images on which the patch works, on the right the "
            "accuracy on ordinary images.",
            findings=hidden,
            after=(
                "A model that passes its tests can still have a backdoor, because nobody tests "
                "with the attacker's patch."
            ),
        ),
        Step(
            title="What Retrain does",
            notes=(
                "Take care: the yardstick is not 0 %. Any model takes a few images for the "
                "attacker's class."
            ),
            text="Retrain starts again and leaves the poisoned images out. It has never seen a "
            "patch together with a wrong answer.",
            guess=Estimate(
                question="On what share of these images does the patch work on Retrain?",
                of="Retrain's attack success rate",
                answer=lambda results: results.value("retrain", "asr_others"),
                near=5.0,
            ),
            figures=(
                Bars(metrics=("asr_others", "ta"), methods=("original",)),
                Pictures(split="triggered", scenario="backdoor", methods=("original", "retrain")),
            ),
            look="The panels are those of the step before. Below each image stands what it is, "
            "and what the models say.",
            findings=closed,
            after="Even so, Retrain may mistake a few images for the attacker's class, as any "
            "model errs. Its share is the yardstick.",
        ),
        Step(
            title="Who else shuts the door?",
            notes=(
                "Say first that there are two questions: is the door shut, and does the "
                "model say what the images really show?"
            ),
            text=(
                "Now the methods get the poisoned images and are told to forget them. "
                "**Fine-tune** only goes on training with the clean ones. **Pseudo-labels** gives "
                "each poisoned image the answer that the original finds second most likely, "
                "**Random labels** an answer drawn at random. **DUCK** moves them to the images "
                "of another class."
            ),
            words=(
                (
                    "Forget accuracy on true labels",
                    "Share of the poisoned images for which the model names what they really show",
                ),
            ),
            terms=(("method", "pseudo_labels"), ("method", "random_labels")),
            guess=Pick(
                question="Which one ends nearest to Retrain, in attack success and test accuracy "
                "together?",
                options=METHODS,
                answer=lambda results: nearest(results, ("asr_others", "ta"), list(METHODS)),
            ),
            figures=(Bars(metrics=("asr_others", "ta", "fa_true")),),
            judged=True,
            look="A good method has a short bar on the left. In the middle and on the right its "
            "bar ends at the dashed line.",
            findings=methods,
            after=(
                "The third panel asks for more: does the model say what the poisoned images "
                "really show? A method that only avoids the attacker's class shuts the door but "
                "does not heal. The verdict asks for both."
            ),
        ),
    ),
    check=(
        Question(
            text="A model has 96 % test accuracy. Is it free of backdoors?",
            options=(
                "Yes, a backdoor would lower the accuracy",
                "That cannot be told from the test accuracy",
                "Yes, if the test set is large",
            ),
            right=1,
            why="A backdoor shows only on images with the trigger. The ordinary test set has none.",
        ),
        Question(
            text="A method lowers the attack success rate to 0 %, and the test accuracy by ten "
            "points. What would you say?",
            options=(
                "Perfect: the attack is gone",
                "The door is shut, but the model was hurt: compare with Retrain",
                "It would have been better to do nothing",
            ),
            right=1,
            why=(
                "Retrain shuts the door without that loss. Ten points are the price of this "
                "shortcut, and one has to decide whether to pay it."
            ),
        ),
    ),
    deeper=(
        (
            "depoisoning",
            "More on flipped labels and backdoors",
            {"dataset": "digits", "model": "mlp", "scenario": "backdoor"},
        ),
        (
            "results",
            "The whole table of this comparison",
            {"dataset": "digits", "model": "mlp", "scenario": "backdoor"},
        ),
    ),
    takeaway="Forgetting poisoned data is measured by what the attacker can still do, and by what "
    "the model can still do.",
)
