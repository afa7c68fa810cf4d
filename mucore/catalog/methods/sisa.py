"""Instead of one model, an ensemble: the training set is cut into shards, and each trains a model
of its own, slice by slice. A request trains only those shards again, from the first slice it
touches. The shards vote. Many forgotten samples touch every shard, and then it costs as much as
Retrain.

The training set is shuffled and cut before any training, and each network only ever sees its own
shard. Slices of a shard come in one after the other, with a checkpoint after each of them. At a
request, an affected shard returns to the checkpoint before its first slice with a forgotten sample,
and trains on without the forget set. All other networks stay as they are: no forgotten sample ever
reached them, so the result is exact. It needs these checkpoints and cannot repair an existing
single network. Each member learns from a fraction of the data, so accuracy is usually below that of
one network.

Differs: Seeded, shuffled, and everything starts afresh with each slice, so that the result is
exact. Its original is an ensemble too: its results before the request are in the notes;
gaps are to the Retrain of the single model, as for every method. Accuracies count votes, membership
attacks see the mean of the probabilities.
"""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, Footprint, MethodCard
from mucore.catalog.settings import choice, integer

CARD = MethodCard(
    id="sisa",
    title="SISA",
    family="exact",
    source="Bourtoule et al., Machine Unlearning, IEEE S&P 2021",
    code="cleverhans-lab/machine-unlearning sisa.py",
    reads=frozenset({"retain", "training_record"}),
    tasks=EVERY_TASK,
    records=("shards",),
    parameters=(
        integer("shards", 5, 1, 100)(
            "How many shards. With more of them forgetting costs less, and predictions are worse."
        ),
        integer("slices", 1, 1, 50)("How many slices a shard has, each with a checkpoint."),
        integer("epochs", None, 1, 2000, unit="epochs", optional=True)(
            "Passes over its shard that a model gets, shared out over the slices; none: as many "
            "as the original had."
        ),
        choice("vote", "hard", ("hard", "soft", "proportional"))(
            "Predicted class by votes, by the mean probability, or by votes that count as much as "
            "a shard has samples."
        ),
    ),
    not_confinable="it trains the networks of its shards again.",
    footprint=Footprint(backward="(epochs or recipe_epochs) * retain"),
    storage="shards × slices models (MUBox: 0.22 GB for 5 of ResNet-18)",
)
