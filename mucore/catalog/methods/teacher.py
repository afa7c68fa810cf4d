"""Methods in which a student learns from teachers."""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, MethodCard, Parameter
from mucore.catalog.methods.settings import (
    MUBOX_EPOCHS,
    batch,
    bn,
    clip,
    decay,
    epochs,
    lr,
    momentum,
)
from mucore.catalog.scenarios import CLASS_WISE, SAMPLE_WISE

_SCRUB = (
    lr(5e-4),
    epochs(5, "the retain set", scaled=True),
    Parameter(
        name="msteps",
        kind="int",
        default=3,
        low=0,
        high=100,
        unit="epochs",
        scales_with_epochs=True,
        help="How many of the first epochs begin with a pass that maximises the distance on the "
        "forget set.",
    ),
    Parameter(
        name="alpha",
        kind="float",
        default=0.5,
        low=0.0,
        high=10.0,
        help="Weight of the distillation loss on the retain set.",
    ),
    Parameter(
        name="gamma",
        kind="float",
        default=1.0,
        low=0.0,
        high=100.0,
        help="Weight of the cross-entropy on the retain set.",
    ),
    Parameter(
        name="temperature",
        kind="float",
        default=4.0,
        low=0.1,
        high=20.0,
        help="Distillation temperature.",
    ),
    momentum(),
    decay(),
    batch(128, "retain_batch_size", "retain samples"),
    batch(64, "forget_batch_size", "forget samples"),
    Parameter(
        name="milestones",
        kind="ints",
        default=(3, 5, 9),
        help="Epochs after which the rate is multiplied by rho.",
    ),
    Parameter(
        name="rho",
        kind="float",
        default=0.1,
        low=0.0,
        high=1.0,
        help="Factor of the rate at each milestone.",
    ),
    clip(10.0),
    Parameter(
        name="break_symmetry",
        kind="choice",
        default="bn_train",
        choices=("bn_train", "min_first", "tiny_noise"),
        help="At the start student and teacher agree and the gradient is zero; what makes them "
        "differ.",
    ),
)

