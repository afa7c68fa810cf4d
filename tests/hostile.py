"""Inputs that nobody means well, for every door: command lines, calls from Python, addresses of
pages.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from dashboard.pages import PAGES

DASHBOARD = Path(__file__).resolve().parents[1] / "dashboard"
LONG = "9" * 5000
DEEP = "[" * 100_000

NASTY = r"""
² ٣ +-5 --5 -5 5%% % 1_0 0x10 1e400 -1e400 1e-400 nan inf -inf 1.5 0 1 2 20% true none null [] {}
../../etc/passwd /dev/null /dev/zero /dev/stdin /proc/self/mem / ~ ~nobody/x npz:~nobody/x npz:
npz:/dev/zero folder:/proc set:../x @/dev/zero @~nobody/x @ <script> ';drop(table)job;-- ${HOME} %00
%s%n {0} 0,1 0-2 2-0 0-99999999 1,,2 , digits mlp one_class finetune retrain all quick ta cpu
cuda:99 meta scenario.class_id=3 recipe.epochs=1e30 a=b = .= finetune.lr=1,2 🙂
""".split()
TEXTS = st.one_of(
    st.sampled_from(
        [
            *NASTY,
            *("", " ", "\n", "\0", "a\0b", "folder:\0", "set:\0", "\udcff", "\u202e", "é" * 300),
            *(LONG, f"-{LONG}", f"finetune.lr={LONG}", DEEP, '{"a":' * 2000),
            *("x" * 5000, "/" * 5000, "a/" * 2500),
            *(str(2**31), str(2**63), str(2**63 - 1)),
            *("one_class class_id=1", "one_class class_id=²", "one_class x"),
        ]
    ),
    st.text(max_size=12),
)

# -- command lines

FLAGS: dict[str, str] = {
    "plan": (
        "--dataset --model --scenario --methods --preset --budget --then --set --method- "
        "preset --seeds --unlearning-seeds --evaluation-seeds --mia-samples --sweep --noise "
        "--scope --original --json --home --nonsense"
    ),
    "tune": (
        "--dataset --model --scenario --methods --preset --budget --set --trials --seed --cap "
        "--jobs --studies --plan --device --json"
    ),
    "quality": "--models --originals --bins --intervals --seeds --budget --set --name",
    "results": "--dataset --model --scenario --method --comparison --json --home",
    "export": "--metrics --output --caption --dataset --comparison --format",
    "stats": "--metric --methods --agreement --pack --table --format --caption --comparison",
    "analyse": "--params --pack --output --json",
    "forget-set": (
        "--dataset --scenario --budget --set --preset --seed --verify --hash --save --replace "
        "--list"
    ),
    "worker": "--threads --parent-pid --job --idle-exit --device",
    "jobs": "--state --comparison --limit --json",
    "cancel": "--yes",
    "retry": "",
    "weights": "",
    "methods": "--json",
    "presets": "--json",
    "suite": "--division --methods --jobs --out --key --plan --pack-only --device --json",
    "": "--home --version --help",
}
FLAGS["run"] = f"{FLAGS['plan']} --name --note --device --anyway"
BEGINNING = {
    "plan": "--dataset digits --model mlp --scenario one_class --methods finetune".split(),
    "export": ["--format", "csv"],
    "analyse": ["tsne"],
    "worker": ["--idle-exit", "0"],
    "suite": "run mucore-bench-1-quick --division tuned --methods sisa".split(),
}
BEGINNING |= {"run": BEGINNING["plan"], "tune": BEGINNING["plan"]}
BEGINNING |= {"quality": [*BEGINNING["plan"], "--plan"]}
TAKING = ("suite", "cancel", "retry", "weights", "analyse", "")  # more than flags
SWITCHES = frozenset(
    "--json --yes --replace --list --anyway --version --help --plan --pack-only".split()
)


@st.composite
def command_lines(draw: Callable[..., Any], outputs: str) -> list[str]:
    """A command with flags and values; what is written goes into the folder `outputs`."""
    command = draw(st.sampled_from(sorted(FLAGS)))
    line = [command] if command else []
    if draw(st.integers(0, 9)):  # one in ten goes without what it needs
        line += BEGINNING.get(command, [])
    flags = FLAGS[command].split()
    for flag in draw(st.lists(st.sampled_from(flags), max_size=3)) if flags else []:
        if flag in SWITCHES:
            line.append(flag)
            continue
        value = draw(TEXTS)
        if flag in ("--output", "--save"):
            value = f"{outputs}/{value}"
        line += [f"{flag}={value}"] if draw(st.booleans()) else [flag, value]
    if command in TAKING or not draw(st.integers(0, 9)):
        line += draw(st.lists(TEXTS, max_size=2))
    if command == "weights":
        line.append(f"{outputs}/{draw(TEXTS)}")
    return line


# -- calls from Python


ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        TEXTS,
        st.none(),
        st.booleans(),
        st.integers(),
        st.floats(),
        st.binary(max_size=4),
        st.sampled_from([2**63, range(10**9), object, 1j, Path("x"), b"\xff", ..., int]),
        # no tool that shows an example could write it
        st.just(5000).map(lambda digits: 10**digits),
        st.builds(object),
        st.builds(itertools.count),
    ),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.tuples(inner),
        st.dictionaries(st.one_of(TEXTS, st.integers()), inner, max_size=3),
        st.sets(st.integers(), max_size=2),
    ),
    max_leaves=4,
)
ARGUMENTS = {
    "compare": (
        "dataset model preset recipe scenario scenario_parameters methods parameters seeds "
        "unlearning_seeds noise scopes original name device home"
    ),
    "forgetting_quality": (
        "dataset model preset recipe scenario scenario_parameters methods parameters models "
        "originals bins intervals seed mia_samples original name device home"
    ),
    "tune": (
        "dataset model preset recipe scenario scenario_parameters methods trials seed cap jobs "
        "studies device home"
    ),
    "statistics": "metric methods agreement pack home dataset scenario comparison nonsense",
    "save_weights": "key path home",
    "load_model": "key device home",
    "run_suite": "name division methods jobs out features device home",
    "verify_pack": "path",
    "write_board": "packs out",
    "repeat_run": "path key device",
}
USUAL: dict[str, dict[str, Any]] = {
    "compare": {
        "dataset": "digits",
        "model": "mlp",
        "scenario": "one_class",
        "methods": "finetune",
    },
    "statistics": {},
    "save_weights": {"key": "abc", "path": "abc.pt"},
    "load_model": {"key": "abc"},
    "run_suite": {"name": "mucore-bench-1-quick", "division": "tuned", "methods": "sisa"},
    "verify_pack": {"path": "abc"},
    "write_board": {"packs": "abc", "out": "def"},
    "repeat_run": {"path": "abc", "key": "abc"},
}
USUAL |= {"forgetting_quality": USUAL["compare"], "tune": USUAL["compare"]}


@st.composite
def calls(draw: Callable[..., Any]) -> tuple[str, dict[str, Any]]:
    """The name of a function of `mucore.api`, and what it is called with."""
    function = draw(st.sampled_from(sorted(ARGUMENTS)))
    names = draw(st.lists(st.sampled_from(ARGUMENTS[function].split()), min_size=1, max_size=3))
    return function, USUAL[function] | {name: draw(ANYTHING) for name in names}


# -- addresses


@cache
def parameters() -> list[str]:
    """What pages read from their address: lower-case words that they ask `state` for."""
    found = set()
    for path in DASHBOARD.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and isinstance(node.func.value, ast.Name)
                and node.func.value.id == "state"
            ):
                texts = [one.value for one in node.args if isinstance(one, ast.Constant)]
                found |= {
                    text
                    for text in texts
                    if isinstance(text, str) and text.replace("_", "").isalnum() and text.islower()
                }
    return sorted(found)


# an address is text in UTF-8 when it arrives, and no longer than what servers take
WORDS = TEXTS.map(lambda text: text.encode(errors="replace").decode()[:5000])


@st.composite
def addresses(draw: Callable[..., Any], page: str = "") -> tuple[str, dict[str, Any]]:
    """A page and the parameters of its address."""
    page = page or draw(st.sampled_from([one.id for one in PAGES]))
    names = draw(st.lists(st.sampled_from(parameters()), min_size=1, max_size=4, unique=True))
    return page, {name: draw(st.one_of(WORDS, st.lists(WORDS, max_size=3))) for name in names}
