"""What captions say of runs and settings."""

import pytest
from facts import tells

from dashboard.text import labels
from mucore import catalog
from mucore.catalog.tuning import Borrowed, Tuned


@pytest.mark.parametrize(
    ("sought", "words"),
    [
        (("one_class",), ("on these data",)),
        (("one_class", "class_wise"), ("alone", "on these data", "together")),
    ],
)
def test_settings_of_another_task_are_told_by_titles(sought, words):
    found = Tuned("ssd", {}, "digits", "", "mlp", "quick", sought)
    said = labels.borrowed_text(Borrowed("class_wise", ("ssd",), found))
    assert tells(
        said, catalog.scenario("class_wise").title, *words, catalog.dataset("digits").title
    )
    assert tells(said, catalog.method("ssd").title, *(catalog.scenario(s).title for s in sought))
    assert ("together" in said) == ("alone" in said) == (len(sought) > 1)


@pytest.mark.parametrize(
    ("request_before", "said"),
    [
        ("class_wise class_ids=[0]", "class 3, after Whole classes (class 0)"),
        ("one_class budget=0.2 class_id=1 seed=0", "class 3, after Part of one class ("),
        ("of_another_version a=1", "class 3, after of another version a=1"),
        ("class_wise broken", "class 3, after class wise broken"),
    ],
)
def test_earlier_requests_are_told_in_words(request_before, said):
    values = {"class_ids": [3], "after": [request_before]}
    assert labels.forget_set_text(values, "digits").startswith(said)
