"""What a speaker may say first of a figure, and what a room misreads; by the figure's name on the
page. Those of a lesson stand in its steps (`dashboard/lessons/`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FIGURES: Final[Mapping[str, str]] = {
    "results_table": (
        "Say first: the line of Retrain is the goal, and every other number is read beside it. "
        "Often misread: the lowest forget accuracy is not the best; deep shade is far from Retrain "
        "on either side."
    ),
    "playground_stage": (
        "Say first: hue is the class, pale means unsure, thick outlines are to be forgotten. "
        "Compare every picture with Retrain's. Often misread: a forgotten point that is still "
        "named right is no failure where Retrain names it right, too."
    ),
    "draw": (
        "Draw something of the forgotten class first, and look at Retrain before the method. "
        "Often misread: a long bar is not a right answer; a network names some class whatever is "
        "drawn."
    ),
    "tradeoff": (
        "Say first: the cross in the middle is Retrain, so near to it is good in every direction. "
        "Often misread: left of the cross is not better; there the model fails on more forgotten "
        "samples than one that never saw them."
    ),
    "front": (
        "Say first what the two axes are and where good is. Often misread: the marked methods are "
        "a choice, not a podium; each is better in something and worse in something else."
    ),
    "goals": (
        "Follow one line with the finger. Often misread: lines that cross mean that no method wins "
        "everywhere."
    ),
    "amortised_cost": (
        "Say first: the axis to the right is how many requests come. Often misread: a method that "
        "is cheap for each request may have spent more beforehand."
    ),
    "critical_difference": (
        "Say first: rank 1 is best, and what one bar joins cannot be told apart. Often misread: "
        "the leftmost name is not a winner while a bar joins it to others."
    ),
    "board_ranks": (
        "Say first: rank 1 is best, and what one bar joins cannot be told apart by these tasks."
    ),
    "metric_agreement": (
        "Say first: below zero, two metrics rank methods in opposite order. Often misread: "
        "disagreement is no error; they measure different things."
    ),
    "budget_curves": (
        "Say first: from left to right more is to be forgotten. Compare each line with Retrain's "
        "dashed one, not with the top of the figure."
    ),
    "class_gaps": (
        "Say first: no colour means as Retrain. Often misread: the forgotten class should be pale, "
        "too; strong colour there is too much or too little."
    ),
    "confusion": (
        "Say first: rows are what the image shows, columns what the model says. Look where the "
        "forgotten class went."
    ),
    "compare_map": (
        "Say first: each dot is one image, near means alike to the model. Often misread: distances "
        "between far clusters mean nothing in such a map."
    ),
    "embedding_map": (
        "Say first: each dot is one image, orange is to be forgotten. Often misread: distances "
        "between far clusters mean nothing in such a map."
    ),
    "attacks": (
        "Say first: the dashed line is Retrain, which never saw these samples. Often misread: "
        "100 % called unseen is not the goal; a value far above Retrain's is a trace as well."
    ),
    "scores": (
        "Say first: where the two hills overlap, the attacker guesses. Compare with Retrain's, not "
        "with an empty figure."
    ),
    "roc": (
        "Say first: the diagonal is guessing. Often misread: a curve below it is no protection; "
        "the attacker only has to turn the answer round."
    ),
    "cka_scatter": (
        "Explain the diagonal before the marks: above it a model sees more like Retrain, below it "
        "more like the original."
    ),
    "gap_and_ratio": (
        "Say first: a ratio of 1 is Retrain's. Read gap and ratio of one method together before "
        "the next."
    ),
    "layer_heatmap": (
        "Say first: the diagonal compares a layer with the same layer of the other model. Look "
        "where it grows pale: there the two begin to differ."
    ),
    "efficacy_spread": (
        "Say first: the scale is in powers of ten, and lower is less exposed. Often misread: a "
        "damaged model can be low as well."
    ),
    "epsilon_histogram": (
        "Say first: each bar counts samples by how well the unlearned models can be told from "
        "retrained ones; left is good."
    ),
    "poisoned_images": (
        "Say first what the image really shows, then read what each model says of it."
    ),
}
