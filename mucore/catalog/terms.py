"""Words of the launch form and the command line that are neither method, metric, scenario nor data set."""

from __future__ import annotations

from mucore.catalog.cards import TermCard

TERMS = (
    TermCard(
        id="noise",
        title="Noise on gradients",
        meaning=(
            "Gaussian noise of this standard deviation, added to every gradient while a method unlearns; 0 is the plain method. It gives "
            "no guarantee of privacy. A method that takes no step along a gradient says in a note that it changed nothing."
        ),
        flag="--noise 0,0.001,0.01",
        source="Are We Truly Forgetting? (Kim, Cha, Kim), Figure 11; where the noise comes in is ours",
    ),
    TermCard(
        id="scope",
        title="Scope: what a method may change",
        meaning=(
            "Every layer, or the classifier alone, which is the last linear layer. With both, each method stands beside itself, which "
            "shows what it does beyond the classifier. A method that chooses its layers by rules of its own cannot be confined."
        ),
        flag="--scope all,classifier",
        source="After Are We Truly Forgetting? (Kim, Cha, Kim), Figure 4b",
    ),
    TermCard(
        id="sweep",
        title="Sweep of a parameter",
        meaning=(
            "A method runs once with each of several values of one of its parameters; with several parameters, once with each combination. "
            "It shows whether a result hangs on a setting."
        ),
        flag="--sweep scrub.lr=0.001,0.01",
        source="After Are We Truly Forgetting? (Kim, Cha, Kim), Figure 10",
    ),
)
