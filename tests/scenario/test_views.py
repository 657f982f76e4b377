"""One run, read in each of the five vocabularies: as an object and as events."""
import uuid

import pytest
from baton import new_id

VIEWS = ["pipeline", "pipeline_v1", "runtime", "task", "graph"]

STATUS = {
    "pipeline": lambda run: run["status"],
    "pipeline_v1": lambda run: run["agentic_status"],
    "runtime": lambda run: run["status"],
    "task": lambda run: run["metadata"].get("status"),
    "graph": lambda run: run["status"],
}

WORD = {
    "pipeline": lambda event: event["event_type"],
    "pipeline_v1": lambda event: event["event_type"],
    "runtime": lambda event: event["event"],
    "task": lambda event: event["type"],
    "graph": lambda event: event["status"],
}

ENDED = {"pipeline": "completed", "pipeline_v1": "completed", "runtime": "success", "task": "success",
         "graph": "completed"}

# run.created, step.computed greet, tool.requested keep, tool.finished keep and its file, run.finished
WORDS = {
    "pipeline": ["workflow_created", "stage_completed", "stage_started", "stage_completed", "file_created", "workflow_completed"],
    "pipeline_v1": ["workflow_started", "stage_completed", "stage_started", "stage_completed", "file_created", "workflow_completed"],
    "runtime": ["workflow_start", "step_end", "step_start", "step_end", "workflow_end"],
    "task": ["event_task_start", "event_tool_result", "event_tool_call", "event_tool_result", "event_artifact_created", "event_task_complete"],
    "graph": ["info"] * 6,
}

ASKS = """
name: asks
steps:
  - {name: ask, human: {question: "Go on?"}}
"""

WAITING = {"pipeline": "paused", "pipeline_v1": "awaiting_approval", "runtime": "running", "task": "paused",
           "graph": "running"}


def read(server, run, view):
    answer = server.get(f"/api/runs/{run}?view={view}")
    assert answer.status == 200, answer
    return answer.body


def events(server, run, view, limit=100):
    items, after, pages = [], "0", 0
    while after is not None:
        page = server.get(f"/api/runs/{run}/events?view={view}&after={after}&limit={limit}").body
        assert len(page["items"]) <= limit
        items += page["items"]
        after = page["cursor"]
        pages += 1
    return items, pages


@pytest.fixture
def two_steps(server):
    run = server.run_of("two-steps")
    server.finish(run)
    return run


@pytest.mark.parametrize("view", VIEWS)
def test_a_run_that_ended_well(server, two_steps, view):
    assert STATUS[view](read(server, two_steps, view)) == ENDED[view]
    shown, _ = events(server, two_steps, view)
    assert [WORD[view](event) for event in shown] == WORDS[view]


def test_the_runtime_view_is_what_a_run_is_shown_in_unless_said(server, two_steps):
    assert server.result(two_steps) == read(server, two_steps, "runtime")


def test_what_the_tool_printed_is_in_every_view(server, two_steps):
    printed = "hello, world\n"
    assert read(server, two_steps, "pipeline")["final_response"] == '{"greeting":"hello, world\\n"}'
    assert read(server, two_steps, "pipeline_v1")["tool_results"][1]["output"] == printed
    assert read(server, two_steps, "runtime")["steps"][1]["output"]["stdout"] == printed
    [result] = [part["tool_result"] for part in read(server, two_steps, "task")["parts"]
                if part["type"] == "tool_result" and part["tool_result"]["exit_code"] == 0]
    assert result["result"] == printed
    assert read(server, two_steps, "graph")["result"] == '{"greeting":"hello, world\\n"}'


@pytest.mark.parametrize("view", VIEWS)
def test_pages_of_events_make_the_same_list(server, two_steps, view):
    whole, _ = events(server, two_steps, view)
    pieces, pages = events(server, two_steps, view, limit=2)
    assert pieces == whole
    assert pages == (3 if view == "runtime" else 4)


def test_ids_and_sequences_are_the_same_whenever_they_are_asked_for(home, server, two_steps):
    before, _ = events(server, two_steps, "pipeline")
    assert [event["sequence"] for event in before if event["data"].get("part", 0) == 0] == [event["seq"] for event in server.events(two_steps)]
    assert len({uuid.UUID(event["id"]) for event in before}) == len(before)
    assert all(uuid.UUID(event["id"]).version == 4 for event in before)
    server.kill()
    assert events(home.serve(), two_steps, "pipeline")[0] == before


@pytest.mark.parametrize("view", VIEWS)
def test_a_run_that_waits_for_a_person(home, server, view):
    home.define(ASKS)
    run = server.run_of("asks")
    server.until(run, "human.requested")
    assert STATUS[view](read(server, run, view)) == WAITING[view]


@pytest.mark.parametrize("target", ["/api/runs/{}", "/api/runs/{}/events"])
def test_an_unknown_view_is_refused_and_the_others_are_named(server, two_steps, target):
    answer = server.get(target.format(two_steps) + "?view=nobody")
    assert answer.status == 400
    assert answer.body["code"] == "usage"
    for view in VIEWS:
        assert view in answer.body["detail"]


@pytest.mark.parametrize("target", ["/api/runs/{}", "/api/runs/{}/events"])
def test_a_run_that_is_not_there(server, target):
    assert server.get(target.format(new_id()) + "?view=graph").status == 404
