"""Are We Truly Forgetting?: which of its tables and figures are where."""

from __future__ import annotations

from dashboard.papers.records import Exhibit, Link, Paper, results, run

_RANDOM = "random_classes"
_TOP = "top_classes"
# What is meant, by the tab of t-SNE and CKA that has it and what it shows there.
_TABS = {
    "map": ("t-SNE map", {"tab": "map"}),
    "similarity": ("CKA scatter", {"tab": "scatter"}),
    "agreement": ("AGL and AGR", {"tab": "scatter", "measures": "agreement"}),
    "gap": ("Accuracy and CKA", {"tab": "scatter", "measures": "gap"}),
    "last": ("Last layer", {"tab": "last"}),
}


def _exhibit(
    name: str,
    shows: str,
    *links: Link,
    missing: str = "",
    commands: tuple[str, ...] = (),
    scenarios: tuple[str, ...] = (_RANDOM,),
    varies: str = "",
) -> Exhibit:
    """By default one that the paper's setting fills, with classes at random."""
    return Exhibit(
        name=name,
        shows=shows,
        links=links,
        missing=missing,
        commands=commands or (run("truly-forgetting", _RANDOM),),
        scenarios=scenarios,
        varies=varies,
    )


def _section(label: str, view: str, scenario: str = _RANDOM, **more: str) -> Link:
    """A key of `_TABS`; `more` chooses in it. `paper` switches the paper's numbers on where it
    prints some.
    """
    return Link(label, "representation", _TABS[view][1] | {"scenario": scenario} | more)


def _only(view: str, **more: str) -> Link:
    """A tab that shows all of an exhibit."""
    return _section(_TABS[view][0], view, **more)


