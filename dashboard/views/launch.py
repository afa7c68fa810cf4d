"""Launch: choose data, what to forget and who should forget it; see what that means before anything starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product
from math import prod
from typing import Any, Literal, get_args, get_origin

import streamlit as st

from dashboard import data, describe, state, widgets, words
from mucore import catalog, userdata
from mucore.catalog.cards import MethodCard, Parameter, PresetCard, ScenarioCard, Task
from mucore.errors import BadValue, MucoreError
from mucore.runner.plan import Grid, Plan, launch
from mucore.scenarios import parse_ids
from mucore.spec import Recipe, check, make_recipe, method_parameters, refuse_scenario, refuse_task

MAX_RUNS = 20_000
MAX_IDS = 5_000
MAX_VALUES = 100  # in one field
FIELDS = 3  # of a scenario or of sweeps, side by side
FIRST = {"dataset": "fashion-mnist-10k", "model": "resnet9-small"}  # what works at once on any machine
SETTINGS = {"authors": "Authors'", "tuned": "Tuned", "own": "My own"}
LISTS = ("ints", "ids", "pairs")  # kinds of parameters
SCOPES = {"all": "Every layer", "classifier": "The classifier alone"}
NOISE = Parameter(
    name="noise",
    kind="float",
    default=0.0,
    low=0,
    high=100,
    help="Standard deviation of the Gaussian noise on every gradient while unlearning; 0 is the plain method. It gives no guarantee of "
    "privacy. A method that takes no step along a gradient says in a note that it changed nothing.",
)
problems: list[str] = []  # sentences of this run of the page; the start button is off while there are any


def tell(sentence: str) -> None:
    widgets.problem(sentence)
    problems.append(sentence)


# --- data, model, recipe -------------------------------------------------------------------------------------------------------------


def choose_data() -> tuple[str, str, str, dict[str, Any]]:
    """Data set, model, preset and changes of its recipe."""
    st.subheader("Data, model and recipe", anchor=False)
    cards = {card.id: card for card in catalog.datasets()}
    models, presets = {card.id: card for card in catalog.models()}, {card.id: card for card in catalog.presets()}
    columns = st.columns([4, 3, 3])
    with columns[0]:
        dataset = state.select("Data set", "dataset", list(cards), default=FIRST["dataset"], format_func=lambda name: cards[name].title)
    with columns[1]:
        model = state.select("Model", "model", list(models), default=FIRST["model"], format_func=lambda name: models[name].title)
    with columns[2]:
        preset = state.select("Preset", "preset", list(presets), default="standard", format_func=lambda name: presets[name].title)
    card = cards[dataset]
    st.caption(" ".join([_sentence(presets[preset].meaning), _sentence(card.where) if not card.embedded else "", f"Source: {card.source}"]))
    if presets[preset].open_points:
        with st.expander("What the paper leaves open"):
            st.markdown(presets[preset].open_points)
    if presets[preset].dataset and not has_setting(presets[preset]):
        names = ", ".join(catalog.scenario(name).title.lower() for name in presets[preset].scenarios)
        st.button(
            f"Take the paper's whole setting: {cards[presets[preset].dataset].title}, {models[presets[preset].model].title}, {names}",
            key="take_setting",
            on_click=take_setting,
            args=(presets[preset],),
        )
    if card.takes_path:
        path = state.text("File or folder", "path", help=f"A path on this machine; it becomes {dataset}:PATH. {card.where}")
        if not path.strip():
            tell(f"{card.title} needs the path of your data.")
        dataset = f"{dataset}:{path.strip()}"
    with st.expander("Change the recipe"):
        changes = recipe_form(preset)
    return dataset, model, preset, changes


def setting(preset: PresetCard) -> dict[str, str]:
    """What the fields of this page say when data set, model and the scenarios' parameters are those of a paper's preset."""
    values = {f"{scenario}.{name}": words.plain(it) for scenario, chosen in preset.scenarios.items() for name, it in chosen.items()}
    return {"dataset": preset.dataset, "model": preset.model, **values}


def has_setting(preset: PresetCard) -> bool:
    defaults = {f"{card.id}.{each.name}": words.plain(each.default) for card in catalog.scenarios() for each in card.parameters}
    chosen = all(state.param(name, {**FIRST, **defaults}[name]) == value for name, value in setting(preset).items())
    return chosen and state.params("scenarios") == list(preset.scenarios)


def take_setting(preset: PresetCard) -> None:
    for name, value in setting(preset).items():
        state.set_param(name, value)
    state.set_param("scenarios", list(preset.scenarios))


def recipe_form(preset: str) -> dict[str, Any]:
    base = make_recipe(preset)
    changes: dict[str, Any] = {}
    fields = list(Recipe.model_fields.items())
    for start in range(0, len(fields), 3):
        for column, (name, info) in zip(st.columns(3), fields[start : start + 3], strict=False):
            value = getattr(base, name)
            with column:
                typed: Any
                if options := [str(option) for option in get_args(info.annotation) if get_origin(info.annotation) is Literal]:
                    typed = state.select(name.replace("_", " "), f"recipe.{name}", options, default=value)
                elif isinstance(value, bool):
                    typed = state.toggle(name.replace("_", " "), f"recipe.{name}", default=value)
                else:
                    typed = state.text(name.replace("_", " "), f"recipe.{name}", default=words.plain(value))
                if typed == value or typed == words.plain(value):
                    continue
                try:
                    make_recipe(preset, {name: typed})
                    changes[name] = typed
                except BadValue as failure:
                    tell(str(failure))
    return make_recipe(preset, changes).model_dump(include=set(changes))


# --- scenarios -----------------------------------------------------------------------------------------------------------------------


def choose_scenarios(class_names: Sequence[str], task: Task) -> list[dict[str, Any]]:
    """The chosen scenarios; one with several budgets counts once for each. Those that do not serve the task are not offered."""
    st.subheader("What should be forgotten?", anchor=False)
    cards = {card.id: card for card in catalog.scenarios() if task in card.tasks}
    first = "one_class" if "one_class" in cards else "all_classes"
    chosen = state.multiselect(
        "Scenarios", "scenarios", list(cards), default=[first], format_func=lambda name: cards[name].title, pills=True
    )
    if not chosen:
        tell("Choose at least one scenario.")
    choices: list[dict[str, Any]] = []
    for name in chosen:
        with st.container(border=True):
            st.markdown(f"**{cards[name].title}**", help=f"{cards[name].meaning} Source: {cards[name].source}")
            st.caption(cards[name].question)
            choices += scenario_form(cards[name], class_names)
    return choices


def in_sequence(choices: Sequence[dict[str, Any]]) -> bool:
    """Whether the chosen scenarios are requests made one after another; asked where there are several."""
    return len(choices) > 1 and state.toggle(
        "One after another",
        "sequence",
        help="Each is a request to the result of the one before, in this order. Otherwise each starts from the original.",
    )


def scenario_form(card: ScenarioCard, names: Sequence[str]) -> list[dict[str, Any]]:
    """The fields of one scenario; `names` are the class names where the data set's card knows them."""
    values: dict[str, Any] = {}
    budgets: list[Any] = []
    columns = [column for _ in card.parameters[::FIELDS] for column in st.columns(FIELDS)]
    for column, parameter in zip(columns, card.parameters, strict=False):
        with column:
            if parameter.kind == "budget":
                budgets = budget_field(parameter, card.id)
            elif parameter.kind == "ids":
                values[parameter.name] = ids_field(parameter, card.id)
            elif names and parameter.name in ("class_id", "class_ids", "target"):
                values[parameter.name] = class_field(parameter, card.id, names)
            else:
                form = widgets.parameter_form([parameter], {}, card.id, columns=1)
                problems.extend(form.problems)
                values |= form.values
            if values.get(parameter.name) == []:
                tell(
                    f"{card.title} needs "
                    + ("the ids of the samples, such as 3,17,256." if parameter.kind == "ids" else "at least one class.")
                )
    if any(parameter.kind == "budget" for parameter in card.parameters):
        return [{"id": card.id, "parameters": {**values, "budget": value}} for value in budgets]
    return [{"id": card.id, "parameters": values}]


