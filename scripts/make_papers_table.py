"""The papers' printed numbers as two tables in our units: data/papers/cells.csv, one printed number
a line, and data/papers/tables.csv, one printed table under one setting a line.

    python scripts/make_papers_table.py

Sources are the transcriptions in data/papers/printed, each in its paper's words and units; its
README says what the columns mean, and which cells contradict each other.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # a checkout works uninstalled

from dashboard.text.labels import number
from mucore import catalog
from mucore.metrics.representation import CLASS_ACCURACIES, agl, agr, h_lr

FOLDER = Path(__file__).resolve().parents[1] / "data" / "papers"
CELLS = (
    "paper",
    "table",
    "dataset",
    "model",
    "scenario",
    "near",
    "amount",
    "block",
    "name",
    "method",
    "metric",
    "value",
    "unit",
    "spread",
    "against",
    "mark",
)
TABLES = (
    "id",
    "paper",
    "tables",
    "name",
    "setting",
    "scenario",
    "datasets",
    "model",
    "amount",
    "downstream",
    "note",
)
# behind a cell: it contradicts another of the paper; it belongs to a block with an Original of its
# own; it is not printed, but computed from what is
DOUBTFUL, OWN, COMPUTED = "†", "‡", "computed"
AGREE = 1.5  # points by which FA and the correctness attack of one line may miss 100 together
Cell = tuple[str, str]  # method, metric
Notes = Mapping[str, tuple[str, ...]]  # of the tables that have some, by id


def main() -> None:
    cells, tables = made()
    cells.to_csv(FOLDER / "cells.csv", index=False, lineterminator="\n")
    tables.to_csv(FOLDER / "tables.csv", index=False, lineterminator="\n")


def made() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Cells and tables."""
    mubox, mubox_notes = _mubox()
    truly, truly_notes = _truly()
    cells = pd.concat(
        [
            lines.reindex(columns=list(CELLS))
            for lines in (mubox, truly, _becker(), _choi(), _salun(), _l1_sparse(), _lotus())
        ],
        ignore_index=True,
    )
    lines = [*_mubox_tables(mubox_notes), *_truly_tables(truly_notes)]
    lines += [*_becker_tables(), *_choi_tables()]
    lines += [*_salun_tables(), *_l1_sparse_tables(), *_lotus_tables()]
    return cells, pd.DataFrame(lines, columns=list(TABLES))


def source(name: str) -> pd.DataFrame:
    return pd.read_csv(FOLDER / "printed" / f"{name}.csv")


def method_id(name: str) -> str:
    """The id of a built-in method by its title, else by its id or alias, without marks."""
    if exact := [card.id for card in catalog.METHODS if card.title == name]:
        return exact[0]
    wanted = _plain(name)
    return next(
        card.id
        for card in (catalog.ORIGINAL, *catalog.METHODS)
        if wanted in {_plain(each) for each in (card.id, card.title, *card.aliases)}
    )


def _plain(name: str) -> str:
    """A name without marks and capitals, to compare by."""
    return "".join(character for character in name.lower() if character.isalnum())


def _title(method: str) -> str:
    return catalog.method(method).title


# --------------------------------------------------------------------------------------------------
# MUBox

MUBOX_MODELS = {"ResNet-18": "resnet18", "MobileViT": "mobilevit-s"}


