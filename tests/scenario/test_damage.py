"""Stored rows whose bytes are not what Baton wrote: whoever asks for them is told which row it is; the server
and every other run go on.

The damage is written with good checksums, as a faulty program or a hand would leave it; what the disk itself
does to the file is in tests/crash/test_files.py.
"""
import re
import urllib.parse

import pytest
from baton import new_id, wait_until

ECHO = """
name: echo-two
steps:
  - name: first
    tool: echo
    inputs: {text: hello}
  - name: second
    tool: echo
    depends_on: [first]
    inputs: {text: "${steps.first.outputs.text}"}
outputs:
  word: {from: "${steps.second.outputs.text}"}
"""

ASKS = """
name: asks
steps:
  - name: ask
    human: {question: "Go on?"}
"""

WAITS = """
name: waits
steps:
  - name: rest
    wait: {seconds: 50}
"""

SOON = """
name: soon
steps:
  - name: rest
    wait: {seconds: 1}
"""

# Not JSON at all, JSON of the wrong shape, and a body that breaks the order of events.
BODIES = ["{\"step\":", "\u00ff\u0000", "[]", "{}", "{\"step\": 7}", "{\"step\": \"nowhere\", \"output\": {\"json\": 1}}"]


def key(run):
    return bytes.fromhex(run.replace("-", ""))


def spoil_event(home, run, seq, body):
    with home.meddled() as database:
        database.execute("UPDATE events SET body = ? WHERE seq = ? AND run = (SELECT key FROM runs WHERE id = ?)",
                         (body, seq, key(run)))
        assert database.total_changes == 1


def run_paths(server):
    """Every GET of the interface that names a run and nothing else."""
    paths = server.get("/openapi.json").body["paths"]
    found = [path for path, methods in paths.items()
             if "get" in methods and re.findall(r"\{(\w+)\}", path) == ["id"] and "/runs/" in path]
    assert len(found) >= 5, found
    return [path for path in found if "stream" not in path]


def expect_refusal(answer):
    """Refused with a row of errors.def."""
    assert answer.headers["Content-Type"] == "application/problem+json", (answer.status, answer.body)
    assert answer.body["code"] and answer.body["detail"]


@pytest.mark.parametrize("body", BODIES)
def test_an_event_that_cannot_be_read_fails_only_who_asks_for_it(home, body):
    home.define(ECHO)
    server = home.serve()
    good, bad = (server.start("echo-two", wait=True).body["run_id"] for _ in range(2))
    before = server.result(good)
    server.kill()
    spoil_event(home, bad, 2, body)
    server = home.serve()
    for path in run_paths(server):
        for query in ["", *(f"?view={view}" for view in ("pipeline", "pipeline_v1", "runtime", "task", "graph"))]:
            answer = server.get(path.replace("{id}", bad) + query)
            if answer.status >= 400:
                expect_refusal(answer)
    # Whoever needs the event is told which one it is.
    for view in ("pipeline", "runtime", "graph"):
        answer = server.get(f"/api/runs/{bad}?view={view}")
        if answer.status == 200:  # it reads as an event, whatever it says
            continue
        expect_refusal(answer)
        assert (answer.status, answer.body["code"]) == (503, "storage")
        assert f"event 2 of run {bad}" in answer.body["detail"]
    assert server.result(good) == before
    assert server.start("echo-two", wait=True).body["status"] == "success"
    assert server.get("/api/health").status == 200


def test_a_run_that_cannot_be_loaded_is_quarantined_and_everything_else_starts(home):
    home.define(ECHO)
    home.define("name: held\nsteps: [{name: a, tool: shell, inputs: {command: 'touch ready; sleep 1000'}}]\n")
    server = home.serve()
    bad = server.run_of("held")
    wait_until(home.workspace(bad, "ready").exists)
    server.kill()
    spoil_event(home, bad, 1, "{}")
    server = home.serve()
    # It had a call under way, so recovery has met it before the server was ready.
    wait_until(lambda: server.get("/health/ready").status == 200)
    health = server.get("/health").body
    [runs] = [part for part in health["components"] if part["component"] == "runs"]
    assert (health["status"], runs["status"]) == ("degraded", "degraded")
    [entry] = runs["metrics"]["quarantined"]
    assert entry["run_id"] == bad and f"event 1 of run {bad}" in entry["error"]
    assert server.figures()["baton_runs_quarantined"] == 1
    assert server.errors().count("quarantined, because it cannot be loaded") == 1
    refused = server.tell(bad, "cancel")
    assert (refused.status, refused.body["code"]) == (503, "storage") and "event 1" in refused.body["detail"]
    assert server.figures()["baton_runs_quarantined"] == 1
    assert server.tell(new_id(), "cancel").status == 404
    assert server.figures()["baton_runs_quarantined"] == 1  # a run that does not exist is not one that cannot be loaded
    assert server.start("echo-two", wait=True).body["status"] == "success"


