"""Numbers, settings and runs in words: what tables, captions and labels say. No Streamlit, no
plotly.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import shlex
from collections.abc import Mapping
from typing import Any, Literal

from mucore import catalog, titles
from mucore.catalog.tuning import Tuned
from mucore.errors import MucoreError, UnknownName
from mucore.runs import Recipe, complete, fill, make_recipe, method_parameters
from mucore.runs.spec import scenario_revision

Unit = Literal["percent", "ratio", "MB", "seconds", "count"]

OPTIMIZERS = {"sgd": "SGD", "adam": "Adam", "adamw": "AdamW"}
METHOD_PRESETS = {"authors": "Authors'", "tuned": "Tuned", "tuned_elsewhere": "Tuned elsewhere"}
MINUS = "\N{MINUS SIGN}"
THIN = "\N{NARROW NO-BREAK SPACE}"  # before a percent sign and a unit
MISSING = "\N{EN DASH}"
_SHIPPED = frozenset(card.id for card in (catalog.ORIGINAL, *catalog.METHODS))


def number(value: float | None, unit: Unit, *, signed: bool = False) -> str:
    """`value` (a fraction for percent, bytes for MB) as the screen shows it: one decimal for
    percent, two significant digits for ratios.

    A real minus sign, a comma in thousands; None and NaN are "–".
    """
    if value is None or not math.isfinite(value):
        return MISSING
    if unit == "percent":
        text = f"{100 * value:,.1f}"
    elif unit == "count":
        text = f"{value:,.0f}"
    else:
        text = _two_digits(value / 1e6 if unit == "MB" else value)
    if text.lstrip("-").strip("0.,") == "":
        text = text.lstrip("-")
    elif signed and not text.startswith("-"):
        text = f"+{text}"
    return text.replace("-", MINUS)


def for_file(text: str) -> str:
    """A number as text without the marks between thousands, which a spreadsheet would not read as a
    number.
    """
    return text.replace(THIN, "").replace(",", "")


def _two_digits(value: float) -> str:
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(float(f"{value:.1e}"))))
    if size < -4:
        return f"{value:.1e}".replace("e-0", "e-")
    return f"{value:,.{max(0, 1 - size)}f}"


def method_names(method: str) -> tuple[str, str]:
    """Title and family; the original is a reference, and a method that the catalogue no longer
    knows keeps its id and stands last.

    No two methods have one title, or figures and tables would take them for one: the id stands
    behind that of a user's own method that another has as well.
    """
    try:
        card = catalog.method(method)
    except UnknownName:
        return method, "unknown"
    if card.id not in _SHIPPED and any(
        other.title == card.title and other.id != card.id
        for other in (catalog.ORIGINAL, *catalog.methods())
    ):
        return f"{card.title} ({card.id})", card.family
    return card.title, card.family


def metric_text(metric_id: str) -> tuple[str, str]:
    """A metric's title, and in sentences: its meaning, what a good value is, the caveat and the
    source.
    """
    card = catalog.metric(metric_id)
    ideal = {
        "retrain": "Goal: Retrain's value.",
        "high": "Higher is better.",
        "low": "Lower is better.",
        "none": "",
    }[card.ideal]
    parts = (card.meaning, ideal, card.caveat, f"Source: {card.source}" if card.source else "")
    return card.title, " ".join(part for part in parts if part)


def scenario_title(scenario: str) -> str:
    return catalog.scenario(scenario).title


def setup_text(line: Mapping[str, Any]) -> str:
    """Data set, model and recipe of a run in their titles; `line` has all three by these names."""
    return " · ".join(
        (
            titles.dataset(str(line["dataset"])),
            titles.model(str(line["model"])),
            recipe_text(line["recipe"]),
        )
    )


def changes_text(found: Tuned) -> str:
    """What the task of a tuned setting has otherwise than usual, "budget 50 %, epochs 3"; "" where
    nothing.
    """
    changes: dict[str, dict[str, Any]] = {"scenario": {}, "recipe": {}}
    for name, value in found.changes().items():
        owner, _, key = name.partition(".")
        changes[owner][key] = value
    texts = [
        forget_set_text(changes["scenario"], found.dataset) if changes["scenario"] else "",
        settings_text(changes["recipe"]) if changes["recipe"] else "",
    ]
    return ", ".join(filter(None, texts))


def preset_title(preset: str) -> str:
    """Whose settings a method ran with; the id where it is none of those that every method has."""
    return METHOD_PRESETS.get(preset, preset)


def forgotten_text(
    scenario: str, parameters: str | Mapping[str, Any], dataset: str, count: int
) -> str:
    """What a scenario asked a model to forget, in words that need no card: "the whole class Bag",
    "20 % of class Bag".
    """
    values = json.loads(parameters) if isinstance(parameters, str) else parameters
    many = f"{number(count, 'count')} samples"
    if scenario == "class_wise":
        names = [_class_name(dataset, each) for each in values["class_ids"]]
        return f"the whole class {names[0]}" if len(names) == 1 else f"{len(names)} whole classes"
    if scenario in ("one_class", "class_fraction"):
        return f"{many} of class {_class_name(dataset, values['class_id'])}"
    if scenario in ("random_classes", "top_classes"):
        return f"{values['n']} whole classes"
    if scenario == "identities":
        return f"every image of {len(values['persons'] or []) or values['count']} persons"
    return {
        "all_classes": f"{many} spread over all classes",
        "worst_case": f"the {many} that it knows best",
        "best_case": f"the {many} that it knows worst",
        "label_flip": f"{many} with wrong labels",
        "backdoor": f"{many} that carry a backdoor",
    }.get(scenario, many)


def set_title(scenario: str, parameters: str | Mapping[str, Any], dataset: str) -> str:
    """A scenario with what is set apart from its size: "Part of one class: Bag"."""
    values = json.loads(parameters) if isinstance(parameters, str) else parameters
    title = scenario_title(scenario)
    return f"{title}: {_class_name(dataset, values['class_id'])}" if "class_id" in values else title


def _class_name(dataset: str, number: int) -> str:
    try:
        names = catalog.dataset(dataset).class_names
    except UnknownName:
        names = ()
    return names[number] if number < len(names) else str(number)


def with_titles(sentence: str, *known: str) -> str:
    """A sentence of the core with titles in place of ids: a page's reader has not met `one_class`,
    but “Part of one class”.

    Ids that are plain words, such as backdoor or digits, stay unless they follow the word
    "scenario" or are `known` to be the method, data set or model that the sentence is about, and so
    does `uploaded.file`, which names a setting.
    """
    plain = r"\bscenario (backdoor|competition|identities|ids)\b"
    sentence = re.sub(plain, lambda found: f"scenario “{scenario_title(found[1])}”", sentence)
    cards = [
        card
        for cards in (catalog.scenarios(), catalog.datasets(), catalog.models())
        for card in cards
    ]
    names = {
        card.id: f"“{card.title}”"
        for card in cards
        if card.id in known or re.search(r"[-_\d]", card.id)
    }
    methods = (catalog.ORIGINAL, *catalog.methods())
    names |= {card.id: card.title for card in methods if card.id in known}
    ids = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"(?<![\w/-])({ids})(?![\w-]|[.:/]\w)", lambda found: names[found[0]], sentence)


def named_in(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """The ids that a sentence about a run may name (`known` of `with_titles`); `spec` is
    `Result.spec`.
    """
    return tuple(
        str(spec[name]) for name in ("method", "scenario", "dataset", "model") if spec.get(name)
    )


def settings_text(parameters: str | Mapping[str, Any]) -> str:
    """A method's parameters as a short line: "epochs 5, lr 0.01"; an empty mapping is "defaults".
    `forget_set_text` is for scenarios.
    """
    values = json.loads(parameters) if isinstance(parameters, str) else parameters
    parts = [
        f"{name.replace('_', ' ')} {setting_text(name, value)}" for name, value in values.items()
    ]
    return ", ".join(parts) or "defaults"


def forget_set_text(parameters: str | Mapping[str, Any], dataset: str) -> str:
    """A scenario's parameters as a short line in which classes have names: "budget 20 %, class
    Bag"; an empty mapping is "defaults".
    """
    values = dict(json.loads(parameters) if isinstance(parameters, str) else parameters)
    values.pop("revision", None)
    if values.get("persons"):  # those that are named, so none is drawn
        values = {name: value for name, value in values.items() if name not in ("count", "seed")}
    return (
        ", ".join(
            _set_part(name, value, dataset) for name, value in values.items() if value is not None
        )
        or "defaults"
    )


def _set_part(name: str, value: Any, dataset: str) -> str:
    if name == "class_id":
        return f"class {_class_name(dataset, value)}"
    if name == "class_ids":
        names = [_class_name(dataset, each) for each in value[:6]]
        return (
            f"{'class' if len(value) == 1 else 'classes'} "
            f"{', '.join(names)}{' …' if len(value) > 6 else ''}"
        )
    if name == "target":
        return f"target class {_class_name(dataset, value)}"
    if name in ("n", "count"):
        kind = ("class", "classes") if name == "n" else ("person", "persons")
        return f"{number(value, 'count')} {kind[value != 1]}"
    if name == "pairs":
        return "pairs " + ", ".join(
            " and ".join(_class_name(dataset, each) for each in pair) for pair in value
        )
    if name == "downstream":
        return f"near {titles.dataset(value)}"
    if name == "after":
        return f"after {', '.join(_earlier(each, dataset) for each in value)}"
    return f"{name.replace('_', ' ')} {setting_text(name, value).replace('_', ' ')}"


def _earlier(request: str, dataset: str) -> str:
    """A request as the setting `after` keeps it, "class_wise class_ids=[0]", in words."""
    scenario, _, rest = request.partition(" ")
    try:
        pairs = (each.partition("=")[::2] for each in rest.split(" ") if each)
        values = {name: json.loads(text) for name, text in pairs}
        title = catalog.scenario(scenario).title
    except (ValueError, UnknownName):  # written by another version
        return request.replace("_", " ")
    return f"{title} ({forget_set_text(values, dataset)})" if values else title


def setting_text(name: str, value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if name in ("budget", "fraction") and isinstance(value, float):
        return f"{100 * value:g}{THIN}%"
    if isinstance(value, int):
        return number(value, "count")
    if isinstance(value, float):
        return f"{value:g}".replace("-", MINUS)
    if isinstance(value, list | tuple):
        return (
            " ".join(str(item) for item in value[:6]) + (" …" if len(value) > 6 else "") or "none"
        )
    return str(value)


PRECISIONS = {"fp32": "fp32", "bf16": "bf16", "auto": "precision auto"}


def recipe_text(recipe: str | Mapping[str, Any]) -> str:
    """A recipe as the title of the preset it equals, or as its few deciding figures; of an earlier
    revision, or of another precision, which one.
    """
    values = json.loads(recipe) if isinstance(recipe, str) else dict(recipe)
    preset, changes = nearest_preset(values)
    revision, precision = changes.pop("revision", None), changes.pop("precision", None)
    earlier = "" if revision is None else f", revision {revision}"
    earlier += "" if precision is None else f", {PRECISIONS[precision]}"
    if not changes:
        return catalog.preset(preset).title + earlier
    optimizer = OPTIMIZERS[values.get("optimizer", "sgd")]
    return (
        f"{values.get('epochs')} epochs, batch {values.get('batch_size')}, rate "
        f"{values.get('lr'):g}, {optimizer}{earlier}"
    )


def short_id(text: str) -> str:
    """Eight hexadecimal digits that stand for a long text (a recipe, a forget set) in an
    address.
    """
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def command_or_why_not(spec: Mapping[str, Any]) -> str:
    """`command_line`, or a comment that says why there is none."""
    try:
        return command_line(spec)
    except (MucoreError, KeyError, ValueError) as failure:
        # a method of the reader's own that is gone, or a run of another version
        return f"# No command: {failure}"


def command_line(spec: Mapping[str, Any]) -> str:
    """The command that repeats a run: every setting that differs from its card's default or its
    preset's, spelled out.

    `spec` is `Result.spec`: names, effective parameters, three seeds.
    """
    parts = [
        "python -m mucore run",
        f"--dataset {shlex.quote(spec['dataset'])}",
        f"--model {spec['model']}",
    ]
    preset, changes = nearest_preset(spec["recipe"])
    parts.append(f"--preset {preset}")
    settings = [("recipe", name, value) for name, value in changes.items()]
    scenario = spec.get("scenario")
    if scenario is not None:
        first, *later = requests(spec)
        parts.append(f"--scenario {first['scenario']}")
        settings += [("scenario", name, value) for name, value in _scenario_changes(first, preset)]
        for each in later:
            request = " ".join(
                [
                    each["scenario"],
                    *(f"{name}={_typed(value)}" for name, value in _scenario_changes(each, preset)),
                ]
            )
            parts.append(f"--then {shlex.quote(request)}")
    method = spec["method"]
    parts.append(f"--methods {method}")
    card = catalog.method(method)
    effective = complete(card, spec.get("parameters", {}))
    usual = method_parameters(
        card, Recipe.model_validate(spec["recipe"]), {}, scenario=scenario, paper=preset
    )
    settings += [
        (method, name, value)
        for name, value in effective.items()
        if _changed(usual.get(name), effective, name)
    ]
    parts += [
        f"--set {shlex.quote(f'{owner}.{name}={_typed(value)}')}" for owner, name, value in settings
    ]
    parts.append(f"--seeds {spec.get('training_seed', 0)}")
    parts += [
        f"--{axis.replace('_', '-')}s {spec[axis]}"
        for axis in ("unlearning_seed", "evaluation_seed")
        if spec.get(axis)
    ]
    if spec.get("original_hash"):
        parts.append(f"--original {spec['original_hash']}")
    if spec.get("noise"):
        parts.append(f"--noise {spec['noise']:g}")
    if spec.get("scope", "all") != "all":
        parts.append(f"--scope {spec['scope']}")
    if spec.get("mia_samples", 2000) != 2000:
        parts.append(f"--mia-samples {spec['mia_samples']}")
    return " \\\n  ".join(parts)


def requests(spec: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The specs of a sequence of requests, the first one first."""
    return [*(requests(spec["after"]) if spec.get("after") else []), spec]


