"""Methods that edit weights by influence functions or Fisher information."""

from __future__ import annotations

from mucore.catalog.cards import EVERY_TASK, MethodCard, Parameter
from mucore.catalog.methods.settings import batch
from mucore.catalog.scenarios import CLASS_WISE, POISONED

# The forget set's place is taken by nothing, by other labels, by the flat target, or by what it was
# before it was poisoned.
COUNTERPART = Parameter(
    name="counterpart",
    kind="choice",
    default="delete",
    choices=("delete", "random_label", "soft_uniform", "true_label", "feature_mask"),
    help=(
        "What takes the forget set's place: nothing, the same images under other labels, or under "
        "the flat target 1/C; of poisoned samples the same images under their true labels, or the "
        "images with the training mean under the trigger, under their true labels."
    ),
    choice_scenarios={
        "true_label": (POISONED, "only poisoned samples have a true label other than their own."),
        "feature_mask": (
            frozenset({"backdoor"}),
            "there is no trigger on the images that could be masked.",
        ),
    },
)
# as in the official poisoning experiment
TRUE_LABEL = dict.fromkeys(sorted(POISONED), {"counterpart": "true_label"})
PARAM_SCOPE = Parameter(
    name="param_scope",
    kind="choice",
    default="all",
    choices=("all", "last_block", "head", "last_six_tensors"),
    help="Which weights move. The official code moves the last six tensors.",
)
UPDATES = Parameter(
    name="steps",
    kind="int",
    default=1,
    low=0,
    high=100,
    help="How often the update is repeated, computed anew each time.",
)
# The official script for whole classes reads them class by class, in batches of 64.
SSD_CLASSES = dict.fromkeys(sorted(CLASS_WISE), {"batch_size": 64, "order": "by_class"})


