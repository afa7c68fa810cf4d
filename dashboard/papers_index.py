"""Which table, figure and finding of which paper can be seen here, and where. Data and two pure functions; no Streamlit.

A counterpart is a page with the parameters of its address. Where there is none, a sentence says so.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import pandas as pd


@dataclass(frozen=True)
class Link:
    """A page of widgets.PAGES with its URL parameters."""

    label: str
    page: str
    query: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Exhibit:
    """One table or figure, or a few that belong together. Without `links`, `missing` says why we have no counterpart."""

    name: str  # as printed: "Table 2", "Tables 8–12"
    shows: str
    links: tuple[Link, ...] = ()
    missing: str = ""
    commands: tuple[str, ...] = ()
    scenarios: tuple[str, ...] = ()  # whose runs fill the counterpart, any one of them


@dataclass(frozen=True, kw_only=True)
class Paper:
    """A paper; `presets` hold its setting, `small` is a command for a laptop that shows the same on data that come with the program."""

    id: str
    title: str
    citation: str
    about: str
    exhibits: tuple[Exhibit, ...]
    findings: Mapping[str, str]
    presets: tuple[str, ...]
    small: str
    caveat: str = ""


@dataclass(frozen=True)
class Standing:
    """A row of docs/fidelity.md: what appears here of a finding, and why."""

    here: str
    why: str


def fidelity(text: str) -> dict[str, Standing]:
    """Finding id -> what docs/fidelity.md says of it, from its table rows "| F1 ... | here | why |"; a row "F8, F9 ..." speaks of both."""
    found = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        head = re.match(r"((?:[A-Z]\d+)(?:, [A-Z]\d+)*) ", cells[0])
        if line.startswith("|") and head and len(cells) == 3:
            found |= {name: Standing(cells[1], cells[2]) for name in head[1].split(", ")}
    return found


def run(preset: str, scenario: str, *, methods: str = "all", more: str = "") -> str:
    return f"python -m mucore run --preset {preset} --scenario {scenario} --methods {methods}" + (f" {more}" if more else "")


def _results(label: str, scenario: str, table: str, **more: str) -> Link:
    """Results of a scenario with a table of dashboard/published.py beside them."""
    return Link(label, "results", {"scenario": scenario, "paper": "1", "table": table} | more)


def _mubox(name: str, scenario: str, shows: str) -> Exhibit:
    return Exhibit(
        name=name,
        shows=shows,
        links=(_results("Results", scenario, f"mubox-{name.removeprefix('Table ')}"),),
        commands=(run("mubox-cifar10", scenario),),
        scenarios=(scenario,),
    )


MUBOX = Paper(
    id="mubox",
    title="MUBox",
    citation="Li, Thuraisingham and Wei: MUBox, SACMAT 2025",
    about="23 methods under one protocol: six scenarios, eleven metrics, CIFAR-10 with ResNet-18 and TinyImageNet with MobileViT.",
    exhibits=(
        _mubox("Table 1", "one_class", "1,000 images of one class: accuracies, five membership attacks, distance to Retrain."),
        Exhibit(
            name="Table 2",
            shows="Run time relative to Retrain, and extra storage.",
            links=(_results("Results, columns RTE and MB", "one_class", "mubox-1", sort="rte"),),
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
                _results(f"Table {number}", scenario, f"mubox-{number}", dataset="tiny-imagenet-50")
                for number, scenario in enumerate(("one_class", "all_classes", "class_wise", "worst_case", "best_case"), start=8)
            ),
            commands=("python -m mucore run --preset mubox-tinyimagenet --methods all",),
            scenarios=("one_class", "all_classes", "class_wise", "worst_case", "best_case"),
        ),
        Exhibit(
            name="Figures 3, 4",
            shows="Test and forget accuracy against the budget of 2, 5, 10 and 20 %, one line a method.",
            links=(
                Link("Part of one class", "budget", {"scenario": "one_class", "paper": "1"}),
                Link("Part of all classes", "budget", {"scenario": "all_classes", "paper": "1"}),
            ),
            commands=(
                *(run("mubox-cifar10", "one_class", more=f"--budget {count}") for count in (100, 250, 500, 1000)),
                *(run("mubox-cifar10", "all_classes", more=f"--budget {count}") for count in (1000, 2500, 5000, 10000)),
            ),
            scenarios=("one_class", "all_classes"),
        ),
        Exhibit(
            name="Figures 5, 6",
            shows="Label flipping with 2,500 and 5,000 poisoned images: test accuracy, and forget accuracy as the attack's success.",
            links=(Link("Depoisoning", "depoisoning", {"scenario": "label_flip"}),),
            commands=tuple(run("mubox-cifar10", "label_flip", more=f"--budget {count}") for count in (2500, 5000)),
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
        "F1": "Methods outside their papers' settings often lose utility: Amnesiac, SSD, L-CODEC, MSG, CT, Boundary-E and -S.",
        "F2": "One efficacy metric misleads: bad teacher and SalUn look unseen by confidence and entropy, seen by correctness.",
        "F3": "The distance to Retrain's weights says nothing: methods that share it differ utterly.",
        "F4": "Samples spread over all classes are harder to forget than those of one class.",
        "F5": "A whole class is easy for most, not for PGU, l1-sparsity, Second-order, NTK and UNSIR.",
        "F6": "Retrain's forget accuracy is highest in the worst case; samples of high loss look unseen before unlearning.",
        "F7": "What a method reaches changes with the budget; SSD, Amnesiac and Fisher vary most.",
        "F8": "Label flips: Unrolling, SCRUB, SalUn, FCS and NIU do well; others get accuracy back but keep the wrong labels.",
        "F9": "Backdoor: nearly every method removes it; L-CODEC collapses, FCS leaves 35 %.",
        "F10": "SISA saves nothing when requests hit every shard, and costs ten points of accuracy.",
        "F11": "Gradient-based methods fail on well-fitted models: their gradients vanish.",
    },
    presets=("mubox-cifar10", "mubox-tinyimagenet"),
    small="python -m mucore run --dataset fashion-mnist-10k --model resnet9-small --scenario one_class --methods finetune,salun,ssd,scrub",
)

ATTRIBUTES = ("male", "young", "smiling")

CHOI = Paper(
    id="persons",
    title="MUFAC and MUCAC",
    citation="Choi and Na: Towards Machine Unlearning Benchmarks, 2023",
    about="Persons are forgotten, not classes: age groups of Korean families (MUFAC), three attributes of CelebA faces (MUCAC).",
    exhibits=(
        Exhibit(
            name="Figure 1",
            shows="Forgetting a class against forgetting a person while the classes stay.",
            links=(
                Link("Persons", "results", {"scenario": "identities"}),
                Link("A whole class", "results", {"scenario": "class_wise"}),
            ),
            commands=("python -m mucore run --dataset faces --model resnet18 --scenario identities,class_wise --methods finetune,scrub",),
            scenarios=("identities", "class_wise"),
        ),
        Exhibit(
            name="Figures 3, 4",
            shows="Sample faces with their labels.",
            links=(Link("Identity", "identity", {"faces": "1"}),),
            commands=(run("mufac", "identities"),),
            scenarios=("identities",),
        ),
        Exhibit(
            name="MUFAC table",
            shows="Test accuracy, top-2 accuracy, forgetting score and NoMUS of nine models.",
            links=(Link("Identity", "identity", {"scenario": "identities", "paper": "1"}),),
            commands=(run("mufac", "identities"),),
            scenarios=("identities",),
        ),
        Exhibit(
            name="MUCAC table",
            shows="The same with three attributes an image.",
            links=(Link("Identity", "identity", {"scenario": "identities", "paper": "1", "table": "mucac"}),),
            commands=(run("mucac", "identities"),),
            scenarios=("identities",),
        ),
        Exhibit(
            name="Three single-attribute tables",
            shows="The same with one attribute alone. The text names none of the three; the first is taken to be gender.",
            links=tuple(
                Link(label, "identity", {"scenario": "identities", "paper": "1", "table": table} | more)
                for label, table, more in (
                    ("First table, gender", "gender", {"dataset": "mucac-male"}),
                    ("Second table", "second", {}),
                    ("Third table", "third", {}),
                )
            ),
            commands=(
                *(run("mucac", "identities", more=f"--dataset mucac-{name}") for name in ATTRIBUTES),
                *(
                    f"python -m mucore run --dataset faces-attributes-{name} --model resnet9-small --preset quick --scenario identities "
                    "--set scenario.count=60 --methods finetune,scrub,advanced_neggrad"
                    for name in ATTRIBUTES
                ),
            ),
            scenarios=("identities",),
        ),
    ),
    findings={
        "I1": "Methods that shine in class forgetting may not when persons go.",
        "I2": "Advanced NegGrad has the best NoMUS of the unlearners on MUFAC (0.686), SCRUB on MUCAC (0.906).",
        "I3": "NegGrad destroys accuracy.",
        "I4": "Fine-tuning and CF-3 hardly change the forgetting score.",
    },
    presets=("mufac", "mucac"),
    small=(
        "python -m mucore run --dataset faces --model resnet9-small --preset quick --scenario identities --set scenario.count=60 "
        "--methods finetune,scrub,advanced_neggrad"
    ),
)

_RANDOM = "random_classes"
_TOP = "top_classes"


def _truly(
    name: str,
    shows: str,
    view: str,
    *,
    scenarios: tuple[str, ...] = (_RANDOM,),
    commands: tuple[str, ...] = (),
    more: Mapping[str, str] | None = None,
) -> Exhibit:
    """An exhibit with a section of Representation; of most sections the paper prints no numbers. `more` chooses in it."""
    paper = {"paper": "1"} if view in ("similarity", "agreement") else {}
    return Exhibit(
        name=name,
        shows=shows,
        links=(Link("Representation", "representation", {"view": view, "scenario": scenarios[0]} | paper | dict(more or {})),),
        commands=commands or (run("truly-forgetting", _RANDOM),),
        scenarios=scenarios,
    )


_EVERY_SIZE = (
    *(run("truly-forgetting", _RANDOM, more=f"--set scenario.n={n}") for n in (100, 200, 300)),
    *(
        run("truly-forgetting", _TOP, more=f"--set scenario.n={n} --set scenario.downstream={downstream}")
        for downstream in ("office-home", "cub-200", "domainnet-126")
        for n in (100, 200, 300)
    ),
)

TRULY = Paper(
    id="truly",
    title="Are We Truly Forgetting?",
    citation="Kim, Cha and Kim: Are We Truly Forgetting?, Engineering Applications of AI",
    about="Accuracies look good because methods change the classifier and leave the encoder. ImageNet, 100 to 300 classes forgotten.",
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
                _results("Results", _RANDOM, "truly-2", view="gap"),
                Link("AGL", "representation", {"view": "agreement", "scenario": _RANDOM, "paper": "1"}),
            ),
            commands=(run("truly-forgetting", _RANDOM),),
            scenarios=(_RANDOM,),
        ),
        Exhibit(
            name="Table 3",
            shows="k-NN accuracy and CKA on three downstream sets, AGR and H-LR.",
            links=(
                Link("k-NN, AGR and H-LR", "representation", {"view": "agreement", "scenario": _RANDOM, "paper": "1"}),
                Link("CKA", "representation", {"view": "similarity", "scenario": _RANDOM, "paper": "1"}),
            ),
            commands=(run("truly-forgetting", _RANDOM),),
            scenarios=(_RANDOM,),
        ),
        _truly("Table 4", "What the representation metrics cost: about 1 % of the logit metrics.", "cost"),
        Exhibit(
            name="Table 5",
            shows="Membership attack and minutes of each method.",
            links=(
                Link("Membership", "membership", {"scenario": _RANDOM, "attack": "confidence"}),
                _results("Results, columns Conf. and RTE", _RANDOM, "truly-2", sort="rte"),
            ),
            commands=(run("truly-forgetting", _RANDOM),),
            scenarios=(_RANDOM,),
        ),
        Exhibit(
            name="Table 7",
            shows="The same with ConvNeXt and Swin.",
            links=(
                _results("ConvNeXt-T", _RANDOM, "truly-7-convnext-t", model="convnext-t"),
                _results("Swin-T", _RANDOM, "truly-7-swin-t", model="swin-t"),
                *(
                    Link(
                        f"Agreements, {name}", "representation", {"view": "agreement", "scenario": _RANDOM, "paper": "1", "paper_set": name}
                    )
                    for name in ("ConvNeXt-T", "Swin-T")
                ),
            ),
            commands=(run("truly-forgetting-adamw", _RANDOM), run("truly-forgetting-adamw", _RANDOM, more="--model swin-t")),
            scenarios=(_RANDOM,),
        ),
        Exhibit(
            name="Table 8",
            shows="Standard deviations over seeds.",
            links=(Link("Results, the ± of each cell", "results", {"scenario": _RANDOM}),),
            commands=(run("truly-forgetting", _RANDOM, more="--seeds 0-2"),),
            scenarios=(_RANDOM,),
        ),
        Exhibit(
            name="Tables 9–12",
            shows="Accuracies for classes at random and nearest to each downstream set, 100, 200 and 300 of them.",
            links=(
                _results("Table 9, at random", _RANDOM, "truly-9-100"),
                _results("Table 10, near Office-Home", _TOP, "truly-10-100"),
                _results("Table 11, near CUB", _TOP, "truly-11-100"),
                _results("Table 12, near DomainNet", _TOP, "truly-12-100"),
            ),
            commands=_EVERY_SIZE,
            scenarios=(_RANDOM, _TOP),
        ),
        Exhibit(
            name="Tables 13–15",
            shows="k-NN, CKA, AGL, AGR and H-LR for all of these.",
            links=(
                *(
                    Link(label, "representation", {"view": "agreement", "scenario": scenario, "paper": "1", "paper_set": chosen})
                    for label, scenario, chosen in (
                        ("At random", _RANDOM, "random"),
                        ("Near Office-Home", _TOP, "top-OfficeHome"),
                        ("Near CUB", _TOP, "top-CUB"),
                        ("Near DomainNet", _TOP, "top-DomainNet"),
                    )
                ),
                Link("CKA", "representation", {"view": "similarity", "scenario": _RANDOM, "paper": "1"}),
            ),
            commands=_EVERY_SIZE,
            scenarios=(_RANDOM, _TOP),
        ),
        Exhibit(
            name="Figure 2",
            shows="Gap in accuracy against the ratio of similarities: the order of methods changes.",
            links=(
                Link("Similarity", "representation", {"view": "similarity", "scenario": _RANDOM, "paper": "1"}),
                _results("Gaps in accuracy", _RANDOM, "truly-2", view="gap"),
            ),
            commands=(run("truly-forgetting", _RANDOM),),
            scenarios=(_RANDOM,),
        ),
        _truly("Figures 3, 12", "Maps of the encoder's features, forgotten classes in colour.", "map"),
        _truly("Figure 4a", "Similarity to the original against similarity to Retrain.", "similarity"),
        _truly(
            "Figure 4b",
            "What a method does when it may change the last layer alone, beside the whole of it.",
            "last",
            commands=(run("truly-forgetting", _RANDOM, more="--scope all,classifier"),),
        ),
        Exhibit(
            name="Figure 5",
            shows="AGL on CIFAR-10 against ImageNet: random labels and SalUn collapse at scale.",
            links=(Link("AGL, one data set at a time", "representation", {"view": "agreement", "scenario": _RANDOM}),),
            commands=(
                run("truly-forgetting", _RANDOM),
                f"python -m mucore run --dataset cifar10 --model resnet18 --scenario {_RANDOM} --methods random_labels,salun",
            ),
            scenarios=(_RANDOM,),
        ),
        _truly(
            "Figure 6",
            "Similarity of original and Retrain for more and nearer classes.",
            "similarity",
            scenarios=(_RANDOM, _TOP),
            commands=_EVERY_SIZE,
        ),
        _truly("Figure 7", "AGL beside AGR for four sets of classes.", "agreement", scenarios=(_RANDOM, _TOP), commands=_EVERY_SIZE),
        _truly("Figure 8", "AGL stays and AGR falls as more classes go.", "agreement", scenarios=(_RANDOM, _TOP), commands=_EVERY_SIZE),
        _truly("Figure 9", "A query and its five neighbours before, after and under Retrain.", "neighbours"),
        _truly(
            "Figure 10",
            "H-LR against learning rate and epochs.",
            "sensitivity",
            more={"of": "pseudo_labels", "over": "method.lr"},
            commands=tuple(
                run("truly-forgetting", _RANDOM, methods="pseudo_labels", more=f"--set pseudo_labels.lr={lr}")
                for lr in ("0.00001", "0.0001", "0.001")
            ),
        ),
        _truly(
            "Figure 11",
            "Noise of growing scale while unlearning: features hold up to about 0.01, then collapse.",
            "sensitivity",
            more={"of": "pseudo_labels", "over": "method.gradient_noise"},
            commands=(run("truly-forgetting", _RANDOM, methods="pseudo_labels", more="--noise 0,0.0001,0.001,0.01,0.1,1,10"),),
        ),
        _truly(
            "Figure 13",
            "Pseudo-labels with and without Nesterov momentum: no difference.",
            "sensitivity",
            more={"of": "pseudo_labels", "over": "method.nesterov"},
            commands=tuple(
                run("truly-forgetting", _RANDOM, methods="pseudo_labels", more=f"--set pseudo_labels.nesterov={value}")
                for value in ("false", "true")
            ),
        ),
    ),
    findings={
        "R1": "Every method stays closer to the original encoder than to the retrained one.",
        "R2": "Pseudo-labels, which sees no retain data, is among the best at scale; DUCK is first.",
        "R3": "Gradient ascent, random labels and SalUn collapse the representation.",
        "R4": "Classes near a downstream task are harder to forget than classes at random.",
        "R5": "AGL and AGR rank methods differently.",
        "R6": "Membership attacks are near 100 % for almost all methods, and so say little about class forgetting.",
        "R7": "Methods that skip the retain set take 24 to 35 minutes, the others 330 to 914, Retrain 4,667.",
    },
    presets=("truly-forgetting", "truly-forgetting-adamw", "truly-forgetting-glyphs"),
    small="python -m mucore run --preset truly-forgetting-glyphs --methods finetune,pseudo_labels,duck,salun",
)

_FRACTIONS = ("0.01", "0.1", "0.25", "0.5", "0.8", "1")


def _becker(name: str, shows: str, preset: str) -> Exhibit:
    return Exhibit(
        name=name,
        shows=shows,
        links=(Link("Efficacy", "efficacy"),),
        commands=tuple(
            run(preset, "class_fraction", methods="amnesiac,fisher", more=f"--set scenario.fraction={share} --seeds 0-19")
            for share in _FRACTIONS
        ),
        scenarios=("class_fraction",),
    )


BECKER = Paper(
    id="efficacy",
    title="Epistemic uncertainty",
    citation="Becker and Liebig: Evaluating Machine Unlearning via Epistemic Uncertainty, 2022",
    about="How exposed forgotten data are, from the information that weights hold of them. A small network on MNIST and grey CIFAR-10.",
    exhibits=(
        Exhibit(
            name="Table 1",
            shows="Accuracy on retain, forget and test data for each method and share of the class.",
            links=(
                _results("Results", "class_fraction", "efficacy-0.5"),
                Link("Budget curves, all shares", "budget", {"scenario": "class_fraction", "paper": "1"}),
                Link("Efficacy, below the findings", "efficacy", {"paper": "1"}),
            ),
            commands=_becker("", "", "efficacy-mnist").commands,
            scenarios=("class_fraction",),
        ),
        _becker("Figure 1", "Distribution of efficacy and of its bound for each share, four panels.", "efficacy-mnist"),
        _becker("Figure 2", "Efficacy of a whole class at the start, after training, after each method.", "efficacy-mnist"),
        _becker("Figure 3", "Distribution of the mean membership probability for each share.", "efficacy-mnist"),
        _becker("Figure 4", "Efficacy against membership probability, four panels.", "efficacy-mnist"),
        _becker("Figures 5–8", "The same four on CIFAR-10.", "efficacy-cifar10"),
    ),
    findings={
        "E1": "Training raises efficacy, forgetting lowers it.",
        "E2": "For Retrain and Fisher lower efficacy goes with lower membership probability, for Amnesiac the reverse.",
        "E3": "The cheap bound keeps the order, about ten times higher.",
        "E4": "Fisher leaves accuracy as it is, Amnesiac destroys it.",
    },
    presets=("efficacy-mnist", "efficacy-cifar10"),
    small="python -m mucore run --dataset digits --model mlp --scenario class_fraction --methods amnesiac,fisher --seeds 0-4",
)

COMPETITION = Paper(
    id="competition",
    title="NeurIPS 2023 competition",
    citation="Triantafillou et al.: Are We Making Progress in Unlearning?, 2024",
    about="Forgetting as indistinguishability: can many unlearned models be told from as many retrained ones?",
    exhibits=(
        Exhibit(
            name="Figure 1",
            shows="Two densities of what a sample's models say, a threshold, and both error rates shaded.",
            links=(Link("Forgetting quality", "quality"),),
            commands=("python -m mucore quality --preset neurips-faces --methods scrub,finetune --models 512",),
            scenarios=("competition",),
        ),
        Exhibit(
            name="Figure 2",
            shows="Class histograms of training, validation and test data, and of retain and forget set.",
            links=(Link("Forgetting quality, below the experiment", "quality"),),
            commands=("python -m mucore quality --preset neurips-faces --methods scrub,finetune --models 512",),
            scenarios=("competition",),
        ),
    ),
    findings={},
    presets=("neurips-faces",),
    small="python -m mucore quality --dataset digits --model mlp --preset quick --scenario one_class --methods finetune,ssd --models 16",
    caveat=(
        "Its authors name the limits: one number loses information, few samples of each distribution, one δ, one setting, and better "
        "attacks may exist."
    ),
)

PAPERS: tuple[Paper, ...] = (MUBOX, CHOI, TRULY, BECKER, COMPETITION)


def frame(papers: Sequence[Paper]) -> pd.DataFrame:
    """The index as a table: paper, what, shows, where, why not, command."""
    return pd.DataFrame(
        [
            {
                "Paper": paper.title,
                "Table or figure": exhibit.name,
                "Shows": exhibit.shows,
                "Page": ", ".join(dict.fromkeys(link.page for link in exhibit.links)) or "–",
                "Without counterpart": exhibit.missing,
                "Commands": "\n".join(exhibit.commands),
            }
            for paper in papers
            for exhibit in paper.exhibits
        ]
    )


@dataclass(frozen=True)
class Coverage:
    """How many tables and figures there are, how many have a page here, and how many of those the results in hand fill."""

    exhibits: int
    live: int
    filled: int


def is_filled(exhibit: Exhibit, scenarios: Collection[str]) -> bool:
    """Whether runs under `scenarios` give its page something to show."""
    return bool(exhibit.links) and any(name in scenarios for name in exhibit.scenarios)


def coverage(papers: Sequence[Paper], scenarios: Collection[str]) -> Coverage:
    every = [exhibit for paper in papers for exhibit in paper.exhibits]
    return Coverage(len(every), sum(bool(one.links) for one in every), sum(is_filled(one, scenarios) for one in every))
