"""Presets that are a paper's own setting: recipe, data set, model and scenarios, with what the
paper leaves open.
"""

from __future__ import annotations

from typing import Any

from mucore.catalog.cards import PresetCard

MUBOX = "MUBox (Li, Thuraisingham and Wei, SACMAT 2025)"
TRULY = "Kim, Cha and Kim, Are We Truly Forgetting?, Engineering Applications of AI"
CHOI = (
    "Choi and Na, Towards Machine Unlearning Benchmarks, 2023, and their code "
    "(github.com/ndb796/MachineUnlearning)"
)
BECKER = "Becker and Liebig, Evaluating Machine Unlearning via Epistemic Uncertainty, 2022"

EVERYTHING = (
    "The paper trains on every published training image: validation is up to 1,000 images of the "
    "test set, and test metrics use the rest."
)

_MUBOX: dict[str, Any] = {
    "epochs": 200,
    "batch_size": 256,
    "lr": 0.1,
    "optimizer": "sgd",
    "momentum": 0.9,
    "nesterov": True,
    "weight_decay": 5e-4,
    "schedule": "cosine",
    "validation_from": "test",
}
_MUBOX_OPEN = (
    "MUBox prints neither the learning rate nor the momentum nor the weight decay of the "
    "original's training. 0.1, 0.9 and 5e-4 are the usual values for such a network and are "
    f"ours. {EVERYTHING}"
)
_MUBOX_METHODS: dict[str, dict[str, Any]] = {
    "salun": {"epochs": 20},
    "l1_sparse": {"epochs": 20},
    **{
        f"first_order/{scenario}": {"tau": 0.04}
        for scenario in ("one_class", "worst_case", "best_case")
    },
    **{f"first_order/{scenario}": {"tau": 0.08} for scenario in ("all_classes", "class_wise")},
    **{f"first_order/{scenario}": {"tau": 3e-5} for scenario in ("label_flip", "backdoor")},
}
_CHOI_METHODS: dict[str, dict[str, Any]] = {
    "finetune": {"lr": 1e-3, "epochs": 2, "momentum": 0.0, "batch_size": 64},
    "gradient_ascent": {"lr": 1e-3, "momentum": 0.0, "batch_size": 64},
    "cf_k": {"lr": 1e-3, "epochs": 2},
    "advanced_neggrad": {"lr": 1e-3, "epochs": 2, "momentum": 0.0, "batch_size": 64},
}
# The entries of the competition were made for an original of 30 epochs, so none of theirs shrink
# here.
_COMPETITION_METHODS: dict[str, dict[str, Any]] = {
    "fcs": {"epochs": 8},
    "msg": {"epochs": 5},
    "ct": {"epochs": 3},
    "niu": {"reset_epochs": 1, "noise_epochs": 4, "fine_epochs": 4},
}
_CHOI: dict[str, Any] = {
    "epochs": 30,
    "batch_size": 64,
    "lr": 0.01,
    "optimizer": "sgd",
    "momentum": 0.9,
    "nesterov": False,
    "weight_decay": 0.0,
    "schedule": "step",
    "milestones": (10, 20),
    "validation_from": "test",
}
_BECKER: dict[str, Any] = {
    "lr": 0.1,
    "optimizer": "sgd",
    "momentum": 0.0,
    "nesterov": False,
    "weight_decay": 0.0,
    "schedule": "constant",
    "validation_from": "test",
    "per_class": 100,
    "greyscale": True,
    "augment": False,
}
# Nothing is trained after the updates are taken back; the noise is a tenth of the official code's
# variance.
_BECKER_METHODS: dict[str, dict[str, Any]] = {
    "amnesiac": {"repair_epochs": 0},
    "fisher": {"alpha": 1e-7},
}
_BECKER_OPEN = (
    "Its images are grey and its training holds nothing back: validation is up to 1,000 images of "
    "the test set."
)
_TRULY: dict[str, Any] = {"batch_size": 256, "weight_decay": 5e-4, "validation_from": "test"}