def _mubox() -> tuple[pd.DataFrame, Notes]:
    """FA is printed as the difference to Retrain for methods (kind `difference`). The groups other
    than `main` have another model and print its Original, but no Retrain: their TA and RA are
    compared with that Original, their FA as it was printed, their attacks with nothing.
    """
    printed = source("mubox_tables")
    is_retrain = printed["method"] == "Retrain"
    retrain = printed[is_retrain].set_index(["table", "metric"])["value"].to_dict()
    base = [
        retrain.get(place, 0.0) for place in zip(printed["table"], printed["metric"], strict=True)
    ]
    is_difference = printed["kind"] == "difference"
    plain = printed["metric"] == "l2"
    found = printed.assign(
        paper="mubox",
        model=printed["model"].map(MUBOX_MODELS),
        scenario=printed["scenario"].str.replace("-", "_"),
        block=printed["group"].replace("main", ""),
        name=printed["method"],
        method=printed["method"].map(method_id),
        metric=printed["metric"].str.lower().str.replace("-", "_").replace("l2", "l2_normalised"),
        value=printed["value"] + pd.Series(base).where(is_difference, 0.0),
        unit=plain.map({True: "", False: "%"}),
        against="retrain",
        mark="",
    )
    other = found["block"] != ""
    to_own = other & found["metric"].isin(["ta", "ra"]) & (found["method"] != "original")
    found.loc[plain | (other & ~is_difference), "against"] = ""
    found.loc[to_own, "against"] = "own"
    found.loc[to_own, "mark"] = OWN
    unsigned = (printed["kind"] == "absolute-or-zero") & (printed["group"] != "sisa")
    unsigned &= (found["value"] != 0) & ~(other & (found["method"] == "original"))
    notes = {}
    for table, lines in found.groupby("table", sort=False):
        lines = lines[(lines["block"] == "") | (lines["method"] != "original")]
        doubtful = _doubtful(_values(lines))
        places = pd.Series(list(zip(lines["method"], lines["metric"], strict=True)), lines.index)
        found.loc[places.index[places.isin(doubtful)], "mark"] = DOUBTFUL
        names = {_title(method) for method in lines["method"][unsigned[lines.index]]}
        said = (
            _own_note(found[(found["table"] == table) & other]),
            _doubtful_note(_values(lines), doubtful),
            _unsigned_note(sorted(names)),
        )
        notes[f"mubox-{table}"] = tuple(filter(None, said))
    found.loc[unsigned, "mark"] = DOUBTFUL
    return pd.concat([found, _mubox_cost()], ignore_index=True), notes


def _mubox_cost() -> pd.DataFrame:
    """Run time relative to Retrain, and storage in bytes."""
    printed = source("mubox_cost")
    common = printed.assign(
        paper="mubox",
        model=printed["model"].map(MUBOX_MODELS),
        scenario=printed["scenario"].str.replace("-", "_"),
        name=printed["method"],
        method=printed["method"].map(method_id),
    )
    time = common.assign(metric="rte", value=printed["rte_vs_retrain"])
    storage = common.assign(metric="storage", value=printed["extra_storage_gb"] * 1e9)
    return pd.concat([time, storage]).sort_index(kind="stable")


def _values(lines: pd.DataFrame) -> dict[Cell, float]:
    """As fractions."""
    values = lines["value"].where(lines["unit"] != "%", lines["value"] / 100)
    return dict(zip(zip(lines["method"], lines["metric"], strict=True), values, strict=True))


def _doubtful(values: Mapping[Cell, float]) -> list[Cell]:
    """FA and correctness attack of the lines in which they contradict each other: the attack calls
    unseen what the model gets wrong.
    """
    found = []
    for method, metric in values:
        other = (method, "mia_correctness")
        if (
            metric == "fa"
            and other in values
            and abs(100 * (values[method, metric] + values[other] - 1)) > AGREE + 1e-6
        ):
            found += [(method, metric), other]
    return found


def _own_note(lines: pd.DataFrame) -> str:
    """What the Originals of other blocks reach, and what the gaps beside them are."""
    parts = []
    for _, members in lines.groupby("block", sort=False):
        values = _values(members)
        titles = [_title(each) for each in members["method"].unique() if each != "original"]
        shown = [
            f"{metric.upper()} {number(values['original', metric], 'percent')} %"
            for metric in ("ta", "ra", "fa")
            if ("original", metric) in values
        ]
        parts.append(f"that of {' and '.join(titles)} has {', '.join(shown)}")
    if not parts:
        return ""
    return (
        f"{OWN} From a block with an Original of its own (another model or less data): "
        f"{'; '.join(parts)}. Gaps of TA and RA are to that Original, a gap of FA stands where "
        "one is printed; attacks have none, since no Retrain of the block is printed."
    )


def _doubtful_note(values: Mapping[Cell, float], doubtful: list[Cell]) -> str:
    parts = [
        f"{_title(method)} {number(values[method, 'fa'], 'percent')} and "
        f"{number(values[method, 'mia_correctness'], 'percent')}"
        for method, metric in doubtful
        if metric == "fa"
    ]
    if not parts:
        return ""
    return (
        f"{DOUBTFUL} As printed, but FA and the correctness attack of one line contradict each "
        "other: the attack calls unseen what the model gets wrong, so the two should come to 100 "
        f"%, and are {'; '.join(parts)}."
    )


