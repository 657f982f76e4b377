"""A failed run is retried: over HTTP and from the command line, in every view, over streams, queues, compaction and
kill -9.  Steps fail by an answer of a person, so that the test decides which ones do."""
import concurrent.futures
import json

import pytest
from baton import EXIT, new_id, wait_until

FLOW = """
name: flow
steps:
  - {name: first, tool: echo, inputs: {x: one}}
  - {name: ask, human: {question: "Go on?"}, depends_on: [first]}
  - {name: after, tool: echo, depends_on: [ask], inputs: {x: "${steps.first.outputs.x}"}}
outputs: {x: {from: "${steps.after.outputs.x}"}}
"""
FAN = """
name: fan
steps:
  - name: both
    parallel:
      steps:
        - {name: left, human: {question: "Left?"}}
        - {name: right, human: {question: "Right?"}}
outputs: {both: {from: "${steps.both.outputs}"}}
"""
LINE = FLOW.replace("name: flow", "name: line\nkind: pipeline")


def state(server, run):
    return server.result(run)["metadata"]["state"]


def asked(server, run, step):
    """Waits until the step asks; returns its question."""
    found = []

    def is_there():
        found[:] = [item["id"] for item in server.inbox() if item["run_id"] == run and item["step"] == step]
        return found
    wait_until(is_there)
    return found[0]


def answer(server, run, step, decision):
    assert server.respond(asked(server, run, step), decision).status == 200


def failed(home, server, **more):
    home.define(FLOW)
    body = {"workflow": "flow", "inputs": {}, **more}
    run = server.request("POST", "/api/run", body).body["run_id"]
    answer(server, run, "ask", "reject")
    server.finish(run)
    assert state(server, run) == "failed"
    return run


def ends(server, run):
    return server.types(run).count("run.finished")


# ---- the command ---------------------------------------------------------------------------------


def test_failed_and_skipped_steps_run_again_and_the_rest_is_kept(home, server):
    run = failed(home, server)
    told = server.tell(run, "retry", reason="the shop is open")
    assert (told.status, told.body) == (200, {"run_id": run, "command": "retry"})
    answer(server, run, "ask#2", "approve")
    wait_until(lambda: ends(server, run) == 2)
    result = server.result(run)
    assert (result["status"], result["outputs"]) == ("success", {"x": "one"})
    types = server.types(run)
    assert types.count("run.retried") == 1 and types.count("step.computed") == 2
    retried = next(event for event in server.events(run) if event["type"] == "run.retried")
    assert retried["data"]["reason"] == "the shop is open"
    steps = server.steps(run)
    assert {path: step["state"] for path, step in steps.items()} == {
        "first": "succeeded", "ask": "failed", "ask#2": "succeeded", "after": "skipped", "after#2": "succeeded"}


def test_the_list_of_runs_and_its_counts_follow(home, server):
    run = failed(home, server)

    def listed(word):
        return [row["run_id"] for row in server.get(f"/api/runs?status={word}").body]
    assert listed("failed") == [run]
    assert server.tell(run, "retry").status == 200
    asked(server, run, "ask#2")
    assert listed("failed") == [] and listed("waiting_human") == [run]
    assert server.result(run)["completed_at"] is None and server.result(run)["error"] is None
    answer(server, run, "ask#2", "approve")
    wait_until(lambda: listed("succeeded") == [run])
    status, output, errors = home.cli("db", "check")
    assert status == 0, output + errors
    before = server.result(run)
    assert home.cli("db", "rebuild")[0] == 0
    assert server.result(run) == before and listed("succeeded") == [run]


def test_only_a_failed_run_is_retried(home, server):
    home.define(FLOW)
    run = server.run_of("flow")
    question = asked(server, run, "ask")
    told = server.tell(run, "retry")
    assert (told.status, told.body["code"]) == (409, "conflict") and "waiting_human" in told.body["detail"]
    assert server.respond(question).status == 200
    server.finish(run)
    assert "succeeded" in server.tell(run, "retry").body["detail"]
    other = server.run_of("flow")
    asked(server, other, "ask")
    assert server.tell(other, "cancel").status == 200
    server.finish(other)
    told = server.tell(other, "retry")
    assert told.status == 409 and "cancelled" in told.body["detail"]
    assert server.tell(new_id(), "retry").status == 404


def test_two_at_once_are_one_retry(home, server):
    run = failed(home, server)
    with concurrent.futures.ThreadPoolExecutor() as pool:
        told = list(pool.map(lambda _: server.tell(run, "retry").status, range(4)))
    assert sorted(told) == [200, 409, 409, 409]
    assert server.types(run).count("run.retried") == 1


def test_an_idempotency_key_retries_once(home, server):
    run = failed(home, server)
    for _ in range(3):
        told = server.tell(run, "retry", headers={"Idempotency-Key": "again"})
        assert told.status == 200, told
    answer(server, run, "ask#2", "reject")
    wait_until(lambda: ends(server, run) == 2)
    assert server.tell(run, "retry", headers={"Idempotency-Key": "again"}).status == 200
    assert server.types(run).count("run.retried") == 1


