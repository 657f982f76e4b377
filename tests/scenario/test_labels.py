"""Labels and metadata of runs; trace ids and request ids in events, logs and views."""
import pytest
from baton import new_id
from test_api import audit

ONE = """
name: one
inputs:
  who: {default: you}
steps:
  - {name: hello, tool: echo, inputs: {text: "hello ${inputs.who}"}}
outputs:
  text: {from: "${steps.hello.outputs.text}"}
"""
ASKS = """
name: asks
steps:
  - {name: ask, human: {question: "Go on?"}}
"""
TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


@pytest.fixture(name="home")
def home_with_workflows(home):
    home.define(ONE)
    home.define(ASKS)
    return home


def begin(server, workflow="one", headers=None, **more):
    answer = server.request("POST", "/api/run", {"workflow": workflow, **more}, headers=headers)
    assert answer.status == 202, answer
    return answer.body["run_id"]


def listed(server, query):
    answer = server.get(f"/api/runs?{query}")
    assert answer.status == 200, answer
    return [row["run_id"] for row in answer.body]


def test_runs_are_found_by_their_labels(home):
    server = home.serve()
    first = begin(server, labels={"team": "core", "env": "prod"})
    second = begin(server, labels={"team": "core"})
    begin(server)
    asks = begin(server, "asks", labels={"team": "core", "env": "prod"})
    for run in (first, second):
        server.finish(run)
    assert listed(server, "label=team%3Dcore") == [asks, second, first]
    assert listed(server, "label=team%3Dcore,env%3Dprod") == [asks, first]
    assert listed(server, "label=env%3Dprod&workflow=one") == [first]
    assert listed(server, "label=team%3Dcore&status=waiting_human") == [asks]
    assert listed(server, "label=team%3Dnone") == []
    server.kill()
    server = home.serve()
    assert listed(server, "label=team%3Dcore,env%3Dprod") == [asks, first]
    assert server.request("POST", f"/api/runs/{asks}/cancel", {}).status == 200
    server.finish(asks)
    assert listed(server, "label=env%3Dprod&status=cancelled") == [asks]
    assert listed(server, "label=env%3Dprod&status=waiting_human") == []


def test_pages_of_a_filtered_list_follow_each_other(home):
    server = home.serve()
    runs = [begin(server, labels={"n": "x,y" if i % 2 else "x"}) for i in range(6)]
    answer = server.get("/api/runs?label=n%3Dx&limit=2")
    assert [row["run_id"] for row in answer.body] == [runs[4], runs[2]]
    link = answer.headers["Link"]
    following = link[link.index("<") + 1:link.index(">")]
    assert "label=n%3Dx" in following
    assert [row["run_id"] for row in server.get(following).body] == [runs[0]]


@pytest.mark.parametrize("labels, words", [
    ({"-x": "1"}, '"-x" is not a label name'),
    ({"": "1"}, "is not a label name"),
    ({"a" * 64: "1"}, "is not a label name"),
    ({"a": "x" * 257}, "the value of a must have at most 256 bytes"),
    ({"a": "b\nc"}, "no control characters"),
    ({"a": 1}, "/labels/a"),
    ({f"a{i}": "1" for i in range(33)}, "/labels"),
])
def test_a_bad_label_is_refused_with_its_place(home, labels, words):
    server = home.serve()
    answer = server.request("POST", "/api/run", {"workflow": "one", "labels": labels})
    assert answer.status == 422
    assert any(words in place["pointer"] + ": " + place["text"] for place in answer.body["details"]), answer.body


def test_a_filter_that_is_no_label_is_refused(home):
    server = home.serve()
    answer = server.get("/api/runs?label=team")
    assert answer.status == 400
    assert "NAME=VALUE" in answer.body["detail"]
    assert server.get("/api/runs?label=" + ",".join(["a%3Db"] * 9)).status == 400


def test_every_view_shows_the_labels(home):
    server = home.serve()
    run = begin(server, labels={"team": "core"}, metadata={"ticket": 42, "state": "mine"})
    server.finish(run)
    for view in ("pipeline", "pipeline_v1", "runtime", "task", "graph"):
        shown = server.get(f"/api/runs/{run}?view={view}").body
        assert shown["labels"] == {"team": "core"}, view
    result = server.get(f"/api/runs/{run}").body
    assert result["metadata"]["ticket"] == 42
    assert result["metadata"]["state"] == "succeeded"  # the program's own word wins
    outline = server.get(f"/api/runs/{run}/steps").body
    assert outline["labels"] == {"team": "core"}
    assert outline["metadata"] == {"ticket": 42, "state": "mine"}


def test_metadata_has_a_limit(home):
    server = home.serve()
    answer = server.request("POST", "/api/run", {"workflow": "one", "metadata": {"x": "y" * 17000}})
    assert answer.status == 422
    assert "16384 bytes" in answer.body["detail"]


