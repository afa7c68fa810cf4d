"""Where the precision is chosen, the Launch page says what bf16 gains on this processor."""

from __future__ import annotations

import pytest
from pages import open_page, words_on

from mucore.runner.estimate import precision


@pytest.mark.parametrize("kind", ["amx", "avx512_bf16"])
def test_the_recipe_says_what_bf16_gains(kind, home, monkeypatch):
    monkeypatch.setattr(precision, "processor", lambda: kind)
    at = open_page("launch")
    assert not at.exception
    assert precision.GAINS[kind] in words_on(at)
