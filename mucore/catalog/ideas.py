"""What a reader has to have heard of to read the pages, and words that people type where the
catalogue has another one.
"""

from __future__ import annotations

from collections.abc import Mapping

from mucore.catalog.cards import TermCard

IDEAS = (
    TermCard(
        id="unlearning",
        title="Machine unlearning",
        meaning="Changing a model that has been trained so that it behaves as if some of its "
        "training samples had never been there. Deleting the samples alone does not do it: what "
        "the model learned from them is in its weights.",
        synonyms=("forgetting", "data deletion", "removal", "erase", "unlearn"),
        source="Cao and Yang, Towards Making Systems Forget with Machine Unlearning, 2015",
    ),
    TermCard(
        id="right_to_be_forgotten",
        title="Right to be forgotten",
        meaning="A person's right to have data about them erased, in the European Union by "
        "Article 17 of the General Data Protection Regulation. It is why unlearning is asked for "
        "most often. The article speaks of data; whether a model that learned from them must "
        "change is for lawyers, and no number here answers it.",
        synonyms=("gdpr", "right to erasure", "article 17", "dsgvo", "law", "compliance", "ccpa"),
        source="Regulation (EU) 2016/679, Article 17",
    ),
    TermCard(
        id="forget_set",
        title="Forget set",
        meaning="The training samples that a model is asked to forget.",
        synonyms=("df", "deletion request", "forgotten samples"),
    ),
    TermCard(
        id="retain_set",
        title="Retain set",
        meaning="The training samples that stay: all but the forget set.",
        synonyms=("dr", "remaining data", "kept samples"),
    ),
    TermCard(
        id="overfitting",
        title="Overfitting and memorising",
        meaning="A model that answers better on its training samples than on new ones has learned "
        "some of them by heart. That difference is what membership attacks read, and what "
        "unlearning has to take away. It shows where RA is far above TA.",
        synonyms=("memorisation", "memorization", "generalisation gap", "by heart", "overfit"),
        source="Yeom et al., Privacy Risk in Machine Learning, 2018",
    ),
    TermCard(
        id="membership_inference",
        title="Membership inference",
        meaning="Telling from a model's answers whether a sample was among its training data. "
        "After unlearning, a forgotten sample should look as it does to Retrain, which never saw "
        "it.",
        synonyms=("mia", "privacy attack", "shadow model", "membership attack", "leak"),
        source="Shokri et al., Membership Inference Attacks Against Machine Learning Models, 2017",
    ),
    TermCard(
        id="differential_privacy",
        title="Differential privacy and epsilon",
        meaning="A training procedure is differentially private if it gives nearly the same "
        "models with and without any one sample; epsilon says how nearly, and smaller is "
        "stricter. That is a guarantee, and no method here gives one. Forgetting quality turns "
        "attacks on many models into an epsilon, which is an estimate.",
        synonyms=("epsilon", "ε", "dp", "delta", "privacy budget", "dp-sgd", "guarantee"),
        source="Dwork et al., Calibrating Noise to Sensitivity in Private Data Analysis, 2006",
    ),
    TermCard(
        id="exact_unlearning",
        title="Exact and approximate unlearning",
        meaning="Exact methods train again every part that saw the forget set, so what comes out "
        "never saw it. Approximate methods change the finished model, which takes less time, and "
        "only a comparison with Retrain shows what they did.",
        synonyms=("certified", "approximate", "exact"),
        source="Bourtoule et al., Machine Unlearning, 2021",
    ),
    TermCard(
        id="features",
        title="Features",
        meaning="The numbers that a network makes of an image before its last layer decides for a "
        "class. A class can be gone from the answers and still be there in the features.",
        synonyms=("embedding", "representation", "penultimate layer", "latent", "encoder"),
    ),
    TermCard(
        id="seed",
        title="Seed",
        meaning="A number that fixes every random choice of a run. The same run with other seeds "
        "shows how much of a difference is chance.",
        synonyms=("random", "chance", "error bar", "repetition", "variance"),
    ),
)

# By kind of glossary entry and id. Names of methods that authors gave stand on their cards, as
# aliases.
SYNONYMS: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("method", "retrain"): (
        "gold standard",
        "ground truth",
        "oracle",
        "baseline",
        "from scratch",
        "yardstick",
    ),
    ("method", "finetune"): ("fine-tuning", "finetuning", "further training"),
    ("method", "gradient_ascent"): ("negative gradient", "neggrad", "maximise the loss"),
    ("method", "sisa"): ("sharding", "shards", "exact unlearning"),
    ("scenario", "backdoor"): ("trojan", "trigger", "poisoning", "data poisoning", "poison"),
    ("scenario", "label_flip"): ("mislabelled", "noisy labels", "wrong labels", "poisoning"),
    ("scenario", "class_wise"): ("class removal", "class forgetting", "class unlearning"),
    ("metric", "fa"): ("forget accuracy", "unlearning accuracy", "ua", "forgetting accuracy"),
    ("metric", "ra"): ("retain accuracy", "remaining accuracy", "training accuracy"),
    ("metric", "ta"): ("test accuracy", "utility", "generalisation"),
    ("metric", "mia_confidence"): ("membership inference", "privacy attack"),
    ("metric", "rte"): ("runtime", "speed", "efficiency", "cost", "time"),
    ("metric", "js_divergence"): ("kl", "kullback-leibler", "jensen-shannon"),
    ("metric", "l2"): ("weight distance", "parameter distance", "euclidean"),
    ("metric", "ulira_accuracy"): ("lira", "likelihood ratio", "shadow models"),
    ("metric", "linear_probe"): ("probing", "probe"),
    ("metric", "asr"): ("attack success",),
    ("verdict", "damaged"): ("catastrophic forgetting", "collapse", "broken", "utility loss"),
    ("verdict", "did_nothing"): ("no effect", "unchanged"),
    ("verdict", "provisional"): ("significance", "confidence interval", "uncertain"),
}