@pytest.mark.parametrize("body", BODIES[:2])
def test_events_before_and_behind_a_bad_one_are_still_given(home, body):
    home.define(ECHO)
    server = home.serve()
    bad = server.start("echo-two", wait=True).body["run_id"]
    events = server.events(bad)
    assert len(events) >= 4
    server.kill()
    spoil_event(home, bad, 2, body)
    server = home.serve()
    answer = server.get(f"/api/runs/{bad}/events")
    expect_refusal(answer)
    assert (answer.status, answer.body["code"]) == (503, "storage")
    assert f"event 2 of run {bad} cannot be read" in answer.body["detail"]
    assert server.get(f"/api/runs/{bad}/events?limit=1").body["items"] == events[:1]
    assert server.get(f"/api/runs/{bad}/events?after=2").body["items"] == events[2:]
    # Pages over all runs end before it, and the page that would begin with it is refused.
    page = server.get("/api/events").body
    assert page["items"] == events[:1]
    answer = server.get(f"/api/events?after={urllib.parse.quote(page['cursor'])}")
    assert f"event 2 of run {bad} cannot be read" in answer.body["detail"]
    behind = server.get(f"/api/events?after={events[1]['position']}").body["items"]
    assert behind[:2] == events[2:4]
    # A stream gives what stands before it, and ends.
    with server.stream(f"/api/runs/{bad}/stream?after=0") as stream:
        assert [told.event["seq"] for told in stream] == [1]
    status, output, _ = home.cli("db", "check")
    assert status == 74 and f"event 2 of run {bad} cannot be read" in output
    assert server.start("echo-two", wait=True).body["status"] == "success"


@pytest.mark.parametrize("table, body", [("events", BODIES[0]), ("events", BODIES[4]), ("effects", BODIES[0]),
                                         ("effects", BODIES[2])])
@pytest.mark.parametrize("name", ["asks", "waits"])
def test_a_run_that_cannot_be_taken_up_again_stops_no_other(home, name, table, body):
    """Recovery, timers and the inbox read rows of every run; one bad row is passed over or refused by name."""
    for yaml in (ECHO, ASKS, WAITS, SOON):
        home.define(yaml)
    server = home.serve()
    bad, other = new_id(), new_id()
    assert server.start(name, run_id=bad).status == 202
    assert server.start("soon", run_id=other).status == 202
    server.until(bad, {"asks": "human.requested", "waits": "timer.requested"}[name])
    server.until(other, "timer.requested")
    server.kill()
    with home.meddled() as database:
        database.execute(f"UPDATE {table} SET body = ? WHERE run = (SELECT key FROM runs WHERE id = ?)",
                         (body, key(bad)))
        assert database.total_changes >= 1
    server = home.serve()
    assert server.finish(other)["status"] == "success"
    answer = server.tell(bad, "cancel") if table == "events" else server.get("/api/inbox")
    if table == "events" or name == "asks":
        expect_refusal(answer)
        assert answer.body["code"] == "storage" and f"of run {bad}" in answer.body["detail"]
    else:
        assert f"of run {bad} cannot be read" in server.errors()
    assert server.start("echo-two", wait=True).body["status"] == "success"


def test_a_bad_snapshot_of_a_compacted_run_is_refused_by_name(home):
    home.define(ECHO)
    server = home.serve()
    bad = server.start("echo-two", wait=True).body["run_id"]
    server.kill()
    with home.meddled() as database:
        database.execute("UPDATE runs SET ended_at = 1")
    server = home.serve()
    assert home.local("POST", "/api/db/compact", {}).status == 200
    assert server.get(f"/api/runs/{bad}/events").status == 410
    server.kill()
    with home.meddled() as database:
        database.execute("UPDATE snapshots SET body = '{\"seq\": 0'")
        assert database.total_changes >= 1
    server = home.serve()
    answer = server.get(f"/api/runs/{bad}")
    assert (answer.status, answer.body["code"]) == (503, "storage")
    assert re.search(rf"snapshot \d+ of run {bad} cannot be read", answer.body["detail"])
    assert server.start("echo-two", wait=True).body["status"] == "success"


def test_a_bad_document_is_refused_by_name(home):
    server = home.serve()
    made = server.request("POST", "/api/agents", {"name": "ada", "role": "r", "system_prompt": "p",
                                                  "llm_config": {"model": "m"}})
    assert made.status == 201, made.body
    server.kill()
    with home.meddled() as database:
        database.execute("UPDATE documents SET body = '{' WHERE kind = 'agent'")
        assert database.total_changes == 1
    server = home.serve()
    for path in ("/api/agents", "/api/agents/ada"):
        answer = server.get(path)
        assert (answer.status, answer.body["code"]) == (503, "storage")
        assert "agent" in answer.body["detail"]
    assert server.get("/api/health").status == 200
