"""MUFAC and MUCAC: which of its tables and figures are where."""

from __future__ import annotations

from dashboard.papers.records import Exhibit, Link, Paper, run
from dashboard.papers.tables import printed_tables

ATTRIBUTES = ("male", "young", "smiling")
# of each table the paper's data set, and the drawn faces that stand in for it
DATA = {one.id.removeprefix("persons-"): one.datasets for one in printed_tables("identities")}

CHOI = Paper(
    id="persons",
    title="MUFAC and MUCAC",
    citation="Choi and Na: Towards Machine Unlearning Benchmarks, 2023",
    about="Persons are forgotten, not classes: age groups of Korean families (MUFAC), three "
    "attributes of CelebA faces (MUCAC).",
    exhibits=(
        Exhibit(
            name="Figure 1",
            shows="Forgetting a class against forgetting a person while the classes stay.",
            links=(
                Link("Persons", "results", {"scenario": "identities"}),
                Link("A whole class", "results", {"scenario": "class_wise"}),
            ),
            commands=(
                (
                    "python -m mucore run --dataset faces --model resnet18 --scenario "
                    "identities,class_wise --methods finetune,scrub"
                ),
            ),
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
            links=(
                Link(
                    "Identity",
                    "identity",
                    {"scenario": "identities", "paper": "1", "table": "mufac"},
                    DATA["mufac"],
                ),
            ),
            commands=(run("mufac", "identities"),),
            scenarios=("identities",),
        ),
        Exhibit(
            name="MUCAC table",
            shows="The same with three attributes an image.",
            links=(
                Link(
                    "Identity",
                    "identity",
                    {"scenario": "identities", "paper": "1", "table": "mucac"},
                    DATA["mucac"],
                ),
            ),
            commands=(run("mucac", "identities"),),
            scenarios=("identities",),
        ),
        Exhibit(
            name="Three single-attribute tables",
            shows="The same with one attribute alone. The text names none of the three; they are "
            "taken in the order of the attributes.",
            links=tuple(
                Link(
                    f"{label} table, {attribute}",
                    "identity",
                    {"scenario": "identities", "paper": "1", "table": table},
                    DATA[table],
                )
                for label, table, attribute in zip(
                    ("First", "Second", "Third"),
                    ("gender", "second", "third"),
                    ATTRIBUTES,
                    strict=True,
                )
            ),
            commands=(
                *(
                    run("mucac", "identities", more=f"--dataset mucac-{name}")
                    for name in ATTRIBUTES
                ),
                *(
                    (
                        f"python -m mucore run --dataset faces-attributes-{name} --model "
                        "resnet9-small --preset quick --scenario identities --set "
                        "scenario.count=60 --methods finetune,scrub,advanced_neggrad"
                    )
                    for name in ATTRIBUTES
                ),
            ),
            scenarios=("identities",),
        ),
    ),
    findings={
        "I1": "Methods that shine in class forgetting may not when persons go.",
        "I2": (
            "Advanced NegGrad has the best NoMUS of the unlearners on MUFAC (0.686), SCRUB on "
            "MUCAC (0.906)."
        ),
        "I3": "NegGrad destroys accuracy.",
        "I4": "Fine-tuning and CF-3 hardly change the forgetting score.",
    },
    presets=("mufac", "mucac"),
    small=(
        "python -m mucore run --dataset faces --model resnet9-small --preset quick --scenario "
        "identities --set scenario.count=60 --methods finetune,scrub,advanced_neggrad"
    ),
)
