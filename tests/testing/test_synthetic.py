"""The store of made-up results that reading is measured on."""

from __future__ import annotations

import pytest

from mucore.testing.synthetic import synthetic_store

pytestmark = pytest.mark.slow


def test_the_synthetic_store_holds_every_method_with_gaps_to_retrain(tmp_path):
    with synthetic_store(tmp_path, 100) as store:
        runs, values = store.summaries(), store.metric_values()
        assert len(runs) == 100 and len(set(runs["key"])) == 100
        assert {"original", "retrain", "finetune", "scrub"} <= set(runs["method"])
        retrain = runs.loc[runs["method"] == "retrain", "key"].iloc[0]
        method = runs.loc[runs["method"] == "finetune", "key"].iloc[0]
        ta = values[values["metric"] == "ta"].set_index("key")
        assert ta.loc[method, "gap"] == pytest.approx(
            ta.loc[method, "value"] - ta.loc[retrain, "value"]
        )
        assert store.comparisons()[0].keys == tuple(runs["key"])
