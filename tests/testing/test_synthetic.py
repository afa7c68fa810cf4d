"""The store of many results that reading is measured on."""

from __future__ import annotations

import pytest

from mucore.testing.synthetic import synthetic_store

pytestmark = pytest.mark.slow


def test_the_synthetic_store_holds_as_many_results_as_are_asked_for(tmp_path):
    with synthetic_store(tmp_path, 2_000) as store:
        runs = store.summaries()
        assert len(runs) == len(set(runs["key"])) == len(store.comparisons()[0].keys) == 2_000
        assert {"original", "retrain", "finetune", "scrub"} <= {*runs["method"]}
        assert store.metric_values()["gap"].notna().any()
