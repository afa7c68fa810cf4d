"""No page shows an id where a title exists, but in commands, file names and addresses."""

from __future__ import annotations

import re

import pytest
from builders import full_results, make_result, make_spec_row
from pages import open_page, words_on
from streamlit.testing.v1 import AppTest

from mucore import catalog
from mucore.store import open_store

pytestmark = pytest.mark.slow

# ids that no reader would write; plain words such as backdoor or original may stand in a sentence
IDS = sorted(
    card.id
    for cards in (catalog.methods(), catalog.scenarios(), catalog.datasets(), catalog.models())
    for card in cards
)
TELLING = "|".join(re.escape(name) for name in IDS if name == "mlp" or re.search("[_-]", name))
PATTERN = re.compile(rf"(?<![\w./=:-])(?:{TELLING})(?![\w-])")
CODE = re.compile(r"```.*?```|`[^`]*`", re.DOTALL)


@pytest.fixture
def filled(home):
    with open_store(home) as store:
        for result in full_results():
            store.put_result(result)
        for method in ("original", "retrain", "random_labels"):
            store.put_result(make_result(make_spec_row(method=method, scenario="label_flip")))
        flag = (
            "FA of random_labels in one_class is 1.0 %, below the range from 100.0 % "
            "(original) and 90.0 % (retrain)."
        )
        spec = make_spec_row(
            method="random_labels", scenario="one_class", training_seed=7, unlearning_seed=7
        )
        store.put_result(make_result(spec, flags=(flag,)))
    return home


def shown(at: AppTest) -> str:
    """What a reader sees: texts, options, and the columns of tables with words in them; no
    commands.
    """
    texts = (*at.title, *at.subheader, *at.markdown, *at.caption, *at.error, *at.warning, *at.info)
    parts = [CODE.sub("", str(one.value).replace("\\", "")) for one in texts]
    for box in (*at.selectbox, *at.multiselect, *at.get("button_group")):
        parts += [str(getattr(option, "content", option)) for option in getattr(box, "options", [])]
    for table in at.dataframe:
        parts += [
            str(value)
            for column in table.value.columns
            for value in table.value[column]
            if isinstance(value, str)
        ]
    return "\n".join(parts)


@pytest.mark.parametrize("page", ["queue", "results"])
def test_a_page_speaks_in_titles(filled, page):
    query = {"scenario": "one_class"} if page in ("results",) else {}
    at = open_page(page, **query)
    assert not at.exception
    assert not sorted(set(PATTERN.findall(shown(at))))


def test_the_drawer_speaks_in_titles(filled):
    spec = make_spec_row(
        method="random_labels", scenario="one_class", training_seed=7, unlearning_seed=7
    )
    at = open_page("tradeoffs", scenario="one_class", run=spec.key)
    assert "FA of Random labels in “Part of one class” is" in words_on(at)
    assert not sorted(set(PATTERN.findall(shown(at))))
