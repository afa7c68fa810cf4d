"""The NeurIPS 2023 competition: which of its figures are where."""

from __future__ import annotations

from dashboard.papers.records import Exhibit, Link, Paper

COMPETITION = Paper(
    id="competition",
    title="NeurIPS 2023 competition",
    citation="Triantafillou et al.: Are We Making Progress in Unlearning?, 2024",
    about="Forgetting as indistinguishability: can many unlearned models be told from as many "
    "retrained ones?",
    exhibits=(
        Exhibit(
            name="Figure 1",
            shows="Two densities of what a sample's models say, a threshold, and both error rates "
            "shaded.",
            links=(Link("Forgetting quality", "quality"),),
            commands=(
                (
                    "python -m mucore quality --preset neurips-faces --methods scrub,finetune "
                    "--models 512"
                ),
            ),
            scenarios=("competition",),
            many_models=True,
        ),
        Exhibit(
            name="Figure 2",
            shows="Class histograms of training, validation and test data, and of retain and "
            "forget set.",
            links=(Link("Forgetting quality, below the experiment", "quality"),),
            commands=(
                (
                    "python -m mucore quality --preset neurips-faces --methods scrub,finetune "
                    "--models 512"
                ),
            ),
            scenarios=("competition",),
            many_models=True,
        ),
    ),
    findings={},
    presets=("neurips-faces",),
    small="python -m mucore quality --dataset digits --model mlp --preset quick --scenario "
    "one_class --methods finetune,ssd --models 16",
    caveat=(
        "Its authors name the limits: one number loses information, few samples of each "
        "distribution, one δ, one setting, and better attacks may exist."
    ),
)