def _unsigned_note(names: list[str]) -> str:
    if not names:
        return ""
    return (
        f"{DOUBTFUL} FA of {' and '.join(names)} is printed without a sign and read as the "
        "accuracy itself, not as a difference to Retrain."
    )


def _mubox_tables(notes: Notes) -> list[dict[str, Any]]:
    rows = (
        (1, "one_class", "1,000 images of one class", 0.2),
        (2, "one_class", "run time and storage", None),
        (3, "all_classes", "1,000 images of all classes", 0.02),
        (4, "class_wise", "a whole class", None),
        (5, "worst_case", "1,000 images of the lowest loss", 0.02),
        (6, "best_case", "1,000 images of the highest loss", 0.02),
        (8, "one_class", "200 images of one class", 0.4),
        (9, "all_classes", "500 images of all classes", 0.02),
        (10, "class_wise", "a whole class", None),
        (11, "worst_case", "images of the lowest loss", None),
        (12, "best_case", "images of the highest loss", None),
    )
    return [
        {
            "id": f"mubox-{table}",
            "paper": "mubox",
            "tables": "1 2" if table == 1 else str(table),
            "name": f"Table {table}",
            "setting": f"{'CIFAR-10' if table < 8 else '50 classes of TinyImageNet'}, {setting}",
            "scenario": scenario,
            "datasets": "cifar10" if table < 8 else "tiny-imagenet-50",
            "model": "resnet18" if table < 8 else "mobilevit-s",
            "amount": amount,
            "note": " ".join(
                (
                    *(() if table == 2 else ("200 epochs.",)),
                    *(("RTE and MB are from Table 2.",) if table == 1 else ()),
                    *notes.get(f"mubox-{table}", ()),
                )
            ),
        }
        for table, scenario, setting, amount in rows
    ]


# --------------------------------------------------------------------------------------------------
# Are We Truly Forgetting?

TRULY_MODELS = {"ResNet-50": "resnet50", "ConvNeXt-T": "convnext-t", "Swin-T": "swin-t"}
# downstream set as printed -> its id and title
DOWNSTREAM = {
    "OfficeHome": ("office-home", "Office-Home"),
    "CUB": ("cub-200", "CUB"),
    "DomainNet": ("domainnet-126", "DomainNet"),
}
TRULY_METRICS = {
    "FA": "fa",
    "RA": "ra",
    "TFA": "tfa",
    "TRA": "tra",
    "MIA": "mia_confidence",
    "RTE-minutes": "rte",
    "Avg.Gap": "average_gap",
    "AGL": "agl",
    "AGR": "agr",
    "H-LR": "h_lr",
    "kNN-gap-avg": "knn_gap",
    "CKA-avg": "cka_retrain",
}
TRULY_METRICS |= {f"kNN-{name}": f"knn_{id}" for name, (id, _) in DOWNSTREAM.items()}
TRULY_METRICS |= {f"CKA-{name}": f"cka_retrain_{id}" for name, (id, _) in DOWNSTREAM.items()}
COMPARED = ("FA", "RA", "TFA", "TRA", "MIA")  # stand in tables of results, with a gap to Retrain
PLAIN = ("AGL", "AGR", "H-LR")  # printed as fractions
TWICE = (2, 9)  # tables that print one setting, 100 classes at random, both


