"""Are We Truly Forgetting?: which of its tables and figures are where."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dashboard.papers.records import Exhibit, Link, Paper, results, run

_RANDOM = "random_classes"
_TOP = "top_classes"
_SECTIONS = {
    "similarity": "Similarity",
    "map": "Map",
    "neighbours": "Neighbours",
    "sensitivity": "Sensitivity",
    "last": "Last layer",
    "cost": "Cost",
}


def _truly(
    name: str,
    shows: str,
    view: str,
    *,
    scenarios: tuple[str, ...] = (_RANDOM,),
    commands: tuple[str, ...] = (),
    more: Mapping[str, str] | None = None,
    varies: str = "",
) -> Exhibit:
    """An exhibit with a section of Representation; of most sections the paper prints no numbers.
    `more` chooses in it.
    """
    paper = {"paper": "1"} if view == "similarity" else {}
    query = {"view": view, "scenario": scenarios[0]} | paper | dict(more or {})
    return Exhibit(
        name=name,
        shows=shows,
        links=(Link(f"Representation, {_SECTIONS[view]}", "representation", query),),
        commands=commands or (run("truly-forgetting", _RANDOM),),
        scenarios=scenarios,
        varies=varies,
    )


def _sets() -> tuple[Link, ...]:
    """The four sets of classes, each with the paper's numbers of the same set."""
    return tuple(
        Link(
            label,
            "representation",
            {"view": "agreement", "scenario": scenario, "paper": "1", "paper_set": chosen},
        )
        for label, scenario, chosen in (
            ("At random", _RANDOM, "random"),
            ("Near Office-Home", _TOP, "top-OfficeHome"),
            ("Near CUB", _TOP, "top-CUB"),
            ("Near DomainNet", _TOP, "top-DomainNet"),
        )
    )


_EVERY_SIZE = (
    *(run("truly-forgetting", _RANDOM, more=f"--set scenario.n={n}") for n in (100, 200, 300)),
    *(
        run(
            "truly-forgetting",
            _TOP,
            more=f"--set scenario.n={n} --set scenario.downstream={downstream}",
        )
        for downstream in ("office-home", "cub-200", "domainnet-126")
        for n in (100, 200, 300)
    ),
)

# DUCK has a learning rate of its own where classes go entirely.
_OF_FIGURE_10 = (("Pseudo-labels", "pseudo_labels", "lr"), ("DUCK", "duck", "class_lr"))
_RATES, _EPOCHS = ("0.00001", "0.0001", "0.001"), ("5", "10", "20")
_OVER_FIGURE_10 = tuple(
    (f"{title}, {words}", method, name, values)
    for title, method, rate in _OF_FIGURE_10
    for name, words, values in ((rate, "learning rate", _RATES), ("epochs", "epochs", _EPOCHS))
)