def budget_field(budget: Parameter, owner: str) -> list[Any]:
    """One or several budgets; empty, with the sentence told, where they cannot be read."""
    rule = "A share such as 0.2 or 20%, or a whole number of samples; several with commas: 0.1, 0.2, 0.5."
    typed = state.text(
        "budget, one or several", f"{owner}.{budget.name}", default=words.plain(budget.default), help=f"{budget.help} {rule}"
    )
    return _checked(lambda: parse_values(budget, typed, owner), [])


def class_field(parameter: Parameter, owner: str, names: Sequence[str]) -> int | list[int]:
    """A class, or several, by name."""
    options = [str(number) for number in range(len(names))]
    name, title = f"{owner}.{parameter.name}", lambda number: f"{number} · {names[int(number)]}"
    if parameter.kind == "int":
        label = "class" if parameter.name == "class_id" else parameter.name
        return int(state.select(label, name, options, default=str(parameter.default), format_func=title, help=parameter.help))
    start = [str(number) for number in parameter.default]
    return [int(number) for number in state.multiselect("classes", name, options, default=start, format_func=title, help=parameter.help)]


def ids_field(parameter: Parameter, owner: str) -> list[int]:
    """Sample ids, typed or from a CSV file, which fills the line."""
    name = f"{owner}.{parameter.name}"
    typed = state.text("sample ids", name, help=parameter.help, placeholder="3,17,256")
    upload = f"upload:{name}"
    st.file_uploader("or a CSV file with the column id", type="csv", key=upload, on_change=take_ids, args=(upload, name))
    if failure := state.ticket(upload):
        tell(failure)
        state.set_ticket(upload, None)
    return _checked(lambda: check(parameter, typed, owner=owner), [])