def _truly() -> tuple[pd.DataFrame, Notes]:
    printed = source("truly_forgetting_tables")
    found = _truly_cells(printed)
    minutes = printed[printed["metric"] == "RTE-minutes"].set_index("method")["value"]
    found.loc[printed["metric"] == "RTE-minutes", ["value", "unit"]] = [
        (value / minutes["Retrain"], "") for value in minutes
    ]
    each = ", ".join(
        f"{_title(method_id(str(name)))} {value:,.0f}"
        for name, value in sorted(minutes.items(), key=lambda pair: -pair[1])
    )
    notes = {"truly-2": (f"Minutes as printed: {each}.",)}
    compared = printed[printed["metric"].isin(COMPARED)]
    keys = ["model", "scenario", "forget_classes", "method", "metric"]
    for here, there, table in ((*TWICE, "truly-2"), (*TWICE[::-1], "truly-9-100")):
        first = compared[compared["table"] == here].set_index(keys)["value"]
        second = compared[compared["table"] == there].set_index(keys)["value"].reindex(first.index)
        differ = (first - second).abs() > 1e-9
        places = compared.index[compared["table"] == here][differ]
        found.loc[places, "mark"] = DOUBTFUL
        each = "; ".join(
            f"{_title(method_id(place[3]))}, {place[4]}: here {first[place]:g}, there "
            f"{second[place]:g}"
            for place in first.index[differ]
        )
        if each:
            notes[table] = (
                *notes.get(table, ()),
                f"{DOUBTFUL} The paper prints this cell with another number in a second table of "
                f"the same setting. {each}.",
            )
    found["table"] = found["table"].astype(str)
    computed = _truly_cells(agreements(printed)).assign(table="", mark=COMPUTED)
    return pd.concat([found, computed], ignore_index=True), notes


def _truly_cells(printed: pd.DataFrame) -> pd.DataFrame:
    near = printed["scenario"].str.removeprefix("top-")
    plain = printed["metric"].isin(PLAIN)
    return printed.assign(
        paper="truly",
        model=printed["model"].map(TRULY_MODELS),
        scenario=(near == "random").map({True: "random_classes", False: "top_classes"}),
        near=near.map({name: id for name, (id, _) in DOWNSTREAM.items()}),
        amount=printed["forget_classes"] / 1000,
        name=printed["method"],
        method=printed["method"].map(method_id),
        metric=printed["metric"].map(TRULY_METRICS),
        unit=plain.map({True: "", False: "%"}),
        against=printed["metric"].isin(COMPARED).map({True: "retrain", False: ""}),
        mark="",
    )


def agreements(printed: pd.DataFrame) -> pd.DataFrame:
    """AGL, AGR and H-LR of the methods and sets of classes for which the paper does not print all
    three, by its own formulas from its accuracies, k-NN accuracies and CKAs.
    """
    columns = ["dataset", "model", "scenario", "forget_classes"]
    found = []
    for place, lines in printed[printed["table"] != 5].groupby(columns, sort=False):
        by_method = {
            name: group.drop_duplicates("metric").set_index("metric")["value"].to_dict()
            for name, group in lines.groupby("method", sort=False)
        }
        for name, values in by_method.items():
            if name != "Original" and not values.keys() >= set(PLAIN):
                found += [
                    {
                        **dict(zip(columns, place, strict=True)),
                        "method": name,
                        "metric": metric,
                        "value": value,
                    }
                    for metric, value in _agreements(values, by_method["Retrain"]).items()
                ]
    return pd.DataFrame(found, columns=[*columns, "method", "metric", "value"])


def _agreements(values: Mapping[str, float], retrain: Mapping[str, float]) -> dict[str, float]:
    """AGL of the accuracies, AGR of k-NN accuracies and CKAs, and H-LR; those of which all parts
    are printed.
    """
    heads = [name.upper() for name in CLASS_ACCURACIES]
    sets = [
        of
        for of in DOWNSTREAM
        if f"CKA-{of}" in values and f"kNN-{of}" in values and f"kNN-{of}" in retrain
    ]
    found = {}
    if all(head in values and head in retrain for head in heads):
        found["AGL"] = agl(
            unlearned={head.lower(): values[head] / 100 for head in heads},
            retrained={head.lower(): retrain[head] / 100 for head in heads},
        )
    if sets:
        found["AGR"] = agr(
            knn_gaps={of: abs(values[f"kNN-{of}"] - retrain[f"kNN-{of}"]) / 100 for of in sets},
            ckas={of: values[f"CKA-{of}"] / 100 for of in sets},
        )
    if len(found) == 2:
        found["H-LR"] = h_lr(agl=found["AGL"], agr=found["AGR"])
    return found


