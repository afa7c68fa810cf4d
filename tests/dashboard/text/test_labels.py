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