def take_ids(upload: str, name: str) -> None:
    file = state.uploaded(upload)
    if file is None:
        return
    try:
        ids = parse_ids(file.getvalue(), name=file.name)
        if len(ids) > MAX_IDS:
            raise BadValue(
                f"{file.name} names {words.count(len(ids), 'sample')}, but the address of this page carries at most {MAX_IDS}. "
                f"Use the command line: --scenario ids --set scenario.ids=@{file.name}"
            )
        state.set_param(name, ",".join(map(str, ids)))
    except MucoreError as failure:
        state.set_ticket(upload, str(failure))


def parse_values(parameter: Parameter, typed: str, owner: str) -> list[Any]:
    """Several values of one parameter without doubles: commas between them, semicolons where a value is itself a list."""
    parts = typed.split(";") if parameter.kind in LISTS else typed.replace(";", ",").split(",")
    parts = [part.strip() for part in parts if part.strip()]
    if not parts:
        raise BadValue(f"{owner}: {parameter.name} needs a value, such as {words.plain(parameter.default)}.")
    if len(parts) > MAX_VALUES:
        raise BadValue(f"{owner}: {parameter.name} may have at most {MAX_VALUES} values at once, but got {len(parts)}. Choose fewer.")
    values = [check(parameter, part, owner=owner) for part in parts]
    return list({repr(value): value for value in values}.values())  # by text, for 1 is one sample and 1.0 all of them


# --- methods -------------------------------------------------------------------------------------------------------------------------


def refusal(card: MethodCard, scenarios: Sequence[str], task: Task) -> str:
    """Why the method cannot run at all under the chosen scenarios, "" where it can under one of them."""
    reasons = []
    for scenario in scenarios:
        try:
            refuse_task(card, task)
            refuse_scenario(card, scenario)
            return ""
        except BadValue as failure:
            reasons.append(str(failure))
    return " ".join(dict.fromkeys(reasons))


def choose_methods(scenarios: Sequence[str], task: Task) -> list[str]:
    st.subheader("Who should forget it?", anchor=False)
    cards = [card for card in catalog.methods() if card.family != "reference"]
    reasons = {card.id: refusal(card, scenarios, task) for card in cards}
    allowed = [card.id for card in cards if not reasons[card.id]]
    unaided = [card.id for card in cards if not reasons[card.id] and not card.needs_file]
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption("Original and Retrain are always part of it: they are what every method is compared with.", width="stretch")
        st.button("All", key="all_methods", type="tertiary", on_click=state.set_param, args=("methods", unaided))
        st.button("None", key="no_methods", type="tertiary", on_click=state.set_param, args=("methods", [""]))
    groups = {title: [card for card in cards if card.family == family] for family, title in catalog.FAMILIES.items()}
    groups = {title: members for title, members in groups.items() if members}
    chosen = set(state.choices("methods", allowed, default=[name for name in ("finetune", "gradient_ascent", "salun") if name in allowed]))
    ticked: list[str] = []
    columns = st.columns(3)
    for number, (title, members) in enumerate(groups.items()):
        with columns[number % 3], st.container(border=True):
            st.markdown(f"**{title}**")
            for card in members:
                if state.tick(card.title, "methods", card.id, card.id in chosen, help=_method_help(card), disabled=bool(reasons[card.id])):
                    ticked.append(card.id)
                if reasons[card.id]:
                    st.caption(widgets.escape(reasons[card.id]))
    for problem in catalog.plugin_problems():
        st.warning(widgets.escape(problem), icon=":material/extension_off:")
    ticked = [name for name in ticked if not reasons[name]]
    state.set_ticked("methods", ticked)
    if not ticked:
        st.caption("No method is chosen: only the original and the retrained model would be made.")
    return ticked


