"""MUBox: which of its tables and figures are where."""

from __future__ import annotations

from dashboard.papers.records import Exhibit, Link, Paper, results, run


def _mubox(name: str, scenario: str, shows: str) -> Exhibit:
    return Exhibit(
        name=name,
        shows=shows,
        links=(
            results("Results", scenario, f"mubox-{name.removeprefix('Table ')}"),
            Link(
                "The five attacks side by side", "membership", {"scenario": scenario, "paper": "1"}
            ),
        ),
        commands=(run("mubox-cifar10", scenario),),
        scenarios=(scenario,),
    )


MUBOX = Paper(
    id="mubox",
    title="MUBox",
    citation="Li, Thuraisingham and Wei: MUBox, SACMAT 2025",
    about="23 methods under one protocol: six scenarios, eleven metrics, CIFAR-10 with ResNet-18 "
    "and TinyImageNet with MobileViT.",
    exhibits=(
        *(
            Exhibit(
                name=name,
                shows="A survey of the literature.",
                missing="It prints no result of a run, so it has no counterpart.",
            )
            for name in ("Figure 1", "Table 7")
        ),
        _mubox(
            "Table 1",
            "one_class",
            "1,000 images of one class: accuracies, five membership attacks, distance to Retrain.",
        ),
        Exhibit(
            name="Table 2",
            shows="Run time relative to Retrain, and extra storage.",
            links=(results("Results, columns RTE and MB", "one_class", "mubox-2", sort="rte"),),
            commands=(run("mubox-cifar10", "one_class"),),
            scenarios=("one_class",),
        ),
        _mubox("Table 3", "all_classes", "1,000 images of all classes."),
        _mubox("Table 4", "class_wise", "A whole class; GKT and UNSIR join."),
        _mubox("Table 5", "worst_case", "The 1,000 images of the lowest loss."),
        _mubox("Table 6", "best_case", "The 1,000 images of the highest loss."),
        Exhibit(
            name="Tables 8–12",
            shows="The same five scenarios on 50 classes of TinyImageNet, without the distance.",
            links=tuple(
                results(f"Table {number}", scenario, f"mubox-{number}", dataset="tiny-imagenet-50")
                for number, scenario in enumerate(
                    ("one_class", "all_classes", "class_wise", "worst_case", "best_case"), start=8
                )
            ),
            commands=("python -m mucore run --preset mubox-tinyimagenet --methods all",),
            scenarios=("one_class", "all_classes", "class_wise", "worst_case", "best_case"),
        ),
        Exhibit(
            name="Figures 3, 4",
            shows="Test and forget accuracy against the budget of 2, 5, 10 and 20 %, one line a "
            "method.",
            links=(
                Link("Part of one class", "budget", {"scenario": "one_class", "paper": "1"}),
                Link("Part of all classes", "budget", {"scenario": "all_classes", "paper": "1"}),
            ),
            commands=(
                *(
                    run("mubox-cifar10", "one_class", more=f"--budget {count}")
                    for count in (100, 250, 500, 1000)
                ),
                *(
                    run("mubox-cifar10", "all_classes", more=f"--budget {count}")
                    for count in (1000, 2500, 5000, 10000)
                ),
            ),
            scenarios=("one_class", "all_classes"),
        ),
        Exhibit(
            name="Figures 5, 6",
            shows="Label flipping with 2,500 and 5,000 poisoned images: test accuracy, and forget "
            "accuracy as the attack's success.",
            links=(Link("Depoisoning, every size", "depoisoning", {"scenario": "label_flip"}),),
            commands=tuple(
                run("mubox-cifar10", "label_flip", more=f"--budget {count}")
                for count in (2500, 5000)
            ),
            scenarios=("label_flip",),
        ),
        Exhibit(
            name="Figure 7",
            shows="A backdoor of 5,000 images: clean accuracy and attack success.",
            links=(Link("Depoisoning", "depoisoning", {"scenario": "backdoor"}),),
            commands=(run("mubox-cifar10", "backdoor"),),
            scenarios=("backdoor",),
        ),
    ),
    findings={
        "F1": (
            "Methods outside their papers' settings often lose utility: Amnesiac, SSD, L-CODEC, "
            "MSG, CT, Boundary-E and -S."
        ),
        "F2": (
            "One efficacy metric misleads: bad teacher and SalUn look unseen by confidence and "
            "entropy, seen by correctness."
        ),
        "F3": "The distance to Retrain's weights says nothing: methods that share it differ "
        "utterly.",
        "F4": "Samples spread over all classes are harder to forget than those of one class.",
        "F5": (
            "A whole class is easy for most, not for PGU, l1-sparsity, Second-order, NTK and UNSIR."
        ),
        "F6": (
            "Retrain's forget accuracy is highest in the worst case; samples of high loss look "
            "unseen before unlearning."
        ),
        "F7": "What a method reaches changes with the budget; SSD, Amnesiac and Fisher vary most.",
        "F8": (
            "Label flips: Unrolling, SCRUB, SalUn, FCS and NIU do well; others get accuracy back "
            "but keep the wrong labels."
        ),
        "F9": "Backdoor: nearly every method removes it; L-CODEC collapses, FCS leaves 35 %.",
        "F10": "SISA saves nothing when requests hit every shard, and costs ten points of "
        "accuracy.",
        "F11": "Gradient-based methods fail on well-fitted models: their gradients vanish.",
    },
    presets=("mubox-cifar10", "mubox-tinyimagenet"),
    small="python -m mucore run --dataset fashion-mnist-10k --model resnet9-small --scenario "
    "one_class --methods finetune,salun,ssd,scrub",
)
