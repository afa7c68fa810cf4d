"""A user's own methods: read without being run, left out with a sentence when broken, keyed by
their content.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest
import toy

from mucore import catalog, cli, methods
from mucore.catalog import plugins
from mucore.engine.run import Run
from mucore.errors import BadFile, UnknownName
from mucore.runs import RunSpec, make_recipe, make_spec
from mucore.training import records

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "docs" / "examples"

FILE = """
import torch
from mucore.catalog import Footprint, MethodCard, Parameter
from mucore.catalog.cards import Among, Between

FACTOR = 0.5

CARD = MethodCard(
    id="NAME",
    title="Mine",
    family="own",
    source="Me",
    summary="Scales all weights.",
    reads=frozenset(),
    parameters=(Parameter(name="factor", kind="float", default=FACTOR, low=0.0, high=2.0,
                          help="Factor."),),
)


def NAME(model, data, run, *, factor):
    run.check()
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(factor)
    return model.eval()
"""


def write(folder: Path, name: str = "mine", *changes: tuple[str, str]) -> Path:
    """A method file whose id is its name, with texts replaced."""
    text = FILE
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.py"
    path.write_text(text.replace("NAME", name), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(plugins.FOLDERS, str(tmp_path / "own"))
    (tmp_path / "own").mkdir()
    return tmp_path / "own"


def own_ids() -> list[str]:
    return [card.id for card in catalog.methods()[len(catalog.METHODS) :]]


def spec(method: str = "mine", **changes) -> RunSpec:
    recipe = make_recipe("quick", {"epochs": 1, "batch_size": 64})
    return make_spec(
        dataset="digits",
        model="mlp",
        recipe=recipe,
        scenario="one_class",
        method=method,
        mia_samples=100,
        **changes,
    )


# -- listing


def test_own_methods_stand_at_the_end_of_the_catalogue(folder):
    before = catalog.methods()
    write(folder, "zeta")
    write(folder, "alpha")
    write(folder, "_helpers")
    assert catalog.methods()[: len(before)] == before
    assert own_ids() == ["alpha", "zeta"]
    assert catalog.method("zeta").parameters[0].default == 0.5
    assert catalog.plugin_problems() == ()


def test_a_card_is_read_without_running_its_file(folder):
    path = write(
        folder, "mine", ("import torch", "import a_package_that_is_not_there\nraise SystemExit")
    )
    assert own_ids() == ["mine"]
    with pytest.raises(
        BadFile,
        match=r"mine\.py cannot be imported: ModuleNotFoundError: "
        r".*a_package_that_is_not_there.* \(line 2\)",
    ):
        methods.load("mine")
    assert path.is_file()


def test_listing_leaves_torch_alone():
    code = (
        "import sys\n"
        "from mucore import catalog\n"
        "print(catalog.methods()[-1].id, 'torch' in sys.modules)"
    )
    surroundings = {**os.environ, plugins.FOLDERS: str(EXAMPLES)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=surroundings,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["gaussian_noise", "False"]


def test_the_command_line_lists_them_and_names_what_it_leaves_out(folder, capsys):
    write(folder, "good")
    bad = write(folder, "bad", ('family="own"', 'family="teacher"'))
    assert cli.main(["methods"]) == 0
    said = capsys.readouterr()
    assert "good" in said.out and "Mine" in said.out
    assert str(bad) in said.err and "'own'" in said.err


# -- what is left out

# what stands in the card beside the sets that it reads -> words of the sentence
FIELDS = {
    'scenarios=frozenset({"moon"})': "scenarios",
    'scenarios=frozenset({"ids"})': "scenarios_reason",
    'confinable_when={"speed": (1,)}': "confinable_when",
    'confinable_when={"factor": 1.0}': "confinable_when",
    'records=("diary",)': "'diary'",
    'records=("initial",)': "training_record",
    'records=("per_step",)': "disk_cap",
    'footprint=Footprint(forward="2 * copies")': "2 * copies",
    "footprint=3": "footprint",
    'aliases="m"': "aliases",
    'tasks=("classes",)': "tasks",
    "search=[]": "search",
    'search={"factor": 3}': "search",
    'search={"speed": Between(0, 1)}': "search",
    'search={"factor": Between("start", 1)}': "'start'",
    'search={"factor": Between(1, 9)}': "[0, 2], but got 9",
    'search={"factor": Among((1,), when="later")}': "'later'",
}
BROKEN = [
    ("CARD = MethodCard(", "CARD = = MethodCard(", "line 8)"),
    ("FACTOR = 0.5", "FACTOR = 0.5 \0", "null bytes"),
    ("FACTOR = 0.5", "FACTOR = " + "(" * 5000 + ")" * 5000, "parentheses"),
    ("CARD =", "card =", "has no CARD"),
    ("CARD = MethodCard(", "CARD = dict(", "MethodCard"),
    ('    source="Me",\n', "", "'source'"),
    ('source="Me"', 'source="Me", colour="red"', "'colour'"),
    ('source="Me"', 'source="Me", differs=None', "differs"),
    ('source="Me"', 'source=open("/tmp/mucore-ran", "w").name', "open("),
    ('title="Mine"', "title=3", "title"),
    ('title="Mine"', "title=(lambda: 3)()", "lambda"),
    ('id="NAME"', 'id="task"', "'task'"),
    ('id="NAME"', 'id="my method"', "function name"),
    ('family="own"', 'family="reference"', "'own'"),
    ("reads=frozenset()", 'reads=frozenset({"test"})', "reads"),
    ('help="Factor."),)', 'help="Factor."))', "parameters"),
    ('kind="float"', 'kind="real"', "parameters.0.kind"),
    ("FACTOR = 0.5", "FACTOR = 7", "[0, 2], but got 7"),
    ('help="Factor."', 'help="Factor.", scales_with_epochs=True', "paper_epochs"),
    ("FACTOR = 0.5", "FACTOR = torch.tensor(0.5)", "torch.tensor(0.5)"),
    ("def NAME(", "def other(", "no function of that name"),
    *(("reads=frozenset()", f"reads=frozenset(), {one}", words) for one, words in FIELDS.items()),
]


@pytest.mark.parametrize(("old", "new", "words"), BROKEN)
def test_a_broken_file_gets_a_sentence_and_spoils_nothing(folder, old, new, words):
    bad = write(folder, "bad", (old, new))
    write(folder, "good")
    assert own_ids() == ["good"]
    (problem,) = catalog.plugin_problems()
    assert str(bad) in problem and words in problem and problem.endswith(".")
    assert len(problem) < 1000 and not Path("/tmp/mucore-ran").exists()
    with pytest.raises(BadFile) as raised:
        catalog.method("bad")
    assert str(raised.value) == problem
    with pytest.raises(UnknownName, match="good"):
        catalog.method("goood")


def test_a_card_may_name_every_record_of_a_training():
    assert plugins.RECORDS.keys() == records.NAMES


@pytest.mark.parametrize("name", ["scrub", "retrain"])
def test_mucores_own_names_stay_its_own(folder, name):
    path = write(folder, name)
    assert own_ids() == []
    (problem,) = catalog.plugin_problems()
    assert problem == (
        f"{path} is left out: the name {name} belongs to a method of mucore. Choose another id "
        "and function name."
    )


def test_of_two_files_with_one_id_the_first_stays(folder):
    first = write(folder, "mine")
    second = folder / "other.py"
    second.write_text(first.read_text(encoding="utf-8"), encoding="utf-8")
    assert own_ids() == ["mine"]
    assert catalog.plugin_problems() == (
        (
            f"{second} is left out: the name mine belongs to a method of {first}. Choose another "
            "id and function name."
        ),
    )


# -- keys


def test_the_key_follows_the_content_of_the_file(folder):
    write(folder)
    before = spec(parameters={"factor": 0.5})
    assert RunSpec.model_validate_json(before.model_dump_json()).key == before.key
    write(folder, "mine", ("weight.mul_(factor)", "weight.mul_(factor * factor)"))
    assert spec(parameters={"factor": 0.5}).key != before.key
    write(folder)
    assert spec(parameters={"factor": 0.5}).key == before.key


def test_references_are_shared_with_mucores_methods_whose_keys_do_not_move(folder):
    bare = spec("finetune").key
    write(folder)
    assert spec("finetune").key == bare and spec("finetune").method_hash == ""
    assert spec().method_hash and not spec().retrained().method_hash
    assert [each.key for each in spec().needs()] == [each.key for each in spec("finetune").needs()]


def test_the_key_of_a_stored_run_outlives_the_file(folder):
    path = write(folder)
    planned = spec()
    key = planned.key
    path.unlink()
    assert planned.key == key
    with pytest.raises(
        BadFile, match=r"mine is no method of mucore, and no folder in " r"MUCORE_PLUGINS holds it"
    ):
        methods.load("mine", planned.method_hash)


# -- packages


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Path]:
    """An installed package whose `__init__` must not be imported for a list, with one method that
    imports a neighbour.
    """
    root = tmp_path / "site"
    (root / "own_package").mkdir(parents=True)
    (root / "own_package" / "__init__.py").write_text("import torch\n", encoding="utf-8")
    (root / "own_package" / "neighbour.py").write_text("TWICE = 2.0\n", encoding="utf-8")
    write(
        root / "own_package",
        "packed",
        ("import torch", "import torch\nfrom .neighbour import TWICE"),
        ("mul_(factor)", "mul_(TWICE)"),
    )
    info = root / "own_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: own-package\nVersion: 1.0\n", encoding="utf-8"
    )
    entries = (
        f"[{plugins.GROUP}]\n"
        "packed = own_package.packed\n"
        "lost = own_package.lost\n"
        "nowhere = no_such_package.method\n"
    )
    (info / "entry_points.txt").write_text(entries, encoding="utf-8")
    monkeypatch.syspath_prepend(str(root))
    monkeypatch.delenv(plugins.FOLDERS, raising=False)
    plugins._installed.cache_clear()
    yield root
    plugins._installed.cache_clear()
    for name in [name for name in sys.modules if name.partition(".")[0] == "own_package"]:
        del sys.modules[name]


def test_entry_points_bring_methods(package):
    assert own_ids() == ["packed"]
    assert "own_package" not in sys.modules
    lost, nowhere = catalog.plugin_problems()
    assert "lost.py cannot be read" in lost and "method.py cannot be read" in nowhere
    result = methods.load("packed")(
        toy.original("mlp"), toy.request("mlp"), Run(seed=0), factor=1.0
    )
    for after, before in zip(result.parameters(), toy.trained("mlp").parameters(), strict=True):
        assert bool((after == 2 * before).all())