def _method_help(card: MethodCard) -> str:
    return f"{card.summary}  \nReads: {', '.join(sorted(card.reads)) or 'nothing'}.  \nSource: {card.source}"


def method_settings(names: Sequence[str], recipe: Recipe, scenarios: Sequence[str]) -> list[dict[str, Any]]:
    settings = state.segmented(
        "Settings",
        "settings",
        list(SETTINGS),
        format_func=SETTINGS.__getitem__,
        help="Authors': as published, epochs scaled to the recipe. Tuned: searched here. My own: every parameter.",
    )
    choices: list[dict[str, Any]] = []
    for name in names:
        card = catalog.method(name)
        choice: dict[str, Any] = {"id": name, "preset": "tuned" if settings == "tuned" and card.tuned else "authors"}
        if settings == "own" or card.needs_file:
            start = method_parameters(card, recipe, {}, scenario=scenarios[0] if len(scenarios) == 1 else None)
            moved = any(state.param(f"{name}.{parameter.name}") for parameter in card.parameters) or card.needs_file
            with st.expander(f"{card.title}: {words.count(len(card.parameters), 'parameter')}", expanded=moved):
                if len(scenarios) > 1 and (own := [s for s in scenarios if s in card.scenario_values]):
                    st.caption(" ".join(other_values(card, scenario) for scenario in own))
                form = widgets.parameter_form(card.parameters, start, name)
                problems.extend(form.problems)
                choice["parameters"] = form.changed
        choices.append(choice)
    if settings == "tuned" and (untuned := [catalog.method(name).title for name in names if not catalog.method(name).tuned]):
        st.caption(f"No tuned values yet, so the authors' are used: {', '.join(untuned)}.")
    return choices


def other_values(card: MethodCard, scenario: str) -> str:
    """What the authors set otherwise under a scenario, which counts there for each field that is left as it is."""
    return f"Where nothing is changed, {catalog.scenario(scenario).title} has {describe.settings_text(card.scenario_values[scenario])}."


# --- what results depend on ----------------------------------------------------------------------------------------------------------


def choose_sensitivity(
    methods: Sequence[Mapping[str, Any]], recipe: Recipe, scenarios: Sequence[str]
) -> tuple[list[Mapping[str, Any]], dict[str, Any]]:
    """The methods once for each value that is swept, and the noises and scopes that all of them run with."""
    if any(state.params(name) for name in ("noise", "scopes", "sweep")):
        state.set_ticket("sensitivity", True)  # once open, it stays so while its fields go back to what they were
    with st.expander("Sensitivity: noise, classifier alone, sweeps", expanded=bool(state.ticket("sensitivity"))):
        st.caption(
            "What does a result depend on? Every method runs with each combination; Original and Retrain stay as they are. "
            "Representation shows it under Sensitivity and Last layer."
        )
        left, right = st.columns(2)
        with left:
            noise = noise_field()
        with right:
            scopes = scope_field()
        return choose_sweeps(methods, recipe, scenarios), {"noise": noise, "scopes": scopes}


def noise_field() -> list[float]:
    help_text = f"{NOISE.help} From 0 to 100; several with commas: 0,0.001,0.01."
    typed = state.text("Noise on gradients, one or several", "noise", default="0", help=help_text)
    return _checked(lambda: parse_values(NOISE, typed, "Sensitivity"), [NOISE.default], "Write numbers such as 0,0.001,0.01.")


def scope_field() -> list[str]:
    scopes = state.multiselect(
        "What methods may change",
        "scopes",
        list(SCOPES),
        default=["all"],
        format_func=SCOPES.__getitem__,
        pills=True,
        help="The classifier is the last linear layer. With both, each method stands beside itself, which shows what it does beyond it.",
    )
    if not scopes:
        tell("Methods need something to change. Choose every layer, the classifier alone, or both.")
    if "classifier" in scopes:
        st.caption("A method that chooses its layers by rules of its own, such as SSD or Fisher, fails on the classifier and says so.")
    return scopes or ["all"]