def _scenario_changes(spec: Mapping[str, Any], preset: str) -> list[tuple[str, Any]]:
    """The settings of a spec's scenario that differ from what the preset sets for it, and for the
    rest from its card.
    """
    given, card = spec.get("scenario_parameters", {}), catalog.scenario(spec["scenario"])
    if scenario_revision(given) != card.revision:  # the same values mean something else today
        return []
    usual = fill(preset, scenarios=[card.id]).scenarios[card.id]
    return [
        (p.name, given[p.name])
        for p in card.parameters
        if _changed(usual.get(p.name, p.default), given, p.name)
    ]


def nearest_preset(recipe: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """The preset that differs least from `recipe`, and the fields that still differ."""
    wanted = Recipe.model_validate(recipe)
    found = []
    for card in catalog.presets():
        base = make_recipe(card.id)
        pairs = {name: (getattr(wanted, name), getattr(base, name)) for name in Recipe.model_fields}
        found.append(
            (card.id, {name: value for name, (value, usual) in pairs.items() if value != usual})
        )
    return min(found, key=lambda pair: len(pair[1]))


def _changed(default: Any, given: Mapping[str, Any], name: str) -> bool:
    usual = list(default) if isinstance(default, tuple) else default
    return name in given and given[name] != usual


def _typed(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, list | tuple):
        return ",".join(str(item) for item in value)
    return str(value).lower() if isinstance(value, bool) else str(value)


def note_text(note: str) -> str:
    """A note of a result with the titles of the membership attacks that it lists."""
    from mucore.metrics.sanity import blind_attacks  # half a second that no other label needs

    listed = sorted(blind_attacks([note]))
    return (
        f"{note.rpartition(': ')[0]}: {', '.join(metric_title(f'mia_{name}') for name in listed)}."
        if listed
        else note
    )


def metric_title(name: str) -> str:
    """A metric's title; the id of one that the catalogue no longer knows."""
    try:
        return catalog.metric(name).title
    except UnknownName:
        return name