def test_labels_from_the_command_line(home):
    assert home.cli("run", "one", "--label", "team=core", "--label", "env=prod")[0] == 0
    assert home.cli("run", "one", "--label", "team=core")[0] == 0
    assert home.cli("runs", "--label", "team=core", "--label", "env=prod", "--json")[1].count("run_id") == 1
    status, _, errors = home.cli("run", "one", "--label", "team")
    assert status == 2 and "--label takes NAME=VALUE" in errors
    status, _, errors = home.cli("run", "one", "--label", "a=1", "--label", "a=2")
    assert status == 2 and "--label a is given twice" in errors


def test_labels_are_rebuilt(home):
    server = home.serve()
    run = begin(server, labels={"team": "core"})
    server.finish(run)
    server.kill()
    with home.meddled() as database:
        database.execute("DELETE FROM labels")
    server = home.serve()
    assert listed(server, "label=team%3Dcore") == []
    assert home.cli("db", "rebuild")[0] == 0
    assert listed(server, "label=team%3Dcore") == [run]
    assert home.cli("db", "check")[0] == 0


def test_a_start_may_leave_out_its_inputs(home):
    server = home.serve()
    run = begin(server)
    assert server.finish(run)["outputs"] == {"text": "hello you"}
    home.define("name: needs\ninputs: {who: {type: string, required: true}}\nsteps: [{name: a, tool: noop}]\n")
    refused = server.request("POST", "/api/run", {"workflow": "needs"})
    assert refused.status == 422 and "who" in str(refused.body["details"]), refused


def test_a_trace_goes_from_the_request_to_events_log_and_views(home):
    server = home.serve("--log", "json")
    run = begin(server, headers={"traceparent": TRACE, "X-Request-Id": "req-1"})
    server.finish(run)
    assert server.get(f"/api/runs/{run}").body["metadata"]["trace_id"] == TRACE[3:35]
    events = server.get(f"/api/runs/{run}/events?view=pipeline").body["items"]
    trace = "4bf92f35-77b3-4da6-a3ce-929d0e0e4736"
    assert {event["trace_id"] for event in events} == {trace}
    created = server.get(f"/api/runs/{run}/events").body["items"][0]
    assert created["data"]["request_id"] == "req-1"
    plain = begin(server)
    server.finish(plain)
    events = server.get(f"/api/runs/{plain}/events?view=pipeline").body["items"]
    assert {event["trace_id"] for event in events} == {plain}
    line = next(line for line in audit(server) if line["request_id"] == "req-1")
    assert (line["trace_id"], line["subject"]) == (TRACE[3:35], run)


def test_the_request_of_a_command_is_in_its_event(home):
    server = home.serve()
    run = begin(server, "asks", headers={"X-Request-Id": "start"})
    server.until(run, "human.requested")
    server.request("POST", f"/api/runs/{run}/pause", {}, headers={"X-Request-Id": "pause-it"})
    server.request("POST", f"/api/runs/{run}/resume", {}, headers={"X-Request-Id": "resume-it"})
    server.request("POST", f"/api/runs/{run}/approve", {}, headers={"X-Request-Id": "approve-it"})
    server.finish(run)
    events = server.get(f"/api/runs/{run}/events").body["items"]
    found = {event["type"]: event["data"].get("request_id") for event in events}
    assert found["run.created"] == "start"
    assert found["run.paused"] == "pause-it"
    assert found["run.resumed"] == "resume-it"
    assert found["human.finished"] == "approve-it"


def test_the_list_counts_the_steps_that_the_run_lists(home):
    home.define("""
name: many
steps:
  - {name: all, map: {over: [1, 2, 3], steps: [{name: one, tool: echo, inputs: {n: "${item}"}}]}}
  - {name: never, tool: echo, when: "1 == 2", inputs: {}}
""")
    server = home.serve()
    run = begin(server, "many")
    steps = server.finish(run)["steps"]
    executed = [step for step in steps if step["status"] not in ("pending", "skipped")]
    assert len(executed) == 4
    assert server.get("/api/runs").body[0]["step_count"] == 4


def test_the_rate_of_success_is_that_of_ended_runs(home):
    server = home.serve()
    assert server.get("/api/runs/summary").body["success_rate"] == 0
    begin(server, "asks")
    server.finish(begin(server))
    assert server.get("/api/runs/summary").body["success_rate"] == 1


def test_the_queue_of_an_unknown_run_is_not_found(home):
    server = home.serve()
    answer = server.get(f"/api/runs/{new_id()}/queue")
    assert answer.status == 404 and answer.body["code"] == "not_found"
    run = begin(server, "asks")
    assert server.get(f"/api/runs/{run}/queue").body["position"] == 0
