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
        source="Graves et al., AAAI 2021; Golatkar et al., CVPR 2020; settings of SalUn (Fan et al., ICLR 2024)",
        code="OPTML-Group/Unlearn-Saliency Classification/unlearn/RL.py",
        summary="Gives the forget set random labels and trains on both sets.",
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
                help="Forget then retain pass, labels of all classes; both mixed, wrong labels, fixed or fresh; or forget pass only.",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        aliases=("RL", "Random labelling"),
    ),
    MethodCard(
        id="pseudo_labels",
        title="Pseudo-labels",
        family="relabelling",
        source="Chen et al., Machine Unlearning via Null Space Calibration (UNSC), IJCAI 2024; first step alone: Are We Truly Forgetting?",
        code="HQC-ML/UNSC utils.py and notebooks",
        summary=(
            "Gives each forgotten sample the label that the original finds second most likely, and trains on the forget set alone. With "
            "the null-space projection (UNSC) weights move only in directions that the inputs of the kept classes do not use."
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
                    "Labels alone, or UNSC: weights move outside the inputs of the kept classes, with a rate, epochs and batches of their "
                    "own and neither momentum nor decay. Reads a few samples of each class of the retain set."
                ),
            ),
            Parameter(
                name="energy",
                kind="float",
                default=0.97,
                low=0.0,
                high=1.0,
                late=True,
                help="Null space: share of the energy of a layer's inputs that the first class protects; it rises to 1 over the classes.",
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
                help="Null space: retained samples of each class that the protected directions come from.",
            ),
            replace(lr(0.04, name="null_lr", help="Null space: learning rate."), late=True),
            replace(epochs(25, "the forget set with the null space", scaled=False), name="null_epochs", late=True),
            replace(batch(512, "null_batch_size", "samples with the null space"), late=True),
            Parameter(
                name="nesterov",
                kind="bool",
                default=False,
                late=True,
                help="Nesterov's momentum in place of plain; the null space has none.",
            ),
        ),
        own_layers="its null space is computed for every layer, and training within it moves them all.",
        confined={"projection": ("off",)},
        storage="0 (null space: one basis a layer while it runs, 0.1 to 0.5 GB for ResNet-18)",
        differs=(
            "In class-wise scenarios no new label is a forgotten class; the official helper allows that. Rates of the first step alone are "
            "not in the paper. Null space: inputs are cut with each layer's own stride, and the share grows by 0.03 / C a class."
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
            "Gives each forgotten sample the label of the nearest other class, found by one adversarial step, and trains on the forget set "
            "alone."
        ),
        reads=frozenset({"forget"}),
        tasks_reason="it moves a sample to the one class that lies nearest across a boundary, and attributes have a boundary each.",
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
                help="Where the step does not cross a boundary: the original's runner-up class, or the true label (official code).",
            ),
            Parameter(
                name="extra",
                kind="choice",
                default="plain",
                choices=("plain", "curvature", "weights"),
                help="Optional terms of the official code: keep the loss's curvature, or weigh samples by how clearly they crossed.",
            ),
            bn("frozen"),
        ),
        differs="Batch norm frozen and runner-up labels for failed attacks by default; the official code has neither.",
        aliases=("BS", "Boundary-S"),
    ),
    MethodCard(
        id="boundary_expanding",
        title="Boundary expanding",
        family="relabelling",
        source="Chen et al., Boundary Unlearning, CVPR 2023",
        code="TY-LEE-KR/Boundary-Unlearning-Code boundary_unlearning.py (a mirror)",
        summary="Adds a shadow class to the output layer, trains the forget set alone towards it, and removes it again.",
        reads=frozenset({"forget"}),
        tasks_reason="its shadow class takes the place of a sample's class, and an attribute has no class beside yes and no.",
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
                help="Stop when this share of the forget set is in the shadow class; none: never. A guard of ours.",
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
        source="Tarun et al., Fast Yet Effective Machine Unlearning, TNNLS 2023; instance form of Choi and Na (MUFAC and MUCAC), 2023",
        code="vikram2000b/Fast-Machine-Unlearning; ndb796/MachineUnlearning 01_MUFAC",
        summary=(
            "Makes noise against what is to be forgotten, impairs the network by training on it, and repairs it on the retain set. For "
            "whole classes the noise carries the label of a forgotten class and no forgotten image is read. For samples the noise is "
            "driven away from their outputs and carries retained labels."
        ),
        reads=frozenset({"retain", "forget"}),
        tasks=EVERY_TASK,
        parameters=(
            Parameter(
                name="form",
                kind="choice",
                default="auto",
                choices=("auto", "class", "instance"),
                help="For whole classes or for samples; auto: the class form where whole classes go.",
            ),
            Parameter(name="class_noise_steps", kind="int", default=40, low=0, high=1000, help="Class form: steps that make the noise."),
            Parameter(
                name="class_noise_lr", kind="float", default=0.1, low=1e-4, high=10.0, log=True, help="Class form: rate of those steps."
            ),
            Parameter(
                name="penalty", kind="float", default=0.1, low=0.0, high=10.0, help="Class form: weight of the noise's squared norm."
            ),
            Parameter(
                name="noise_batches", kind="int", default=20, low=1, high=1000, help="Class form: how often the noise batch is repeated."
            ),
            Parameter(
                name="noise_use",
                kind="choice",
                default="full",
                choices=("full", "official60"),
                help="Class form: use the whole noise batch, or as few images of it as the official code's slip does.",
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
            lr(0.02, name="impair_lr", help="Class form: learning rate (Adam) of the impairing pass."),
            lr(0.01, name="repair_lr", help="Class form: learning rate (Adam) of the repairing pass."),
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
                name="instance_noise_steps", kind="int", default=5, low=0, high=1000, help="Instance form: steps that make the noise."
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
            lr(1e-3, name="instance_lr", help="Instance form: learning rate of SGD without momentum."),
            batch(64, "instance_batch_size"),
        ),
        differs="The official class form uses 60 noise images, made in train mode, and calls every forgotten class 0; here all are used.",
    ),
    MethodCard(
        id="amun",
        title="AMUN",
        family="relabelling",
        source="Ebrahimpour-Boroojeny, Sundaram, Chandrasekaran, AMUN, ICML 2025",
        code="Ali-E/AMUN adversarial_unlearn.py, pgdl2_modified.py",
        summary=(
            "Finds for each forgotten sample a close adversarial image and trains on all data plus those images, under the wrong classes "
            "that the original gives them. Made for random samples: to remove a whole class, leave its true labels out (sets no_forget)."
        ),
        reads=frozenset({"retain", "forget"}),
        tasks=EVERY_TASK,
        parameters=(
            lr(0.01),
            epochs(10, "the training set", scaled=True),
            Parameter(
                name="decay_every", kind="int", default=1, low=1, high=500, unit="epochs", help="The rate falls to a tenth this often."
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
            Parameter(name="attack_steps", kind="int", default=50, low=1, high=1000, help="Steps of the attack at each radius."),
            Parameter(name="doublings", kind="int", default=10, low=0, high=20, help="How often the radius may double. A guard of ours."),
            Parameter(
                name="sets",
                kind="choice",
                default="all",
                choices=("all", "no_retain", "no_forget"),
                help="Train on retain, forget and adversarial images, or leave out one of the first two.",
            ),
        ),
        paper_epochs=MUBOX_EPOCHS,
        storage="0 (the forget set's adversarial images while it runs; 61 MB for 5,000 of CIFAR-10)",
        differs="The attack's radius is bounded; a sample that never leaves its class gets its runner-up label.",
    ),
    MethodCard(
        id="munba",
        title="MUNBa",
        family="relabelling",
        source="Wu et al., MUNBa: Machine Unlearning via Nash Bargaining, ICCV 2025",
        code="JingWu321/MUNBa Classification/unlearn/MUNBa.py",
        summary=(
            "Retaining and forgetting, the latter as random labels on the forget set, bargain over each step: it goes along the bisector "
            "of their gradients, whatever their sizes. When the forget set is used up, the epoch ends with plain steps on the retain set."
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
        differs="The symmetric solution of the bargain; the official formula fails for orthogonal gradients and then takes fixed weights.",
    ),
)
