"""docs/results.md: which tables it has, by runs made by hand."""

from __future__ import annotations

import demo_results
import pytest
import results_page
from builders import make_result, make_spec_row

from mucore.runs import make_recipe
from mucore.store import open_store, write_pack


@pytest.mark.parametrize("persons", [True, False])
def test_a_data_set_has_its_tables_once_there_are_runs_of_it(tmp_path, monkeypatch, persons):
    places = [("fashion-mnist-10k", "one_class"), *[("faces", "identities")] * persons]
    with open_store(tmp_path / "home") as store:
        for dataset, scenario in places:
            for method, accuracy in (("retrain", 0.5), ("scrub", 0.625)):
                spec = make_spec_row(
                    dataset=dataset, model="resnet9-small", scenario=scenario, method=method
                ).model_copy(update={"recipe": make_recipe("standard")})
                metrics = dict.fromkeys(("ta", "ra", "fa", "mia_confidence"), accuracy)
                store.put_result(make_result(spec, metrics=metrics, gaps={"ta": 0.125}))
        write_pack(store, tmp_path / "pack")
    monkeypatch.setattr(demo_results, "DEMO", tmp_path / "pack")
    made = demo_results.tasks.__wrapped__()
    assert [(task.dataset, task.scenario) for task in made] == places
    page = results_page.write(made)
    assert page.count("| 62.5 (+12.5) | 62.5 |") == 1 + persons
    assert all(f"(`{scenario}` on {dataset})" in page for dataset, scenario in places)
