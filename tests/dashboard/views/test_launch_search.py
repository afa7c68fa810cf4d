"""Searching settings from the Launch page: what it comes to, its start, and what was found."""

from __future__ import annotations

from typing import Any

import pytest
from facts import tells
from pages import links, open_page, words_on

from dashboard import data, queue_data
from mucore.runner import job_process
from mucore.tuning import jobs

TASK: dict[str, Any] = {
    "dataset": "digits",
    "model": "mlp",
    "preset": "quick",
    "recipe.epochs": "3",
    "scenarios": ["class_wise"],
    "methods": ["finetune", "ssd"],
    "settings": "tuned",
}


@pytest.fixture
def started(monkeypatch) -> list[Any]:
    found: list[Any] = []
    monkeypatch.setattr(job_process, "start", lambda store, job: found.append(job))
    return found


def test_a_search_is_planned_started_and_seen_on_the_queue(home, started):
    assert "start_search" not in {each.key for each in open_page("launch", **TASK).button}
    at = open_page("launch", **TASK, search="1", trials="3")
    assert not at.exception and tells(words_on(at), "6 trainings", "18 trials")
    at.button(key="start_search").click().run()
    (job,) = queue_data.jobs(kind="search")
    assert (started[0].id, job.spec["trials"]) == (job.id, 3)
    queue = open_page("queue")
    assert not queue.exception and job.label in words_on(queue)
    queue.button(key=f"cancel_analysis:{job.id}").click().run()
    assert queue_data.jobs(kind="search")[0].state == "cancelled"
    # it stays there, to be gone on with
    assert job.label in words_on(queue) and len(started) == 1
    queue.button(key=f"retry_analysis:{job.id}").click().run()
    assert [each.state for each in queue_data.jobs(kind="search")] == ["cancelled", "queued"]
    assert started[1].id == queue_data.jobs(kind="search")[1].id


def test_what_was_found_is_not_searched_again(home, started):
    at = open_page("launch", **TASK, search="1", trials="3")
    at.button(key="start_search").click().run()
    (job,) = queue_data.jobs(kind="search")
    assert jobs.work_on(data.own_store(), job, device="cpu").state == "done"
    at = open_page("launch", **TASK, search="1", trials="3")
    assert not at.exception and "How settings were found" in links(at)
    assert "start_search" not in {each.key for each in at.button}