def test_a_sub_run_is_retried_through_its_parent(home, server):
    home.define(FLOW)
    home.define("name: parent\nsteps:\n  - {name: sub, workflow: flow}\n"
                "outputs: {x: {from: '${steps.sub.outputs.x}'}}\n")
    run = server.run_of("parent")
    child = server.until(run, "subrun.requested")["data"]["effect"]
    answer(server, child, "ask", "reject")
    server.finish(run)
    told = server.tell(child, "retry")
    assert told.status == 409 and run in told.body["detail"]
    assert server.tell(run, "retry").status == 200
    second = server.steps(run)["sub#2"]["subrun"]
    assert second != child
    answer(server, second, "ask", "approve")
    wait_until(lambda: ends(server, run) == 2)
    assert server.result(run)["outputs"] == {"x": "one"} and state(server, child) == "failed"


def test_a_failed_turn_of_an_agent_is_taken_again(home, server):
    home.define("""
name: talk
agents:
  ada:
    driver: script
    options:
      replies:
        - {step: "say", fail: {code: forbidden, text: no}}
        - {text: well}
steps:
  - {name: say, agent: ada, inputs: {prompt: hello}}
outputs: {said: {from: "${steps.say.outputs.text}"}}
""")
    run = server.run_of("talk")
    server.finish(run)
    assert state(server, run) == "failed"
    assert server.tell(run, "retry").status == 200
    wait_until(lambda: ends(server, run) == 2)
    assert server.result(run)["outputs"] == {"said": "well"}
    assert server.types(run).count("turn.requested") == 2


def test_baton_retry_follows_the_run_to_its_new_end(home, server):
    run = failed(home, server)
    process = home.begin("retry", run, "-m", "once more")
    answer(server, run, "ask#2", "approve")
    assert process.wait() == 0
    assert json.loads(process.output) == {"x": "one"}
    told = process.errors()
    assert told.count("run.retried") == 1 and told.count("run.finished") == 1 and "run.created" not in told
    status, _, errors = home.cli("retry", run)
    assert status == EXIT["conflict"] and "succeeded" in errors


def test_baton_retry_without_a_server_carries_the_run_on(home):
    home.define("name: flat\nsteps:\n  - {name: a, tool: shell, inputs: {command: 'test -e go && echo there'}}\n"
                "outputs: {o: {from: '${steps.a.outputs.stdout}'}}\n")
    run = new_id()
    assert home.cli("run", "flat", "--id", run)[0] == 1
    assert home.cli("retry", run)[0] == 1
    home.workspace(run, "go").touch()
    status, output, _ = home.cli("retry", run)
    assert (status, json.loads(output)) == (0, {"o": "there\n"})
    shown = home.cli("show", run)[1]
    assert "a#3" in shown and "succeeded" in shown


def test_baton_watch_goes_on_behind_an_end(home, server):
    run = failed(home, server)
    assert server.tell(run, "retry").status == 200
    question = asked(server, run, "ask#2")
    process = home.begin("watch", run)
    assert server.respond(question).status == 200
    assert process.wait() == 0
    assert process.errors().count("run.finished") == 2


# ---- containers ----------------------------------------------------------------------------------


def fan(home, server):
    home.define(FAN)
    run = server.run_of("fan")
    answer(server, run, "both/left", "approve")
    answer(server, run, "both/right", "reject")
    server.finish(run)
    assert state(server, run) == "failed"
    return run


@pytest.mark.parametrize("compacted", [False, True])
def test_a_container_continues_inside_also_when_its_run_was_compacted(home, server, compacted):
    run = fan(home, server)
    if compacted:
        assert home.cli("db", "compact", "--now")[0] == 0
    assert server.tell(run, "retry").status == 200
    answer(server, run, "both/right#2", "approve")
    wait_until(lambda: state(server, run) == "succeeded")
    both = server.result(run)["outputs"]["both"]
    assert both["left"]["decision"] == both["right"]["decision"] == "approve"
    steps = server.steps(run)
    assert steps["both"]["state"] == "succeeded" and steps["both/right#2"]["state"] == "succeeded"
    assert "both#2" not in steps and "both/left#2" not in steps
    if compacted:
        assert json.loads(home.cli("db", "compact", "--now", "--json")[1])["compacted"] == 1
        assert state(server, run) == "succeeded"


# ---- streams and views ---------------------------------------------------------------------------


def test_a_cursor_behind_the_end_receives_the_rest(home, server):
    run = failed(home, server)
    with server.stream(f"/api/runs/{run}/stream") as stream:
        seen = list(stream)  # the server ends it
    last = seen[-1]
    assert last.event["type"] == "run.finished"
    with server.stream(f"/api/runs/{run}/stream", last=last.event["seq"]) as stream:
        assert list(stream) == []
    assert server.tell(run, "retry").status == 200
    answer(server, run, "ask#2", "approve")
    wait_until(lambda: ends(server, run) == 2)
    with server.stream(f"/api/runs/{run}/stream", last=last.event["seq"]) as stream:
        rest = [told.event["type"] for told in stream]
    assert rest[0] == "run.retried" and rest[-1] == "run.finished" and rest.count("run.finished") == 1
    with server.stream(f"/api/runs/{run}/stream") as stream:
        assert [told.event["type"] for told in stream] == [event.event["type"] for event in seen] + rest