def _truly_tables(notes: Notes) -> list[dict[str, Any]]:
    minutes = (
        "RTE is from the minutes of Table 5, and its MIA stands under Conf.: whether that "
        "is the same attack is not known to us."
    )
    rows = [
        ("truly-2", "2 5", "Tables 2 and 5", "resnet50", "", 100, minutes),
        ("truly-7-convnext-t", "7", "Table 7, ConvNeXt-T", "convnext-t", "", 100, ""),
        ("truly-7-swin-t", "7", "Table 7, Swin-T", "swin-t", "", 100, ""),
    ]
    rows += [
        (f"truly-{table}-{count}", str(table), f"Table {table}", "resnet50", near, count, "")
        for table, near in enumerate(("", *DOWNSTREAM), start=9)
        for count in (100, 200, 300)
    ]
    return [
        {
            "id": id,
            "paper": "truly",
            "tables": tables,
            "name": name,
            "setting": f"{count} of 1,000 classes "
            + (f"near {DOWNSTREAM[near][1]}" if near else "at random"),
            "scenario": "top_classes" if near else "random_classes",
            "datasets": "imagenet",
            "model": model,
            "amount": count / 1000,
            "downstream": DOWNSTREAM[near][0] if near else "",
            "note": " ".join(filter(None, (note, *notes.get(id, ())))),
        }
        for id, tables, name, model, near, count, note in rows
    ]


# --------------------------------------------------------------------------------------------------
# Becker and Liebig


def _becker() -> pd.DataFrame:
    """Original and Fisher are printed once for all shares: they have no amount."""
    printed = source("efficacy_table1")
    share = printed["forget_fraction_of_class"]
    return printed.assign(
        paper="efficacy",
        model="mlp",
        scenario="class_fraction",
        amount=share.where(share != "any").astype(float),
        name=printed["method"],
        method=printed["method"].map(method_id),
        metric=printed["metric"].str.lower(),
        value=printed["mean"],
        spread=printed["std"],
        against="retrain",
    )


def _becker_tables() -> list[dict[str, Any]]:
    return [
        {
            "id": f"efficacy-{share:g}",
            "paper": "efficacy",
            "tables": "1",
            "name": "Table 1",
            "setting": f"{100 * share:g} % of class 3 of MNIST",
            "scenario": "class_fraction",
            "datasets": "mnist",
            "model": "mlp",
            "amount": share,
            "note": "The first 100 images of each class, 20 seeds; Original and Fisher are printed "
            "once for all shares.",
        }
        for share in (0.1, 0.25, 0.5, 0.8, 1.0)
    ]


# --------------------------------------------------------------------------------------------------
# Choi and Na

# Table -> its data set as printed, its words, and the data sets here: the paper's, and the drawn
# faces that stand in for it. The paper names the attribute of the first of the three alone; the
# others are taken in the order in which it lists the attributes.
CHOI_TABLES = {
    "mufac": ("MUFAC", "MUFAC, age groups", "mufac faces"),
    "mucac": ("MUCAC multi-label", "MUCAC, three attributes", "mucac faces-attributes"),
    "gender": (
        "MUCAC single-task 1 (gender)",
        "MUCAC, first attribute alone",
        "mucac-male faces-attributes-male",
    ),
    "second": (
        "MUCAC single-task 2",
        "MUCAC, second attribute alone",
        "mucac-young faces-attributes-young",
    ),
    "third": (
        "MUCAC single-task 3",
        "MUCAC, third attribute alone",
        "mucac-smiling faces-attributes-smiling",
    ),
}
# The paper's second stage of UNSIR is the whole method; its first has no counterpart.
CHOI_METHODS = {
    "Original": "original",
    "Retrained": "retrain",
    "Fine-tuning": "finetune",
    "CF-3": "cf_k",
    "NegGrad": "gradient_ascent",
    "UNSIR stage 1": "UNSIR stage 1",
    "UNSIR stage 2": "unsir",
    "SCRUB": "scrub",
    "Advanced NegGrad": "advanced_neggrad",
}
CHOI_METRICS = {
    "Test Acc": "ta",
    "Average Test Acc": "ta",
    "Top-2 Test Acc": "top2",
    "Forgetting Score": "forgetting_score",
    "NoMUS": "nomus",
}