def choose_sweeps(methods: Sequence[Mapping[str, Any]], recipe: Recipe, scenarios: Sequence[str]) -> list[Mapping[str, Any]]:
    """The methods, those of which something is swept once for each combination of its values."""
    choices = {str(choice["id"]): choice for choice in methods}
    cards = [catalog.method(name) for name in choices]
    known = {f"{card.id}.{each.name}": (card, each) for card in cards for each in card.parameters if each.kind != "file"}
    chosen = state.multiselect(
        "Parameters to sweep",
        "sweep",
        list(known),
        format_func=lambda name: sweep_title(*known[name]),
        placeholder="of the chosen methods, such as a learning rate",
        help="The method runs once with each value; with several parameters of a method, once with each combination.",
    )
    values: dict[str, dict[str, list[Any]]] = {name: {} for name in choices}
    columns = [column for _ in chosen[::FIELDS] for column in st.columns(FIELDS)]
    for column, name in zip(columns, chosen, strict=False):
        card, parameter = known[name]
        choice = choices[card.id]
        start = method_parameters(card, recipe, {}, preset=choice["preset"], scenario=scenarios[0] if len(scenarios) == 1 else None)
        with column:
            found = sweep_field(card, parameter, start[parameter.name])
            if parameter.name in choice.get("parameters", {}):
                tell(f"{sweep_title(card, parameter)} is swept and changed above. Name all its values here, and set the field above back.")
            elif found:
                values[card.id][parameter.name] = found
    runs = sum(prod(map(len, each.values())) for each in values.values())
    if runs > MAX_RUNS:
        tell(f"These sweeps have {words.count(runs, 'combination')}, but at most {words.count(MAX_RUNS, 'run')} fit. Choose fewer values.")
        return list(methods)
    return [
        {**choice, "parameters": {**choice.get("parameters", {}), **dict(zip(values[name], each, strict=True))}}
        for name, choice in choices.items()
        for each in product(*values[name].values())
    ]


def sweep_title(card: MethodCard, parameter: Parameter) -> str:
    return f"{card.title}: {parameter.name.replace('_', ' ')}"


def sweep_field(card: MethodCard, parameter: Parameter, start: Any) -> list[Any]:
    """The values of one parameter, at first the one that it has anyway; empty, with the sentence told, where they cannot be read."""
    name, title = f"sweep.{card.id}.{parameter.name}", sweep_title(card, parameter)
    options = ("true", "false") if parameter.kind == "bool" else parameter.choices
    if options:
        options = (*options, "none") if parameter.optional else options
        ticked = state.multiselect(title, name, options, default=[words.plain(start)], help=parameter.help)
        if not ticked:
            tell(f"{title} needs a value to run with. Choose one, or leave it out of the sweep.")
        return [check(parameter, each, owner=card.id) for each in ticked]
    between = "semicolons, for a value has commas: 1,2; 3,4" if parameter.kind in LISTS else "commas"
    typed = state.text(title, name, default=words.plain(start), help=f"{widgets.range_help(parameter)} Several with {between}.")
    return _checked(lambda: parse_values(parameter, typed, card.id), [], f"Several values have {between.partition(',')[0]} between them.")


# --- seeds and what it comes to ------------------------------------------------------------------------------------------------------


def choose_seeds() -> dict[str, Any]:
    st.subheader("How often, and how measured?", anchor=False)
    axes = {
        "training_seeds": ("Training seeds", "Each trains its own original and retrained model; intervals are over this axis."),
        "unlearning_seeds": ("Unlearning seeds", "Each repeats the methods on the same original."),
        "evaluation_seeds": ("Evaluation seeds", "Each repeats the membership attack on the same models."),
    }
    chosen: dict[str, Any] = {}
    columns = st.columns(4)
    for column, (name, (label, help_text)) in zip(columns, axes.items(), strict=False):
        with column:
            typed = state.text(label, name, default="0", help=f"{help_text} Such as 0 or 0,1 or 0-4.")
            chosen[name] = _checked(lambda typed=typed: words.parse_seeds(typed), [0])
    with columns[3]:
        help_text = "At most so many samples a side feed the membership attacks; they are drawn with the evaluation seed."
        chosen["mia_samples"] = state.number(
            "Attack samples", "mia_samples", default=2000, min_value=10, max_value=100_000, step=100, help=help_text
        )
    return chosen