TRULY = Paper(
    id="truly",
    title="Are We Truly Forgetting?",
    citation="Kim, Cha and Kim: Are We Truly Forgetting?, Engineering Applications of AI",
    about="Accuracies look good because methods change the classifier and leave the encoder. "
    "ImageNet, 100 to 300 classes forgotten.",
    exhibits=(
        Exhibit(
            name="Table 1",
            shows="Protocols of earlier work: backbones, data, numbers of classes.",
            missing="A text table about other papers; it has no counterpart.",
        ),
        Exhibit(
            name="Table 2",
            shows="Forget, retain and test accuracies with their gaps to Retrain, and AGL.",
            links=(
                results("Results", _RANDOM, "truly-2", view="gap"),
                Link(
                    "AGL",
                    "representation",
                    {"view": "agreement", "scenario": _RANDOM, "paper": "1"},
                ),
            ),
            commands=(run("truly-forgetting", _RANDOM),),
            scenarios=(_RANDOM,),
        ),
        Exhibit(
            name="Table 3",
            shows="k-NN accuracy and CKA on three downstream sets, AGR and H-LR.",
            links=(
                Link(
                    "k-NN and CKA of each set, AGR, H-LR",
                    "representation",
                    {"view": "agreement", "scenario": _RANDOM, "paper": "1"},
                ),
                Link(
                    "CKA",
                    "representation",
                    {"view": "similarity", "scenario": _RANDOM, "paper": "1"},
                ),
            ),
            commands=(run("truly-forgetting", _RANDOM),),
            scenarios=(_RANDOM,),
        ),
        replace(
            _truly(
                "Table 4",
                "What the representation metrics cost: about 1 % of the logit metrics.",
                "cost",
            ),
            missing="Seconds are measured and compared with Retrain's. TFLOPs and GB of memory "
            "are not measured for metrics.",
        ),
        Exhibit(
            name="Table 5",
            shows="Membership attack and minutes of each method.",
            links=(
                Link(
                    "Membership, panel Confidence",
                    "membership",
                    {"scenario": _RANDOM, "attack": "confidence", "paper": "1"},
                ),
                results("Results, columns Conf. and RTE", _RANDOM, "truly-2", sort="rte"),
            ),
            commands=(run("truly-forgetting", _RANDOM),),
            scenarios=(_RANDOM,),
        ),
        Exhibit(
            name="Table 7",
            shows="The same with ConvNeXt and Swin.",
            links=(
                results("ConvNeXt-T", _RANDOM, "truly-7-convnext-t", model="convnext-t"),
                results("Swin-T", _RANDOM, "truly-7-swin-t", model="swin-t"),
                *(
                    Link(
                        f"Agreements, {name}",
                        "representation",
                        {"view": "agreement", "scenario": _RANDOM, "paper": "1", "paper_set": name},
                    )
                    for name in ("ConvNeXt-T", "Swin-T")
                ),
            ),
            commands=(
                run("truly-forgetting-adamw", _RANDOM),
                run("truly-forgetting-adamw", _RANDOM, more="--model swin-t"),
            ),
            scenarios=(_RANDOM,),
        ),
        Exhibit(
            name="Table 8",
            shows="Standard deviations over seeds.",
            links=(Link("Results, the ± of each cell", "results", {"scenario": _RANDOM}),),
            missing=(
                "The ± is of your runs and needs several training seeds. The paper's own "
                "deviations cannot be switched on: they are not among the printed numbers that "
                "come with this program."
            ),
            commands=(run("truly-forgetting", _RANDOM, more="--seeds 0-2"),),
            scenarios=(_RANDOM,),
        ),
        Exhibit(
            name="Tables 9–12",
            shows="Accuracies for classes at random and nearest to each downstream set, 100, 200 "
            "and 300 of them.",
            links=(
                results("Table 9, at random", _RANDOM, "truly-9-100"),
                results("Table 10, near Office-Home", _TOP, "truly-10-100"),
                results("Table 11, near CUB", _TOP, "truly-11-100"),
                results("Table 12, near DomainNet", _TOP, "truly-12-100"),
            ),
            commands=_EVERY_SIZE,
            scenarios=(_RANDOM, _TOP),
        ),
        Exhibit(
            name="Tables 13–15",
            shows="k-NN, CKA, AGL, AGR and H-LR for all of these.",
            links=(
                *_sets(),
                *(
                    Link(
                        f"At random, {n}",
                        "representation",
                        {
                            "view": "agreement",
                            "scenario": _RANDOM,
                            "paper": "1",
                            "paper_set": f"random-{n}",
                        },
                    )
                    for n in (200, 300)
                ),
                Link(
                    "CKA",
                    "representation",
                    {"view": "similarity", "scenario": _RANDOM, "paper": "1"},
                ),
            ),
            commands=_EVERY_SIZE,
            scenarios=(_RANDOM, _TOP),
        ),
        Exhibit(
            name="Figure 2",
            shows="Gap in accuracy against the ratio of similarities: the order of methods "
            "changes.",
            links=(
                Link(
                    "Similarity",
                    "representation",
                    {"view": "similarity", "scenario": _RANDOM, "paper": "1"},
                ),
                results("Gaps in accuracy", _RANDOM, "truly-2", view="gap"),
            ),
            commands=(run("truly-forgetting", _RANDOM),),
            scenarios=(_RANDOM,),
        ),
        _truly(
            "Figures 3, 12", "Maps of the encoder's features, forgotten classes in colour.", "map"
        ),
        _truly(
            "Figure 4a", "Similarity to the original against similarity to Retrain.", "similarity"
        ),
        _truly(
            "Figure 4b",
            "What a method does when it may change the last layer alone, beside the whole of it.",
            "last",
            varies="scope",
            commands=(run("truly-forgetting", _RANDOM, more="--scope all,classifier"),),
        ),
        Exhibit(
            name="Figure 5",
            shows="AGL on CIFAR-10 against ImageNet: random labels and SalUn collapse at scale.",
            links=(
                Link("AGL, two data sets", "representation", {"view": "agreement", "sets": "two"}),
                Link(
                    "AGL, one data set at a time",
                    "representation",
                    {"view": "agreement", "scenario": _RANDOM},
                ),
            ),
            missing="The paper draws its points of CIFAR-10 and does not print them, so none of "
            "its points stand in the figure.",
            commands=(
                run("truly-forgetting", _RANDOM),
                (
                    f"python -m mucore run --dataset cifar10 --model resnet18 --scenario {_RANDOM} "
                    "--methods random_labels,salun"
                ),
            ),
            scenarios=(_RANDOM,),
        ),
        Exhibit(
            name="Figure 6",
            shows="Similarity of original and Retrain for more and nearer classes.",
            links=(
                Link(
                    "Representation, Sensitivity, second figure",
                    "representation",
                    {"view": "sensitivity", "scenario": _RANDOM, "paper": "1"},
                ),
            ),
            commands=_EVERY_SIZE,
            scenarios=(_RANDOM, _TOP),
        ),
        Exhibit(
            name="Figure 7",
            shows="AGL beside AGR for four sets of classes.",
            links=(
                Link(
                    "Every forget set",
                    "representation",
                    {"view": "agreement", "scenario": _RANDOM, "sets": "every", "paper": "1"},
                ),
                *_sets(),
            ),
            commands=_EVERY_SIZE,
            scenarios=(_RANDOM, _TOP),
        ),
        Exhibit(
            name="Figure 8",
            shows="AGL stays and AGR falls as more classes go.",
            links=tuple(
                Link(
                    label,
                    "representation",
                    {
                        "view": "sensitivity",
                        "scenario": _RANDOM,
                        "of": method,
                        "over": "forget set.n",
                        "paper": "1",
                    },
                )
                for label, method in (("Pseudo-labels", "pseudo_labels"), ("DUCK", "duck"))
            ),
            missing=(
                "The paper prints AGL and AGR for 100 classes alone (Table 15). Its lines beside "
                "yours are computed for 200 and 300 classes from the accuracies, k-NN accuracies "
                "and CKAs that it prints (Tables 9 to 14)."
            ),
            commands=_EVERY_SIZE,
            scenarios=(_RANDOM, _TOP),
        ),
        _truly(
            "Figure 9",
            "A query and its five neighbours before, after and under Retrain.",
            "neighbours",
        ),
        Exhibit(
            name="Figure 10",
            shows="H-LR against learning rate and epochs, of pseudo-labels and DUCK.",
            links=tuple(
                Link(
                    label,
                    "representation",
                    {
                        "view": "sensitivity",
                        "scenario": _RANDOM,
                        "of": method,
                        "over": f"method.{name}",
                    },
                )
                for label, method, name, _ in _OVER_FIGURE_10
            ),
            varies="lr",
            commands=tuple(
                run(
                    "truly-forgetting",
                    _RANDOM,
                    methods=method,
                    more=f"--set {method}.{name}={value}",
                )
                for _, method, name, values in _OVER_FIGURE_10
                for value in values
            ),
            scenarios=(_RANDOM,),
        ),
        _truly(
            "Figure 11",
            "Noise of growing scale while unlearning: features hold up to about 0.01, then "
            "collapse.",
            "sensitivity",
            more={"of": "pseudo_labels", "over": "method.gradient_noise"},
            varies="gradient_noise",
            commands=(
                run(
                    "truly-forgetting",
                    _RANDOM,
                    methods="pseudo_labels",
                    more="--noise 0,0.0001,0.001,0.01,0.1,1,10",
                ),
            ),
        ),
        _truly(
            "Figure 13",
            "Pseudo-labels with and without Nesterov momentum: no difference.",
            "sensitivity",
            more={"of": "pseudo_labels", "over": "method.nesterov"},
            varies="nesterov",
            commands=tuple(
                run(
                    "truly-forgetting",
                    _RANDOM,
                    methods="pseudo_labels",
                    more=f"--set pseudo_labels.nesterov={value}",
                )
                for value in ("false", "true")
            ),
        ),
    ),
    findings={
        "R1": "Every method stays closer to the original encoder than to the retrained one.",
        "R2": "Pseudo-labels, which sees no retain data, is among the best at scale; DUCK is "
        "first.",
        "R3": "Gradient ascent, random labels and SalUn collapse the representation.",
        "R4": "Classes near a downstream task are harder to forget than classes at random.",
        "R5": "AGL and AGR rank methods differently.",
        "R6": (
            "Membership attacks are near 100 % for almost all methods, and so say little about "
            "class forgetting."
        ),
        "R7": (
            "Methods that skip the retain set take 24 to 35 minutes, the others 330 to 914, "
            "Retrain 4,667."
        ),
    },
    presets=("truly-forgetting", "truly-forgetting-adamw", "truly-forgetting-glyphs"),
    small="python -m mucore run --preset truly-forgetting-glyphs --methods "
    "finetune,pseudo_labels,duck,salun",
)