def test_an_end_is_shown_as_it_was_in_every_view(home, server):
    run = failed(home, server)
    views = ("pipeline", "pipeline_v1", "runtime", "task", "graph")

    def shown(view):
        with server.stream(f"/api/runs/{run}/stream?view={view}") as stream:
            return [told.event for told in stream]
    before = {view: shown(view) for view in views}
    assert server.tell(run, "retry").status == 200
    answer(server, run, "ask#2", "approve")
    wait_until(lambda: ends(server, run) == 2)
    for view in views:
        after = shown(view)
        assert after[:len(before[view])] == before[view], view
        assert len(after) > len(before[view]) + 1
    runtime = [event for event in shown("runtime") if event["event"] in ("workflow_start", "workflow_end")]
    assert [event["event"] for event in runtime] == ["workflow_start", "workflow_end"] * 2
    assert [event["data"]["status"] for event in runtime[1::2]] == ["failed", "success"]
    for view in views:
        assert server.get(f"/api/runs/{run}?view={view}").status == 200


def test_the_time_between_an_end_and_the_retry_is_not_the_engines(home, server):
    run = failed(home, server)
    assert server.tell(run, "retry").status == 200
    answer(server, run, "ask#2", "approve")
    wait_until(lambda: ends(server, run) == 2)
    profile = server.get(f"/api/runs/{run}/time").body
    events = server.events(run)
    end = next(event for event in events if event["type"] == "run.finished")
    again = next(event for event in events if event["type"] == "run.retried")
    assert profile["ended"] and profile["shares"]["paused"] > 0
    assert end["seq"] + 1 == again["seq"]


# ---- the queue -----------------------------------------------------------------------------------


def test_a_retry_takes_its_place_in_the_queue(home, server):
    home.define(LINE)
    assert server.request("PATCH", "/api/server", {"max_concurrent": 1}).status == 200
    first = server.run_of("line")
    answer(server, first, "ask", "reject")
    server.finish(first)
    second = server.run_of("line")
    asked(server, second, "ask")
    assert server.tell(first, "retry").status == 200
    assert state(server, first) == "queued"
    assert server.get(f"/api/runs/{first}/queue").body["position"] == 1
    answer(server, second, "ask", "approve")
    answer(server, first, "ask#2", "approve")
    wait_until(lambda: state(server, first) == "succeeded")
    third = server.run_of("line")
    asked(server, third, "ask")  # every place was given back


def test_a_retry_waits_for_its_concurrency_key(home, server):
    run = failed(home, server, alone="one")
    other = server.request("POST", "/api/run", {"workflow": "flow", "inputs": {}, "alone": "one"}).body["run_id"]
    asked(server, other, "ask")
    assert server.tell(run, "retry").status == 200
    assert state(server, run) == "queued"
    answer(server, other, "ask", "approve")
    answer(server, run, "ask#2", "approve")
    wait_until(lambda: state(server, run) == "succeeded")


# ---- kill -9 -------------------------------------------------------------------------------------


def test_an_acknowledged_retry_survives_a_kill(home):
    server = home.serve()
    run = failed(home, server)
    assert server.tell(run, "retry").status == 200
    server.kill()
    server = home.serve()
    answer(server, run, "ask#2", "approve")
    wait_until(lambda: state(server, run) == "succeeded")
    assert server.types(run).count("run.retried") == 1


def test_a_queued_retry_survives_a_kill(home):
    server = home.serve()
    home.define(LINE)
    assert server.request("PATCH", "/api/server", {"max_concurrent": 1}).status == 200
    first = server.run_of("line")
    answer(server, first, "ask", "reject")
    server.finish(first)
    second = server.run_of("line")
    asked(server, second, "ask")
    assert server.tell(first, "retry").status == 200
    server.kill()
    server = home.serve()
    assert state(server, first) == "queued"
    answer(server, second, "ask", "approve")
    answer(server, first, "ask#2", "approve")
    wait_until(lambda: state(server, first) == "succeeded")


@pytest.mark.parametrize("point", ["store.before_commit", "store.after_commit", "runtime.committed"])
def test_killed_at_the_retry_itself_it_happened_once_or_not_at_all(home, point):
    server = home.serve()
    run = failed(home, server)
    server.kill()
    server = home.serve(BATON_POINTS=f"writer.queue_ms=limit@600000;{point}=kill")
    try:
        server.tell(run, "retry")
    except Exception:  # the connection breaks with the process
        pass
    server.wait()
    server = home.serve()
    count = server.types(run).count("run.retried")
    assert count == (0 if point == "store.before_commit" else 1)
    if count == 0:
        assert server.tell(run, "retry").status == 200
    answer(server, run, "ask#2", "approve")
    wait_until(lambda: state(server, run) == "succeeded")