def _choi() -> pd.DataFrame:
    printed = source("mufac_mucac_tables")
    return printed.assign(
        paper="persons",
        table=printed["dataset"].map({dataset: id for id, (dataset, *_) in CHOI_TABLES.items()}),
        model="resnet18",
        scenario="identities",
        name=printed["method"],
        method=printed["method"].map(CHOI_METHODS),
        metric=printed["metric"].map(CHOI_METRICS),
        against="retrain",
    )


def _choi_tables() -> list[dict[str, Any]]:
    return [
        {
            "id": f"persons-{id}",
            "paper": "persons",
            "tables": id,
            "name": f"{id.upper()} table" if id in ("mufac", "mucac") else "single-attribute table",
            "setting": setting,
            "scenario": "identities",
            "datasets": datasets,
            "model": "resnet18",
            "note": "Its forgetting score and NoMUS stand on the page Identity.",
        }
        for id, (_, setting, datasets) in CHOI_TABLES.items()
    ]


# --------------------------------------------------------------------------------------------------
# SalUn, l1-sparse, LoTUS: tables of accuracies and minutes

NO_COUNTERPART = ("IU", "SalUn-soft", "LoTUS (CIFAKE)")  # influence unlearning of l1-sparse's paper


def _with_ratio(printed: pd.DataFrame, time: str, *, by: Sequence[str]) -> pd.DataFrame:
    """Minutes as what they are of Retrain's in the same table; UA as FA = 100 - UA; and what all
    three papers have in common. `by` are the columns that tell tables apart.
    """
    minutes = printed["metric"] == time
    retrain = printed[minutes & (printed["method"] == "Retrain")].set_index(list(by))["value"]
    places = zip(*(printed[name] for name in by), strict=True)
    base = pd.Series(
        [retrain[place if len(by) > 1 else place[0]] for place in places], printed.index
    )
    error = printed["metric"] == "UA"
    value = (
        printed["value"]
        .where(~minutes, printed["value"] / base)
        .where(~error, (100 - printed["value"]).round(2))
    )
    known = ~printed["method"].isin(NO_COUNTERPART)
    return printed.assign(
        model="resnet18",
        name=printed["method"],
        method=[
            method_id(name.partition(" (")[0]) if has else name
            for name, has in zip(printed["method"], known, strict=True)
        ],
        metric=printed["metric"].map(TIMED_METRICS),
        value=value,
        spread=printed["spread"].where(~minutes),
        against=minutes.map({True: "", False: "retrain"}),
        mark="",
    )


TIMED_METRICS = {
    "FA": "fa",
    "UA": "fa",
    "RA": "ra",
    "TA": "ta",
    "MIA-efficacy": "mia_confidence",
    "RTE": "rte",
    "time": "rte",
}


def _salun() -> pd.DataFrame:
    printed = source("salun_table1")
    return _with_ratio(printed, "RTE", by=("budget",)).assign(
        paper="salun",
        scenario="all_classes",
        amount=printed["budget"].str.rstrip("%").astype(float) / 100,
        unit=(printed["metric"] == "RTE").map({True: "", False: "%"}),
    )


def _salun_tables() -> list[dict[str, Any]]:
    return [
        {
            "id": f"salun-{share}",
            "paper": "salun",
            "tables": "1",
            "name": "Table 1",
            "setting": f"CIFAR-10, {share} % of the training images at random",
            "scenario": "all_classes",
            "datasets": "cifar10",
            "model": "resnet18",
            "amount": share / 100,
            "note": "Means of 10 trials. FA is 100 % less the printed UA, RTE the printed time "
            "over that of Retrain. Influence unlearning and soft-thresholded SalUn have no line "
            "here.",
        }
        for share in (10, 50)
    ]


L1_SPARSE_TABLES = {
    ("one-class", "ResNet-18"): ("class-dense", "class_wise", "a whole class, dense network"),
    ("one-class", "ResNet-18, 95% sparse"): (
        "class-sparse",
        "class_wise",
        "a whole class, network of which 95 % was pruned",
    ),
    ("random", "ResNet-18"): ("random-dense", "all_classes", "images at random, dense network"),
    ("random", "ResNet-18, 95% sparse"): (
        "random-sparse",
        "all_classes",
        "images at random, network of which 95 % was pruned",
    ),
}


