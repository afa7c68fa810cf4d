"""What a speaker may say first of a figure, and what a room misreads; by the figure's name on the
page. Those of a lesson stand in its steps (`dashboard/lessons/`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

FIGURES: Final[Mapping[str, str]] = {
    "results_table": (
        "Say first: the line of Retrain is the goal, and every other number is read beside it. "
        "Take care: the lowest forget accuracy is not the best; deep shade is far from Retrain on "
        "either side."
    ),
    "playground_stage": (
        "Say first: hue is the class, pale means unsure, thick outlines are to be forgotten. "
        "Compare every picture with Retrain's. Take care: a forgotten point that is still named "
        "right is no failure where Retrain names it right, too."
    ),
    "draw": (
        "Draw something of the forgotten class first, and look at Retrain before the method. Take "
        "care: a long bar need not mean a right answer; a network names some class whatever is "
        "drawn."
    ),
    "cost_distance": (
        "Say first: down is nearer to Retrain, left is cheaper. Take care: a cross may stand "
        "low and still have damaged the model; the word counts, not the height."
    ),
    "front": (
        "Say first what the two axes are and where good is. Take care: the marked methods are a "
        "choice, not a podium; each is better in something and worse in something else."
    ),
    "amortised_cost": (
        "Say first: the horizontal axis is how many requests come. Take care: a method that is "
        "cheap for each request may have spent more beforehand."
    ),
    "critical_difference": (
        "Say first: rank 1 is best, and what one bar joins cannot be told apart. Take care: the "
        "leftmost name is not a winner while a bar joins it to others."
    ),
    "board_ranks": (
        "Say first: rank 1 is best, and what one bar joins cannot be told apart by these tasks."
    ),
    "metric_agreement": (
        "Say first: below zero, two metrics rank methods in opposite order. Take care: "
        "disagreement is no error; they measure different things."
    ),
    "budget_curves": (
        "Say first: from left to right, more and more is to be forgotten; lower is closer to "
        "Retrain. Take care: a line along the dotted one did nothing at all."
    ),
    "class_gaps": (
        "Say first: no colour means the same as Retrain. Take care: the forgotten class should be "
        "pale, too; strong colour there is too much or too little."
    ),
    "confusion": (
        "Say first: rows are what the image shows, columns what the model says. Look at where the "
        "forgotten class went."
    ),
    "embedding_map": (
        "Say first: each dot is one image, orange is to be forgotten. Take care: distances "
        "between far clusters mean nothing in such a map."
    ),
    "attacks": (
        "Say first: the dashed line is Retrain, which never saw these samples. Take care: 100 % "
        "called unseen is not the goal; a value far above Retrain's is a trace as well."
    ),
    "scores": (
        "Say first: where the two hills overlap, the attacker guesses. Compare the overlap with "
        "Retrain's, not with no overlap at all."
    ),
    "roc": (
        "Say first: the diagonal is guessing. Take care: a curve below it is no protection; the "
        "attacker only has to flip the answer."
    ),
    "cka_scatter": (
        "Explain the diagonal before the marks: above it a model sees more like Retrain, below it "
        "more like the original."
    ),
    "layer_heatmap": (
        "Say first: the diagonal compares a layer with the same layer of the other model. Look at "
        "where it grows pale: there the two begin to differ."
    ),
    "efficacy_spread": (
        "Say first: the scale is in powers of ten, and lower is less exposed. Take care: a "
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
