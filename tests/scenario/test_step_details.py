"""GET /api/runs/{id}/steps/{path}/details: one step in full."""
import pytest

from baton import new_id

STEPS = """
name: steps
steps:
  - {name: plain, tool: echo, inputs: {text: hi}}
  - name: flaky
    tool: shell
    retry: {max_retries: 2, base_delay: 0}
    inputs: {command: "echo trouble >&2; exit 3"}
  - name: each
    map:
      over: [a, b]
      steps:
        - {name: log, tool: shell, inputs: {command: "printf '%s' ${item}"}}
  - {name: long, tool: shell, inputs: {command: "head -c 5000 /dev/zero | tr '\\\\0' x"}}
  - {name: child, workflow: two-steps, inputs: {who: child}}
"""

ASKED = """
name: asked
steps:
  - {name: sure, human: {question: "Go on?"}, inputs: {plan: go}}
"""


def details(server, run, path):
    return server.get(f"/api/runs/{run}/steps/{path}/details")


def test_inputs_output_and_every_attempt(home, server):
    home.define(STEPS)
    run = server.start("steps", wait=True).body["run_id"]
    outline = {step["step"]: step for step in server.get(f"/api/runs/{run}/steps").body["steps"]}
    flaky = details(server, run, "flaky").body
    assert flaky["run_id"] == run and flaky["summary"] == outline["flaky"] and flaky["output"] is None
    assert flaky["inputs"] == {"command": "echo trouble >&2; exit 3"}
    assert [(attempt["attempt"], attempt["state"]) for attempt in flaky["attempts"]] == [(1, "failed"), (2, "failed"), (3, "failed")]
    assert all("trouble" in attempt["error"] and attempt["started_at"] <= attempt["ended_at"] for attempt in flaky["attempts"])
    assert ["retry_at" in attempt for attempt in flaky["attempts"]] == [True, True, False]
    plain = details(server, run, "plain").body
    assert plain["inputs"] == {} and plain["output"] == {"text": "hi"}
    long = details(server, run, "long").body
    assert long["output"]["stdout"] == "x" * 5000  # stored by hash
    child = details(server, run, "child").body
    assert child["summary"]["subrun"] == child["attempts"][0]["effect"] and child["inputs"] == {"who": "child"}


def test_a_path_may_end_like_the_route(home, server):
    home.define(STEPS)
    run = server.start("steps", wait=True).body["run_id"]
    assert details(server, run, "each[1]/log").body["output"]["stdout"] == "b"
    assert details(server, run, "each%5B0%5D/log").body["output"]["stdout"] == "a"


def test_a_question_and_its_answer(home, server):
    home.define(ASKED)
    run = server.run_of("asked")
    [item] = server.get("/api/inbox").body["items"]
    before = details(server, run, "sure").body
    assert [attempt["state"] for attempt in before["attempts"]] == ["waiting_human"]
    assert before["summary"]["request"] == item["id"] and before["inputs"] == {"plan": "go"}
    body = {"decision": "approve", "comment": "fine", "by": "ann", "revision": item["revision"]}
    assert server.request("POST", f"/api/inbox/{item['id']}/respond", body).status == 200
    server.finish(run)
    [attempt] = details(server, run, "sure").body["attempts"]
    assert (attempt["question"], attempt["decision"], attempt["comment"], attempt["by"]) == ("Go on?", "approve", "fine", "ann")
    assert attempt["state"] == "succeeded"


def test_a_step_that_has_not_started_and_those_that_are_not_there(home, server):
    home.define("name: late\nsteps:\n  - {name: sure, human: {question: Go on?}}\n  - {name: after, tool: echo, depends_on: [sure], inputs: {text: x}}\n")
    run = server.run_of("late")
    after = details(server, run, "after").body
    assert (after["summary"]["state"], after["attempts"], after["inputs"], after["output"]) == ("pending", [], {}, None)
    answer = details(server, run, "nobody/x")
    assert answer.status == 404 and answer.body["detail"] == "the run has no step nobody/x"
    assert details(server, new_id(), "sure").status == 404


@pytest.mark.parametrize("path", ["flaky", "long"])
def test_a_compacted_run_still_tells_its_steps(home, server, path):
    home.define(STEPS)
    run = server.start("steps", wait=True).body["run_id"]
    before = details(server, run, path).body
    assert home.cli("db", "compact", "--now")[0] == 0
    after = details(server, run, path).body
    assert after["output"] == before["output"]
    assert after["summary"]["state"] == before["summary"]["state"] and after["summary"].get("error") == before["summary"].get("error")