def _l1_sparse() -> pd.DataFrame:
    """One time is printed for the dense and the sparse network of a scenario: it stands with the
    dense one.
    """
    printed = source("l1_sparse_table1")
    dense = printed[printed["metric"] == "RTE"]
    places = [
        L1_SPARSE_TABLES[place] for place in zip(printed["scenario"], printed["model"], strict=True)
    ]
    found = _with_ratio(printed, "RTE", by=("scenario",))
    assert set(dense["model"]) == {"ResNet-18"}
    return found.assign(
        paper="l1-sparse",
        table=[table for table, _, _ in places],
        scenario=[scenario for _, scenario, _ in places],
        unit=(printed["metric"] == "RTE").map({True: "", False: "%"}),
    )


def _l1_sparse_tables() -> list[dict[str, Any]]:
    return [
        {
            "id": f"l1-sparse-{table}",
            "paper": "l1-sparse",
            "tables": table,
            "name": "Table 1",
            "setting": f"CIFAR-10, {words}",
            "scenario": scenario,
            "datasets": "cifar10",
            "model": "resnet18",
            "amount": None,
            "note": "FA is 100 % less the printed UA. The table does not print its data, network "
            "and share; data and network are those of the figures beside it. Influence unlearning "
            "has no line here."
            + (
                " The printed time does not say whether it is of the dense or the sparse network; "
                "RTE is that time over Retrain's."
                if table.endswith("dense")
                else ""
            ),
        }
        for table, scenario, words in L1_SPARSE_TABLES.values()
    ]


LOTUS_CLASSES = {
    "CIFAR-10 (class cat)": ("cat", "cifar10"),
    "CIFAR-100 (class beaver)": ("beaver", "cifar100"),
    "CIFAR-100 (class rocket)": ("rocket", "cifar100"),
}
# a forget accuracy so high after forgetting a whole class that the run did not forget
LOTUS_STAYED = {("cat", "SCRUB"), ("beaver", "UNSIR")}


def _lotus() -> pd.DataFrame:
    printed = source("lotus_results")
    whole = printed["dataset"].isin(LOTUS_CLASSES)
    share = printed["budget"].str.rstrip("%").where(~whole).astype(float) / 100
    tables = [
        LOTUS_CLASSES[dataset][0] if one else f"{dataset.lower().replace('-', '')}-{budget[:-1]}"
        for dataset, budget, one in zip(printed["dataset"], printed["budget"], whole, strict=True)
    ]
    found = _with_ratio(printed, "time", by=("dataset", "budget")).assign(
        paper="lotus",
        table=tables,
        scenario=whole.map({True: "class_wise", False: "all_classes"}),
        amount=share,
    )
    stayed = [
        (table, name) in LOTUS_STAYED and metric == "fa"
        for table, name, metric in zip(found["table"], found["name"], found["metric"], strict=True)
    ]
    found.loc[stayed, "mark"] = DOUBTFUL
    return found


def _lotus_tables() -> list[dict[str, Any]]:
    note = (
        "Means over seeds, as the authors' notebook of results prints them, with two digits; RTE "
        "is the printed time over Retrain's. Its membership attack has no counterpart here."
    )
    lines = [
        (
            f"{dataset}-{share}",
            dataset,
            "all_classes",
            share / 100,
            f"{share} % of the training images at random",
            "",
        )
        for share in (10, 50)
        for dataset in ("cifar10", "cifar100")
    ] + [
        (name, dataset, "class_wise", None, f"class {name}", _lotus_note(name))
        for name, dataset in LOTUS_CLASSES.values()
    ]
    return [
        {
            "id": f"lotus-{table}",
            "paper": "lotus",
            "tables": table,
            "name": "notebook",
            "setting": f"{catalog.dataset(dataset).title}, {words}",
            "scenario": scenario,
            "datasets": dataset,
            "model": "resnet18",
            "amount": amount,
            "note": f"{note}{more}",
        }
        for table, dataset, scenario, amount, words, more in lines
    ]


def _lotus_note(name: str) -> str:
    said = " The notebook names the class alone; the data set is read off it."
    methods = [method for each, method in LOTUS_STAYED if each == name]
    if methods:
        said += (
            f" {DOUBTFUL} As printed: {methods[0]} leaves the forget accuracy where the original "
            "has it, so that run did not forget."
        )
    return said


if __name__ == "__main__":
    main()
