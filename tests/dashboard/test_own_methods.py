"""A user's own methods on the pages: under a heading of their own, and a warning where a file cannot be read."""

from __future__ import annotations

from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from dashboard import data
from mucore import catalog

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def app(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("MUCORE_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(data, "DEMO", tmp_path / "no-demo")
    own = tmp_path / "own"
    own.mkdir()
    example = (ROOT / "docs" / "examples" / "gaussian_noise.py").read_text(encoding="utf-8")
    (own / "gaussian_noise.py").write_text(example, encoding="utf-8")
    (own / "broken.py").write_text("CARD = ", encoding="utf-8")
    monkeypatch.setenv("MUCORE_PLUGINS", str(own))
    yield lambda page, **query: opened(page, **query)
    st.cache_data.clear()
    st.cache_resource.clear()


def opened(page: str, **query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "dashboard" / "app.py"), default_timeout=30).run()
    at.query_params.update(query)
    at.switch_page(f"views/{page}.py").run()
    assert not at.exception
    return at


def test_launch_offers_them_under_their_own_heading(app):
    at = app("launch", dataset="digits", model="mlp", scenario="one_class")
    assert f"**{catalog.FAMILIES['own']}**" in [one.value for one in at.markdown]
    box = next(one for one in at.checkbox if one.label == "Gaussian noise")
    box.check().run()
    assert not at.exception and "gaussian_noise" in at.query_params["methods"]
    (warning,) = [one.value for one in at.warning]
    assert "broken" in warning and "no Python file" in warning


def test_the_method_page_shows_the_card(app):
    at = app("method", method="gaussian_noise")
    assert any("Gaussian noise" in one.value for one in at.markdown) or any("Gaussian noise" in one.value for one in at.title)
    assert any(catalog.FAMILIES["own"] in one.value for one in [*at.caption, *at.markdown])