def _checked(make: Callable[[], Any], fallback: Any, way_out: str = "") -> Any:
    try:
        return make()
    except MucoreError as failure:
        tell(f"{failure} {way_out}".strip())
        return fallback


def plan_of(content: dict[str, Any]) -> Plan | None:
    seeds = len(content["training_seeds"]) * len(content["evaluation_seeds"])
    of_methods = prod(len(content[name]) for name in ("methods", "unlearning_seeds", "noise", "scopes"))
    runs = seeds * len(content["scenarios"]) * (2 + of_methods)
    if runs > MAX_RUNS:
        tell(
            f"This comes to {words.count(runs, 'run')}, but one comparison holds at most {words.count(MAX_RUNS, 'run')}. "
            "Choose fewer seeds, budgets, methods or values."
        )
        return None
    return _checked(lambda: data.plan(Grid.model_validate(content)), None)


def summary(plan: Plan | None, content: dict[str, Any]) -> None:
    """The column on the right: what will happen, and the button."""
    st.subheader("What this comes to", anchor=False)
    if plan is not None:
        left = len(plan.to_run)
        columns = st.columns(2)
        columns[0].metric(
            "Runs", len(plan.specs), help="The original's training, Original and Retrain of every scenario and seed, and the methods."
        )
        columns[1].metric("In the store already", len(plan.cached))
        columns[0].metric("Time", words.duration(plan.seconds) if left else "none", help=plan.basis)
        columns[1].metric("Peak memory", words.size(plan.memory_bytes), help="Largest of past runs alike.")
        st.caption(widgets.escape(plan.basis))
        for refused in plan.refused:
            st.caption(f":material/block: {catalog.method(refused.method).title}: {widgets.escape(refused.reason)}")
    default = default_name(content)
    name = st.text_input("Name of the comparison", placeholder=default, key="name", max_chars=120)
    note = st.text_input("Note", placeholder="What do you want to find out?", key="note", max_chars=2000)
    ready = plan is not None and not problems
    left = len(plan.to_run) if plan is not None else 0
    label = f"Start {words.count(left, 'run')}" if left else "Save; all runs are in the store" if ready else "Start"
    if (
        st.button(label, type="primary", icon=":material/play_arrow:", disabled=not ready, width="stretch", key="start")
        and plan is not None
    ):
        start(plan, name.strip() or default, note.strip())
    for sentence in dict.fromkeys(problems):
        widgets.problem(sentence)


def default_name(content: dict[str, Any]) -> str:
    scenarios = list(dict.fromkeys(catalog.scenario(one["id"]).title for one in content["scenarios"]))
    methods = list(dict.fromkeys(catalog.method(one["id"]).title for one in content["methods"]))
    what = ", ".join(scenarios[:2]) + (f" and {len(scenarios) - 2} more" if len(scenarios) > 2 else "")
    who = methods[0] if len(methods) == 1 else words.count(len(methods), "method")
    return f"{what or 'no scenario'} · {content['dataset'].partition(':')[0]} · {who}"


def start(plan: Plan, name: str, note: str) -> None:
    store = data.own_store()
    comparison = launch(plan, store, name=name, note=note)
    if not plan.to_run:
        st.switch_page(widgets.PAGES["results"], query_params={"comparison": str(comparison.id)})
    data.start_workers()
    st.switch_page(widgets.PAGES["queue"], query_params={"comparison": str(comparison.id)})


def _sentence(text: str) -> str:
    return text if not text or text.endswith(".") else f"{text}."


widgets.header(
    "What do you want to compare?",
    "The address of this page holds the whole selection: copy it to share or repeat it. Runs that exist already are not computed again.",
)
left, right = st.columns([7, 3], gap="large")
with left:
    dataset, model, preset, changes = choose_data()
    task = userdata.task_of(dataset)
    scenarios = choose_scenarios(catalog.dataset(dataset).class_names, task)
    names = list(dict.fromkeys(one["id"] for one in scenarios))
    sequence = in_sequence(scenarios)
    recipe = make_recipe(preset, changes)
    methods, sensitivity = choose_sensitivity(method_settings(choose_methods(names, task), recipe, names), recipe, names)
    seeds = choose_seeds()
content: dict[str, Any] = {
    "dataset": dataset,
    "model": model,
    "preset": preset,
    "recipe": changes,
    "scenarios": scenarios,
    "methods": methods,
    "sequence": sequence,
    **sensitivity,
    **seeds,
}
with right:
    plan = plan_of(content) if scenarios and not problems else None
    summary(plan, content)
