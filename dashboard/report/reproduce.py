"""Configuration of every run and the commands that repeat them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from dashboard import frames
from dashboard.report.blocks import Block, Command, Facts, Table, Text
from dashboard.report.selection import Setting
from dashboard.report.text import versions
from dashboard.text import units
from dashboard.text.labels import MISSING, command_or_why_not, number, preset_title


@dataclass(frozen=True)
class Repeat:
    """One command and the keys of the runs that it repeats."""

    label: str
    text: str
    keys: tuple[str, ...]


def repeats(found: Sequence[Setting]) -> tuple[Repeat, ...]:
    """Runs that differ in seeds alone share a command where it names just these: the same training
    seeds under each unlearning seed.
    """
    labels: dict[str, tuple[str, dict]] = {}
    # a spec without seeds -> unlearning seed -> training seed -> key
    alike: dict[str, dict[int, dict[int, str]]] = {}
    for setting in found:
        for row in setting.values.rows:
            for key in row.keys:
                result = setting.results.get(key)
                # every comparison trains it anyway
                if result is None or result.spec["method"] == "original":
                    continue
                same = json.dumps(
                    {**result.spec, "training_seed": None, "unlearning_seed": None},
                    sort_keys=True,
                    default=str,
                )
                labels.setdefault(same, (f"{row.title}, {setting.label}", dict(result.spec)))
                seeds = alike.setdefault(same, {}).setdefault(
                    int(result.spec.get("unlearning_seed", 0)), {}
                )
                seeds[int(result.spec.get("training_seed", 0))] = key
    made = []
    for same, by_unlearning in alike.items():
        label, spec = labels[same]
        grids: dict[tuple[int, ...], list[int]] = {}
        for unlearning, keys in sorted(by_unlearning.items()):
            grids.setdefault(tuple(sorted(keys)), []).append(unlearning)
        for training, unlearnings in grids.items():
            text = command_or_why_not(
                {
                    **spec,
                    "training_seed": _listed(training),
                    "unlearning_seed": _listed(unlearnings) if any(unlearnings) else 0,
                }
            ).replace(" \\\n  ", " ")
            made.append(
                Repeat(
                    label,
                    text,
                    tuple(by_unlearning[one][seed] for one in unlearnings for seed in training),
                )
            )
    return tuple(made)


def _listed(seeds: Sequence[int]) -> str:
    return ",".join(str(seed) for seed in seeds)


def command_blocks(commands: Sequence[Repeat]) -> tuple[Block, ...]:
    """The commands, numbered, under a sentence on how to run them."""
    if not commands:
        return (Text("Only originals are among these runs; every comparison trains them."),)
    start = Text(
        "Run them in the project's folder, in any order. A run that the store has already is not "
        "computed again; the original and Retrain of each training seed are trained first where "
        "they are missing."
    )
    return (
        start,
        *(
            Command(f"{place}. {each.label}", each.text)
            for place, each in enumerate(commands, start=1)
        ),
    )


def configuration_blocks(found: Sequence[Setting], commands: Sequence[Repeat]) -> tuple[Block, ...]:
    """Data, versions and recipe, then a line a run and the parameters of every method."""
    of_key = {key: place for place, each in enumerate(commands, start=1) for key in each.keys}
    lines = []
    for setting in found:
        for row in setting.values.rows:
            for key in row.keys:
                lines.append(_run_line(setting, row, key, of_key))
    caption = (
        "Every run. Seeds: training, unlearning, evaluation. Key: the name of the run in "
        "the store, made of all that it depends on."
    )
    parameters = [
        {"Setting": setting.label, "Method": row.title, "Parameters": _full(row.parameters)}
        for setting in found
        for row in setting.values.rows
        if row.parameters
    ]
    results = [result for setting in found for result in setting.results.values()]
    facts = [
        (
            "Data hash",
            ", ".join(sorted({result.data_hash for result in results if result.data_hash}))
            or MISSING,
        )
    ]
    facts += [
        ("Versions", text or MISSING) for text in sorted({versions(result) for result in results})
    ]
    facts += [
        ("Recipe", _full(json.loads(text)))
        for text in sorted({str(setting.runs.iloc[0]["recipe"]) for setting in found})
    ]
    samples = sorted({int(result.spec.get("mia_samples", 2000)) for result in results})
    facts.append(
        (
            "Membership attacks",
            f"at most {' or '.join(map(str, samples)) or MISSING} samples on either side",
        )
    )
    table = Table(caption, pd.DataFrame(lines), by="Setting", wide=True)
    blocks: list[Block] = [Facts(tuple(facts)), table]
    if parameters:
        blocks.append(
            Table("Parameters of every method.", pd.DataFrame(parameters), by="Setting", wide=True)
        )
    return tuple(blocks)


def _run_line(
    setting: Setting, row: frames.Row, key: str, of_key: Mapping[str, int]
) -> dict[str, str]:
    line = setting.runs.set_index("key").loc[key]
    result = setting.results.get(key)
    threads = result.cost.get("threads") if result is not None else None
    finished = line["finished"]
    return {
        "Setting": setting.label,
        "Method": row.title,
        "Settings of": preset_title(str(line["method_preset"])),
        "Seeds": f"{line['training_seed']}, {line['unlearning_seed']}, {line['evaluation_seed']}",
        "Status": str(line["status"]),
        "Forget set": line["forget_hash"] if isinstance(line["forget_hash"], str) else MISSING,
        "Device": str(line["device"]),
        "Precision": str(line["precision"]),
        "Threads": MISSING if threads is None else str(threads),
        "Seconds": number(None if pd.isna(line["seconds"]) else float(line["seconds"]), "ratio"),
        "Finished, UTC": MISSING if pd.isna(finished) else f"{finished:%Y-%m-%d %H:%M}",
        "Key": key,
        "Command": str(of_key.get(key, MISSING)),
    }


def _full(parameters: Mapping) -> str:
    """Every parameter as one would type it: "lr 0.01, epochs 5"."""
    return (
        ", ".join(f"{name} {units.plain(value)}" for name, value in parameters.items())
        or "defaults"
    )