PAPERS: tuple[PresetCard, ...] = (
    PresetCard(
        id="mubox-cifar10",
        title="MUBox, CIFAR-10",
        meaning="200 epochs with a cosine rate, for ResNet-18 on CIFAR-10; needs a GPU. The "
        "paper's original reaches 93.24 %.",
        source=MUBOX,
        recipe=_MUBOX,
        methods=_MUBOX_METHODS,
        dataset="cifar10",
        model="resnet18",
        scenarios={
            "one_class": {"budget": 1000},
            "all_classes": {"budget": 1000},
            "class_wise": {},
            "worst_case": {"budget": 1000},
            "best_case": {"budget": 1000},
            "label_flip": {"budget": 5000},
            "backdoor": {"budget": 5000},
        },
        open_points=f"{_MUBOX_OPEN} The curves take budgets of 2, 5, 10 and 20 %; label flips "
        "also 2,500 samples.",
    ),
    PresetCard(
        id="mubox-tinyimagenet",
        title="MUBox, TinyImageNet",
        meaning="200 epochs with a cosine rate, for MobileViT-S on 50 TinyImageNet classes; needs "
        "a GPU. The paper's original: 59.88 %.",
        source=f"{MUBOX}, appendix",
        recipe=_MUBOX,
        methods=_MUBOX_METHODS,
        dataset="tiny-imagenet-50",
        model="mobilevit-s",
        scenarios={
            "one_class": {"budget": 200},
            "all_classes": {"budget": 500},
            "class_wise": {},
            "worst_case": {"budget": 500},
            "best_case": {"budget": 500},
        },
        open_points=(
            f"{_MUBOX_OPEN} The size of its MobileViT is not printed; S is ours. Nor is the "
            "budget of the lowest and highest loss; 500 is ours."
        ),
    ),
    PresetCard(
        id="truly-forgetting",
        title="Are We Truly Forgetting?",
        meaning="182 epochs with a rate in steps, for ResNet-50 on ImageNet, streamed from its "
        "files; takes several days on a GPU.",
        source=TRULY,
        recipe={
            **_TRULY,
            "epochs": 182,
            "lr": 0.1,
            "optimizer": "sgd",
            "momentum": 0.9,
            "nesterov": False,
            "schedule": "step",
            "milestones": (91, 136),
        },
        dataset="imagenet",
        model="resnet50",
        scenarios={"random_classes": {"n": 100}, "top_classes": {"n": 100}},
        open_points=(
            "The paper names the step rate but not its epochs; 91 and 136, momentum 0.9 and "
            "decay 5e-4 are those of SalUn's code, from which the 182 epochs seem to come. Crops "
            "are shifts of 4 pixels here, not of random size. The paper forgets 100, 200 and 300 "
            f"classes, at random and by three downstream sets. {EVERYTHING}"
        ),
    ),
    PresetCard(
        id="truly-forgetting-adamw",
        title="Are We Truly Forgetting?, ConvNeXt and Swin",
        meaning="30 epochs of AdamW with a cosine rate, for ConvNeXt-T or Swin-T on ImageNet; "
        "takes days on a GPU.",
        source=f"{TRULY}, the other two backbones",
        recipe={**_TRULY, "epochs": 30, "lr": 1e-3, "optimizer": "adamw", "schedule": "cosine"},
        dataset="imagenet",
        model="convnext-t",
        scenarios={"random_classes": {"n": 100}},
        open_points="Only optimiser, schedule and epochs are known to us; rate 1e-3, decay 5e-4 "
        f"and batch 256 are ours. {EVERYTHING}",
    ),
    PresetCard(
        id="mufac",
        title="MUFAC",
        meaning="30 epochs, rate 0.01, divided by ten after 10 and 20, for ResNet-18 on MUFAC. "
        "The paper's original reaches 59.51 %.",
        source=CHOI,
        recipe=_CHOI,
        methods=_CHOI_METHODS,
        dataset="mufac",
        model="resnet18",
        scenarios={"identities": {"count": 150}},
        open_points=(
            "The rate, its steps and the momentum are those of the authors' code. They forget "
            "the first 1,500 of 10,025 training images, which may cut a person's images in two; "
            "here whole persons go, and their number, 150, is ours. Their augmentation also "
            f"shears and changes colours; ours shifts and mirrors. {EVERYTHING}"
        ),
    ),
    PresetCard(
        id="mucac",
        title="MUCAC",
        meaning="30 epochs, rate 0.01, divided by ten after 10 and 20, for ResNet-18 on MUCAC: "
        "three attributes per image.",
        source=CHOI,
        recipe=_CHOI,
        methods=_CHOI_METHODS,
        dataset="mucac",
        model="resnet18",
        scenarios={"identities": {"count": 1060}},
        open_points=(
            "The recipe is that of MUFAC; we know of none for MUCAC. The authors forget persons "
            "190 to 1249, who have more images each than the others; here as many persons are "
            "drawn, or named by --set identities.persons. Their augmentation also shears and "
            f"changes colours. {EVERYTHING}"
        ),
    ),
    PresetCard(
        id="efficacy-mnist",
        title="Epistemic uncertainty, MNIST",
        meaning="50 epochs of plain SGD on the first 100 images of each class, for an MLP on "
        "MNIST. The paper repeats it with 20 seeds.",
        source=BECKER,
        recipe={**_BECKER, "epochs": 50, "batch_size": 32},
        methods=_BECKER_METHODS,
        dataset="mnist",
        model="mlp",
        scenarios={"class_fraction": {"class_id": 3, "fraction": 0.1}},
        open_points=f"The paper forgets 1, 10, 25, 50, 80 and 100 % of class 3. {_BECKER_OPEN}",
    ),
    PresetCard(
        id="efficacy-cifar10",
        title="Epistemic uncertainty, CIFAR-10",
        meaning="200 epochs of plain SGD on the first 100 images of each class in grey, for an "
        "MLP on CIFAR-10.",
        source=BECKER,
        recipe={**_BECKER, "epochs": 200, "batch_size": 64},
        methods=_BECKER_METHODS,
        dataset="cifar10",
        model="mlp",
        scenarios={"class_fraction": {"class_id": 8, "fraction": 0.1}},
        open_points=f"The paper forgets 1, 10, 25, 50, 80 and 100 % of class 8. {_BECKER_OPEN}",
    ),
    PresetCard(
        id="neurips-faces",
        title="NeurIPS 2023 competition",
        meaning="30 epochs with class weights and without augmentation, for ResNet-18; persons "
        "with about 2 % of the images are forgotten. The competition's original reached 98.98 % "
        "on training and 96.43 % on test images.",
        source="Triantafillou et al., Are We Making Progress in Unlearning?, 2024",
        recipe={
            "epochs": 30,
            "batch_size": 64,
            "lr": 0.05,
            "optimizer": "sgd",
            "momentum": 0.9,
            "nesterov": True,
            "weight_decay": 5e-4,
            "schedule": "cosine",
            "class_weights": True,
            "augment": False,
        },
        methods=_COMPETITION_METHODS,
        dataset="faces",
        model="resnet18",
        scenarios={"competition": {"fraction": 0.02}},
        open_points="The competition's faces (CASIA-SURF, ten age groups) were never given out; "
        "drawn faces stand in, and MUFAC is the nearest public set. Optimiser, rate and batch are "
        "ours.",
    ),
)
