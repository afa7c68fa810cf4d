"""Words that are neither method, metric, scenario nor data set: those of the launch form and the
command line, and those of verdicts.
"""

from __future__ import annotations

from functools import partial

from mucore.catalog.cards import TermCard

TERMS = (
    TermCard(
        id="noise",
        title="Noise on gradients",
        meaning="Gaussian noise of this standard deviation, added to every gradient while a "
        "method unlearns; 0 is the plain method. It gives no guarantee of privacy. A method that "
        "takes no step along a gradient says in a note that it changed nothing.",
        flag="--noise 0,0.001,0.01",
        source="Are We Truly Forgetting? (Kim, Cha, Kim), Figure 11; where the noise comes in is "
        "ours",
    ),
    TermCard(
        id="scope",
        title="Scope: what a method may change",
        meaning="Every layer, or the classifier alone, which is the last linear layer. With both, "
        "each method stands beside itself, which shows what it does beyond the classifier. A "
        "method that chooses its layers by rules of its own cannot be confined.",
        flag="--scope all,classifier",
        source="After Are We Truly Forgetting? (Kim, Cha, Kim), Figure 4b",
    ),
    TermCard(
        id="sweep",
        title="Sweep of a parameter",
        meaning="A method runs once with each of several values of one of its parameters; with "
        "several parameters, once with each combination. It shows whether a result hangs on a "
        "setting.",
        flag="--sweep scrub.lr=0.001,0.01",
        source="After Are We Truly Forgetting? (Kim, Cha, Kim), Figure 10",
    ),
)

_verdict = partial(TermCard, source="Ours; the rule and its limits are in mucore/verdicts/rule.py")

# What a reader meets in tables: the words of `mucore.verdicts`, and what stands beside them.
VERDICTS = (
    _verdict(
        id="forgot",
        title="Forgot",
        meaning="Every number on forgetting came within a fifth of the way between the original "
        "and Retrain, at most 3 points (5 of an attack), and accuracy was kept. Methods that are "
        "shown to have forgotten may be called nearest, most useful or cheapest; where none is, "
        "those that seem to have. “Forgot on outputs” says that the features before the last layer "
        "still know it: a probe finds more in them than in Retrain's, or they hardly moved from "
        "the original's.",
    ),
    _verdict(
        id="too_little",
        title="Too little",
        meaning="The method moved towards Retrain and stopped short of it by more than the margin.",
    ),
    _verdict(
        id="too_much",
        title="Too much",
        meaning="The method went beyond Retrain by more than the margin, or away from both where "
        "the original and Retrain agree: on the forgotten samples the model is now worse than one "
        "that never saw them, and that alone can give them away.",
    ),
    _verdict(
        id="damaged",
        title="Damaged",
        meaning="Accuracy on what should stay fell below Retrain's by more than 3 % of what "
        "Retrain has above guessing; or the model calls nearly everything one class where Retrain "
        "does not. It may have forgotten as well, or the original may be no better, where poison "
        "had harmed it; the reason says so.",
    ),
    _verdict(
        id="did_nothing",
        title="Did nothing",
        meaning="No number on forgetting moved a tenth of the way from the original to Retrain. "
        "The untouched original gets this word, too, wherever it can be told from Retrain.",
    ),
    _verdict(
        id="nothing_to_forget",
        title="Nothing to forget",
        meaning="The original and Retrain differ by no more than chance on these samples, so "
        "nobody can see whether a method forgot them. Accuracy on the others is kept.",
    ),
    _verdict(
        id="cannot_tell",
        title="Cannot tell",
        meaning="Retrain is missing, or the original, or a number that decides on one of the "
        "seeds.",
    ),
    _verdict(
        id="provisional",
        title="Question mark behind a verdict",
        meaning="The word is an indication: it is that of the mean over seeds, and the 90 % "
        "interval of the mean crosses the word's boundary. Without the mark the word is shown, by "
        "two one-sided tests at 5 %. More seeds make the interval narrower.",
    ),
    TermCard(
        id="distance",
        title="Distance to Retrain",
        meaning="The mean size of the gaps to the Retrain of the same training seed, in points, "
        "over the numbers that the verdict rests on: RA, TA, FA and the confidence attack; where "
        "whole classes go RA, TRA, FA and TFA; with persons the forgetting score in the attack's "
        "place; where data are poisoned TA, FA and FA true.",
        source="Ours; mucore/verdicts/lines.py",
    ),
)
