"""Epistemic uncertainty (Becker and Liebig): which of its tables and figures are where."""

from __future__ import annotations

from dashboard.papers.records import Exhibit, Link, Paper, results, run
from dashboard.text.labels import short_id

# The forget set of half of the threes, as the address names it: with the table of the same share.
_HALF = short_id('{"class_id":3,"fraction":0.5,"seed":0}')
_PRINTED = {"scenario": "class_fraction", "paper": "1"}
_FRACTIONS = ("0.01", "0.1", "0.25", "0.5", "0.8", "1")


def _becker(name: str, shows: str, preset: str, *links: Link) -> Exhibit:
    return Exhibit(
        name=name,
        shows=shows,
        links=links or (Link("Efficacy", "efficacy", {"scenario": "class_fraction"}),),
        commands=tuple(
            run(
                preset,
                "class_fraction",
                methods="amnesiac,fisher",
                more=f"--set scenario.fraction={share} --seeds 0-19",
            )
            for share in _FRACTIONS
        ),
        scenarios=("class_fraction",),
    )


BECKER = Paper(
    id="efficacy",
    title="Epistemic uncertainty",
    citation="Becker and Liebig: Evaluating Machine Unlearning via Epistemic Uncertainty, 2022",
    about="How exposed forgotten data are, from the information that weights hold of them. A "
    "small network on MNIST and grey CIFAR-10.",
    exhibits=(
        Exhibit(
            name="Table 1",
            shows="Accuracy on retain, forget and test data for each method and share of the "
            "class.",
            links=(
                results("Results", "class_fraction", "efficacy-0.5", set=_HALF),
                Link(
                    "Budget curves, all shares",
                    "budget",
                    {"scenario": "class_fraction", "paper": "1"},
                ),
                Link("Efficacy, last table: means and deviations", "efficacy", _PRINTED),
            ),
            commands=_becker("", "", "efficacy-mnist").commands,
            scenarios=("class_fraction",),
        ),
        Exhibit(
            name="Table 2",
            shows="The same on CIFAR-10 in grey: 1 to 100 % of class 8.",
            links=(
                Link(
                    "Budget curves, all shares",
                    "budget",
                    {"scenario": "class_fraction", "paper": "1", "dataset": "cifar10"},
                ),
                Link("Efficacy, last table: means and deviations", "efficacy", _PRINTED),
            ),
            commands=_becker("", "", "efficacy-cifar10").commands,
            scenarios=("class_fraction",),
        ),
        _becker(
            "Figure 1",
            "Distribution of efficacy and of its bound for each share, four panels.",
            "efficacy-mnist",
        ),
        _becker(
            "Figure 2",
            "Efficacy of a whole class at the start, after training, after each method.",
            "efficacy-mnist",
        ),
        _becker(
            "Figure 3",
            "Distribution of the mean membership probability for each share, of runs whose "
            "predictions were kept.",
            "efficacy-mnist",
        ),
        _becker(
            "Figure 4",
            "Efficacy against membership probability, four panels.",
            "efficacy-mnist",
            Link("Against the share called seen", "efficacy", {"scenario": "class_fraction"}),
            Link(
                "Against the mean probability",
                "efficacy",
                {"scenario": "class_fraction", "height": "probability"},
            ),
        ),
        _becker("Figures 5–8", "The same four on CIFAR-10.", "efficacy-cifar10"),
    ),
    findings={
        "E1": "Training raises efficacy, forgetting lowers it.",
        "E2": (
            "For Retrain and Fisher lower efficacy goes with a lower mean membership probability, "
            "for Amnesiac the reverse."
        ),
        "E3": "The cheap bound keeps the order, about ten times higher.",
        "E4": "Fisher leaves accuracy as it is, Amnesiac destroys it.",
    },
    presets=("efficacy-mnist", "efficacy-cifar10"),
    small="python -m mucore run --dataset digits --model mlp --scenario class_fraction --methods "
    "amnesiac,fisher --seeds 0-4",
)
