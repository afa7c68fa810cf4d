"""Methods that train on other labels for the forget set."""

from __future__ import annotations

from dataclasses import replace

from mucore.catalog.cards import EVERY_TASK, MethodCard, Parameter
from mucore.catalog.methods.settings import MUBOX_EPOCHS, batch, bn, decay, epochs, lr, momentum

CARDS = (
    MethodCard(
        id="random_labels",
        title="Random labels",
        family="relabelling",
        source="Graves et al., AAAI 2021; Golatkar et al., CVPR 2020; settings of SalUn (Fan et "
        "al., ICLR 2024)",
        code="OPTML-Group/Unlearn-Saliency Classification/unlearn/RL.py",
        summary="Gives the forget set random labels and trains on both sets.",
        how=(
            "The original trains on, and by default each epoch begins with a pass over the forget "
            "set. Whenever a sample comes up there, its label is drawn anew from all classes, the "
            "true one included. Contradicting labels undo the link between image and class, so "
            "predictions on the forget set become flat. A pass over the retain set with its true "
            "labels follows and repairs the rest. It needs no record and no second network, but "
            "an epoch reads the whole training set. Flat predictions are a trace in themselves, "
            "since Retrain is surer of most such samples; membership inference by confidence "
            "notices."
        ),
        reads=frozenset({"retain", "forget"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(0.01),
            epochs(10, "the forget set and the retain set", scaled=True),
            momentum(),
            decay(),
            batch(256),
            Parameter(
                name="mode",
                kind="choice",
                default="sequential",
                choices=("sequential", "mixed_fixed", "mixed_fresh", "forget_only"),
                help="Forget then retain pass, labels of all classes; both mixed, wrong labels, "
                "fixed or fresh; or forget pass only.",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        aliases=("RL", "Random labelling"),
    ),
    MethodCard(
        id="pseudo_labels",
        title="Pseudo-labels",
        family="relabelling",
        source="Chen et al., Machine Unlearning via Null Space Calibration (UNSC), IJCAI 2024; "
        "first step alone: Are We Truly Forgetting?",
        code="HQC-ML/UNSC utils.py and notebooks",
        summary=(
            "Gives each forgotten sample the label that the original finds second most likely, "
            "and trains on the forget set alone. With the null-space projection (UNSC) weights "
            "move only in directions that the inputs of the kept classes do not use."
        ),
        how=(
            "The new label of a forgotten image is the original's best class other than the true "
            "one and those that go. The original then trains on these labels with batch norm "
            "frozen by default. The new class usually lies just across the decision boundary, so "
            "a small shift should do and the rest stay as it is. Without the null-space option "
            "nothing protects the retain set; with it, some retained samples of each class must "
            "be read. The last layers can do most of the work, so features may still tell the "
            "forgotten class. Random samples of all classes pull many boundaries at once and cost "
            "much accuracy."
        ),
        reads=frozenset({"forget"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(1e-4),
            epochs(10, "the forget set", scaled=False),
            momentum(),
            decay(),
            batch(128),
            bn("frozen"),
            Parameter(
                name="projection",
                kind="choice",
                default="off",
                choices=("off", "null_space"),
                late=True,
                help=(
                    "Labels alone, or UNSC: weights move outside the inputs of the kept classes, "
                    "with a rate, epochs and batches of their own and neither momentum nor decay. "
                    "Reads a few samples of each class of the retain set."
                ),
            ),
            Parameter(
                name="energy",
                kind="float",
                default=0.97,
                low=0.0,
                high=1.0,
                late=True,
                help="Null space: share of the energy of a layer's inputs that the first class "
                "protects; it rises to 1 over the classes.",
            ),
            Parameter(
                name="basis_samples",
                kind="int",
                default=125,
                low=1,
                high=100_000,
                log=True,
                unit="samples",
                late=True,
                help="Null space: retained samples of each class that the protected directions "
                "come from.",
            ),
            replace(lr(0.04, name="null_lr", help="Null space: learning rate."), late=True),
            replace(
                epochs(25, "the forget set with the null space", scaled=False),
                name="null_epochs",
                late=True,
            ),
            replace(batch(512, "null_batch_size", "samples with the null space"), late=True),
            Parameter(
                name="nesterov",
                kind="bool",
                default=False,
                late=True,
                help="Nesterov's momentum in place of plain; the null space has none.",
            ),
        ),
        own_layers="its null space is computed for every layer, and training within it moves them "
        "all.",
        confined={"projection": ("off",)},
        storage="0 (null space: one basis a layer while it runs, 0.1 to 0.5 GB for ResNet-18)",
        differs=(
            "In class-wise scenarios no new label is a forgotten class; the official helper "
            "allows that. Rates of the first step alone are not in the paper. Null space: inputs "
            "are cut with each layer's own stride, and the share grows by 0.03 / C a class."
        ),
        aliases=("PL",),
    ),
    MethodCard(
        id="boundary_shrink",
        title="Boundary shrink",
        family="relabelling",
        source="Chen et al., Boundary Unlearning, CVPR 2023",
        code="TY-LEE-KR/Boundary-Unlearning-Code boundary_unlearning.py (a mirror)",
        summary=(
            "Gives each forgotten sample the label of the nearest other class, found by one "
            "adversarial step, and trains on the forget set alone."
        ),
        how=(
            "One signed gradient step (FGSM) on the pixels of each forgotten image raises the "
            "original's loss. The class that the original sees there lies just across the "
            "decision boundary; if it is not allowed, the runner-up class serves. The original "
            "trains on the unchanged images with these labels, so the region of the forgotten "
            "class shrinks into its neighbours. Neither retain set nor record is needed, and a "
            "few short epochs make it very cheap. It is designed for whole classes. If part of a "
            "class goes, the retained part crosses the boundary too, and random samples of all "
            "classes hardly change."
        ),
        reads=frozenset({"forget"}),
        tasks_reason="it moves a sample to the one class that lies nearest across a boundary, and "
        "attributes have a boundary each.",
        parameters=(
            Parameter(
                name="epsilon",
                kind="float",
                default=0.1,
                low=0.0,
                high=1.0,
                unit="of the pixel range",
                help="Size of the adversarial step at each pixel.",
            ),
            lr(1e-5),
            epochs(10, "the forget set", scaled=False),
            momentum(),
            decay(0.0),
            batch(64),
            Parameter(
                name="on_fail",
                kind="choice",
                default="runner_up",
                choices=("runner_up", "keep"),
                help="Where the step does not cross a boundary: the original's runner-up class, "
                "or the true label (official code).",
            ),
            Parameter(
                name="extra",
                kind="choice",
                default="plain",
                choices=("plain", "curvature", "weights"),
                help="Optional terms of the official code: keep the loss's curvature, or weigh "
                "samples by how clearly they crossed.",
            ),
            bn("frozen"),
        ),
        differs="Batch norm frozen and runner-up labels for failed attacks by default; the "
        "official code has neither.",
        aliases=("BS", "Boundary-S"),
    ),
    MethodCard(
        id="boundary_expanding",
        title="Boundary expanding",
        family="relabelling",
        source="Chen et al., Boundary Unlearning, CVPR 2023",
        code="TY-LEE-KR/Boundary-Unlearning-Code boundary_unlearning.py (a mirror)",
        summary="Adds a shadow class to the output layer, trains the forget set alone towards it, "
        "and removes it again.",
        how=(
            "The classifier gets one more row with random weights and no bias: a class that no "
            "image has. All weights of the original train towards it on forgotten images, until "
            "nearly all land there or the epochs are over. Their features so leave the old class "
            "without being pushed into any particular other one. After the extra row is cut off, "
            "another of the old classes should win. Neither labels nor retain data nor a record "
            "are needed. The forgotten class can come back with the cut, because the extra row "
            "took up the change, and retained images of that class follow."
        ),
        reads=frozenset({"forget"}),
        tasks_reason="its shadow class takes the place of a sample's class, and an attribute has "
        "no class beside yes and no.",
        parameters=(
            lr(1e-5),
            epochs(10, "the forget set", scaled=False),
            momentum(),
            decay(0.0),
            batch(64),
            Parameter(
                name="stop_share",
                kind="float",
                default=0.99,
                low=0.0,
                high=1.0,
                optional=True,
                help="Stop when this share of the forget set is in the shadow class; none: never. "
                "A guard of ours.",
            ),
            bn("frozen"),
        ),
        differs="Batch norm frozen, and an early end, by default; the official code has neither.",
        aliases=("BE", "Boundary-E"),
    ),
    MethodCard(
        id="unsir",
        title="UNSIR",
        family="relabelling",
        source="Tarun et al., Fast Yet Effective Machine Unlearning, TNNLS 2023; instance form of "
        "Choi and Na (MUFAC and MUCAC), 2023",
        code="vikram2000b/Fast-Machine-Unlearning; ndb796/MachineUnlearning 01_MUFAC",
        summary=(
            "Makes noise against what is to be forgotten, impairs the network by training on it, "
            "and repairs it on the retain set. For whole classes the noise carries the label of a "
            "forgotten class and no forgotten image is read. For samples the noise is driven away "
            "from their outputs and carries retained labels."
        ),
        how=(
            "Both forms start from the original, and learning nonsense is to overwrite what the "
            "weights hold of the forgotten part. For whole classes, noise images are optimised "
            "for a high loss of the original on that class. One epoch trains on this noise and up "
            "to 1,000 retained samples of each class, another on those samples alone. For single "
            "samples, each forgotten batch gets fresh noise, which is trained together with a "
            "retain batch. An epoch over the retain set ends this form. The rate of the impairing "
            "steps is delicate: a high one lowers accuracy on retained data, and a low one leaves "
            "the forget set intact."
        ),
        reads=frozenset({"retain", "forget"}),
        tasks=EVERY_TASK,
        parameters=(
            Parameter(
                name="form",
                kind="choice",
                default="auto",
                choices=("auto", "class", "instance"),
                help="For whole classes or for samples; auto: the class form where whole classes "
                "go.",
            ),
            Parameter(
                name="class_noise_steps",
                kind="int",
                default=40,
                low=0,
                high=1000,
                help="Class form: steps that make the noise.",
            ),
            Parameter(
                name="class_noise_lr",
                kind="float",
                default=0.1,
                low=1e-4,
                high=10.0,
                log=True,
                help="Class form: rate of those steps.",
            ),
            Parameter(
                name="penalty",
                kind="float",
                default=0.1,
                low=0.0,
                high=10.0,
                help="Class form: weight of the noise's squared norm.",
            ),
            Parameter(
                name="noise_batches",
                kind="int",
                default=20,
                low=1,
                high=1000,
                help="Class form: how often the noise batch is repeated.",
            ),
            Parameter(
                name="noise_use",
                kind="choice",
                default="full",
                choices=("full", "official60"),
                help="Class form: use the whole noise batch, or as few images of it as the "
                "official code's slip does.",
            ),
            Parameter(
                name="retain_per_class",
                kind="int",
                default=1000,
                low=1,
                high=1_000_000,
                log=True,
                unit="samples",
                help="Class form: retained samples of each class, at most.",
            ),
            lr(
                0.02,
                name="impair_lr",
                help="Class form: learning rate (Adam) of the impairing pass.",
            ),
            lr(
                0.01,
                name="repair_lr",
                help="Class form: learning rate (Adam) of the repairing pass.",
            ),
            batch(256),
            Parameter(
                name="instance_epochs",
                kind="int",
                default=2,
                low=0,
                high=500,
                unit="epochs",
                help="Instance form: passes over the forget set; one over the retain set follows.",
            ),
            Parameter(
                name="instance_noise_steps",
                kind="int",
                default=5,
                low=0,
                high=1000,
                help="Instance form: steps that make the noise.",
            ),
            Parameter(
                name="instance_noise_lr",
                kind="float",
                default=0.01,
                low=1e-4,
                high=10.0,
                log=True,
                help="Instance form: rate of those steps.",
            ),
            lr(
                1e-3,
                name="instance_lr",
                help="Instance form: learning rate of SGD without momentum.",
            ),
            batch(64, "instance_batch_size"),
        ),
        differs="The official class form uses 60 noise images, made in train mode, and calls "
        "every forgotten class 0; here all are used.",
    ),
    MethodCard(
        id="amun",
        title="AMUN",
        family="relabelling",
        source="Ebrahimpour-Boroojeny, Sundaram, Chandrasekaran, AMUN, ICML 2025",
        code="Ali-E/AMUN adversarial_unlearn.py, pgdl2_modified.py",
        summary=(
            "Finds for each forgotten sample a close adversarial image and trains on all data "
            "plus those images, under the wrong classes that the original gives them. Made for "
            "random samples: to remove a class or poison, leave its labels out (sets no_forget)."
        ),
        how=(
            "Projected gradient ascent searches a small ball around each forgotten image, and the "
            "radius doubles until the original's prediction changes. The image found there is "
            "stored under the wrong class that the original sees in it. Fine-tuning then runs on "
            "the retain set, the forget set under the labels it has and these images. Two labels "
            "so close together lower the confidence on forgotten samples towards that on unseen "
            "ones, while boundaries elsewhere hardly move. The aim is membership inference more "
            "than accuracy. The search takes many gradients for each sample, and every epoch "
            "reads all data."
        ),
        reads=frozenset({"retain", "forget"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(0.01),
            epochs(10, "the training set", scaled=True),
            Parameter(
                name="decay_every",
                kind="int",
                default=1,
                low=1,
                high=500,
                unit="epochs",
                help="The rate falls to a tenth this often.",
            ),
            momentum(),
            decay(),
            batch(128),
            Parameter(
                name="radius",
                kind="float",
                default=0.04,
                low=1e-4,
                high=10.0,
                log=True,
                help="First radius of the attack, Euclidean, of pixels in 0..1.",
            ),
            Parameter(
                name="attack_steps",
                kind="int",
                default=50,
                low=1,
                high=1000,
                help="Steps of the attack at each radius.",
            ),
            Parameter(
                name="doublings",
                kind="int",
                default=10,
                low=0,
                high=20,
                help="How often the radius may double. A guard of ours.",
            ),
            Parameter(
                name="sets",
                kind="choice",
                default="all",
                choices=("all", "no_retain", "no_forget"),
                help="Train on retain, forget and adversarial images, or leave out one of the "
                "first two.",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        storage="0 (the forget set's adversarial images while it runs; 61 MB for 5,000 of "
        "CIFAR-10)",
        differs="The attack's radius is bounded; a sample that never leaves its class gets its "
        "runner-up label.",
    ),
    MethodCard(
        id="munba",
        title="MUNBa",
        family="relabelling",
        source="Wu et al., MUNBa: Machine Unlearning via Nash Bargaining, ICCV 2025",
        code="JingWu321/MUNBa Classification/unlearn/MUNBa.py",
        summary=(
            "Retaining and forgetting, the latter as random labels on the forget set, bargain "
            "over each step: it goes along the bisector of their gradients, whatever their sizes. "
            "When the forget set is used up, the epoch ends with plain steps on the retain set."
        ),
        how=(
            "Starting from the original, each step takes two gradients: of the loss on a retain "
            "batch, and of that on a forget batch under random labels. The Nash bargaining "
            "solution weighs them so that each loss falls, to first order, in proportion to the "
            "length of its gradient. So neither side drowns the other, and no weight between the "
            "two has to be chosen. The joint gradient is cut to length one by default, and only "
            "opposite gradients have no solution. Each of these steps costs two backward passes. "
            "Steps of limited length move a well fitted network little, so a short run can forget "
            "next to nothing."
        ),
        reads=frozenset({"retain", "forget"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(0.01),
            epochs(10, "the retain set", scaled=True),
            momentum(),
            decay(),
            batch(256),
            Parameter(
                name="step_norm",
                kind="float",
                default=1.0,
                low=1e-6,
                high=1e6,
                log=True,
                optional=True,
                help="Largest norm of a bargained gradient, which is √2 uncut; none: uncut.",
            ),
            bn("train"),
        ),
        paper_epochs=MUBOX_EPOCHS,
        own_layers="it weighs gradients of the whole network against each other.",
        differs="The symmetric solution of the bargain; the official formula fails for orthogonal "
        "gradients and then takes fixed weights.",
    ),
)