CARDS = (
    MethodCard(
        id="scrub",
        title="SCRUB",
        family="teacher",
        source="Kurmanji et al., Towards Unbounded Machine Unlearning, NeurIPS 2023",
        code="meghdadk/SCRUB thirdparty/repdistiller/helper/loops.py",
        summary=(
            "A student starts as a copy of the original. It runs away from it on the forget set "
            "and back to it on the retain set, in turn; after a few epochs it only goes back."
        ),
        how=(
            "Teacher and student both begin as the original, and only the student trains. In the "
            "early epochs, a pass over the forget set maximises the divergence between their "
            "predictions. Each epoch then passes over the retain set, where the student lowers "
            "its cross-entropy and its divergence from the teacher. The first kind of pass drives "
            "out what was learned from the forget set, and the second restores what suffered with "
            "it. The divergence has no upper limit, so rate and number of these passes decide "
            "between no effect and collapse. Too many errors on the forget set are a trace as "
            "well, which membership inference can use."
        ),
        reads=frozenset({"retain", "forget"}),
        tasks=EVERY_TASK,
        parameters=_SCRUB,
        paper_epochs=MUBOX_EPOCHS,
        own_layers="its tiny noise goes on the weights of every layer.",
        confined={"break_symmetry": ("bn_train", "min_first")},
        differs="Gradients are clipped at norm 10; the clip option of the official code has no "
        "effect there.",
    ),
    MethodCard(
        id="scrub_rewind",
        title="SCRUB+R",
        family="teacher",
        source="Kurmanji et al., Towards Unbounded Machine Unlearning, NeurIPS 2023",
        code="meghdadk/SCRUB MIA_experiments.ipynb",
        summary=(
            "SCRUB with a checkpoint after every epoch. It goes back to the one whose error on "
            "the forget set is nearest to the error on unseen samples of the same classes, so "
            "that forgetting does not give itself away."
        ),
        how=(
            "SCRUB runs in full while copies of the weights are kept, the original among them. "
            "The last of these is tested on validation samples, weighted so that classes are as "
            "frequent as in the forget set. That error is the target: Retrain has never seen the "
            "forget set and should do about as well on it as on such samples. The kept weights "
            "whose forget error comes nearest are the result, so membership inference finds "
            "neither too few errors nor too many. It can only choose among states that SCRUB "
            "passed through, which undoes excess and adds no forgetting. It needs validation data "
            "and room for the copies."
        ),
        reads=frozenset({"retain", "forget", "validation"}),
        tasks=EVERY_TASK,
        parameters=(
            *_SCRUB,
            Parameter(
                name="granularity",
                kind="choice",
                default="epoch",
                choices=("epoch", "half_epoch"),
                help="Keep a checkpoint after each epoch, or after each of its passes.",
            ),
            Parameter(
                name="reference",
                kind="choice",
                default="reweighted",
                choices=("reweighted", "filtered"),
                help="Unseen samples of the forget set's classes count as often as in the forget "
                "set, or each once (official code).",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        scenarios=SAMPLE_WISE,
        scenarios_reason=(
            "it goes back to the error of unseen samples of the same classes, and neither a class "
            "that must go entirely nor a poisoned sample has such an error to reach."
        ),
        own_layers="its tiny noise goes on the weights of every layer.",
        confined={"break_symmetry": ("bn_train", "min_first")},
        storage="0 (while it runs, one copy of the weights an epoch)",
        differs="The original is among the checkpoints; official code lists its error but never "
        "saved it. Otherwise as SCRUB.",
        aliases=("SCRUB+R",),
    ),
    MethodCard(
        id="bad_teacher",
        title="Bad teacher",
        family="teacher",
        source="Chundawat et al., Can Bad Teaching Induce Forgetting?, AAAI 2023",
        code="vikram2000b/bad-teaching-unlearning unlearn.py",
        summary="A student learns the outputs of a random network on the forget set and those of "
        "the original on a part of the retain set.",
        how=(
            "The student starts as the original and has two teachers: the frozen original, and a "
            "network with random weights. Forgotten images and by default 30 percent of the "
            "retain set are shuffled together, without their labels. On each image the student "
            "lowers its divergence from the teacher in charge of it. It thus learns to answer "
            "like an untrained network where it should forget, and like itself elsewhere. A "
            "single epoch with Adam is the authors' choice and makes it cheap. Its answers on the "
            "forget set become less certain than Retrain's, and membership inference by "
            "confidence or entropy can pick this up."
        ),
        reads=frozenset({"retain", "forget"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(1e-4),
            epochs(1, "the forget set and the chosen part of the retain set", scaled=True),
            Parameter(
                name="retain_fraction",
                kind="float",
                default=0.3,
                low=0.0,
                high=1.0,
                help="Share of the retain set that is used.",
            ),
            Parameter(
                name="temperature",
                kind="float",
                default=1.0,
                low=0.1,
                high=20.0,
                help="Distillation temperature.",
            ),
            batch(256),
            Parameter(
                name="reduction",
                kind="choice",
                default="element_mean",
                choices=("element_mean", "batchmean"),
                help="Mean over samples and classes (official code) or over samples.",
            ),
            Parameter(
                name="teacher",
                kind="choice",
                default="random_net",
                choices=("random_net", "uniform"),
                help="What the incompetent teacher says: a random network's outputs, or 1/C.",
            ),
            bn("train"),
        ),
        paper_epochs=MUBOX_EPOCHS,
        aliases=("Bad-T", "bad_t"),
    ),
    MethodCard(
        id="delete",
        title="DELETE",
        family="teacher",
        source="Zhou et al., Decoupled Distillation to Erase, CVPR 2025",
        code="shaaaaron/DELETE method/delete.py",
        summary=(
            "Trains on the forget set alone towards what the original says about it with the true "
            "class struck out, so that probability goes to the other classes in the proportions "
            "in which the original believes in them."
        ),
        how=(
            "Teacher and student begin as the same network, and the teacher stays frozen. For a "
            "forgotten image, the teacher's logits of its own class and of every class that goes "
            "are struck out before the softmax. The student lowers its divergence from what "
            "remains, with batch norm frozen by default. Relations between the other classes "
            "should change little, which protects the retain set without reading it. A frozen "
            "second network and the forget set are all it needs. It is made for whole classes: "
            "random samples lose correct predictions that Retrain would mostly keep, and accuracy "
            "elsewhere falls with them."
        ),
        reads=frozenset({"forget"}),
        tasks_reason=(
            "its teacher leaves out the right answer, and of two answers that leaves the other "
            "with certainty. Choose random_labels, which says the same."
        ),
        parameters=(
            lr(1e-4),
            epochs(20, "the forget set", scaled=False),
            momentum(),
            batch(128),
            bn("frozen"),
        ),
        storage="|D_f| · C · 4 B (logits of the original)",
        differs="Batch norm is frozen by default (the official flag disable_bn). Class-wise, "
        "every forgotten class is struck out.",
    ),
    MethodCard(
        id="lotus",
        title="LoTUS",
        family="teacher",
        source="Spartalis et al., LoTUS: Large-Scale Machine Unlearning with a Taste of "
        "Uncertainty, CVPR 2025",
        code="cspartalis/LoTUS src/unlearning_methods/lotus_class.py",
        summary=(
            "Learns the original's own predictions with Gumbel noise: one drawn class on a part "
            "of the retain set, smooth probabilities on the forget set, the smoother the further "
            "its accuracy lies above that on held-out data. Stops when it falls below."
        ),
        how=(
            "Teacher and student both begin as the original, and true labels serve only to "
            "measure accuracy. On 30 percent of the retain set, by default, the student learns "
            "classes drawn at random from the teacher's predictions. On the forget set it learns "
            "those predictions with random noise, at a temperature that flattens them. The "
            "temperature grows with the gap between forget accuracy and the teacher's validation "
            "accuracy; the latter counts as zero where whole classes go. A network that never saw "
            "the forget set would show no gap, so smoothing ends where the gap closes. If the "
            "original generalises well, the gap is small and hardly anything is forgotten."
        ),
        reads=frozenset({"retain", "forget", "validation"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(1e-4),
            epochs(10, "the forget set and the chosen part of the retain set", scaled=True),
            Parameter(
                name="alpha",
                kind="float",
                default=8.0,
                low=0.0,
                high=100.0,
                help="The temperature is exp(α · excess accuracy); 8 on CIFAR-10, 2 elsewhere.",
            ),
            Parameter(
                name="tolerance",
                kind="float",
                default=0.01,
                low=0.0,
                high=1.0,
                help="Stops this far below the target accuracy.",
            ),
            Parameter(
                name="retain_fraction",
                kind="float",
                default=0.3,
                low=0.0,
                high=1.0,
                help="Share of the retain set that is used.",
            ),
            decay(),
            batch(128),
            bn("train"),
        ),
        paper_epochs=MUBOX_EPOCHS,
        differs="None in the algorithm; every draw comes from the run's own streams.",
    ),
    MethodCard(
        id="gkt",
        title="GKT",
        family="teacher",
        source="Chundawat et al., Zero-Shot Machine Unlearning, IEEE TIFS 2023",
        code="ayu987/zero-shot-unlearning",
        summary=(
            "A fresh student learns from the original on images that a generator makes up where "
            "both disagree. A gate throws away what the original takes for a forgotten class, so "
            "that the student never hears of it. No data are read."
        ),
        how=(
            "The original is the frozen teacher, while generator and student have random weights "
            "at first. The generator turns noise into images and learns to find those on which "
            "the two networks disagree. Images are dropped if the teacher gives a forgotten class "
            "more than a small probability. On the others the student learns the teacher's "
            "outputs and attention maps, so knowledge of the forgotten classes has no way across. "
            "Only the numbers of these classes must be known. The student needs thousands of "
            "batches, often far more than retraining costs, stays far less accurate, and "
            "forgotten classes can leak in after a while."
        ),
        reads=frozenset(),
        tasks_reason="it forgets whole classes, and attributes have none.",
        parameters=(
            Parameter(
                name="batches",
                kind="int",
                default=4000,
                low=1,
                high=100_000,
                log=True,
                help=(
                    "Batches of noise, each for all steps of generator and student. Official: "
                    "4,000, here not scaled to the recipe, for a fresh student reads no data and "
                    "learns as slowly whatever the original took. That is the paper's price: with "
                    "the preset standard 225 batches took 7.7 Retrains, so 4,000 would take some "
                    "140."
                ),
            ),
            lr(1e-3),
            Parameter(
                name="epsilon",
                kind="float",
                default=0.01,
                low=1e-6,
                high=1.0,
                log=True,
                help="Largest probability of a forgotten class with which an image passes the "
                "gate.",
            ),
            Parameter(
                name="beta",
                kind="float",
                default=250.0,
                low=0.0,
                high=1e5,
                help="Weight of the distance between attention maps.",
            ),
            Parameter(
                name="generator_steps",
                kind="int",
                default=1,
                low=0,
                high=100,
                help="Steps of the generator for each batch.",
            ),
            Parameter(
                name="student_steps",
                kind="int",
                default=10,
                low=1,
                high=100,
                help="Steps of the student for each batch.",
            ),
            Parameter(
                name="latent",
                kind="int",
                default=128,
                low=1,
                high=4096,
                log=True,
                help="Size of the generator's input.",
            ),
            batch(256),
            Parameter(
                name="check_every",
                kind="int",
                default=50,
                low=1,
                high=10_000,
                log=True,
                help="Batches between two looks at the student.",
            ),
            Parameter(
                name="leak",
                kind="float",
                default=2.0,
                low=0.1,
                high=100.0,
                unit="× 1/C",
                help="Stops when the student's mean probability of a forgotten class is above "
                "this multiple of chance.",
            ),
            clip(5.0),
        ),
        scenarios=CLASS_WISE,
        scenarios_reason=(
            "its gate knows only which classes go, and sees no sample of them, so it cannot "
            "forget a part of a class. Choose class_wise."
        ),
        own_layers="it trains a fresh network.",
        storage="0 (student and generator, about 50 MB, exist only while it runs)",
        differs=(
            "The student's batch norm trains (a slip in the official notebook leaves it in eval "
            "mode); stopping and the choice of the student need no data (the official notebook "
            "reads test data); rates are constant; a batch that the gate throws away counts."
        ),
        aliases=("zero_shot",),
    ),
)