_CKA = _section("CKA", "similarity", paper="1")
# the four sets of classes, each with the paper's numbers of the same set
_SETS = tuple(
    _section(label, "agreement", scenario, paper="1", paper_set=chosen)
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
        _exhibit(
            "Table 2",
            "Forget, retain and test accuracies with their gaps to Retrain, and AGL.",
            results("Results", _RANDOM, "truly-2", view="gap"),
            _section("AGL", "agreement", paper="1"),
        ),
        _exhibit(
            "Table 3",
            "k-NN accuracy and CKA on three downstream sets, AGR and H-LR.",
            _section("k-NN and CKA of each set, AGR, H-LR", "agreement", paper="1"),
            _CKA,
        ),
        Exhibit(
            name="Table 4",
            shows="What the representation metrics cost: about 1 % of the logit metrics.",
            missing="No page shows it. Each run records the seconds of every part of measuring it.",
        ),
        _exhibit(
            "Table 5",
            "Membership attack and minutes of each method.",
            Link(
                "Membership, panel Confidence",
                "membership",
                {"scenario": _RANDOM, "attack": "confidence", "paper": "1"},
            ),
            results("Results, columns Conf. and RTE", _RANDOM, "truly-2", sort="rte"),
        ),
        _exhibit(
            "Table 7",
            "The same with ConvNeXt and Swin.",
            results("ConvNeXt-T", _RANDOM, "truly-7-convnext-t", model="convnext-t"),
            results("Swin-T", _RANDOM, "truly-7-swin-t", model="swin-t"),
            *(
                _section(f"Agreements, {name}", "agreement", paper="1", paper_set=name)
                for name in ("ConvNeXt-T", "Swin-T")
            ),
            commands=(
                run("truly-forgetting-adamw", _RANDOM),
                run("truly-forgetting-adamw", _RANDOM, more="--model swin-t"),
            ),
        ),
        _exhibit(
            "Table 8",
            "Standard deviations over seeds.",
            Link("Results, the ± of each cell", "results", {"scenario": _RANDOM}),
            missing=(
                "The ± is of the runs here and needs several training seeds. The paper's own "
                "deviations cannot be switched on: they are not among the printed numbers that "
                "come with this program."
            ),
            commands=(run("truly-forgetting", _RANDOM, more="--seeds 0-2"),),
        ),
        _exhibit(
            "Tables 9–12",
            "Accuracies for classes at random and nearest to each downstream set, 100, 200 "
            "and 300 of them.",
            results("Table 9, at random", _RANDOM, "truly-9-100"),
            results("Table 10, near Office-Home", _TOP, "truly-10-100"),
            results("Table 11, near CUB", _TOP, "truly-11-100"),
            results("Table 12, near DomainNet", _TOP, "truly-12-100"),
            commands=_EVERY_SIZE,
            scenarios=(_RANDOM, _TOP),
        ),
        _exhibit(
            "Tables 13–15",
            "k-NN, CKA, AGL, AGR and H-LR for all of these.",
            *_SETS,
            *(
                _section(f"At random, {n}", "agreement", paper="1", paper_set=f"random-{n}")
                for n in (200, 300)
            ),
            _CKA,
            commands=_EVERY_SIZE,
            scenarios=(_RANDOM, _TOP),
        ),
        _exhibit(
            "Figure 2",
            "Gap in accuracy against the ratio of similarities: the order of methods changes.",
            _section("Accuracy and CKA", "gap", paper="1"),
            results("Gaps in accuracy", _RANDOM, "truly-2", view="gap"),
        ),
        _exhibit(
            "Figures 3, 12",
            "Maps of the encoder's features, forgotten classes in colour.",
            _only("map"),
        ),
        _exhibit(
            "Figure 4a",
            "Similarity to the original against similarity to Retrain.",
            _only("similarity", paper="1"),
        ),
        _exhibit(
            "Figure 4b",
            "What a method does when it may change the last layer alone, beside the whole of it.",
            _only("last"),
            varies="scope",
            commands=(run("truly-forgetting", _RANDOM, more="--scope all,classifier"),),
        ),
        _exhibit(
            "Figure 5",
            "AGL on CIFAR-10 against ImageNet: random labels and SalUn collapse at scale.",
            Link("AGL, two data sets", "representation", {"tab": "scatter", "measures": "sets"}),
            _section("AGL, one data set at a time", "agreement"),
            missing="The paper draws its points of CIFAR-10 and does not print them, so none of "
            "its points stand in the figure.",
            commands=(
                run("truly-forgetting", _RANDOM),
                (
                    f"python -m mucore run --dataset cifar10 --model resnet18 --scenario {_RANDOM} "
                    "--methods random_labels,salun"
                ),
            ),
        ),
        _exhibit(
            "Figure 6",
            "Similarity of original and Retrain for more and nearer classes.",
            _section("CKA of Retrain, one set at a time", "similarity", paper="1"),
            commands=_EVERY_SIZE,
            scenarios=(_RANDOM, _TOP),
        ),
        _exhibit(
            "Figure 7",
            "AGL beside AGR for four sets of classes.",
            *_SETS,
            commands=_EVERY_SIZE,
            scenarios=(_RANDOM, _TOP),
        ),
        _exhibit(
            "Figure 8",
            "AGL stays and AGR falls as more classes go.",
            *(
                _section(label, "last", of=method, over="forget set.n")
                for label, method, _ in _OF_FIGURE_10
            ),
            missing=(
                "The paper prints AGL and AGR for 100 classes alone (Table 15); those for 200 and "
                "300, computed from what else it prints, stand beside the CKA scatter."
            ),
            commands=_EVERY_SIZE,
            scenarios=(_RANDOM, _TOP),
        ),
        Exhibit(
            name="Figure 9",
            shows="A query and its five neighbours before, after and under Retrain.",
            missing="No page shows it; `python -m mucore analyse neighbours` finds them.",
        ),
        _exhibit(
            "Figure 10",
            "H-LR against learning rate and epochs, of pseudo-labels and DUCK.",
            *(
                _section(label, "last", of=method, over=f"method.{name}")
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
        ),
        _exhibit(
            "Figure 11",
            "Noise of growing scale while unlearning: features hold up to about 0.01, then "
            "collapse.",
            _only("last", of="pseudo_labels", over="method.gradient_noise"),
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
        _exhibit(
            "Figure 13",
            "Pseudo-labels with and without Nesterov momentum: no difference.",
            _only("last", of="pseudo_labels", over="method.nesterov"),
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