CARDS = (
    MethodCard(
        id="ssd",
        title="SSD",
        family="influence",
        source="Foster et al., Selective Synaptic Dampening, AAAI 2024",
        code="if-loops/selective-synaptic-dampening src/ssd.py",
        summary="Shrinks the weights that matter more for the forget set than for the training "
        "set, by Fisher information. No training.",
        how=(
            "Every weight of the original gets two importances, one from the forget set and one "
            "from the whole training set. Importance is the diagonal of the Fisher information, "
            "by default from squared gradients of whole batches. A weight is selected if the "
            "first is more than α times the second. Selected weights are multiplied by the ratio "
            "of second to first, so the most specialised shrink most while shared knowledge "
            "should survive. The cost is little more than one pass of gradients over all data, "
            "but nothing repairs the retain set afterwards. A low α wrecks the network, and a "
            "high one selects nothing."
        ),
        reads=frozenset({"retain", "forget"}),
        tasks=EVERY_TASK,
        parameters=(
            Parameter(
                name="alpha",
                kind="float",
                default=10.0,
                low=0.01,
                high=1e6,
                log=True,
                help="A weight is chosen when its forget importance is this many times its "
                "overall one.",
            ),
            Parameter(
                name="lam",
                kind="float",
                default=1.0,
                low=0.0,
                high=100.0,
                help="Dampening constant λ.",
            ),
            Parameter(
                name="fisher",
                kind="choice",
                default="batch",
                choices=("batch", "sample", "output_norm"),
                help=(
                    "Square the mean gradient of a batch (official code) or of each sample "
                    "(paper); or the gradient of the logits' squared norm, without labels "
                    "(loss-free SSD, 2024)."
                ),
            ),
            batch(128),
            Parameter(
                name="order",
                kind="choice",
                default="mixed",
                choices=("mixed", "by_class", "retain_then_forget", "shuffled"),
                help=(
                    "Order in which batches are cut when their gradients are squared: retain set, "
                    "then forget set, each mixed (official for samples), class by class (official "
                    "for whole classes) or as in the data set; or both shuffled together."
                ),
            ),
            Parameter(
                name="selection",
                kind="choice",
                default="alpha",
                choices=("alpha", "percentile"),
                late=True,
                help=(
                    "Choose weights by alpha, or the ln(1 + 100 |D_f| / |D|) percent of them that "
                    "matter most for the forget set compared with the retain set (adaptive SSD, "
                    "Schoepf et al., 2024)."
                ),
            ),
        ),
        scenario_values=SSD_CLASSES,
        own_layers="it dampens weights in every layer, by their importance.",
        storage="0 (one copy of the weights if the importance of the training set is kept)",
        differs=(
            "Nothing by default: batches are cut in the order of the official scripts, in 64 "
            "where whole classes go and in 128 elsewhere. That order selects few weights. "
            "Shuffled batches, which no official script has, average gradients away and select "
            "many."
        ),
    ),
    MethodCard(
        id="l_codec",
        title="L-CODEC",
        family="influence",
        source="Mehta et al., Deep Unlearning via Randomized Conditionally Independent Hessians, "
        "CVPR 2022",
        code="vsingh-group/LCODEC-deep-unlearning",
        summary=(
            "For each forgotten sample, finds the few channels that its loss depends on when the "
            "image is perturbed, takes a Newton step on their weights, adds noise, and goes back "
            "if the validation accuracy suffers."
        ),
        how=(
            "The forget set is taken out of the original in small groups, one update each. Noisy "
            "copies of a group's images show how the loss varies, and a test of conditional "
            "dependence picks the channels whose activations explain it. Only the weights of "
            "these channels move, towards where training without the group would have ended. The "
            "curvature for this step comes from gradients of the last two epochs of training, "
            "which must be on record, and from a small step ahead. Gaussian noise then hides what "
            "the step leaves behind. Errors and noise add up over the groups, so accuracy "
            "suffers, and each group costs many forward passes."
        ),
        reads=frozenset({"forget", "validation", "training_record"}),
        tasks=EVERY_TASK,
        records=("final_epochs",),
        parameters=(
            Parameter(
                name="l2_reg",
                kind="float",
                default=None,
                low=1e-4,
                high=1e3,
                log=True,
                optional=True,
                help=(
                    "Damping λ of the Hessian; the noise grows with 1 / (n² λ³). Official: 0.01 "
                    "for the 50,000 images of CIFAR; none: 0.01 · (50,000 / n)^⅔, which gives the "
                    "same noise for n."
                ),
            ),
            Parameter(
                name="perturbations",
                kind="int",
                default=100,
                low=10,
                high=5000,
                help="Perturbed images a sample. Official: 1,000.",
            ),
            Parameter(
                name="input_noise",
                kind="float",
                default=0.1,
                low=1e-3,
                high=2.0,
                help="Standard deviation of the perturbation, in normalised pixels.",
            ),
            Parameter(
                name="cap",
                kind="int",
                default=10,
                low=1,
                high=1000,
                unit="channels",
                help="Most channels an update. Official: no limit.",
            ),
            Parameter(
                name="candidates",
                kind="int",
                default=100,
                low=1,
                high=100_000,
                optional=True,
                unit="channels",
                help="Choose among so many channels that tell most on their own; none: all. "
                "Official: all.",
            ),
            batch(10, "group", "samples an update"),
            Parameter(
                name="curvature",
                kind="choice",
                default="finite_difference",
                choices=("finite_difference", "fisher"),
                help="Where the curvature comes from: differences of gradients, or their outer "
                "products.",
            ),
            Parameter(
                name="epsilon",
                kind="float",
                default=0.1,
                low=1e-6,
                high=1e6,
                log=True,
                optional=True,
                help="Privacy parameter of the noise: smaller is noisier; none: no noise.",
            ),
            Parameter(
                name="delta",
                kind="float",
                default=0.01,
                low=1e-12,
                high=0.5,
                log=True,
                help="The other privacy parameter of the noise.",
            ),
            Parameter(
                name="val_gap",
                kind="float",
                default=0.05,
                low=0.0,
                high=1.0,
                help="An update is undone if the validation accuracy falls by more than this.",
            ),
            Parameter(
                name="validation_samples",
                kind="int",
                default=250,
                low=1,
                high=1_000_000,
                unit="samples",
                help="Validation samples that are asked after each update.",
            ),
        ),
        own_layers="it picks the channels that it changes, in any layer.",
        storage="0 as MUBox counts it; 4 vectors of weights (one of them the original's own)",
        differs=(
            "100 perturbed images, 10 of the 100 likeliest channels and groups of 10 samples by "
            "default, where the official code takes 1,000 images, any number of channels and "
            "single samples and costs several retrainings. The noise is that of one sample, as in "
            "the official code, also where a group has ten."
        ),
        aliases=("LCODEC", "L-FOCI"),
    ),
    MethodCard(
        id="first_order",
        title="First-order influence",
        family="influence",
        source="Warnecke et al., Machine Unlearning of Features and Labels, NDSS 2023",
        code="alewarne/MachineUnlearning Applications/Poisoning/unlearn/first_order.py",
        summary=(
            "One step up the summed gradients of the forget set, and down those of what replaces "
            "it, if anything does. Where the original fits that set perfectly and nothing "
            "replaces it, there is next to no step."
        ),
        how=(
            "Influence functions ask how the weights would move if a sample counted less in "
            "training. Here the Hessian is left out, and a sample's gradient stands for its "
            "influence. The gradients of the forget set are summed at the original's weights, and "
            "the weights move along this sum, scaled by τ. Against poisoning, the same images "
            "with their true labels are the counterpart, and the step leads from the wrong labels "
            "to these. It needs no retain data and no record, only a pass over the forget set. "
            "One straight step cannot follow a curved loss, and τ has to fit the size of the "
            "forget set."
        ),
        reads=frozenset({"forget"}),
        tasks=EVERY_TASK,
        parameters=(
            Parameter(
                name="tau",
                kind="float",
                default=2e-5,
                low=1e-9,
                high=10.0,
                log=True,
                help="Rate on the sum of gradients: it goes with the size of the forget set and "
                "with how well the original fits it. Official: 2e-5, for corrected labels. "
                "MUBox, on originals of 200 epochs: 0.04, all classes and class-wise 0.08.",
            ),
            COUNTERPART,
            UPDATES,
            PARAM_SCOPE,
            batch(256),
        ),
        scenario_values=TRUE_LABEL,
        own_layers="its step is computed for the weights that param_scope names.",
        confined={"param_scope": ("head",)},
        differs=(
            "All weights move, not the last six tensors; the given samples are forgotten, not "
            "training points that the model gets wrong. A masked trigger comes with the true "
            "label: the paper masks features of samples whose labels are right."
        ),
        aliases=("First-order", "First"),
    ),
    MethodCard(
        id="second_order",
        title="Second-order influence",
        family="influence",
        source="Warnecke et al., Machine Unlearning of Features and Labels, NDSS 2023",
        code="alewarne/MachineUnlearning Applications/Poisoning/unlearn/second_order.py",
        summary=(
            "The same gradients, multiplied by the inverse Hessian of the retain set: a Newton "
            "step to where training without the forget set would end. Exact for a quadratic loss; "
            "next to nothing for a deep network that fits everything."
        ),
        how=(
            "Leaving out the forget set changes the training loss, and the inverse Hessian says "
            "how its minimum moves in response. This Hessian belongs to the retain set and to "
            "whatever replaces the forget set. It is never formed: conjugate gradients use only "
            "products with vectors, by default those of the Gauss-Newton matrix, which has no "
            "negative curvature. Weights then move far where the retain loss is flat, as far as "
            "damping lets them, and little where it is steep, so retained knowledge should "
            "survive. LiSSA, the official code's series of products on random batches, is a "
            "choice; on deep networks it seldom solves the system, and the status `unsolved` says "
            "so. Many passes over retain data make it expensive."
        ),
        reads=frozenset({"retain", "forget"}),
        tasks=EVERY_TASK,
        parameters=(
            Parameter(
                name="zeta",
                kind="float",
                default=1.0,
                low=0.0,
                high=1e6,
                help="Multiplier of the step.",
            ),
            Parameter(
                name="solver",
                kind="choice",
                default="cg_ggn",
                choices=("lissa", "cg_ggn", "cg_hessian"),
                help="Conjugate gradients on the Gauss-Newton matrix (never negative) or on the "
                "Hessian, or the official code's series.",
            ),
            Parameter(
                name="damping",
                kind="float",
                default=0.01953125,
                low=1e-6,
                high=100.0,
                log=True,
                help="Added to the Hessian of the mean loss. Official: 1e-4 · 2e5 on sums over "
                "batches of 1024.",
            ),
            Parameter(
                name="scale",
                kind="float",
                default=195.3125,
                low=1.0,
                high=1e6,
                log=True,
                help="LiSSA only: more than half the largest eigenvalue of the Hessian. Official: "
                "2e5 on sums over batches of 1024.",
            ),
            Parameter(
                name="iterations",
                kind="int",
                default=None,
                low=1,
                high=100_000,
                optional=True,
                help="Products at most; none: 50 for conjugate gradients, 100 passes over the "
                "data for LiSSA.",
            ),
            Parameter(
                name="patience",
                kind="int",
                default=20,
                low=1,
                high=1000,
                help="LiSSA ends when its changes stop falling this long; its best iterate is "
                "taken.",
            ),
            Parameter(
                name="repetitions",
                kind="int",
                default=1,
                low=1,
                high=20,
                help="LiSSA runs whose mean is taken.",
            ),
            Parameter(
                name="hvp_samples",
                kind="int",
                default=5000,
                low=1,
                high=1_000_000,
                log=True,
                help="Conjugate gradients only: samples that stand for the Hessian, drawn once.",
            ),
            batch(1024, "hvp_batch_size", "samples of a Hessian product"),
            Parameter(
                name="hessian_scale",
                kind="choice",
                default="exact",
                choices=("exact", "batch_sum"),
                help="Invert the Hessian of the sum of losses, or of a batch's sum as the "
                "official code does: a step n/batch times larger.",
            ),
            COUNTERPART,
            UPDATES,
            PARAM_SCOPE,
        ),
        scenario_values=TRUE_LABEL,
        own_layers="its step is computed for the weights that param_scope names.",
        confined={"param_scope": ("head",)},
        differs=(
            "All weights move, not the last six tensors; the Hessian is that of the sum of "
            "losses, not of a batch; conjugate gradients on the Gauss-Newton matrix take the "
            "place of LiSSA, whose best iterate counts, not its last. Above a residual of 1 % of "
            "the gradient the status is `unsolved`."
        ),
        revision=2,
        aliases=("Second-order", "Second"),
    ),
    MethodCard(
        id="fisher",
        title="Fisher forgetting",
        family="influence",
        source="Golatkar et al., Eternal Sunshine of the Spotless Net, CVPR 2020",
        code="AdityaGolatkar/SelectiveForgetting Forgetting.ipynb",
        summary=(
            "Adds noise to every weight, the more the less the weight matters to the predictions "
            "on the retain set (inverse Fisher information). A class that goes entirely also "
            "loses its row of the classifier."
        ),
        how=(
            "At the original, the Fisher information of its predictions for retained samples is "
            "estimated, one number for each weight. A weight with little information hardly "
            "affects those predictions, so it can bear much noise. Normal noise with a variance "
            "inverse to the information, up to a limit, is added once; classifier, biases and "
            "batch norms get more. What weights knew about the forget set alone should drown in "
            "it, although that set is never read. A well fitted network has almost no "
            "information: then the limit alone rules, and accuracy falls for retained samples "
            "too. The estimate takes gradients of single samples over the retain set."
        ),
        reads=frozenset({"retain"}),
        tasks=EVERY_TASK,
        parameters=(
            Parameter(
                name="alpha",
                kind="float",
                default=1e-6,
                low=1e-12,
                high=1e-2,
                log=True,
                help="Scale of the noise's variance. A step of ten decides between nothing and "
                "ruin. Official: 1e-6.",
            ),
            Parameter(
                name="power",
                kind="choice",
                default="half",
                choices=("half", "quarter"),
                help="Power of 1/F in the standard deviation: one half in the code, one quarter "
                "in the paper.",
            ),
            Parameter(
                name="coverage",
                kind="float",
                default=0.999,
                low=0.0,
                high=1.0,
                help="Share of the predictions' variance that is differentiated; 1: every class "
                "of every sample, many times slower.",
            ),
            batch(128),
        ),
        own_layers="it adds noise to the weights of every layer.",
        differs=(
            "The classifier is found by its place, not by its shape. Predictions with the last "
            "thousandth of the variance are skipped. Several draws of the noise are several "
            "unlearning seeds."
        ),
        aliases=("Fisher", "FF"),
    ),
    MethodCard(
        id="ntk",
        title="NTK scrubbing",
        family="influence",
        source="Golatkar et al., Forgetting Outside the Box, ECCV 2020",
        code="AdityaGolatkar/SelectiveForgetting Forgetting.ipynb",
        summary=(
            "Treats the network as linear in its weights, works out how the solution would move "
            "without the forget set, and moves the weights that way, stretched because a real "
            "network has moved further than a linear one."
        ),
        how=(
            "Around the original, the network is replaced by its linear approximation, whose "
            "Jacobian defines the neural tangent kernel. For a linear model, training is a system "
            "of equations, so the solutions with and without the forget set can be compared. Each "
            "logit of each sample gives one equation; few are solved exactly by Cholesky, many by "
            "conjugate gradients without a Jacobian. The difference of both solutions is added to "
            "the weights, stretched by how far training really went from the initial weights. A "
            "random part of the retain set, 500 samples by default, stands for all of it. Where "
            "the linear picture fits badly, little is forgotten, and the two solves can cost as "
            "much as retraining."
        ),
        reads=frozenset({"retain", "forget", "training_record"}),
        tasks=EVERY_TASK,
        records=("initial",),
        elsewhere={"scale": ("fixed",), "linearise_at": ("trained",)},
        parameters=(
            Parameter(
                name="mu",
                kind="float",
                default=0.1,
                low=1e-6,
                high=1e3,
                log=True,
                help="Ridge, a sample; the authors' pull to the initial weights.",
            ),
            Parameter(
                name="scale",
                kind="choice",
                default="trapezium",
                choices=("trapezium", "fixed"),
                help="Stretch the shift by the authors' trapezium rule, or by kappa.",
            ),
            Parameter(
                name="kappa",
                kind="float",
                default=1.0,
                low=0.0,
                high=1e4,
                help="Stretch with scale fixed.",
            ),
            Parameter(
                name="linearise_at",
                kind="choice",
                default="trained",
                choices=("trained", "initial"),
                help="Where the network is taken as linear. Official: the trained weights.",
            ),
            Parameter(
                name="residual",
                kind="choice",
                default="softmax",
                choices=("softmax", "squared"),
                help="Residuals: softmax minus one-hot, or logits minus one-hot.",
            ),
            Parameter(
                name="noise",
                kind="float",
                default=0.0,
                low=0.0,
                high=1e-2,
                help="Fisher forgetting with this alpha on top; the official notebook also shows "
                "1e-9.",
            ),
            Parameter(
                name="retain_samples",
                kind="int",
                default=500,
                low=1,
                high=1_000_000,
                log=True,
                optional=True,
                help="Retain samples that are linearised, drawn once; none: all. The authors' "
                "whole training set had 500.",
            ),
            Parameter(
                name="iterations",
                kind="int",
                default=300,
                low=1,
                high=10_000,
                log=True,
                help="Conjugate gradients, for more than 4,000 logits or a Jacobian above 1 GiB: "
                "steps of each of two solves at most.",
            ),
            Parameter(
                name="tolerance",
                kind="float",
                default=1e-2,
                low=1e-12,
                high=0.5,
                log=True,
                help="Residual of the kernel's system, relative to its right-hand side, at which "
                "a solve ends; unsolved above it.",
            ),
            batch(256),
        ),
        own_layers="it moves all weights at once, by the gradients of the whole network.",
        storage="Jacobians on disk, 2 · weights · samples · classes · 4 bytes (MUBox: 36 GB)",
        differs=(
            "Nothing is stored. Above 4,000 logits no Jacobian or kernel is formed either: two "
            "solves by conjugate gradients with products of the kernel, preconditioned by a "
            "Nyström sketch. Batch norm trained as usual, weights not pulled to their start, no "
            "pretraining: the originals are those of every other method."
        ),
        revision=2,
        aliases=("NTK",),
    ),
)
