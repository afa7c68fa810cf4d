"""The documents made from the cards are what the script makes; what the written ones name exists,
and they stay short.
"""

from __future__ import annotations

import re
from pathlib import Path

import docs_text
import make_docs
import pytest

from mucore import catalog

ROOT = Path(__file__).resolve().parents[1]
DOCS = ROOT / "docs"
WRITTEN = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")),
    *sorted(DOCS.rglob("*.md")),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", make_docs.PAGES)
def test_the_committed_page_is_what_the_script_makes(name):
    written = (DOCS / "generated" / name).read_text(encoding="utf-8")
    assert written == make_docs.PAGES[name](), (
        f"docs/generated/{name} is out of date: run python scripts/make_docs.py"
    )


def test_every_card_has_its_place():
    page = make_docs.methods_page()
    for card in catalog.METHODS:
        assert page.count(f'<a id="{card.id}"></a>') == 1
        assert f"| [{card.title}](#{card.id}) |" in page
        assert (
            card.summary in page
            and card.source in page
            and card.storage in page
            and card.differs in page
        )
        assert all(f"- `{parameter.name}` = " in page for parameter in card.parameters)
    assert all(
        f"(`{card.id}`). {card.meaning}" in make_docs.metrics_page() for card in catalog.metrics()
    )
    assert all(
        f"(`{card.id.replace('_', ' ')}`). {card.meaning}" in make_docs.metrics_page()
        for card in catalog.verdicts()
    )
    assert all(
        f"(`{card.id}`)\n\n{card.meaning}" in make_docs.scenarios_page()
        for card in catalog.scenarios()
    )


def test_a_users_own_methods_stay_out_of_it(monkeypatch):
    before = make_docs.methods_page()
    monkeypatch.setenv("MUCORE_PLUGINS", str(DOCS / "examples"))
    assert catalog.methods()[-1].id == "gaussian_noise"
    assert make_docs.methods_page() == before


def test_settings_say_default_alternatives_and_scale():
    by_name = {
        line.partition("`")[2].partition("`")[0]: line
        for line in make_docs.settings(catalog.method("salun").parameters, 200).splitlines()
    }
    assert by_name["lr"] == "- `lr` = 0.013: Learning rate."
    assert by_name["epochs"] == (
        "- `epochs` = 10 epochs, scaled from a training of 200 epochs: Passes over the forget "
        "set and the retain set."
    )
    assert by_name["mode"].startswith("- `mode` = sequential (or mixed): ")


def test_words_of_the_pages():
    assert docs_text.listed(["a"]) == "a" and docs_text.listed(["a", "b", "c"]) == "a, b and c"
    assert [docs_text.value(it) for it in (None, True, 5e-4, (1, 2), "x", ())] == [
        "none",
        "true",
        "0.0005",
        "1,2",
        "x",
        "",
    ]
    assert docs_text.table(("A", "B"), [["1|2", "3"]]) == "| A | B |\n| --- | --- |\n| 1\\|2 | 3 |"


def test_links_lead_somewhere():
    """Those of docs/ stay in it, for a site is made of it alone; anchors are its builder's part."""
    lost = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in WRITTEN
        for target in re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
        if not target.startswith("http")
        and not (
            (page.parent / target).exists()
            and (DOCS in (page.parent / target).resolve().parents or DOCS not in page.parents)
        )
    ]
    assert lost == []


def test_files_that_a_page_names_are_there_and_have_what_it_says():
    lost = []
    for page in WRITTEN:
        text = " ".join(page.read_text(encoding="utf-8").split())
        lost += [
            path
            for path in re.findall(
                r"`((?:mucore|dashboard|scripts|tests|data|docs)/[\w./-]+)`", text
            )
            if not (ROOT / path).exists()
        ]
        for name, path in re.findall(r"`(\w+)` (?:of|in) `([\w/]+\.py)`", text):
            code = (ROOT / path).read_text(encoding="utf-8")
            if not re.search(rf"^ *(def|class) {name}\b|^{name}\b *[:=]", code, re.MULTILINE):
                lost.append(f"{name} of {path}")
    assert lost == []


def test_documents_written_by_hand_stay_short():
    """Lowered as they shrink; what scripts write and dated records are not among them."""
    assert sum(page.stat().st_size for page in DOCS.glob("*.md")) <= 90_000
    assert (ROOT / "CHANGELOG.md").stat().st_size <= 10_000


def test_design_has_a_line_for_every_room_and_no_other():
    rooms = {
        path.parent.relative_to(ROOT).as_posix()
        for package in ("mucore", "dashboard")
        for path in (ROOT / package).glob("*/*.py")
    }
    text = (DOCS / "design.md").read_text(encoding="utf-8")
    named = re.findall(r"^\| `((?:mucore|dashboard)/\w+)` \| \S", text, re.MULTILINE)
    assert sorted(named) == sorted(rooms)
    drawn = re.findall(r'middle">(\w+)<', (DOCS / "design.svg").read_text(encoding="utf-8"))
    assert sorted(drawn) == sorted(room.rpartition("/")[2] for room in rooms)
